"""A small HTTP server on asyncio: whole answers, and streams of server-sent events.

It answers GET and HEAD; it reads no body and no file. Each answer ends its connection. Of the connections that wait for a request, the
oldest one is closed when an address has more than ADDRESS_MOST, or all have CONNECTIONS_MOST. A page of another origin cannot read answers,
or send requests by a name that it controls (DNS rebinding): an Origin has to be that of the Host, and without a token, the Host has to
be localhost, a loopback address or the configured one. With a token each request needs it, as `Authorization: Bearer TOKEN` or as
`?token=TOKEN`. An address that other machines can reach needs a token.
"""
from __future__ import annotations

import asyncio
import contextlib
import errno
import hashlib
import hmac
import ipaddress
import os
import re
import socket
import stat
from collections import deque
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, NamedTuple, Optional, Union
from urllib.parse import parse_qsl

from starling_timeline.command import FAILED, CommandError

CONNECTIONS_MOST = 64  # further ones wait to be accepted
ADDRESS_MOST = 16  # connections of one address that wait for a request
HEAD_SECONDS = 10.0  # from accept to the end of the headers
REQUEST_BYTES = 32 << 10
TARGET_BYTES, KEYS_MOST = 4096, 16  # path and query of a request, keys of the query
SECONDS = 60.0  # to read an answer; of a stream, without progress
QUEUE_BYTES = 8 << 20  # unread events of one stream
PART_BYTES = 64 << 10  # of a stream, whose reading is progress
BEAT_S = 15.0  # between comments of a stream, which show clients that are gone
TOKEN_LEAST, TOKEN_MOST = 16, 255
TEXT, EVENTS = "text/plain; charset=utf-8", "text/event-stream; charset=utf-8"
HEADERS = """HTTP/1.1 {} {}\r
Content-Type: {}\r
Content-Security-Policy: default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; {}\r
X-Content-Type-Options: nosniff\r
X-Frame-Options: DENY\r
Referrer-Policy: no-referrer\r
Cross-Origin-Resource-Policy: same-origin\r
Cross-Origin-Opener-Policy: same-origin\r
Cache-Control: no-store\r
Connection: close\r
"""


class Answer(NamedTuple):
    status: int
    body: bytes
    content_type: str = TEXT
    header: str = ""  # one more, with its end


class Stream:
    """Events for one client. `begin` gives the first ones."""

    def __init__(self, begin: Callable[[Stream], None]) -> None:
        self.begin = begin
        self.parts: deque[bytes] = deque()
        self.unread = 0  # bytes
        self.more = asyncio.Event()
        self.writing: Optional[asyncio.Task[None]] = None

    def send(self, event: bytes) -> None:
        """Queue an event; disconnect a client that leaves too much unread."""
        if self.unread + len(event) > QUEUE_BYTES:
            if self.writing is not None:
                self.writing.cancel()
            return
        self.parts.extend(event[i:i + PART_BYTES] for i in range(0, len(event), PART_BYTES))
        self.unread += len(event)
        self.more.set()

    async def write(self, writer: asyncio.StreamWriter) -> None:
        """Write what is queued, until the client is gone or reads nothing for SECONDS."""
        with contextlib.suppress(OSError, asyncio.TimeoutError):
            while True:
                while self.parts:
                    part = self.parts.popleft()
                    writer.write(part)
                    await asyncio.wait_for(writer.drain(), SECONDS)
                    self.unread -= len(part)
                self.more.clear()
                try:
                    await asyncio.wait_for(self.more.wait(), BEAT_S)
                except asyncio.TimeoutError:
                    self.send(b":\n\n")


def event(name: str, data: str) -> bytes:
    """Return the event `name` with one line of data."""
    return f"event: {name}\ndata: {data}\n\n".encode("utf-8", "replace")  # names and texts may have a lone surrogate


# ---- requests ----

class Refusal(Exception):
    """A request that is not served: the answer to it."""

    def __init__(self, status: int, text: str, header: str = "") -> None:
        super().__init__(text)
        self.answer = Answer(status, f"{text}\n".encode(), header=header)


class Request(NamedTuple):
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]  # by their names in small letters


async def read_request(reader: asyncio.StreamReader) -> Request:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.LimitOverrunError:
        raise Refusal(431, f"a request has at most {REQUEST_BYTES} bytes here") from None
    line, *fields = head[:-4].split("\r\n")
    match = re.fullmatch(r"([A-Z]+) ([!-~]+) HTTP/1\.[01]", line)
    if match is None:
        raise Refusal(400, "this is no request of HTTP/1")
    headers: dict[str, str] = {}
    for field in fields:
        name, _, value = (part.strip() for part in field.partition(":"))
        headers[name.lower()] = ", ".join([headers[name.lower()], value] if name.lower() in headers else [value])
    path, _, query = match[2].partition("?")
    try:
        if len(match[2]) > TARGET_BYTES:
            raise ValueError
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=KEYS_MOST)
    except ValueError:
        raise Refusal(414, f"path and query have at most {TARGET_BYTES} bytes and {KEYS_MOST} keys") from None
    return Request(match[1], path, dict(pairs), headers)


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_own(header: str, configured: str) -> bool:
    """Return true if a Host names localhost, a loopback address or the configured one: no other name, which any DNS server could
    resolve to this machine."""
    host = header[1:].partition("]")[0] if header.startswith("[") else header.partition(":")[0]
    return host.lower() in ("localhost", configured.lower()) or is_loopback(host)


def is_same(origin: str, host: str) -> bool:
    return origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower())


def equal(token: str, shown: str) -> bool:
    """Compare, in a time that tells nothing about `token`, not even its length."""
    return hmac.compare_digest(*(hashlib.sha256(text.encode()).digest() for text in (token, shown)))


def place(address: tuple[Any, ...]) -> str:
    """Return the address of a client; of IPv6, the network, since a machine has as many addresses in it as it wants."""
    ip = ipaddress.ip_address(str(address[0]).partition("%")[0])
    if ip.version == 4 or ip.ipv4_mapped is not None:
        return str(ip if ip.version == 4 else ip.ipv4_mapped)
    return str(ipaddress.ip_network((ip, 64), strict=False))


def check(request: Request, configured: str, token: Optional[str]) -> None:
    """Refuse what must not be served."""
    host, origin, shown = (request.headers.get(name) for name in ("host", "origin", "authorization"))
    if request.method not in ("GET", "HEAD"):
        raise Refusal(405, "only GET and HEAD are answered", "Allow: GET, HEAD\r\n")
    if request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers:
        raise Refusal(413, "a request has no body here")
    if token is None and (host is None or not is_own(host, configured)):
        raise Refusal(403, "the Host of the request is not this server: use localhost, or the configured address")
    if origin is not None and (host is None or not is_same(origin, host)):
        raise Refusal(403, "pages of another origin are not answered")
    if token is not None:
        bearer = shown is not None and shown[:7].lower() == "bearer "
        if not equal(token, shown[7:] if shown is not None and bearer else request.query.get("token", "")):
            raise Refusal(401, "a token is required: Authorization: Bearer TOKEN, or ?token=TOKEN", "WWW-Authenticate: Bearer\r\n")


# ---- address and token ----

def read_token(path: str) -> str:
    """Return the token in the first line of a file that only its owner can read."""
    try:
        with open(path, "rb") as file:
            line, mode = file.readline(TOKEN_MOST + 2), os.fstat(file.fileno()).st_mode
    except OSError as failure:
        raise CommandError(f"{path}: {failure.strerror}", FAILED) from None
    token = line.rstrip(b"\r\n").decode("latin-1")
    if stat.S_IMODE(mode) & 0o77:
        raise CommandError(f"{path}: others can read the token; run chmod 600 on it")
    if not re.fullmatch("[!-~]*", token):
        raise CommandError(f"{path}: a token has printable ASCII characters without blanks; make one with: openssl rand -hex 32")
    if not TOKEN_LEAST <= len(token) <= TOKEN_MOST:
        raise CommandError(f"{path}: a token has {TOKEN_LEAST} to {TOKEN_MOST} characters; make one with: openssl rand -hex 32")
    return token


def listen(address: str, token: Optional[str]) -> tuple[socket.socket, str, str]:
    """Listen at HOST:PORT; return the socket, the host and the URL."""
    host, colon, port = address.rpartition(":")
    if not colon:
        raise CommandError(f"'{address}' is not an address; expected HOST:PORT or [IPV6]:PORT")
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    try:
        family, _, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICSERV)[0]
    except (OSError, UnicodeError) as failure:
        raise CommandError(f"cannot listen on {address}: {getattr(failure, 'strerror', None) or failure}") from None
    if token is None and not is_loopback(str(where[0])):
        raise CommandError(f"other machines can reach {address}, which then needs a token: give --token-file, or listen on 127.0.0.1")
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(where)
        listening.listen(CONNECTIONS_MOST)
    except OSError as failure:
        listening.close()
        if failure.errno == errno.EADDRINUSE:
            raise CommandError(f"cannot listen on {address}: the port is in use by another program") from None
        raise CommandError(f"cannot listen on {address}: {failure.strerror}", FAILED) from None
    listening.setblocking(False)
    shown = f"[{host}]" if ":" in host else host
    return listening, host, f"http://{shown}:{listening.getsockname()[1]}"


# ---- the server ----

class Server:
    """Answers requests by `serve(path, query)`, which returns None where there is nothing. `directives`: of the
    Content-Security-Policy, beside default-src 'none'."""

    def __init__(self, address: str, token: Optional[str], directives: str,
                 serve: Callable[[str, dict[str, str]], Awaitable[Union[Answer, Stream, None]]]) -> None:
        self.token, self.directives, self.serve = token, directives, serve
        self.socket, self.host, self.url = listen(address, token)
        self.streams: set[Stream] = set()
        self.waiting: dict[asyncio.Task[None], str] = {}  # for a request: connections with their addresses, the oldest first

    def publish(self, sent: bytes) -> None:
        """Queue an event for all streams."""
        for stream in self.streams:
            stream.send(sent)

    async def accept(self) -> None:
        """Accept connections until cancelled, at most CONNECTIONS_MOST at a time."""
        loop, free, tasks = asyncio.get_running_loop(), asyncio.Semaphore(CONNECTIONS_MOST), set()

        def ended(task: asyncio.Task[None]) -> None:
            tasks.discard(task)
            self.waiting.pop(task, None)
            free.release()
        try:
            while True:
                await free.acquire()
                try:
                    client, address = await loop.sock_accept(self.socket)
                except OSError:  # it is gone already, or descriptors are short
                    free.release()
                    await asyncio.sleep(0.1)
                    continue
                task = asyncio.ensure_future(self.converse(client))
                tasks.add(task)
                self.waiting[task] = place(address)
                task.add_done_callback(ended)
                await asyncio.sleep(0)  # it begins, and closes its connection when it is cancelled
                self.make_room(place(address), free.locked())
        finally:
            self.socket.close()
            for task in tasks:
                task.cancel()

    def make_room(self, address: str, full: bool) -> None:
        """End the oldest connection of `address` that waits for a request, if it has too many, or the oldest of all, if no place is
        free: an honest client sends its request at once."""
        here = [task for task, of in self.waiting.items() if of == address]
        oldest = here if len(here) > ADDRESS_MOST else list(self.waiting) if full and len(self.waiting) > 1 else []
        for task in oldest[:1]:
            del self.waiting[task]
            task.cancel()

    async def converse(self, client: socket.socket) -> None:
        """Serve one connection to its end."""
        reader, writer = await asyncio.open_connection(sock=client, limit=REQUEST_BYTES)
        writer.transport.set_write_buffer_limits(0)  # drain() waits until all is with the system
        try:
            stream = await asyncio.wait_for(self.answer(reader, writer, asyncio.current_task()), SECONDS)
            if stream is not None:
                await self.stream(stream, reader, writer)
        except (OSError, EOFError, asyncio.TimeoutError):
            pass  # the client is gone or too slow
        finally:
            writer.transport.abort()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, task: Any) -> Optional[Stream]:
        """Answer a request; a stream is returned, for its events. `task` has the connection."""
        head, answer = False, Answer(404, b"there is nothing here\n")
        stream: Optional[Stream] = None
        try:
            request = await asyncio.wait_for(read_request(reader), HEAD_SECONDS)
            head = request.method == "HEAD"
            check(request, self.host, self.token)
            self.waiting.pop(task, None)
            found = await self.serve(request.path, request.query)
            if isinstance(found, Stream):
                answer, stream = Answer(200, b"", EVENTS), None if head else found
            elif found is not None:
                answer = found
        except Refusal as refusal:
            answer = refusal.answer
        text = HEADERS.format(answer.status, HTTPStatus(answer.status).phrase, answer.content_type, self.directives) + answer.header
        if stream is not None:
            writer.write(f"{text}\r\nretry: 2000\n\n".encode())
            return stream
        writer.write(f"{text}Content-Length: {len(answer.body)}\r\n\r\n".encode() + (b"" if head else answer.body))
        await writer.drain()
        writer.write_eof()
        while await reader.read(PART_BYTES):  # closing with bytes unread would take the answer back
            pass
        return None

    async def stream(self, stream: Stream, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Send the events of a stream until its client closes the connection, or is disconnected."""
        stream.writing = asyncio.ensure_future(stream.write(writer))
        stream.begin(stream)
        self.streams.add(stream)
        closing = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({stream.writing, closing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.streams.discard(stream)
            stream.writing.cancel()
            closing.cancel()
