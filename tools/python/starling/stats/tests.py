"""Tests over all sites: Student's t and Pearson's chi-squared. See summary.py for arguments and errors."""
from __future__ import annotations

from typing import Any

import numpy as np

from starling.stats import special
from starling.stats.csv import columns_of
from starling.stats.formula import Levels, check_rows, column_of, split
from starling.stats.summary import crosstab
from starling.stats.sums import CONSTANT, SMALL, InputError, NoResult, Sums, begin, refuse_small
from starling.stats.table import Result


def ttest(sums: Sums, formula: str, data: Any, levels: Levels, equal_var: bool = False, confidence: float = 0.95,
          threshold: int = SMALL) -> Result:
    """Compare the means of two groups, `age ~ sex` with levels={"sex": ["f", "m"]}: first minus second.

    Welch's test, or Student's with `equal_var`. What all sites learn: of each group its rows, its sum, and the sum of squares
    around its mean."""
    data = columns_of(data)
    (outcome, *more), group = split(formula)
    group = column_of(group) or group
    if more or group not in levels or len(levels[group]) != 2:
        raise InputError(f"a t-test has the form 'age ~ sex', and two levels: --levels {group}=A,B")
    values, codes = data.numbers(outcome), data.codes(group, levels[group])
    kept = ~np.isnan(values) & ~np.isnan(codes)
    check_rows(int(kept.sum()), data, [outcome, group])
    groups = [values[kept & (codes == place)] for place in (0, 1)]
    facts = begin(sums, {"ttest": formula, "levels": list(map(str, levels[group])), "equal_var": equal_var}, threshold,
                  int(kept.sum()), int(data.rows - kept.sum()))
    n = np.rint(sums.sum({"count": [part.size for part in groups]})["count"])
    for level, rows in zip(levels[group], n):
        refuse_small(rows, max(threshold, 2), f"{group} = {level} has")
    mean = sums.sum({"sum": [part.sum() for part in groups]})["sum"] / n
    variance = sums.sum({"squares": [((part - m) ** 2).sum() for part, m in zip(groups, mean)]})["squares"] / (n - 1)
    if variance.sum() <= CONSTANT * (mean**2).sum():
        raise NoResult(f"{outcome} is constant in each group")
    if equal_var:
        dof = n.sum() - 2
        error = np.sqrt((variance * (n - 1)).sum() / dof * (1 / n).sum())
    else:
        parts = variance / n
        dof, error = parts.sum() ** 2 / (parts**2 / (n - 1)).sum(), np.sqrt(parts.sum())
    difference = mean[0] - mean[1]
    t, width = difference / error, error * special.t_upper((1 - confidence) / 2, dof)
    return Result(f"{'Student' if equal_var else 'Welch'}'s t-test of {formula}",
                  {**facts, "difference": difference, "low": difference - width, "high": difference + width, "t": t, "dof": dof,
                   "p": float(min(1.0, 2 * special.t_sf(abs(t), dof)))},
                  {group: list(map(str, levels[group])), "count": n.astype(int), "mean": mean, "sd": np.sqrt(variance)})


def chi2(sums: Sums, columns: tuple[str, str], data: Any, levels: Levels, correction: bool = True, threshold: int = SMALL,
         small: str = "refuse") -> Result:
    """Pearson's chi-squared test of two columns, from their cross table (see crosstab, also for `small`).

    correction: Yates' continuity correction for a table of two by two, as scipy has it."""
    if len(columns) != 2:
        raise InputError("a chi-squared test has two columns")
    table = crosstab(sums, columns, data, levels, threshold, small)
    counts = np.asarray(table["counts"], dtype=np.float64)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    if (expected == 0).any():
        raise NoResult("a category has no rows: leave it out of the levels")
    apart = np.abs(counts - expected)
    if correction and counts.shape == (2, 2):
        apart -= np.minimum(0.5, apart)
    value, dof = float((apart**2 / expected).sum()), (counts.shape[0] - 1) * (counts.shape[1] - 1)
    return Result("Chi-squared test of " + " and ".join(columns),
                  {**table.facts, "chi2": value, "dof": dof, "p": float(special.chi2_sf(value, dof))}, table.columns,
                  {**table.arrays, "expected": expected})
