"""The records of learners that are asked over HTTP: their /records, server-sent events.

    connecting --> streaming --> (the connection ends) --> waiting --> connecting ...
        `-- cannot be reached, or refuses ------------------'

A learner sends its last records, then what it logs from the connection on. A lost connection is tried again, after 0.25 s at first and
5 s at last.
"""
from __future__ import annotations

import asyncio
import contextlib
import io
import math
import os
import re
import ssl
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from http.client import HTTPException, parse_headers
from typing import Any, Optional
from urllib.parse import urlsplit

from starling_timeline.command import CommandError
from starling_timeline.logs import LINE_BYTES_MOST
from starling_timeline.values import parse, real, text, whole
from starling_timeline.words import clean

from starling_web.server import is_own

OPEN_S, CONNECT_S = 5.0, 5.0
SILENT_S = 45  # without a byte: a learner sends a comment every 15 s
RETRY_LEAST_S, RETRY_MOST_S = 0.25, 5.0
PART_BYTES = 64 << 10
RECENT_BYTES = 1 << 20  # of the records of a learner, for its log
NAME_MOST = 63
NO_DAEMON = "no Starling daemon answers there; give the address in its setting http"


class Refused(Exception):
    """An answer that is no stream of records."""


def reason(failure: Exception) -> str:
    """Return why a learner cannot be reached."""
    if isinstance(failure, asyncio.TimeoutError):
        return "no answer in time"
    if isinstance(failure, ssl.SSLError):
        return getattr(failure, "verify_message", "") or failure.reason or str(failure)
    if isinstance(failure, OSError):
        return os.strerror(failure.errno) if failure.errno and failure.errno > 0 else failure.strerror or str(failure)
    return "it closes the connection without an answer"


class Learner:
    """A learner at `shown`, http://HOST:PORT; https:// behind a proxy."""

    def __init__(self, url: str, token: Optional[str]) -> None:
        try:
            parts = urlsplit(url if re.fullmatch("[!-~]+", url) else "")
            self.host, self.port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme in ("http", "https") and (parts.query or parts.fragment or "@" in parts.netloc):  # not repeated: it may be the token
            raise CommandError("an address has a token or password in it, which other users can see: give the token by --token-file")
        if parts.scheme not in ("http", "https") or not self.host or parts.path not in ("", "/", "/records"):
            raise CommandError(f"'{url}' is not the address of a learner; expected http://HOST:PORT as in its setting http")
        if parts.scheme == "http" and token is None and not is_own(parts.netloc, ""):
            raise CommandError(f"{url}: a learner on another machine needs a token: give --token-file with the file in its setting http_token_file")
        self.shown, self.token = f"{parts.scheme}://{parts.netloc}", token
        self.tls = ssl.create_default_context() if parts.scheme == "https" else None
        self.request = f"GET /records?recent=1 HTTP/1.1\r\nHost: {parts.netloc}\r\nAccept: text/event-stream\r\nConnection: close\r\n"
        self.request += f"Authorization: Bearer {token}\r\n\r\n" if token is not None else "\r\n"
        self.id, self.name = 0, ""  # not known yet
        self.streaming_since: Optional[float] = None  # None: it does not stream
        self.decided: asyncio.Future[Optional[CommandError]] = asyncio.get_running_loop().create_future()  # it has answered or failed once
        self.said: Optional[type] = None  # the trouble that was reported last
        self.recent: deque[bytes] = deque()  # records, for its log
        self.recent_bytes = 0
        self.last_time, self.last_mono_ms = "", -math.inf  # of the last record

    def say(self, line: str) -> None:
        print(f"starling watch: {self.name}{', ' if self.name else ''}{self.shown}: {line}", file=sys.stderr, flush=True)

    # ---- one connection ----

    async def run(self, take: Callable[[dict[str, Any]], Any]) -> None:
        """Hand over records until cancelled."""
        pause = RETRY_LEAST_S
        while True:
            try:
                await self.connect(take)
                self.trouble(OSError, "has closed the connection; trying again")
            except Refused as refused:
                if not self.decided.done():
                    self.decided.set_result(CommandError(f"{self.shown}: {refused}"))
                    return
                self.trouble(Refused, str(refused))
            except (OSError, EOFError, asyncio.TimeoutError, asyncio.LimitOverrunError) as failure:
                if self.streaming_since is None:
                    self.trouble(OSError, f"cannot be reached ({reason(failure)}); trying again")
                elif isinstance(failure, asyncio.TimeoutError):
                    self.trouble(OSError, f"has sent nothing for {SILENT_S} s; trying again")
                else:
                    self.trouble(OSError, "has closed the connection; trying again")
            # a shorter stream keeps the pause: each of its ends is reported
            if self.streaming_since is not None and time.monotonic() - self.streaming_since >= RETRY_MOST_S:
                pause = RETRY_LEAST_S
            self.streaming_since = None
            await asyncio.sleep(pause)
            pause = min(2 * pause, RETRY_MOST_S)

    def trouble(self, kind: type, line: str) -> None:
        """Say why a connection has ended, once for each kind of trouble."""
        if kind is not self.said:
            self.say(line)
        self.said = kind
        if not self.decided.done():
            self.decided.set_result(None)

    async def connect(self, take: Callable[[dict[str, Any]], Any]) -> None:
        """Connect, and hand over records until the learner closes the connection."""
        reader, writer = await asyncio.wait_for(asyncio.open_connection(self.host, self.port, ssl=self.tls), CONNECT_S)
        try:
            writer.write(self.request.encode())
            chunked = await asyncio.wait_for(self.judge(reader), SILENT_S)
            self.streaming_since = time.monotonic()
            if not self.decided.done():
                self.decided.set_result(None)
            if self.said is not None:
                self.say("is back")
            self.said = None
            async for line in lines(reader, chunked):
                self.take_line(line, take)
        finally:
            writer.transport.abort()

    async def judge(self, reader: asyncio.StreamReader) -> bool:
        """Read the headers of an answer; return true if it comes in chunks."""
        try:
            head = await reader.readexactly(5)
            if head != b"HTTP/":
                raise Refused(NO_DAEMON)
            first, _, rest = (await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")
            headers, status = parse_headers(io.BytesIO(rest)), first[4:7]
        except (asyncio.LimitOverrunError, HTTPException):
            raise Refused(NO_DAEMON) from None
        if status == b"401" and self.token is not None:
            raise Refused("does not accept the token; --token-file needs the one in its setting http_token_file")
        if status == b"401":
            raise Refused("needs a token; give --token-file with the file in its setting http_token_file")
        if status == b"403":
            raise Refused("refuses this name of its machine; use the address in its setting http")
        if status != b"200" or not headers.get("Content-Type", "").startswith("text/event-stream"):
            raise Refused(NO_DAEMON)
        return headers.get("Transfer-Encoding", "").lower() == "chunked"

    # ---- records ----

    def take_line(self, line: bytes, take: Callable[[dict[str, Any]], Any]) -> None:
        record = parse(line[6:]) if line.startswith(b"data: ") else None
        if record is None or self.is_known(record):
            return
        if self.id == 0 and whole(record, "learner") and text(record, "name"):
            self.id, self.name = whole(record, "learner"), clean(text(record, "name")[:NAME_MOST].replace("\n", "?"))
        self.recent.append(line[6:])
        self.recent_bytes += len(line)
        while self.recent_bytes > RECENT_BYTES:
            self.recent_bytes -= len(self.recent.popleft()) + 6
        take(record)

    def is_known(self, record: dict[str, Any]) -> bool:
        """Return true if the record was taken before: a learner sends the last ones again on each connection. Either of its clocks may
        have been set back meanwhile."""
        when, mono_ms = text(record, "time"), real(record, "mono_ms")
        if when and not mono_ms > self.last_mono_ms and when <= self.last_time:
            return True
        if when:
            self.last_time, self.last_mono_ms = when, mono_ms
        return False


async def pieces(reader: asyncio.StreamReader, chunked: bool) -> AsyncIterator[bytes]:
    """Yield the body of an answer, as it comes."""
    while True:
        if chunked:
            size = re.fullmatch(rb"([0-9a-fA-F]{1,5})(;.*)?\r\n", await asyncio.wait_for(reader.readuntil(b"\n"), SILENT_S))
            if size is None:
                raise EOFError
            piece = (await asyncio.wait_for(reader.readexactly(int(size[1], 16) + 2), SILENT_S))[:-2]
        else:
            piece = await asyncio.wait_for(reader.read(PART_BYTES), SILENT_S)
        if not piece:
            return
        yield piece


async def lines(reader: asyncio.StreamReader, chunked: bool) -> AsyncIterator[bytes]:
    """Yield the lines of an answer, but those that are too long."""
    rest, cut = b"", False
    async for piece in pieces(reader, chunked):
        *ended, rest = (rest + piece).split(b"\n")
        for line in ended[cut and 1:]:
            yield line
        cut = cut and not ended
        if len(rest) > LINE_BYTES_MOST:
            rest, cut = b"", True


class Follow:
    """The learners at `urls`, as a source of records: `take` gets each as it comes."""

    def __init__(self, urls: list[str], token: Optional[str], take: Callable[[dict[str, Any]], Any]) -> None:
        self.learners: list[Learner] = []
        for url in urls:
            learner = Learner(url, token)
            if any(other.shown == learner.shown for other in self.learners):  # each of its records would be shown twice
                raise CommandError(f"{learner.shown} is given twice")
            self.learners.append(learner)
        self.tasks = [asyncio.ensure_future(learner.run(take)) for learner in self.learners]

    async def settle(self) -> None:
        """Wait up to 5 s until each learner has answered or cannot be reached; the latter is said, and tried again later. Raise CommandError
        if a token is missing or wrong, or no Starling daemon answers."""
        with contextlib.suppress(asyncio.TimeoutError):
            for decided in asyncio.as_completed([learner.decided for learner in self.learners], timeout=OPEN_S):
                fault = await decided
                if fault is not None:
                    raise fault
        for learner in self.learners:  # one whose program is stopped accepts connections
            if not learner.decided.done():
                learner.trouble(OSError, "does not answer; waiting for it")

    def read(self) -> Iterator[dict[str, Any]]:
        return iter(())

    def earlier(self) -> None:
        return None

    def again(self, learner: int, size: int) -> Iterator[dict[str, Any]]:
        return (record for one in self.learners if one.id == learner for record in map(parse, one.recent) if record is not None)

    def running(self) -> bool:
        return any(learner.streaming_since is not None for learner in self.learners)
