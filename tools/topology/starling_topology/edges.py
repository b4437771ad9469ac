"""Edge lists: two names in each line, then data of the edge. Commas or semicolons may stand for the blanks, "#" starts a comment."""
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, Optional, Union

from starling_topology.text import NODES, QUOTED, InputError, Names, Text, number

WHEN_MOST = 1e15  # of a step or time; whole numbers stay exact
STEPS_MOST = 100_000
WORDS = re.compile(r"([^ \t]*)(?:[ \t]+([^ \t]+)(?:[ \t](.*))?)?", re.S)
# A separator and the field behind it, which may be in quotes; a separator in them is no other one.
FIELD = {mark: re.compile(rf'{mark}([ \t]*"[^"]*(?:""[^"]*)*"[ \t]*(?={mark}|\Z)|[^{mark}]*)', re.S) for mark in ",;"}
# Words of header lines: for the ends of an edge, and for columns that are no node.
ENDS = {("from", "to"), ("node1", "node2"), ("sender", "receiver"), ("source", "destination"), ("source", "target"), ("src", "dst")}
TIMES = {"date", "datetime", "step", "time", "timestamp"}
PLAIN_TIMES = TIMES | {"t"}  # "t" may be a node, too

By = Union[str, int, None]  # the key of the step or time in the data of an edge, its column from 3 on, or none


class Columns(NamedTuple):
    """The places of the nodes and of the step in a line, from 0; `when` may be None."""

    one: int
    two: int
    when: Optional[int]


class Contacts:
    """Pairs of nodes, by the step or time at which they met. A loop "u u" only adds the node u, and its time."""

    def __init__(self) -> None:
        self.at: dict[float, set[int]] = {}  # a pair as one number: sets of tuples are large

    def add(self, when: float, one: int, two: int) -> None:
        pairs = self.at.setdefault(when, set())
        if one != two:
            pairs.add(one * NODES + two)


def _data(line: str) -> str:
    """Return what a line says, without blanks at its begin."""
    return line.partition("#")[0].lstrip(" \t")


def _separator(line: str) -> str:
    """Return what stands between the fields of a line: a comma or semicolon if it comes before any blank that is not in quotes; "": blanks."""
    found = re.match(r"""(?:"[^"]*"|[^ \t,;"])*([,;])""", line)
    return found[1] if found else ""


def _plain(field: str) -> str:
    """Return a field without the quotes of CSV."""
    field = field.strip(" \t")
    return field[1:-1].replace('""', '"').strip(" \t") if len(field) > 1 and field[0] == field[-1] == '"' else field


def _fields(line: str) -> list[str]:
    separator = _separator(line)
    if not separator:
        return re.findall("[^ \t]+", line)
    return [_plain(found[1]) for found in FIELD[separator].finditer(separator + line)]


def _ends(line: str) -> tuple[str, str, str]:
    """Return the two names of a line, and where the data of the edge are."""
    if _separator(line):
        one, two, *_ = _fields(line)
        return one, two, line
    found = WORDS.match(line)
    assert found
    return found[1], found[2] or "", found[3] or ""


# ---- header lines ----

def header(text: Text) -> Optional[list[str]]:
    """Return the words of the first line with data if it names columns: it has no number, and there is one below it, or it has
    usual words for the ends of an edge or, with three columns, for a time."""
    rows = []
    for line in text.lines():
        if _data(line):
            rows.append(_fields(_data(line)))
        if len(rows) == 2:
            break
    words = rows[0] if rows else []
    below = rows[1] if len(rows) == 2 else []
    if len(words) < 2 or "" in words or any(number(word, float("inf")) is not None for word in words):
        return None
    usual = {word.lower() for word in words}
    if (len(words) > 2 and usual & TIMES) or any(usual >= set(ends) for ends in ENDS):
        return words
    return words if len(below) == len(words) and any(number(word, float("inf")) is not None for word in below) else None


def columns(text: Text, words: list[str], by: By) -> Columns:
    """Return which columns a header line means: the nodes are the first two that are neither a time nor the step."""
    when = by - 1 if isinstance(by, int) else words.index(by) if by in words else None
    nodes = [place for place, word in enumerate(words) if place != when and word.lower() not in PLAIN_TIMES]
    if len(nodes) < 2:
        raise text.fail("a header line that names no two columns of nodes")
    return Columns(nodes[0], nodes[1], when)


# ---- lines ----

def _value(data: str, key: str) -> Optional[str]:
    """Return the number after 'key': or "key": in a Python dictionary."""
    found = re.search(rf"""(['"]){re.escape(key)}\1[ \t]*:[ \t'"]*([^,}}'" \t]*)""", data, re.S)
    return found[2] if found else None


def _when(text: Text, by: By, word: Optional[str]) -> float:
    name = f"'{by[:30]}'" if isinstance(by, str) else f"column {by}"
    if not word:
        raise text.fail(f"the edge has no {name} that says its step")
    when = number(word, WHEN_MOST)
    if when is None:
        raise text.fail(f'{name}, "{word[:QUOTED]}", is no step or time up to {WHEN_MOST:g}')
    return when


def _field(fields: list[str], place: int) -> str:
    return fields[place] if place < len(fields) else ""


def read(text: Text, by: By, step: float, names: Names, contacts: Contacts) -> Optional[str]:
    """Add the contacts of a file; `step` is that of all of them unless `by` names their own. Return a note on a header line."""
    words = header(text)
    layout, note = None, None
    for line in text.lines():
        line = _data(line)
        if not line:
            continue
        if words is not None and note is None:
            layout = columns(text, words, by)
            note = (f'{text.name}:{text.line}: a header line, which is skipped; the nodes are in the columns "{words[layout.one][:QUOTED]}" '
                    f'and "{words[layout.two][:QUOTED]}"')
            continue
        if layout is None:
            one, two, rest = _ends(line)
        else:
            fields, rest = _fields(line), line
            one, two = _field(fields, layout.one), _field(fields, layout.two)
        if not one or not two:
            raise text.fail(f'"{(one or two)[:QUOTED]}" is half an edge; one reads "u v"')
        if not _separator(line) and ("," in one or "," in two):
            raise text.fail(f'"{(one if "," in one else two)[:QUOTED]}" has a comma: are blanks part of the names? They cannot be here')
        pair = names.index(text, one), names.index(text, two)
        if by is None:
            when = step
        elif layout is not None and layout.when is not None:
            when = _when(text, by, _field(_fields(line), layout.when))
        elif isinstance(by, str):
            when = _when(text, by, _value(rest, by))
        else:
            when = _when(text, by, _field(_fields(line), by - 1))
        contacts.add(when, *pair)
    return note


def steps(contacts: Contacts, by: By, files: int, most: Optional[int]) -> Iterator[list[tuple[int, int]]]:
    """Yield the pairs of each step: of each time that occurs, in order, or of each file."""
    times = sorted(contacts.at) if by is not None else [float(file) for file in range(files)]
    times = times[:most]
    if len(times) > STEPS_MOST:
        raise InputError(f"more than {STEPS_MOST} steps: use --steps to keep the first")
    for when in times:
        yield [divmod(pair, NODES) for pair in contacts.at.get(when, ())]
