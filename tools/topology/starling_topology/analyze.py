"""`starling topology analyze`; see starling-topology(1). C analyses the steps and says which the privacy check refuses (tools/starling/part.c);
this adds what a round costs."""
from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import groupby
from typing import Optional

from starling_timeline.command import document, guard, whole
from starling_timeline.words import WIDTH_USUAL, fill, width_of
from starling_topology import source
from starling_topology.audit import named
from starling_topology.costs import ENGINES, HASH, LEARNERS_MOST, Round
from starling_topology.families import Figures

DESCRIPTION = f"""Analyze each step of a schedule: how many colluding learners it tolerates, and what mixing on it costs.
{source.ABOUT}"""
EPILOG = """Examples:
  starling topology analyze ring -n 10
  starling topology analyze neighbours:20 -n 100 --modulus 1020431
  starling topology analyze walk.txt --tolerance 2 --json

kappa is the vertex connectivity: the least number of learners without which the others are not connected.
c = kappa - 1 learners may collude and learn no more than the mean. mu is the largest modulus of an eigenvalue
below 1 of the mixing matrix. K, exact and forest are the exchanges of the engines metropolis, exact and
forest; - stands where an engine cannot run. MB to send: what a learner sends in a round with mixing: exact, mean
and largest."""
DIGITS = 17  # of a number
REMARKS_MOST = 12
# Width of a column, its name, the field of a step and a member of it, and how its number is written.
STEPS = ((5, "step", "step", "", "d"), (7, "edges", "edges", "", "d"), (5, "min", "degree", "min", "d"), (6, "mean", "degree", "mean", ".1f"),
         (5, "max", "degree", "max", "d"), (7, "mu", "mu", "", ".4f"), (6, "kappa", "kappa", "", "d"), (5, "c", "tolerance", "", "d"),
         (7, "K", "k", "", "d"), (6, "exact", "exact", "", "d"), (7, "forest", "forest", "", "d"), (7, "mean", "bytes", "mean", "MB"),
         (7, "max", "bytes", "max", "MB"))


# ---- what a step costs ----

def _bytes(of: Round, seeded: bool) -> Optional[dict]:
    """Return what a learner sends with `mixing: exact`, the default: a share to each neighbour, deposits and other vectors of Z_p, and states."""
    c, n, links = of.costs, of.figures.learners, round(2 * of.figures.edges)
    engine = next(engine for engine in ENGINES if c.exchanges(engine))
    share, vector = HASH if seeded else c.vector("exact"), c.vector("exact")

    def sent(neighbours: int, forest: float) -> float:
        states = c.states(engine, neighbours)
        return neighbours * share + (c.vectors(engine, neighbours, forest) - states) * vector + float(states) * c.vector(engine)
    return {"mean": sent(links, 3 * n - 2) / n, "max": sent(c.busiest, c.load / c.trees + 1)}


def _note(step: dict, of: Optional[Round]) -> Optional[str]:
    notes, cut = [], step["cut"]
    if step["refusal"] is not None:
        notes.append(f"refused: {step['refusal']}")
    elif step["kappa"] == 1 and cut:
        notes.append(f"{named(cut)} {'cuts' if len(cut) == 1 else 'each cut'} the others apart")
    if of and not of.costs.exchanges("metropolis"):
        notes.append(f"metropolis cannot run: {of.too_wide() or of.too_slow()}")
    return "; ".join(notes) or None


def _step(number: int, step: dict, request: dict) -> dict:
    g, kappa, cut = Figures(**step["graph"]), step["kappa"], step["cut"]
    connected = step["components"] == 1
    of = Round(g, request["floats"], request["p"]) if connected else None
    return {"step": number, "learners": g.learners, "edges": g.edges, "degree": {"min": step["degree_min"], "mean": g.degree_mean, "max": g.degree_max},
            "connected": connected, "components": step["components"], "largest": step["largest"], "kappa": kappa,
            "tolerance": kappa - 1 if kappa > 0 else None, "cut": cut[:kappa], "articulation": cut if kappa <= 1 else [], "mu": g.mu,
            "k": of.k if of and g.mu < 1 else None, "p": request["p"], "exact": g.deg_r or None, "forest": 2 * g.depth or None,
            "forest_vectors": {"trees": g.trees, "max": g.load / g.trees, "bound": g.bound} if g.trees else None,
            "metropolis": bool(of and of.costs.exchanges("metropolis")), "floats": request["floats"], "seeded": request["seeded"],
            "bytes": _bytes(of, request["seeded"]) if of and request["exact"] else None, "refused": step["refusal"] is not None,
            "note": _note(step, of)}


# ---- the table ----

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


def _lines(steps: list[dict], tolerance: int) -> Iterable[str]:
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


def _run(arguments: list[str]) -> int:
    p = source.parser(DESCRIPTION, EPILOG)
    source.add_steps(p)
    source.add_figures(p)
    p.add_argument("--tolerance", metavar="C", type=whole("tolerance", 0, LEARNERS_MOST - 2), default=1,
                   help="how many learners may collude (1)")
    p.add_argument("--seeded", action="store_true", help="bytes of sharing: seeded, where a share is a seed")
    p.add_argument("--no-exact", action="store_true", help="skip the exact engine, which takes longest with a thousand learners")
    p.add_argument("--json", action="store_true", help="print a JSON array, with all lists in full")
    o = source.parse(p, arguments)
    found = source.figures(o, steps=o.steps, tolerance=o.tolerance, refusals=True, exact=not o.no_exact)
    asked = {"floats": o.floats, "p": found["p"], "seeded": o.seeded, "exact": not o.no_exact}
    steps = [_step(number, step, asked) for number, step in enumerate(found["steps"], 1)]
    print(document(steps, DIGITS) if o.json else "\n".join(_lines(steps, o.tolerance)), flush=True)
    return 0


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    sys.stderr.reconfigure(errors="surrogateescape")  # what is wrong is quoted as it was given
    return guard(sys.argv[0], lambda: _run(arguments))
