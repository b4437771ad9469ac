"""The callbacks of Lightning and the Hugging Face trainer, called by stand-ins as those trainers call them."""
import types
import unittest

import numpy as np
import starling
import starling.lightning
import starling.transformers
from fake_learner import FakeLearner


class Module:
    """A module of torch with a frozen parameter."""

    def __init__(self):
        self.state = {"w": np.zeros(2), "frozen": np.ones(3), "batches": np.array(1)}

    def state_dict(self):
        return dict(self.state)

    def load_state_dict(self, state, strict=True):
        assert not strict
        self.state.update(state)

    def named_parameters(self):
        return [(name, types.SimpleNamespace(requires_grad=name != "frozen")) for name in ("w", "frozen")]

    def train(self):
        self.state["w"] = self.state["w"] + 1


def fit_lightning(module, callback, world_size=1):
    """Train as lightning.Trainer does; return the number of epochs."""
    trainer = types.SimpleNamespace(callback_metrics={}, should_stop=False, world_size=world_size)
    epochs = 0
    try:
        callback.on_train_start(trainer, module)
        while not trainer.should_stop:
            module.train()
            epochs += 1
            trainer.callback_metrics = {"loss": np.float32(0.5)}
            callback.on_train_epoch_end(trainer, module)
        callback.on_train_end(trainer, module)
    except BaseException as exception:
        callback.on_exception(trainer, module, exception)
        raise
    return epochs


def fit_transformers(module, callback, world_size=1):
    """Train as transformers.Trainer does; return the number of epochs."""
    args, control = types.SimpleNamespace(world_size=world_size), types.SimpleNamespace(should_training_stop=False)
    state, rest = types.SimpleNamespace(log_history=[]), {"model": module, "optimizer": None}
    epochs = 0
    callback.on_train_begin(args, state, control, **rest)
    while not control.should_training_stop:
        module.train()
        epochs += 1
        state.log_history += [{"loss": 0.5, "epoch": epochs}, {"eval_loss": 1.0}]
        callback.on_epoch_end(args, state, control, **rest)
    callback.on_train_end(args, state, control, **rest)
    return epochs


class Callbacks(unittest.TestCase):
    each = ((starling.lightning.Average, fit_lightning), (starling.transformers.Average, fit_transformers))

    def test_the_run_ends_the_training(self):
        def script(learner):
            learner.run = 2
            learner.accept()
            self.assertEqual([tensor["name"] for tensor in learner.tensors], ["w"])
            for t, heard in ((1, 2), (2, 12)):
                learner.train(t, t - 1)
                said = learner.hear("trained")
                self.assertEqual((said["weight"], said["metrics"], list(learner.up)), (30, {"loss": 0.5}, [heard, heard]))
                learner.mean(t, 10 * t)
            self.assertEqual(learner._lines.readline(), "")

        for kind, fit in self.each:
            with self.subTest(kind.__module__), FakeLearner(script) as learner:
                module = Module()
                self.assertEqual(fit(module, kind(weight=30, epochs=2, path=learner.path)), 4)
                self.assertEqual((module.state["w"].tolist(), module.state["batches"]), ([20, 20], 1))

    def test_several_processes(self):
        for kind, fit in self.each:
            with self.subTest(kind.__module__), self.assertRaisesRegex(starling.Error, "one process, and this trainer has 2"):
                fit(Module(), kind(path="/dev/null/x"), world_size=2)

    def test_a_training_that_fails(self):
        with FakeLearner(lambda learner: learner.accept()) as learner:
            module, callback = Module(), starling.lightning.Average(path=learner.path)
            module.train = lambda: 1 / 0
            with self.assertRaises(ZeroDivisionError):
                fit_lightning(module, callback)
            self.assertIn("closed", repr(callback.group))


if __name__ == "__main__":
    unittest.main()
