"""Estimators of scikit-learn with `partial_fit`, trained over Starling.

    from sklearn.linear_model import SGDClassifier
    import starling.sklearn

    model = starling.sklearn.fit(SGDClassifier(loss="log_loss"), X, y, classes=[0, 1], standardize=True)
    model.predict(X)

X is an array of [samples, features], y of [samples]: the data of the own learner. All learners run the same script on
their own data.

With `standardize`, every learner scales its columns by the mean and the variance of the columns of all. No learner shows
its own: count, sums and sums of squares are tensors of the model, next to those of the estimator. In round 1 each learner
gives its own numbers; their private mean is all that is needed. From round 2 on each learner gives that mean back: it
does not change, and a learner that was started again finds it in the committed model. The sums need a wide range and many
decimals: let the learners agree on both, as they do by default (`clipping_range: auto`, `decimals: auto`). Each learner
then learns the order of magnitude of the largest sum of every other one.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from starling.group import join

# Attributes with the learned arrays: of linear models, and (lists of arrays) of neural networks.
LEARNED = ("coef_", "intercept_", "coefs_", "intercepts_")


# ---- mean and variance of the columns of all learners ----

def sums(X: np.ndarray) -> dict[str, np.ndarray]:
    """Return count [], sum [features] and squares [features] of the columns of X, in float64: a part of a model."""
    X = np.asarray(X, dtype=np.float64)
    return {"count": np.array(float(len(X))), "sum": X.sum(axis=0), "squares": (X * X).sum(axis=0)}


def scaler(mean: dict[str, np.ndarray]) -> Any:
    """Return the fitted sklearn StandardScaler of the columns whose `sums` have this mean over the learners."""
    from sklearn.preprocessing import StandardScaler

    made = StandardScaler()
    made.mean_ = mean["sum"] / mean["count"]
    made.var_ = np.maximum(mean["squares"] / mean["count"] - made.mean_ ** 2, 0)
    made.scale_ = np.where(made.var_ > 0, np.sqrt(made.var_), 1.0)
    made.n_features_in_ = made.mean_.size
    return made


def standardize(X: np.ndarray, path: str | None = None) -> Any:
    """Return a fitted StandardScaler of the columns of all learners: a run of its own, of which one round is enough.

    To do more in the same run, let `sums` be a part of your model as `fit` does."""
    own = sums(X)
    with join(own, path) as group:
        for _ in group:
            own = group.mean(own)
    return scaler(own)


# ---- training ----

def learned(estimator: Any) -> dict[str, Any]:
    """Return the arrays that `estimator` has learned, by name."""
    found = {name: getattr(estimator, name) for name in LEARNED if hasattr(estimator, name)}
    if not found or getattr(estimator, "average", False):
        raise TypeError(f"{type(estimator).__name__} cannot be averaged: it must have one of {', '.join(LEARNED)} after "
                        "partial_fit, and no average of its own")
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
        standardize: bool = False, path: str | None = None) -> Any:
    """Train `estimator` in every round of the run: `epochs` times partial_fit on X and y, then the mean of all learners.

    `classes`: all classes of all learners, for a classifier. `path`: see `starling.join`. The weight of a learner is its
    number of samples (with `standardize`, it is 1 in round 1). An estimator with random initial weights, such as
    MLPClassifier, needs the same `random_state` at all learners.

    Returns the estimator; with `standardize` a Pipeline of the scaler and the estimator, for columns as they are."""
    own = sums(X)
    columns = own
    with join(path=path) as group:
        for _ in group:
            weight = 1 if standardize and group.committed == 0 else len(X)  # sums are added up as they are
            inputs = scaler(columns).transform(X) if standardize else X
            _train(estimator, inputs, y, classes, epochs)
            model = {"estimator": learned(estimator)}
            if standardize:
                model["columns"] = columns
            model = group.mean(model, weight=weight, metrics={"score": estimator.score(inputs, y)})
            learn(estimator, model["estimator"])
            columns = model.get("columns", own)
    if not standardize:
        return estimator
    from sklearn.pipeline import make_pipeline

    return make_pipeline(scaler(columns), estimator)
