"""Commands that ask running learners by their control sockets: status, stop, reload, backup and abort; see starling-control(7)."""
