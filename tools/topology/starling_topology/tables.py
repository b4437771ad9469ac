"""The tables of `starling topology analyze` and `starling estimate`: what they print with --json, for people."""
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
COSTS = ("exchanges", "MB each", "MB most", "MB all", "MB memory")
CERTAINTY = {"exact": "", "bound": "<=", "estimate": "~"}
CERTAIN = {"metropolis": "mu_is", "exact": "deg_r_is", "forest": "depth_is"}


def _filled(*lines: str) -> Iterable[str]:
    return fill(lines, width_of(sys.stdout) or WIDTH_USUAL)


# ---- analyze ----

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


# ---- estimate ----

def _amount(value: float) -> str:
    """Return about four digits."""
    return f"{value:.1e}" if value >= 1e8 else f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 4}f}"


def _cost(cost: dict, graph: dict) -> str:
    exchanges = f"{CERTAINTY[graph[CERTAIN[cost['engine']]]]}{cost['exchanges']}"
    each, most, all_learners, memory = (_amount(cost[name] / 1e6) for name in ("bytes_mean", "bytes_most", "bytes_all", "memory_bytes"))
    return f"  {cost['engine']:<10}  {cost['sharing']:<8}{exchanges:>11}{each:>10}{most:>10}{all_learners:>11}{memory:>11}"


def _estimate(estimate: dict) -> Iterable[str]:
    g = estimate["graph"]
    mu = f"1-{1 - g['mu']:.2g}" if g["mu"] > 0.999999 else f"{g['mu']:.6f}"
    yield from _filled(
        f"{g['learners']:,} learners, {int(g['edges']):,} edges, {g['degree_mean']:.3g} neighbours, {g['degree_max']:.3g} at most",
        f"mu {CERTAINTY[g['mu_is']]}{mu}, deg r {CERTAINTY[g['deg_r_is']]}{g['deg_r']}, depth of the trees "
        f"{CERTAINTY[g['depth_is']]}{g['depth']}",
        f"trees of the forest: {g['trees']}; the busiest learner sends {g['forest_vectors']:.3g} vectors, at least {g['forest_bound']:.3g}",
        f"models of {estimate['n']:,} floats, p = {estimate['p']}; {_amount(estimate['flood_bytes'] / g['learners'] / 1e6)} MB each are signed "
        "records")
    yield "  engine      sharing  " + "".join(f"{name:>{width}}" for width, name in zip((10, 10, 10, 11, 11), COSTS))
    yield from (_cost(cost, g) for cost in estimate["costs"])
    yield from _filled(*estimate["notes"])
    yield f"mixing: auto takes {estimate['auto']}"
    usual = next(cost for cost in estimate["costs"] if (cost["engine"], cost["sharing"]) == (estimate["auto"], "seeded"))
    yield from _filled(f"with the defaults (sharing: seeded, mixing: auto), the busiest learner sends {_amount(usual['bytes_most'] / 1e6)} MB "
                       f"in a round of {usual['exchanges']} exchange{'' if usual['exchanges'] == 1 else 's'}")


def analyze(arguments: list[str]) -> int:
    """The first argument is the tolerance."""
    return view(arguments[1:], lambda steps: _steps(steps, arguments[0]))


def estimate(arguments: list[str]) -> int:
    return view(arguments, _estimate)


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    return analyze(arguments) if sys.argv[0].endswith("analyze") else estimate(arguments)
