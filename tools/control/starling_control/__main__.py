"""The command of which the name is sys.argv[0]."""
from __future__ import annotations

import sys

from starling_control import abort, doctor, requests, watch
from starling_timeline.command import guard

COMMANDS = {"status": watch.status, "stop": requests.stop, "reload": requests.reload, "backup": requests.backup, "abort": abort.abort,
            "doctor": doctor.doctor}


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    for out in (sys.stdout, sys.stderr):
        out.reconfigure(encoding="utf-8", errors="replace")
    return guard(sys.argv[0], lambda: COMMANDS[sys.argv[0].split()[-1]](arguments))
