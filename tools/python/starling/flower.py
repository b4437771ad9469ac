"""Run a Flower client over Starling, unchanged: a NumPyClient, which does not need Flower, or a ClientApp of the message API."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from starling.dp import refuse_record
from starling.group import Group, join


class _Config(dict[str, Any]):
    def __missing__(self, key: str) -> Any:
        raise KeyError(f"{key}: what a server of Flower would send is the argument config of starling.flower.run")


class _App:
    """A ClientApp with functions for train and evaluate, as a NumPyClient whose parameters are arrays by name."""

    def __init__(self, app: Callable[[Any, Any], Any], group: Group, run_config: Mapping[str, Any]) -> None:
        import flwr.app

        self._app, self._flwr, self._evaluates = app, flwr.app, True
        node = {"partition-id": group.learner - 1, "num-partitions": group.learners}
        self._context = flwr.app.Context(run_id=1, node_id=group.learner, node_config=node, state=flwr.app.RecordDict(),
                                         run_config=dict(run_config))

    def _ask(self, kind: str, parameters: Mapping[str, np.ndarray], config: Mapping[str, Any]) -> tuple[Any, int, dict[str, Any]]:
        arrays = self._flwr.ArrayRecord({name: self._flwr.Array(array) for name, array in parameters.items()})
        content = self._flwr.RecordDict({"arrays": arrays, "config": self._flwr.ConfigRecord(dict(config))})
        answer = getattr(self._app(self._flwr.Message(content, dst_node_id=1, message_type=kind), self._context), "content", None)
        if answer is None or (kind == "train" and len(answer.array_records) != 1):
            raise ValueError(f"the function for {kind} returns a Message" + ", with one ArrayRecord" * (kind == "train"))
        metrics = {name: value for record in answer.metric_records.values() for name, value in record.items()}
        return answer.array_records, metrics.pop("num-examples", 1), metrics

    def fit(self, parameters: Mapping[str, np.ndarray], config: Mapping[str, Any]) -> tuple[Any, int, dict[str, Any]]:
        records, examples, metrics = self._ask("train", parameters, config)
        arrays, = records.values()
        return {name: array.numpy() for name, array in arrays.items()}, int(examples), metrics

    def evaluate(self, parameters: Mapping[str, np.ndarray], config: Mapping[str, Any]) -> tuple[Any, int, dict[str, Any]]:
        try:
            return self._ask("evaluate", parameters, config) if self._evaluates else (None, 0, {})
        except ValueError as flaw:  # the app may have no function for it
            self._evaluates = "registered" not in str(flaw)
            if self._evaluates:
                raise
            return None, 0, {}


def _by_name(initial: Any) -> dict[str, np.ndarray]:
    """Return the arrays of a state dict, an ArrayRecord, or a list, with the names that an ArrayRecord has."""
    pairs = initial.items() if isinstance(initial, Mapping) else enumerate(initial)
    return {str(name): value.numpy() if hasattr(value, "numpy") else np.asarray(value) for name, value in pairs}


def _numbers(metrics: Mapping[str, Any], prefix: str = "") -> dict[str, float]:
    return {prefix + name: float(value) for name, value in metrics.items() if isinstance(value, (int, float, np.number))}


def _answer(client: Any, name: str, first: str, parameters: Any, config: Mapping[str, Any]) -> tuple[Any, int, Mapping[str, Any]]:
    """Return what the method `name` of the client returns. ValueError if a server of Flower could not use it."""
    answer = getattr(client, name)(parameters, config)
    fits = isinstance(answer, (tuple, list)) and len(answer) == 3 and isinstance(answer[2], Mapping)
    if not fits or (name == "fit" and not isinstance(answer[0], Iterable)):
        parts = ", ".join(type(part).__name__ for part in answer) if isinstance(answer, (tuple, list)) else type(answer).__name__
        raise ValueError(f"{name} of {type(client).__name__} returns ({parts}), not ({first}, number of examples, dict of metrics)")
    return tuple(answer)


def _evaluate(client: Any, parameters: Any, config: Mapping[str, Any]) -> dict[str, float]:
    if not callable(getattr(client, "evaluate", None)):
        return {}
    loss, _, metrics = _answer(client, "evaluate", "loss", parameters, config)
    return _numbers({"loss": loss, **metrics}, "evaluate_")


def run(client: Any, path: str | None = None, metrics: Sequence[str] = (), values: str = "update", integers: str | None = None, *,
        initial: Any = None, config: Mapping[str, Any] | Callable[[int], Mapping[str, Any]] = {}, run_config: Mapping[str, Any] = {}) -> Any:
    """Train `client` in every round of the run and return the last common parameters.

    `client`: a NumPyClient, or a ClientApp with functions for train and evaluate. `initial`: what a server of Flower begins
    with, the same at all learners: the parameters of a NumPyClient without `get_parameters`, the state dict of a ClientApp.
    `config`: what the server sends, or a function of the round that returns it; "server_round", "server-round" and "round"
    are added. `run_config`: that of the context of a ClientApp, whose node_config has "partition-id" and "num-partitions".

    The number of examples that `fit` returns, or the metric "num-examples", is the weight. The numbers among its metrics
    are logged with the model of round t. Those of `evaluate`, named evaluate_loss, evaluate_accuracy and so on, concern the
    mean of round t: they are logged with the model of round t+1, and after the last round they are printed.
    `path`, `metrics`, `values`, `integers`: see `starling.join`. If `metrics` names one of `evaluate`, it evaluates before the first round."""
    def configured(t: int) -> _Config:
        sent = config(t) if callable(config) else config
        if not isinstance(sent, Mapping):
            raise ValueError(f"config is a dict, or a function of the round that returns one, not {sent!r}")
        return _Config(sent, round=t, server_round=t, **{"server-round": t})

    client = getattr(client, "numpy_client", client)  # of `to_client`
    is_app = not hasattr(client, "fit")
    if isinstance(client, type) or (is_app and not callable(client)):
        raise ValueError(f"client is an object with a method fit, or a ClientApp, not {client!r}")
    parameters = client.get_parameters({}) if initial is None and callable(getattr(client, "get_parameters", None)) else initial
    if parameters is None or len(parameters) == 0:
        raise ValueError("the initial parameters are missing: give them as `initial`, as the server of Flower has them")
    parameters, evaluated = _by_name(parameters) if is_app else list(parameters), {}
    with join(parameters, path, metrics, values, integers=integers) as group:
        refuse_record(group, "a client of Flower")
        client = _App(client, group, run_config) if is_app else client
        for t in group:
            parameters = group.model if group.committed > 0 else parameters
            if not evaluated and any(name.startswith("evaluate_") for name in metrics):
                evaluated = _evaluate(client, parameters, configured(t - 1))
            trained, examples, fitted = _answer(client, "fit", "list of arrays", parameters, configured(t))
            parameters = group.mean(trained if is_app else list(trained), weight=examples, metrics={**_numbers(fitted), **evaluated})
            evaluated = _evaluate(client, parameters, configured(t)) if group.committed >= t else evaluated
        parameters = group.model if group.committed > 0 else parameters  # if the run was over, there was no round
    if evaluated:
        print(f"round {group.committed}:", *(f"{name} {value:.6g}" for name, value in evaluated.items()))
    return parameters
