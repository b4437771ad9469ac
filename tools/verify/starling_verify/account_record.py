"""The records of the account of a learner (ROUND.md §14.6): as bytes in its state folder, and as JSON, one object a line.

    MAGIC, u32 bytes of the record, u64 number, the link before, ENTRY, signature of the link
    link = H(number, the link before, H(ENTRY))
"""
from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator
from typing import Any

MAGIC = b"SLac"
HEAD = struct.Struct("<4sIQ32s")
NUMBERS = ("p", "update_bits", "forgetful", "n", "model", "values", "initial", "failed", "hop_bytes")  # of a view, after round and attempt
HASHES = ("previous", "roster", "edges")
NONE = bytes(32)
NO_BOUND = (1 << 64) - 1


class Malformed(ValueError):
    """Bytes or an object that are no record."""


def blake(domain: str, *parts: bytes) -> bytes:
    return hashlib.blake2b(domain.encode() + b"\0" + b"".join(parts), digest_size=32).digest()


def u64(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}Q", *numbers)


def run_id(name: str) -> bytes:
    return hashlib.blake2b(name.encode(), digest_size=16).digest()


class Reader:
    """Bytes that are read in order."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise Malformed("it ends too early")
        self.at += size
        return self.data[self.at - size:self.at]

    def numbers(self, form: str) -> tuple:
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))

    def hex(self, size: int) -> str:
        return self.take(size).hex()


def unpack(record: bytes) -> dict:
    """Return the object of the bytes of a record."""
    r = Reader(record)
    _, _, number, link = HEAD.unpack(r.take(HEAD.size))
    length, = r.numbers("I")
    run = r.take(length).decode(errors="replace")
    t, a, *numbers = r.numbers("11Q")
    view = {**dict(zip(NUMBERS, numbers)), **{name: r.hex(32) for name in HASHES}}
    count, = r.numbers("I")
    participants = [list(r.numbers("II")) for _ in range(count)]
    digest, model, program = r.hex(32), r.hex(32), r.take(32)
    most, charges, guessed, spent, time, signers = r.numbers("5QI")
    digests = [{"learner": r.numbers("I")[0], "key": r.hex(32), "signature": r.hex(64)} for _ in range(signers)]
    learner, = r.numbers("I")
    found = {"number": number, "link_before": link.hex(), "run": run, "round": t, "attempt": a, "time": time, "participants": participants,
             "view": view, "digest": digest, "model": model, "program": None if program == NONE else program.hex(), "most_weight": most,
             "dp": {"charges": charges, "guessed": guessed, "millionths": None if spent == NO_BOUND else spent}, "digests": digests,
             "learner": learner, "key": r.hex(32), "signature": r.hex(64)}
    if r.at != len(record):
        raise Malformed("it has more bytes than its fields")
    return found


def entry(record: dict) -> bytes:
    """Return the bytes of the entry of a record: what the learner states of the round."""
    view, dp, run = record["view"], record["dp"], record["run"].encode()
    of_digests = b"".join(struct.pack("<I", d["learner"]) + bytes.fromhex(d["key"] + d["signature"]) for d in record["digests"])
    return b"".join((
        struct.pack("<I", len(run)), run, u64(record["round"], record["attempt"], *(view[name] for name in NUMBERS)),
        *(bytes.fromhex(view[name]) for name in HASHES), struct.pack("<I", len(record["participants"])),
        *(struct.pack("<II", *one) for one in record["participants"]), bytes.fromhex(record["digest"] + record["model"]),
        NONE if record["program"] is None else bytes.fromhex(record["program"]),
        u64(record["most_weight"], dp["charges"], dp["guessed"], NO_BOUND if dp["millionths"] is None else dp["millionths"], record["time"]),
        struct.pack("<I", len(record["digests"])), of_digests, struct.pack("<I", record["learner"]), bytes.fromhex(record["key"])))


def pack(record: dict) -> bytes:
    """Return the bytes of a record; any error of Python: the object is none."""
    stated = entry(record)
    head = HEAD.pack(MAGIC, HEAD.size + len(stated) + 64, record["number"], bytes.fromhex(record["link_before"]))
    return head + stated + bytes.fromhex(record["signature"])


def dumps(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def entry_hash(record: dict) -> bytes:
    return hashlib.blake2b(entry(record), digest_size=32).digest()


def link(run: str, number: int, before: bytes, of_entry: bytes) -> bytes:
    return blake("starling account 1", run_id(run), u64(number), before, of_entry)


def view_hash(record: dict) -> bytes:
    """Return h of the view of the round (LINKS.md §6.14)."""
    view, scope = record["view"], run_id(record["run"]) + bytes.fromhex(record["view"]["roster"])
    members = blake("starling members 1", scope, *(u64(*one) for one in record["participants"]))
    return blake("starling view 8", scope, u64(record["round"], record["attempt"], *(view[name] for name in NUMBERS)),
                 bytes.fromhex(view["previous"]), u64(len(record["participants"])), members, bytes.fromhex(view["edges"]))


def signed_by(record: dict, digest: dict) -> bytes:
    """Return what the Digest of a participant signs."""
    return blake("starling digest 4", run_id(record["run"]), u64(record["round"], record["attempt"], digest["learner"]),
                 bytes.fromhex(digest["key"]), view_hash(record), bytes.fromhex(record["digest"]))


def read_file(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the records of an account, and where each begins. What is between them is lost, or is still being written."""
    at = data.find(MAGIC)
    while at >= 0:
        size = struct.unpack_from("<I", data, at + 4)[0] if at + HEAD.size <= len(data) else 0
        after = data[at + size:at + size + 4]
        whole = HEAD.size < size <= len(data) - at and (MAGIC.startswith(after) or not any(after))
        if whole:
            yield at, data[at:at + size]
        at = data.find(MAGIC, at + (size if whole else 4))
