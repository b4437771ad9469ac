"""Differential privacy of records: sums of clipped records, and the steps of DP-SGD.

    import starling

    model = {"w": np.zeros(30), "b": np.zeros(())}       # float64
    with starling.join(model) as group:
        for _ in group:
            rows = starling.dp.sample(len(x), group.dp.sampling)
            total = starling.dp.clipped_sum(gradients(model, x[rows], y[rows]), C)
            model = group.mean(starling.dp.descend(group, model, total))

The setting is `dp: record`. Each record may change what the program hands over by a vector of norm `group.dp.clip` at most, over all
tensors together. Nothing but the program can see to that; these functions do. Noise is added to the sum of all learners, so that the mean hides
each record: starling-dp(7). `dp: learner` needs no function of this module: the learner scales the change of its model down.

The mean divides by the number of learners that contribute, not by that of the records. So `descend` is a step with the learning rate

    group.dp.clip / C * (records that a learner takes in a round)

on the mean gradient. It is chosen before the run, by the setting dp_clip = rate * C / records, with the number of records that a learner takes on
average: dp_sampling times its records.
"""
from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from starling import leaves, tree

if TYPE_CHECKING:
    from starling.group import Group

# Clipped values are multiples of 2^-GRID_BITS C, the same for all data, so that sums of up to 2^21 records are exact in a double:
# otherwise the sum would round differently without a record. They are rounded towards 0, which raises no norm.
GRID_BITS = 32
SHORTER = 1 - 2.0**-40  # of clipped records: for the rounding of their norms
# Of the scaled sum: for the rounding of a float64 model plus a sum to a float64, whose norm is that of the model times 2^-51 at most.
MARGIN = 1 - 2.0**-20
MODEL_MOST = 2.0**30  # norm of a model, in clips
ELEMENTS = 1 << 22  # that are clipped at a time
RECORDS = 256  # whose gradients are computed at a time


@dataclass(frozen=True)
class Privacy:
    """The terms of differential privacy of a run, as its settings state them.

    unit: "record" or "learner": what is hidden. clip: the largest norm of what it adds. noise: standard deviation of the noise in each
    coordinate of the sum, divided by clip, without the shares of learners that may collude. sampling: probability with which a record is
    taken in a round. delta, epsilon: the budget; epsilon None: none."""

    unit: str
    clip: float
    noise: float
    sampling: float = 1.0
    delta: float = 0.0
    epsilon: float | None = None


@dataclass(frozen=True, eq=False)
class Clip:
    """One norm C for all arrays of a record's vector."""

    C: float


class Clipped(np.ndarray):
    """An array of a clipped sum. What is computed from it has no clip, unless it is changed in place."""

    clipped_to: Clip | None = None


def _marked(total: Any, C: float) -> Any:
    """Return the sum with arrays that carry its norm."""
    clip, (named, build) = Clip(C), _flatten(total)
    marked = [array.view(Clipped) for _, array in named]
    for array in marked:
        array.clipped_to = clip
    return build(iter(marked))


def _norm(named: list[tuple[str, Any]], C: float | None) -> float | None:
    """Return the norm that records were clipped to, by the arrays of their sum or by `C`; None: not known."""
    clips = {getattr(array, "clipped_to", None) for _, array in named}
    if len(clips) > 1:
        raise ValueError("the arrays are not all of one call of clipped_sum: clip all of a record together, since the norm is that of all its parts")
    clip = clips.pop() if clips else None
    if clip is not None and C is not None and C != clip.C:
        raise ValueError(f"C is {C:g}, and the sum is of records that were clipped to {clip.C:g}: leave C out")
    return C if clip is None else clip.C


def _phi(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def epsilon(noise: float, delta: float, rounds: int = 1) -> float:
    """Return the epsilon that so many rounds spend at `delta`, without sampling; infinite without noise. noise: as in Privacy.

    It is that of Gaussian noise (Dong, Roth, Su, 1905.02383, corollary 2.13). group.spent is what the learner has spent: with its sampling, and a
    little more for noise of integers."""
    if not noise > 0:
        return math.inf
    mu = math.sqrt(rounds) / noise

    def spends(epsilon: float) -> float:
        return _phi(mu / 2 - epsilon / mu) - math.exp(min(epsilon, 700.0)) * _phi(-mu / 2 - epsilon / mu)

    low, high = 0.0, 1.0
    while spends(high) > delta and high < 700:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if spends(middle) > delta else (low, middle)
    return high if high < 700 else math.inf


# ---- trees of arrays ----

def _flatten(value: Any, name: str = "values") -> tuple[list[tuple[str, np.ndarray]], Callable[[Iterator[np.ndarray]], Any]]:
    """Return the arrays of a tree by name, and the function that builds the tree from as many others."""
    parts = tree.split(value) if not hasattr(type(value), "iloc") else None  # a DataFrame is one array
    if parts is None:
        kind = leaves.kind_of(value)
        if kind is None or not hasattr(value, "shape"):
            raise TypeError(f"{name} is a {type(value).__name__}: give an array of shape (records, ...), or a tree of such arrays")
        if isinstance(value, Clipped):
            return [(name, value)], next
        array = value.to_numpy() if hasattr(type(value), "iloc") else leaves.read(name, kind, value)
        return [(name, np.asarray(array))], next
    found = [_flatten(part, f"{name}.{key}") for key, part in parts[0]]
    return [pair for arrays, _ in found for pair in arrays], lambda made: parts[1]([build(made) for _, build in found])


def _clipped(arrays: list[np.ndarray], C: float, first: int) -> list[np.ndarray]:
    """Return the sums of the rows of `arrays` [records, ...], clipped; `first` is the number of the first record."""
    whole = np.concatenate([array.reshape(len(array), math.prod(array.shape[1:])).astype(np.float64) for array in arrays], axis=1)
    flawed = np.flatnonzero(~np.isfinite(whole).all(axis=1))
    if flawed.size:
        raise ValueError(f"record {first + flawed[0]} has a value that is not finite, so it cannot be clipped")
    exponent = np.frexp(np.abs(whole).max(axis=1, initial=0))[1][:, None]
    whole = np.ldexp(whole, -exponent)  # the squares of large values would be infinite
    norm, most = np.sqrt((whole**2).sum(axis=1))[:, None], np.ldexp(C * SHORTER, -exponent)
    scale = np.where(norm > most, most / np.where(norm > 0, norm, 1), 1)
    grid = 2.0 ** (math.floor(math.log2(C)) - GRID_BITS)
    total = np.trunc(np.ldexp(whole * scale, exponent) / grid).sum(axis=0) * grid
    ends = np.cumsum([math.prod(array.shape[1:]) for array in arrays])[:-1]
    return [part.reshape(array.shape[1:]) for part, array in zip(np.split(total, ends), arrays)]


def clipped_sum(per_record: Any, C: float) -> Any:
    """Return the sum of vectors, one of each record, that are scaled down to the norm C if theirs is larger.

    `per_record`: an array of shape (records, ...), or any nesting of dicts, lists, tuples and dataclasses of such arrays. A record's
    vector has its parts in all of them, and its norm is the Euclidean one over all parts. The result has the same structure, with
    float64 arrays of shape (...), which carry C to `descend`. To leave out one record changes it by a vector of norm C at most, exactly.
    ValueError: a value of a record is not finite. Such a record is not left out.

    With `values="model"` and C = group.dp.clip, this sum is what `mean` takes; else see `descend`."""
    if not (C > 0 and math.isfinite(C)):
        raise ValueError(f"the norm of a record is clipped to a number above 0, not {C}")
    named, build = _flatten(per_record)
    if not named:
        raise ValueError("there are no arrays")
    for name, array in named:
        if array.ndim == 0 or len(array) != len(named[0][1]):
            raise ValueError(f"the first axis of each array is that of the records: {name} has the shape {list(array.shape)}, "
                             f"{named[0][0]} {list(named[0][1].shape)}")
    arrays = [array for _, array in named]
    size = max(1, ELEMENTS // max(1, sum(math.prod(array.shape[1:]) for array in arrays)))
    sums = [np.zeros(array.shape[1:]) for array in arrays]
    for begin in range(0, len(arrays[0]), size):
        for total, part in zip(sums, _clipped([array[begin:begin + size] for array in arrays], C, begin)):
            total += part
    return _marked(build(iter(sums)), C)


# ---- what is handed over ----

def sample(records: int, probability: float, random: np.random.Generator | None = None) -> np.ndarray:
    """Return the numbers, from 0, of the records of this round: each is taken with this probability, by itself (Poisson sampling).

    There may be none; then hand over their sum, 0. The setting dp_sampling stands for this way to choose, not for batches of a shuffled order.
    Do not tell others which records are drawn, nor how many."""
    if not 0 < probability <= 1:
        raise ValueError(f"a probability is above 0 and at most 1, not {probability}")
    return np.flatnonzero((random or np.random.default_rng()).random(records) < probability)


def descend(group: Group, model: Any, total: Any, C: float | None = None) -> Any:
    """Return `model` minus a scaled `total`, for `group.mean`: a step of gradient descent (values: update).

    `model` is the one of `join`, or the last mean: the learner takes its difference to that. `total`: the clipped sum of gradients, as
    `clipped_sum` or `gradients` return it; it has arrays for all tensors of the model, or some. It is scaled by group.dp.clip / C, so that a
    record adds the norm group.dp.clip at most. The sum carries its C; give it for arrays that are computed otherwise, or from the sum. See the
    text of this module for the learning rate.

    The tensors are float64 at `join`: float32 would round the model plus the sum, which adds to the norm. Between learners they cost the same.
    ValueError: no `dp: record`, another model, or one of float32; no C, or another one than that of the sum."""
    if group.dp is None or group.dp.unit != "record":
        raise ValueError("descend is for the setting dp: record" + (", and this learner adds no noise" if group.dp is None else
                         "; with dp: learner, give mean the trained model: its learner scales the change down"))
    template, arrays = tree.take_apart(model)
    named = _flatten(total)[0]
    C = _norm(named, C)
    if C is None:
        raise ValueError("C, the norm that records were clipped to, is not known: hand over what clipped_sum or gradients return, or give C")
    steps = {name.removeprefix("values."): np.asarray(array) for name, array in named}
    if set(steps) == {"values"}:
        steps = {"model": steps["values"]}
    for name, step in steps.items():
        if name not in arrays or arrays[name].shape != step.shape:
            raise ValueError(f"the sum has {name} of shape {list(step.shape)}, which the model has not")
        if arrays[name].dtype != np.float64 or not group.is_wide(name):
            raise ValueError(f"{name} is of float32: join with a model of float64, such as starling.dp.double(net)")
    if not group.is_base(arrays):
        raise ValueError("the model is neither that of join nor the last mean: its other values would be added without a clip")
    clip = group.dp.clip
    if math.sqrt(sum(float((array.astype(np.float64) ** 2).sum()) for array in arrays.values())) > MODEL_MOST * clip:
        raise ValueError(f"the values of the model are too large beside dp_clip, {clip:g}: scale the model, or raise dp_clip")
    return template.build({name: array - steps[name] * (clip / C * MARGIN) if name in steps else array for name, array in arrays.items()})


# ---- torch ----

def double(net: Any) -> dict[str, Any]:
    """Return the parameters of a torch module that are trained, by name, in float64: the model for `join` and `descend`.

    `net.load_state_dict(model, strict=False)` takes a mean back, and narrows it."""
    return {name: parameter.detach().double() for name, parameter in net.named_parameters() if parameter.requires_grad}


def _vectorized(net: Any, loss: Any, parameters: dict[str, Any], x: Any, y: Any) -> dict[str, Any]:
    from torch.func import functional_call, grad, vmap

    def of_one(values: dict[str, Any], inputs: Any, target: Any) -> Any:
        return loss(functional_call(net, values, (inputs[None],)), target[None])

    values = {name: parameter.detach() for name, parameter in parameters.items()}
    return vmap(grad(of_one), in_dims=(None, 0, 0), randomness="different")(values, x, y)


def _one_by_one(net: Any, loss: Any, parameters: dict[str, Any], x: Any, y: Any) -> dict[str, Any]:
    import torch

    found = [torch.autograd.grad(loss(net(x[place:place + 1]), y[place:place + 1]), list(parameters.values()), allow_unused=True)
             for place in range(len(x))]
    return {name: torch.stack([torch.zeros_like(parameter) if row[place] is None else row[place].detach() for row in found])
            for place, (name, parameter) in enumerate(parameters.items())}


def gradients(net: Any, loss: Callable[[Any, Any], Any], x: Any, y: Any, C: float) -> dict[str, np.ndarray]:
    """Return the sum of the clipped gradients of `loss(net(x), y)`, one of each record of x and y, by the names of the parameters
    that are trained.

    `net` is a torch module, `loss` a function of outputs and targets of a batch, of one record here. x and y have the records on their
    first axis; there may be none. The gradients are computed for many records at a time where torch can (torch.func), else one by one.
    ValueError: batch normalization, by which records change each other's gradients, or a gradient that is not finite."""
    import torch

    mixing = [type(module).__name__ for module in net.modules() if "BatchNorm" in type(module).__name__]
    if mixing:
        raise ValueError(f"{mixing[0]} mixes the records of a batch, so no record can be clipped: use GroupNorm")
    parameters = {name: parameter for name, parameter in net.named_parameters() if parameter.requires_grad}
    total = {name: np.zeros(tuple(parameter.shape)) for name, parameter in parameters.items()}
    compute = _vectorized if hasattr(torch, "func") else _one_by_one
    for begin in range(0, len(x), RECORDS):
        part = parameters, x[begin:begin + RECORDS], y[begin:begin + RECORDS]
        try:
            found = compute(net, loss, *part)
        except RuntimeError as flaw:
            if compute is _one_by_one:
                raise
            warnings.warn(f"gradients are computed one by one: {str(flaw).splitlines()[0] if str(flaw) else type(flaw).__name__}", stacklevel=2)
            compute = _one_by_one
            found = compute(net, loss, *part)
        for name, step in clipped_sum(found, C).items():
            total[name] += np.asarray(step)
    return _marked(total, C)


# ---- programs that cannot clip ----

def refuse_record(group: Group, what: str) -> None:
    """Raise ValueError with `dp: record`, now or at join: `what` does not clip records, and the noise would hide nothing."""
    group.refuse("record", f"dp: record needs a program that clips each record, and {what} does not: write one with starling.dp, or set "
                 "dp: learner")


def refuse(group: Group, what: str) -> None:
    """Raise ValueError with any dp, now or at join."""
    refuse_record(group, what)
    group.refuse("learner", f"{what} needs exact means, and this learner adds noise (dp: learner)")
