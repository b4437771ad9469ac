"""The learners that a command speaks to: those of a run folder, or control sockets.

A folder is that of a run (RUN/NAME/control.sock), one with a folder for each learner set up by hand (FOLDER/NAME/state/control.sock),
or that of a single learner. A learner that has ended is found by the files that it left.
"""
from __future__ import annotations

import argparse
import errno
import fcntl
import json
import os
import re
import select
import socket
import sys
import time
from typing import Any, Optional

from starling_timeline import logs, words
from starling_timeline.command import CommandError, Parser, complain, why
from starling_timeline.values import items, parse, text

# Where the learners of the units are: that of deploy/starlingd.yaml, and those of groups.
SOCKET, GROUPS = "/run/starling/control.sock", "/var/lib/starling"
WITHOUT = f"Without RUNFOLDER and --control: the learners of the present folder, or else the installed\ndaemon ({SOCKET}), or else those of groups in ~/.local/share/starling or {GROUPS}."
REPLY_BYTES_MOST = 1 << 20  # of a status with the most learners
NAME_BYTES_MOST = 63
SILENT = "does not answer"
ABSENT = (errno.ENOENT, errno.ECONNREFUSED, errno.ENOTDIR)  # the learner is not running


def clean(value: Any) -> Any:
    """Return a JSON value whose texts fit for a terminal: a learner says what it likes."""
    if type(value) is str:
        return words.clean(value.replace("\n", "?"))
    if type(value) is dict:
        return {key: clean(one) for key, one in value.items()}
    return [clean(one) for one in value] if type(value) is list else value


def number(record: Optional[dict], name: str) -> float:
    """Return a number, or 0: there is none."""
    value = (record or {}).get(name)
    return value if type(value) in (int, float) else 0


def inner(record: Optional[dict], name: str) -> dict:
    """Return an object, or {}: there is none."""
    value = (record or {}).get(name)
    return value if type(value) is dict else {}


def records(record: Optional[dict], name: str) -> list[dict]:
    """Return the objects of an array."""
    return [one for one in items(record or {}, name) if type(one) is dict]


STOP_ONE = "stop one of them; another machine needs an identity of its own"


def two_places(statuses: list[Optional[dict]]) -> dict[str, str]:
    """Return the addresses of each learner that runs at two places, by its name: as others see it, else as it knows itself."""
    found: dict[str, str] = {}
    for one in [peer for status in statuses for peer in records(status, "peers")] + [status or {} for status in statuses]:
        if text(one, "two_places"):
            found.setdefault(text(one, "name"), text(one, "two_places"))
    return found


class Learner:
    """A learner and its last reply. `shown` is for people."""

    def __init__(self, folder: str, socket_name: str, shown: str, log: str = "", fresh: bool = False, config: str = "") -> None:
        self.folder, self.socket, self.shown, self.log = folder, socket_name, shown, log
        self.config = config  # its starlingd.yaml; "": not known
        self.fresh = fresh  # it is set up, and has begun no round
        self.id, self.name = 0, ""  # once they are known
        self.skip = False  # is not asked
        self.error = 0  # why it cannot be asked, as errno; 0: it is asked
        self.reply: Optional[dict] = None  # None: it did not answer in time

    def dial(self) -> Optional[socket.socket]:
        """Connect without waiting. The address has room for 107 bytes, and folders may be deeper: through the folder's descriptor."""
        end = socket.socket(socket.AF_UNIX)
        end.setblocking(False)
        try:
            at = os.open(self.folder, os.O_PATH | os.O_DIRECTORY)
            try:
                end.connect(f"/proc/self/fd/{at}/{self.socket}")
            finally:
                os.close(at)
        except OSError as failure:
            self.error = failure.errno or errno.ENAMETOOLONG
            end.close()
            return None
        return end

    def absent(self) -> bool:
        return self.error in ABSENT

    def problem(self) -> str:
        """Return why there is no reply; "": there is one."""
        if self.absent():
            return "is not running"
        if self.error not in (0, errno.EAGAIN):  # EAGAIN: it accepts no connection
            return os.strerror(self.error)
        return SILENT if self.reply is None else ""

    def failure(self) -> str:
        """Return why it has not done what it was asked; "": it has replied. A request waits in its socket."""
        problem = self.problem() and why(OSError(self.error, self.problem()))
        return f"{problem}: stopped by a signal (kill -CONT), or its disk hangs; it may still do it" if problem == SILENT else problem

    def did(self) -> bool:
        """Return True if it has done what it was asked; else print why not."""
        if self.reply is not None and self.reply.get("ok") is True:
            return True
        say(f"{self.shown}: {self.failure() or text(self.reply, 'error')}")
        return False

    def know(self, record: Optional[dict], key: str) -> None:
        """Keep its id, which has this key in a reply or log record, and its name, if it is one of a roster."""
        name = text(record or {}, "name")
        if 0 < len(name.encode(errors="replace")) <= NAME_BYTES_MOST and type(record.get(key)) is int:
            self.id, self.name = record[key], name

    def runs(self) -> bool:
        """Return True if a daemon holds the state folder."""
        path = os.path.join(self.folder, "lock")
        try:
            with open(path if os.path.exists(path) else os.path.join(self.folder, "state", "lock"), "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as failure:
            return failure.errno == errno.EWOULDBLOCK
        return False


def say(message: str) -> None:
    """Print an error of this command."""
    complain(sys.argv[0], message)


# ---- questions ----

def _read(end: socket.socket, until: float) -> Optional[dict]:
    """Read one line; None: there is no reply in time. A reply waits in the socket until it is read."""
    line, poll = b"", select.poll()
    poll.register(end, select.POLLIN)
    while b"\n" not in line:
        if not poll.poll(max(0, until - time.monotonic()) * 1000):
            return None
        try:
            more = end.recv(1 << 16)
        except BlockingIOError:
            continue
        except OSError:
            return None
        line += more
        if not more or len(line) > REPLY_BYTES_MOST:
            return None
    return clean(parse(line[:line.index(b"\n")]))


def ask(learners: list[Learner], seconds: float, **request: Any) -> None:
    """Ask all that are not skipped at once, with one deadline for all replies."""
    until, ends = time.monotonic() + seconds, []
    for one in learners:
        if one.skip:
            continue
        one.reply, one.error = None, 0
        end = one.dial()
        if end is not None:
            ends.append((one, end))
            try:
                end.send(json.dumps(request).encode() + b"\n")
            except OSError:
                pass  # a request that is lost is not answered
    for one, end in ends:
        with end:
            one.reply = _read(end, until)


# ---- where they are ----

def _look(folder: str, name: str) -> Optional[Learner]:
    """Return the learner of FOLDER/NAME, or of FOLDER itself for the name "", if it is the folder of one: it has a control socket, or
    had one, or `starling group create` or `starling join` has made it."""
    base = f"{folder}/{name}" if name else folder

    def has(file: str) -> bool:
        return os.path.exists(os.path.join(base, file))

    here, below, made = has("control.sock"), has("state/control.sock") or has("state/lock"), has("starlingd.yaml") and has("identity")
    if not (here or below or made):
        return None
    found = logs.configured(base) if made else {}
    state, log = found.get("state", "state"), found.get("log", "-")
    began = here or below or has(f"{state}/lock")
    control = found.get("control", f"{state}/control.sock") if made and began else "control.sock" if here else "state/control.sock"
    at, _, socket_name = os.path.join(base, control).rpartition("/")
    return Learner(at, socket_name, name or folder.rpartition("/")[2] or folder, os.path.join(base, log if log != "-" else "log.jsonl"), not began,
                   f"{base}/starlingd.yaml" if made else "")


def committed(state: str) -> int:
    """Return the last round whose model is in a state folder; 0: there is none."""
    try:
        found = re.match("round-([0-9]+)", os.readlink(os.path.join(state, "checkpoints", "latest.safetensors")))
    except OSError:
        return 0
    return int(found[1]) if found else 0


def find(folder: str) -> list[Learner]:
    """Return the learners in a folder; an error if there is none."""
    try:
        names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError as failure:
        raise CommandError(f"{folder}: {why(failure)}") from None
    itself = _look(folder, "")
    found = [itself] if itself is not None else list(filter(None, (_look(folder, name) for name in names)))
    if not found:
        raise CommandError(f"{folder}: no learner in it: no NAME/control.sock, and no NAME/state/control.sock; for a learner whose "
                           "socket is elsewhere, give --control SOCKET")
    return found


def at_socket(path: str) -> Learner:
    folder, slash, name = path.rpartition("/")
    return Learner((folder or "/") if slash else ".", name, path)


def groups() -> str:
    """Return the folder that has those of groups of this user; "": HOME is not set."""
    if os.geteuid() == 0:
        return GROUPS
    data, home = os.environ.get("XDG_DATA_HOME", ""), os.environ.get("HOME", "")
    return f"{data}/starling" if data.startswith("/") else f"{home}/.local/share/starling" if home.startswith("/") else ""


def hidden() -> bool:
    """Return True if the folder of groups has a folder that this user cannot read."""
    try:
        return any(os.path.exists(path) and not os.access(path, os.R_OK | os.X_OK)
                   for path in (f"{GROUPS}/{name}" for name in os.listdir(GROUPS) if not name.startswith(".")))
    except OSError as failure:
        return failure.errno == errno.EACCES


class Learners(list):
    """The learners that the options of a command name. `folder`: the run folder; "": there is none."""

    def __init__(self, folder: Optional[str], sockets: list[str]) -> None:
        super().__init__(map(at_socket, sockets))
        self.folder = folder or ""
        if folder is not None and sockets:
            raise CommandError("give a run folder or --control SOCKET, not both")
        if folder is not None:
            self.extend(find(folder))
        elif not sockets:
            self._usual()

    def _usual(self) -> None:
        """Find those of the present folder, or else the installed one, or else those of groups of this user or of root."""
        own = groups() or GROUPS
        for folder in (os.getcwd(), "", own, GROUPS):
            if not folder and os.path.exists(SOCKET):
                self.append(at_socket(SOCKET))
                return
            try:
                self.extend(find(folder) if folder else [])
            except CommandError:
                continue
            if self:
                self.folder = folder
                return
        unread = hidden()
        raise CommandError(f"the present folder is no run folder, there is no daemon at {SOCKET}, and no group in {own}"
                           f"{f' or {GROUPS}' if own != GROUPS and not unread else ''}; name a run folder, or --control SOCKET"
                           + (f", or run this command as root: {GROUPS} has folders that this user cannot read" if unread else ""))

    def _name(self, learner: int) -> str:
        for one in self:
            if one.id == learner:
                return one.name
        return next((peer["name"] for one in self for peer in records(one.reply, "peers")
                     if peer.get("id") == learner and type(peer.get("name")) is str), "learner")

    def names(self, ids: list, most: Optional[int] = None) -> str:
        """Return the first `most` as "ana (1), bo (2) and 7 more", with their names as far as the log or replies tell them."""
        more = len(ids) - len(ids[:most])
        return ", ".join(f"{self._name(one)} ({one})" for one in ids[:most]) + (f" and {more} more" if more else "")


# ---- options ----

def parser(usage: str, description: str, epilog: str) -> Parser:
    """Return the parser of a command with [RUNFOLDER] and --control."""
    p = Parser(sys.argv[0], usage, description, f"{WITHOUT}\n{epilog}")
    p.add_argument("folders", nargs="*", help=argparse.SUPPRESS)
    p.add_argument("-c", "--control", metavar="SOCKET", action="append", default=[], help="the learner with this control socket; may be repeated")
    return p


def named(p: Parser, folders: list[str], sockets: list[str]) -> Learners:
    if len(folders) > 1:
        p.error(f"give one run folder; '{folders[1]}' is another one")
    return Learners(folders[0] if folders else None, sockets)
