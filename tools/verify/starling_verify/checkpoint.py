"""Read checkpoints and dumped models. What is checked is not read by the code that wrote it."""
from __future__ import annotations

import json
import mmap
import os
import struct
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

DTYPES = {"F32": np.dtype("<f4"), "F64": np.dtype("<f8"), "I64": np.dtype("<i8")}
METRIC = "metric:"


class CheckError(Exception):
    """Why the mean of a round is not shown to be exact. missing: no learner has the model, or a dumped model is not there."""

    def __init__(self, text: str, missing: bool = False) -> None:
        super().__init__(text)
        self.missing = missing


@dataclass
class Tensor:
    """A tensor in the data of a checkpoint."""
    begin: int  # bytes before it
    count: int  # elements
    dtype: np.dtype
    nonnegative: bool = False
    metric: bool = False  # a number that is averaged beside the model
    first: int = 0  # elements before it
    exponent: int = 0  # of its range; 0: the file has none

    @property
    def bytes(self) -> int:
        return self.count * self.dtype.itemsize

    @property
    def is_integer(self) -> bool:
        return self.dtype.kind == "i"


def read_bytes(path: str) -> Any:
    """Return the bytes of a file, without a copy."""
    try:
        with open(path, "rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if os.fstat(file.fileno()).st_size > 0 else b""
    except OSError as error:
        raise CheckError(f"{path}: {error.strerror}", isinstance(error, FileNotFoundError)) from None


def _unique(pairs: list) -> dict:
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)


def _tensor(name: str, entry: dict, nonnegative: list) -> Tensor:
    begin, end = entry["data_offsets"]
    count = 1
    for side in entry["shape"]:
        if type(side) is not int or side < 0:
            raise ValueError
        count *= side
    tensor = Tensor(begin, count, DTYPES[entry["dtype"]], name in nonnegative, name.startswith(METRIC))
    if type(begin) is not int or begin < 0 or end != begin + tensor.bytes:
        raise ValueError
    return tensor


class Checkpoint:
    """A safetensors file whose tensors are float32, float64 or int64 and fill it."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self.data = read_bytes(path)
        except CheckError as error:
            raise CheckError(str(error)) from None  # that it is not there is an error, too
        try:
            self._read()
        except (ValueError, KeyError, TypeError, AttributeError, struct.error, RecursionError):
            raise CheckError(f"{path}: not a checkpoint: its header and its tensors do not agree") from None

    def _read(self) -> None:
        length, = struct.unpack_from("<Q", self.data)
        if length > len(self.data) - 8:
            raise ValueError
        self.begin = 8 + length
        header = json.loads(self.data[8:self.begin], object_pairs_hook=_unique)
        metadata = header.pop("__metadata__", {})
        nonnegative = json.loads(metadata.get("nonnegative", "[]"))
        self.tensors = sorted((_tensor(name, entry, nonnegative) for name, entry in header.items()), key=lambda t: (t.begin, t.bytes))
        self.n = end = 0
        for tensor in self.tensors:
            if tensor.begin != end:
                raise ValueError
            tensor.first = self.n
            self.n += tensor.count
            end += tensor.bytes
        if end == 0 or end != len(self.data) - self.begin:
            raise ValueError
        self._read_exponents(metadata.get("ranges"))

    def _read_exponents(self, text: Optional[str]) -> None:
        self.ranged = text is not None
        exponents = json.loads(text) if text is not None else [0] * len(self.tensors)
        if len(exponents) != len(self.tensors) or not all(type(exponent) is int for exponent in exponents):
            raise ValueError
        for tensor, exponent in zip(self.tensors, exponents):
            tensor.exponent = exponent

    def block(self, tensor: Tensor, span: slice) -> np.ndarray:
        """Return elements of a tensor."""
        return np.frombuffer(self.data, tensor.dtype, span.stop - span.start,
                             self.begin + tensor.begin + span.start * tensor.dtype.itemsize)

    def is_like(self, other: Checkpoint) -> bool:
        """Return true if both have tensors of the same sizes and dtypes in the same places."""
        return len(self.tensors) == len(other.tensors) and all(
            a.bytes == b.bytes and (a.dtype == b.dtype or a.bytes == 0) for a, b in zip(self.tensors, other.tensors))


class Dump:
    """A dumped model, trained-000003.model: the weight of the learner, 8 bytes, and the elements as in a checkpoint."""

    def __init__(self, path: str, like: Checkpoint) -> None:
        self.path = path
        self.data = read_bytes(path)
        if len(self.data) != 8 + len(like.data) - like.begin:
            raise CheckError(f"{path}: not a weight and a model like the one that is committed")
        self.weight, = struct.unpack_from("<Q", self.data)

    def block(self, tensor: Tensor, span: slice) -> np.ndarray:
        """Return elements of a tensor."""
        return np.frombuffer(self.data, tensor.dtype, span.stop - span.start, 8 + tensor.begin + span.start * tensor.dtype.itemsize)
