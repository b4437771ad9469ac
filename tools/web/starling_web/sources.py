"""Where the records of a page come from: log files (here), or learners that are asked over HTTP (follow.py). A source can

    read()          hand over the records that were not handed over
    earlier()       return the logs of what is before them and was left out, or None
    again(learner, size)    hand over the last records of a learner again, of any version and time: about `size` bytes of them
    running()       tell whether a learner runs
"""
from __future__ import annotations

import os
import socket
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, Optional, Protocol

from starling_timeline.logs import Logs

LEVELS = ("debug", "info", "warn", "error")
FIELDS = ("time", "level", "event", "text", "round")
LOG_BYTES = (128 << 10, 4 << 20)  # of the end of a log, where records are looked for: the second if the first does not have them


class Source(Protocol):
    def read(self) -> Iterable[dict[str, Any]]: ...

    def earlier(self) -> Optional[Logs]: ...

    def again(self, learner: int, size: int) -> Iterable[dict[str, Any]]: ...

    def running(self) -> bool: ...


class Files:
    """The logs of a run folder."""

    def __init__(self, logs: Logs) -> None:
        self.logs = logs

    def read(self) -> Iterator[dict[str, Any]]:
        return self.logs.read_new()

    def earlier(self) -> Optional[Logs]:
        logs = self.logs.earlier()
        return logs if logs.files else None

    def again(self, learner: int, size: int) -> Iterator[dict[str, Any]]:
        return self.logs.again(learner, size)

    def running(self) -> bool:
        """Return true if a learner listens on its control socket, beside its log."""
        return any(_listens(os.path.dirname(file.path) or ".") for file in self.logs.files)


def _listens(folder: str) -> bool:
    """A socket's address has room for 107 bytes, and folders may be deeper: through the folder's descriptor."""
    try:
        at = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        try:
            with socket.socket(socket.AF_UNIX) as control:
                control.setblocking(False)
                control.connect(f"/proc/self/fd/{at}/control.sock")
        finally:
            os.close(at)
    except BlockingIOError:  # its queue is full
        return True
    except OSError:
        return False
    return True


def excerpt(source: Source, learner: int, number: int, least: str, most: int) -> list[dict[str, Any]]:
    """Return the last records of a learner of round `number` (0: of all), and those of no round between them: at most `most`, of level
    `least` or more severe."""
    kept: deque[dict[str, Any]] = deque(maxlen=most)
    for size in LOG_BYTES:
        kept.clear()
        within = number == 0
        for record in source.again(learner, size):
            if number != 0 and type(record.get("round")) is int:
                within = record["round"] == number
            if within and record.get("level", least) in LEVELS[LEVELS.index(least):]:
                kept.append({field: record[field] for field in FIELDS if type(record.get(field)) in (str, int)})
        if len(kept) == most:
            break
    return list(kept)
