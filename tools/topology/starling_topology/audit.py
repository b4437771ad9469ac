"""`starling topology audit`; see starling-topology(1). The schedule comes from C (tools/starling/part.c).

In a step, a coalition learns the sum of the models of each group into which the other learners fall without it, and nothing else. More
than one group is more than the mean; so is a group of one learner, whose model it is. Over all steps, if no model changes in between,
the coalition learns the span of these sums."""
from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from typing import Optional, Union

from starling_timeline.command import CommandError, guard, whole
from starling_timeline.words import WIDTH_USUAL, fill, width_of
from starling_topology import source, weak
from starling_topology.costs import LEARNERS_MOST
from starling_topology.leakage import Span
from starling_topology.participants import Schedule, Step, beyond, majority

DESCRIPTION = f"""Report what learners that pool all they see learn about the models of the others: exactly which sums, step by
step, if each step is played as it is. {source.ABOUT}"""
EPILOG = """Without the coalition, the other learners fall into groups that reach each other only through it. The
coalition learns the sum of the models of each group, and nothing else. One group reveals no more than the
mean, which every participant gets; a group of one learner reveals its model. If no model changed between the
steps, the sums of all steps could be combined; training changes them. Learners that are not connected to the
majority do not take part.

Examples:
  starling topology audit walk.txt --coalition 3,5
  starling topology audit walk.txt
  starling topology audit grid -n 25 --tolerance 2

Exit status: 0 no coalition in question learns more than the mean; 3 one does; 1 failed; 2 bad input."""
NOT_PRIVATE = 3  # exit status
TOLERANCE_MOST = 4
COEFFICIENT_MOST = 99
# In sentences; JSON has them all.
IDS_MOST, SUMS_MOST = 8, 4
TERMS_MOST, TERMS_SAID = 8, 3  # of a sum; of a longer one so many are said
LINES_MOST = 12  # of steps, or coalitions
LEGEND = "x1+x2 is the sum of the models of learners 1 and 2."


class Request:
    """What is asked for."""

    def __init__(self, o: argparse.Namespace, learners: int) -> None:
        self.learners, self.quorum, self.tolerance = learners, o.quorum or majority(learners), o.tolerance or 1
        self.unchanged, self.json = o.unchanged, o.json
        if not majority(learners) <= self.quorum <= learners:
            raise CommandError(f"--quorum {o.quorum}: must be {majority(learners)} to {learners} of {learners} learners")
        self.coalition = None if o.coalition is None else read_coalition(o.coalition, learners)


def read_coalition(text: str, learners: int) -> list[int]:
    """Read "3,5"."""
    found = set()
    for word in text.split(","):
        if not re.fullmatch("[0-9]+", word):
            raise CommandError(f"--coalition {text}: must be ids and commas, as in 3,5")
        learner = int(word.lstrip("0")[:9] or "0")  # more digits are no learner either
        if not 1 <= learner <= learners:
            raise CommandError(f"--coalition {text}: unknown learner {word} (learners are 1 to {learners})")
        found.add(learner)
    if len(found) == learners:
        raise CommandError(f"--coalition {text}: these are all learners; leave out at least one")
    return sorted(found)


# ---- words ----

def ids(learners: Sequence[int]) -> str:
    """Return "3", "3 and 5", "3, 5 and 7"; of many ids the first ones, "1, 2, 3, ... and 12 more"."""
    words = list(map(str, learners[:IDS_MOST]))
    if len(learners) > IDS_MOST:
        return f"{', '.join(words)}, ... and {len(learners) - IDS_MOST} more"
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def named(learners: Sequence[int]) -> str:
    return f"learner{'' if len(learners) == 1 else 's'} {ids(learners)}"


def models(learners: Sequence[int]) -> str:
    return f"the model{'' if len(learners) == 1 else 's'} of {named(learners)}"


def combination(coefficients: dict[int, int]) -> str:
    """Return "x1+x2", "2x1-x4"."""
    terms = [f"{'-' if a < 0 else '+'}{'' if abs(a) == 1 else abs(a)}x{learner}" for learner, a in sorted(coefficients.items())]
    said = terms[:TERMS_SAID if len(terms) > TERMS_MOST else None]
    return "".join(said).removeprefix("+") + (f"+... ({len(terms)} models)" if len(said) < len(terms) else "")


def several(alone: list[int], sums: list[str], noun: str) -> str:
    """Return the models that are revealed, which matter most, and sums of others."""
    said = sums[:SUMS_MOST]
    if len(sums) > len(said):
        text = f"{', '.join(said)}, ... and {len(sums) - len(said)} more{noun}"
    else:
        text = " and ".join(filter(None, (", ".join(said[:-1]), *said[-1:])))
    return ", and ".join(filter(None, (models(alone) if alone else "", text)))


def learned(step: Step, groups: list[list[int]], coalition: Sequence[int], why: bool) -> str:
    """Return what a coalition learns in a step; `why` names it as the cut."""
    if not step.present:
        return f"no round: {step.largest} of {step.learners} learners are connected, and the quorum is {step.quorum}"
    learn = "learns" if len(coalition) == 1 else "learn"
    if not groups:
        text = "no other learner takes part"
    elif len(groups) == 1 and len(groups[0]) > 1:
        text = "only the sum of all the others"
    elif len(groups) == 1:
        text = f"{learn} the model of learner {groups[0][0]}, the only other participant"
    else:
        sums = [combination(dict.fromkeys(group, 1)) for group in groups if len(group) > 1]
        text = f"{learn} {several([group[0] for group in groups if len(group) == 1], sums, ' sums')}"
        if why:
            text += f" ({ids(coalition)} {'cuts' if len(coalition) == 1 else 'cut'} them apart)"
    absent = step.absent()
    return text + (f"; {named(absent)} {'does' if len(absent) == 1 else 'do'} not take part" if absent else "")


def not_private(who: str, where: str, c: int, learners: int) -> str:
    """Return the verdict on a coalition of c learners, with its remedy."""
    remedy = f"; starling topology augment --tolerance {c} adds the missing links" if learners >= c + 2 else ""
    return f"NOT PRIVATE: {who} more than the mean{where}. The privacy check refuses such a round at tolerance {c}{remedy}."


# ---- a named coalition ----

class Named:
    """What a coalition learns, step by step and together."""

    def __init__(self, request: Request, coalition: list[int]) -> None:
        self.request, self.coalition = request, coalition
        self.span = Span(set(range(1, request.learners + 1)).difference(coalition))
        self.rounds = self.beyond = 0  # steps with a quorum; those in which it learns more than the mean
        self.most = 0  # sums learned in a step

    def ask(self, step: Step) -> list[list[int]]:
        groups = step.without(self.coalition)
        for group in groups:
            self.span.learn(group)
        self.rounds += bool(step.present)
        self.beyond += beyond(groups)
        self.most = max(self.most, len(groups))
        return groups

    def together(self) -> bool:
        """Return whether all steps together reveal more than one of them alone."""
        return self.span.rank > self.most

    def verdict(self) -> bool:
        return self.beyond > 0 or (self.request.unchanged and self.together())

    def revealed(self) -> list[int]:
        return [lead for lead in sorted(self.span.rows) if self.span.reveals(lead)]

    # ---- text ----

    def span_words(self) -> str:
        rows = [lead for lead in sorted(self.span.rows) if not self.span.reveals(lead)]
        sums = []
        for lead in rows:
            integers = self.span.integers(lead, COEFFICIENT_MOST) if len(sums) < SUMS_MOST else None
            sums.append(combination(integers) if integers else f"a combination of x{lead} and others")
        return several(self.revealed(), sums, "")

    def verdict_words(self) -> str:
        count = len(self.coalition)
        who = "it learns" if count == 1 else "together they learn"
        if self.rounds == 0:
            return "PRIVATE: no step has a round."
        if self.beyond > 0:
            where = f" in {self.beyond} of {self.rounds} rounds" if self.beyond < self.rounds else ""
            return not_private(who, where, count, self.request.learners)
        if self.together():
            return (f"{'NOT PRIVATE' if self.request.unchanged else 'PRIVATE while models change'}: {who} no more than the mean in each "
                    "round, but more from all rounds together if models do not change in between.")
        return f"PRIVATE: {who} no more than the mean."

    def lines(self, schedule: Schedule) -> list[str]:
        """Return the report as text."""
        learn = "learns" if len(self.coalition) == 1 else "learn"
        said: list[tuple[int, int, str]] = []  # first step, last step, what they say
        left_out = 0
        for number, step in enumerate(schedule.steps(self.request.quorum), 1):
            text = learned(step, self.ask(step), self.coalition, True)
            if said and said[-1][1:] == (number - 1, text):
                said[-1] = (said[-1][0], number, text)
            elif len(said) == LINES_MOST:
                left_out += 1
            else:
                said.append((number, number, text))
        lines = [f"What {named(self.coalition)} of {self.request.learners} {learn}{'' if len(self.coalition) == 1 else ' together'} "
                 f"from the rounds. {LEGEND}"]
        lines += (f"step {first}: {text}" if first == last else f"steps {first} to {last}: {text}" for first, last, text in said)
        if left_out:
            lines.append(f"... and {left_out} more steps; --json lists all")
        if self.rounds > 1 and self.together():
            lines.append(f"all steps: if no model changes between steps, {learn} {self.span_words()}")
        elif self.rounds > 1:
            lines.append("all steps: no more than that, even if no model changes between steps")
        return [*lines, self.verdict_words()]

    # ---- JSON ----

    def step_json(self, number: int, step: Step) -> dict:
        groups = self.ask(step)
        return {"step": number, "round": bool(step.present), "absent": step.absent(), "sums": groups, "beyond_mean": beyond(groups)}

    def row_json(self, lead: int) -> Optional[dict[int, int]]:
        integers = self.span.integers(lead, COEFFICIENT_MOST)
        return None if integers is None else dict(sorted(integers.items()))

    def report(self, schedule: Schedule) -> dict:
        """Return the report for JSON."""
        steps = [self.step_json(number, step) for number, step in enumerate(schedule.steps(self.request.quorum), 1)]
        unchanged = {"rank": self.span.rank, "models": self.revealed(), "basis": [self.row_json(lead) for lead in sorted(self.span.rows)],
                     "beyond_each_step": self.together()}
        return {"learners": self.request.learners, "quorum": self.request.quorum, "coalition": self.coalition, "steps": steps,
                "unchanged_models": unchanged, "rounds": self.rounds, "rounds_beyond_mean": self.beyond, "private": not self.verdict()}


# ---- all coalitions of a size ----

def weak_line(coalition: weak.Coalition, numbers: list[int], step: Step) -> str:
    """Return "learner 4, step 3 (and 2 more): learns x1+x2 and x3+x5"."""
    more = f" (and {len(numbers) - 1} more)" if len(numbers) > 1 else ""
    return f"{named(coalition)}, step {numbers[0]}{more}: {learned(step, step.without(coalition), coalition, False)}"


def weak_verdict(request: Request, search: weak.Search) -> str:
    c, count = request.tolerance, len(search.weak)
    if search.rounds == 0:
        return "PRIVATE: no step has a round."
    if count == 0:
        return f"PRIVATE: no {'learner' if c == 1 else 'coalition of that size'} learns more than the mean."
    s, learn = ("", "learns") if count == 1 else ("s", "learn")
    who = f"{count} of {request.learners} learners {learn}" if c == 1 else f"{count} coalition{s} of up to {c} {learn}"
    return not_private(who, "", c, request.learners)


def weak_lines(request: Request, search: weak.Search) -> list[str]:
    c, n = request.tolerance, request.learners
    who = f"each of {n} learners learns alone" if c == 1 else f"up to {c} of {n} learners learn together"
    coalitions = search.in_order()
    lines = [f"What {who} from the rounds, if more than the mean. {LEGEND}"]
    lines += (weak_line(coalition, numbers, search.step[numbers[0]]) for coalition, numbers in coalitions[:LINES_MOST])
    if len(coalitions) > LINES_MOST:
        lines.append(f"... and {len(coalitions) - LINES_MOST} more; --json lists all")
    return [*lines, weak_verdict(request, search)]


def weak_report(request: Request, search: weak.Search) -> dict:
    coalitions = [{"coalition": coalition, "steps": numbers} for coalition, numbers in search.in_order()]
    return {"learners": request.learners, "quorum": request.quorum, "tolerance": request.tolerance, "rounds": search.rounds,
            "weak": coalitions, "private": not coalitions}


# ---- the command ----

def audit(request: Request, schedule: Schedule) -> tuple[str, bool]:
    """Return the report, and whether a coalition in question learns more than the mean."""
    report: Union[list[str], dict]
    if request.coalition is not None:
        inquiry = Named(request, request.coalition)
        report = inquiry.report(schedule) if request.json else inquiry.lines(schedule)
        more = inquiry.verdict()
    else:
        search = weak.Search(request.tolerance)
        try:
            search.run(schedule.steps(request.quorum))
        except weak.TooManyError:
            raise CommandError(f"too many coalitions of up to {request.tolerance} learners: lower --tolerance, or name one with "
                               "--coalition") from None
        report = (weak_report if request.json else weak_lines)(request, search)
        more = bool(search.weak)
    if isinstance(report, dict):
        return json.dumps(report, indent=2), more
    return "\n".join(fill(report, width_of(sys.stdout) or WIDTH_USUAL)), more


def options(arguments: list[str]) -> argparse.Namespace:
    p = source.parser(DESCRIPTION, EPILOG)
    source.add_steps(p)
    p.add_argument("--coalition", metavar="ID,ID...", help="learners that pool all they see")
    p.add_argument("--tolerance", metavar="C", type=whole("tolerance", 1, TOLERANCE_MOST),
                   help="without --coalition: try all coalitions of up to C learners (1)")
    p.add_argument("--quorum", metavar="Q", type=whole("quorum", 2, LEARNERS_MOST), help="learners that a round takes (more than half)")
    p.add_argument("--unchanged", action="store_true", help="with --coalition: assume that models do not change between steps, and combine "
                   "what the steps reveal")
    p.add_argument("--json", action="store_true", help="print the report as JSON, with all lists in full")
    o = source.parse(p, arguments)
    if o.coalition is not None and o.tolerance is not None:
        raise CommandError("--coalition names learners, --tolerance searches for coalitions: give one of the two")
    if o.coalition is None and o.unchanged:
        raise CommandError("--unchanged needs a coalition: name one with --coalition")
    return o


def run(arguments: list[str]) -> int:
    o = options(arguments)
    schedule = Schedule(source.schedule("schedule", o))
    text, more = audit(Request(o, schedule.learners), schedule)
    print(text, flush=True)
    return NOT_PRIVATE if more else 0


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    sys.stderr.reconfigure(errors="surrogateescape")  # what is wrong is quoted as it was given
    return guard(sys.argv[0], lambda: run(arguments))
