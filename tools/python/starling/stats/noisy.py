"""Sums with the noise of differential privacy: what `starling mean`, `sum`, `count` and `histogram` with --epsilon ask, and `describe` and
`crosstab` with `privacy`.

The setting `dp` of the learners adds the noise. A question is one vector, to which each record (dp: record) or each learner (dp: learner) adds a
part of norm 1 at most; its name carries all that must be the same at all learners, and a run answers one question. A sum is given
with the standard deviation of its noise."""
from __future__ import annotations

import bisect
import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from starling import dp
from starling.connection import NAME_BYTES_MAX
from starling.group import Error
from starling.stats.sums import InputError, Member, NoResult
from starling.stats.totals import Own, Question

BESIDE_NOISE = 4.0  # a number of rows that is divided by is at least so many standard deviations of its noise
CLEAR = 2.0  # standard errors by which a number differs from 0, or within which a range has more than the mean
SLACK = 1e-6  # relative, of epsilon: the settings round it


class Budget(NamedTuple):
    """What a question may spend."""

    epsilon: float
    delta: float

    def check(self) -> None:
        if not (self.epsilon > 0 and math.isfinite(self.epsilon) and 0 < self.delta < 0.5):
            raise InputError(f"epsilon is a number above 0, and delta one between 0 and 0.5, not {self.epsilon:g} and {self.delta:g}")


@dataclass(frozen=True)
class Total:
    """A sum over `learners`. zeros: further participants, which sent zeros since their budget is spent. noise: standard deviation of the noise
    in each value; spent: epsilon of the own learner so far."""

    sum: np.ndarray
    noise: float
    unit: str
    learners: int
    round: int
    delta: float
    spent: float | None
    zeros: int = 0

    @property
    def said(self) -> str:
        spent = "not known" if self.spent is None else f"{self.spent:.4g}"
        missing = f"; {self.zeros} more sent zeros, since their budget is spent" if self.zeros else ""
        return f"hidden: one {self.unit}; epsilon spent so far: {spent}, at delta {self.delta:g}{missing}"


class Asking(Member):
    """The group of a learner that gives its part of one question."""

    same = "all learners must ask the same question, with the same --range, categories and bins; agree on it, and"


def check_terms(terms: dp.Privacy | None, budget: Budget, units: Sequence[str]) -> dp.Privacy:
    """Return the terms of a learner if they keep `budget` and hide one of `units`. InputError: they do not."""
    if terms is None:
        raise InputError("this learner adds no noise (dp: off): set dp, dp_clip, dp_epsilon and dp_delta at all learners, or ask without --epsilon")
    if terms.unit not in units:
        raise InputError(f"this learner has dp: {terms.unit}, and the question needs dp: {' or '.join(units)}")
    if terms.sampling < 1:
        raise InputError(f"this learner has dp_sampling: {terms.sampling:g}, and a question takes all rows: it would spend more than its ledger says")
    if terms.delta > budget.delta * (1 + SLACK):
        raise InputError(f"this learner has dp_delta: {terms.delta:g}, more than --delta {budget.delta:g}")
    spends = dp.epsilon(terms.noise, budget.delta)
    if spends > budget.epsilon * (1 + SLACK):
        raise InputError(f"a round of this learner spends epsilon {spends:.4g}, more than --epsilon {budget.epsilon:g}: set more dp_noise, or a lower "
                         "dp_epsilon, at all learners")
    return terms


def noisy_total(path: str, question: str, size: int, budget: Budget, parts: Callable[[str], np.ndarray], units: Sequence[str] = ("record", "learner"),
                told: Callable[[str], None] | None = None) -> Total:
    """Give `parts(unit)`, an array [records or 1, size] whose rows have a norm of 1 at most (longer ones are clipped), and return the
    sum over all learners.

    InputError: the terms of the learner are others. Error: the round failed, or the learners ask different questions."""
    name = question if len(question.encode()) <= NAME_BYTES_MAX else hashlib.blake2b(question.encode(), digest_size=16).hexdigest()
    model = {name: np.zeros(size)}
    with Asking(path, model, values="model") as group:
        group.told = told
        terms = check_terms(group.dp, budget, units)
        rows = parts(terms.unit)
        if terms.unit == "record" and terms.delta * len(rows) >= 1:
            raise InputError(f"this learner has dp_delta: {terms.delta:g}, which must be below one in the number of records, and {len(rows)} rows: one "
                             "could be told whole")
        total = dp.clipped_sum(rows * terms.clip, terms.clip)  # exact, and the sum times clip would not be
        rounds = iter(group)
        t = next(rounds, None)
        if t is None and group.committed == 0:
            raise Error(f"the run is over: all of its {group.rounds} rounds are committed; start the learners with another run")
        mean = group.model  # of an earlier call; without this, `mean` would return it
        while t is not None and group.committed < t:
            if group.dp != terms:
                raise Error("the settings of dp have changed while learners gave their parts: ask again")
            mean = group.mean({name: np.asarray(total)})
            if group.committed < t and next(rounds, None) is None and group.committed < t:
                raise Error(f"the run has ended without round {t}: the budget of a learner, dp_epsilon, did not suffice for it, as its log says. "
                            "Attempts that failed are charged. Ask in another run, at all learners at the same time, or with room for attempts "
                            "that fail: a dp_noise of your own, and a larger dp_epsilon")
        group.check_participants()
        if not group.noise:
            raise Error(f"round {group.committed} is committed, but the learner was started again and no longer knows its noise: ask in another run")
        learners = group.total_weight  # all weights are 1, or 0 of those that sent zeros
        scale = learners / terms.clip
        return Total(mean[name] * scale, group.noise * scale, terms.unit, learners, group.committed, terms.delta, group.spent,
                     group.participants - learners)


def ratio(sums: np.ndarray, count: float, noise: float, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Return sums / count and the standard deviation of its noise, where each has `noise`. NoResult: the noise hides the count."""
    if not count >= BESIDE_NOISE * noise:
        raise NoResult(f"{what} too few rows beside the noise, whose standard deviation is {noise:.4g} rows: no mean")
    value = sums / count
    return value, noise / count * np.sqrt(1 + value**2)


# ---- the commands ----

class Rows(Own):
    """The rows of one learner: their values, or the numbers of their cells. The functions that add raise InputError."""

    def __init__(self, question: Question, ends: tuple[float, float] | None) -> None:
        super().__init__(question)
        self.ends, self.rows = ends, []
        self.outside = 0  # rows that count as an end of the range

    def _add(self, value: Decimal) -> None:
        super()._add(value)
        if self.ends is None:
            self.rows.append(bisect.bisect_right(self.question.edges, value))
            return
        low, high = self.ends
        self.rows.append(min(max(float(value), low), high))
        self.outside += not low <= value <= high

    def _count(self, word: str) -> None:
        super()._count(word)
        self.rows.append(self.question.labels.index(word))

    def add_array(self, path: str) -> None:
        raise InputError(f"--npy {path}: an array has no range for each element; give numbers, or use starling.dp in Python")

    @property
    def name(self) -> str:
        """What must be the same at all learners."""
        return " ".join(self.question.names) + ("" if self.ends is None else f" within [{self.ends[0]!r},{self.ends[1]!r}]") + " with noise"

    @property
    def size(self) -> int:
        return len(self.question.names)

    def parts(self, unit: str) -> np.ndarray:
        """Return what each record, or this learner, adds: of norm 1 at most."""
        rows = np.array(self.rows)
        if unit == "learner" and (rows.size != 1 if self.question.kind != "mean" else rows.size == 0):
            raise InputError(f"with dp: learner, a learner gives {'a number' if self.question.kind == 'mean' else 'one value'}, not {rows.size} rows")
        if self.ends is None:
            cells = np.zeros((rows.size, self.size))
            cells[np.arange(rows.size), rows.astype(int)] = 1
            return cells
        low, high = self.ends
        if self.question.kind == "sum":
            return np.stack([rows / max(abs(low), abs(high)), np.zeros(rows.size)], axis=1)
        scaled = (rows - (low + high) / 2) / ((high - low) / 2)
        if unit == "learner":
            return np.array([[scaled.mean(), 0]])
        return np.stack([scaled, np.ones(rows.size)], axis=1) / math.sqrt(2)

    def __str__(self) -> str:
        return f"{len(self.rows)} rows, {self.outside} of them outside the range" if self.ends is not None else super().__str__()


class NoisyAnswer:
    """The result of a question: value and noise, of a number; counts, of cells."""

    array = None

    def __init__(self, own: Rows, total: Total) -> None:
        self.question, self.total, self.ends = own.question, total, own.ends
        self.value = self.noise = None
        if own.ends is None:
            self.counts, self.noise = total.sum, total.noise
            return
        low, high = own.ends
        if self.question.kind == "sum":
            scale = max(abs(low), abs(high))
            self.value, self.noise = float(total.sum[0]) * scale, total.noise * scale
        elif total.unit == "learner":
            self.value = (low + high) / 2 + (high - low) / 2 * float(total.sum[0]) / total.learners
            self.noise = (high - low) / 2 * total.noise / total.learners
        else:
            value, noise = ratio(total.sum[:1] * math.sqrt(2), float(total.sum[1]) * math.sqrt(2), total.noise * math.sqrt(2), "all learners have")
            self.value, self.noise = (low + high) / 2 + (high - low) / 2 * float(value[0]), (high - low) / 2 * float(noise[0])

    def __str__(self) -> str:
        if self.value is not None:
            return f"{self.value:.6g}"
        return "\n".join(f"{label} {count:.0f}" for label, count in zip(self._labels(), self.counts))

    def _labels(self) -> list[str]:
        edges = self.question.labels[1:]
        if self.question.kind == "count":
            return self.question.labels
        return [f"< {edges[0]}", *(f"[{low}, {high})" for low, high in zip(edges, edges[1:])), f">= {edges[-1]}"]

    @property
    def verdict(self) -> str:
        """What the noise hides of the answer; "": nothing."""
        if self.question.kind == "mean":
            hidden = 2 * CLEAR * self.noise >= self.ends[1] - self.ends[0]
            said = "within two of them lies the whole range"
        else:
            values = self.counts if self.value is None else np.array([self.value])
            cells = int((np.abs(values) < CLEAR * self.noise).sum())
            hidden = cells == len(values)
            said = "nothing can be told from 0"
            if 0 < cells < len(values):
                return f"{cells} of {len(values)} counts cannot be told from 0: they are below two standard errors"
        return f"THE NOISE SWAMPS THE ANSWER: with a standard error of {self.noise:.4g}, {said}; it takes more records, or a larger epsilon" if hidden else ""

    @property
    def notes(self) -> str:
        of = "the mean of the numbers of the learners" if self.question.kind == "mean" and self.total.unit == "learner" else f"the {self.question.kind}"
        each = "" if self.value is not None else " in each"
        noted = f"{self.total.learners} learners; {of}, with noise of standard deviation {self.noise:.4g}{each}; {self.total.said}"
        return "\n".join(filter(None, (noted, self.verdict)))

    def json(self) -> str:
        found: dict[str, Any] = {"question": self.question.kind, "column": self.question.column}
        found |= {self.question.kind: self.value} if self.value is not None else {"counts": dict(zip(self._labels(), self.counts.tolist()))}
        return json.dumps({**found, "noise": self.noise, "unit": self.total.unit, "epsilon": self.total.spent, "delta": self.total.delta,
                           "learners": self.total.learners, "round": self.total.round}, ensure_ascii=False)


def ask(own: Rows, path: str, budget: Budget, told: Callable[[str], None]) -> NoisyAnswer:
    """Give the rows of this learner on its socket `path`, and wait for the sum of all. Errors: see noisy_total."""
    return NoisyAnswer(own, noisy_total(path, own.name, own.size, budget, own.parts, told=told))
