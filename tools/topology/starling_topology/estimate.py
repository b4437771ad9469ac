"""`starling estimate`; see starling-estimate(1). C finds the figures of the graph, or the parameter of a family (tools/starling/part.c)."""
from __future__ import annotations

import sys
from collections.abc import Iterable

from starling_timeline.command import CommandError, document, guard
from starling_timeline.words import WIDTH_USUAL, fill, width_of
from starling_topology import source
from starling_topology.costs import LEARNERS_MOST, Round
from starling_topology.families import BOUND, ESTIMATE, EXACT, Figures, figures

DESCRIPTION = f"""Estimate what a round costs: exchanges, bytes and memory, for each engine and each way of sharing. Up to
{LEARNERS_MOST:,} learners the graph itself is analyzed; above that, formulas of its family are used: <= marks a bound,
~ an approximation. {source.ABOUT}
Of one that changes from step to step, the first step counts."""
EPILOG = """MB each is the mean over learners, MB most and MB memory are of the busiest; all MB but memory are sent,
signed records included. An exchange is with all neighbours at once; those of forest are steps up and down
the tree.

Examples:
  starling estimate regular:10 -n 100 --floats 1000000
  starling estimate regular:16 -n 1000000
  starling estimate walk.txt --json

Exit status: 0 done; 1 failed; 2 bad usage."""
ESTIMATED_MOST, LEARNERS_USUAL = 1000000, 10
COLUMNS = ("exchanges", "MB each", "MB most", "MB all", "MB memory")
CERTAINTY = {EXACT: "", BOUND: "<=", ESTIMATE: "~"}
CERTAIN = {"metropolis": "mu_is", "exact": "deg_r_is", "forest": "depth_is"}
DIGITS = 15  # of a number


def _filled(*lines: str) -> Iterable[str]:
    return fill(lines, width_of(sys.stdout) or WIDTH_USUAL)


def _amount(value: float) -> str:
    """Return about four digits."""
    return f"{value:.1e}" if value >= 1e8 else f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 4}f}"


def _cost(cost: dict, graph: dict) -> str:
    exchanges = f"{CERTAINTY[graph[CERTAIN[cost['engine']]]]}{cost['exchanges']}"
    each, most, all_learners, memory = (_amount(cost[name] / 1e6) for name in ("bytes_mean", "bytes_most", "bytes_all", "memory_bytes"))
    return f"  {cost['engine']:<10}  {cost['sharing']:<8}{exchanges:>11}{each:>10}{most:>10}{all_learners:>11}{memory:>11}"


def _lines(estimate: dict) -> Iterable[str]:
    g = estimate["graph"]
    mu = f"1-{1 - g['mu']:.2g}" if g["mu"] > 0.999999 else f"{g['mu']:.6f}"
    yield from _filled(
        f"{g['learners']:,} learners, {int(g['edges']):,} edges, {g['degree_mean']:.3g} neighbours, {g['degree_max']:.3g} at most",
        f"mu {CERTAINTY[g['mu_is']]}{mu}, deg r {CERTAINTY[g['deg_r_is']]}{g['deg_r']}, depth of the trees "
        f"{CERTAINTY[g['depth_is']]}{g['depth']}",
        f"trees of the forest: {g['trees']}; the busiest learner sends {g['forest_vectors']:.3g} vectors, at least {g['forest_bound']:.3g}",
        f"models of {estimate['n']:,} floats, p = {estimate['p']}; {_amount(estimate['flood_bytes'] / g['learners'] / 1e6)} MB each are signed "
        "records")
    yield "  engine      sharing  " + "".join(f"{name:>{width}}" for width, name in zip((10, 10, 10, 11, 11), COLUMNS))
    yield from (_cost(cost, g) for cost in estimate["costs"])
    yield from _filled(*estimate["notes"])
    yield f"mixing: auto takes {estimate['auto']}"
    usual = next(cost for cost in estimate["costs"] if (cost["engine"], cost["sharing"]) == (estimate["auto"], "seeded"))
    yield from _filled(f"with the defaults (sharing: seeded, mixing: auto), the busiest learner sends {_amount(usual['bytes_most'] / 1e6)} MB "
                       f"in a round of {usual['exchanges']} exchange{'' if usual['exchanges'] == 1 else 's'}")


def _figures(topology: str, request: dict) -> Figures:
    """Return the figures of the graph that is asked for."""
    learners, p = request["learners"], request["p"]
    if p <= learners:
        raise CommandError(f"p = {p}: must be above the number of learners, {learners}")
    if "family" in request:
        try:
            return figures(topology.partition(":")[0], request["family"], learners)
        except CommandError as wrong:
            raise CommandError(f"{topology}: {wrong}") from None
    step = request["steps"][0]
    if step["components"] > 1:
        raise CommandError(f"{topology}: its first step is not connected; analyze it with starling topology analyze")
    return Figures(**step["graph"])


def _run(arguments: list[str]) -> int:
    p = source.parser(DESCRIPTION, EPILOG, ESTIMATED_MOST, f"number of learners, up to {ESTIMATED_MOST} ({LEARNERS_USUAL}, or the number in the schedule)")
    source.add_figures(p)
    p.add_argument("--json", action="store_true", help="print JSON")
    o = source.parse(p, arguments)
    found = source.figures(o, redraws=1, first=1, usual=LEARNERS_USUAL, exact=True)
    planned = Round(_figures(o.topology, found), o.floats, found["p"]).document()
    print(document(planned, DIGITS) if o.json else "\n".join(_lines(planned)), flush=True)
    return 0


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    sys.stderr.reconfigure(errors="surrogateescape")  # the topology is quoted as it was given
    return guard(sys.argv[0], lambda: _run(arguments))
