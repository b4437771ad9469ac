"""A Flower client, unchanged, against a learner that follows a script."""
import contextlib
import io
import sys
import types
import unittest
from unittest import mock

import numpy as np
from fake_learner import FakeLearner
from starling import flower


class Client:
    def __init__(self):
        self.calls = []

    def get_parameters(self, config):
        return [np.zeros((1, 2), dtype=np.float32), np.zeros(1, dtype=np.float32)]

    def fit(self, parameters, config):
        self.calls.append(("fit", config["server_round"], float(parameters[0][0, 0])))
        return [parameters[0] + 1, parameters[1]], 25, {"loss": 0.5, "note": "text"}

    def evaluate(self, parameters, config):
        self.calls.append(("evaluate", config["server_round"], float(parameters[0][0, 0])))
        return 0.1, 10, {"accuracy": np.float32(0.5)}


EVALUATED = {"evaluate_loss": 0.1, "evaluate_accuracy": 0.5}


def run(test, metrics, heard):
    """Run two rounds; in each the learner hears the next of `heard`. Return the client, its model and what was printed."""
    def script(learner):
        learner.accept()
        test.assertEqual([t["shape"] for t in learner.tensors], [[1, 2], [1]])
        test.assertEqual((learner.names, learner.values), (metrics, "update"))
        for t, numbers in enumerate(heard, 1):
            learner.train(t, t - 1)
            said = learner.hear("trained")
            test.assertEqual((said["weight"], said["metrics"]), (25, numbers))
            learner.mean(t, 10 * t)
        learner.tell("done")

    client, printed = Client(), io.StringIO()
    with FakeLearner(script) as learner, contextlib.redirect_stdout(printed):
        parameters = flower.run(client, learner.path, metrics=metrics)
    return client, parameters, printed.getvalue()


class Flower(unittest.TestCase):
    def test_a_client_runs_unchanged(self):
        client, parameters, printed = run(self, [], [{"loss": 0.5}, {"loss": 0.5, **EVALUATED}])
        self.assertEqual(client.calls, [("fit", 1, 0), ("evaluate", 1, 10), ("fit", 2, 10), ("evaluate", 2, 20)])
        self.assertEqual(parameters[1].dtype, np.float32)
        self.assertEqual(printed, "round 2: evaluate_loss 0.1 evaluate_accuracy 0.5\n")

    def test_a_client_that_comes_after_the_last_round(self):
        def script(learner):
            learner.accept()
            learner.mean(5, 10)
            learner.tell("done")

        client = Client()
        with FakeLearner(script) as learner:
            parameters = flower.run(client, learner.path)
        self.assertEqual((client.calls, [part.tolist() for part in parameters]), ([], [[[10, 10]], [10]]))

    def test_a_quantized_client(self):
        client = Client()
        client.get_parameters = lambda config: [np.zeros(3, np.int8), np.zeros(1)]
        with self.assertRaisesRegex(ValueError, 'integers="keep"'):
            flower.run(client, "/dev/null/x")

        def script(learner):
            learner.accept()
            learner.tell("done")

        with FakeLearner(script) as learner, contextlib.redirect_stderr(io.StringIO()) as said:
            flower.run(client, learner.path, integers="keep")
        self.assertIn("75 % of the values", said.getvalue())

    def test_an_averaged_evaluation_is_there_in_every_round(self):
        client, _, _ = run(self, ["evaluate_accuracy"], [{"loss": 0.5, **EVALUATED}] * 2)
        self.assertEqual(client.calls[:2], [("evaluate", 0, 0), ("fit", 1, 0)])


class Answers(unittest.TestCase):
    """What a server of Flower could not use either is named, before the learner has anything of it."""

    def refused(self, text, client, **options):
        def script(learner):
            learner.begin()
            learner._lines.readline()

        with FakeLearner(script) as learner, self.assertRaisesRegex(ValueError, text):
            flower.run(client, learner.path, **options)

    def test_answers_of_a_client(self):
        for name, first in (("fit", "list of arrays"), ("evaluate", "loss")):
            for answer, parts in ((None, "NoneType"), ([np.zeros(1)] * 2, "ndarray, ndarray"), ((5, 5, None), "int, int, NoneType"),
                                  ((0.5, 5, 0.1), "float, int, float"), (([], 5, {}, 1), "list, int, dict, int"), (0.5, "float")):
                client = Client()
                setattr(client, name, lambda parameters, config: answer)
                with self.subTest(name, parts=parts):
                    self.refused(rf"^{name} of Client returns \({parts}\), not \({first}, number of examples, dict of metrics\)$", client,
                                 metrics=["evaluate_accuracy"])

    def test_parameters_that_are_none(self):
        for parameters, kind in ((None, "NoneType"), (0.5, "float")):
            client = Client()
            client.fit = lambda given, config: (parameters, 5, {})
            self.refused(rf"^fit of Client returns \({kind}, int, dict\), not \(list of arrays,", client)

    def test_configs(self):
        for config in (5, lambda t: None):
            self.refused("config is a dict, or a function of the round that returns one, not (5|None)", Client(), config=config)

    def test_answers_of_an_app(self):
        flwr = stand_in()
        with mock.patch.dict(sys.modules, {"flwr": types.ModuleType("flwr"), "flwr.app": flwr}):
            sys.modules["flwr"].app = flwr
            for app in (lambda message, context: None, lambda message, context: flwr.Message(flwr.RecordDict(), reply_to=message)):
                self.refused("the function for train returns a Message, with one ArrayRecord", app, initial={"w": np.zeros(2)})

    def test_clients_of_another_kind(self):
        for client in (Client, None, object()):
            with self.assertRaisesRegex(ValueError, "client is an object with a method fit, or a ClientApp, not "):
                flower.run(client, "/dev/null/x")
        client = Client()
        client.get_parameters = client.evaluate = None
        with self.assertRaisesRegex(ValueError, "initial parameters are missing"):
            flower.run(client, "/dev/null/x")

        def script(learner):
            learner.begin_trained()
            learner.mean(1, 7)
            learner.tell("done")

        with FakeLearner(script) as learner:
            self.assertEqual(flower.run(client, learner.path, initial=Client().get_parameters({}))[1].tolist(), [7])


class Documented(unittest.TestCase):
    """Clients as the documents of Flower show them today."""

    def averaged(self, client, weight, heard, **options):
        """Run one round, in which the learner hears the tensors `heard`; return the parameters."""
        def script(learner):
            learner.begin()
            self.assertEqual(learner.hear("trained")["weight"], weight)
            self.assertEqual(learner.up.tolist(), heard)
            learner.mean(1, 7)
            learner.tell("done")

        with FakeLearner(script) as learner, contextlib.redirect_stdout(io.StringIO()) as said:
            return flower.run(client, learner.path, **options), said.getvalue()

    def test_a_client_without_get_parameters(self):
        class Base:
            def get_parameters(self, config):
                return []

            def to_client(self):
                wrapped = type("Wrapped", (), {})()
                wrapped.numpy_client = self
                return wrapped

        class FlowerClient(Base):
            def fit(self, parameters, config):
                return [p + config["lr"] * config["epochs"] for p in parameters], 30, {"train_loss": 0.5}

        with self.assertRaisesRegex(ValueError, "initial parameters are missing: give them as `initial`"):
            flower.run(FlowerClient(), "/dev/null/x")
        initial = [np.zeros(2), np.ones(1)]
        options = {"initial": initial, "config": lambda t: {"lr": 0.5 * t, "epochs": 4}}
        for client in (FlowerClient(), FlowerClient().to_client()):
            parameters, _ = self.averaged(client, 30, [2, 2, 3], **options)
            self.assertEqual([p.tolist() for p in parameters], [[7, 7], [7]])

        def script(learner):
            learner.begin()

        with FakeLearner(script) as learner, self.assertRaisesRegex(KeyError, "lr: what a server .* is the argument config"):
            flower.run(FlowerClient(), learner.path, initial=initial)

    def test_a_client_app(self):
        def train(message, context):
            config, arrays = message.content["config"], message.content["arrays"]
            self.assertEqual((config["server-round"], message.metadata.message_type), (1, "train"))
            self.assertEqual((context.node_config, context.run_config), ({"partition-id": 1, "num-partitions": 3}, {"epochs": 2}))
            trained = {name: flwr.Array(array.numpy() + config["lr"]) for name, array in arrays.items()}
            content = flwr.RecordDict({"model": flwr.ArrayRecord(trained), "metrics": flwr.MetricRecord({"loss": 1.5, "num-examples": 30})})
            return flwr.Message(content, reply_to=message)

        def evaluate(message, context):
            self.assertEqual(message.content["arrays"]["b"].numpy().tolist(), [7])
            return flwr.Message(flwr.RecordDict({"m": flwr.MetricRecord({"eval_acc": 0.75, "num-examples": 5})}), reply_to=message)

        def app(functions):
            def call(message, context):
                if message.metadata.message_type not in functions:
                    raise ValueError("No evaluate function registered with name 'default'")
                return functions[message.metadata.message_type](message, context)
            return call

        flwr = stand_in()
        options = {"initial": {"w": np.zeros(2), "b": np.ones(1)}, "config": {"lr": 0.5}, "run_config": {"epochs": 2}}
        with mock.patch.dict(sys.modules, {"flwr": types.ModuleType("flwr"), "flwr.app": flwr}):
            sys.modules["flwr"].app = flwr
            parameters, said = self.averaged(app({"train": train, "evaluate": evaluate}), 30, [1.5, 0.5, 0.5], **options)
            self.assertEqual({name: array.tolist() for name, array in parameters.items()}, {"w": [7, 7], "b": [7]})
            self.assertEqual(said, "round 1: evaluate_eval_acc 0.75\n")
            _, said = self.averaged(app({"train": train}), 30, [1.5, 0.5, 0.5], **options)
            self.assertEqual(said, "")
            with self.assertRaisesRegex(ValueError, "initial parameters are missing"):
                flower.run(app({}), "/dev/null/x")


def stand_in():
    """Return a module with the classes of flwr.app that clients use."""
    class Record(dict):
        pass

    class RecordDict(dict):
        array_records = property(lambda self: {name: part for name, part in self.items() if type(part) is made.ArrayRecord})
        metric_records = property(lambda self: {name: part for name, part in self.items() if type(part) is made.MetricRecord})

    class Message:
        def __init__(self, content, dst_node_id=None, message_type=None, *, reply_to=None):
            assert isinstance(content, RecordDict) and (reply_to is None) == isinstance(message_type, str)
            self.content, self.metadata = content, reply_to.metadata if reply_to else types.SimpleNamespace(message_type=message_type)

    class Array:
        def __init__(self, ndarray):
            assert isinstance(ndarray, np.ndarray)
            self._array = ndarray

        def numpy(self):
            return self._array

    made = types.ModuleType("flwr.app")
    made.RecordDict, made.Message, made.Array, made.Context = RecordDict, Message, Array, types.SimpleNamespace
    for name in ("ArrayRecord", "MetricRecord", "ConfigRecord"):
        setattr(made, name, type(name, (Record,), {}))
    return made


if __name__ == "__main__":
    unittest.main()
