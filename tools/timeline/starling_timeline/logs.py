"""The logs of any number of learners, as one stream of records in the order of time.

    FILE, FOLDER/log.jsonl, FOLDER/NAME/log.jsonl --> lines --> records, the earliest first

Holds a line of each file. The order within a file is kept, even where its clock went back. A log that was replaced or cut is read
anew. For a live page, the ends of long logs are read first (`last`), then what is before them (`earlier`).
"""
from __future__ import annotations

import contextlib
import copy
import heapq
import math
import os
import re
import resource
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Optional

from starling_timeline.command import FAILED, JOURNAL, USAGE, CommandError, why
from starling_timeline.values import moment, parse, real, whole

LOG_FILE = "log.jsonl"
LINE_BYTES_MOST = 1 << 20  # a longer line is malformed
SEARCH_BYTES, SEARCH_LINES = 64 << 10, 200  # how exactly a round is looked for in a log; lines until a record names one
VERSION = 1  # of the records: "v"

# Seconds since 1970, milliseconds of a finer clock, place of the file, record, its line.
Timed = tuple[float, float, int, dict, bytes]


@dataclass
class Skipped:
    """Lines that are left out."""
    count: int = 0
    first: str = ""  # "learner-03/log.jsonl:17"

    def add(self, place: str) -> None:
        self.first = self.first or place
        self.count += 1


class File:
    """One log. `shown` is its path in messages. `until`: it is read up to this byte; 0: to its end."""

    def __init__(self, path: str, shown: str, place: int, until: int = 0) -> None:
        self.path, self.shown, self.place, self.until = path, shown, place, until
        self.skipped = 0  # bytes
        self.learner = 0  # 0: not known yet
        self.file: Optional[BinaryIO] = None
        self.open()

    def open(self) -> None:
        file = open(self.path, "rb")
        self.close()
        self.file = file
        self.at = os.fstat(self.file.fileno())
        self.line, self.cut = 0, False  # cut: the present line is too long, and its beginning is dropped

    def close(self) -> None:
        if self.file is not None:
            self.file.close()

    def is_replaced(self) -> bool:
        """Begin anew, and return True, if the name is another file now, or the file is shorter."""
        try:
            now = os.stat(self.path)
            if os.path.samestat(now, self.at) and now.st_size >= self.file.tell():
                return False
            self.open()
        except OSError:
            return False
        return True

    def read_line(self, most: int = LINE_BYTES_MOST) -> bytes:
        try:
            return self.file.readline(most)
        except OSError as failure:
            failure.filename = self.shown
            raise

    def lines(self, whole_only: bool) -> Iterator[bytes]:
        """Yield the next lines; b"" for one that is too long. `whole_only`: only lines with their newline."""
        while not self.until or self.file.tell() < self.until:
            line = self.read_line(LINE_BYTES_MOST + 1)
            ended = line.endswith(b"\n")
            if not ended and len(line) > LINE_BYTES_MOST:
                self.cut = True
                continue
            if not line or (not ended and whole_only):
                self.file.seek(-len(line), os.SEEK_CUR)
                return
            self.line += 1
            yield b"" if self.cut else line
            self.cut = False

    def skip(self, size: int) -> None:
        """Go on with the last `size` bytes."""
        if self.at.st_size > size:
            self.file.seek(self.at.st_size - size)
            self.read_line()
            self.skipped = self.file.tell()

    def seek(self, t: int) -> None:
        """Go to the beginning of round `t`, or somewhat before it. The rounds of a log ascend."""
        low, high = 0, self.until
        while high - low > SEARCH_BYTES:
            middle = (low + high) // 2
            low, high = (middle, high) if self._round_at(middle) < t else (low, middle)
        self.file.seek(low)
        if low > 0:
            self.read_line()

    def _round_at(self, at: int) -> float:
        """Return the round of the first record after byte `at` that names one; infinity: none of the next does."""
        self.file.seek(at)
        self.read_line()
        records = (parse(self.read_line()) for _ in range(SEARCH_LINES))
        return next((whole(record, "round") for record in records if record is not None and whole(record, "round")), math.inf)


def configured(folder: str) -> dict[str, str]:
    """Return the settings of the learner in `folder` by its starlingd.yaml that are one word; {}: it has none."""
    try:
        with open(os.path.join(folder, "starlingd.yaml"), encoding="utf-8", errors="replace") as file:
            return dict(re.findall(r"^(\w+):\s*[\"']?([^\s\"'#]+)", file.read(), re.MULTILINE))
    except OSError:
        return {}


def remedy(folder: str) -> str:
    """Return where the log of the learner in `folder` is by its starlingd.yaml, or how a learner writes one there."""
    found = configured(folder)
    if not found:
        return f"a learner writes one with the setting `log: {LOG_FILE}`"
    if found.get("log", "-") != "-" and found.get("log_format") != "journal":
        return f"by its starlingd.yaml, the log is {os.path.join(folder, found['log'])}"
    group = os.path.basename(os.path.abspath(folder))
    return f"by its starlingd.yaml, systemd has the log in the journal: {JOURNAL.format(group)}"


def end(path: str, start: int, size: int) -> Iterator[dict]:
    """Yield the records in the last `size` bytes of a log, but none before byte `start`; of any version and time. A pipe has none: it is
    not waited for."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            file.seek(max(os.fstat(file.fileno()).st_size - size, start))
            yield from filter(None, map(parse, file.read(size).split(b"\n")))
    except OSError:
        return


class Logs:
    """The logs in `paths`, files and folders.

    follow: a last line is read only once it has its newline. empty: logs that are missing are no error. last: only so many bytes of their
    ends are read, of all logs together; 0: all bytes. Raises CommandError.
    `malformed` and `other_version` count the lines that were left out; `taken`: one was not.
    """

    def __init__(self, paths: list[str], follow: bool = False, empty: bool = False, last: int = 0) -> None:
        self.paths, self.follow, self.opened = paths, follow, empty
        self.files: list[File] = []
        self.malformed, self.other_version, self.taken = Skipped(), Skipped(), False
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        self.refresh()
        self.opened = True
        for file in self.files if last else ():
            file.skip(last // len(self.files))

    def __enter__(self) -> Logs:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for file in self.files:
            file.close()

    # ---- files and folders ----

    def refresh(self) -> None:
        """Take up new files."""
        for path in self.paths:
            found = self._scan(path)
            if not found and not self.opened:
                raise CommandError(f"{path}: no {LOG_FILE} in it or in its folders; {remedy(path)}", USAGE)

    def _scan(self, path: str) -> int:
        """Add the logs of a path; return their number."""
        try:
            names = sorted(name for name in os.listdir(path) if not name.startswith("."))
        except NotADirectoryError:
            return self._add(path, path)
        except OSError as failure:
            raise CommandError(f"{path}: {why(failure)}", USAGE) from None
        return sum(self._add(os.path.join(path, log), log if len(self.paths) == 1 else os.path.join(path, log))
                   for log in [LOG_FILE, *(f"{name}/{LOG_FILE}" for name in names)])

    def _add(self, path: str, shown: str) -> int:
        """Add a file if it is new; return 0 if it is none."""
        try:
            at = os.stat(path)
        except OSError:
            return 0
        if not stat.S_ISREG(at.st_mode):
            return 0
        if not any(file.path == path or os.path.samestat(file.at, at) for file in self.files):
            try:
                self.files.append(File(path, shown, len(self.files)))
            except OSError as failure:
                raise CommandError(f"{path}: {why(failure)}", FAILED) from None
        return 1

    # ---- records ----

    def _of_file(self, file: File) -> Iterator[Timed]:
        while True:
            for line in file.lines(self.follow):
                record = parse(line)
                at = math.nan if record is None else moment(record.get("time"))
                if at != at:
                    self.malformed.add(f"{file.shown}:{file.line}")
                elif whole(record, "v") != VERSION:
                    self.other_version.add(f"{file.shown}:{file.line}")
                else:
                    self.taken = True
                    file.learner = file.learner or whole(record, "learner")
                    mono_ms = real(record, "mono_ms")
                    yield at, mono_ms if mono_ms == mono_ms else 0, file.place, record, line
            if not (self.follow and file.is_replaced()):
                return

    def records(self) -> Iterator[dict]:
        """Yield the records that were not handed over, the earliest first: by wall clock, within a millisecond by the finer clock."""
        return (record for record, _ in self.lines())

    def lines(self) -> Iterator[tuple[dict, bytes]]:
        """The same, each with its line."""
        return (timed[3:] for timed in heapq.merge(*map(self._of_file, self.files)))

    def read_new(self) -> Iterator[dict]:
        """The same, with those of new files, for a live page: a folder that is gone has no more records."""
        try:
            self.refresh()
        except CommandError:
            pass
        return self.records()

    def earlier(self) -> Logs:
        """Return what `last` has left out, as logs of their own."""
        logs = copy.copy(self)
        logs.follow, logs.files = False, []
        for file in self.files:
            with contextlib.suppress(OSError):
                before = File(file.path, file.shown, file.place, file.skipped)
                logs.files += [before] if file.skipped and os.path.samestat(before.at, file.at) else []
        return logs

    def firsts(self) -> Iterator[dict]:
        """Yield the first record of each log."""
        for file in self.files:
            yield from filter(None, [parse(file.read_line())])

    def seek(self, t: int) -> None:
        """Go to the beginning of round `t`, or somewhat before it."""
        for file in self.files:
            file.seek(t)

    def again(self, learner: int, size: int = 4 << 20) -> Iterator[dict]:
        """Yield again the records in the last `size` bytes of the logs of a learner, of any version and time."""
        for file in self.files:
            if file.learner == learner:
                yield from end(file.path, 0, size)
