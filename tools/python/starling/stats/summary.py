"""Summaries of columns over all sites: counts, means, quantiles, cross tables, correlations, principal components.

`sums` is a Sums; `data` of the own site is the path of a file, a Columns, a DataFrame or a dict of arrays. Each function
returns the Result of the pooled rows, the same at all sites. Each may raise InputError (the own data; before anything is
shared), NoResult (small counts, a constant column) and starling.Error (the run).

Small counts: a count of fewer than `threshold` rows (5) is refused or merged. The sites see a count before they can refuse
it; they then share nothing finer. This is no substitute for differential privacy: two results over nearly the same rows, and
sums over few rows, may tell a row.

Differential privacy: with `privacy`, the pair (epsilon, delta), `describe` and `crosstab` take one round with noise, and hide each row (dp:
record). The learners have the settings dp, dp_clip, dp_epsilon and dp_delta; a run answers one question. Standard errors then contain
the noise. The other analyses have no form with noise, and refuse learners that add it."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from starling.stats.csv import columns_of
from starling.stats.formula import Levels, check_rows
from starling.stats.noisy import Budget, ratio
from starling.stats.sums import CONSTANT, SMALL, InputError, NoResult, Sums, begin, refuse_small
from starling.stats.table import Result

GRID_BITS = 40  # values of a quantile are multiples of `resolution`, at most 2^40 of them on each side of 0
WAYS = 64  # parts into which a round of the search divides an interval


def describe(sums: Sums, columns: Sequence[str], data: Any, threshold: int = SMALL, privacy: tuple[float, float] | None = None,
             ranges: Mapping[str, tuple[float, float]] | None = None) -> Result:
    """Count, mean, variance (of a sample, divisor n - 1) and standard deviation of columns of numbers.

    Each column uses its own rows without missing values. What all sites learn: the count of each column, its sum, and the sum
    of the squares around the common mean.
    privacy: see above; it needs `ranges`, the lowest and highest value of each column, chosen without a look at the data. Values outside count as
    these. The table then has the standard error of the mean, with the noise, and the part of it that is noise."""
    data = columns_of(data)
    if len(columns) == 0:
        raise InputError("name at least one column")
    if privacy is not None:
        return _describe_noisily(sums, columns, data, threshold, Budget(*privacy), ranges or {})
    if ranges:
        raise InputError("ranges are for privacy, epsilon and delta")
    X = [data.numbers(name) for name in columns]
    X = [values[~np.isnan(values)] for values in X]
    facts = begin(sums, {"describe": list(columns)}, threshold, data.rows, 0)
    count = np.rint(sums.sum({"count": [values.size for values in X]})["count"])
    for name, rows in zip(columns, count):
        refuse_small(rows, max(threshold, 2), f"{name} has")
    mean = sums.sum({"sum": [values.sum() for values in X]})["sum"] / count
    squares = sums.sum({"squares": [((values - m) ** 2).sum() for values, m in zip(X, mean)]})["squares"]
    variance = squares / (count - 1)
    del facts["dropped"]
    return Result("Summary", facts, {"column": list(columns), "count": count.astype(int), "missing": facts["rows"] - count.astype(int),
                                     "mean": mean, "variance": variance, "sd": np.sqrt(variance)})


def _scaled(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return of each row 1, its value x and 2 x^2 - 1, where x is scaled to -1 .. 1; zeros if the value is missing."""
    there = ~np.isnan(values)
    x = (np.clip(np.where(there, values, low), low, high) - (low + high) / 2) / ((high - low) / 2)
    return np.stack([np.ones(x.size), x, 2 * x * x - 1], axis=1) * there[:, None]


def _describe_noisily(sums: Sums, columns: Sequence[str], data: Any, threshold: int, budget: Budget, ranges: Mapping[str, tuple[float, float]]) -> Result:
    budget.check()
    for name in columns:
        low, high = ranges.get(name, (np.nan, np.nan))
        if not (low < high and math.isfinite(high - low)):
            raise InputError(f"give the range of {name}, chosen without a look at the data: --range {name}=LOW,HIGH")
    ends = [tuple(map(float, ranges[name])) for name in columns]
    scale = np.sqrt(3 * len(columns))  # the norm of a row
    rows = np.concatenate([_scaled(data.numbers(name), *pair) for name, pair in zip(columns, ends)], axis=1) / scale
    sums.own_rows, sums.own_dropped = data.rows, 0
    total = sums.noisy(f"describe {list(columns)} within {ends} with noise", rows.shape[1], budget, lambda unit: rows, ("record",))
    noise = total.noise * scale
    table: dict[str, list[float]] = {name: [] for name in ("count", "mean", "std err", "of it noise", "variance", "sd")}
    for name, (low, high), (count, *parts) in zip(columns, ends, (total.sum * scale).reshape(-1, 3)):
        refuse_small(int(count), max(threshold, 2), f"{name} has, with noise,")
        (x, square), (x_noise, _) = ratio(np.array(parts), count, noise, f"{name} has")
        half = (high - low) / 2
        variance = max(0.0, ((square + 1) / 2 - x * x) * count / (count - 1)) * half**2
        own = half * x_noise
        for heading, value in zip(table, (round(count), (low + high) / 2 + half * x, np.sqrt(variance / count + own**2), own, variance, np.sqrt(variance))):
            table[heading].append(float(value))
    return Result("Summary, with noise", {"sites": total.learners, "epsilon": total.spent, "delta": total.delta, "noise of a count": noise},
                  {"column": list(columns), **{heading: np.array(values) for heading, values in table.items()}}, notes=[total.said])


# ---- quantiles ----

def on_grid(values: np.ndarray, resolution: float, name: str) -> np.ndarray:
    """Return the nearest multiples of `resolution`, as int64 [rows] in units of it."""
    if not 0 < resolution < math.inf:
        raise InputError(f"the resolution of {name} is a number above 0, in its unit, not {resolution}")
    multiples = np.rint(values / resolution)
    if multiples.size and np.abs(multiples).max() > 2**GRID_BITS:
        raise InputError(f"{name} has a value beyond 2^{GRID_BITS} times the resolution {resolution:g}: choose a larger resolution")
    return multiples.astype(np.int64)


def search(sums: Sums, grid: np.ndarray, ranks: Sequence[int]) -> np.ndarray:
    """Return the values of these ranks (from 1) among the pooled `grid` values, int64 [ranks].

    Each round counts the rows up to 63 points between the bounds of each rank; seven rounds find them."""
    ordered = np.sort(grid)
    low = np.full(len(ranks), -(2**GRID_BITS) - 1, dtype=np.int64)
    high = np.full(len(ranks), 2**GRID_BITS, dtype=np.int64)
    while (high - low > 1).any():
        edges = low[:, None] + (high - low)[:, None] * np.arange(1, WAYS) // WAYS
        counts = np.rint(sums.sum({"counts": np.searchsorted(ordered, edges, side="right")})["counts"])
        below = (counts < np.asarray(ranks)[:, None]).sum(axis=1)  # counts rise with the edges
        padded = np.concatenate([low[:, None], edges, high[:, None]], axis=1)
        place = np.arange(len(ranks))
        low, high = padded[place, below], padded[place, below + 1]
    return high


def quantiles(sums: Sums, column: str, data: Any, resolution: float, q: Sequence[float] = (0.25, 0.5, 0.75),
              threshold: int = SMALL) -> Result:
    """Quantiles of a column: those of its values rounded to multiples of `resolution`, as numpy.quantile interpolates them.

    So each is within half of `resolution` of the quantile of the values. What all sites learn: how many rows are at or below
    the points that the search visits, which are ever closer to the quantile. A quantile with fewer than `threshold` rows on one
    side is refused."""
    data = columns_of(data)
    values = data.numbers(column)
    grid = on_grid(values[~np.isnan(values)], resolution, column)
    q = np.asarray(q, dtype=np.float64)
    if q.size == 0 or not ((q >= 0) & (q <= 1)).all():
        raise InputError(f"a quantile is a number from 0 to 1, not {q.tolist()}")
    check_rows(grid.size, data, [column])
    facts = begin(sums, {"quantiles": column, "resolution": float(resolution), "q": q.tolist()}, threshold, grid.size,
                  data.rows - grid.size)
    at = q * (facts["rows"] - 1)
    lower, upper = np.floor(at).astype(int) + 1, np.ceil(at).astype(int) + 1
    for wanted, first, last in zip(q, lower, upper):
        refuse_small(min(first, facts["rows"] - last + 1), threshold, f"beside the quantile {wanted:g} there are")
    found = search(sums, grid, [*lower, *upper]) * float(resolution)
    low, high = found[:q.size], found[q.size:]
    return Result(f"Quantiles of {column}", {**facts, "resolution": float(resolution)},
                  {"q": q, "value": low + (at - np.floor(at)) * (high - low)})


# ---- counts ----

def _merge(counts: np.ndarray, labels: list[list[str]], threshold: int) -> np.ndarray:
    """Merge rows or columns until no count is above 0 and below `threshold`; change `labels` to match."""
    while True:
        small = np.where((counts > 0) & (counts < threshold), counts, np.inf)
        if np.isinf(small).all():
            return counts
        where = np.unravel_index(small.argmin(), counts.shape)
        axis = int(counts.shape[1] > counts.shape[0])
        if counts.shape[axis] <= 2:
            raise NoResult(f"a count is below {threshold} and there are no categories left to merge (--small changes the threshold)")
        totals = counts.sum(axis=1 - axis)
        totals[where[axis]] = np.inf
        kept, gone = sorted((int(where[axis]), int(totals.argmin())))
        counts = np.moveaxis(counts, axis, 0)
        counts[kept] += counts[gone]
        counts = np.moveaxis(np.delete(counts, gone, axis=0), 0, axis)
        labels[axis][kept] += "+" + labels[axis].pop(gone)


def crosstab(sums: Sums, columns: Sequence[str], data: Any, levels: Levels, threshold: int = SMALL, small: str = "refuse",
             privacy: tuple[float, float] | None = None) -> Result:
    """Count the rows of each category of one column, or of each pair of categories of two.

    levels: the categories of each column, the same at all sites. small: "refuse" ends with NoResult if a count is from 1 to
    threshold - 1; "merge" adds categories up until none is. What all sites learn: all counts before that.
    privacy: see above. Counts then have noise, may be below 0, and are told whatever they are: the noise hides small ones."""
    data = columns_of(data)
    if len(columns) not in (1, 2) or small not in ("refuse", "merge"):
        raise InputError('a table has one or two columns, and small is "refuse" or "merge"')
    for name in columns:
        if name not in levels:
            raise InputError(f"name the levels of {name}, the same at all sites: --levels {name}=A,B")
    codes = np.array([data.codes(name, levels[name]) for name in columns])
    kept = codes[:, ~np.isnan(codes).any(axis=0)].astype(int)
    if privacy is not None:
        return _crosstab_noisily(sums, columns, kept, levels, Budget(*privacy))
    check_rows(kept.shape[1], data, columns)
    facts = begin(sums, {"crosstab": list(columns), "levels": [list(map(str, levels[name])) for name in columns], "small": small},
                  threshold, kept.shape[1], data.rows - kept.shape[1])
    labels = [list(map(str, levels[name])) for name in columns] + [["rows"]] * (2 - len(columns))
    own = np.zeros([len(part) for part in labels])
    np.add.at(own, (kept[0], kept[1] if len(columns) == 2 else 0), 1)
    counts = np.rint(sums.sum({"counts": own})["counts"])
    if small == "merge":
        counts = _merge(counts, labels, threshold)
    elif ((counts > 0) & (counts < threshold)).any():
        raise NoResult(f"a count is below {threshold}: use fewer levels or --merge (--small changes the threshold)")
    counts = counts.astype(int)
    table = {" / ".join(columns): labels[0], **{label: counts[:, place] for place, label in enumerate(labels[1])}}
    return Result("Counts of " + " and ".join(columns), facts, table, {"counts": counts, "levels": labels[:len(columns)]})


def _crosstab_noisily(sums: Sums, columns: Sequence[str], kept: np.ndarray, levels: Levels, budget: Budget) -> Result:
    budget.check()
    labels = [list(map(str, levels[name])) for name in columns] + [["rows"]] * (2 - len(columns))
    cells = np.zeros((kept.shape[1], len(labels[0]), len(labels[1])))
    cells[np.arange(kept.shape[1]), kept[0], kept[1] if len(columns) == 2 else 0] = 1
    total = sums.noisy(f"crosstab {list(columns)} {labels} with noise", len(labels[0]) * len(labels[1]), budget,
                       lambda unit: cells.reshape(len(cells), len(labels[0]) * len(labels[1])), ("record",))
    counts = total.sum.reshape(len(labels[0]), len(labels[1]))
    table = {" / ".join(columns): labels[0], **{label: np.rint(counts[:, place]).astype(int) for place, label in enumerate(labels[1])}}
    return Result("Counts of " + " and ".join(columns) + ", with noise",
                  {"sites": total.learners, "epsilon": total.spent, "delta": total.delta, "std err of a count": total.noise}, table,
                  {"counts": counts, "levels": labels[:len(columns)]}, notes=[total.said])


# ---- columns together ----

def _moments(sums: Sums, what: dict[str, Any], columns: Sequence[str], data: Any, threshold: int
             ) -> tuple[dict[str, int], np.ndarray, np.ndarray]:
    """Return the facts, the means [p] and the covariance matrix [p, p] (divisor n - 1) of the rows without missing values."""
    data = columns_of(data)
    if len(columns) < 2 or len(set(columns)) < len(columns):
        raise InputError("name at least two different columns")
    X = np.array([data.numbers(name) for name in columns]).T
    X = X[~np.isnan(X).any(axis=1)]
    check_rows(len(X), data, columns)
    facts = begin(sums, {**what, "columns": list(columns)}, max(threshold, 2), len(X), data.rows - len(X))
    mean = sums.sum({"sum": X.sum(axis=0)})["sum"] / facts["rows"]
    X = X - mean
    upper = np.triu_indices(len(columns))
    products = np.zeros((len(columns), len(columns)))
    products[upper] = sums.sum({"products": (X.T @ X)[upper]})["products"]
    covariance = (products + np.triu(products, 1).T) / (facts["rows"] - 1)
    for name, m, variance in zip(columns, mean, np.diag(covariance)):
        if variance <= CONSTANT * m * m:
            raise NoResult(f"{name} is constant over all sites")
    return facts, mean, covariance


def correlation(sums: Sums, columns: Sequence[str], data: Any, threshold: int = SMALL) -> Result:
    """Pearson's correlation matrix of columns of numbers, over the rows without missing values in any of them.

    What all sites learn: the sums of the columns and of the products of each two."""
    facts, mean, covariance = _moments(sums, {"analysis": "correlation"}, columns, data, threshold)
    sd = np.sqrt(np.diag(covariance))
    matrix = covariance / np.outer(sd, sd)
    return Result("Correlations", facts, {"": list(columns), **{name: matrix[:, place] for place, name in enumerate(columns)}},
                  {"matrix": matrix, "covariance": covariance, "mean": mean})


def pca(sums: Sums, columns: Sequence[str], data: Any, scale: bool = True, threshold: int = SMALL) -> Result:
    """Principal components: eigenvectors of the correlation matrix, or of the covariance matrix with `scale` False.

    components [p, p] has one component in each row, by falling variance; the largest loading of each is positive. What all
    sites learn is what `correlation` tells."""
    facts, mean, covariance = _moments(sums, {"analysis": "pca", "scale": bool(scale)}, columns, data, threshold)
    sd = np.sqrt(np.diag(covariance)) if scale else np.ones(len(columns))
    variance, vectors = np.linalg.eigh(covariance / np.outer(sd, sd))
    variance, components = variance[::-1], vectors.T[::-1]
    largest = np.abs(components).argmax(axis=1)
    components = components * np.sign(components[np.arange(len(columns)), largest])[:, None]
    table = {"component": [f"PC{place + 1}" for place in range(len(columns))], "variance": variance,
             "share": variance / variance.sum(), **{name: components[:, place] for place, name in enumerate(columns)}}
    return Result("Principal components of the " + ("correlation" if scale else "covariance") + " matrix", facts, table,
                  {"components": components, "mean": mean, "sd": sd})
