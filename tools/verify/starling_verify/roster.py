"""Rosters as files (roster(5)): the keys that they pin, and the hash by which participants name one (LINKS.md §6.1)."""
from __future__ import annotations

import hashlib
import re
import struct
from dataclasses import dataclass, field
from typing import Optional

from starling_timeline.command import CommandError

SPKI = bytes.fromhex("302a300506032b6570032100")  # what stands before an Ed25519 key in the bytes that a pin is the hash of
# The shared settings of common/config/settings.def, in its order, with their defaults.
SHARED = {
    "rounds": "10", "quorum": "majority", "tolerance": "1", "forgetful": "no", "privacy_check": "enforce", "membership_change": "warn",
    "modulus": "auto", "decimals": "auto", "clipping_range": "auto", "values": "auto", "update_bits": "12", "encoding": "weighted",
    "weighting": "equal", "max_weight": "1", "sharing": "seeded", "mixing": "auto", "iterations": "0", "iterations_rule": "at_least",
    "max_degree": "16", "straggler_timeout": "60", "stall_timeout": "10", "metrics": "local", "noise_parameters": "100000", "hidden_units": "32",
    "seed": "1", "dp": "off", "dp_clip": "none", "dp_noise": "auto", "dp_epsilon": "none", "dp_delta": "none", "dp_spent": "end",
    "dp_sampling": "1"}
REALS = {"clipping_range", "straggler_timeout", "stall_timeout", "dp_clip", "dp_noise", "dp_epsilon", "dp_delta", "dp_sampling"}
QUOTED = r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\n]|'')*'"
COMMENT = re.compile(rf"({QUOTED})|(?:^|(?<=\s))#.*", re.M)
KEY = r"(?:^|(?<=[\s,{{]))([\"']?)({})\1[ \t]*:(?:(?=\s)|(?<=[\"']:))"  # may be in quotes; no part of a host such as site-key:7400
PAIR = re.compile(KEY.format("[a-z_]+") + rf"\s*({QUOTED}|[^\s,\"'{{}}\[\]]+)|{QUOTED}", re.M)
MEMBERS = re.compile(KEY.format("members"), re.M)
SETTINGS = re.compile(KEY.format("settings") + rf"(?:\s*(\{{(?:{QUOTED}|[^}}])*)|((?:[ \t]*\n[ \t]+.*|[ \t]*\n)*))", re.M)
MEMBER = re.compile(r"^[ \t]*-(?=\s)|\{", re.M)


def blake(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=32).digest()


def canonical(key: str, value: str) -> str:
    """Return the value of a setting as the hash has it; ValueError: it has none such."""
    if re.fullmatch("[a-z_]+", value):
        return value
    return "%.17g" % float(value) if key in REALS else str(int(value))


def hash_of(members: dict[int, str], settings: dict[str, str]) -> str:
    """Return the hash of a roster of members, by id with the digits of their pins, and shared settings; ValueError: it is none."""
    values = "".join(f"{key}: {canonical(key, settings.get(key, usual))}\n" for key, usual in SHARED.items())
    try:
        pins = b"".join(struct.pack("<I", one) + bytes.fromhex(members[one]) for one in sorted(members))
    except struct.error:
        raise ValueError("an id is too large") from None
    return blake(b"starling roster 2" + blake(values.encode()) + struct.pack("<I", len(members)) + pins).hex()


def pairs_in(text: str) -> dict[str, str]:
    """Return the keys and values of a mapping; of one key that is there twice, the first value."""
    found = [(one[2], one[3].strip("\"'")) for one in PAIR.finditer(text) if one[2]]
    return dict(reversed(found))


def settings_in(text: str) -> Optional[dict[str, str]]:
    """Return the settings of a roster that is a mapping, without its comments; None: it is a list, whose settings stand elsewhere."""
    if not MEMBERS.search(text):
        return None
    found = SETTINGS.search(text)
    return pairs_in(found[3] or found[4]) if found else {}


@dataclass
class Rosters:
    """What the rosters of a run say: the keys that they pin, by learner, the names, and their hashes."""
    pins: set[tuple[int, str]] = field(default_factory=set)
    names: dict[int, str] = field(default_factory=dict)
    hashes: set[str] = field(default_factory=set)
    lists: bool = False  # one of them has no settings
    tolerance: int = 1
    warns: bool = False  # a round may have fewer participants than tolerance + 2: privacy_check, or the settings are not in a roster

    def read(self, path: str) -> None:
        try:
            with open(path, encoding="utf-8-sig") as file:
                text = COMMENT.sub(lambda found: found[1] or "", file.read())
        except (OSError, ValueError) as error:
            raise CommandError(f"{path}: {getattr(error, 'strerror', None) or 'not a roster'}") from None
        members = self._members(text)
        if not members:
            raise CommandError(f"{path}: no learner with an id and a key is in it")
        settings = settings_in(text)
        self.lists = self.lists or settings is None
        given = settings or {}
        if re.fullmatch("[0-9]{1,9}", given.get("tolerance", "")):
            self.tolerance = max(self.tolerance, int(given["tolerance"]))
        self.warns = self.warns or settings is None or given.get("privacy_check") == "warn"
        try:
            self.hashes.add(hash_of(members, given))
        except ValueError:
            pass  # no learner takes it

    def _members(self, text: str) -> dict[int, str]:
        """Take the members; return their pins."""
        members = {}
        for member in map(pairs_in, MEMBER.split(text)[1:]):
            if "key" in member and re.fullmatch("[0-9]{1,10}", member.get("id", "")):
                learner = int(member["id"])
                members[learner] = member["key"].removeprefix("sha256:")
                self.names[learner] = member.get("name", "")
        self.pins.update(members.items())
        return members

    def least(self) -> int:
        """Return the least number of participants of a round."""
        return 2 if self.warns else self.tolerance + 2

    def pinned(self, learner: int, key: str) -> bool:
        return (learner, hashlib.sha256(SPKI + bytes.fromhex(key)).hexdigest()) in self.pins

    def called(self, learner: int) -> str:
        return f"learner {learner}" + (f" ({self.names[learner]})" if self.names.get(learner) else "")
