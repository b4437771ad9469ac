"""The participants of a round on a step of a schedule, and the groups into which they fall without a coalition.

A round takes a connected quorum; learners outside that part are left out (ROUND.md §7.8 Agree on the view). The quorum is a majority,
so at most one part has it. Learners are their ids, from 1; lists of them ascend."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Optional

Graph = list[list[int]]  # the neighbours of each learner; those of 0 are none


def majority(learners: int) -> int:
    return learners // 2 + 1


def graph(learners: int, links: Iterable[tuple[int, int]]) -> Graph:
    neighbours: Graph = [[] for _ in range(learners + 1)]
    for one, two in links:
        neighbours[one].append(two)
        neighbours[two].append(one)
    return neighbours


def parts(neighbours: Graph, members: Iterable[int]) -> list[list[int]]:
    """Return the connected parts among the members, ordered by their least member."""
    left, found = set(members), []
    for first in sorted(left):
        if first not in left:
            continue
        left.remove(first)
        part = [first]
        for learner in part:  # which grows
            new = left.intersection(neighbours[learner])
            left -= new
            part += new
        found.append(sorted(part))
    return found


class Step:
    """A step: who takes part."""

    def __init__(self, neighbours: Graph, quorum: int) -> None:
        self.learners, self.quorum, self.neighbours = len(neighbours) - 1, quorum, neighbours
        every = parts(neighbours, range(1, len(neighbours)))
        self.largest = max(map(len, every))
        self.present: list[int] = next((part for part in every if len(part) >= quorum), [])  # none: there is no round

    def absent(self) -> list[int]:
        return sorted(set(range(1, self.learners + 1)).difference(self.present))

    def without(self, coalition: Iterable[int]) -> list[list[int]]:
        """Return the groups of the participants without a coalition, which learns the sum of the models of each."""
        return parts(self.neighbours, set(self.present).difference(coalition))


def beyond(groups: list[list[int]]) -> bool:
    """Return whether a coalition that leaves these groups learns more than the total of two or more others."""
    return len(groups) > 1 or (len(groups) == 1 and len(groups[0]) == 1)


class Schedule:
    """A schedule as `starling topology` writes it: "learners N", then "step A-B A-C ..." for each step."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = iter(lines)
        self.learners = int(next(self.lines).split()[1])

    def steps(self, quorum: int) -> Iterator[Step]:
        """Yield the steps; one with the links of the step before is the same object."""
        before: Optional[str] = None
        step: Step
        for line in self.lines:
            if line != before:
                ends = [int(word) for word in line.replace("-", " ").split()[1:]]
                step, before = Step(graph(self.learners, zip(ends[::2], ends[1::2])), quorum), line
            yield step
