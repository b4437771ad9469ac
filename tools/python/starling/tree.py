"""Models as nested containers of arrays, and as the bytes of one vector.

Leaves are numpy arrays, torch tensors (anything with ``detach``), and Python numbers. Floats of 8 bytes and more, Python's
among them, are averaged as float64; shorter ones as float32. Leaves of integers and booleans, such as the batch counters of
torch, are not averaged: each learner keeps its own.

A vector is one array of uint8 that holds the averaged leaves without gaps: those of float64 first, so that each is
aligned, and each kind in the order of its names.
"""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

# Variances and second moments of torch: an average below 0 would give NaN in a square root.
NONNEGATIVE = ("running_var", "*.running_var", "exp_avg_sq", "*.exp_avg_sq", "max_exp_avg_sq", "*.max_exp_avg_sq")


@dataclass(frozen=True)
class Tensor:
    """Name, shape and dtype of a leaf: "float64" or "float32" if it is averaged, else that of its integers."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def elements(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def bytes(self) -> int:
        return self.elements * np.dtype(self.dtype).itemsize

    def __str__(self) -> str:
        return f"{self.name} {self.dtype} {list(self.shape)}"


def _array(leaf: Any) -> np.ndarray:
    """Return the values of a leaf as an array; the memory is shared where possible."""
    if hasattr(leaf, "detach"):
        leaf = leaf.detach().cpu()
        leaf = (leaf.float() if str(leaf.dtype) == "torch.bfloat16" else leaf).numpy()
    return np.asarray(leaf)


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield (name, leaf); a name joins the keys and places on the way with dots."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(part, (*path, str(key)))
    elif isinstance(value, (list, tuple)):
        for place, part in enumerate(value):
            yield from _leaves(part, (*path, str(place)))
    else:
        yield ".".join(path) or "model", value


def _averaged(model: Any) -> dict[str, tuple[Tensor, np.ndarray]]:
    """Return the averaged leaves by name, in the order of the vector: the same whatever the order of the dicts."""
    found = {}
    for name, leaf in _leaves(model):
        array = _array(leaf)
        if array.dtype.kind in "iub":
            continue
        if array.dtype.kind != "f":
            raise TypeError(f"{name} has the dtype {array.dtype}, which cannot be averaged")
        if name in found:
            raise ValueError(f"two tensors have the name {name}")
        found[name] = Tensor(name, array.shape, "float64" if array.dtype.itemsize >= 8 else "float32"), array
    return dict(sorted(found.items(), key=lambda item: (item[1][0].dtype != "float64", item[0])))


def nonnegative(tensors: list[Tensor], patterns: Sequence[str]) -> set[str]:
    """Return the names that match NONNEGATIVE or one of `patterns`, of the kind of shells: "*.var".

    Raises ValueError for a pattern without a match."""
    if isinstance(patterns, str):
        raise ValueError(f'nonnegative is a list of patterns, such as ("{patterns}",)')
    for pattern in patterns:
        if not any(fnmatchcase(tensor.name, pattern) for tensor in tensors):
            raise ValueError(f"nonnegative: no averaged tensor has a name like {pattern}; the first is {tensors[0].name}")
    return {tensor.name for tensor in tensors if any(fnmatchcase(tensor.name, p) for p in (*NONNEGATIVE, *patterns))}


def _places(tensors: list[Tensor], vector: np.ndarray) -> dict[str, np.ndarray]:
    """Return views of the parts of `vector`, by name."""
    views, begin = {}, 0
    for tensor in tensors:
        part = vector[begin:begin + tensor.bytes]
        views[tensor.name] = part.view(np.dtype(tensor.dtype).newbyteorder("<")).reshape(tensor.shape)
        begin += tensor.bytes
    return views


def tensors(model: Any) -> list[Tensor]:
    """Return the tensors of `model` that are averaged, in the order of the vector."""
    return [tensor for tensor, _ in _averaged(model).values()]


def integers(model: Any) -> list[Tensor]:
    """Return the tensors of `model` that are not averaged, without those of one element, such as counters."""
    arrays = ((name, _array(leaf)) for name, leaf in _leaves(model))
    return [Tensor(name, array.shape, str(array.dtype)) for name, array in arrays if array.dtype.kind in "iub" and array.size > 1]


def _check_unchanged(found: dict[str, tuple[Tensor, np.ndarray]], known: list[Tensor]) -> None:
    """Raise ValueError unless `found` has the names and shapes of `known`. The dtypes, and so the order, may differ."""
    for old in known:
        if old.name not in found:
            raise ValueError(f"the model changed: {old} is missing or has no floats any more")
        new, _ = found[old.name]
        if new.shape != old.shape:
            raise ValueError(f"the model changed: {new}, was {old}")
    names = {tensor.name for tensor in known}
    for name, (new, _) in found.items():
        if name not in names:
            raise ValueError(f"the model changed: {new} was missing or had no floats")


def flatten(model: Any, known: list[Tensor], vector: np.ndarray) -> list[Tensor]:
    """Copy the averaged leaves of `model`, of the names and shapes of `known`, into `vector`, with the dtypes of `known`.

    Returns the tensors of `known` that are float32 and of which `model` has float64."""
    found = _averaged(model)
    _check_unchanged(found, known)
    for name, place in _places(known, vector).items():
        with np.errstate(over="ignore"):  # the learner names the place of a value that is not finite
            place[...] = found[name][1]
    return [old for old in known if old.dtype == "float32" and found[old.name][0].dtype == "float64"]


def _like(leaf: Any, values: np.ndarray) -> Any:
    """Return a copy of `values` of the type of `leaf`."""
    if hasattr(leaf, "detach"):
        import torch

        return torch.from_numpy(values.copy()).to(dtype=leaf.dtype, device=leaf.device)
    if isinstance(leaf, (np.ndarray, np.generic)):
        return values.astype(leaf.dtype) if isinstance(leaf, np.ndarray) else leaf.dtype.type(values)
    return float(values)


def _rebuild(value: Any, leaf: Callable[[str, Any], Any], path: tuple[str, ...] = ()) -> Any:
    """Return `value` with leaf(name, old leaf) for each leaf."""
    if isinstance(value, Mapping):
        return type(value)((key, _rebuild(part, leaf, (*path, str(key)))) for key, part in value.items())
    if isinstance(value, (list, tuple)):
        parts = [_rebuild(part, leaf, (*path, str(place))) for place, part in enumerate(value)]
        if isinstance(value, list):
            return parts
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return leaf(".".join(path) or "model", value)


def unflatten(model: Any, vector: np.ndarray) -> Any:
    """Return a copy of `model` with the values of `vector` in its averaged leaves. Other leaves are those of `model`."""
    places = _places(tensors(model), vector)
    return _rebuild(model, lambda name, leaf: _like(leaf, places[name]) if name in places else leaf)


def skeleton(model: Any, known: Collection[Tensor] = (), before: Any = None) -> Any:
    """Return `model` with zeros that need no memory in its averaged leaves: all that `unflatten` needs of it.

    `before`: a skeleton of the tensors `known`, which differ from those of `model` only in dtypes. Where they do, its leaf is
    kept."""
    averaged, same = _averaged(model), set(known)
    kept = {} if before is None else {name: leaf for name, leaf in _leaves(before)
                                      if name in averaged and averaged[name][0] not in same}

    def bare(name: str, leaf: Any) -> Any:
        if name not in averaged:
            return leaf
        if name in kept:
            return kept[name]
        if hasattr(leaf, "detach"):
            return leaf.new_zeros(()).expand(leaf.shape)
        return np.broadcast_to(np.zeros((), leaf.dtype), leaf.shape) if isinstance(leaf, np.ndarray) else leaf

    return _rebuild(model, bare)
