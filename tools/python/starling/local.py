"""A group of learners on this machine, for programs and notebooks that play all of them."""
from __future__ import annotations

import contextlib
import glob
import os
import shutil
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from starling.group import Error, Group, join

LINES, OUTPUT_BYTES = 5, 4096  # of the end of its output, to be shown
POLL_SECONDS = 0.05
END_SECONDS = 60.0  # for the daemons to end; then they are killed


def find_program() -> str:
    """Return the program `starling`: that on PATH, or else that of the environment of this Python, which may not be active."""
    return shutil.which("starling") or shutil.which("starling", path=sysconfig.get_path("scripts")) or "starling"


class Launch:
    """The process of `starling launch`."""

    def __init__(self, command: list[str]) -> None:
        self._output = tempfile.TemporaryFile()
        self._said: bytes | None = None  # once it was stopped
        self._cause: BaseException | None = None  # of the first learner of this program that has failed
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self._output, stderr=self._output,
                                            start_new_session=True)
        except OSError as flaw:
            self._output.close()
            raise Error(f"{command[0]} cannot be started ({flaw.strerror}): install Starling, or name the program: "
                        'starling.local(..., program="build/tools/starling")') from None

    def check(self) -> None:
        """Raise Error if no learner will come: the process has ended, or will."""
        if self._cause is not None:
            raise Error(f"another learner of this group has failed: {type(self._cause).__name__}: {self._cause}")
        if self.process.poll() is not None:
            said = self._read() if self._said is None else self._said
            raise Error("\n".join([f"starling launch has ended with status {self.process.returncode}:",
                                   *said.decode(errors="replace").splitlines()[-LINES:]]))

    def fail(self, cause: BaseException) -> None:
        """End the learners: the others would wait for the one that has failed."""
        self._cause = self._cause or cause
        self.process.terminate()

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._said = self._read()
        self._output.close()

    def _read(self) -> bytes:
        size = os.fstat(self._output.fileno()).st_size
        return os.pread(self._output.fileno(), OUTPUT_BYTES, max(0, size - OUTPUT_BYTES))


class Socket(str):
    """The path of the socket of a learner. Called with a model and options, it is `starling.join` on this path."""

    def __new__(cls, path: str, launch: Launch) -> Socket:
        socket = super().__new__(cls, path)
        socket._launch = launch
        return socket

    def __call__(self, model: Any = None, **options: Any) -> Group:
        return join(model, path=self, **options)

    def check(self) -> None:
        self._launch.check()

    def fail(self, cause: BaseException) -> None:
        self._launch.fail(cause)


def _sockets(run: str, learners: int, launch: Launch) -> list[Socket]:
    """Wait until all learners listen, and return their sockets."""
    while True:
        launch.check()
        paths = sorted(glob.glob(os.path.join(glob.escape(run), "learner-*", "application.sock")))
        if len(paths) == learners:
            return [Socket(path, launch) for path in paths]
        time.sleep(POLL_SECONDS)


@contextlib.contextmanager
def local(learners: int = 3, rounds: int = 10, *, topology: str | None = None, program: str | None = None,
          **settings: Any) -> Iterator[list[Socket]]:
    """Run a group of `learners` on this machine, and yield the sockets of its learners, for a thread each:

        def learner(socket):
            with socket(model) as group:        # the same as starling.join(model, path=socket)
                for t in group:
                    ...

        with ThreadPoolExecutor(3) as threads, starling.local(3, rounds=5) as sockets:
            models = list(threads.map(learner, sockets))

    An exception in one `with` block of a learner ends the others with an Error that names it.
    `topology`, `settings`: as `starling launch --topology` and `--set` take them. `program`: the launcher, if it is neither
    `starling` on PATH nor in the environment of this Python.
    At the end, all learners are stopped, and their folder is removed. Error: the launcher has failed; the text is its own."""
    with tempfile.TemporaryDirectory(prefix="starling-") as folder:
        run, gate = os.path.join(folder, "run"), os.path.join(folder, "gate")
        os.mkfifo(gate)
        command = [program or find_program(), "launch", "-n", str(learners), "--rounds", str(rounds), "--run-dir", run]
        command += ["--topology", topology] if topology is not None else []
        for name, value in settings.items():
            command += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
        # The launcher wants a command for each learner. This one ends when this program closes the gate, or is killed.
        held = os.open(gate, os.O_RDWR)
        try:
            launch = Launch([*command, "--", "cat", gate])
            try:
                yield _sockets(run, learners, launch)
            finally:
                launch.stop()
        finally:
            os.close(held)
