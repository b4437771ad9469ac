"""A Flower client, unchanged, against a learner that follows a script."""
import contextlib
import io
import unittest

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


if __name__ == "__main__":
    unittest.main()
