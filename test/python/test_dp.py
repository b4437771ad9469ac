"""Clipped sums and the steps of DP-SGD, against a learner that follows a script; torch has a stand-in where it is missing."""
import contextlib
import io
import math
import sys
import types
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import numpy as np
import starling
from fake_learner import FakeLearner
from starling import dp, tree

try:
    import torch
except ImportError:
    torch = None

RECORD = {"unit": "record", "clip": 0.5, "noise": 1.5, "sampling": 0.25, "delta": 1e-5, "epsilon": 4.0}
LEARNER = {**RECORD, "unit": "learner", "sampling": 1.0, "epsilon": None}
random = np.random.default_rng(1)


def norm(value):
    return math.sqrt(sum(float((array**2).sum()) for array in tree.take_apart(value)[1].values()))


def quietly(*arguments, **options):
    with contextlib.redirect_stderr(io.StringIO()):
        return starling.join(*arguments, **options)


class Sums(unittest.TestCase):
    def test_the_norm_is_over_all_parts(self):
        per_record = {"w": np.array([[3.0, 0.0], [0.3, 0.0]]), "b": [np.array([4.0, 0.4])]}
        total = dp.clipped_sum(per_record, 1.0)
        np.testing.assert_allclose(total["w"], [0.6 + 0.3, 0], rtol=1e-9)  # the first record is five times as long, the second half
        np.testing.assert_allclose(total["b"][0], 0.8 + 0.4, rtol=1e-9)
        self.assertEqual((total["w"].dtype, total["w"].shape, total["b"][0].shape), (np.float64, (2,), ()))

    def test_to_leave_out_a_record_changes_the_sum_by_its_clipped_vector_exactly(self):
        for scale in (1e-3, 1.0, 1e6, 1e200):
            values = (random.normal(size=(400, 7, 3)) * scale).astype(np.float32 if scale < 1e38 else np.float64)
            whole = dp.clipped_sum(values, 0.7)
            for place in (0, 17, 399):
                without = dp.clipped_sum(np.delete(values, place, axis=0), 0.7)
                alone = dp.clipped_sum(values[place:place + 1], 0.7)
                self.assertTrue((whole - without == alone).all())
                self.assertLessEqual(np.linalg.norm(alone), 0.7)
                expected = values[place] / scale * min(scale, 0.7 / np.linalg.norm(values[place].astype(np.longdouble) / scale))
                np.testing.assert_allclose(alone, expected.astype(np.float64), rtol=1e-5, atol=1e-9)

    def test_the_order_of_records_and_the_pieces_do_not_count(self):
        values = random.normal(size=(1000, 50)) * np.exp(random.normal(size=(1000, 1)) * 5)
        whole = dp.clipped_sum(values, 3.0)
        self.assertTrue((dp.clipped_sum(values[::-1], 3.0) == whole).all())
        with mock.patch.object(dp, "ELEMENTS", 100):
            self.assertTrue((dp.clipped_sum(values, 3.0) == whole).all())

    def test_no_records(self):
        total = dp.clipped_sum((np.zeros((0, 2)), np.zeros(0)), 1.0)
        self.assertEqual([part.tolist() for part in total], [[0, 0], 0])
        self.assertEqual(dp.clipped_sum(np.zeros((3, 0)), 1.0).shape, (0,))
        self.assertTrue((dp.clipped_sum(np.zeros((3, 2)), 1.0) == 0).all())

    def test_integers_are_values_as_well(self):
        self.assertEqual(dp.clipped_sum({"n": np.array([[1, 0], [0, 1], [1, 0]])}, 2.0)["n"].tolist(), [2, 1])

    def test_what_cannot_be_clipped(self):
        for value in (np.nan, np.inf, -np.inf):
            with self.assertRaisesRegex(ValueError, "record 5 has a value that is not finite"), mock.patch.object(dp, "ELEMENTS", 2):
                dp.clipped_sum({"w": np.where(np.arange(8) == 5, value, 1.0)}, 1.0)
        for C in (0, -1, math.nan, math.inf):
            with self.assertRaisesRegex(ValueError, "clipped to a number above 0"):
                dp.clipped_sum(np.ones(2), C)
        with self.assertRaisesRegex(ValueError, r"values.b has the shape \[3\], values.a \[2, 5\]"):
            dp.clipped_sum({"a": np.ones((2, 5)), "b": np.ones(3)}, 1.0)
        with self.assertRaisesRegex(ValueError, "the first axis of each array"):
            dp.clipped_sum(np.array(1.0), 1.0)
        with self.assertRaisesRegex(TypeError, "values.0 is a float: give an array of shape"):
            dp.clipped_sum([1.0, 2.0], 1.0)
        with self.assertRaisesRegex(ValueError, "there are no arrays"):
            dp.clipped_sum({}, 1.0)


class Sampling(unittest.TestCase):
    def test_each_record_by_itself(self):
        taken = [dp.sample(1000, 0.25, random) for _ in range(200)]
        sizes = np.array([rows.size for rows in taken])
        self.assertLess(abs(sizes.mean() - 250), 5 * math.sqrt(1000 * 0.25 * 0.75 / 200))
        self.assertLess(abs(sizes.var() / (1000 * 0.25 * 0.75) - 1), 0.6)  # batches of one size have none
        self.assertTrue(all(len(set(rows)) == rows.size and rows.max() < 1000 for rows in taken))
        self.assertEqual(dp.sample(5, 1.0).tolist(), [0, 1, 2, 3, 4])
        self.assertNotEqual(dp.sample(1000, 0.5).tolist(), dp.sample(1000, 0.5).tolist())
        for probability in (0, 1.5, math.nan):
            with self.assertRaisesRegex(ValueError, "a probability is above 0"):
                dp.sample(5, probability)


class Joined(unittest.TestCase):
    def test_terms_and_noise(self):
        def script(learner):
            learner.settings = {"dp": RECORD}
            learner.begin()
            self.assertEqual(learner.hear("trained")["weight"], 120)
            learner.mean(1, 0.25, noise=0.125, spent=1.5)
            learner.train(2, 1)
            learner.hear("trained")
            learner.mean(2, 0.25, noise=None, spent=None)
            learner.train(4, 3)

        said = io.StringIO()
        with FakeLearner(script) as learner, contextlib.redirect_stderr(said), starling.join(np.zeros(3), learner.path) as group:
            self.assertEqual(group.dp, dp.Privacy("record", 0.5, 1.5, 0.25, 1e-5, 4.0))
            self.assertEqual((group.noise, group.spent), (None, None))
            rounds = iter(group)
            next(rounds)
            group.mean(np.zeros(3), weight=120)  # no warning: it is the number of records
            self.assertEqual((group.noise, group.spent), (0.125, 1.5))
            next(rounds)
            group.mean(np.zeros(3))
            self.assertEqual((group.noise, group.spent), (None, None))
            group.noise = 1.0
            self.assertEqual(next(rounds), 4)
            self.assertIsNone(group.noise)  # of a mean that was not heard of
        self.assertEqual(said.getvalue(), "starling: dp: record: each record may add a vector of norm 0.5 at most (dp_clip), and only this program "
                         "can see to that, as starling.dp does\n")

    def test_one_of_the_programs_of_a_launch_says_what_dp_asks_of_it(self):
        def script(learner):
            learner.settings = {"dp": RECORD}
            learner.accept()

        with TemporaryDirectory() as run:
            for place in (None, "roster.yaml", "schedule.txt"):  # alone; of `trainer: exec`, somewhere; of a run folder
                err = io.StringIO()
                Path(run, place or "none").touch()
                environment = {"STARLING_RUN_DIR": run} if place else {}
                with mock.patch.dict("os.environ", environment), FakeLearner(script) as learner, contextlib.redirect_stderr(err):
                    starling.join(np.zeros(3), learner.path).close()
                self.assertEqual("only this program can see to that" in err.getvalue(), place != "schedule.txt")

    def test_without(self):
        with FakeLearner(lambda learner: learner.accept()) as learner, starling.join(np.zeros(3), learner.path) as group:
            self.assertIsNone(group.dp)
            with self.assertRaisesRegex(ValueError, "descend is for the setting dp: record, and this learner adds no noise"):
                dp.descend(group, np.zeros(3), np.zeros(3), 1.0)

    def test_the_model_before_training_is_offered_until_a_round_is_committed(self):
        def script(learner):
            learner.settings = {"dp": LEARNER, "initial": True}
            for _ in range(2):
                learner.accept()
                self.assertTrue(learner.initial)
                learner.hear("initial")
                self.assertEqual(learner.up.tolist(), [1, 2, 3])
                learner.up[:] = 0
                learner.train(1, 0)
                learner.drop()
            learner.settings["initial"] = False
            learner.accept()
            learner.train(2, 1)
            learner.drop()
            learner.accept()
            self.assertFalse(learner.initial)

        model = np.array([1.0, 2.0, 3.0])
        with FakeLearner(script) as learner, quietly(model, learner.path) as group:
            model[:] = 7  # trained in place
            next(iter(group))
            for _ in range(8):
                if group.committed == 0:
                    group._next()
            self.assertEqual(group.committed, 1)
            group._next()

    def test_a_sum_for_another_clip_is_not_given(self):
        given = []

        def script(learner):
            for changed in {}, {"noise": 9.0}, {"clip": 0.25}, {"clip": 0.25, "sampling": 0.5}:
                learner.settings = {"dp": {**RECORD, **changed}}
                learner.begin_trained()
                given.append(learner.up.copy())
                if learner.settings["dp"].get("sampling") != 0.5:
                    learner.drop()
            learner.train(1, 0, again=True)
            learner.hear("trained")
            learner.mean(1, 0.5, noise=0.1, spent=1.0)
            learner.tell("done")

        model, calls = np.full(3, 8.0), 0
        with FakeLearner(script) as learner, quietly(model, learner.path) as group:
            for _ in group:
                model = group.mean(dp.descend(group, model, dp.clipped_sum(np.array([[1.0, 0, calls]]), 1.0)))
                calls += 1
        self.assertEqual(calls, 4)
        self.assertEqual(model.tolist(), [0.5] * 3)
        np.testing.assert_allclose([norm([vector - 8]) for vector in given], [0.5, 0.5, 0.25, 0.25], rtol=1e-5)
        self.assertEqual(given[0].tolist(), given[1].tolist())

    def test_programs_that_do_not_clip(self):
        def script(learner):
            learner.settings = {"dp": RECORD}
            learner.accept()

        with FakeLearner(script) as learner, quietly(np.zeros(3), learner.path) as group:
            with self.assertRaisesRegex(ValueError, "dp: record needs a program that clips each record, and it does not"):
                dp.refuse_record(group, "it")
        with FakeLearner(script) as learner, quietly(path=learner.path) as group:
            dp.refuse(group, "it")  # before it is joined
            with self.assertRaisesRegex(ValueError, "dp: record needs"), contextlib.redirect_stderr(io.StringIO()):
                group.mean(np.zeros(3))

        def learners(learner):
            learner.settings = {"dp": LEARNER}
            learner.accept()

        with FakeLearner(learners) as learner, starling.join(np.zeros(3), learner.path) as group:
            dp.refuse_record(group, "it")
            with self.assertRaisesRegex(ValueError, "it needs exact means, and this learner adds noise"):
                dp.refuse(group, "it")


class Steps(unittest.TestCase):
    def test_the_difference_to_the_committed_model_is_the_scaled_sum(self):
        given, learner_has = [], {}

        def script(learner):
            learner.settings = {"dp": RECORD}
            learner.accept()
            learner_has["up"] = learner.up
            base = np.full(4, 1e3)
            for t in (1, 2):
                learner.train(t, t - 1)
                learner.hear("trained")
                given.append(learner.up - base)
                base = random.normal(size=4) * 100
                learner.mean(t, base, noise=0.1, spent=1.0)
            learner.tell("done")

        model = {"w": np.full(3, 1e3), "b": np.full((), 1e3)}
        gradients = {"w": random.normal(size=(50, 3)) * 9, "b": random.normal(size=50)}
        with FakeLearner(script) as learner, quietly(model, learner.path) as group:
            sums = []
            for _ in group:
                self.assertTrue(group.is_base(tree.take_apart(model)[1]))
                sums.append(dp.clipped_sum(gradients, 2.0))
                model = group.mean(dp.descend(group, model, sums[-1]))
                gradients = {name: array[:1] * 100 for name, array in gradients.items()}
        for got, total in zip(given, sums):
            np.testing.assert_allclose(got, -0.5 / 2.0 * np.array([total["b"], *total["w"]]), rtol=1e-5)
        self.assertLessEqual(np.linalg.norm(given[1]), 0.5)  # of one record
        self.assertGreater(np.linalg.norm(given[1]), 0.499)

    def test_the_sum_carries_its_norm(self):
        def script(learner):
            learner.settings = {"dp": RECORD}
            learner.accept()

        model, per_record = {"w": np.zeros(2), "b": np.zeros(())}, {"w": np.array([[3.0, 0]]), "b": np.array([4.0])}
        total = dp.clipped_sum(per_record, 2.0)
        with FakeLearner(script) as learner, quietly(model, learner.path) as group:
            step = dp.descend(group, model, total)
            self.assertAlmostEqual(norm(step), 0.5, 5)
            self.assertEqual({type(array) for array in step.values()} - {np.ndarray, np.float64}, set())
            self.assertEqual(norm(dp.descend(group, model, total, 2.0)), norm(step))
            total["w"] += dp.clipped_sum(per_record["w"], 2.0)  # of another batch
            dp.descend(group, model, total)
            for text, given in {"C is 1, and the sum is of records that were clipped to 2: leave C out": (total, 1.0),
                                "C, the norm that records were clipped to, is not known": ({"w": total["w"] * 2},),
                                "not all of one call of clipped_sum": ({"w": total["w"], "b": dp.clipped_sum(per_record["b"], 2.0)},),
                                "not all of one call": ({"w": total["w"], "b": np.zeros(())}, 2.0)}.items():
                with self.assertRaisesRegex(ValueError, text):
                    dp.descend(group, model, *given)

    def test_some_tensors_and_a_bare_array(self):
        def script(learner):
            learner.settings = {"dp": RECORD}
            learner.accept()

        model = {"w": np.zeros(2), "kept": np.float32([1, 2])}
        with FakeLearner(script) as learner, quietly(model, learner.path) as group:
            got = dp.descend(group, model, {"w": np.array([1.0, 0])}, 1.0)
            np.testing.assert_allclose(got["w"], [-0.5, 0], rtol=1e-5)
            self.assertEqual(got["kept"].tolist(), [1, 2])
        with FakeLearner(script) as learner, quietly(np.zeros(2), learner.path) as group:
            np.testing.assert_allclose(dp.descend(group, np.zeros(2), np.array([0, 4.0]), 4.0), [0, -0.5], rtol=1e-5)

    def test_what_is_no_step(self):
        def script(learner):
            learner.settings = {"dp": RECORD}
            learner.accept()

        def refused(text, group, *arguments):
            with self.assertRaisesRegex(ValueError, text):
                dp.descend(group, *arguments)

        model = {"w": np.zeros(2), "narrow": np.float32([1, 2])}
        with FakeLearner(script) as learner, quietly(model, learner.path) as group:
            refused("neither that of join nor the last mean", group, {**model, "w": np.ones(2)}, {"w": np.ones(2)}, 1.0)
            refused(r"the sum has v of shape \[2\]", group, model, {"v": np.ones(2)}, 1.0)
            refused(r"the sum has w of shape \[3\]", group, model, {"w": np.ones(3)}, 1.0)
            refused("narrow is of float32: join with a model of float64", group, model, {"narrow": np.ones(2)}, 1.0)
            refused("narrow is of float32", group, {**model, "narrow": np.array([1.0, 2.0])}, {"narrow": np.ones(2)}, 1.0)
        with FakeLearner(script) as learner, quietly(np.full(2, 2.0**29), learner.path) as group:
            refused("too large beside dp_clip, 0.5: scale the model", group, np.full(2, 2.0**29), np.ones(2), 1.0)

        def learners(learner):
            learner.settings = {"dp": LEARNER}
            learner.accept()

        with FakeLearner(learners) as learner, starling.join(np.zeros(2), learner.path) as group:
            refused("with dp: learner, give mean the trained model", group, np.zeros(2), np.zeros(2), 1.0)


# ---- torch ----

class Tensor(np.ndarray):
    """A stand-in for a tensor: an array, with what starling.dp uses of one."""

    requires_grad = True

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return np.asarray(self)

    def double(self):
        return self.astype(np.float64)


def tensor(values):
    return np.asarray(values, dtype=np.float32).view(Tensor)


class Net:
    """A linear model with a frozen offset and a parameter that is not used."""

    def __init__(self):
        self.parameters = {"w": tensor([0.5, -1, 2]), "offset": tensor(0.25), "unused": tensor([1, 1])}
        self.parameters["offset"].requires_grad = False
        self.calls = 0

    def named_parameters(self):
        return self.parameters.items()

    def modules(self):
        return [self]

    def __call__(self, x):
        self.calls += 1
        return Output(x, x @ self.parameters["w"] + self.parameters["offset"])


class Output:
    def __init__(self, x, value):
        self.x, self.value = x, value


def squared(output, y):
    """Half of the squared error: its value and its gradient with respect to w, (output - y) x."""
    error = output.value - y
    return types.SimpleNamespace(gradient=tensor((error[:, None] * output.x).sum(axis=0)))


def stand_in(func, fails=False):
    """Return a module in place of torch; `func`: with torch.func; `fails`: vmap cannot take the net."""
    made = types.ModuleType("torch")
    made.autograd = types.SimpleNamespace(grad=lambda loss, parameters, allow_unused: [loss.gradient, None])
    made.stack = lambda rows: np.stack(rows).view(Tensor)
    made.zeros_like = np.zeros_like
    if not func:
        return {"torch": made}
    made.func = types.ModuleType("torch.func")
    made.func.functional_call = lambda net, values, arguments: net(*arguments)

    def grad(of_one):
        return lambda values, inputs, target: {"w": of_one(values, inputs, target).gradient, "unused": np.zeros(2)}

    def vmap(of_one, in_dims, randomness):
        if fails:
            raise RuntimeError("vmap: no batching rule\nmore")
        assert (in_dims, randomness) == ((None, 0, 0), "different")

        def of_all(values, x, y):
            rows = [of_one(values, a, b) for a, b in zip(x, y)]
            return {name: np.stack([row[name] for row in rows]) for name in rows[0]}
        return of_all

    made.func.grad, made.func.vmap = grad, vmap
    return {"torch": made, "torch.func": made.func}


class Torch(unittest.TestCase):
    x, y = tensor(random.normal(size=(600, 3))), tensor(random.normal(size=600))

    def check(self, modules, C=0.5):
        net = Net()
        error = self.x @ net.parameters["w"] + net.parameters["offset"] - self.y
        expected = dp.clipped_sum({"w": np.asarray(error)[:, None] * np.asarray(self.x), "unused": np.zeros((600, 2))}, C)
        with mock.patch.dict(sys.modules, modules):
            got = dp.gradients(net, squared, self.x, self.y, C)
            empty = dp.gradients(net, squared, self.x[:0], self.y[:0], C)
        self.assertEqual(sorted(got), ["unused", "w"])
        self.assertEqual({array.clipped_to.C for array in got.values()}, {C})
        np.testing.assert_allclose(got["w"], expected["w"], rtol=1e-4)
        self.assertEqual(got["unused"].tolist(), [0, 0])
        self.assertEqual((empty["w"].tolist(), empty["unused"].tolist()), ([0, 0, 0], [0, 0]))
        self.assertEqual(net.calls, 600)

    def test_gradients_one_by_one(self):
        self.check(stand_in(func=False))

    def test_gradients_together(self):
        self.check(stand_in(func=True))

    def test_gradients_of_a_net_that_vmap_cannot_take(self):
        with self.assertWarnsRegex(UserWarning, "^gradients are computed one by one: vmap: no batching rule$"):
            self.check(stand_in(func=True, fails=True))

    def test_batch_normalization_is_refused(self):
        class BatchNorm2d:
            pass

        net = Net()
        net.modules = lambda: [net, BatchNorm2d()]
        with mock.patch.dict(sys.modules, stand_in(func=True)), self.assertRaisesRegex(ValueError, "BatchNorm2d mixes the records"):
            dp.gradients(net, squared, self.x, self.y, 1.0)

    def test_a_model_for_join(self):
        model = dp.double(Net())
        self.assertEqual({name: value.dtype for name, value in model.items()}, {"w": np.float64, "unused": np.float64})

    @unittest.skipUnless(torch, "torch is not installed (Debian: python3-torch)")
    def test_gradients_of_torch(self):
        torch.manual_seed(1)
        net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(32, 3))
        net[0].bias.requires_grad = False
        x, y = torch.randn(300, 1, 6, 6), torch.randint(3, (300,))
        loss = torch.nn.functional.cross_entropy
        got = dp.gradients(net, loss, x, y, 1.0)
        expected = {name: np.zeros(tuple(value.shape)) for name, value in dp.double(net).items()}
        for place in range(300):
            net.zero_grad()
            loss(net(x[place:place + 1]), y[place:place + 1]).backward()
            own = {name: parameter.grad[None] for name, parameter in net.named_parameters() if parameter.requires_grad}
            for name, step in dp.clipped_sum(own, 1.0).items():
                expected[name] += step
        self.assertEqual(list(got), list(expected))
        for name, step in got.items():
            np.testing.assert_allclose(step, expected[name], rtol=1e-3, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
