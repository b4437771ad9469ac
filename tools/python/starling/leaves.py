"""Leaves of models: the arrays and numbers of any library, read as numpy arrays and made again from them.

Each row of KINDS has a test for leaves of a kind, a reader and a maker. A leaf of a library without a row of its own (JAX,
TensorFlow, MLX, CuPy) has a shape and a dtype; a function of that library, or the constructor of its type, makes it again.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator
from typing import Any, NamedTuple

import numpy as np

Make = Callable[[np.ndarray], Any]

# The module that makes arrays, by the first part of the name of the type's module, where they have no __array_namespace__.
LIBRARIES = {"jax": "jax.numpy", "jaxlib": "jax.numpy", "mlx": "mlx.core"}
# By the kind of a dtype that cannot be averaged.
REMEDIES = {"c": "pass its .real and its .imag as two tensors", "O": "make it an array of floats by .astype(float)"}
MAKERS = ("asarray", "convert_to_tensor", "array")  # the function of a library that makes an array; TensorFlow has the second


class Kind(NamedTuple):
    """A kind of leaves. `make` returns the function that makes a leaf like the given one. It must not keep the values."""

    is_of: Callable[[Any], bool]
    read: Callable[[Any], np.ndarray]
    make: Callable[[Any], Make]


def _refuse_masked(leaf: Any) -> np.ndarray:
    raise TypeError("it is a masked array, and a mask cannot be averaged: pass its .filled(0), or its .data if nothing is masked")


def _read_numpy(leaf: Any) -> np.ndarray:
    return np.asarray(leaf)


def _read_torch(leaf: Any) -> np.ndarray:
    leaf = leaf.detach().cpu()
    short = any(name in str(leaf.dtype) for name in ("bfloat16", "float8"))  # numpy does not have them
    return (leaf.float() if short else leaf).numpy()


def _make_torch(leaf: Any) -> Make:
    dtype, device = leaf.dtype, leaf.device

    def make(values: np.ndarray) -> Any:
        import torch

        return torch.from_numpy(values.copy()).to(dtype=dtype, device=device)

    return make


def _make_array(leaf: np.ndarray) -> Make:
    dtype, kind = leaf.dtype, type(leaf)
    return lambda values: values.astype(dtype).view(kind)


def _make_number(leaf: np.generic) -> Make:
    kind = leaf.dtype.type
    return lambda values: kind(values)


def _read_series(leaf: Any) -> np.ndarray:
    dtype = getattr(leaf.dtype, "numpy_dtype", None)  # of a type with pandas.NA, such as Float64
    if dtype is None:
        return np.asarray(leaf)
    if dtype.kind == "f" and leaf.isna().any():
        raise TypeError("it has missing values (pandas.NA), which cannot be averaged: fill them, or drop their rows")
    return leaf.to_numpy(dtype=dtype, na_value=0)  # 0: an integer that is missing is not averaged either


def _make_series(leaf: Any) -> Make:
    kind, dtype, index, name = type(leaf), leaf.dtype, leaf.index, leaf.name
    return lambda values: kind(values.copy(), dtype=dtype, index=index, name=name)


def _library(leaf: Any) -> Any:
    """Return the module whose functions make arrays like `leaf`."""
    if hasattr(leaf, "__array_namespace__"):
        return leaf.__array_namespace__()
    first = type(leaf).__module__.split(".")[0]
    return sys.modules.get(LIBRARIES.get(first, first))


def _read_other(leaf: Any) -> np.ndarray:
    if hasattr(leaf, "__cuda_array_interface__") and hasattr(leaf, "get"):
        return leaf.get()  # CuPy copies from its device only when told to
    if "bfloat16" in str(leaf.dtype) and hasattr(leaf, "astype"):
        leaf = leaf.astype(_library(leaf).float32)
    array = np.asarray(leaf)
    return np.from_dlpack(leaf) if array.dtype.hasobject and hasattr(leaf, "__dlpack__") else array


def _make_other(leaf: Any) -> Make:
    kind, library, dtype = type(leaf), _library(leaf), leaf.dtype
    options = [{"dtype": dtype, "device": leaf.device}] if hasattr(leaf, "device") else []

    def ways(values: np.ndarray) -> Iterator[Callable[[], Any]]:
        for name in MAKERS:
            if hasattr(library, name):
                for option in (*options, {"dtype": dtype}):
                    yield lambda name=name, option=option: getattr(library, name)(values, **option)
        yield lambda: kind(values)

    def make(values: np.ndarray) -> Any:
        flaw: Exception | None = None
        for way in ways(values.copy()):
            try:
                made = way()
            except Exception as wrong:  # of any library: the next way may do
                flaw = wrong
                continue
            if type(made) is kind:
                return made
        raise TypeError(f"nothing makes a {kind.__module__}.{kind.__qualname__} from a numpy array") from flaw

    return make


KINDS = (
    Kind(lambda leaf: isinstance(leaf, np.ma.MaskedArray), _refuse_masked, _make_array),
    Kind(lambda leaf: isinstance(leaf, np.ndarray), _read_numpy, _make_array),
    Kind(lambda leaf: isinstance(leaf, np.generic), _read_numpy, _make_number),
    Kind(lambda leaf: isinstance(leaf, (float, int)), _read_numpy, lambda leaf: float),
    Kind(lambda leaf: hasattr(leaf, "detach"), _read_torch, _make_torch),
    Kind(lambda leaf: hasattr(type(leaf), "iloc"), _read_series, _make_series),
    Kind(lambda leaf: hasattr(leaf, "shape") and hasattr(leaf, "dtype"), _read_other, _make_other),
)


def kind_of(value: Any) -> Kind | None:
    """Return the kind of `value`; None: it is no leaf that could be averaged."""
    return None if isinstance(value, type) else next((kind for kind in KINDS if kind.is_of(value)), None)


def read(name: str, kind: Kind, leaf: Any) -> np.ndarray:
    """Return the values of the leaf `name`; the memory is shared where possible. TypeError if they cannot be averaged."""
    try:
        array = kind.read(leaf)
    except Exception as flaw:  # of any library
        raise TypeError(f"{name} cannot be read: {str(flaw).splitlines()[0] if str(flaw) else type(flaw).__name__}") from None
    if array.dtype.kind == "V" and "float" in array.dtype.name:  # bfloat16 and other short floats of ml_dtypes
        array = array.astype(np.float32)
    if array.dtype.kind not in "iubf":
        remedy = REMEDIES.get(array.dtype.kind, "leave it out of the model")
        raise TypeError(f"{name} has the dtype {array.dtype}, which cannot be averaged: {remedy}")
    return array


def memory(leaf: Any) -> Hashable:
    """Return what two torch tensors have in common if they are the same memory; None for other leaves."""
    if not hasattr(leaf, "data_ptr") or leaf.numel() == 0 or leaf.data_ptr() == 0:
        return None
    return str(leaf.device), leaf.data_ptr(), tuple(leaf.shape), leaf.stride(), str(leaf.dtype)
