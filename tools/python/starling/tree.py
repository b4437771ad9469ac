"""Models as nested containers of arrays, and as one flat vector of float32.

Leaves are numpy arrays, torch tensors (anything with ``detach``), and Python floats. Leaves of integers and booleans,
such as the batch counters of torch, are not averaged: each learner keeps its own.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


def _array(leaf: Any) -> np.ndarray:
    """Return the values of a leaf as an array; the memory is shared where possible."""
    if hasattr(leaf, "detach"):
        leaf = leaf.detach().cpu().numpy()
    return np.asarray(leaf)


def _sorted_items(mapping: Mapping) -> list[tuple[Any, Any]]:
    """All learners must send their tensors in one order, whatever the order of their dicts."""
    return sorted(mapping.items(), key=lambda item: str(item[0]))


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield (name, leaf), dicts in the order of their keys; names join the keys and places with dots."""
    if isinstance(value, Mapping):
        for key, part in _sorted_items(value):
            yield from _leaves(part, (*path, str(key)))
    elif isinstance(value, (list, tuple)):
        for place, part in enumerate(value):
            yield from _leaves(part, (*path, str(place)))
    else:
        yield ".".join(path) or "model", value


def _is_shared(array: np.ndarray, name: str) -> bool:
    if array.dtype.kind == "f":
        return True
    if array.dtype.kind in "iub":
        return False
    raise TypeError(f"{name} has the dtype {array.dtype}, which cannot be averaged")


@dataclass(frozen=True)
class Tensor:
    """Name and shape of a leaf that is averaged."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))


def tensors(model: Any) -> list[Tensor]:
    """Return the tensors of `model` that are averaged, in order."""
    found = []
    for name, leaf in _leaves(model):
        array = _array(leaf)
        if _is_shared(array, name):
            found.append(Tensor(name, array.shape))
    return found


def flatten(model: Any, known: list[Tensor], vector: np.ndarray) -> None:
    """Copy the floats of `model` into `vector` (float32, one dimension). Its tensors must be `known`."""
    begin = 0
    now = tensors(model)
    if now != known:
        for old, new in zip(known, now):
            if old != new:
                raise ValueError(f"the model changed: {new.name} {list(new.shape)}, was {old.name} {list(old.shape)}")
        raise ValueError(f"the model changed: {len(now)} tensors, were {len(known)}")
    for name, leaf in _leaves(model):
        array = _array(leaf)
        if _is_shared(array, name):
            vector[begin:begin + array.size].reshape(array.shape)[...] = array
            begin += array.size


def _leaf_like(leaf: Any, values: np.ndarray) -> Any:
    if hasattr(leaf, "detach"):
        import torch

        return torch.as_tensor(values.copy()).to(dtype=leaf.dtype, device=leaf.device)
    if isinstance(leaf, (np.ndarray, np.generic)):
        made = values.astype(leaf.dtype)
        return made if isinstance(leaf, np.ndarray) else made[()]
    return float(values)


def unflatten(model: Any, vector: np.ndarray) -> Any:
    """Return a copy of `model` with the floats of `vector`."""
    begin = 0

    def build(value: Any, name: str) -> Any:
        nonlocal begin
        if isinstance(value, Mapping):
            parts = {key: build(part, str(key)) for key, part in _sorted_items(value)}
            return type(value)((key, parts[key]) for key in value)
        if isinstance(value, (list, tuple)):
            made = [build(part, name) for part in value]
            if isinstance(value, list):
                return made
            return type(value)(*made) if hasattr(value, "_fields") else tuple(made)
        array = _array(value)
        if not _is_shared(array, name):
            return value
        values = vector[begin:begin + array.size].reshape(array.shape)
        begin += array.size
        return _leaf_like(value, values)

    return build(model, "model")
