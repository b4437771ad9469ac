"""Movements of BonnMotion and ns-2: nodes that move on straight lines from place to place, and rest before and after.

Metres and seconds. Two nodes are linked in a step if they are within the range of each other at its instant."""
from __future__ import annotations

import math
import re
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple, Optional

from starling_topology.text import QUOTED, InputError, Names, Text, number

PLACE_MOST = 1e9  # metres from the origin, either way
TIME_MOST = 1e9  # seconds, thirty years
STEPS_MOST = 100_000
LINKS_MOST = 50_000_000  # of all steps together


class Track:
    """The places of a node. Times never decrease; of two places at one time the later counts: a jump."""

    def __init__(self) -> None:
        self.t, self.x, self.y = array("d"), array("d"), array("d")

    def add(self, t: float, x: float, y: float) -> None:
        for column, value in ((self.t, t), (self.x, x), (self.y, y)):
            column.append(value)

    def at(self, t: float) -> tuple[float, float]:
        """Return the place at a time."""
        after = bisect_right(self.t, t)
        if after == 0:
            return self.x[0], self.y[0]
        x, y = self.x[after - 1], self.y[after - 1]
        if after == len(self.t):
            return x, y
        part = (t - self.t[after - 1]) / (self.t[after] - self.t[after - 1])
        return x + part * (self.x[after] - x), y + part * (self.y[after] - y)

    def cut(self, t: float) -> tuple[float, float]:
        """End an unfinished movement at a time; return the place."""
        here = self.at(t)
        if self.t[-1] > t:
            for column in (self.t, self.x, self.y):
                column.pop()
        return here


# ---- BonnMotion: "t x y t x y ..." in each line; with "#3D", "t x y z" ----

HEIGHTS = ' (a file with heights must begin with "#3D")'


def _read_node(text: Text, line: str, numbers: int, track: Track) -> None:
    place, count = [0.0] * numbers, 0
    for word in re.findall("[^ \t]+", line):
        what, most = ("time", TIME_MOST) if count % numbers == 0 else ("coordinate", PLACE_MOST)
        value = number(word, most)
        if value is None:
            raise text.fail(f'"{word[:QUOTED]}" is no {what} up to {most:g}')
        place[count % numbers] = value
        count += 1
        if count % numbers != 0:
            continue
        t, x, y = place[:3]
        if t < 0:
            raise text.fail(f"negative time {t:g}")
        if track.t and t < track.t[-1]:
            raise text.fail(f"time decreases from {track.t[-1]:g} to {t:g}{HEIGHTS if numbers == 3 else ''}")
        if track.t and t == track.t[-1] and (x, y) != (track.x[-1], track.y[-1]):
            raise text.fail(f"two places at time {t:g}")
        track.add(t, x, y)
    if count % numbers != 0:
        raise text.fail(f'{count} numbers, which are no places "t x y{" z" if numbers == 4 else ""}"'
                        + (HEIGHTS if numbers == 3 and count % 4 == 0 else ""))


def read_bonnmotion(text: Text, names: Names) -> list[Track]:
    """Return the tracks of the nodes, by their index."""
    tracks: list[Track] = []
    numbers = 3
    for line in text.lines():
        if line.startswith("#3D"):
            numbers = 4
        if line.startswith("#") or not line.strip(" \t"):
            continue
        names.index(text, str(len(tracks)))
        tracks.append(Track())
        _read_node(text, line, numbers, tracks[-1])
    return tracks


# ---- ns-2: "$node_(0) set X_ 1.0", then "$ns_ at 2.0 "$node_(0) setdest 10.0 20.0 1.5"" ----

class Order(NamedTuple):
    """A node begins to go to (x, y), or one of its coordinates jumps; sorted by node, time and line."""

    node: int
    t: float
    line: int
    axis: Optional[int]  # of a jump, to x
    x: float
    y: float = 0
    speed: float = 0


class Words:
    """The words of a line, each cut off with the characters that may stand between."""

    def __init__(self, line: str) -> None:
        self.rest = line

    def next(self, between: str = ' \t";') -> Optional[str]:
        found = re.match(rf"[{between}]*([^{between}]+)[{between}]?", self.rest)
        self.rest = self.rest[found.end():] if found else ""
        return found[1] if found else None


class Ns2:
    """The reader of a file."""

    def __init__(self, text: Text, names: Names) -> None:
        self.text, self.names = text, names
        self.starts: list[list[float]] = []  # of each node; nan: not given
        self.orders: list[Order] = []

    def node(self, word: Optional[str]) -> int:
        """Read "$node_(12)": the node of the name 12."""
        found = re.fullmatch(r"\$[^(]*\(([0-9]+)\)", word or "")
        if not found:
            raise self.text.fail(f'"{(word or "")[:QUOTED]}" is no node, as in $node_(0)')
        index = self.names.index(self.text, found[1].lstrip("0") or "0")
        if index == len(self.starts):
            self.starts.append([math.nan, math.nan])
        return index

    def number(self, what: str, word: Optional[str], least: float, most: float) -> float:
        if word is None:
            raise self.text.fail(f"the {what} is missing")
        value = number(word, most)
        if value is None or value < least:
            raise self.text.fail(f'"{word[:QUOTED]}" is no {what} from {least:g} to {most:g}')
        return value

    def metres(self, words: Words) -> float:
        return self.number("coordinate", words.next(), -PLACE_MOST, PLACE_MOST)

    def end(self, words: Words) -> None:
        more = words.next()
        if more is not None and not more.startswith("#"):
            raise self.text.fail(f'unexpected "{more[:QUOTED]}"')

    def coordinate(self, words: Words) -> tuple[int, float]:
        """Read "X_ 1.5"; axis 2 is the height, which is not used."""
        name = words.next()
        if name not in ("X_", "Y_", "Z_"):
            raise self.text.fail('"set" needs X_, Y_ or Z_ and a number')
        value = self.metres(words)
        self.end(words)
        return ("X_", "Y_", "Z_").index(name), value

    def order(self, words: Words) -> None:
        """Read the rest of: $ns_ at 2.0 "$node_(0) setdest 10.0 20.0 1.5" """
        t = self.number("time", words.next(' \t"'), 0, TIME_MOST)
        who = words.next()
        if who is not None and who.startswith("$god_"):
            return
        node, verb = self.node(who), words.next()
        if verb == "setdest":
            x, y, speed = self.metres(words), self.metres(words), self.number("speed", words.next(), 0, PLACE_MOST)
            self.end(words)
            self.orders.append(Order(node, t, self.text.line, None, x, y, speed))
        elif verb == "set":
            axis, x = self.coordinate(words)
            if axis < 2:
                self.orders.append(Order(node, t, self.text.line, axis, x))
        else:
            raise self.text.fail(f'"{(verb or "")[:QUOTED]}" is neither "setdest" nor "set"')

    def line(self, line: str) -> None:
        words = Words(line)
        who = words.next(" \t")
        if who is None or who.startswith(("#", "$god_")) or who == "set":  # Tcl variables: "set val(nn) 50"
            return
        verb = words.next(" \t")
        if not who.startswith("$") or verb is None:
            raise self.text.fail(f'an ns-2 movement has no line that begins with "{who[:QUOTED]}"')
        if verb == "at":
            self.order(words)
            return
        node = self.node(who)
        if verb != "set":
            raise self.text.fail(f'"{verb[:QUOTED]}" is neither "set" nor "at"')
        axis, value = self.coordinate(words)
        if axis < 2:
            self.starts[node][axis] = value


def _play(track: Track, order: Order) -> None:
    x, y = track.cut(order.t)
    track.add(order.t, x, y)
    if order.axis is not None:
        track.add(order.t, *((order.x, y) if order.axis == 0 else (x, order.x)))
        return
    way = math.hypot(order.x - x, order.y - y)
    if way > 0 and order.speed > 0:  # otherwise it stays
        track.add(order.t + way / order.speed, order.x, order.y)


def read_ns2(text: Text, names: Names) -> list[Track]:
    """Return the tracks of the nodes, by their index."""
    reader, tracks = Ns2(text, names), []
    for line in text.lines():
        reader.line(line)
    for name, start in zip(names.indexes, reader.starts):
        if math.isnan(start[0]) or math.isnan(start[1]):
            raise InputError(f"{text.name}: node {name} is never given its X_ and Y_")
        tracks.append(Track())
        tracks[-1].add(0, *start)
    for order in sorted(reader.orders, key=lambda o: o[:3]):
        _play(tracks[order.node], order)
    return tracks


# ---- steps ----

def near(places: list[tuple[float, float]], reach: float) -> Iterator[tuple[int, int]]:
    """Yield the pairs of places that are within `reach`: they lie in one square of a grid, or in two that touch."""
    side = max(reach, 1) * (1 + 1e-9)  # no pair is lost by rounding
    squares: dict[tuple[int, int], list[int]] = defaultdict(list)
    for i, (x, y) in enumerate(places):
        column, row = int(x // side), int(y // side)
        for square in [(column + right, row + up) for right in (-1, 0, 1) for up in (-1, 0, 1)]:
            for j in squares.get(square, ()):
                dx, dy = x - places[j][0], y - places[j][1]
                if dx * dx + dy * dy <= reach * reach:
                    yield i, j
        squares[column, row].append(i)


def steps(tracks: list[Track], reach: float, every: float, most: Optional[int]) -> Iterator[list[tuple[int, int]]]:
    """Yield the linked pairs at 0, `every`, 2 `every`, ... until the last node has come to rest."""
    end = max([track.t[-1] for track in tracks if track.t] + [0.0])
    count = math.floor(end / every + 1e-9) + 1 if end / every < 1e15 else 10**15
    count = count if most is None else min(count, most)
    if count > STEPS_MOST:
        raise InputError(f"{end:g} s of movement are more than {STEPS_MOST} steps of {every:g} s: use a longer --every, or --steps")
    links = 0
    for step in range(count):
        pairs = list(near([track.at(step * every) for track in tracks], reach))
        links += len(pairs)
        if links > LINKS_MOST:
            raise InputError(f"more than {LINKS_MOST} links in all: use a longer --every, or --steps")
        yield pairs
