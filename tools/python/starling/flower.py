"""Run a Flower NumPyClient over Starling, unchanged. Flower itself is not needed."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from starling.group import join

Parameters = list[np.ndarray]


class NumPyClient(Protocol):
    """The methods of flwr.client.NumPyClient that `run` calls. `evaluate` may be missing."""

    def get_parameters(self, config: dict[str, Any]) -> Parameters: ...

    def fit(self, parameters: Parameters, config: dict[str, Any]) -> tuple[Parameters, int, dict[str, Any]]: ...

    def evaluate(self, parameters: Parameters, config: dict[str, Any]) -> tuple[float, int, dict[str, Any]]: ...


def _numbers(metrics: dict[str, Any], prefix: str = "") -> dict[str, float]:
    return {prefix + name: float(value) for name, value in metrics.items()
            if isinstance(value, (int, float, np.number))}


def _evaluate(client: NumPyClient, parameters: Parameters, config: dict[str, Any]) -> dict[str, float]:
    if not hasattr(client, "evaluate"):
        return {}
    loss, _, metrics = client.evaluate(parameters, config)
    return _numbers({"loss": loss, **metrics}, "evaluate_")


def run(client: NumPyClient, path: str | None = None, metrics: Sequence[str] = (), values: str = "update",
        integers: str | None = None) -> Parameters:
    """Train `client` in every round of the run and return the last common parameters.

    `fit` and `evaluate` get the configuration {"round": t, "server_round": t}. The number of examples that `fit` returns
    is the weight. The numbers among its metrics are logged with the model of round t. Those of `evaluate`, named
    evaluate_loss, evaluate_accuracy and so on, concern the mean of round t: they are logged with the model of round
    t+1, and after the last round they are printed.
    `path`, `metrics`, `values`, `integers`: see `starling.join`. If `metrics` names one of `evaluate`, the client evaluates also
    before the first round, so that each round has it.

    There is no common initial model: in the first round each client trains from its own parameters, so give all clients
    the same ones."""
    parameters = list(client.get_parameters({}))
    if not parameters:
        raise ValueError("get_parameters must return the initial parameters: their shapes are the model")
    evaluated: dict[str, float] = {}
    with join(parameters, path, metrics, values, integers=integers) as group:
        for t in group:
            config = {"round": t, "server_round": t}
            if group.committed > 0:
                parameters = group.model
            if not evaluated and any(name.startswith("evaluate_") for name in metrics):
                evaluated = _evaluate(client, parameters, {"round": t - 1, "server_round": t - 1})
            trained, examples, fitted = client.fit(parameters, config)
            parameters = group.mean(list(trained), weight=examples, metrics={**_numbers(fitted), **evaluated})
            if group.committed >= t:
                evaluated = _evaluate(client, parameters, config)
    if evaluated:
        print(f"round {group.committed}:", *(f"{name} {value:.6g}" for name, value in evaluated.items()))
    return parameters
