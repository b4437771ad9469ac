"""What `starling topology augment` writes; see starling-topology(1). Its command line is read in tools/starling/topology_augment.c, which
finds the missing links, and hands over the schedule and then a schedule of these links on standard input."""
from __future__ import annotations

import json
import sys

from starling_timeline.command import FAILED, USAGE, guard
from starling_topology.__main__ import OutputError, say, write
from starling_topology.text import InputError

STEPS_MOST, LINKS_MOST = 12, 8  # steps with new links that are told, and links of a step; JSON has them all
Links = list[tuple[int, int]]


def _schedules(lines: list[str]) -> list[tuple[str, list[Links]]]:
    """Return the line "learners N" of each schedule, and the links of its steps."""
    schedules: list[tuple[str, list[Links]]] = []
    for line in lines:
        if line.startswith("learners"):
            schedules.append((line, []))
            continue
        ends = [int(end) for end in line.replace("-", " ").split()[1:]]
        schedules[-1][1].append(list(zip(ends[::2], ends[1::2])))
    return schedules


def _told(added: list[Links], tolerance: str) -> list[str]:
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


def _report(learners: str, added: list[Links], tolerance: str) -> str:
    """Return the new links as JSON."""
    return json.dumps({"learners": int(learners.split()[1]), "tolerance": int(tolerance), "added": sum(map(len, added)),
                       "steps": [{"step": number, "added": links} for number, links in enumerate(added, 1)]}, indent=2)


def _run(tolerance: str, as_json: bool, output: list[str]) -> int:
    (learners, steps), (_, added) = _schedules(sys.stdin.read().splitlines())
    text = [f"# augmented for c = {tolerance}\n{learners}\n"]
    for old, new in zip(steps, added):
        text.append("step" + "".join(f" {a}-{b}" for a, b in sorted(old + new)) + "\n")
    try:
        write(output[0] if output else None, text)
    except (InputError, OutputError) as wrong:
        say(f"starling topology: {wrong}")
        return USAGE if isinstance(wrong, InputError) else FAILED
    if as_json:
        print(_report(learners, added, tolerance), flush=True)
    else:
        print("\n".join(_told(added, tolerance)), file=sys.stderr)
    return 0


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status. Arguments: the tolerance, 1 for --json, and the file of the schedule if one is named."""
    return guard(sys.argv[0], lambda: _run(arguments[0], arguments[1] == "1", arguments[2:]))
