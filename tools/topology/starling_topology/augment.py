"""`starling topology augment`; see starling-topology(1). C finds the missing links: it answers the schedule, and then a schedule of these
links (tools/starling/part.c)."""
from __future__ import annotations

import json
import sys
from collections.abc import Iterable

from starling_timeline.command import CommandError, guard, whole
from starling_topology import source
from starling_topology.__main__ import write
from starling_topology.costs import LEARNERS_MOST

DESCRIPTION = f"""Add links to a schedule until every step tolerates C colluding learners: until the others stay connected
without any C of them. {source.ABOUT}"""
EPILOG = """A step that tolerates C is left as it is. For C of 0 and 1 no smaller set of links would do; for larger C none
of the added links can be left out. The added links are printed on standard error. Comments of a schedule are
not kept.

Examples:
  starling topology augment walk.txt -o safe.txt
  starling topology augment star -n 10 | starling topology analyze -

Exit status: 0 done, whether or not links were added; 1 failed; 2 bad input."""
STEPS_MOST, LINKS_MOST = 12, 8  # steps with new links that are told, and links of a step; JSON has them all
Links = list[tuple[int, int]]


def _schedules(lines: Iterable[str]) -> list[tuple[str, list[Links]]]:
    """Return the line "learners N" of each schedule, and the links of its steps."""
    schedules: list[tuple[str, list[Links]]] = []
    for line in lines:
        if line.startswith("learners"):
            schedules.append((line, []))
            continue
        ends = [int(end) for end in line.replace("-", " ").split()[1:]]
        schedules[-1][1].append(list(zip(ends[::2], ends[1::2])))
    return schedules


def _told(added: list[Links], tolerance: int) -> list[str]:
    """Return the new links in words."""
    new = [(number, links) for number, links in enumerate(added, 1) if links]
    lines = []
    for number, links in new[:STEPS_MOST]:
        more = f" ... and {len(links) - LINKS_MOST} more" if len(links) > LINKS_MOST else ""
        lines.append(f"step {number}: added {' '.join(f'{a}-{b}' for a, b in links[:LINKS_MOST])}{more}")
    if len(new) > STEPS_MOST:
        lines.append(f"... and in {len(new) - STEPS_MOST} more steps")
    count = sum(len(links) for _, links in new)
    if count == 0:
        return [f"no links added: every step already tolerates c = {tolerance}"]
    return [*lines, f"{count} link{'' if count == 1 else 's'} added in {len(new)} of {len(added)} steps; every step now tolerates c = {tolerance}"]


def _report(learners: str, added: list[Links], tolerance: int) -> str:
    """Return the new links as JSON."""
    return json.dumps({"learners": int(learners.split()[1]), "tolerance": tolerance, "added": sum(map(len, added)),
                       "steps": [{"step": number, "added": links} for number, links in enumerate(added, 1)]}, indent=2)


def _run(arguments: list[str]) -> int:
    p = source.parser(DESCRIPTION, EPILOG)
    source.add_steps(p)
    p.add_argument("--tolerance", metavar="C", type=whole("tolerance", 0, LEARNERS_MOST - 2), default=1,
                   help="how many learners may collude (1)")
    p.add_argument("-o", "--output", metavar="FILE", help="write the schedule there (standard output)")
    p.add_argument("--json", action="store_true", help="print what was added as JSON on standard output; needs -o")
    o = source.parse(p, arguments)
    if o.json and o.output is None:
        raise CommandError("--json prints on standard output: write the schedule to a file with -o FILE")
    (learners, steps), (_, added) = _schedules(source.schedule("missing", o, tolerance=o.tolerance))
    text = [f"# augmented for c = {o.tolerance}\n{learners}\n"]
    for old, new in zip(steps, added):
        text.append("step" + "".join(f" {a}-{b}" for a, b in sorted(old + new)) + "\n")
    write(o.output, text)
    if o.json:
        print(_report(learners, added, o.tolerance), flush=True)
    else:
        print("\n".join(_told(added, o.tolerance)), file=sys.stderr)
    return 0


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    sys.stderr.reconfigure(errors="surrogateescape")  # what is wrong is quoted as it was given
    return guard(sys.argv[0], lambda: _run(arguments))
