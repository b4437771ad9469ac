"""The life and the rounds of a group, against a learner that follows a script."""
import contextlib
import io
import os
import signal
import time
import unittest
import warnings
from unittest import mock

import numpy as np
import starling
from fake_learner import FakeLearner


class Life(unittest.TestCase):
    """Of a group in a notebook: cells are interrupted and run again."""

    def test_repr(self):
        def script(learner):
            learner.begin_trained()
            learner.tell("waiting", text="round 1: waiting for ana (1)")
            learner.tell("refused", round=1, text="no")
            learner.hear("trained")
            learner.mean(1, 7)
            learner.tell("done")

        with FakeLearner(script) as learner:
            with starling.join(path=learner.path) as group:
                self.assertEqual(repr(group), "<starling.Group: learner 0 of 0, round 0 of 0, not joined>")
                for t in group:
                    with self.assertRaises(starling.Refused):
                        group.mean(np.zeros(1))
                    self.assertEqual(repr(group), "<starling.Group: learner 2 of 3, round 1 of 5, to be trained>")
                    group._state = starling.group.State.SHARED
                    self.assertIn("round 1 of 5, round 1: waiting for ana (1)>", repr(group))
                    group._state = starling.group.State.ASKED
                    group.mean(np.zeros(1))
                    self.assertIn(", waiting for the learner>", repr(group))
                self.assertIn(", done>", repr(group))
            self.assertIn(", closed>", repr(group))

    def test_a_closed_group(self):
        def script(learner):
            learner.begin()

        with FakeLearner(script) as learner:
            group = starling.join(np.zeros(1), learner.path)
            self.assertEqual(next(iter(group)), 1)
            group.close()
            with self.assertRaisesRegex(starling.Error, "this group is closed: join again"):
                group.mean(np.zeros(1))
            with self.assertRaisesRegex(starling.Error, "this group is closed: join again"):
                next(iter(group))

    def test_a_group_that_another_thread_closes(self):
        def script(learner):
            learner.begin_trained()
            groups[0].close()

        with FakeLearner(script) as learner:
            groups = [starling.join(np.zeros(1), learner.path)]
            with self.assertRaisesRegex(starling.Error, "this group is closed"):
                groups[0].mean(np.zeros(1))

    def test_a_cell_that_is_run_again(self):
        def script(learner):
            learner.accept()
            self.assertEqual(learner._lines.readline(), "")  # the older group leaves before the newer comes
            learner.drop()
            learner.begin_trained()
            learner.mean(1, 7)

        with FakeLearner(script) as learner:
            older = starling.join(np.zeros(1), learner.path)
            newer = starling.join(np.zeros(1), learner.path, timeout=60)
            self.assertIn("closed", repr(older))
            self.assertEqual(newer.mean(np.zeros(1)).tolist(), [7])
            older.close()
            newer.close()

    def test_an_interrupted_mean(self):
        def script(learner):
            learner.begin_trained()
            learner.tell("waiting", text="for ana")
            while not groups[0].waiting:  # then it receives
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)
            self.assertEqual(learner._lines.readline(), "")
            learner.drop()
            learner.accept()
            learner.mean(1, 7)
            learner.train(2, 1)
            self.assertEqual(learner.hear("trained")["round"], 2)
            learner.mean(2, 8)

        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        with FakeLearner(script) as learner, starling.join(np.zeros(1), learner.path) as group:
            groups = [group]
            with self.assertRaises(KeyboardInterrupt):
                group.mean(np.ones(1))
            self.assertEqual([group.mean(np.ones(1)).tolist() for _ in range(2)], [[7], [8]])

    def test_an_interrupted_join(self):
        def script(learner):
            learner.say(b"")
            os.kill(os.getpid(), signal.SIGINT)
            self.assertEqual(learner._lines.readline(), "")
            learner.drop()
            learner.begin_trained()
            learner.mean(1, 7)

        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        with FakeLearner(script) as learner, starling.join(path=learner.path) as group:
            with self.assertRaises(KeyboardInterrupt):
                group.mean(np.zeros(1))
            self.assertEqual(group.mean(np.ones(1)).tolist(), [7])

    def test_a_learner_that_is_not_there(self):
        silent = FakeLearner(None)
        self.addCleanup(silent.folder.cleanup)
        self.addCleanup(silent._listener.close)
        for path in ("/dev/null/../x", silent.path):
            with self.subTest(path), self.assertRaisesRegex(starling.Timeout, f"^{path}: no learner within 0.3 s: start it"):
                starling.join(np.zeros(1), path, timeout=0.3)
        for path, said in ((silent.folder.name, "it is no socket"), (__file__, "it is no socket"), (f"{silent.folder.name}/{'x' * 200}", "AF_UNIX path too long")):
            with self.subTest(path), self.assertRaisesRegex(starling.Error, f"^{path}: {said}$"):  # no wait helps
                starling.join(np.zeros(1), path, timeout=0.3)
        self.assertTrue(issubclass(starling.Timeout, TimeoutError) and issubclass(starling.Timeout, starling.Error))

    def test_a_model_that_the_learner_refuses(self):
        def script(learner):
            learner.say(b'{"type":"error","text":"two tensors have the name w"}\n')
            learner.drop()
            learner.begin_trained()
            learner.mean(1, 7)

        with FakeLearner(script) as learner, starling.join(path=learner.path) as group:
            with self.assertRaisesRegex(starling.Error, "^two tensors have the name w$"):
                group.mean({"w": np.zeros(1)})
            self.assertEqual(group.mean({"v": np.zeros(1)})["v"].tolist(), [7])

    def test_a_wait_is_told(self):
        said, clock = io.StringIO(), mock.Mock(monotonic=mock.Mock(side_effect=range(100)))
        with mock.patch.object(starling.group, "time", clock), contextlib.redirect_stderr(said):
            with self.assertRaises(starling.Timeout):
                starling.join(np.zeros(1), "/no/such/socket", timeout=21)
        waits = said.getvalue().splitlines()
        self.assertEqual(waits[0], "starling: waiting for a learner on /no/such/socket, 5 s so far")
        self.assertEqual(len(waits), 4)


class Rounds(unittest.TestCase):
    def test_two_rounds(self):
        def script(learner):
            learner.accept()
            self.assertEqual(learner.tensors, [{"name": "b", "shape": [], "dtype": "float64"}, {"name": "w", "shape": [2], "dtype": "float64"}])
            for t in (1, 2):
                learner.train(t, t - 1)
                said = learner.hear("trained")
                self.assertEqual((said["round"], said["weight"], said["metrics"]), (t, 7, {"loss": 0.5}))
                self.assertEqual(list(learner.up), [3, t, t])
                learner.tell("waiting", text="round 1: waiting for ana (1)")
                learner.mean(t, 10 * t, decimals=7, clipping_range=2.0)
            learner.tell("done")

        with FakeLearner(script) as learner:
            model, rounds = {"w": np.zeros(2), "b": 3.0}, []
            with starling.join(model, learner.path) as group:
                self.assertIsNone(group.model)
                for t in group:
                    rounds.append(t)
                    model = group.mean({"w": np.full(2, float(t)), "b": 3.0}, weight=7, metrics={"loss": 0.5})
                    self.assertEqual(model["w"].tolist(), [10 * t, 10 * t])
                    self.assertEqual((model["b"], group.participants, group.total_weight), (10 * t, 3, 30))
                    self.assertEqual((group.decimals, group.clipping_range, group.metrics, group.waiting), (7, 2.0, {}, ""))
        self.assertEqual(rounds, [1, 2])

    def test_a_round_that_must_be_trained_again_comes_again(self):
        def script(learner):
            learner.accept()
            learner.down[:] = 4
            learner.train(3, 2)
            learner.hear("trained")
            learner.train(3, 2, again=True)
            self.assertEqual(learner.hear("trained")["round"], 3)
            learner.mean(3, 5)
            learner.tell("done")

        with FakeLearner(script) as learner:
            seen = []
            with starling.join(np.zeros(1), learner.path) as group:
                for t in group:
                    self.assertEqual(group.model.tolist(), [4])
                    seen.append((t, float(group.mean(np.ones(1))[0])))
        self.assertEqual(seen, [(3, 4), (3, 5)])

    def test_a_new_program_begins_with_the_committed_model(self):
        def script(learner):
            learner.accept()
            learner.down[:] = 4
            learner.train(3, 2)
            self.assertEqual(learner.hear("trained")["round"], 3)
            self.assertEqual(learner.up[0], 4.5)
            learner.mean(3, 5)
            learner.tell("done")

        for declared in (np.zeros(1), None):
            with self.subTest(declared=declared), FakeLearner(script) as learner:
                model = np.zeros(1)
                with starling.join(declared, learner.path) as group:
                    for _ in group:  # a first model that was not trained from the committed one is not sent
                        model = group.mean(model + 0.5)
                self.assertEqual(model.tolist(), [5])

    def test_a_learner_that_starts_again_gets_the_vector_again(self):
        def script(learner):
            learner.begin_trained()
            learner.drop()
            learner.begin()
            self.assertEqual(learner.hear("trained")["round"], 1)
            learner.drop()
            learner.accept()
            learner.mean(1, 9)
            learner.tell("done")

        with FakeLearner(script) as learner:
            with starling.join(np.zeros(1), learner.path) as group:
                self.assertEqual([group.mean(np.ones(1)).tolist() for _ in group], [[9]])

    def test_errors_of_the_learner(self):
        def script(learner):
            learner.begin_trained()
            learner.tell("refused", round=1, text="model[0] is not a finite number")
            learner.hear("trained")
            learner.tell("error", text="over")

        with FakeLearner(script) as learner, starling.join(np.zeros(1), learner.path) as group:
            with self.assertRaisesRegex(starling.Refused, "finite"):
                group.mean(np.array([np.nan]))
            with self.assertRaisesRegex(starling.Error, "over"):
                group.mean(np.ones(1))

    def test_a_model_of_another_shape(self):
        def script(learner):
            learner.begin()

        with FakeLearner(script) as learner, starling.join({"w": np.zeros(2)}, learner.path) as group:
            with self.assertRaisesRegex(ValueError, r"w float\d+ \[3\], was w float\d+ \[2\]"):
                group.mean({"w": np.zeros(3)})

    def test_the_learner_ends_without_the_mean(self):
        """No learner has a budget of privacy for round 2."""
        def script(learner):
            learner.accept()
            for t in (1, 2):
                learner.train(t, t - 1)
                learner.hear("trained")
                if t == 1:
                    learner.mean(t, [4, 5])
            learner.tell("done")

        with FakeLearner(script) as learner, starling.join(np.zeros(2), learner.path) as group:
            means = [list(group.mean(np.ones(2))) for _ in group]
        self.assertEqual((means, group.committed), ([[4, 5], [4, 5]], 1))

    def test_float64_where_join_had_float32(self):
        def script(learner):
            learner.accept()
            for t in (1, 2):
                learner.train(t, t - 1)
                learner.hear("trained")
                self.assertEqual(list(learner.up), [t, t, 7])
                learner.mean(t, [4, 5, 6])
            learner.tell("done")

        with FakeLearner(script) as learner, warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            with starling.join({"b": np.zeros(2, np.float32), "w": np.zeros(1, np.float32)}, learner.path) as group:
                for t in group:
                    model = group.mean({"b": np.full(2, t, np.float32), "w": np.float64([7])})  # w would be the first
                    self.assertEqual((model["b"].tolist(), model["w"].tolist()), ([4, 5], [6]))
                    self.assertEqual((model["b"].dtype, model["w"].dtype), (np.float32, np.float32))
        said = [warning for warning in warned if issubclass(warning.category, UserWarning)]
        self.assertEqual(len(said), 1)
        self.assertRegex(str(said[0].message), "^w came back as float64 and was float32 at join: .* numpy 2 ")
        self.assertEqual(said[0].filename, __file__)

    def test_a_change_that_is_cut_is_told_of_once(self):
        cuts = (0, 1, 400)

        def script(learner):
            learner.accept()
            for t, cut in enumerate(cuts, 1):
                learner.train(t, t - 1)
                learner.hear("trained")
                learner.mean(t, t, **({"cut": cut} if cut else {}))  # an older learner does not tell
            learner.tell("done")

        with FakeLearner(script) as learner, warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            with starling.join(np.zeros(3, np.float32), learner.path) as group:
                for t in group:
                    group.mean(np.full(3, t, np.float32))
                    self.assertEqual(group.cut, cuts[t - 1])
        said = [warning for warning in warned if issubclass(warning.category, UserWarning)]
        self.assertEqual(len(said), 1)
        self.assertRegex(str(said[0].message), "^the mean lacks what this learner has cut: round 2: 1 value of the update .* beyond ")
        self.assertEqual(said[0].filename, __file__)

    def test_float64_beyond_float32_is_refused(self):
        def script(learner):
            learner.begin_trained()
            self.assertEqual(learner.up[0], np.inf)
            learner.tell("refused", round=1, text="model[0] is not a finite number")

        with FakeLearner(script) as learner, starling.join(np.zeros(1, np.float32), learner.path) as group:
            with self.assertWarns(UserWarning), self.assertRaisesRegex(starling.Refused, "finite"):
                group.mean(np.array([1e300]))

    def test_float32_where_join_had_float64(self):
        def script(learner):
            learner.begin_trained()
            learner.mean(1, 0.1)

        with FakeLearner(script) as learner, starling.join(np.zeros(1), learner.path) as group, warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            model = group.mean(np.ones(1, np.float32))
        self.assertEqual((model.dtype, model[0]), (np.float64, 0.1))

    def test_each_learner_keeps_its_own_counters(self):
        def script(learner):
            learner.accept()
            for t in (1, 2):
                learner.train(t, t - 1)
                learner.hear("trained")
                learner.mean(t, 6)
            learner.tell("done")

        with FakeLearner(script) as learner:
            model = {"steps": np.array(0), "w": np.zeros(1)}
            with starling.join(model, learner.path) as group:
                for t in group:
                    model = group.mean({"steps": np.array(5 * t), "w": model["w"]})
                    self.assertEqual((int(model["steps"]), model["w"].tolist()), (5 * t, [6]))

    def test_an_evaluator_has_the_weight_0(self):
        def script(learner):
            learner.begin()
            self.assertEqual(learner.hear("trained")["weight"], 0)
            learner.mean(1, 6)
            learner.tell("done")

        with FakeLearner(script) as learner, starling.join(np.zeros(1), learner.path) as group:
            self.assertEqual([group.mean(np.zeros(1), weight=0).tolist() for _ in group], [[6]])

    def test_a_weight_that_does_not_count(self):
        def script(learner):
            learner.weighted = False
            learner.begin_trained()
            learner.mean(1, 6)

        with FakeLearner(script) as learner, starling.join(np.zeros(1), learner.path) as group:
            with self.assertWarnsRegex(UserWarning, "does not count"):
                group.mean(np.zeros(1), weight=5)

    def test_metrics(self):
        def script(learner):
            learner.accept()
            self.assertEqual(learner.names, ["loss"])
            learner.train(1, 0)
            self.assertEqual(learner.hear("trained")["metrics"], {"loss": 0.5, "accuracy": 1.0})
            learner.mean(1, 6, metrics={"loss": 0.75})

        with FakeLearner(script) as learner, starling.join(np.zeros(1), learner.path, metrics=["loss"]) as group:
            for loss in ({}, {"loss": float("nan")}):
                with self.assertRaisesRegex(ValueError, "the metric loss of join is (missing|nan)"):
                    group.mean(np.zeros(1), metrics=loss)
            for wrong in ("low", "0.5", None, np.zeros(2), 1j, 10**400):
                with self.assertRaisesRegex(ValueError, f"^a metric is a number, and top is a {type(wrong).__name__}: leave it out"):
                    group.mean(np.zeros(1), metrics={"loss": 0.5, "top": wrong})
            group.mean(np.zeros(1), metrics={"loss": np.float32(0.5), "accuracy": True, "rate": float("inf")})
            self.assertEqual(group.metrics, {"loss": 0.75})

    def test_weights_and_a_forgotten_mean(self):
        def script(learner):
            learner.begin()

        with FakeLearner(script) as learner, starling.join(np.zeros(1), learner.path) as group:
            for weight in (-3, 1.5, float("nan"), float("inf"), None, "5", [5]):
                with self.subTest(weight=weight), self.assertRaisesRegex(ValueError, "^a weight is a whole number from 0, .*, not "):
                    group.mean(np.ones(1), weight=weight)
            with self.assertRaisesRegex(starling.Error, "must call mean"):
                for _ in group:
                    pass

    def test_other_types_after_join(self):
        """A round is not lost by a leaf that could not come back."""
        def script(learner):
            learner.begin_trained()
            learner.mean(1, 7)

        class Read:
            shape, dtype = (1,), "float64"

            def __array__(self, dtype=None, copy=None):
                return np.ones(1)

        with FakeLearner(script) as learner, starling.join({"w": np.zeros(1)}, learner.path) as group:
            with self.assertRaisesRegex(TypeError, "nothing makes a .*Read from a numpy array"):
                group.mean({"w": Read()})
            self.assertEqual(group.mean({"w": np.zeros(1)})["w"].tolist(), [7])

    def test_special_values_pass(self):
        least, half = np.finfo(np.float32).smallest_subnormal, np.float16(65504)

        def script(learner):
            learner.begin_trained()
            self.assertEqual(learner.up.tobytes(), np.float32([half, -0.0, least, 0, 0]).tobytes())
            learner.mean(1, learner.up)

        model = {"a": np.array([half, -0.0], np.float16), "b": np.array([least]), "zeros": np.zeros(2, np.float32)}
        with FakeLearner(script) as learner, starling.join(model, learner.path) as group:
            back = group.mean(model)
        self.assertEqual({name: array.tobytes() for name, array in back.items()}, {name: array.tobytes() for name, array in model.items()})

    def test_no_socket(self):
        with self.assertRaisesRegex(starling.Error, "STARLING_SOCKET"):
            starling.join(path="")
        with self.assertRaisesRegex(ValueError, "no floats"):
            starling.join({"count": np.array(3)}, "/dev/null/x")


if __name__ == "__main__":
    unittest.main()
