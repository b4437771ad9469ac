"""How far the clocks of two learners differ at least, from the order of messages.

A learner enters RELEASE when it holds the Ready of every participant, and a participant signs its Ready in READY (ROUND.md §7.12 Release);
it enters CONFIRM when it holds the Checksum of every participant, which each sends in CHECK (§8.7 Checking what was passed on). Where the
log of one learner has the second before the log of another has the first, their clocks differ.
"""
from __future__ import annotations

import math
from typing import Optional

from starling_timeline.lanes import Lane, Lanes
from starling_timeline.rounds import CHECK, CONFIRM, READY, RELEASE

CUT_S = 0.001  # times are cut to milliseconds
BARRIERS = ((READY, RELEASE), (CHECK, CONFIRM))


def passage(lanes: list[Lane], attempt: int, before: int, after: int) -> tuple[float, int, int]:
    """Return how long after the first learner to pass a barrier the last one came to it, and these two: last, first. A learner that came
    to the later phase through RECOVER did not need all others. One that was restarted in the attempt has entered its phases twice."""
    entered, passed, last, first = -math.inf, math.inf, 0, 0
    for lane in lanes:
        for place, span in enumerate(lane.spans):
            if lane.part.resumed or span.attempt != attempt or span.phase != before:
                continue
            if span.start > entered:
                entered, last = span.start, lane.id
            following = lane.spans[place + 1:place + 2]
            if following and (following[0].attempt, following[0].phase) == (attempt, after) and following[0].start < passed:
                passed, first = following[0].start, lane.id
    return entered - passed, last, first


def gap(lanes: Lanes) -> Optional[tuple[float, int, int]]:
    """Return the largest gap that a round shows: seconds by which the clock of a learner is ahead at least, that learner, the other; None
    where the order of messages shows no difference."""
    found = None
    for row in lanes.round.attempts.values():
        own = lanes.of_attempt(row) if row.ids else []
        for before, after in BARRIERS:
            one = passage(own, row.number, before, after)
            if one[0] > (CUT_S if found is None else found[0]) and math.isfinite(one[0]):
                found = one
    return found
