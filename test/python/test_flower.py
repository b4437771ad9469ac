"""A Flower client, unchanged, against a learner that follows a script."""
import unittest

import numpy as np
from fake_learner import FakeLearner
from starling import flower


class Client:
    def __init__(self):
        self.calls = []

    def get_parameters(self, config):
        return [np.zeros((1, 2)), np.zeros(1, dtype=np.float32)]

    def fit(self, parameters, config):
        self.calls.append(("fit", config["server_round"], float(parameters[0][0, 0])))
        return [parameters[0] + 1, parameters[1]], 25, {"loss": 0.5, "note": "text"}

    def evaluate(self, parameters, config):
        self.calls.append(("evaluate", config["server_round"], float(parameters[0][0, 0])))
        return 0.1, 10, {}


class Flower(unittest.TestCase):
    def test_a_client_runs_unchanged(self):
        def script(learner):
            learner.accept()
            self.assertEqual([t["shape"] for t in learner.tensors], [[1, 2], [1]])
            for t in (1, 2):
                learner.train(t, t - 1)
                said = learner.hear("trained")
                self.assertEqual((said["weight"], said["metrics"]), (25, {"loss": 0.5}))
                learner.mean(t, 10 * t)
            learner.tell("done")

        client = Client()
        with FakeLearner(script) as learner:
            parameters = flower.run(client, learner.path)
        self.assertEqual(client.calls, [("fit", 1, 0), ("evaluate", 1, 10), ("fit", 2, 10), ("evaluate", 2, 20)])
        self.assertEqual(parameters[1].dtype, np.float32)


if __name__ == "__main__":
    unittest.main()
