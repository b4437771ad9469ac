"""Text files from elsewhere: bounded in size, possibly compressed; errors give name and line."""
from __future__ import annotations

import os
import re
import sys
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Optional

from starling_timeline.command import USAGE, CommandError

BYTES_MOST = 256 << 20  # of an unpacked file
CHUNK = 1 << 20
MAGIC = b"\x1f\x8b"  # of gzip
NAME_BYTES = 63
NODES = 2000
QUOTED = 40  # characters of a word in an error
# Of ASCII, or of the second block of Unicode as UTF-8 writes it.
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]")
DECIMAL = re.compile(r"[0-9+\-.eE]+")  # float() takes "nan" and "1_0", too


class InputError(CommandError):
    """The input, or what is asked of it, cannot be used. The text is Latin-1, as names are."""

    def __init__(self, text: str, status: int = USAGE) -> None:
        super().__init__(text.encode("latin-1", "replace").decode(errors="replace"), status)


def shown(path: str) -> str:
    """Return the name of a file for messages, as Latin-1."""
    return "standard input" if path == "-" else os.fsencode(path).decode("latin-1")


def number(word: str, most: float) -> Optional[float]:
    """Return the value of a decimal number within +-`most`, or None."""
    if not DECIMAL.fullmatch(word):
        return None
    try:
        value = float(word)
    except ValueError:
        return None
    return value if abs(value) <= most else None


class Text:
    """A text file. `line` is the number of the line that was read last, from 1."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name, self.line = name, 0
        found = CONTROL.search(content)
        if found:  # messages and schedules quote the text
            self.line = content.count(b"\n", 0, found.start()) + 1
            raise self.fail(f"a byte 0x{content[found.start()]:02x}: not a text file")
        if content.startswith(b"\xef\xbb\xbf"):  # a byte order mark
            content = b"   " + content[3:]
        self.content = content.replace(b"\r", b" ").decode("latin-1")

    def lines(self) -> Iterator[str]:
        """Yield the lines without their ends, from the first on."""
        begin, self.line = 0, 0
        while begin < len(self.content):
            end = self.content.find("\n", begin)
            end = end if end >= 0 else len(self.content)
            self.line += 1
            yield self.content[begin:end]
            begin = end + 1

    def fail(self, what: str) -> InputError:
        """Return an error that names the line."""
        return InputError(f"{self.name}:{self.line}: {what}")


def _unzipped(file: BinaryIO) -> Iterator[bytes]:
    """Yield the content of all gzip members, the first without its magic; what follows the last member is no data."""
    packed = MAGIC + file.read(CHUNK)
    while packed[:2] == MAGIC:
        member = zlib.decompressobj(31)
        while not member.eof:
            plain = member.decompress(packed, CHUNK)
            yield plain
            packed = member.unused_data if member.eof else member.unconsumed_tail or file.read(CHUNK)
            if not packed and not plain and not member.eof:
                raise EOFError
        packed += file.read(CHUNK)


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    first = file.read(2)
    if first == MAGIC:
        yield from _unzipped(file)
        return
    while first:
        yield first
        first = file.read(CHUNK)


def read(path: str, most: int = BYTES_MOST) -> Text:
    """Read a file (gzip is unpacked; "-": standard input) of at most so many bytes."""
    name, parts, count = shown(path), [], 0
    try:
        file = sys.stdin.buffer if path == "-" else open(path, "rb")
    except IsADirectoryError as failure:
        raise InputError(f"{name}: cannot be read: {failure.strerror}") from None
    except OSError as failure:
        raise InputError(f"{name}: {failure.strerror}") from None
    try:
        for part in _chunks(file):
            parts.append(part)
            count += len(part)
            if count > most:
                raise InputError(f"{name}: more than {most >> 20} MB of text")
    except OSError as failure:
        raise InputError(f"{name}: cannot be read: {failure.strerror}") from None
    except zlib.error as failure:
        raise InputError(f"{name}: cannot be read: {str(failure).rpartition(': ')[2]}") from None
    except EOFError:
        raise InputError(f"{name}: ends within the compressed data") from None
    finally:
        if path != "-":
            file.close()
    return Text(name, b"".join(parts))


class Names:
    """The names of nodes in the files, and the learners that they become."""

    def __init__(self) -> None:
        self.indexes: dict[str, int] = {}  # in the order in which they were first seen

    def index(self, text: Text, name: str) -> int:
        """Return the index of a name, a new one if it is new."""
        found = self.indexes.get(name)
        if found is not None:
            return found
        if len(name) > NAME_BYTES:
            raise text.fail(f'"{name[:QUOTED]}...": a name of more than {NAME_BYTES} bytes')
        if len(self.indexes) == NODES:
            raise text.fail(f'node {NODES + 1}, "{name}", is one too many')
        return self.indexes.setdefault(name, len(self.indexes))

    def sorted(self) -> list[str]:
        """Return the names in the order of the learners: of numbers if all are whole numbers, else of bytes."""
        if all(re.fullmatch("-?[0-9]+", name) for name in self.indexes):
            return sorted(self.indexes, key=lambda name: (int(name), name))
        return sorted(self.indexes)
