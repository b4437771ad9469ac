"""What a coalition learns from completed rounds (ROUND.md §2.3 What a coalition learns; the paper's Theorem).

In a round over a connected graph G a coalition A learns exactly the sums of the models over the parts of G - A, and nothing beyond
the total iff there is one. Over rounds with unchanged models it learns the span of all those sums mod p."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Optional

P = (1 << 31) - 1


class Span:
    """A span of combinations of models, as a reduced row echelon basis.

    `rows` has by its first learner, the lead, each row of the basis: 1 at the lead, 0 at the other leads, and at the learners of
    `free`, which lead no row, the coefficients in [0, p) that the row lists in that order."""

    def __init__(self, honest: Iterable[int], p: int = P) -> None:
        self.p, self.free = p, sorted(honest)
        self.rows: dict[int, list[int]] = {}
        self.sums: set[tuple[int, ...]] = set()  # that were learned: many rounds are alike

    @property
    def rank(self) -> int:
        return len(self.rows)

    def rest(self, combination: dict[int, int]) -> list[int]:
        """Return what is left of a combination, at the free learners, once the rows are taken away."""
        left = [combination.get(learner, 0) for learner in self.free]
        for learner, factor in combination.items():
            row = self.rows.get(learner)
            if row is not None:
                left = [(a - factor * b) % self.p for a, b in zip(left, row)]
        return left

    def knows(self, combination: dict[int, int]) -> bool:
        """Return whether a combination of the models of honest learners is in the span."""
        return not any(self.rest(combination))

    def learn(self, members: Iterable[int]) -> None:
        """Add the sum of the members' models."""
        key = tuple(members)
        if not self.free or key in self.sums:
            return
        self.sums.add(key)
        left = self.rest(dict.fromkeys(key, 1))
        place = next((i for i, a in enumerate(left) if a), None)
        if place is None:
            return
        scale = pow(left[place], -1, self.p)
        left = [a * scale % self.p for a in left]
        for lead, row in self.rows.items():
            factor = row[place]
            if factor:
                row = self.rows[lead] = [(a - factor * b) % self.p for a, b in zip(row, left)]
            del row[place]
        del left[place]
        self.rows[self.free.pop(place)] = left

    def reveals(self, learner: int) -> bool:
        """Return whether the span has the model of the learner itself."""
        return learner in self.rows and not any(self.rows[learner])

    def integers(self, lead: int, most: int) -> Optional[dict[int, int]]:
        """Return the coefficients of a row that are not 0, times the least of 1..most with which all are integers in [-most, most];
        None if there is no such factor."""
        row = [(learner, a) for learner, a in zip(self.free, self.rows[lead]) if a]
        for scale in range(1, most + 1):
            if all((a * scale + most) % self.p <= 2 * most for _, a in row):
                return {lead: scale, **{learner: (a * scale + most) % self.p - most for learner, a in row}}
        return None
