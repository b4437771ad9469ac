"""Build the Python package as a wheel, for pip and uv (PEP 517). It needs no other package and no network.

deploy/bundle/bundle.py writes the wheel with the programs by the same functions."""
from __future__ import annotations

import ast
import base64
import hashlib
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
EARLIEST = 315532800  # 1980: zip files have no earlier times

Members = Mapping[str, tuple[bytes, int]]  # content and mode of files, by their names in the wheel


def project() -> dict[str, Any]:
    """Return what pyproject.toml says of the package; its optional dependencies as "extras"."""
    tables: dict[str, dict[str, Any]] = {}
    for line in (HERE / "pyproject.toml").read_text().splitlines():
        if line.startswith("["):
            table = tables.setdefault(line.strip("[]"), {})
        elif line:
            key, value = line.split(" = ", 1)
            table[key] = ast.literal_eval(value)  # texts and lists of texts are written as in Python; tomllib came with Python 3.11
    return {**tables["project"], "packages": tables["tool.starling"]["packages"], "extras": tables["project.optional-dependencies"]}


def _metadata(about: Mapping[str, Any]) -> str:
    lines = ["Metadata-Version: 2.1", f"Name: {about['name']}", f"Version: {about['version']}", f"Summary: {about['description'].split(':')[0]}",
             f"License: {about['license']}", f"Requires-Python: {about['requires-python']}"]
    lines += [f"Requires-Dist: {one}" for one in about["dependencies"]]
    for extra, needed in about["extras"].items():
        lines += [f"Provides-Extra: {extra}"] + [f'Requires-Dist: {one}; extra == "{extra}"' for one in needed]
    return "\n".join(lines) + "\n"


def write(folder: Path, tag: str, files: Members, moment: int = EARLIEST) -> Path:
    """Write a wheel for the systems of `tag` into `folder` and return its path. `moment`: Unix time of its files."""
    about = project()
    stem = f"{about['name']}-{about['version']}"
    info, pure = f"{stem}.dist-info", str(tag == "py3-none-any").lower()
    members = {**files, f"{info}/METADATA": (_metadata(about).encode(), 0o644),
               f"{info}/WHEEL": (f"Wheel-Version: 1.0\nGenerator: starling\nRoot-Is-Purelib: {pure}\nTag: {tag}\n".encode(), 0o644)}
    # The facts of the wheel last, and the list of its files as the very last.
    names = sorted(members, key=lambda name: (".dist-info/" in name, name))
    record = ""
    for name in names:
        digest = base64.urlsafe_b64encode(hashlib.sha256(members[name][0]).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(members[name][0])}\n"
    members[f"{info}/RECORD"] = (f"{record}{info}/RECORD,,\n".encode(), 0o644)
    target = folder / f"{stem}-{tag}.whl"
    with zipfile.ZipFile(target, "w") as archive:
        for name in [*names, f"{info}/RECORD"]:
            content, mode = members[name]
            entry = zipfile.ZipInfo(name, time.gmtime(moment)[:6])
            entry.create_system, entry.external_attr = 3, (0o100000 | mode) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)
    return target


def package_files() -> dict[str, tuple[bytes, int]]:
    """Return the files of the Python package."""
    paths = [path for package in project()["packages"] for path in (HERE / package.replace(".", "/")).iterdir()]
    return {path.relative_to(HERE).as_posix(): (path.read_bytes(), 0o644) for path in paths if path.suffix == ".py" or path.name == "py.typed"}


# ---- for pip and uv ----

def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: str | None = None) -> str:
    return write(Path(wheel_directory), "py3-none-any", package_files()).name


def build_editable(wheel_directory: str, config_settings: object = None, metadata_directory: str | None = None) -> str:
    return write(Path(wheel_directory), "py3-none-any", {"starling.pth": (f"{HERE}\n".encode(), 0o644)}).name
