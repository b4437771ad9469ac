"""Checkpoints of a learner: safetensors files, read with the standard library and numpy."""
from __future__ import annotations

import hashlib
import json
import os
from typing import Any

import numpy as np

from starling import tree

_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1", "BOOL": "?"}
_FORMAT = "starling-2"
METRIC = "metric:"  # begins the names of averaged metrics, which are no part of the model


class Checkpoint(dict[str, np.ndarray]):
    """Arrays by the names of their tensors, in the order of the file.

    metadata: texts by name, such as run, round, learners (number of participants) and total_weight."""

    metadata: dict[str, str]


def _tensor(name: str, described: dict[str, Any], data: np.ndarray) -> np.ndarray:
    kind = _DTYPES.get(described["dtype"])
    if kind is None:
        raise ValueError(f"tensor {name} has the dtype {described['dtype']}, which numpy does not have")
    begin, end = described["data_offsets"]
    if not 0 <= begin <= end <= data.size:
        raise ValueError(f"tensor {name} lies outside the file")
    return data[begin:end].view(kind).reshape(described["shape"])


def _as(like: Any, path: str | os.PathLike[str], found: Checkpoint) -> Any:
    template, _ = tree.take_apart(like)
    shapes, of_file = {tensor.name: tensor.shape for tensor in template.tensors}, {name: array.shape for name, array in found.items()}
    for name in [*shapes, *(name for name in found if name not in template.ties and not name.startswith(METRIC))]:
        there, asked = (list(part[name]) if name in part else "none" for part in (of_file, shapes))
        if there != asked:
            raise ValueError(f"{os.fspath(path)} has another model than `like`: {name} has the shape {there}, in `like` {asked}")
    return template.build(found)


def _checksum(made: Checkpoint, data: np.ndarray) -> str:
    """The hash of the strands (proto/LINKS.md 6.14) of the data and the exponents of the ranges."""
    exponents = np.array(json.loads(made.metadata.get("ranges", "[]")), "<i2")
    everything = np.concatenate((data, exponents.view(np.uint8)))
    words = np.pad(everything, (0, -everything.size % 64)).view("<u8").reshape(-1, 8)
    strands = (hashlib.blake2b(np.ascontiguousarray(words[:, k]), digest_size=32).digest() for k in range(8))
    return hashlib.blake2b(b"".join(strands), digest_size=32).hexdigest()


def load(path: str | os.PathLike[str], like: Any = None) -> Any:
    """Read the checkpoint `path`, such as state/checkpoints/latest.safetensors, or another safetensors file.

    Returns a Checkpoint: the tensors by name, without the integers of a model, which are not averaged. With `like`, a model
    of the structure that was given to `join`, the result is such a model, with the integers of `like`:

        net.load_state_dict(starling.load(path, like=net))

    ValueError: the file is damaged, or has other tensors than `like`; the text names it and the flaw."""
    found = _read(path)
    return found if like is None else _as(like, path, found)


def _read(path: str | os.PathLike[str]) -> Checkpoint:
    data = np.fromfile(path, dtype=np.uint8)
    try:
        size = int.from_bytes(data[:8].tobytes(), "little")
        if data.size < 8 or size > data.size - 8:
            raise ValueError("the header is incomplete")
        header, data = json.loads(data[8:8 + size].tobytes()), data[8 + size:]
        made = Checkpoint()
        made.metadata = header.pop("__metadata__", {})
        for name, described in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
            made[name] = _tensor(name, described, data)
        damaged = made.metadata.get("format") == _FORMAT and made.metadata.get("checksum") != _checksum(made, data)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as flaw:
        raise ValueError(f"{os.fspath(path)} is not a readable safetensors file: {flaw}") from flaw
    if damaged:
        raise ValueError(f"{os.fspath(path)} is damaged: its data do not have the checksum of its header")
    return made
