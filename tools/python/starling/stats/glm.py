"""Regressions over all sites: linear, logistic, Poisson. See summary.py for arguments, errors and small counts.

Each step of iteratively reweighted least squares (McCullagh and Nelder, Generalized Linear Models, section 2.5; with canonical
links it is Newton's method) needs the sums of X'WX, X'(y - mu) and the deviance over all rows. If there is an intercept, columns
are centred by their common mean first, and so is the response of a linear regression: large values lose no digits then."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from starling.stats import special
from starling.stats.csv import columns_of
from starling.stats.formula import Design, Levels, design
from starling.stats.sums import CONSTANT, SMALL, InputError, NoResult, Sums, begin, refuse_small
from starling.stats.table import Result

FAMILIES = ("gaussian", "binomial", "poisson")
RATIOS = {"binomial": "odds ratio", "poisson": "rate ratio"}  # what exp(b) is
STEPS_MOST = 25
HALVINGS_MOST = 20
DECREMENT = 1e-16  # g'H^-1 g at the end: the last step is 10^-8 standard errors
PERFECT = 1e-10  # the residual sum of squares in units of the total one, below which it is rounding
SINGULAR = 1e-10  # the least eigenvalue of the information, scaled to a diagonal of ones
EXPONENT_MOST = 30.0  # of a linear predictor on the way to the estimate

Evaluated = tuple[float, np.ndarray, np.ndarray]  # minus twice the log-likelihood (or so), gradient [p], information [p, p]


# ---- Newton's method ----

def inverse(H: np.ndarray, names: list[str]) -> np.ndarray:
    """Return H^-1; NoResult names the columns that depend on each other."""
    scale = np.sqrt(np.diag(H))
    if (scale <= 0).any():
        raise NoResult(f"{names[int(scale.argmin())]} is constant over all sites")
    values, vectors = np.linalg.eigh(H / np.outer(scale, scale))
    if values[0] < SINGULAR:
        dependent = [name for name, part in zip(names, vectors[:, 0]) if abs(part) > 0.1]
        raise NoResult(f"the columns {', '.join(dependent)} depend linearly on each other: leave one of them out")
    return (vectors / values) @ vectors.T / np.outer(scale, scale)


def newton(evaluate: Callable[[np.ndarray], Evaluated], b: np.ndarray, names: list[str], unit: Callable[[float, float], float],
           diverges: str) -> tuple[np.ndarray, float, float, np.ndarray, int]:
    """Return the estimate, the first and the last value, the inverse information and the number of steps.

    unit: of g'H^-1 g, from the value and the first one. diverges: the error if no estimate is found."""
    value, g, H = evaluate(b)
    first = value
    for step in range(1, STEPS_MOST + 1):
        try:
            V = inverse(H, names)
        except NoResult:
            if step == 1:
                raise
            raise NoResult(diverges) from None
        delta = V @ g
        decrement = float(g @ delta) / unit(value, first)
        if decrement <= DECREMENT:
            return b + delta, first, value, V, step
        for _ in range(HALVINGS_MOST):
            tried, g, H = evaluate(b + delta)
            if tried <= value + 1e-9 * (abs(value) + 1):
                break
            delta = delta / 2
        b, value = b + delta, tried
    raise NoResult(diverges)


def coefficients(b: np.ndarray, error: np.ndarray, names: list[str], dof: float, confidence: float, ratios: str = "") -> dict[str, Any]:
    """Return the columns of a table of estimates; dof: of the t distribution, infinite for the normal one. ratios: what exp(b) is."""
    ratio = np.divide(b, error, out=np.full(b.size, np.nan), where=error > 0)
    normal = math.isinf(dof)
    width = special.normal_upper((1 - confidence) / 2) if normal else special.t_upper((1 - confidence) / 2, dof)
    p = [2 * (special.normal_sf(abs(z)) if normal else special.t_sf(abs(z), dof)) for z in ratio]
    with np.errstate(over="ignore"):
        shown = {ratios: np.exp(b)} if ratios else {}
    return {"term": names, "coef": b, **shown, "std err": error, "z" if normal else "t": ratio, "p": np.array(p, dtype=np.float64),
            "low": b - width * error, "high": b + width * error}


# ---- what is checked before more is shared ----

def check_categories(sums: Sums, d: Design, rows: int, threshold: int) -> None:
    """Refuse a category, or the rest beside the categories of a term, with fewer rows than `threshold`."""
    if not d.indicator.any():
        return
    counts = np.rint(sums.sum({"categories": d.X[:, d.indicator].sum(axis=0)})["categories"])
    names = [name for name, categorical in zip(d.names, d.indicator) if categorical]
    rest = dict.fromkeys((name.rpartition("[")[0] for name in names), rows)
    for name, count in zip(names, counts):
        refuse_small(count, threshold, f"{name} has")
        rest[name.rpartition("[")[0]] -= count
    for term, count in rest.items():
        if f"{term}[T." in " ".join(names):
            refuse_small(count, threshold, f"the first level of {term} has")


def check_constant(names: list[str], mean: np.ndarray, squares: np.ndarray, rows: int) -> None:
    """Refuse a column whose sum of squares around its mean is 0 but for rounding."""
    for name, m, square in zip(names, mean, squares):
        if square <= CONSTANT * m * m * rows:
            raise NoResult(f"{name} is constant over all sites: leave it out")


# ---- families ----

def _check_response(y: np.ndarray, family: str, name: str, source: str) -> None:
    if family == "binomial" and not np.isin(y, (0, 1)).all():
        raise InputError(f"{source}: {name} has values other than 0 and 1: give numbers 0 and 1, or --levels {name}=NO,YES")
    if family == "poisson" and ((y < 0) | (y != np.rint(y))).any():
        raise InputError(f"{source}: {name} has values that are no counts")


def _choose_family(y: np.ndarray, name: str, source: str) -> str:
    """Return the family of a call that names none. A linear regression of an outcome with two values is rarely meant; two rows do not
    show it."""
    if np.unique(y).size == 2 < y.size:
        raise InputError(f"{source}: {name} has two values: give --family binomial (logistic regression) or --family gaussian (linear); "
                         "in Python family=")
    return "gaussian"


def _link(family: str, mean: float) -> float:
    return math.log(mean / (1 - mean)) if family == "binomial" else math.log(mean)


def _rows(family: str, y: np.ndarray, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mu, the weights and the parts of the deviance, each [rows]."""
    if family == "gaussian":
        return eta, np.ones(eta.size), (y - eta) ** 2
    eta = np.clip(eta, -EXPONENT_MOST, EXPONENT_MOST)
    if family == "binomial":
        mu = 1 / (1 + np.exp(-eta))
        return mu, mu * (1 - mu), 2 * np.logaddexp(0, np.where(y == 1, -eta, eta))
    mu = np.exp(eta)
    logs = np.zeros(y.size)
    np.log(np.divide(y, mu), out=logs, where=y > 0)
    return mu, mu, 2 * (y * logs - (y - mu))


def _likelihood(family: str, deviance: float, rows: int, constant: float) -> float:
    """Return the log-likelihood; constant: the pooled sum of that of the saturated model of Poisson."""
    if family == "gaussian":
        return -rows / 2 * (math.log(2 * math.pi * deviance / rows) + 1) if deviance > 0 else math.inf
    return constant - deviance / 2


def _saturated(family: str, y: np.ndarray) -> float:
    if family != "poisson":
        return 0.0
    return float(sum(v * math.log(v) - v - math.lgamma(v + 1) for v in y if v > 0))


# ---- the regression ----

def glm(sums: Sums, formula: str, data: Any, family: str | None = None, levels: Levels | None = None, exposure: str | None = None,
        confidence: float = 0.95, threshold: int = SMALL) -> Result:
    """Fit a linear (gaussian), logistic (binomial) or Poisson regression, `y ~ age + sex`, to the rows of all sites.

    family: gaussian if None, unless the rows here have two outcomes; then it must be named.
    levels: categories of columns of words; with those of y, the second one is 1. exposure: of poisson, a column of positive
    numbers, such as person-years. Tests of gaussian use the t distribution, the others the normal one.
    What all sites learn: the number of rows in each category, the sums of the columns and of y, in each step X'WX, X'(y - mu)
    and the deviance, and of poisson the exposure and the constant of the likelihood. With few rows beside many columns these tell much about rows.
    arrays: cov [p, p] of the estimates. NoResult: no finite estimate exists, or the columns depend on each other."""
    if family not in (None, *FAMILIES) or (exposure and family != "poisson"):
        raise InputError("exposure is for poisson" if family in (None, *FAMILIES) else f"family is {', '.join(FAMILIES)}, not {family!r}")
    data, levels = columns_of(data), levels or {}
    d = design(formula, data, levels, [exposure] if exposure else [])
    if len(d.responses) != 1 or not d.names:
        raise InputError(f"{formula!r}: a regression has one column on the left, and at least one term or an intercept")
    y = d.response[0]
    family = family or _choose_family(y, d.responses[0], data.source)
    _check_response(y, family, d.responses[0], data.source)
    if exposure and (d.response[1] <= 0).any():
        raise InputError(f"{data.source}: {exposure} has values that are not above 0")
    facts = begin(sums, {"glm": formula, "family": family, "exposure": exposure, "columns": d.names,
                         "levels": sorted((name, list(map(str, part))) for name, part in levels.items())}, threshold, y.size, d.dropped)
    n, p = facts["rows"], len(d.names)
    if n <= p:
        raise NoResult(f"{n} rows are too few for {p} columns")
    check_categories(sums, d, n, threshold)
    offset = np.log(d.response[1]) if exposure else np.zeros(y.size)
    total = sums.sum({"y": y.sum(), "exposure": np.exp(offset).sum()})
    if family == "binomial":
        events = int(np.rint(total["y"]))
        refuse_small(min(events, n - events), threshold, f"one of the two values of {d.responses[0]} has")
    if family == "poisson" and total["y"] <= 0:
        raise NoResult(f"{d.responses[0]} is 0 in all rows")
    b, first, deviance, V, steps, constant = _fit(sums, d, y, offset, family, n, total)
    dof = n - p
    scale = deviance / dof if family == "gaussian" else 1.0
    cov = V * scale
    log_likelihood = _likelihood(family, deviance, n, constant)
    facts |= {"dof": dof, "deviance": deviance, "log-likelihood": log_likelihood,
              "AIC": 2 * p - 2 * log_likelihood, "steps": steps}
    if d.intercept:
        facts["null deviance"] = first
    if family == "gaussian":
        facts["scale"] = scale
        if d.intercept and p > 1 and scale > 0:
            ratio = (first - deviance) / (p - 1) / scale
            facts |= {"R2": 1 - deviance / first, "F": ratio, "p of F": float(special.f_sf(ratio, p - 1, dof))}
    title = {"gaussian": "Linear", "binomial": "Logistic", "poisson": "Poisson"}[family] + f" regression of {formula}"
    table = coefficients(b, np.sqrt(np.diag(cov)), d.names, dof if family == "gaussian" else math.inf, confidence, RATIOS.get(family, ""))
    return Result(title, facts, table, {"cov": cov})


def _fit(sums: Sums, d: Design, y: np.ndarray, offset: np.ndarray, family: str, n: int, total: dict[str, np.ndarray]
         ) -> tuple[np.ndarray, float, float, np.ndarray, int, float]:
    """Return what newton returns, for the columns as they are, and the constant of the log-likelihood."""
    p, X, mean = len(d.names), d.X.copy(), np.zeros(len(d.names))
    start, centre = np.zeros(p), 0.0  # centre: of y, subtracted
    if d.intercept:
        mean[1:] = sums.sum({"columns": X[:, 1:].sum(axis=0)})["columns"] / n if p > 1 else 0
        X[:, 1:] -= mean[1:]
        if family == "gaussian":
            centre = float(total["y"] / n)
            y = y - centre
        else:
            start[0] = _link(family, float(total["y"] / total["exposure"]))
    upper = np.triu_indices(p)

    def evaluate(b: np.ndarray) -> Evaluated:
        mu, weights, parts = _rows(family, y, X @ b + offset)
        summed = sums.sum({"information": (X.T @ (X * weights[:, None]))[upper], "gradient": X.T @ (y - mu), "deviance": parts.sum()})
        H = np.zeros((p, p))
        H[upper] = summed["information"]
        if (b == start).all() and family == "gaussian":
            check_constant(d.responses, np.array([centre]), np.array([summed["deviance"]]), n)
        if (b == start).all() and d.intercept:
            check_constant(d.names[1:], mean[1:], np.diag(H)[1:] * n / H[0, 0], n)
        return float(summed["deviance"]), summed["gradient"], H + np.triu(H, 1).T

    def unit(value: float, first: float) -> float:
        return max(value, PERFECT * first) / (n - p) if family == "gaussian" else 1.0

    b, first, deviance, V, steps = newton(evaluate, start, d.names, unit, f"no finite estimates after {STEPS_MOST} steps: " + (
        f"the columns separate the rows with {d.responses[0]} = 1 from those with 0 (perfect or quasi-complete separation)"
        if family == "binomial" else "the counts are 0 wherever a column has certain values, or digits were lost in columns of large values"))
    constant = float(sums.sum({"constant": _saturated(family, y)})["constant"]) if family == "poisson" else 0.0
    T = np.eye(p)  # from the centred columns to those as they are
    T[0] -= mean if d.intercept else 0
    b = T @ b
    b[0] += centre
    return b, first, deviance, T @ V @ T.T, steps, constant
