"""Exact totals of the numbers of all learners: what `starling mean`, `sum`, `count` and `histogram` ask, and the answer.

A question is a list of cells, each a number that is added up over all learners:

    mean, sum    the sum of the rows; the number of rows
    count        the rows of each category
    histogram    the rows below the first edge, in each bin, and from the last edge on

or, for mean and sum, an array. The names of the cells carry the whole question, since the learners compare the names of their
tensors before they share anything. Numbers are decimals, as they were typed: a double has no 0.1."""
from __future__ import annotations

import bisect
import decimal
import difflib
import io
import json
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from starling.connection import NAME_BYTES_MAX
from starling.group import Error, Refused
from starling.stats.csv import Columns, Numbers
from starling.stats.sums import NEW_RUN, InputError, Member

KINDS = ("mean", "sum", "count", "histogram")
DECIMALS_MOST = 12  # of a number
DIGITS = 15  # that a double keeps of a total
EXACT_END = 1 << 51  # digits below this survive as a double, also after the two roundings of a mean and its product
MEAN_DECIMALS = 2  # of a mean, beyond those that were typed
INTEGER_END = float(1 << 53)  # of integers of an array
ELEMENTS_MOST, DIMENSIONS_MOST = 1 << 30, 8  # of a model
WIDE = decimal.Context(prec=60)  # no sum of exact numbers has more digits
EXACT = decimal.Context(prec=DIGITS)


def exact(digits: str) -> Decimal:
    """Return the number. InputError: it has more digits than are exact."""
    try:
        value = Decimal(digits)
        small = value.is_finite() and value.adjusted() < DIGITS + 1
    except decimal.InvalidOperation:  # of the exponent
        small = False
    if not small or _decimals(value) > DECIMALS_MOST or not _fits(value):
        raise InputError(f"{digits!r} has too many digits: at most {DECIMALS_MOST} decimals and {DIGITS} digits are exact")
    return value


def _decimals(value: Decimal) -> int:
    return max(0, -int(value.as_tuple().exponent))


def _fits(value: Decimal) -> bool:
    return abs(value.scaleb(_decimals(value), WIDE)) < EXACT_END


def _text(value: Decimal) -> str:
    return f"{value:f}"


# ---- the question ----

class Question:
    """The question as the options say. InputError: categories or bins that cannot be used.

    names: of the cells, each that of a tensor; labels: a category, or the lower edge of a bin, "" of the first one."""

    def __init__(self, kind: str, column: str | None = None, categories: str | None = None, bins: str | None = None) -> None:
        self.kind, self.column = kind, column
        self.edges: list[Decimal] = []  # of the bins
        if kind == "count":
            self.labels = self._categories(categories or "")
            self.names = [self._name(("=" if column is not None else "") + word) for word in self.labels]
        elif kind == "histogram":
            edges = self._bins(bins or "")
            self.labels = ["", *edges]
            self.names = [self._name(f"<{edges[0]}"), *(self._name(f"[{low},{high})") for low, high in zip(edges, edges[1:])),
                          self._name(f">={edges[-1]}")]
        else:
            self.labels, self.names = ["", ""], [self._name(""), "rows"]

    @property
    def is_number(self) -> bool:
        """The result is one number: of mean and sum."""
        return self.kind in ("mean", "sum")

    def _name(self, rest: str) -> str:
        name = self.kind + (":" if self.column or rest else "") + (self.column or "") + rest
        if len(name.encode(errors="surrogateescape")) > NAME_BYTES_MAX:
            raise InputError(f"{name}: a name has at most {NAME_BYTES_MAX} bytes: shorten it")
        return name

    def _categories(self, text: str) -> list[str]:
        words = text.split(",")
        for place, word in enumerate(words):
            if word in words[:place]:
                raise InputError(f"--categories: {word!r} is there twice")
            if not word:
                raise InputError("--categories: an empty word; write yes,no,abstain")
        if len(words) < 2:
            raise InputError("--categories: at least two, such as yes,no")
        return words

    def _bins(self, text: str) -> list[str]:
        """Return the edges as text, without zeros at their end."""
        for word in text.split(","):
            plain = Numbers(thousands="").plain(word)
            if plain is None:
                raise InputError(f"--bins: {word!r} is not a number; write 0,10,20")
            self.edges.append(exact(plain).normalize() + 0)  # + 0: no -0
            if len(self.edges) > 1 and self.edges[-1] <= self.edges[-2]:
                raise InputError(f"--bins: {word} does not follow {_text(self.edges[-2])}: edges rise")
        if len(self.edges) < 2:
            raise InputError("--bins: at least two edges, such as 0,10,20")
        return [_text(edge) for edge in self.edges]


# ---- what one learner gives ----

class Own:
    """The numbers of one learner: the values of the cells, or an array.

    decimals: the most of a value; skipped: rows of files without one. The functions that add raise InputError."""

    def __init__(self, question: Question) -> None:
        self.question, self.values = question, [Decimal(0) for _ in question.names]
        self.decimals = self.skipped = 0
        self.array: np.ndarray | None = None

    def add_typed(self, word: str, numbers: Numbers) -> None:
        """Add a value as it was typed."""
        if self.array is not None:
            raise InputError(f"{word!r} and --npy: a learner gives numbers or one array")
        if self.question.kind == "count":
            self._count(word)
            return
        plain = numbers.plain(word)
        if plain is None:
            hint = ": decimals follow a point, unless --decimal , is given" if "," in word else ""
            raise InputError(f"{word!r} is not a number{hint}")
        self._add(exact(plain))
        self._check_sum()

    def add_file(self, data: Columns) -> None:
        """Add the rows of the column that the question names."""
        column = self.question.column
        if column is None:
            raise InputError(f"--csv {data.source}: name the column with --column NAME")
        if self.array is not None:
            raise InputError(f"--csv {data.source} and --npy: a learner gives numbers or one array")
        words: Sequence[Any] = data.words(column, self.question.labels) if self.question.kind == "count" else data.digits(column)
        for row, word in enumerate(words):
            try:
                if word is None:
                    self.skipped += 1
                elif self.question.kind == "count":
                    self._count(word)
                else:
                    self._add(exact(word))
            except InputError as wrong:
                raise InputError(f"{data.at(row)}, column {column}: {wrong}") from None
        self._check_sum()

    def add_array(self, path: str) -> None:
        """Take the array of an .npy file."""
        if self.array is not None or self.values[-1] > 0:
            raise InputError(f"--npy {path}: a learner gives numbers or one array")
        self.array = read_array(path)

    def _count(self, word: str) -> None:
        labels = self.question.labels
        if word not in labels:
            near = difflib.get_close_matches(word, labels, 1)
            raise InputError(f"{word!r} is none of the categories {','.join(labels)}" + (f"; did you mean {near[0]!r}?" if near else ""))
        self.values[labels.index(word)] += 1

    def _add(self, value: Decimal) -> None:
        if self.question.kind == "histogram":  # values outside the bins have cells of their own; one on an edge is in the upper bin
            self.values[bisect.bisect_right(self.question.edges, value)] += 1
            return
        self.decimals = max(self.decimals, _decimals(value))
        self.values = [WIDE.add(self.values[0], value), self.values[1] + 1]

    def _check_sum(self) -> None:
        if not _fits(self.values[0]):
            raise InputError("the sum has more than 15 digits: use a larger unit")

    @property
    def form(self) -> str:
        return "no array" if self.array is None else f"an array of shape [{','.join(map(str, self.array.shape))}]"

    @property
    def model(self) -> dict[str, np.ndarray]:
        """The tensors of this learner, by name."""
        if self.array is not None:
            return {self.question.names[0]: self.array}
        return {name: np.array(float(value)) for name, value in zip(self.question.names, self.values)}

    def __str__(self) -> str:
        return ", ".join([f"{self.question.names[0]} {self.form}"] if self.array is not None else
                         [f"{name} {_text(value)}" for name, value in zip(self.question.names, self.values)])


def read_array(path: str) -> np.ndarray:
    """Return the array of an .npy file as float64. InputError: it cannot be used."""
    try:
        with open(path, "rb") as opened:
            file = io.BytesIO(opened.read())
    except OSError as flaw:
        raise InputError(f"{path}: {flaw.strerror}") from None
    try:
        array = np.lib.format.read_array(file, allow_pickle=False)
    except Exception as flaw:  # numpy evaluates the header, which may raise anything
        raise InputError(f"{path}: not an .npy file, or a damaged one: {str(flaw).splitlines()[0] if str(flaw) else type(flaw).__name__}"
                         ) from None
    if file.read(1):
        raise InputError(f"{path}: longer than its header says")
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise InputError(f"{path}: an array of {array.dtype}; give one of float32, float64 or integers")
    if not 0 < array.size <= ELEMENTS_MOST or array.ndim > DIMENSIONS_MOST:
        raise InputError(f"{path}: an empty or too large shape")
    values = np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)  # of a single number it makes shape [1]
    if not np.isfinite(values).all():
        raise InputError(f"{path}: an element is not a finite number")
    if array.dtype.kind != "f" and (np.abs(values) >= INTEGER_END).any():
        raise InputError(f"{path}: an integer is beyond 2^53")
    return values


# ---- the answer ----

class Asking(Member):
    """The group of a learner that gives its numbers once."""

    same = ("all learners must ask the same question: the same command, --column, categories, bins and shape of an array; agree on it, "
            "and")

    def __init__(self, path: str, own: Own, told: Callable[[str], None]) -> None:
        super().__init__(path, values="model")
        self._own, self.told = own, told

    def _join(self) -> None:
        super()._join()
        self._check_settings()  # before anything is shared

    def _check_settings(self) -> None:
        """Raise InputError if the settings of the learners do not keep all digits."""
        own = self._own
        if self.dp is not None:
            raise InputError(f"this learner adds noise (dp: {self.dp.unit}), and an exact total was asked for. Nothing was shared. Ask with --epsilon and "
                             "--delta, for mean and sum also --range, at all learners")
        largest = max(float(np.abs(value).max()) for value in own.model.values())
        if self.decimals is not None and own.decimals > self.decimals:
            raise InputError(f"a value has {own.decimals} decimals, and the learners keep {self.decimals}: set decimals: {own.decimals} at "
                             "all of them")
        if self.clipping_range and largest > self.clipping_range:
            raise InputError(f"{largest:.15g} is beyond clipping_range {self.clipping_range:g} of the learners: set clipping_range: "
                             f"{10.0 ** math.ceil(math.log10(largest)):g} at all of them")

    def ask(self) -> dict[str, np.ndarray]:
        """Give the numbers, and return the mean of all learners: the one of an earlier call that was interrupted, if no round is
        left."""
        self._declare(self._own.model)
        rounds = iter(self)
        t = next(rounds, None)
        if t is None and self.committed == 0:
            raise Error(f"the run is over: all of its {self.rounds} rounds are committed; start the learners with more rounds, or with "
                        "another run")
        mean = self.model  # of an earlier call; without this, `mean` would return it
        while t is not None and self.committed < t:
            if self.again and not self.repeatable:  # the same numbers beside those of other learners would tell one learner's
                raise Error(f"round {t} failed after deposit keys were sent; the same answer again could reveal it: set "
                            "membership_change: wait or cohort at this learner and ask again, or start a new run (setting run)")
            mean = self.mean(self._own.model)
            if self.committed < t:
                next(rounds)
        self._check_settings()  # those that are agreed in the round
        self.check_participants()
        return mean

    def total(self, name: str, mean: float, decimals: int) -> Decimal:
        """Return the total of a cell, with the decimals that the learners keep; of exact values, with as many as make 15 digits, at
        least `decimals`."""
        value = Fraction(mean) * self.total_weight
        if self.decimals is not None:
            decimals = self.decimals
        else:
            while decimals < DECIMALS_MOST and abs(value) * 10 ** (decimals + 1) < 10**DIGITS:
                decimals += 1
        digits = round(value * 10**decimals)
        if abs(digits) >= 10**DIGITS:
            raise InputError(f"{name}: the total has more than {DIGITS} digits, which is not exact: use a larger unit")
        return Decimal(digits).scaleb(-decimals)

    def total_of_element(self, mean: float) -> float:
        """Return the total of an element of an array: of exact values, rounded to as many digits as its mean has."""
        if self.decimals is not None:
            unit = 10**self.decimals
            return float(Fraction(round(Fraction(mean) * self.total_weight * unit), unit))
        return float(EXACT.multiply(Decimal(mean), Decimal(self.total_weight)))


class Answer:
    """The exact total of a round. totals: of the cells; array: the mean or the sum of arrays."""

    def __init__(self, group: Asking, own: Own) -> None:
        mean, question = group.ask(), own.question
        self.question, self.decimals = question, own.decimals
        self.round, self.learners = group.committed, group.participants
        self.totals: list[Decimal] = []
        self.array: np.ndarray | None = None
        if own.array is None:
            self.totals = [group.total(name, float(mean[name]), own.decimals if place == 0 else 0)
                           for place, name in enumerate(question.names)]
        else:
            self.array = mean[question.names[0]]
            if question.kind == "sum":
                self.array = np.array([group.total_of_element(value) for value in self.array.ravel().tolist()]).reshape(self.array.shape)

    @property
    def rows(self) -> int:
        return int(sum(self.totals[1:] if self.question.is_number else self.totals))

    @property
    def sum(self) -> Decimal:
        """The sum without zeros at its end, but with the decimals that were typed."""
        total = self.totals[0]
        kept = max(self.decimals, _decimals(total.normalize()))
        return total.quantize(Decimal(1).scaleb(-kept), context=WIDE)

    @property
    def mean(self) -> Decimal:
        """The mean of the rows, with two decimals more than the sum, halves rounded away from 0."""
        if self.rows == 0:
            raise Error("no learner has a row: there is no mean")
        decimals = _decimals(self.sum) + MEAN_DECIMALS
        scaled = abs(Fraction(self.sum)) / self.rows * 10**decimals
        digits = math.floor(scaled + Fraction(1, 2))
        return Decimal(digits if self.sum >= 0 else -digits).scaleb(-decimals)

    def ranges(self) -> list[tuple[str, str | None, str | None]]:
        """Return of each bin how it is printed, and its edges; None: it has no edge there."""
        edges = self.question.labels[1:]
        inner = [(f"[{low}, {high})", low, high) for low, high in zip(edges, edges[1:])]
        return [(f"< {edges[0]}", None, edges[0]), *inner, (f">= {edges[-1]}", edges[-1], None)]

    def __str__(self) -> str:
        counts = [int(total) for total in self.totals]
        if self.array is not None:
            return "\n".join(f"{value:.15g}" for value in self.array.ravel().tolist())
        if self.question.kind == "count":
            width = max(map(len, self.question.labels))
            return "\n".join(f"{label:<{width}} {count}" for label, count in zip(self.question.labels, counts))
        if self.question.kind == "histogram":
            return "\n".join(f"{text:<16} {count}" for (text, _, _), count in zip(self.ranges(), counts))
        return _text(self.mean if self.question.kind == "mean" else self.sum)

    @property
    def notes(self) -> str:
        rows = "" if self.array is not None else f", {self.rows} row{'' if self.rows == 1 else 's'}"
        return f"{self.learners} learners{rows}"

    def json(self) -> str:
        """Return everything as one line of JSON, with numbers of all their digits."""
        word = lambda text: json.dumps(text, ensure_ascii=False)  # noqa: E731
        counts = [int(total) for total in self.totals]
        parts = [f'"question": {word(self.question.kind)}', f'"column": {word(self.question.column)}']
        if self.array is not None:
            parts.append(f'"elements": {self.array.size}')
        elif self.question.kind == "count":
            parts.append('"counts": {' + ", ".join(f"{word(label)}: {count}" for label, count in zip(self.question.labels, counts)) + "}")
        elif self.question.kind == "histogram":
            bins = [f'{{"from": {low or "null"}, "to": {high or "null"}, "count": {count}}}'
                    for (_, low, high), count in zip(self.ranges(), counts)]
            parts.append(f'"bins": [{", ".join(bins)}]')
        else:
            parts += [f'"mean": {_text(self.mean)}'] * (self.question.kind == "mean") + [f'"sum": {_text(self.sum)}']
        parts += [f'"rows": {self.rows}'] * (self.array is None) + [f'"learners": {self.learners}', f'"round": {self.round}']
        return "{" + ", ".join(parts) + "}"


def ask(own: Own, path: str, told: Callable[[str], None]) -> Answer:
    """Give the numbers of this learner on its socket `path`, and wait for the total of all. `told`: see Member.

    Error: the round failed, the run is over, or the learners ask different questions. InputError: their settings do not keep all
    digits."""
    try:
        with Asking(path, own, told) as group:
            return Answer(group, own)
    except (Error, Refused) as flaw:
        if "this run" not in str(flaw) or NEW_RUN in str(flaw):
            raise
        raise Error(f"{flaw}: a run answers one question: for another one, {NEW_RUN}") from None
