"""Seconds in each phase, out of round documents: medians, quantiles, and the learner of the largest."""
from __future__ import annotations

import math
from typing import NamedTuple, Optional

from starling_timeline.rounds import PHASES
from starling_timeline.words import Names


class Sample(NamedTuple):
    """Samples of one value are ordered by their learners, the last one first."""
    s: float
    last_first: int  # the negative id of the learner
    round: int


class Samples(list):
    """Values of learners in rounds."""

    def add(self, s: float, round: int, learner: int = 0) -> None:
        self.append(Sample(s, -learner, round))

    def quantile(self, q: float) -> float:
        """Return the value that a share `q` (0..1) of the samples does not exceed (nearest rank); there is one at least."""
        return sorted(self)[max(math.ceil(q * len(self)), 1) - 1].s

    def fields(self) -> Optional[dict]:
        """Return {"count":5, "p50_s":.., "p95_s":.., "max_s":.., "round":7}: the round of the largest; None without samples."""
        if not self:
            return None
        largest = max(self)
        return {"count": len(self), "p50_s": self.quantile(0.5), "p95_s": self.quantile(0.95), "max_s": largest.s, "round": largest.round}


class Durations:
    def __init__(self) -> None:
        self.phases = {phase: Samples() for phase in PHASES}

    def add(self, document: dict) -> None:
        """Add the seconds that each learner of the round spent in each phase, all attempts together; phases that go on are left out."""
        for lane in document["learners_of_round"]:
            sums: dict[str, float] = {}
            for span in lane["spans"]:
                if span["from_s"] is not None and span["to_s"] is not None:
                    sums[span["phase"]] = sums.get(span["phase"], 0.0) + (span["to_s"] - span["from_s"])
            for phase, s in sums.items():
                if s > 0:
                    self.phases[phase].add(s, document["round"], lane["learner"])

    def fields(self) -> list[dict]:
        """Return the phases with samples, each with "phase" and "learner"."""
        return [{**samples.fields(), "phase": phase, "learner": -max(samples).last_first}
                for phase, samples in self.phases.items() if samples]


def table(names: Names, phases: list[dict], round: bool) -> list[str]:
    """Return the lines of a table of such phases; `round`: with the round of the largest."""
    lines = ["", f"  {'phase':<10}{'times' if round else 'learners':>10}{'p50 s':>10}{'p95 s':>10}{'max s':>10}  by"]
    for phase in phases:
        lines.append(f"  {phase['phase']:<10}{phase['count']:>10}{phase['p50_s']:>10.3f}{phase['p95_s']:>10.3f}{phase['max_s']:>10.3f}  "
                     f"{names.who(phase['learner'])[:31]}" + (f", round {phase['round']}" if round else ""))
    return lines
