"""The live page of a run: log records in, changed round documents out, over HTTP.

    source --> records --> Timeline --> changed documents --> event "round" to every open page
                                                          --> event "state", once a second
    /            the page
    /events      first "rows" (a row of every round) and the documents of the last rounds, then what changes
    /log?learner=ID&round=N    the records of one learner of one round

Changes are sent at most four times a second, and so rarely that making them takes at most 2 % of the time; without an open page none
are made. A page has documents of the last rounds and rows of many more, which stay when the timeline drops a round. Of long logs the ends
are read first, then, beside the page, as many of the earlier rounds as it has rows of.
"""
from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import Any, Optional, Union

from starling_timeline.logs import Logs
from starling_timeline.timeline import Timeline
from starling_timeline.values import dumps, whole

from starling_web.rows import round_row
from starling_web.server import Answer, Server, Stream, event
from starling_web.sources import Source, excerpt

TICK_S = 0.25
STATE_TICKS = 4  # between two events "state"
SHARE = 50  # making documents takes at most this part of the time
SLICE_S = 0.02  # of reading, or making rows: then requests are answered
PARTS_MOST = 10_000  # rounds times learners of a timeline: about 30 MB
ROUNDS_KEPT = 50  # documents that a new page gets
ROWS_KEPT = 10_000  # rows that a new page gets: about 4 MB
BURST_BYTES = 3 << 20  # at most, of documents; with the rows less than QUEUE_BYTES
LOG_RECORDS = 400
DIGITS = 13
USAGE = b"give learner and round, as in /log?learner=3&round=7\n"


def page() -> tuple[str, str, str]:
    """Return the page: what is before its data, what is after them, and the directives of its Content-Security-Policy."""
    before, after = Path(__file__).with_name("page.html").read_text(encoding="utf-8").split("@DATA@")
    return before, after, re.search("default-src 'none'; ([^\"]*)", before)[1]


async def slices(items: Iterable[Any]) -> AsyncIterator[Any]:
    """Yield the items, and let requests be answered meanwhile."""
    until = time.monotonic() + SLICE_S
    for item in items:
        yield item
        if time.monotonic() > until:
            await asyncio.sleep(0)
            until = time.monotonic() + SLICE_S


class Live:
    """The page of a run, at `address` (HOST:PORT; port 0: any that is free)."""

    def __init__(self, address: str, token: Optional[str], timeline: Timeline, source: Source) -> None:
        before, after, directives = page()
        self.timeline, self.source = timeline, source
        self.html = f"{before}null{after}".encode()
        self.server = Server(address, token, directives, self.serve)
        self.sent = 0  # version of the timeline that was published
        self.next = 0.0  # when documents may be made again
        self.running = self.ended = False
        self.rows: dict[int, dict[str, Any]] = {}  # of the last rounds, of the version below
        self.rows_version = 0
        self.fresh: list[dict[str, Any]] = []  # rows of dropped rounds, to be sent
        self.is_cut = self.is_reading = False  # earlier rounds were left out at first; they are being read
        timeline.bound(PARTS_MOST, ROUNDS_KEPT, self.leave)

    # ---- records ----

    async def read(self) -> None:
        """Take up the records that were not taken up."""
        async for record in slices(self.source.read()):
            self.timeline.take(record)

    def leave(self, document: dict[str, Any]) -> None:
        """Keep the row of a round that leaves a timeline."""
        row = self.rows[document["round"]] = round_row(document)
        self.fresh.append(row)
        if len(self.rows) > 2 * ROWS_KEPT:
            self.trim()

    def trim(self) -> None:
        for t in sorted(self.rows)[:-ROWS_KEPT]:
            del self.rows[t]

    async def read_earlier(self, logs: Logs) -> None:
        """Make the rows of earlier rounds, and fill up those of which the timeline has the end."""
        earlier, rounds = Timeline(), self.timeline.rounds
        earlier.bound(PARTS_MOST, 1, self.leave)
        logs.seek(max(rounds, default=0) - ROWS_KEPT)
        async for record in slices(logs.records()):
            (self.timeline if whole(record, "round") in rounds else earlier).take(record)
        async for t in slices(list(earlier.order)):
            self.leave(earlier.round(t))
        logs.close()
        self.is_reading = False

    async def begin_reading(self) -> Optional[asyncio.Task[None]]:
        """Read the ends of the logs. Return the reading of what is before them, if there is more."""
        await self.read()
        logs = self.source.earlier()
        if logs is None:
            return None
        for record in logs.firsts():  # they tell when the run began
            self.timeline.take(record)
        self.is_cut = self.is_reading = True
        return asyncio.ensure_future(self.read_earlier(logs))

    def has_all(self) -> bool:
        """Return true if the timeline has all rounds of the run."""
        return not self.timeline.dropped_to and not self.is_cut

    # ---- events ----

    def state(self) -> bytes:
        text = "the run has ended" if self.ended else "live" if self.running else "no learner is running"
        text += "; reading earlier rounds" if self.is_reading else ""
        return event("state", dumps({"time": time.time(), "live": self.running and not self.ended, "ended": self.ended, "text": text}, DIGITS))

    def round(self, t: int) -> Optional[bytes]:
        document = self.timeline.round(t)
        return None if document is None else event("round", dumps({"row": round_row(document), "document": document}, DIGITS))

    def publish(self) -> None:
        """Send the documents that have changed."""
        if self.fresh:
            self.server.publish(event("rows", dumps([{"row": row} for row in self.fresh], DIGITS)))
            self.fresh.clear()
        began, used, version = time.monotonic(), time.thread_time(), self.timeline.version
        if version == self.sent or began < self.next or not self.server.streams:
            return
        t = 0
        while t := self.timeline.changed_since(self.sent, t):
            if (changed := self.round(t)) is not None:
                self.server.publish(changed)
        self.sent = version
        self.next = began + (time.thread_time() - used) * SHARE

    async def run(self, ending: asyncio.Future[None]) -> None:
        """Read the logs and serve them, until `ending`: then to their ends, and the pages are told that the run has ended."""
        ticks, earlier = 0, await self.begin_reading()
        while not ending.done():
            if ticks % STATE_TICKS == 0:
                self.running = self.source.running()
                self.server.publish(self.state())
            await self.read()
            self.publish()
            ticks += 1
            await asyncio.wait({ending}, timeout=TICK_S)
        if earlier is not None:
            earlier.cancel()
        await self.read()
        self.next = 0
        self.publish()
        self.ended = True
        self.server.publish(self.state())

    # ---- requests ----

    def changed(self) -> Iterator[int]:
        """Yield the rounds whose rows are older than the version of the timeline."""
        t = 0
        while t := self.timeline.changed_since(self.rows_version, t):
            yield t

    async def refresh_rows(self) -> None:
        """Make the rows of the rounds that have changed since a page asked last."""
        version = self.timeline.version
        async for t in slices(self.changed()):
            if (document := self.timeline.round(t)) is not None:
                self.rows[t] = round_row(document)
        self.trim()
        self.rows_version = version

    def begin(self, stream: Stream) -> None:
        """Send a new page the rows of the last rounds, then the documents of the last ones."""
        stream.send(self.state())
        stream.send(event("rows", dumps([{"row": self.rows[t]} for t in sorted(self.rows)], DIGITS)))
        kept: list[bytes] = []
        t = self.timeline.run()["last"]
        while t and len(kept) < ROUNDS_KEPT and sum(map(len, kept)) < BURST_BYTES:
            document = self.round(t)
            kept += [document] if document is not None else []
            t = self.timeline.round_before(t)
        for document in reversed(kept):
            stream.send(document)

    async def serve(self, path: str, query: dict[str, str]) -> Union[Answer, Stream, None]:
        if path == "/":
            return Answer(200, self.html, "text/html; charset=utf-8")
        if path == "/events":
            await self.refresh_rows()
            return Stream(self.begin)
        if path == "/log":
            numbers = [query.get(name, "") for name in ("learner", "round")]
            if not all(re.fullmatch("[1-9][0-9]{0,9}", number) for number in numbers):
                return Answer(400, USAGE)
            log = excerpt(self.source, int(numbers[0]), int(numbers[1]), "debug", LOG_RECORDS)
            return Answer(200, dumps(log).encode(errors="backslashreplace"), "application/json")
        return None
