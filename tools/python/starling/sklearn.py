"""Estimators of scikit-learn with `partial_fit`, trained over Starling.

    from sklearn.linear_model import SGDClassifier
    import starling.sklearn

    model = starling.sklearn.fit(SGDClassifier(loss="log_loss"), X, y, classes=[0, 1], standardize=True)
    model.predict(X)

X is an array of [samples, features], y of [samples]: the data of the own learner. All learners run the same script on
their own data.

With `standardize`, every learner scales its columns by the mean and the variance of the columns of all. Three rounds find
them before the training begins, as tensors of the model next to those of the estimator. No learner shows its own numbers,
only the private mean over the learners is known:

    round 1: `unit`, log2 of the largest |x| of each column; the mean, rounded, is the exponent of the common unit u
    round 2: `mean` of x / u
    round 3: `variance` of x / u about this common mean

Columns of any magnitude thus give values near 1, which keep their digits. Each learner gives what is known back, so that a
learner that was started again finds it in the committed model. In these rounds the estimator is trained as well, on columns
that are scaled by the own data; from round 4 on they are scaled by the data of all.
"""
from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from starling import dp
from starling.group import Error, Group, join

# Attributes with the learned arrays: of linear models, and (lists of arrays) of neural networks.
LEARNED = ("coef_", "intercept_", "offset_", "coefs_", "intercepts_")  # offset_: of SGDOneClassSVM


# ---- mean and variance of the columns of all learners ----

STAGES = ("unit", "mean", "variance")  # what the rounds 1, 2 and 3 find: tensors of shape [features]
STEPS = 100  # the least variance whose digits are not lost, in steps of 10^-decimals


def _columns(X: np.ndarray, known: dict[str, np.ndarray] | None, stage: int) -> dict[str, np.ndarray]:
    """Return the tensors after `stage` committed rounds: those `known` by then, the own one of the next round, zeros."""
    part = {name: known[name] if place < stage else np.zeros(X.shape[1]) for place, name in enumerate(STAGES)}
    part["unit"] = np.round(part["unit"])  # an integer stays the same with any number of decimals
    scaled = X / np.exp2(part["unit"])
    if stage == 0:
        largest = np.abs(X).max(axis=0)
        part["unit"] = np.log2(np.where(largest > 0, largest, 1.0))
    elif stage == 1:
        part["mean"] = scaled.mean(axis=0)
    elif stage == 2:
        part["variance"] = ((scaled - part["mean"]) ** 2).mean(axis=0)
    return part


def _scaler(X: np.ndarray, known: dict[str, np.ndarray] | None, stage: int) -> Any:
    """Return the fitted StandardScaler of the columns of all learners; of the own ones, X, before `stage` 3."""
    from sklearn.preprocessing import StandardScaler

    if stage < len(STAGES):
        return StandardScaler().fit(X)
    made = StandardScaler()
    unit, variance = np.exp2(np.round(known["unit"])), known["variance"]
    made.mean_, made.var_ = known["mean"] * unit, variance * unit ** 2
    made.scale_ = np.where(variance > 0, np.sqrt(variance) * unit, 1.0)
    made.n_features_in_ = X.shape[1]
    return made


def _warn_of_lost_digits(X: np.ndarray, known: dict[str, np.ndarray], group: Group) -> None:
    least = 0.0 if group.decimals is None else STEPS * 10.0 ** -group.decimals
    lost = np.flatnonzero((known["variance"] <= least) & (np.ptp(X, axis=0) > 0))
    if lost.size > 0:
        warnings.warn(f"column {', '.join(map(str, lost))} varies too little next to its largest value: digits of its variance "
                      "are lost; subtract the same constant from it at all learners", stacklevel=3)


def _dense(X: Any) -> np.ndarray:
    if hasattr(X, "nnz"):
        raise TypeError("standardize takes no sparse matrix: scaled columns have no zeros; give X.toarray(), or leave standardize out")
    return np.asarray(X, dtype=np.float64)


def _named(scaler: Any, X: Any) -> Any:
    """Give `scaler` the names of the columns of a DataFrame; it then compares them with those of other frames."""
    if all(isinstance(name, str) for name in getattr(X, "columns", [None])):
        scaler.feature_names_in_ = np.asarray(X.columns, dtype=object)
    return scaler


def _need_rounds(group: Group, least: int) -> None:
    if group.rounds < least:
        raise Error(f"standardize needs at least {least} rounds, not {group.rounds}: it finds the scale in {len(STAGES)}")


def standardize(X: np.ndarray, path: str | None = None) -> Any:
    """Return a fitted StandardScaler of the columns of all learners: a run of its own, of at least three rounds.

    `path`: see `starling.join`. The weight of a learner is its number of samples. A warning names columns of whose variance
    digits were lost. Raises Error if the run has fewer rounds."""
    frame, X = X, _dense(X)
    with join(_columns(X, {}, 0), path, values="model") as group:
        dp.refuse(group, "the scale of columns")
        _need_rounds(group, len(STAGES))
        for _ in group:
            group.mean(_columns(X, group.model, group.committed), weight=len(X))
        _warn_of_lost_digits(X, group.model, group)
        return _named(_scaler(X, group.model, group.committed), frame)


# ---- training ----

def _check(estimator: Any) -> None:
    name = type(estimator).__name__
    if isinstance(estimator, type):
        raise TypeError(f"give an estimator, {estimator.__name__}(...), not its class")
    if not hasattr(estimator, "partial_fit"):
        raise TypeError(f"{name} cannot be trained in rounds: it has no partial_fit" +
                        ("; give its last step, and standardize=True in the place of a StandardScaler" if hasattr(estimator, "steps") else ""))
    if hasattr(estimator, "hidden_layer_sizes") and not hasattr(estimator, "coefs_") and estimator.random_state is None:
        raise ValueError(f"{name} needs a random_state, the same at all learners: the mean of networks that begin with "
                         "different random weights is of no use")


def learned(estimator: Any) -> dict[str, Any]:
    """Return the arrays that `estimator` has learned, by name."""
    found = {name: getattr(estimator, name) for name in LEARNED if hasattr(estimator, name)}
    if not found or getattr(estimator, "average", False):
        raise TypeError(f"{type(estimator).__name__} cannot be averaged: it must have one of {', '.join(LEARNED)} after "
                        "partial_fit, and no average of its own; average other arrays, such as cluster_centers_, with starling.join")
    return found


def learn(estimator: Any, arrays: dict[str, Any]) -> None:
    """Set the learned arrays of `estimator`, which was trained before, to `arrays`, as `learned` returns them."""
    for name, value in arrays.items():
        setattr(estimator, name, value)


def _train(estimator: Any, X: np.ndarray, y: np.ndarray, classes: Sequence[Any] | None, epochs: int) -> None:
    arguments = {} if classes is None else {"classes": np.asarray(classes)}
    for _ in range(epochs):
        estimator.partial_fit(X, y, **arguments)


def fit(estimator: Any, X: np.ndarray, y: np.ndarray, *, classes: Sequence[Any] | None = None, epochs: int = 1,
        standardize: bool = False, path: str | None = None, values: str | None = None) -> Any:
    """Train `estimator` in every round of the run: `epochs` times partial_fit on X and y, then the mean of all learners.

    `classes`: all classes of all learners, for a classifier. `path`: see `starling.join`. The weight of a learner is its
    number of samples. A neural network, such as MLPClassifier, needs the same `random_state` at all learners.
    `standardize`: scale the columns by the data of all; the first three rounds find the scale, so there must be four.
    `values`: see `starling.join`; without it "update", with `standardize` "model", because the scale is no update.

    Returns the estimator; with `standardize` a Pipeline of the scaler and the estimator, for columns as they are. A warning
    then names columns of whose variance digits were lost. Raises TypeError if the estimator cannot be averaged, ValueError
    if `random_state` is missing, Error if `standardize` has too few rounds."""
    _check(estimator)
    frame, X, columns = X, _dense(X) if standardize else X, None
    samples = X.shape[0] if hasattr(X, "shape") else len(X)
    with join(path=path, values=values or ("model" if standardize else "update")) as group:
        dp.refuse(group, "an estimator of scikit-learn")
        for _ in group:
            inputs = _scaler(X, columns, group.committed).transform(X) if standardize else X
            _train(estimator, inputs, y, classes, epochs)
            model = {"estimator": learned(estimator)}
            if standardize:
                model["columns"] = _columns(X, columns, group.committed)
            scores = {"score": estimator.score(inputs, y)} if hasattr(estimator, "score") else {}
            model = group.mean(model, weight=samples, metrics=scores)
            if standardize:
                _need_rounds(group, len(STAGES) + 1)
            learn(estimator, model["estimator"])
            columns = model.get("columns")
            if standardize and group.committed == len(STAGES):
                _warn_of_lost_digits(X, columns, group)
    if not standardize:
        return estimator
    from sklearn.pipeline import make_pipeline

    return make_pipeline(_named(_scaler(X, columns, group.committed), frame), estimator)
