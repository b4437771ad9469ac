"""Results of statistics: values by name, and a table to read."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

LINES_MOST = 40  # of a printed table; as_dict has all rows


def _plain(value: Any) -> Any:
    """Return `value` with lists and Python numbers; NaN and infinities become None, which JSON has."""
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cell(heading: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return "not known"
    probability = "p" in heading.split()
    if probability and value < 1e-4:
        return "<0.0001"
    if isinstance(value, (int, np.integer)) or (float(value).is_integer() and abs(value) < 1e15):
        return f"{value:.0f}"
    if probability or 0.01 <= abs(value) < 1000:
        return f"{value:.4f}"
    if 1e6 <= abs(value) < 1e15:
        return f"{value:.2f}"
    return f"{value:.4g}" if abs(value) < 1 else f"{value:.6g}"


@dataclass
class Result:
    """The result of an analysis, the same at all sites.

    title: one line. facts: single numbers by name, such as rows and sites. columns: heading and values of each column of the
    table; the values of a column are as many as the rows. arrays: what does not fit into the table, such as a covariance
    matrix. notes: sentences for the reader. result[name] is a fact, a column as an array, or an array."""

    title: str
    facts: dict[str, Any]
    columns: dict[str, Sequence[Any]] = field(default_factory=dict)
    arrays: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __getitem__(self, name: str) -> Any:
        if name in self.facts:
            return self.facts[name]
        return np.asarray(self.columns[name]) if name in self.columns else self.arrays[name]

    def as_dict(self) -> dict[str, Any]:
        """Return everything with plain Python lists and numbers, for JSON; a number that is not finite is None."""
        return _plain({"title": self.title, **self.facts, "table": self.columns, **self.arrays, "notes": self.notes})

    def __str__(self) -> str:
        lines = [self.title, ", ".join(f"{name} {_cell(name, value)}" for name, value in self.facts.items())]
        texts = [[name, *(_cell(name, value) for value in values)] for name, values in self.columns.items()]
        widths = [max(map(len, column)) for column in texts]
        rows = ["  ".join(cell.ljust(width) if place == 0 else cell.rjust(width)
                          for place, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in zip(*texts)]
        if len(rows) > LINES_MOST + 1:
            kept = rows[:LINES_MOST // 2 + 1] + [f"... {len(rows) - 1 - LINES_MOST} more rows"] + rows[-(LINES_MOST // 2):]
            rows = kept
        return "\n".join(lines + ([""] + rows if rows else []) + ([""] + self.notes if self.notes else []))
