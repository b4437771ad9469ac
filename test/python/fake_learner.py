"""A learner that follows a script: what it sends, and what it expects to hear. The tensors have one dtype."""
from __future__ import annotations

import array
import contextlib
import fcntl
import json
import mmap
import os
import socket
import tempfile
import threading

import numpy as np


class FakeLearner:
    """Listens on `path`; run `script(learner)` on a thread with `with FakeLearner(script) as learner`."""

    def __init__(self, script) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "application.sock")
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self.path)
        self._listener.listen()
        self._listener.settimeout(600)
        self._script, self.failure = script, None
        self._thread = threading.Thread(target=self._run)
        self._fds = []
        self.tensors, self.weighted, self.averages_metrics, self.run = [], True, True, 5  # rounds of the run
        self.settings = {}  # of the encoding
        self.seals = fcntl.F_SEAL_SHRINK

    def __enter__(self) -> FakeLearner:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._thread.join(600)
        self._listener.close()
        self.folder.cleanup()
        if self.failure is not None:
            raise self.failure

    def _run(self) -> None:
        try:
            self._script(self)
        except BaseException as failure:
            self.failure = failure
            with contextlib.suppress(OSError, AttributeError):
                self.tell("error", text="the script of the learner failed")  # the application would wait for another learner
        finally:
            self.drop()

    def accept(self) -> None:
        """Take a connection and answer its join."""
        self._peer, _ = self._listener.accept()
        self._peer.settimeout(600)
        self._lines = self._peer.makefile("r")
        said = self.hear("join")
        self.tensors = said["tensors"]
        self.names = said.get("metrics", [])
        self.values, self.initial, self.program = said["values"], said.get("initial", False), said.get("program")
        elements = [int(np.prod(tensor["shape"], dtype=int)) for tensor in self.tensors]
        size = sum(n * np.dtype(tensor["dtype"]).itemsize for n, tensor in zip(elements, self.tensors))
        if not self._fds:
            self._fds = [os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING) for name in ("up", "down")]
            for fd in self._fds:
                os.ftruncate(fd, size)
                fcntl.fcntl(fd, fcntl.F_ADD_SEALS, self.seals)
            self.up, self.down = (np.frombuffer(mmap.mmap(fd, size), dtype=self.tensors[0]["dtype"]) for fd in self._fds)
        joined = {"type": "joined", "version": 1, "learner": 2, "name": "b", "learners": 3, "rounds": self.run,
                  "elements": sum(elements), "bytes": size, "clipping_range": None, "decimals": None,
                  "weighted": self.weighted, "averages_metrics": self.averages_metrics, **self.settings}
        self._peer.sendmsg([json.dumps(joined).encode() + b"\n"],
                           [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", self._fds))])

    def say(self, line: bytes) -> None:
        """Take a connection and answer its join with this."""
        self._peer, _ = self._listener.accept()
        self._lines = self._peer.makefile("r")
        self.hear("join")
        self._peer.sendall(line)

    def drop(self) -> None:
        if hasattr(self, "_peer"):
            self._lines.close()
            self._peer.close()

    def tell(self, kind: str, **fields: object) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # an application that has gone is missed by `hear`
            self._peer.sendall(json.dumps({"type": kind, **fields}).encode() + b"\n")

    def hear(self, kind: str) -> dict:
        message = json.loads(self._lines.readline() or '{"type": "the end"}')
        assert message["type"] == kind, message
        return message

    def train(self, round: int, committed: int, again: bool = False) -> None:
        self.tell("train", round=round, committed=committed, again=again)

    def begin(self) -> None:
        """Take a connection, and ask for the vector of round 1."""
        self.accept()
        self.train(1, 0)

    def begin_trained(self) -> None:
        """Take a connection, and the vector of round 1."""
        self.begin()
        self.hear("trained")

    def mean(self, round: int, value: float | np.ndarray, **fields: object) -> None:
        self.down[:] = value
        self.tell("mean", round=round, **{"learners": 3, "total_weight": 30, **fields})
