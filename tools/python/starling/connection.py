"""The socket of the application protocol (proto/APPLICATION.md): JSON lines, and two vectors in shared memory."""
from __future__ import annotations

import array
import contextlib
import errno
import fcntl
import json
import mmap
import os
import socket
import stat
import weakref
from typing import Any

import numpy as np


LINE_BYTES_MAX = 32 << 20
NAME_BYTES_MAX = 1023  # of a tensor
VECTORS = 2


class Garbled(ValueError):
    """What the learner sent cannot be used; the text says why."""


class Connection:
    """A connected socket; ConnectionError or FileNotFoundError if no learner is there, another OSError if none will be.

    It belongs to the process that connected: a forked child closes its copy, or it would hold the connection."""

    _all: weakref.WeakSet[Connection] = weakref.WeakSet()

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._buffer = b""
        self._fds: list[int] = []
        self._process = os.getpid()
        self._all.add(self)
        try:
            folder, name = os.path.split(os.path.abspath(path))
            at = os.open(folder, os.O_PATH)  # the path of the folder may be longer than a socket address
            try:
                self._socket.connect(f"/proc/self/fd/{at}/{name}")
            except ConnectionRefusedError:
                if not stat.S_ISSOCK(os.stat(name or ".", dir_fd=at).st_mode):
                    raise OSError(errno.ENOTSOCK, "it is no socket") from None
                raise
            finally:
                os.close(at)
        except BaseException:  # KeyboardInterrupt, too
            self.close()
            raise

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes another thread that receives
        self._close_copies()

    def _close_copies(self) -> None:
        self._socket.close()
        for fd in self._fds:
            os.close(fd)
        self._fds = []

    def set_timeout(self, seconds: float | None) -> None:
        """End a later `send` or `receive` with TimeoutError after so many seconds. None: never."""
        self._socket.settimeout(None if seconds is None else max(seconds, 0.001))

    @classmethod
    def close_all(cls) -> None:
        """Close what a forked child has of all connections. They go on: a shutdown would end them in the parent, too."""
        for connection in cls._all:
            connection._close_copies()

    def check_process(self) -> None:
        if os.getpid() != self._process:
            raise Garbled(f"process {self._process} has joined, and this is a child that it has forked: only the process that "
                          "joined can use the group; join after the fork")

    def send(self, message: dict[str, Any]) -> None:
        self.check_process()
        line = json.dumps(message, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        if len(line) > LINE_BYTES_MAX:
            raise Garbled(f"the {message['type']} message has {len(line)} bytes; at most 32 MiB: "
                          "use fewer tensors or shorter names")
        self._socket.sendall(line)

    def receive(self) -> dict[str, Any]:
        """Return the next message; ConnectionError when the learner is gone."""
        self.check_process()
        while b"\n" not in self._buffer:
            size = array.array("i").itemsize
            data, ancillary, _, _ = self._socket.recvmsg(65536, socket.CMSG_SPACE(2 * size), socket.MSG_CMSG_CLOEXEC)
            for level, kind, payload in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    self._fds.extend(array.array("i", payload[: len(payload) // size * size]))
            if not data:
                raise ConnectionResetError("the learner has closed the connection")
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\n", 1)
        try:
            message = json.loads(line)
        except ValueError:  # also bytes that are not UTF-8
            message = None
        if not isinstance(message, dict) or not isinstance(message.get("type"), str):
            raise Garbled("the learner does not speak the application protocol")
        return message

    def vectors(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Map the vectors that came with `joined`, each `size` bytes: up, to be written, and down, to be read."""
        if len(self._fds) != VECTORS:
            raise Garbled(f"the learner sent {len(self._fds)} pieces of shared memory, not {VECTORS}")
        for fd in self._fds:
            try:
                sealed = fcntl.fcntl(fd, fcntl.F_GET_SEALS) & fcntl.F_SEAL_SHRINK
            except OSError:
                sealed = 0
            if not sealed:
                raise Garbled("the shared memory is not sealed against shrinking")
            if os.fstat(fd).st_size < size:
                raise Garbled(f"the learner shares less memory than the {size} bytes of a vector")
        up, down = self._fds
        return (np.frombuffer(mmap.mmap(up, size), dtype=np.uint8),
                np.frombuffer(mmap.mmap(down, size, prot=mmap.PROT_READ), dtype=np.uint8))


os.register_at_fork(after_in_child=Connection.close_all)
