"""Search for the smallest coalitions that learn more than the mean in a step."""
from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from math import comb

from starling_topology.participants import Graph, Step

POINTS_MOST = 2_000_000  # coalitions times the steps in which they are weak
WORK_MOST = 10**8  # links visited: about half a minute

Coalition = tuple[int, ...]


class TooManyError(Exception):
    """There are too many coalitions to try."""


# ---- whether a graph tolerates c learners: whether no c of them cut it ----

def _one_more_path(neighbours: Graph, source: int, targets: set[int], before: dict[int, int]) -> bool:
    """Find one more path from the source to a target that shares no learner with the others, which may change their ways for it.
    `before` has the way back to the source of each learner on a path. This is an augmenting path of a flow in which each learner is
    passed once: it is entered, and then left."""
    came: dict[tuple[int, bool], tuple[int, bool]] = {(source, True): (source, True)}  # a learner, and whether it is left
    queue = [(source, True)]
    for state in queue:
        learner, leaving = state
        if leaving:
            to = [(other, False) for other in neighbours[learner] if other != source]
            if learner in before:  # its path goes another way, and it may be free
                to.append((learner, False))
        elif learner in before:  # only backwards along its path
            to = [(before[learner], True)] if before[learner] != source else []
        elif learner in targets:
            break
        else:
            to = [(learner, True)]
        for new in to:
            if new not in came:
                came[new] = state
                queue.append(new)
    else:
        return False
    taken = []
    while came[state] != state:
        (one, left), (two, _) = came[state], state
        if one != two and left:
            taken.append((one, two))
        elif one != two:
            del before[one]
        state = came[state]
    before.update((two, one) for one, two in taken)
    return True


def _has_paths(neighbours: Graph, source: int, targets: set[int], count: int) -> bool:
    """Return whether so many paths lead from the source to different targets and share only the source."""
    before = {learner: source for learner in neighbours[source] if learner in targets}
    return all(_one_more_path(neighbours, source, targets, before) for _ in range(count - len(before)))


def tolerates(neighbours: Graph, members: list[int], c: int) -> bool:
    """Return whether the members, which are a connected part, stay connected without any c of them, and are more than c + 1.

    If c learners cut it, they cut two of the first c + 1 from each other, or a later one from all before it (Even 1975)."""
    if len(members) <= c + 1 or min(len(neighbours[learner]) for learner in members) <= c:
        return False
    order = [members[0]]
    seen = {members[0]}
    for learner in order:  # which grows: those near the first come first, so that paths are short
        new = [other for other in neighbours[learner] if other not in seen]
        seen.update(new)
        order += new
    first = order[:c + 1]
    for one, two in combinations(first, 2):
        if two not in neighbours[one] and not _has_paths(neighbours, one, set(neighbours[two]), c + 1):
            return False
    reached = set(first)
    for learner in order[c + 1:]:
        if not _has_paths(neighbours, learner, reached, c + 1):
            return False
        reached.add(learner)
    return True


# ---- weak coalitions ----

def cut_learners(neighbours: Graph, root: int, removed: Iterable[int]) -> list[int]:
    """Return the learners without any of which the part of `root` falls apart, once others are removed (Hopcroft and Tarjan 1973)."""
    order, low = [0] * len(neighbours), [0] * len(neighbours)  # 0: not yet reached
    for learner in removed:
        order[learner] = len(neighbours) + 1
    order[root] = low[root] = count = 1
    path, ways, cuts = [root], [iter(neighbours[root])], set()
    branches = 0  # of the root
    while True:
        learner = path[-1]
        for other in ways[-1]:
            if not order[other]:
                count += 1
                order[other] = low[other] = count
                path.append(other)
                ways.append(iter(neighbours[other]))
                break
            if order[other] < low[learner]:
                low[learner] = order[other]
        else:
            path.pop()
            ways.pop()
            if not path:
                break
            above = path[-1]
            low[above] = min(low[above], low[learner])
            if above == root:
                branches += 1
            elif low[learner] >= order[above]:
                cuts.add(above)
    return sorted(cuts | {root} if branches > 1 else cuts)


class Search:
    """The weak coalitions of up to c learners, without larger ones that contain them: the steps in which they are weak, from 1."""

    def __init__(self, c: int) -> None:
        self.c, self.work, self.points, self.rounds = c, 0, 0, 0
        self.weak: dict[Coalition, list[int]] = {}
        self.step: dict[int, Step] = {}  # those in which a coalition is weak first

    def run(self, steps: Iterable[Step]) -> None:
        before, found = None, set[Coalition]()
        for number, step in enumerate(steps, 1):
            self.rounds += bool(step.present)
            if step is not before:
                before, found = step, self.in_step(step) if step.present else set()
            self.points += len(found)
            if self.points > POINTS_MOST:
                raise TooManyError
            if not found <= self.weak.keys():
                self.step[number] = step
            for coalition in found:
                self.weak.setdefault(coalition, []).append(number)

    def in_order(self) -> list[tuple[Coalition, list[int]]]:
        """Return the coalitions by size, then by members."""
        return sorted(self.weak.items(), key=lambda item: (len(item[0]), item[0]))

    def in_step(self, step: Step) -> set[Coalition]:
        found: set[Coalition] = set()
        self.extend(step, 1, found)
        if self.c == 1 or tolerates(step.neighbours, step.present, self.c):
            return found
        links = sum(len(step.neighbours[learner]) for learner in step.present)
        for size in range(2, min(self.c, len(step.present)) + 1):
            self.work += comb(len(step.present), size - 1) * (len(step.present) + links)
            if self.work > WORK_MOST:
                raise TooManyError
            self.extend(step, size, found)
        return found

    def extend(self, step: Step, size: int, found: set[Coalition]) -> None:
        """Add the weak coalitions of a size: without all but the last of its learners the others hang together, and the last cuts them,
        or only it and one other are left."""
        new = []
        for some in combinations(step.present[:-1], size - 1):
            if found and _has_part(some, found):
                continue
            root = next(learner for learner in step.present if learner not in some)
            if len(step.present) == size + 1:
                lasts = [learner for learner in step.present if learner not in some]
            else:
                lasts = cut_learners(step.neighbours, root, some)
            new += [(*some, last) for last in lasts if not some or last > some[-1]]
        found.update([coalition for coalition in new if not _has_part(coalition, found)])
        if self.points + len(found) > POINTS_MOST:
            raise TooManyError


def _has_part(coalition: Coalition, found: set[Coalition]) -> bool:
    """Return whether a part of the coalition, or all of it, is among those found."""
    return any(part in found for size in range(1, len(coalition) + 1) for part in combinations(coalition, size))
