"""What the rosters of a run say, as the learners read them (`starling part roster`): their hashes, members and the keys that they pin."""
from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field

from starling_timeline.command import ask

SPKI = bytes.fromhex("302a300506032b6570032100")  # what stands before an Ed25519 key in the bytes that a pin is the hash of


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
        found = json.loads(ask("roster", path))
        self.pins.update((one["id"], one["key"]) for one in found["members"])
        self.names.update((one["id"], one["name"]) for one in found["members"])
        self.hashes.add(found["hash"])
        self.lists = self.lists or found["list"]
        self.tolerance = max(self.tolerance, found["tolerance"])
        self.warns = self.warns or found["warns"] or found["list"]

    def least(self) -> int:
        """Return the least number of participants of a round."""
        return 2 if self.warns else self.tolerance + 2

    def pinned(self, learner: int, key: str) -> bool:
        return (learner, f"sha256:{hashlib.sha256(SPKI + bytes.fromhex(key)).hexdigest()}") in self.pins

    def called(self, learner: int) -> str:
        return f"learner {learner}" + (f" ({self.names[learner]})" if self.names.get(learner) else "")
