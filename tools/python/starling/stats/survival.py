"""Survival over all sites: Kaplan-Meier, log-rank test, Cox regression. See summary.py for arguments and errors.

Formulas are `Surv(time, event) ~ ...`: time is a number from 0, event 1 or 0 (censored). Times are rounded to multiples of
`resolution`, in the unit of the column, the same at all sites, and the results are those of the pooled rows with these times.

What all sites learn: how many events each time of the grid has, and how many rows are at risk at the times with events. So the
times of single events are known, to the resolution, without their site: a larger resolution hides more. The rows are followed
until `until`, or, without it, as long as `threshold` rows (5) are at risk. Of later times only the number of their events is
counted. The search for that end counts the rows up to points that come closer to it, and it is the time of a row."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from starling.stats import special
from starling.stats.csv import Columns, columns_of
from starling.stats.formula import Design, Levels, design, split
from starling.stats.glm import EXPONENT_MOST, Evaluated, check_categories, check_constant, coefficients, newton
from starling.stats.summary import on_grid, search
from starling.stats.sums import SMALL, InputError, NoResult, Sums, begin, refuse_small
from starling.stats.table import Result

GRID_MOST = 1_000_000  # times of the grid, of all groups together


@dataclass
class _Times:
    """Rows of the own site, and what is known of all: k [rows] times in units of the grid, event [rows], group [rows];
    times [T] of the grid with events; deaths and risk [groups, T] of all sites."""

    facts: dict[str, Any]
    k: np.ndarray
    event: np.ndarray
    group: np.ndarray
    times: np.ndarray
    deaths: np.ndarray
    risk: np.ndarray
    lost: int  # events after the end


def at_risk(k: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return how many of the rows with the times `k` are at risk at each of `times`."""
    return k.size - np.searchsorted(np.sort(k), times, side="left")


def _horizon(sums: Sums, k: np.ndarray, event: np.ndarray, until: int | None, rows: int, threshold: int) -> tuple[int, int]:
    """Return the last time of the grid, and the number of events after it of all sites (0 if `until` is given)."""
    if until is not None:
        return until, 0
    last = int(search(sums, k, [max(rows - threshold + 1, 1)])[0])
    return last, int(np.rint(sums.sum({"later": event[k > last].sum()})["later"]))


def _count(sums: Sums, question: dict[str, Any], d: Design, group: np.ndarray, groups: list[str], resolution: float,
           until: float | None, threshold: int, source: str) -> _Times:
    """Agree, and count events and rows at risk, of each group."""
    time, event = d.response
    if not np.isin(event, (0, 1)).all():
        raise InputError(f"{source}: {d.responses[1]} has values other than 0 and 1: give numbers 0 and 1, or --levels "
                         f"{d.responses[1]}=NO,YES")
    if (time < 0).any():
        raise InputError(f"{source}: {d.responses[0]} has values below 0")
    if until is not None and not until >= 0:
        raise InputError(f"rows are followed until a time from 0, not {until:g}")
    k = on_grid(time, resolution, d.responses[0])
    end = None if until is None else int(on_grid(np.array([until]), resolution, "until")[0])
    facts: dict[str, Any] = begin(sums, {**question, "resolution": float(resolution), "until": end}, threshold, k.size, d.dropped)
    sizes = np.rint(sums.sum({"groups": np.bincount(group, minlength=len(groups))})["groups"]) if len(groups) > 1 else [facts["rows"]]
    for name, size in zip(groups, sizes):
        refuse_small(size, threshold, f"{name} has")
    last, lost = _horizon(sums, k, event, end, facts["rows"], threshold)
    if (last + 1) * len(groups) > GRID_MOST:
        raise NoResult(f"the grid has {last + 1} times, at most {GRID_MOST // len(groups)}: choose a larger resolution")
    event = event * (k <= last)
    k = np.minimum(k, last)
    own = np.zeros((len(groups), last + 1))
    np.add.at(own, (group, k), event)
    deaths = np.rint(sums.sum({"deaths": own})["deaths"])
    times = np.flatnonzero(deaths.sum(axis=0))
    if times.size == 0:
        raise NoResult("there are no events while enough rows are at risk")
    risk = np.rint(sums.sum({"risk": [at_risk(k[group == place], times) for place in range(len(groups))]})["risk"])
    facts |= {"events": int(deaths.sum()), "resolution": float(resolution), "until": last * float(resolution)}
    return _Times(facts, k, event, group, times, deaths[:, times], risk, lost)


def _need_all(t: _Times, threshold: int) -> None:
    """Refuse an analysis that needs every event, if some happen while few rows are at risk."""
    enough = t.risk.sum(axis=0) >= threshold
    if t.lost == 0 and enough.all():
        return
    end = t.facts["until"] if t.lost > 0 else t.times[enough][-1] * t.facts["resolution"] if enough.any() else 0
    raise NoResult(f"events happen while fewer than {threshold} rows are at risk: follow the rows until an earlier time (--until "
                   f"{end:g}; events after it do not count), or change the threshold (--small)")


def _groups(formula: str, data: Columns, levels: Levels) -> tuple[Design, np.ndarray, list[str]]:
    """Return the rows, the group of each, and the names of the groups, of `Surv(time, event) ~ sex` or `~ 1`."""
    responses, right = split(formula)
    if len(responses) != 2:
        raise InputError(f"{formula!r}: survival has the form 'Surv(time, event) ~ sex' or 'Surv(time, event) ~ 1'")
    if right == "1":
        d = design(formula, data, levels)
        return d, np.zeros(d.X.shape[0], dtype=int), ["all"]
    d = design(formula + " - 1", data, levels)
    names = [name.rpartition("[")[2][:-1] for name in d.names]
    if not d.indicator.all() or not (d.X.sum(axis=1) == 1).all():
        raise InputError(f"{formula!r}: the right side is one column of categories: --levels {right}=A,B")
    return d, d.X.argmax(axis=1), names


def _question(what: str, formula: str, levels: Levels, columns: list[str]) -> dict[str, Any]:
    return {what: formula, "columns": columns, "levels": sorted((name, list(map(str, part))) for name, part in levels.items())}


def kaplan_meier(sums: Sums, formula: str, data: Any, resolution: float = 1.0, until: float | None = None,
                 levels: Levels | None = None, confidence: float = 0.95, threshold: int = SMALL) -> Result:
    """Estimate the survival of all rows (`~ 1`) or of each group (`~ sex`), at each time with events.

    "std err" is Greenwood's; low and high are limits of the log-log transform. A curve ends before fewer than `threshold`
    rows of its group are at risk."""
    data, levels = columns_of(data), levels or {}
    d, group, names = _groups(formula, data, levels)
    t = _count(sums, _question("km", formula, levels, names), d, group, names, resolution, until, threshold, data.source)
    width = special.normal_upper((1 - confidence) / 2)
    parts: list[np.ndarray] = []
    for place in range(len(names)):
        shown = (t.deaths[place] > 0) & (t.risk[place] >= threshold)
        n, deaths = t.risk[place][shown], t.deaths[place][shown]
        survival = np.cumprod(1 - deaths / n)
        with np.errstate(divide="ignore", invalid="ignore"):  # a survival of 0 has no error and no limits
            spread = np.sqrt(np.cumsum(deaths / (n * (n - deaths))))
            transformed = np.log(-np.log(survival))
            moved = width * spread / np.log(survival)
            low, high = np.exp(-np.exp(transformed - moved)), np.exp(-np.exp(transformed + moved))
            parts.append(np.array([np.full(n.size, place), t.times[shown] * resolution, n, deaths, survival, survival * spread, low, high]))
    table = np.concatenate(parts, axis=1)
    columns = dict(zip(("time", "at risk", "events", "survival", "std err", "low", "high"), table[1:]))
    grouped = {"group": [names[int(place)] for place in table[0]]} if len(names) > 1 else {}
    ended = t.lost > 0 or ((t.deaths > 0) & (t.risk < threshold)).any()
    notes = [f"A curve ends where fewer than {threshold} rows are followed longer: later events are not shown."] if ended else []
    return Result(f"Kaplan-Meier estimate of {formula}", t.facts, {**grouped, **columns}, notes=notes)


def logrank(sums: Sums, formula: str, data: Any, levels: Levels, resolution: float = 1.0, until: float | None = None,
            threshold: int = SMALL) -> Result:
    """Compare the survival of groups, `Surv(time, event) ~ sex`: the log-rank test (Mantel), chi-squared with groups - 1
    degrees of freedom, where a group counts if it has rows at risk at an event."""
    data = columns_of(data)
    d, group, names = _groups(formula, data, levels)
    if len(names) < 2:
        raise InputError(f"{formula!r}: a log-rank test compares groups: 'Surv(time, event) ~ sex'")
    t = _count(sums, _question("logrank", formula, levels, names), d, group, names, resolution, until, threshold, data.source)
    _need_all(t, threshold)
    n, deaths = t.risk.sum(axis=0), t.deaths.sum(axis=0)
    share = t.risk / n
    expected = (share * deaths).sum(axis=1)
    compared = np.flatnonzero(expected > 0)  # a group without rows at risk at any event has no part in the test
    if compared.size < 2:
        raise NoResult("fewer than two groups have rows at risk at an event")
    factor = deaths * np.divide(n - deaths, n - 1, out=np.zeros(n.size), where=n > 1)
    V = np.diag((share * factor).sum(axis=1)) - (share * factor) @ share.T
    rest, dof = compared[1:], compared.size - 1
    apart = (t.deaths.sum(axis=1) - expected)[rest]
    try:
        value = float(apart @ np.linalg.solve(V[np.ix_(rest, rest)], apart))
    except np.linalg.LinAlgError:
        raise NoResult("no two groups have rows at risk at the same event") from None
    return Result(f"Log-rank test of {formula}",
                  {**t.facts, "chi2": value, "dof": dof, "p": float(special.chi2_sf(value, dof))},
                  {"group": names, "events": t.deaths.sum(axis=1).astype(int), "expected": expected})


def cox(sums: Sums, formula: str, data: Any, resolution: float = 1.0, until: float | None = None, levels: Levels | None = None,
        confidence: float = 0.95, threshold: int = SMALL) -> Result:
    """Fit a proportional hazards model, `Surv(time, event) ~ age + sex`, with Breslow's treatment of ties.

    What all sites learn beside the counts: the rows of each category, the sum and the squares of each column, its sum over the
    rows with events, and in each step, at each time with events, the sums of r, r x and r x x' over the rows at risk, where
    r = exp(x b), and the number of rows in which r is cut. At times with few rows at risk these
    tell much about single rows: `until` ends before. arrays: cov [p, p]. NoResult: see glm, and events while few rows are at
    risk."""
    data, levels = columns_of(data), levels or {}
    d = design(formula, data, levels)
    if len(d.responses) != 2 or len(d.names) <= d.intercept:
        raise InputError(f"{formula!r}: a Cox regression has the form 'Surv(time, event) ~ age + sex'")
    if d.intercept:  # it cancels
        d.X, d.names, d.indicator = d.X[:, 1:], d.names[1:], d.indicator[1:]
    t = _count(sums, _question("cox", formula, levels, d.names), d, np.zeros(d.X.shape[0], dtype=int), ["all"], resolution, until,
               threshold, data.source)
    _need_all(t, threshold)
    check_categories(sums, d, t.facts["rows"], threshold)
    b, first, last, V, steps = _cox_fit(sums, d, t)
    table = coefficients(b, np.sqrt(np.diag(V)), d.names, math.inf, confidence, "hazard ratio")
    ratio = first - last
    facts = {**t.facts, "log-likelihood": -last / 2, "likelihood ratio": ratio, "its dof": len(b),
             "its p": float(special.chi2_sf(max(ratio, 0.0), len(b))), "steps": steps}
    return Result(f"Cox regression of {formula}", facts, table, {"cov": V})


def _cox_fit(sums: Sums, d: Design, t: _Times) -> tuple[np.ndarray, float, float, np.ndarray, int]:
    """Return what newton returns, for minus twice the partial log-likelihood."""
    n, p = t.facts["rows"], len(d.names)
    mean = sums.sum({"columns": d.X.sum(axis=0)})["columns"] / n
    order = np.argsort(-t.k, kind="stable")  # the longest first: a risk set is a beginning
    X, event = d.X[order] - mean, t.event[order]
    place = at_risk(t.k, t.times)
    upper = np.triu_indices(p)
    pooled = sums.sum({"events": X[event == 1].sum(axis=0), "squares": (X**2).sum(axis=0)})
    check_constant(d.names, mean, pooled["squares"], n)
    deaths = t.deaths[0]
    far = 0.0  # rows whose hazard was cut at the last estimate

    def over_risk(values: np.ndarray) -> np.ndarray:
        return np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])[place]

    def evaluate(b: np.ndarray) -> Evaluated:
        nonlocal far
        eta = X @ b
        r = np.exp(np.clip(eta, -EXPONENT_MOST, EXPONENT_MOST))[:, None]
        summed = sums.sum({"s0": over_risk(r)[:, 0], "s1": over_risk(r * X), "s2": over_risk(r * X[:, upper[0]] * X[:, upper[1]]),
                           "far": (np.abs(eta) > EXPONENT_MOST).sum()})
        far = float(summed["far"])
        mean_at = summed["s1"] / summed["s0"][:, None]
        H = np.zeros((p, p))
        H[upper] = deaths @ (summed["s2"] / summed["s0"][:, None] - mean_at[:, upper[0]] * mean_at[:, upper[1]])
        value = -2 * (pooled["events"] @ b - deaths @ np.log(summed["s0"]))
        return float(value), pooled["events"] - deaths @ mean_at, H + np.triu(H, 1).T

    found = newton(evaluate, np.zeros(p), d.names, lambda *_: 1.0, "no finite estimates: a column orders the rows by their events "
                   "(all events have its highest or its lowest values among the rows at risk)")
    if far > 0.5:
        raise NoResult(f"{far:.0f} row{'s have' if far > 1 else ' has'} a hazard more than e^{EXPONENT_MOST:g} times that of a row with the means of "
                       "all columns, or as much below it: look for outliers")
    return found
