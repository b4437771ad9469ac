"""Formulas as in statsmodels: `y ~ age + sex`, with the columns in the same order and of the same names.

Columns of numbers, `C(sex, levels=["f", "m"])`, `Q("a name")`, `1`, `0` and `-1` are understood here. Other terms, such as
`age:sex`, `I(age ** 2)` or `np.log(dose)`, need patsy, which evaluates them as Python. Categories are never taken from the
data, since no site knows those of the others: they stand in the formula or in `levels`. The first level is the reference."""
from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from starling.stats.csv import Columns
from starling.stats.sums import InputError

Levels = Mapping[str, Sequence[Any]]
NAME = r"[^\W\d]\w*"


@dataclass
class Design:
    """The rows of a site without missing values.

    response: float64 [columns of the response, rows]; X: float64 [rows, p]; names: of the columns of X; indicator: [p], true for
    the columns of a category; intercept: X begins with a column of ones; dropped: rows left out."""

    response: np.ndarray
    X: np.ndarray
    names: list[str]
    indicator: np.ndarray
    intercept: bool
    dropped: int
    responses: list[str]


@dataclass
class _Term:
    text: str
    column: str
    levels: Sequence[Any] | None


def column_of(text: str) -> str | None:
    """Return the column that `text` names: a name, or Q("..."); None for anything else."""
    if re.fullmatch(NAME, text):
        return text
    quoted = re.fullmatch(r"""Q\(\s*(["'])(.*)\1\s*\)""", text)
    return quoted[2] if quoted else None


def _term(text: str, levels: Levels) -> _Term | None:
    """Return the term, or None if it is not one of the simple ones."""
    column = column_of(text)
    if column is not None:
        return _Term(text, column, levels.get(column))
    found = re.fullmatch(r"C\((.*?)(?:,\s*levels\s*=\s*(\[.*\]|\(.*\)))?\s*\)", text)
    column = column_of(found[1].strip()) if found else None
    if column is None:
        return None
    try:
        given = ast.literal_eval(found[2]) if found[2] else levels.get(column)
    except (ValueError, SyntaxError):
        given = ""
    if found[2] and not isinstance(given, (list, tuple)):
        raise InputError(f"{text}: the levels are a list of words or numbers")
    if given is None:
        raise InputError(f'{text}: name the levels, the same at all sites: C({column}, levels=["a", "b"]) or --levels {column}=a,b')
    return _Term(f"C({found[1].strip()}, levels={list(given)!r})" if found[2] else text, column, given)


def _parts(text: str) -> list[str]:
    """Return the terms of a sum, each with its sign "+" or "-" in front."""
    parts, depth, quote = ["+"], 0, ""
    for letter in text.strip():
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
        elif letter in "+-" and depth == 0:
            if len(parts) > 1 or parts[0].strip() != "+":
                parts.append(letter)
            else:
                parts = [letter]
            continue
        parts[-1] += letter
    if depth != 0 or quote:
        raise InputError(f"the formula {text!r} has a bracket or quote without its counterpart")
    return [part[0] + part[1:].strip() for part in parts]


def split(formula: str) -> tuple[list[str], str]:
    """Return the names on the left of `formula`, y or Surv(time, event), and its right side."""
    left, tilde, right = formula.partition("~")
    left = left.strip()
    survival = re.fullmatch(r"Surv\((.*),(.*)\)", left)
    names = [column_of(part.strip()) for part in (survival.groups() if survival else [left])]
    if not tilde or not right.strip() or None in names:
        raise InputError(f"{formula!r} is no formula: it has the form 'y ~ age + sex' or 'Surv(time, event) ~ age + sex', and "
                         "Q(\"...\") around a name with blanks or points")
    return names, right.strip()


def _simple(right: str, levels: Levels) -> tuple[list[_Term], bool] | None:
    """Return the terms of a sum of simple ones, those of categories first as in patsy, and whether it has an intercept."""
    terms, intercept = {}, True
    for part in _parts(right):
        sign, text = part[0], part[1:]
        if text in ("0", "1"):
            intercept = (sign == "+") == (text == "1")
            continue
        if text == ".":  # of R; patsy does not know it
            raise InputError(f"{right!r}: '.' does not stand for the other columns here: name them")
        term = _term(text, levels)
        if term is None or sign == "-":
            return None
        terms[term.text] = term
    ordered = sorted(terms.values(), key=lambda term: term.levels is None)
    return ordered, intercept


def _simple_columns(terms: list[_Term], intercept: bool, data: Columns) -> tuple[list[np.ndarray], list[str], list[bool]]:
    columns, names, indicator = [], [], []
    if intercept:
        columns, names, indicator = [np.ones(data.rows)], ["Intercept"], [False]
    full = not intercept  # the first category without a reference
    for term in terms:
        if term.levels is None:
            columns.append(data.numbers(term.column))
            names.append(term.text)
            indicator.append(False)
            continue
        codes = data.codes(term.column, term.levels)
        for place in range(0 if full else 1, len(term.levels)):
            columns.append(np.where(np.isnan(codes), np.nan, codes == place))
            names.append(f"{term.text}[{'' if full else 'T.'}{term.levels[place]}]")
            indicator.append(True)
        full = False
    return columns, names, indicator


def _patsy_data(right: str, levels: Levels, data: Columns) -> tuple[dict[str, Any], np.ndarray]:
    """Return the columns that `right` mentions, as patsy takes them, and which rows have a missing value."""
    from patsy.builtins import C

    found, missing = {}, np.zeros(data.rows, dtype=bool)
    quoted = re.findall(r"""Q\(\s*["'](.*?)["']\s*\)""", right)
    for name in dict.fromkeys(re.findall(rf"(?<![\w.\"']){NAME}(?![\w\"'])(?!\s*\()", right) + quoted):
        if name not in data:
            continue
        if name in levels:
            codes = data.codes(name, levels[name])
            missing |= np.isnan(codes)
            found[name] = C(np.array([None if np.isnan(code) else levels[name][int(code)] for code in codes], dtype=object),
                            levels=list(levels[name]))
        elif re.search(rf"C\(\s*(Q\([\"'])?{re.escape(name)}[\"')]*\s*,\s*levels", right):
            words = data.words(name)
            found[name], absent = words, np.array([word is None for word in words], dtype=bool)
            missing |= absent
        else:
            found[name] = data.numbers(name)
            missing |= np.isnan(found[name])
    return found, missing


def _patsy_columns(right: str, levels: Levels, data: Columns) -> tuple[np.ndarray, list[str], list[bool], bool, np.ndarray]:
    """Return the columns of any formula of patsy: X [complete rows, p], names, indicators, intercept, complete rows."""
    try:
        import patsy
        from patsy.builtins import C
    except ImportError:
        raise InputError(f"{right!r} has more than columns, C(...) and +: install patsy (Debian: python3-patsy)") from None
    found, missing = _patsy_data(right, levels, data)

    def build(rows: np.ndarray) -> Any:
        boxed = type(C([0]))
        part = {name: boxed(values.data[rows], values.contrast, values.levels) if isinstance(values, boxed) else values[rows]
                for name, values in found.items()}
        with np.errstate(all="ignore"):
            return patsy.dmatrix(right, {"rows": np.ones(int(rows.sum())), "np": np, **part}, NA_action=patsy.NAAction(NA_types=[]))

    kept = ~missing
    try:
        X = build(kept)
        half = kept & (np.cumsum(kept) <= (kept.sum() + 1) // 2)
        info = X.design_info
        for factor, described in info.factor_infos.items():
            if described.type == "categorical" and "levels" not in factor.code and factor.code not in levels:
                raise InputError(f"{factor.code}: name the levels, the same at all sites: C(..., levels=[...]) or --levels NAME=A,B")
        same = X.shape[0] < 2 or np.array_equal(build(half), np.asarray(X)[:int(half.sum())])
    except InputError:
        raise
    except Exception as flaw:  # patsy evaluates text of the user, which may raise anything
        raise InputError(f"{right!r}: {str(flaw).splitlines()[0] if str(flaw) else type(flaw).__name__}; terms are Python, not R: "
                         "np.log(age), I(age ** 2), Q(\"a.name\")") from None
    if not np.isfinite(X).all():
        place = int(np.flatnonzero(~np.isfinite(X).all(axis=1))[0])
        raise InputError(f"{data.at(int(np.flatnonzero(kept)[place]))}: {right!r} has a value that is not finite, such as the logarithm of 0")
    if not same:
        raise InputError(f"{right!r} has a term that depends on other rows of the site, such as center() or bs(): each site would "
                         "compute another column")
    indicator = np.zeros(X.shape[1], dtype=bool)
    for term, place in info.term_slices.items():
        indicator[place] = bool(term.factors) and all(info.factor_infos[factor].type == "categorical" for factor in term.factors)
    names = list(info.column_names)
    return np.asarray(X, dtype=np.float64), names, list(indicator), names[:1] == ["Intercept"], kept


def _response(names: list[str], levels: Levels, data: Columns) -> np.ndarray:
    """Return the columns on the left, float64 [columns, rows]; of one with two levels, 1 for the second."""
    rows = []
    for name in names:
        if name in levels and len(levels[name]) != 2:
            raise InputError(f"{name}, on the left of ~, is a number or has two levels, not {len(levels[name])}")
        rows.append(data.codes(name, levels[name]) if name in levels else data.numbers(name))
    return np.array(rows)


def design(formula: str, data: Columns, levels: Levels | None = None, extra: Sequence[str] = ()) -> Design:
    """Return the response and the columns of `formula` in the rows without missing values.

    levels: categories of columns of words by name. extra: columns of numbers that are rows of `response` after the left side.
    InputError: the formula or a column cannot be used, or no row is left."""
    levels = levels or {}
    responses, right = split(formula)
    response = np.concatenate([_response(responses, levels, data), *(data.numbers(name)[None] for name in extra)])
    simple = _simple(right, levels)
    if simple is None:
        X, names, indicator, intercept, complete = _patsy_columns(right, levels, data)
    else:
        columns, names, indicator = _simple_columns(*simple, data)
        X, intercept = np.array(columns).T.reshape(data.rows, len(columns)), simple[1]
        complete = ~np.isnan(X).any(axis=1)
        X = X[complete]
    kept = complete & ~np.isnan(response).any(axis=0)
    check_rows(int(kept.sum()), data, [*responses, right])
    return Design(response[:, kept], X[kept[complete]], names, np.array(indicator, dtype=bool), intercept,
                  int(data.rows - kept.sum()), responses)


def check_rows(rows: int, data: Columns, names: Sequence[str]) -> None:
    """Raise InputError if no row is left."""
    if data.rows == 0:
        raise InputError(f"{data.source}: there are no rows")
    if rows == 0:
        raise InputError(f"{data.source}: each of its {data.rows} rows has a missing value in {', '.join(names)}: no row is left")
