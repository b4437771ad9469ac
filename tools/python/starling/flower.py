"""Run a Flower NumPyClient over Starling, unchanged. Flower itself is not needed."""
from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from starling.group import join

Parameters = list[np.ndarray]


class NumPyClient(Protocol):
    """What is used of flwr.client.NumPyClient."""

    def get_parameters(self, config: dict[str, Any]) -> Parameters: ...

    def fit(self, parameters: Parameters, config: dict[str, Any]) -> tuple[Parameters, int, dict[str, Any]]: ...

    def evaluate(self, parameters: Parameters, config: dict[str, Any]) -> tuple[float, int, dict[str, Any]]: ...


def run(client: NumPyClient, path: str | None = None) -> Parameters:
    """Train `client` in every round of the run and return the last common parameters.

    `fit` and `evaluate` get the configuration {"round": t, "server_round": t}. The number of examples that `fit` returns
    is the weight; numbers among its metrics are logged. `path`: see `starling.join`. There is no common initial model:
    in the first round each client trains from its own parameters, so give all clients the same ones."""
    parameters = client.get_parameters({})
    if not parameters:
        raise ValueError("get_parameters must return the initial parameters: their shapes are the model")
    with join(list(parameters), path) as group:
        for t in group:
            config = {"round": t, "server_round": t}
            begun = group.model
            trained, examples, metrics = client.fit(parameters if begun is None else begun, config)
            numbers = {name: float(value) for name, value in metrics.items() if isinstance(value, (int, float))}
            parameters = group.mean(list(trained), weight=examples, metrics=numbers)
            if group.committed >= t and hasattr(client, "evaluate"):
                client.evaluate(parameters, config)
    return parameters
