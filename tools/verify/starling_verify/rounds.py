"""The check of one round: the mean of the dumped models is the model in every learner's checkpoint, and the checkpoints are the same bytes."""
from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn, Optional

import numpy as np

from starling_verify import ranges
from starling_verify.checkpoint import Checkpoint, CheckError, Dump, Tensor
from starling_verify.sums import FITS, FloatSum, Sum, largest, nearest_doubles, nearest_integers
from starling_verify.values import Decimals

BLOCK = 1 << 18  # elements at a time
MODEL, UPDATE, EXACT = "model", "update", "exact"


@dataclass
class Encoding:
    """How the models of a round were encoded (ROUND.md §4.2 Encoding)."""
    values: str  # MODEL: with decimals; UPDATE: ranged; EXACT
    decimals: Optional[int]  # None: not known
    bits: int  # of the first limb of an update
    paper: bool
    clamp: bool
    clipping_range: float


@dataclass
class Request:
    """A round to check. who: ids of the learners of the view; passed: those of them that need not have the model, since they have a later one."""
    round: int
    folder: str  # of the run
    learners: int  # of the roster
    who: list
    passed: list
    encoding: Encoding
    tolerance: int

    def path(self, learner: int, file: str) -> str:
        width = max(2, len(str(self.learners)))
        return f"{self.folder}/learner-{learner:0{width}}/state/{file}"

    def checkpoint(self, learner: int, t: int) -> str:
        return self.path(learner, f"checkpoints/round-{t:06}.safetensors")

    def dump(self, learner: int) -> str:
        return self.path(learner, f"trained-{self.round:06}.model")

    def models(self) -> list:
        """Return the learners that must have the model, or have it."""
        return [i for i in self.who if i not in self.passed or os.path.exists(self.checkpoint(i, self.round))]


@dataclass
class Change:
    """The updates of a tensor."""
    largest: list  # by learner: its largest update
    most: int = 0  # the largest sum of first limbs


@dataclass
class Round:
    """The models of a round. model: the checkpoint of the first learner, with the tensors of all."""
    request: Request
    model: Checkpoint
    dumps: list
    changes: dict = field(default_factory=dict)  # of updates, by tensor

    def __post_init__(self) -> None:
        encoding = self.request.encoding
        self.values = encoding.values
        self.sizes = ranges.Sizes(self.model.tensors)
        self.weights = [1 if encoding.paper else dump.weight for dump in self.dumps]
        self.weight = sum(self.weights)
        self.divisor = 1 if encoding.paper else self.weight  # Z_n is 0
        if self.weight == 0:
            raise CheckError("the models have no mean: the total weight is 0")
        if self.values == MODEL:
            self.decimals = Decimals(encoding.decimals, len(self.dumps) if encoding.paper else 0,
                                     encoding.clipping_range if encoding.clamp else 0)
        if self.values == UPDATE:
            self._open_before()

    def _open_before(self) -> None:
        """Open the model of the round before, from which the updates of this one are; in the first round the initial one."""
        self.before = Checkpoint(self.request.checkpoint(self.request.models()[0], self.request.round - 1))
        if not self.before.is_like(self.model) or not self.before.ranged:
            raise CheckError(f"{self.before.path}: a model of another size")

    # ---- the mean of a block of a tensor ----

    def _parts(self, tensor: Tensor, span: slice) -> Iterator:
        for dump, weight in zip(self.dumps, self.weights):
            yield dump, weight, dump.block(tensor, span)

    @staticmethod
    def _refuse(wrong: np.ndarray, dump: Dump, tensor: Tensor, span: slice) -> None:
        if wrong.any():
            raise CheckError(f"{dump.path}: element {tensor.first + span.start + int(wrong.argmax())} is too large")

    def _with_decimals(self, tensor: Tensor, span: slice) -> np.ndarray:
        total = Sum(span.stop - span.start)
        for dump, weight, block in self._parts(tensor, span):
            if weight == 0:
                continue
            if tensor.is_integer:
                terms = self.decimals.of_integers(block)
            else:
                terms, wrong = self.decimals.of_floats(block)
                self._refuse(wrong, dump, tensor, span)
            total.add(terms, weight)
            if total.bound >= FITS:
                self._refuse(abs(total.values) >= FITS, dump, tensor, span)
        z = np.maximum(total.values, 0) if tensor.nonnegative else total.values
        if tensor.is_integer:
            return nearest_integers(z, self.divisor)
        if tensor.dtype.itemsize == 8:
            return nearest_doubles(z, self.decimals.scale * self.divisor)
        return z.astype(np.float64) / (float(self.decimals.scale) * float(self.divisor))

    def _exact(self, tensor: Tensor, span: slice) -> np.ndarray:
        bits, bottom = ranges.exact_bits(self.sizes, tensor)
        total = Sum(span.stop - span.start) if tensor.is_integer else FloatSum(span.stop - span.start, bits, bottom)
        for dump, weight, block in self._parts(tensor, span):
            if not tensor.is_integer:
                block = block.astype(np.float64)
                self._refuse(~(np.abs(block) < 2.0 ** (bits + bottom)), dump, tensor, span)
            total.add(block, weight)
        return nearest_integers(total.values, self.weight) if isinstance(total, Sum) else total.means(self.weight)

    def _update(self, index: int, tensor: Tensor, span: slice) -> np.ndarray:
        bits = self.request.encoding.bits
        lower = ranges.lower_bits(ranges.limbs(self.sizes, tensor), bits)
        before = self.before.tensors[index]
        step = before.exponent - bits - lower
        base = self.before.block(before, span).astype(np.float64)
        total, first = Sum(span.stop - span.start), Sum(span.stop - span.start)
        change = self.changes.setdefault(index, Change([0.0] * len(self.dumps)))
        for i, (dump, weight, block) in enumerate(self._parts(tensor, span)):
            self._refuse(~np.isfinite(block), dump, tensor, span)
            update = block.astype(np.float64) - base
            change.largest[i] = max(change.largest[i], float(np.abs(update).max()))
            edge = 2.0 ** (bits + lower)
            steps = np.clip(np.rint(np.ldexp(update, -step)), -edge, edge).astype(np.int64)
            total.add(steps, weight)
            first.add((steps + ((1 << lower) >> 1)) >> lower, weight)
        change.most = max(change.most, largest(first.values))
        mean = base + np.ldexp(total.values.astype(np.float64) / float(self.weight), step)
        return np.where(total.values == 0, base, mean)  # the sum of 0 and -0 would be 0

    def mean(self, index: int, span: slice) -> np.ndarray:
        """Return the mean of elements of a tensor, as ROUND.md §4.6 Decoding has it."""
        tensor = self.model.tensors[index]
        with np.errstate(all="ignore"):
            if self.values == MODEL:
                mean = self._with_decimals(tensor, span)
            elif self.values == EXACT or ranges.always_exact(tensor):
                mean = self._exact(tensor, span)
            else:
                mean = self._update(index, tensor, span)
            mean = mean.astype(tensor.dtype)
        if tensor.nonnegative:
            mean[mean <= 0] = 0
        return mean

    # ---- comparisons ----

    def _differs(self, path: str, tensor: Tensor, at: int, found: np.ndarray, mean: np.ndarray) -> NoReturn:
        form = "d" if tensor.is_integer else ".9g" if tensor.dtype.itemsize == 4 else ".17g"
        raise CheckError(f"{path}: parameter {tensor.first + at} is {found.item():{form}}, the exact mean is {mean.item():{form}}")

    def compare(self, checkpoint: Checkpoint) -> None:
        """Compare the elements of a checkpoint with the means."""
        for index, tensor in enumerate(checkpoint.tensors):
            for start in range(0, tensor.count, BLOCK):
                span = slice(start, min(start + BLOCK, tensor.count))
                found, mean = checkpoint.block(tensor, span), self.mean(index, span)
                bits = f"u{tensor.dtype.itemsize}"
                differs = found.view(bits) != mean.view(bits)
                if differs.any():
                    at = int(differs.argmax())
                    self._differs(checkpoint.path, tensor, start + at, found[at], mean[at])

    def _largest_value(self, tensor: Tensor) -> float:
        values = self.model.block(tensor, slice(0, tensor.count))
        return max(abs(float(values.max())), abs(float(values.min()))) if tensor.count else 0.0

    def exponents(self) -> list:
        """Return the exponents of the tensors after the round: after an exact one by the mean, after a ranged one by the updates."""
        tensors, request = self.model.tensors, self.request
        values = [0.0 if ranges.always_exact(tensor) else self._largest_value(tensor) for tensor in tensors]
        found, others = [], max(values)
        for index, tensor in enumerate(tensors):
            if ranges.always_exact(tensor):
                found.append(0)
            elif self.values == EXACT:
                found.append(ranges.first_exponent(values[index], others, ranges.limbs(self.sizes, tensor), tensor.nonnegative))
            else:
                change = self.changes.get(index, Change([0.0] * len(self.dumps)))
                before = self.before.tensors[index].exponent
                found.append(ranges.next_exponent(before, request.encoding.bits,
                                                  [ranges.magnitude(most, before) for most in change.largest],
                                                  request.tolerance + 1, change.most, self.weight))
        return found

    def compare_exponents(self) -> None:
        """Compare the exponents in the checkpoint with those that follow from the models."""
        if not self.model.ranged:
            raise CheckError(f"{self.model.path}: without ranges")
        for index, (tensor, exponent) in enumerate(zip(self.model.tensors, self.exponents())):
            if tensor.exponent != exponent:
                raise CheckError(f"{self.model.path}: the range of tensor {index} is 2^{tensor.exponent}, by the updates 2^{exponent}")

    def compare_file(self, path: str) -> None:
        """Compare whole files: nothing in a checkpoint may differ between learners."""
        other = Checkpoint(path)
        if len(other.data) == len(self.model.data) and all(
                other.data[at:at + (1 << 24)] == self.model.data[at:at + (1 << 24)] for at in range(0, len(other.data), 1 << 24)):
            return
        if other.is_like(self.model):
            self.compare(other)
        raise CheckError(f"{path}: not the same bytes as {self.model.path}")


def check(request: Request) -> None:
    """Raise CheckError, which names the file and what differs, if the mean of the round is not exact."""
    if request.encoding.values == MODEL and request.encoding.decimals is None:
        raise CheckError("not recomputed: its decimals are not known", missing=True)
    paths = [request.checkpoint(i, request.round) for i in request.models()]
    if not paths:
        raise CheckError(f"no learner has the model of round {request.round}", missing=True)
    model = Checkpoint(paths[0])
    checked = Round(request, model, [Dump(request.dump(i), model) for i in request.who])
    checked.compare(model)
    if checked.values != MODEL:
        checked.compare_exponents()
    for path in paths[1:]:
        checked.compare_file(path)
