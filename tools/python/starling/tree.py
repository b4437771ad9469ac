"""Models as nested containers of leaves, and as the bytes of one vector.

Containers are dicts, lists, tuples, dataclasses and DataFrames. An object with a method `state_dict`, such as a torch module,
counts as what that returns. Leaves are those of leaves.py. Floats of 8 bytes and more, Python's among them, are averaged as
float64; shorter ones as float32. Other leaves are not averaged, each learner keeps its own: integers and booleans, such as
the batch counters of torch, None, and the `param_groups` of a torch optimizer, which are its settings.

A vector is one array of uint8 that holds the averaged leaves without gaps: those of float64 first, so that each is
aligned, and each kind in the order of its names. Tensors of torch that are the same memory are in it once.
"""
from __future__ import annotations

import copy
import dataclasses
import math
import warnings
from collections import UserDict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from starling import leaves
from starling.connection import NAME_BYTES_MAX

# Variances and second moments of torch: an average below 0 would give NaN in a square root.
NONNEGATIVE = ("running_var", "*.running_var", "exp_avg_sq", "*.exp_avg_sq", "max_exp_avg_sq", "*.max_exp_avg_sq")

DEPTH_MOST = 100  # of containers in each other
# Settings of torch optimizers that have tensors from their first step on; 0, as of momentum, is as if it was not there.
STATEFUL = ("betas", "momentum", "rho", "alpha", "etas")

PREFIXES = {"module.": "DataParallel", "_orig_mod.": "torch.compile"}  # of names of tensors, and what adds them

Arrays = dict[str, np.ndarray]  # by the names of tensors


@dataclass(frozen=True)
class Tensor:
    """Name, shape and dtype of a leaf: "float64" or "float32" if it is averaged, else that of its integers."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.elements * np.dtype(self.dtype).itemsize

    def __str__(self) -> str:
        return f"{self.name} {self.dtype} {list(self.shape)}"


# ---- containers ----

# The parts of a container by name, and the function that joins new ones, which holds none of the old.
Split = tuple[list[tuple[str, Any]], Callable[[list[Any]], Any]]


def _emptied(value: Mapping[Any, Any]) -> Any:
    """Return a copy of a dict without its parts, but with what a subclass has besides, such as the default of a defaultdict.

    None: it can only be made anew."""
    if not isinstance(value, (dict, UserDict)):
        return None  # its copy may have the same parts
    try:
        empty = copy.copy(value)
        empty.clear()
    except Exception:  # of any subclass, such as an immutable one
        return None
    return empty


def _split_mapping(value: Mapping[Any, Any]) -> Split:
    keys, kind, empty = list(value), type(value), _emptied(value)

    def join(made: list[Any]) -> Any:
        if empty is None:
            return kind(dict(zip(keys, made)))
        whole = copy.copy(empty)
        for key, part in zip(keys, made):
            whole[key] = part
        return whole

    return [(str(key), value[key]) for key in keys], join


def _split_sequence(value: Any) -> Split:
    kind = type(value)
    return [(str(place), part) for place, part in enumerate(value)], kind._make if hasattr(kind, "_make") else kind


def _split_dataclass(value: Any) -> Split:
    names, empty = [field.name for field in dataclasses.fields(value)], copy.copy(value)

    def join(made: list[Any]) -> Any:
        whole = copy.copy(empty)
        for name, part in zip(names, made):
            object.__setattr__(whole, name, part)  # also in a frozen one
        return whole

    parts = [(name, getattr(value, name)) for name in names]
    for name in names:
        object.__setattr__(empty, name, None)
    return parts, join


def _split_frame(value: Any) -> Split:
    kind, index, columns = type(value), value.index, value.columns

    def join(made: list[Any]) -> Any:
        whole = kind(dict(enumerate(made)), index=index)
        whole.columns = columns
        return whole

    return [(str(column), value.iloc[:, place]) for place, column in enumerate(columns)], join


def split(value: Any) -> Split | None:
    """Return the parts of a container; None: `value` is none."""
    if hasattr(type(value), "iloc") and hasattr(type(value), "columns"):
        return _split_frame(value)
    if isinstance(value, Mapping):
        return _split_mapping(value)
    if isinstance(value, (list, tuple)):
        return _split_sequence(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and leaves.kind_of(value) is None:
        return _split_dataclass(value)
    return None


# ---- a model, taken apart ----

class _Walk:
    """What is found on the way through a model."""

    def __init__(self) -> None:
        self.arrays: Arrays = {}  # of the averaged leaves
        self.makes: dict[str, leaves.Make] = {}
        self.memories: dict[Hashable, list[str]] = {}  # names of the leaves that are the same memory
        self.integers: list[Tensor] = []
        self.types: list[type] = []

    def take(self, value: Any, path: tuple[str, ...] = ()) -> Callable[[dict[str, Any]], Any]:
        """Take `value` apart; return the function that builds it from new leaves by name."""
        # A dict of the kind whose keys are attributes, too, has no method of its own by that name.
        if not isinstance(value, (type, Mapping)) and callable(getattr(value, "state_dict", None)):
            value = value.state_dict()
        if len(path) > DEPTH_MOST:
            raise ValueError(f"the model has containers in each other {DEPTH_MOST} deep, at {'.'.join(path[:3])}...: one may contain itself")
        self.types.append(type(value))
        whole = split(value)
        if whole is None:
            return self._leaf(path, value)
        parts, join = whole
        settings = isinstance(value, Mapping) and "state" in value and "param_groups" in value
        groups = [group for group in value["param_groups"] if isinstance(group, Mapping)] if settings else []
        if groups and not value["state"] and any(group.get(key) for group in groups for key in STATEFUL):
            raise ValueError(f"{'.'.join((*path, 'state'))} of the optimizer is empty before its first step: set all gradients to 0 and "
                             "take a step before join, or leave the optimizer out of the model")
        builds = [(lambda made, part=part: part) if settings and key == "param_groups" else self.take(part, (*path, key))
                  for key, part in parts]
        return lambda made: join([build(made) for build in builds])

    def _leaf(self, path: tuple[str, ...], leaf: Any) -> Callable[[dict[str, Any]], Any]:
        name, kind = ".".join(path) or "model", leaves.kind_of(leaf)
        if leaf is None and not path:
            raise TypeError("the model is None: the function that trains it has to return it")
        if leaf is None:
            return lambda made: None
        if kind is None:
            remedy = "leave it out of the model" if path else "give a dict of arrays, or a torch module"
            raise TypeError(f"{name} is a {type(leaf).__name__}, which cannot be averaged: {remedy}")
        array = leaves.read(name, kind, leaf)
        if array.dtype.kind != "f":
            if array.size > 1:
                self.integers.append(Tensor(name, array.shape, str(array.dtype)))
            return lambda made: leaf
        if name in self.arrays:
            raise ValueError(f"two tensors have the name {name}")
        self.arrays[name], self.makes[name] = array, kind.make(leaf)
        self.memories.setdefault(leaves.memory(leaf) or name, []).append(name)
        return lambda made: made[name]


def _tensor(name: str, array: np.ndarray) -> Tensor:
    return Tensor(name, array.shape, "float64" if array.dtype.itemsize >= 8 else "float32")


class Template:
    """How to build a model of one structure from the values of its tensors. It holds none of the averaged values.

    tensors: those that are averaged, in the order of the vector, which is the same whatever the order of dicts.
    integers: those that are not averaged, without those of one element, such as counters.
    ties: by the name of each leaf that is the memory of a tensor: the name of the tensor.
    narrowed: the tensors of `before` that were float32 and have come as float64."""

    def __init__(self, walk: _Walk, build: Callable[[dict[str, Any]], Any], before: Template | None) -> None:
        self.integers, self._makes, self._build, self._types = walk.integers, walk.makes, build, walk.types
        self.narrowed: list[Tensor] = []
        if before is None:
            self.ties = {name: first for names in walk.memories.values() for first in [min(names)] for name in names if name != first}
            found = [_tensor(name, array) for name, array in walk.arrays.items() if name not in self.ties]
            self.tensors = sorted(found, key=lambda tensor: (tensor.dtype != "float64", tensor.name))
        else:
            self.ties, self.tensors = before.ties, before.tensors
            self._check_unchanged(walk.arrays)
            self._keep_dtypes(walk.arrays, before)

    def _keep_dtypes(self, arrays: Arrays, before: Template) -> None:
        for old in self.tensors:
            new = _tensor(old.name, arrays[old.name])
            if new != old:
                self._makes[old.name] = before._makes[old.name]
                self.narrowed += [old] if new.dtype == "float64" else []

    def _check_unchanged(self, arrays: Arrays) -> None:
        """Raise ValueError unless `arrays` have the names, shapes and ties of the tensors. The dtypes may differ."""
        for old in self.tensors:
            if old.name not in arrays:
                raise ValueError(f"the model changed: {old} is missing or has no floats any more")
            if arrays[old.name].shape != old.shape:
                raise ValueError(f"the model changed: {_tensor(old.name, arrays[old.name])}, was {old}")
        names = {tensor.name for tensor in self.tensors}
        for name, array in arrays.items():
            if name not in names and name not in self.ties:
                hint = "; an optimizer has a state from its first step on: take one before join" if ".state." in f".{name}" else ""
                raise ValueError(f"the model changed: {_tensor(name, array)} was missing or had no floats{hint}")
        for name, tied in self.ties.items():
            if name in arrays and not np.array_equal(arrays[name], arrays[tied], equal_nan=True):
                raise ValueError(f"the model changed: {name} and {tied} were the same memory and have different values now; "
                                 "if they are not tied, give join a clone of one")

    @property
    def bytes(self) -> int:
        return sum(tensor.bytes for tensor in self.tensors)

    def has_types_of(self, other: Template) -> bool:
        return self._types == other._types

    def build(self, arrays: Mapping[str, np.ndarray]) -> Any:
        """Return a model with the values of `arrays`, which are copied. Leaves that are not averaged are those of the model."""
        made = {tensor.name: self._makes[tensor.name](arrays[tensor.name]) for tensor in self.tensors}
        made.update({name: made[tied] for name, tied in self.ties.items()})
        return self._build(made)

    def check(self, arrays: Arrays) -> None:
        """Raise TypeError unless a model that is built from `arrays` has their values."""
        try:
            _, again = take_apart(self.build(arrays), self)
        except Exception as flaw:  # of any library
            raise TypeError(f"the model cannot be built from its mean: {flaw}") from flaw
        for tensor in self.tensors:
            if _tensor(tensor.name, arrays[tensor.name]) != tensor:
                continue  # its values are those of another dtype
            one, other = (part[tensor.name].astype(tensor.dtype, copy=False) for part in (arrays, again))
            if not np.array_equal(one, other, equal_nan=True):
                raise TypeError(f"the model cannot be built from its mean: {tensor.name} then has other values")


def take_apart(model: Any, before: Template | None = None) -> tuple[Template, Arrays]:
    """Return what builds `model`, and the arrays of its averaged leaves; their memory is shared with `model` where possible.

    `before`: the template of the model that it must be like, except for float dtypes, which remain those of `before`.
    TypeError: a leaf cannot be averaged. ValueError: names collide, or the model differs from `before`."""
    walk = _Walk()
    build = walk.take(model)
    return Template(walk, build, before), walk.arrays


# ---- the vector ----

def places(tensors: Sequence[Tensor], vector: np.ndarray) -> Arrays:
    """Return views of the parts of `vector`, by name."""
    views, begin = {}, 0
    dtypes = {name: np.dtype(name).newbyteorder("<") for name in ("float64", "float32")}
    for tensor in tensors:
        end = begin + tensor.bytes
        views[tensor.name] = vector[begin:end].view(dtypes[tensor.dtype]).reshape(tensor.shape)
        begin = end
    return views


def fill(vector: np.ndarray, tensors: Sequence[Tensor], arrays: Arrays) -> None:
    """Copy `arrays` into `vector`, with the dtypes of `tensors`."""
    with np.errstate(over="ignore"):  # the learner names the place of a value that is not finite
        for name, place in places(tensors, vector).items():
            place[...] = arrays[name]


def is_list_of_texts(value: Any) -> bool:
    """Return true for a list, tuple or another collection of texts that has an order."""
    return isinstance(value, Collection) and not isinstance(value, (str, bytes, Set)) and all(isinstance(text, str) for text in value)


def nonnegative(tensors: Sequence[Tensor], patterns: Sequence[str]) -> set[str]:
    """Return the names that match NONNEGATIVE or one of `patterns`, of the kind of shells: "*.var".

    Raises ValueError for a pattern without a match."""
    if not is_list_of_texts(patterns):
        example = patterns if isinstance(patterns, str) else "*.var"
        raise ValueError(f'nonnegative is a list of patterns, such as ("{example}",), not {patterns!r}')
    for pattern in patterns:
        if not any(fnmatchcase(tensor.name, pattern) for tensor in tensors):
            raise ValueError(f"nonnegative: no averaged tensor has a name like {pattern}; the first is {tensors[0].name}")
    return {tensor.name for tensor in tensors if any(fnmatchcase(tensor.name, p) for p in (*NONNEGATIVE, *patterns))}


def check_names(names: list[str]) -> None:
    """Raise ValueError for a name that the learner would refuse; warn of names that the other learners may not have."""
    for name in names:
        size = len(name.encode(errors="surrogatepass"))
        if size > NAME_BYTES_MAX:
            raise ValueError(f"the name of a tensor has at most {NAME_BYTES_MAX} bytes, not {size}: {name}")
        if any(c == "\0" or "\ud800" <= c <= "\udfff" for c in name):
            raise ValueError(f"the name of a tensor is text without NUL, not {name!r}")
    for prefix, cause in PREFIXES.items():
        if all(name.startswith(prefix) for name in names):
            warnings.warn(f"all names of tensors begin with {prefix}, which {cause} adds: learners without it have other names. "
                          f"Give the model inside, net.{prefix[:-1]}", stacklevel=5)
