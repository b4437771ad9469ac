"""The table of `starling topology analyze`: what it prints with --json, for people."""
from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import groupby

from starling_timeline.command import view
from starling_timeline.words import WIDTH_USUAL, fill, width_of

REMARKS_MOST = 12
# Width of a column, its name, the field of a step and a member of it, and how its number is written.
STEPS = ((5, "step", "step", "", "d"), (7, "edges", "edges", "", "d"), (5, "min", "degree", "min", "d"), (6, "mean", "degree", "mean", ".1f"),
         (5, "max", "degree", "max", "d"), (7, "mu", "mu", "", ".4f"), (6, "kappa", "kappa", "", "d"), (5, "c", "tolerance", "", "d"),
         (7, "K", "k", "", "d"), (6, "exact", "exact", "", "d"), (7, "forest", "forest", "", "d"), (7, "mean", "bytes", "mean", "MB"),
         (7, "max", "bytes", "max", "MB"))


def _filled(*lines: str) -> Iterable[str]:
    return fill(lines, width_of(sys.stdout) or WIDTH_USUAL)


def _cell(step: dict, field: str, member: str, form: str) -> str:
    value = step[field][member] if member and step[field] is not None else step[field]
    if value is None:
        return "-"
    if form != "MB":
        return f"{value:{form}}"
    mb = value / 1e6
    return f"{mb:.0e}" if mb >= 1e6 else f"{mb:.{0 if mb >= 1000 else 1}f}"


def _steps(steps: list[dict], tolerance: str) -> Iterable[str]:
    yield from _filled(f"{steps[0]['learners']} learners, models of {steps[0]['floats']:,} floats, p = {steps[0]['p']}; "
                       f"!: refused at c = {tolerance}")
    yield f"{'degree':>28}{'exchanges of an engine':>38}{'MB to send':>14}"
    yield "".join(f"{name:>{width}}" for width, name, *_ in STEPS)
    for step in steps:
        cells = [_cell(step, *what) for _, _, *what in STEPS]
        cells[0] += "!" if step["refused"] else " "
        yield "".join(f"{cell:>{width}}" for cell, (width, *_) in zip(cells, STEPS))
    yield from _remarks(steps)


def _remarks(steps: list[dict]) -> Iterable[str]:
    """Yield a line for a step, or for consecutive steps, with the same remark."""
    said = [(note, [step["step"] for step in same]) for note, same in groupby(steps, lambda step: step["note"]) if note is not None]
    for note, of in said[:REMARKS_MOST]:
        yield from _filled(f"step {of[0]}: {note}" if len(of) == 1 else f"steps {of[0]} to {of[-1]}: {note}")
    left_out = sum(len(of) for _, of in said[REMARKS_MOST:])
    if left_out:
        yield f"... and {left_out} more steps; --json lists all"


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status. The first argument is the tolerance."""
    return view(arguments[1:], lambda steps: _steps(steps, arguments[0]))
