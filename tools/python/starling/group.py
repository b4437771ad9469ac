"""One learner's side of the application protocol (proto/APPLICATION.md)."""
from __future__ import annotations

import array
import json
import math
import mmap
import os
import socket
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from starling import tree

VERSION = 1
RETRY_SECONDS = 0.2
SAY_SECONDS = 5.0


class Error(RuntimeError):
    """The learner cannot be used, or ended the connection; the text says why."""


class Refused(ValueError):
    """The learner did not accept the vector or its weight; the text says why. A better one may follow."""


class _Connection:
    """A connected socket of JSON lines; the first answer brings two descriptors."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._buffer = b""
        self.fds: list[int] = []
        folder, name = os.path.split(os.path.abspath(path))
        at = os.open(folder, os.O_PATH)  # the path of the folder may be longer than a socket address
        try:
            self._socket.connect(f"/proc/self/fd/{at}/{name}")
        finally:
            os.close(at)

    def close(self) -> None:
        self._socket.close()
        for fd in self.fds:
            os.close(fd)
        self.fds = []

    def send(self, message: dict[str, Any]) -> None:
        self._socket.sendall(json.dumps(message).encode() + b"\n")

    def receive(self) -> dict[str, Any]:
        """Return the next message; ConnectionError when the learner is gone."""
        while b"\n" not in self._buffer:
            size = array.array("i").itemsize
            data, ancillary, _, _ = self._socket.recvmsg(65536, socket.CMSG_SPACE(2 * size))
            for level, kind, payload in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    self.fds.extend(array.array("i", payload[: len(payload) // size * size]))
            if not data:
                raise ConnectionResetError("the learner has closed the connection")
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\n", 1)
        return json.loads(line)


def _map(fd: int, elements: int) -> np.ndarray:
    return np.frombuffer(mmap.mmap(fd, 4 * elements), dtype="<f4")


class Group:
    """The group of learners, seen by one application. Use `join` to make one.

    Attributes:
        learner: id of the own learner.
        learners: number of learners in the roster.
        rounds: rounds of the run.
        round: the round whose model is to be trained, from 1; 0 before it is known.
        committed: the last committed round that this application has heard of; 0: none.
        participants: learners that took part in it; total_weight: the sum of their weights.
        waiting: why the round waits, a sentence of the learner; "" if it does not.
    """

    def __init__(self, path: str, model: Any = None) -> None:
        self._path = path
        self._template: Any = None
        self._tensors: list[tree.Tensor] = []
        self._connection: _Connection | None = None
        self._up = self._down = np.zeros(0, dtype="<f4")
        self._done = False
        self.learner = self.learners = self.rounds = 0
        self.round = self.committed = self.participants = self.total_weight = 0
        self.waiting = ""
        self._again = False
        self._asked = self._averaged = self._weighted = False
        self._has_model = False  # the application has got a committed model, or there was none when it began
        if model is not None:
            self._declare(model)

    def __enter__(self) -> Group:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave. The learner goes on without an application until one joins again."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    # ---- the connection ----

    def _declare(self, model: Any) -> None:
        self._template = model
        self._tensors = tree.tensors(model)
        if sum(tensor.size for tensor in self._tensors) == 0:
            raise ValueError("the model has no floats to average")
        self._connect()

    def _connect(self) -> None:
        """Connect and join; wait as long as the learner is not there."""
        self.close()
        begun = time.monotonic()
        while True:
            try:
                self._connection = _Connection(self._path)
                self._join()
                return
            except (ConnectionError, FileNotFoundError):
                self.close()
                if time.monotonic() - begun > SAY_SECONDS:
                    print(f"starling: waiting for a learner on {self._path}", file=sys.stderr, flush=True)
                    begun = float("inf")
                time.sleep(RETRY_SECONDS)

    def _join(self) -> None:
        assert self._connection is not None
        described = [{"name": tensor.name, "shape": tensor.shape} for tensor in self._tensors]
        self._connection.send({"type": "join", "version": VERSION, "tensors": described})
        answer = self._connection.receive()
        if answer["type"] != "joined":
            raise Error(answer.get("text", "the learner refused the application"))
        self.learner, self.learners, self.rounds = answer["learner"], answer["learners"], answer["rounds"]
        self._weighted = answer["weighted"]
        up, down = self._connection.fds
        self._up, self._down = _map(up, answer["elements"]), _map(down, answer["elements"])
        self._asked = False

    def _next(self) -> str:
        """Take one message and return its type; "lost" if the connection was lost and made anew."""
        assert self._connection is not None
        try:
            message = self._connection.receive()
        except ConnectionError:
            self._connect()
            return "lost"
        kind = message["type"]
        if kind == "train":
            self.round, self._again, self._asked = message["round"], message["again"], True
            self.committed = message["committed"]
        elif kind == "mean":
            self.committed, self.participants = message["round"], message["learners"]
            self.total_weight, self.waiting = message["total_weight"], ""
        elif kind == "waiting":
            self.waiting = message["text"]
        elif kind == "done":
            self._done = True
        elif kind == "refused":
            self._asked = True  # a better vector may follow
            raise Refused(message["text"])
        elif kind == "error":
            raise Error(message["text"])
        return kind

    def _await_request(self) -> None:
        while not self._asked and not self._done:
            self._next()

    # ---- for applications ----

    def __iter__(self) -> Iterator[int]:
        """Yield the number of each round to train, until the run is done.

        A round comes again if its attempt failed in a way that forbids to use the same model twice."""
        while True:
            if self._template is not None:
                self._await_request()
            if self._done:
                return
            self._averaged = False
            yield self.round or 1
            if not self._averaged:
                raise Error("the loop over the rounds must call mean in each of them")

    @property
    def model(self) -> Any:
        """The last committed model, of the structure that was declared; None before the first commit."""
        if self._template is None or self.committed == 0:
            return None
        self._has_model = True
        return tree.unflatten(self._template, self._down)

    def mean(self, model: Any, weight: int = 1, metrics: dict[str, float] | None = None) -> Any:
        """Return the weighted mean of the models of all learners, as soon as the round is committed.

        `weight`: a whole number from 1, such as the number of samples; it counts only with `weighting: samples`.
        `metrics`: for the log of the own learner; "loss" is shown.

        If the learner asks for another training of this round, or goes on from a committed model that this application
        did not train from, the result is that committed model: the loop then yields the round again.
        Raises Refused if a value is not finite or beyond `clipping_range`."""
        self._averaged = True
        if self._template is None:
            self._declare(model)
        self._await_request()
        if self.committed > 0 and not self._has_model:
            return self.model
        if self._done:
            raise Error("the run is done")
        self._has_model = True
        tried = self.round
        self._send(model, weight, metrics)
        while True:
            kind = self._next()
            if kind in ("mean", "train") and self.committed >= tried:
                return self.model
            if kind == "train" and self._again:
                return self.model if self.committed > 0 else model
            if kind == "train":  # the learner was started again and has lost the vector
                self._send(model, weight, metrics)

    def _send(self, model: Any, weight: int, metrics: dict[str, float] | None) -> None:
        assert self._connection is not None
        if weight != int(weight) or weight < 1:
            raise ValueError(f"a weight is a whole number from 1, not {weight}")
        if weight != 1 and not self._weighted:
            warnings.warn("the weight does not count: the learner has not set weighting: samples", stacklevel=3)
        tree.flatten(model, self._tensors, self._up)
        numbers = {name: float(value) for name, value in (metrics or {}).items() if math.isfinite(value)}
        message = {"type": "trained", "round": self.round, "weight": int(weight), "metrics": numbers}
        self._asked = False
        try:
            self._connection.send(message)
        except ConnectionError:
            self._connect()


def join(model: Any = None, path: str | None = None) -> Group:
    """Join the learner on the socket `path` (default: $STARLING_SOCKET) and wait until it is there.

    `model` states names and shapes; its values do not matter. Without it, the first `mean` does."""
    path = path or os.environ.get("STARLING_SOCKET")
    if not path:
        raise Error("STARLING_SOCKET is not set: start this program by `starling launch -- ...`, or give join a path")
    return Group(path, model)
