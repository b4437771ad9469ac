"""What an application asks of a group, against a learner that follows a script."""
import concurrent.futures
import contextlib
import hashlib
import io
import os
import pathlib
import signal
import sys
import threading
import time
import unittest
import warnings
from unittest import mock

import numpy as np
import starling
from fake_learner import FakeLearner


class Unusable(unittest.TestCase):
    def test_a_learner_that_cannot_be_used(self):
        def unsealed(learner):
            learner.seals = 0
            learner.accept()

        joined = b'{"type":"joined","learner":1,"learners":3,"rounds":1,"weighted":true}\n'
        for script, text in ((lambda l: l.say(b"\xff\n"), "does not speak"), (lambda l: l.say(b"[]\n"), "does not speak"),
                             (lambda l: l.say(b'{"type":"joined"}\n'), "has no 'learner'"),
                             (lambda l: l.say(joined), "sent 0 pieces"), (unsealed, "not sealed against shrinking")):
            with self.subTest(text), FakeLearner(script) as learner, self.assertRaisesRegex(starling.Error, text):
                starling.join(np.zeros(1), learner.path)

    def test_a_join_that_is_too_long(self):
        with FakeLearner(lambda learner: learner._listener.accept()) as learner:
            with self.assertRaisesRegex(starling.Error, "at most 32 MiB: use fewer"):
                starling.join({f"{i:01000}": 0.0 for i in range(33000)}, learner.path)


class Metrics(unittest.TestCase):
    def test_names_of_metrics(self):
        for metrics, stop in (("loss", False), (["a", "a"], False), (["stop"], True)):
            with self.subTest(metrics), self.assertRaisesRegex(ValueError, "metrics is a list of different names"):
                starling.join(1.0, "/dev/null/x", metrics, stop=stop)

    def test_metrics_of_mean_are_numbers_by_name(self):
        with FakeLearner(lambda learner: learner.begin()) as learner, starling.join(1.0, learner.path) as group:
            for wrong in (["loss"], 0.5, {"loss"}):
                with self.subTest(wrong), self.assertRaisesRegex(ValueError, r"^metrics is a dict of numbers, such as \{\"loss\": 0.5\}, not "):
                    group.mean(1.0, metrics=wrong)

    def test_stop_without_averaged_metrics(self):
        def script(learner):
            learner.averages_metrics = False
            learner.accept()

        for stop in (True, lambda means: False):
            with FakeLearner(script) as learner, self.assertRaisesRegex(starling.Error, "metrics: aggregate .*--set metrics=aggregate"):
                starling.join(1.0, learner.path, stop=stop)
        with FakeLearner(script) as learner:
            starling.join(1.0, learner.path, metrics=["loss"]).close()

        def noisy(learner):
            learner.settings = {"dp": {"unit": "learner", "clip": 0.5, "noise": 10.0, "sampling": 1.0, "delta": 1e-6, "epsilon": 1.0}}
            script(learner)

        with FakeLearner(noisy) as learner, self.assertRaisesRegex(starling.Error, "with dp there is no join\\(stop"):
            starling.join(1.0, learner.path, stop=True)


class Options(unittest.TestCase):
    def test_options_of_another_kind(self):
        for options, text in (({"timeout": "x"}, "timeout is a number of seconds, or None to wait, not 'x'"), ({"timeout": np.nan}, "timeout .* not nan"),
                              ({"timeout": -1}, "timeout .* not -1"), ({"timeout": np.inf}, "timeout .* not inf"),
                              ({"metrics": None}, "metrics is a list .* not None"), ({"metrics": [1]}, r"metrics .* not \[1\]"),
                              ({"metrics": {"loss"}}, "metrics .* not {'loss'}"), ({"metrics": [["loss"]]}, "metrics is a list"),
                              ({"nonnegative": None}, "nonnegative is a list .* not None"), ({"stop": "x"}, "stop is True, False or a function .*'x'"),
                              ({"path": 5}, "path is that of the socket of a learner, not 5")):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                starling.join(1.0, **{"path": "/dev/null/x", **options})

    def test_options_of_kinds_like_these(self):
        for options in ({"timeout": np.float32(60)}, {"timeout": None}, {"metrics": {"loss": 1}}, {"stop": np.True_}, {"stop": None}):
            with self.subTest(options), FakeLearner(lambda learner: learner.accept()) as learner:
                starling.join(1.0, os.fsencode(learner.path), **options).close()
            with FakeLearner(lambda learner: learner.accept()) as learner:
                starling.join(1.0, pathlib.Path(learner.path), **options).close()


class Names(unittest.TestCase):
    def test_a_prefix_of_all_names(self):
        for prefix, cause in (("module", "DataParallel"), ("_orig_mod", "torch.compile")):
            with FakeLearner(lambda learner: learner.accept()) as learner:
                with self.assertWarnsRegex(UserWarning, rf"begin with {prefix}\., which {cause} adds: .* net\.{prefix}$") as warned:
                    starling.join({f"{prefix}.w": 1.0, f"{prefix}.b": 2.0}, learner.path).close()
            self.assertEqual(warned.filename, __file__)
        with FakeLearner(lambda learner: learner.accept()) as learner, warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            starling.join({"module.w": 1.0, "b": 2.0}, learner.path).close()

    def test_names_that_the_learner_would_refuse(self):
        for name, text in (("n" * 1024, "at most 1023 bytes, not 1024: n+$"), ("\u20ac" * 342, "at most 1023 bytes, not 1026"),
                           ("a\0b", r"text without NUL, not 'a\\x00b'"), ("\ud800", "text without NUL, not")):
            with self.subTest(text), self.assertRaisesRegex(ValueError, "the name of a tensor .*" + text):
                starling.join({name: 1.0}, "/dev/null/x")
        with FakeLearner(lambda learner: learner.accept()) as learner:
            starling.join({"n" * 1023: 1.0}, learner.path).close()

    def test_a_hundred_thousand_tensors(self):
        names = {f"block.{i}." + "n" * 100: np.float32(i) for i in range(100000)}
        with FakeLearner(lambda learner: learner.accept()) as learner:
            starling.join(names, learner.path).close()
        self.assertEqual(len(learner.tensors), 100000)


class Forked(unittest.TestCase):
    def fork(self, act):
        """Run `act` in a forked child until the returned function is called; that returns its exit status."""
        asks, tells = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(tells)
            signal.alarm(30)  # should the test fail
            status = 1
            with contextlib.suppress(BaseException):
                act()
                os.read(asks, 1)
                status = 0
            os._exit(status)

        def end():
            os.close(tells)
            os.close(asks)
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

        return end

    def test_a_child_does_not_hold_the_connection(self):
        def script(learner):
            learner.accept()
            self.assertEqual(learner._lines.readline(), "")  # within the time of the socket

        with FakeLearner(script) as learner:
            group = starling.join(np.zeros(1), learner.path)
            end = self.fork(lambda: None)
            self.addCleanup(end)
            group.close()

    def test_a_child_does_not_end_the_connection(self):
        """As the workers of a DataLoader, which are forked in each epoch."""
        begun, heard = [], ""

        def script(learner):
            nonlocal heard
            while heard == "":  # the connection has ended
                begun.append(learner.begin())
                heard = learner._lines.readline()
            learner.mean(1, 7)

        with FakeLearner(script) as learner:
            group = starling.join(np.zeros(1), learner.path)
            next(iter(group))
            self.assertEqual(self.fork(lambda: None)(), 0)
            self.assertEqual(group.mean(np.ones(1)).tolist(), [7])
            self.assertEqual(len(begun), 1)

    def test_a_child_cannot_use_the_group(self):
        def misuse(use):
            with self.assertRaisesRegex(starling.Error, "has joined, and this is a child"):
                use()

        with FakeLearner(lambda learner: learner.begin()) as learner:
            group = starling.join(np.zeros(1), learner.path)
            self.assertEqual(self.fork(lambda: misuse(lambda: next(iter(group))))(), 0)
            next(iter(group))
            self.assertEqual(self.fork(lambda: misuse(lambda: group.mean(np.ones(1))))(), 0)
            self.assertEqual(learner.up.tolist(), [0])  # the vector of the parent
            group.close()


class Threads(unittest.TestCase):
    def test_a_thread_goes_on_after_an_exception_of_a_signal_handler(self):
        def script(learner):
            learner.begin()
            learner.hear("trained")
            learner.mean(1, 7)

        with FakeLearner(script) as learner:
            group = starling.join(np.zeros(1), learner.path)
            group._busy.acquire()  # the exception came before this was undone
            self.assertEqual(group.mean(np.ones(1)).tolist(), [7])

    def test_one_thread_hears_the_learner(self):
        for wait, heard in ((lambda group: group.mean(np.ones(1)).tolist(), [7]), (lambda group: next(iter(group)), 1)):
            goes_on = threading.Event()

            def script(learner, averages=heard != 1):
                learner.accept()
                goes_on.wait(60)
                learner.train(1, 0)
                if averages:
                    learner.hear("trained")
                    learner.mean(1, 7)

            with FakeLearner(script) as learner, concurrent.futures.ThreadPoolExecutor(1) as threads:
                group = starling.join(np.zeros(1), learner.path)
                waiting = threads.submit(wait, group)
                while "unlocked" in repr(group._busy) and not waiting.done():
                    time.sleep(0.01)
                for misuse in (lambda: group.mean(np.ones(1)), lambda: next(iter(group))):
                    with self.assertRaisesRegex(starling.Error, "another thread .* waits in mean, or for the next round, of the same group"):
                        misuse()
                goes_on.set()
                self.assertEqual(waiting.result(600), heard)
                group.close()


class Stop(unittest.TestCase):
    def run_rounds(self, stop, means):
        """Take part in the rounds that have these means of the metrics; return what was sent in each, and the group."""
        sent = []

        def script(learner):
            learner.accept()
            for t, mean in enumerate(means, 1):
                learner.tell("train", round=t, committed=t - 1, again=False)
                sent.append(learner.hear("trained")["metrics"])
                learner.tell("mean", round=t, learners=3, total_weight=3, metrics=mean)
            learner.tell("train", round=len(means) + 1, committed=len(means), again=False, metrics=means[-1])
            for _ in range(2):  # after `mean`, and after `train`
                self.assertEqual(learner.hear("stop")["round"], len(means))
            learner.tell("done")

        with FakeLearner(script) as learner, starling.join(np.zeros(1), learner.path, metrics=["loss"], stop=stop) as group:
            for _ in group:
                group.mean(np.zeros(1), metrics={"loss": 2.0})
        self.assertEqual(learner.names, ["loss", "stop"])
        return sent, group

    def test_a_rule_asks_and_the_private_sum_decides(self):
        heard = []
        sent, group = self.run_rounds(lambda means: heard.append(means) or means["loss"] < 2,
                                      [{"loss": 3.0, "stop": 0.0}, {"loss": 1.0, "stop": 0.0}, {"loss": 1.0, "stop": 1 / 3}])
        self.assertEqual([round["stop"] for round in sent], [0, 0, 1])
        self.assertEqual(heard, [{"loss": 3.0}, {"loss": 1.0}])
        self.assertTrue(group.stopped)
        self.assertEqual(group.metrics, {"loss": 1.0})

    def test_another_learner_asks(self):
        sent, _ = self.run_rounds(True, [{"loss": 3.0, "stop": 1 / 3}])
        self.assertEqual(sent, [{"loss": 2.0, "stop": 0.0}])

    def test_it_is_declared(self):
        with FakeLearner(lambda learner: learner.accept()) as learner, starling.join(np.zeros(1), learner.path) as group:
            with self.assertRaisesRegex(starling.Error, "stop=True"):
                group.stop()


class Values(unittest.TestCase):
    def test_what_is_averaged(self):
        for asked, expected in (({}, "update"), ({"values": "update"}, "update"), ({"values": "model"}, "model")):
            with self.subTest(asked), FakeLearner(lambda learner: learner.accept()) as learner:
                starling.join(np.zeros(1), learner.path, **asked).close()
            self.assertEqual(learner.values, expected)
        with self.assertRaisesRegex(ValueError, '"update" or "model", not \'sum\''):
            starling.join(np.zeros(1), "/dev/null/x", values="sum")


class Program(unittest.TestCase):
    def joined(self, **options):
        with FakeLearner(FakeLearner.accept) as learner:
            starling.join(np.zeros(1), learner.path, **options).close()
            return learner.program

    def test_the_hash_of_a_file(self):
        with open(__file__, "rb") as file:
            own = hashlib.sha256(file.read()).hexdigest()
        self.assertEqual(self.joined(program=__file__), own)
        with mock.patch.object(sys.modules["__main__"], "__file__", __file__, create=True):
            self.assertEqual(self.joined(), own)
        with mock.patch.object(sys.modules["__main__"], "__file__", "/dev/null/x", create=True):  # that of a prompt
            self.assertIsNone(self.joined())
        with self.assertRaises(OSError):
            starling.join(np.zeros(1), "/dev/null/x", program="/dev/null/x")


class NonNegative(unittest.TestCase):
    def declared(self, model, **options):
        with FakeLearner(lambda learner: learner.accept()) as learner:
            starling.join(model, learner.path, **options).close()
        return [tensor["name"] for tensor in learner.tensors if tensor.get("nonnegative")]

    def test_names(self):
        model = {"bn": {"running_var": np.ones(2), "running_mean": np.ones(2)}, "var": np.ones(1)}
        self.assertEqual(self.declared(model), ["bn.running_var"])
        self.assertEqual(self.declared(model, nonnegative=["v*"]), ["bn.running_var", "var"])
        self.assertEqual(self.declared({"state": [{"exp_avg": np.ones(2), "exp_avg_sq": np.ones(2)}]}), ["state.0.exp_avg_sq"])
        self.assertEqual(self.declared({"not_running_var": np.ones(2)}), [])

    def test_values_below_0(self):
        for model, options in (({"v": np.array([1.0, -1.0])}, {"nonnegative": ["v"]}), ({"running_var": -1.0}, {})):
            with self.subTest(model), self.assertRaisesRegex(ValueError, "is declared non-negative, .* has values below 0"):
                starling.join(model, "/dev/null/x", **options)
        self.assertEqual(self.declared({"v": np.array([0.0, -0.0, np.nan])}, nonnegative=["v"]), ["v"])

    def test_a_pattern_without_a_tensor(self):
        with self.assertRaisesRegex(ValueError, r"no averaged tensor has a name like \*.vra; the first is w"):
            starling.join({"w": np.zeros(1)}, "/dev/null/x", nonnegative=("*.vra",))
        with self.assertRaisesRegex(ValueError, "a list of patterns"):
            starling.join({"w": np.zeros(1)}, "/dev/null/x", nonnegative="w")


class Integers(unittest.TestCase):
    def told(self, model, **options):
        """Return what a join with `model` prints."""
        said = io.StringIO()
        with FakeLearner(lambda learner: learner.accept()) as learner, contextlib.redirect_stderr(said):
            starling.join(model, learner.path, **options).close()
        return said.getvalue()

    def test_what_is_not_averaged_is_told(self):
        self.assertEqual(self.told({"w": np.zeros(99), "mask": np.ones((2, 2), bool), "count": np.array(3), "one": np.array([1])}),
                         "starling: not averaged: 1 tensor of integers with 3 % of the values, each learner keeps its own (mask bool)\n")
        model = {"w": np.zeros(1000), **{f"q{i}": np.zeros(2, np.int8) for i in range(4)}}
        self.assertEqual(self.told(model), "starling: not averaged: 4 tensors of integers with less than 1 % of the values, "
                                           "each learner keeps its own (q0 int8, q1 int8, q2 int8 and 1 more)\n")

    def test_counters_are_not_told(self):
        self.assertEqual(self.told({"w": np.zeros(1), "batches": [np.array(3), np.array([4]), 5, True]}), "")

    def test_a_quantized_model(self):
        model = {"scale": np.zeros(7), "layer.weight": np.zeros((31, 3), np.int8)}
        text = r"not averaged: 1 tensor of integers with 93 % of the values, each learner keeps its own \(layer.weight int8\)"
        with self.assertRaisesRegex(ValueError, f'^{text}; pass integers="keep" to join if .*, or dequantize the model$'):
            starling.join(model, "/dev/null/x")
        with starling.join(path="/dev/null/x") as group, self.assertRaisesRegex(ValueError, text):
            group.mean(model)
        self.assertRegex(self.told(model, integers="keep"), f"^starling: {text}\n$")
        self.assertIn("with 50 % of", self.told({"w": np.zeros(2), "q": np.zeros(2, np.uint8)}))

    def test_other_values(self):
        with self.assertRaisesRegex(ValueError, 'None or "keep", not \'average\''):
            starling.join(np.zeros(1), "/dev/null/x", integers="average")
