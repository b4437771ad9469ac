"""The schedule that a command is about: its options, and what C makes of them (tools/starling/part.c)."""
from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator

from starling_timeline.command import Parser, ask, lines, whole
from starling_topology.costs import LEARNERS_MOST
from starling_topology.edges import STEPS_MOST

FLOATS_USUAL = 50992  # of the autoencoder that is trained by default: 28 x 28 to 32 units and back
FLOATS_MOST = 1 << 30
P_MOST = (1 << 61) - 1
SEED_MOST = (1 << 64) - 1
ABOUT = '"-" reads the schedule from standard input. Topologies are those of "starling topology --help".'


def parser(description: str, epilog: str, learners_most: int = LEARNERS_MOST, learners: str = "number of learners") -> Parser:
    p = Parser(sys.argv[0], "NAME[:PARAMETER]|FILE", description, epilog)
    p.add_argument("topology", nargs="?", help=argparse.SUPPRESS)
    p.add_argument("-n", "--learners", metavar="N", type=whole("learners", 2, learners_most), default=0, help=learners)
    p.add_argument("--seed", metavar="S", type=whole("seed", 0, SEED_MOST), default=1, help="seed of random topologies (1)")
    return p


def add_steps(p: Parser) -> None:
    p.add_argument("--steps", metavar="S", type=whole("steps", 1, STEPS_MOST), default=0,
                   help="number of steps (10; 1 where all steps are the same)")


def add_figures(p: Parser) -> None:
    """Add the options of what is found out about a step."""
    p.add_argument("--floats", metavar="N", type=whole("floats", 1, FLOATS_MOST), default=FLOATS_USUAL,
                   help=f"parameters of a model ({FLOATS_USUAL})")
    p.add_argument("--modulus", metavar="PRIME", type=whole("modulus", 3, P_MOST), default=0,
                   help="p of the field, on which K and exact depend (that of the defaults)")


def parse(p: Parser, arguments: list[str]) -> argparse.Namespace:
    o = p.parse_intermixed_args(arguments)
    if o.topology is None:
        p.error("no topology given: NAME[:PARAMETER], a file, or -")
    return o


def schedule(part: str, o: argparse.Namespace, **more: int) -> Iterator[str]:
    """Yield the lines of what C answers about the schedule: "schedule", or also what it lacks, "missing"."""
    for line in lines(part, o.topology, learners=o.learners, steps=o.steps, seed=str(o.seed), **more):
        yield line.rstrip("\n")


def figures(o: argparse.Namespace, **more: int | bool) -> dict:
    """Return what C finds out about the steps."""
    return json.loads(ask("steps", o.topology, learners=o.learners, seed=str(o.seed), floats=o.floats, p=o.modulus, **more))
