"""The command `starling export`: a committed model for other programs; see starling-export(1)."""
from __future__ import annotations

import argparse
import os
import re
import shutil
import struct
import sys
import zlib
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

import numpy as np

from starling.checkpoint import Checkpoint, load
from starling.stats.command import FAILED, USAGE, Parser, fail
from starling.stats.sums import InputError

ROUNDS_MAX = 1_000_000
TENSOR_BYTES = 4096  # in an .npz file, at most, beside its elements
CHECKPOINT = "RUNFOLDER|STATEFOLDER|CHECKPOINT"
END = """Of a run folder, the checkpoint of the first learner that has the round is taken: all learners have the same.

Examples:
  starling export --npz model.npz --round 7 run-20261122-015350
  starling export --safetensors m.safetensors /var/lib/starling/state
  python3 -c 'import numpy; print(numpy.load("model.npz")["weight"])'

Exit status: 0 done; 1 the file cannot be written; 2 wrong usage, or no such model.
"""


# ---- the checkpoint ----

def _rounds(folder: str) -> list[int]:
    """Return the rounds whose checkpoints are in a folder."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return [int(match[1]) for match in (re.fullmatch(r"round-([0-9]{6,})\.safetensors", name) for name in names) if match]


def _newest(folders: Iterable[str], wanted: int | None) -> str | None:
    """Return the path of the newest checkpoint, or of the wanted one; of several folders with it, in the first."""
    found = [(number, folder) for folder in folders for number in _rounds(folder) if wanted in (None, number)]
    number, folder = max(found, key=lambda item: item[0], default=(None, ""))
    return None if number is None else os.path.join(folder, f"round-{number:06}.safetensors")


def _find(path: str, wanted: int | None) -> str:
    """Return the path of the checkpoint that is meant: a file, in the folder of a learner or its state, or in one of a run folder."""
    if not os.path.isdir(path):
        return path
    learners = sorted(name for name in os.listdir(path) if name.startswith("learner-"))
    states = [os.path.join(path, name, "state", inside) for name in learners for inside in ("checkpoints", "")]
    for folders in [os.path.join(path, "checkpoints")], [path], [os.path.join(path, "state", "checkpoints")], states:
        found = _newest(folders, wanted)
        if found is not None:
            return found
    if wanted is not None:
        raise InputError(f"{path}: no checkpoint of round {wanted}: keep_checkpoints says how many are kept")
    raise InputError(f"{path}: no checkpoint here: name the folder of a run or a group, or a state folder, with a committed round")


def _read(path: str, wanted: int | None) -> Checkpoint:
    try:
        model: Checkpoint = load(path)
    except ValueError as flaw:
        raise InputError(str(flaw)) from None
    if not model or not {"run", "round", "learners", "checksum"} <= set(model.metadata):
        raise InputError(f"{path}: the metadata are not those of a checkpoint")
    if wanted is not None and model.metadata["round"] != str(wanted):
        raise InputError(f"{path}: holds round {model.metadata['round']}, not {wanted}")
    return model


# ---- writing ----

def _npy_header(array: np.ndarray) -> bytes:
    """Return what comes before the elements, which begin at a multiple of 64 bytes."""
    text = f"{{'descr': '{array.dtype.str}', 'fortran_order': False, 'shape': {array.shape}, }}"
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def _check_npz(model: Checkpoint) -> None:
    if len(model) >= 1 << 16 or sum(array.nbytes + TENSOR_BYTES for array in model.values()) >= 1 << 32:
        raise InputError("an .npz file has less than 4 GiB and 65,536 tensors, and this model has not: give --safetensors")


def _write_npz(out: BinaryIO, model: Checkpoint) -> None:
    """Write what numpy.savez writes: a zip file of .npy files, not compressed; with one date, so that equal models give equal files.
    Sizes have 32 bits, and the number of tensors has 16; see _check_npz."""
    directory, place = [], 0
    for tensor, array in model.items():
        name, header, data = f"{tensor}.npy".encode(), _npy_header(array), array.reshape(-1).view(np.uint8)
        size = len(header) + len(data)
        # Version 2.0, names in UTF-8, stored, 1980-01-01.
        common = struct.pack("<5H3I2H", 20, 0x0800, 0, 0, 0x0021, zlib.crc32(data, zlib.crc32(header)), size, size, len(name), 0)
        directory.append(b"PK\1\2" + struct.pack("<H", 20) + common + struct.pack("<3H2I", 0, 0, 0, 0, place) + name)
        for piece in b"PK\3\4", common, name, header, data:
            place += out.write(piece)
    entries = b"".join(directory)
    out.write(entries + b"PK\5\6" + struct.pack("<4H2IH", 0, 0, len(directory), len(directory), len(entries), place, 0))


def _write_file(path: str, force: bool, write: Callable[[BinaryIO], None]) -> None:
    """Write `path` completely or not at all."""
    if os.path.lexists(path) and (os.path.islink(path) or not os.path.isfile(path)):
        raise InputError(f"{path} is not a regular file: name another one")
    if os.path.lexists(path) and not force:
        raise InputError(f"{path} exists; give --force to replace it")
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "xb") as out:
            write(out)
            out.flush()
            os.fsync(out.fileno())
        os.rename(temporary, path)
    except OSError as flaw:
        if os.path.isfile(temporary):
            os.unlink(temporary)
        flaw.filename = path
        raise


# ---- the command line ----

def _options(arguments: list[str]) -> argparse.Namespace:
    parser = Parser(prog=sys.argv[0], description="Write a committed model for other programs, by the names of its tensors.", epilog=END)
    parser.add_argument("path", metavar=CHECKPOINT, nargs="*")
    parser.add_argument("--npz", metavar="FILE", help="write the tensors for numpy.load")
    parser.add_argument("--safetensors", metavar="FILE", help="write a copy of the checkpoint")
    parser.add_argument("--round", metavar="T", help="the model of this round (the last one that is kept)")
    parser.add_argument("-f", "--force", action="store_true", help="replace a file that is there")
    o = parser.parse_args(arguments)
    if not o.path:
        parser.error("name a run folder, a state folder or a checkpoint")
    if len(o.path) > 1:
        raise InputError(f"'{o.path[1]}' is one argument too many; give one {CHECKPOINT}")
    if o.round is not None and not (re.fullmatch("[0-9]{1,7}", o.round) and 1 <= int(o.round) <= ROUNDS_MAX):
        raise InputError(f"--round {o.round}: must be a whole number from 1 to {ROUNDS_MAX}")
    if o.npz is None and o.safetensors is None:
        raise InputError("name the file to write: --npz FILE or --safetensors FILE")
    return o


def main(arguments: list[str]) -> int:
    status = USAGE
    try:
        o = _options(arguments)
        wanted = None if o.round is None else int(o.round)
        checkpoint = _find(o.path[0], wanted)
        with open(checkpoint, "rb") as file:
            model = _read(checkpoint, wanted)
            if o.npz is not None:
                _check_npz(model)
            status = FAILED
            if o.npz is not None:
                _write_file(o.npz, o.force, lambda out: _write_npz(out, model))
            if o.safetensors is not None:
                _write_file(o.safetensors, o.force, lambda out: shutil.copyfileobj(file, out))
    except InputError as wrong:
        return fail(sys.argv[0], str(wrong), USAGE)
    except OSError as flaw:
        return fail(sys.argv[0], f"{flaw.filename}: {flaw.strerror}" if flaw.filename else flaw.strerror or str(flaw), status)
    told: dict[str, Any] = model.metadata
    print(f"round {told['round']} of run {told['run']}, the mean of {told['learners']} learners: {len(model)} tensor{'s' * (len(model) != 1)}",
          file=sys.stderr)
    return 0
