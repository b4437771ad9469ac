"""Questions with the noise of differential privacy: what a learner gives, what it prints, and its conversation with a learner."""
import contextlib
import io
import json
import math
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from unittest import mock

import numpy as np
from fake_learner import FakeLearner
from fake_sites import pooled
from starling import Error, dp, stats
from starling.stats import InputError, NoResult, Sums, __main__, mean, noisy
from starling.stats.csv import Numbers
from starling.stats.noisy import Budget, NoisyAnswer, Rows, Total, check_terms, noisy_total
from starling.stats.totals import Asking, Own, Question

TERMS = {"unit": "record", "clip": 0.5, "noise": 10.0, "sampling": 1.0, "delta": 1e-6, "epsilon": 1.0}
random = np.random.default_rng(2)


class Epsilon(unittest.TestCase):
    def test_known_values(self):  # test vectors of the accountant
        for noise, rounds, delta, expected in ((1, 1, 1e-5, 4.377178096), (1, 10, 1e-5, 17.85658683), (4, 100, 1e-5, 13.20671224),
                                               (5, 20, 1e-5, 3.848610283), (10, 100, 1e-6, 4.886554117), (20, 1, 1e-6, 0.189213173), (0.5, 1, 1e-5, 9.997256146)):
            self.assertAlmostEqual(dp.epsilon(noise, delta, rounds), expected, delta=1e-7 * expected)
        self.assertEqual((dp.epsilon(0, 1e-5), dp.epsilon(1e-3, 1e-5)), (math.inf, math.inf))


class Refusing(unittest.TestCase):
    def refused(self, said, act, *arguments, **options):
        with self.assertRaises((InputError, Error)) as caught, contextlib.redirect_stderr(io.StringIO()):
            act(*arguments, **options)
        self.assertIn(said, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))


def rows_of(question, *words, ends=None):
    rows = Rows(question, ends)
    for word in words:
        rows.add_typed(word, Numbers(thousands=""))
    return rows


class Questions(Refusing):
    def answer(self, own, others, unit, noise=0.0):
        parts = [rows.parts(unit) for rows in (own, *others)]
        for part in parts:
            self.assertTrue((np.linalg.norm(part, axis=1) <= 1 + 1e-12).all())
        return NoisyAnswer(own, Total(sum(part.sum(axis=0) for part in parts), noise, unit, len(parts), 1, 1e-6, 0.5))

    def test_noise_that_swamps_the_answer_is_told(self):
        ages, counts, sums = Question("mean", "age"), Question("count", "sex", "f,m"), Question("sum", "age")
        for question, words, ends, noise, said in (
                (ages, ["30"] * 900, (0, 120), 10.0, ""),
                (counts, ["f", "m"] * 9, None, 4.6, "THE NOISE SWAMPS THE ANSWER: with a standard error of 4.6, nothing can be told from 0"),
                (counts, ["f", "m", "m"] * 9, None, 4.6, "1 of 2 counts cannot be told from 0"),
                (counts, ["f", "m"] * 9, None, 4.4, ""),
                (sums, ["30", "-20"], (-100, 100), 0.06, "with a standard error of 6, nothing"),
                (sums, ["30", "-20"], (-100, 100), 0.04, "")):
            own = rows_of(question, *words, ends=ends)
            got = NoisyAnswer(own, Total(own.parts("record").sum(axis=0), noise, "record", 1, 1, 1e-6, 0.5))
            self.assertIn(said, got.notes)
            self.assertEqual("\n" in got.notes, said != "")

    def test_a_mean_of_records(self):
        question = Question("mean", "age")
        own, *others = (rows_of(question, *words, ends=(0, 120)) for words in (["30", "50", "-5"], ["130"], ["71"]))
        got = self.answer(own, others, "record", noise=0.01)
        self.assertAlmostEqual(got.value, (30 + 50 + 0 + 120 + 71) / 5)
        x = (got.value - 60) / 60
        self.assertAlmostEqual(got.noise, 60 * 0.01 * math.sqrt(2) / 5 * math.sqrt(1 + x * x))
        self.assertEqual((own.outside, str(got)), (1, "54.2"))
        self.assertEqual(own.name, "mean:age rows within [0,120] with noise")
        self.refused("too few rows beside the noise, whose standard deviation is 1.414 rows", self.answer, own, others, "record", noise=1)

    def test_a_mean_of_learners(self):
        question = Question("mean")
        own, *others = (rows_of(question, *words, ends=(0.0, 120.0)) for words in (["30", "50"], ["120"], ["80"]))
        got = self.answer(own, others, "learner", noise=3.0)
        self.assertAlmostEqual(got.value, (40 + 120 + 80) / 3)
        self.assertAlmostEqual(got.noise, 60.0)
        self.assertEqual(got.notes, "3 learners; the mean of the numbers of the learners, with noise of standard deviation 60; hidden: one learner; "
                         "epsilon spent so far: 0.5, at delta 1e-06\nTHE NOISE SWAMPS THE ANSWER: with a standard error of 60, within two of "
                         "them lies the whole range; it takes more records, or a larger epsilon")
        self.assertEqual(self.answer(own, others, "learner", noise=1.4).verdict, "")
        self.assertEqual(json.loads(got.json()), {"question": "mean", "column": None, "mean": got.value, "noise": got.noise, "unit": "learner",
                                                  "epsilon": 0.5, "delta": 1e-6, "learners": 3, "round": 1})
        self.refused("a learner gives a number, not 0 rows", rows_of(question, ends=(0, 1)).parts, "learner")

    def test_a_sum(self):
        question = Question("sum")
        own, *others = (rows_of(question, *words, ends=(-2, 4)) for words in (["3", "1"], ["-9"]))
        got = self.answer(own, others, "record", noise=0.5)
        self.assertAlmostEqual(got.value, 3 + 1 - 2)
        self.assertEqual(got.noise, 2)
        self.refused("a learner gives one value, not 2 rows", own.parts, "learner")
        self.assertEqual(rows_of(question, "3", ends=(-2, 4)).parts("learner").tolist(), [[0.75, 0]])

    def test_counts(self):
        question = Question("count", None, "yes,no")
        own, other = rows_of(question, "yes", "no", "yes"), rows_of(question, "no")
        got = self.answer(own, [other], "record", noise=0.5)
        self.assertEqual((str(got), got.noise), ("yes 2\nno 2", 0.5))
        self.assertEqual(json.loads(got.json())["counts"], {"yes": 2, "no": 2})
        self.assertIn("the count, with noise of standard deviation 0.5 in each; hidden: one record", got.notes)
        question = Question("histogram", None, bins="0,10")
        got = self.answer(rows_of(question, "-1", "0", "10", "11"), [], "record")
        self.assertEqual(str(got), "< 0 1\n[0, 10) 1\n>= 10 2")
        self.refused("a learner gives one value, not 3 rows", own.parts, "learner")
        self.refused("an array has no range", own.add_array, "a.npy")

    def test_options(self):
        def run(*arguments, kind="mean"):
            return mean.run(kind, mean.parser(kind).parse_intermixed_args(mean.marked(list(arguments))))

        self.refused("--epsilon needs --range LOW HIGH, such as --range 0 120", run, "1", "--epsilon", "1", "--delta", "1e-6")
        self.refused("--epsilon and --delta: give both", run, "1", "--epsilon", "1", "--range", "0", "1")
        self.refused("--range is for --epsilon", run, "1", "--range", "0", "1")
        self.refused("the lower one first", run, "1", "--epsilon", "1", "--delta", "1e-6", "--range", "1", "-1")
        self.refused("the lower one first", run, "1", "--epsilon", "1", "--delta", "1e-6", "--range", "0", "nan")
        self.refused("wider than numbers can be", run, "1", "--epsilon", "1", "--delta", "1e-6", "--range", "-1e308", "1e308")
        self.refused("epsilon is a number above 0", run, "yes", "--categories", "yes,no", "--epsilon", "0", "--delta", "1e-6", kind="count")
        self.refused("epsilon is a number above 0", run, "1", "--epsilon", "nan", "--delta", "1e-6", "--range", "0", "1")
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(run("1", "9", "--epsilon", "1", "--delta", "1e-6", "--range", "-1", "2", "--dry-run"), 0)
        self.assertEqual(said.getvalue(), "starling mean: 1 value is outside the range and counts as its end\n1, 9: would give 2 rows, 1 of them outside the range\n")


def with_noise(script, **changed):
    """Return a fake learner that adds noise."""
    learner = FakeLearner(script)
    learner.settings = {"dp": {**TERMS, **changed}}
    return learner


class Terms(Refusing):
    def total_refused(self, said, script, rows, elements=2):
        with with_noise(script) as learner:
            self.refused(said, noisy_total, learner.path, "what", elements, Budget(1, 1e-6), lambda unit: np.zeros((rows, elements)))

    def test_terms_that_spend_too_much(self):
        terms, both = dp.Privacy(**TERMS), ("record", "learner")
        self.assertIs(check_terms(terms, Budget(dp.epsilon(10, 1e-6), 1e-6), both), terms)
        self.refused("this learner adds no noise (dp: off)", check_terms, None, Budget(1, 1e-6), both)
        self.refused("has dp_delta: 1e-06, more than --delta 1e-07", check_terms, terms, Budget(1, 1e-7), both)
        self.refused(f"spends epsilon {dp.epsilon(10, 1e-6):.4g}, more than --epsilon 0.39:", check_terms, terms, Budget(0.39, 1e-6), both)
        self.refused("has dp_sampling: 0.1, and a question takes all rows", check_terms, dp.Privacy(**{**TERMS, "sampling": 0.1}), Budget(1, 1e-6), both)
        self.refused("has dp: record, and the question needs dp: learner", check_terms, terms, Budget(1, 1e-6), ("learner",))

    def test_a_round(self):
        given = []

        def script(learner):
            learner.accept()
            self.assertEqual((learner.values, [tensor["name"] for tensor in learner.tensors]), ("model", ["what"]))
            learner.train(1, 0)
            learner.hear("trained")
            given.append(learner.up.copy())
            learner.mean(1, np.array([1.0, -2.0]), total_weight=2, noise=0.25, spent=0.5)  # the third learner sent zeros
            learner.tell("done")

        parts = np.array([[0.6, 0.8], [0.0, -1.0], [30.0, 40.0]])
        with with_noise(script) as learner, contextlib.redirect_stderr(io.StringIO()):
            total = noisy_total(learner.path, "what", 2, Budget(1, 1e-6), lambda unit: parts if unit == "record" else None)
        np.testing.assert_allclose(given[0], 0.5 * np.array([1.2, 0.6]), rtol=1e-8)  # the third was longer than 1
        np.testing.assert_allclose(total.sum, np.array([1.0, -2.0]) * 2 / 0.5)
        self.assertEqual((total.noise, total.learners, total.spent, total.unit), (0.25 * 2 / 0.5, 2, 0.5, "record"))
        self.assertTrue(total.said.endswith("; 1 more sent zeros, since their budget is spent"))

    def test_settings_that_change_meanwhile(self):
        def script(learner):
            for clip in 0.5, 0.25:
                learner.settings = {"dp": {**TERMS, "clip": clip}}
                learner.begin()
                if clip == 0.5:
                    learner.hear("trained")
                    learner.drop()

        self.total_refused("the settings of dp have changed while learners gave their parts", script, 3)

    def test_a_sum_that_rounding_leaves_alone(self):
        given = []

        def script(learner):
            learner.begin_trained()
            given.append(learner.up.copy())
            learner.mean(1, np.array([1.0, -2.0]), noise=0.25, spent=0.5)
            learner.tell("done")

        parts = random.normal(size=(1000, 2)) / 10
        with with_noise(script, clip=0.3) as learner, contextlib.redirect_stderr(io.StringIO()):
            noisy_total(learner.path, "what", 2, Budget(1, 1e-6), lambda unit: parts)
        self.assertEqual(list(given[0] % 2.0**(-2 - dp.GRID_BITS)), [0, 0])

    def test_more_records_than_delta_allows(self):
        self.total_refused("below one in the number of records, and 1000000 rows: one could be told whole", FakeLearner.begin, 10**6, 1)

    def test_a_run_that_ends_without_the_round(self):
        def script(learner):
            learner.begin_trained()
            learner.tell("done")  # the budget was spent by attempts that failed

        self.total_refused("the run has ended without round 1: the budget of a learner, dp_epsilon, did not suffice", script, 1)

    def test_another_question(self):
        def script(learner):
            learner.begin_trained()
            learner.tell("waiting", text="b (2) trains another model: tensor what within [0.0,100.0] is there, and not here")

        self.total_refused("and not here: all learners must ask the same question, with the same --range", script, 1)

    def test_noise_that_is_not_known(self):
        def script(learner):
            learner.accept()
            learner.mean(1, 1.0, noise=None, spent=None)
            learner.tell("done")

        self.total_refused("no longer knows its noise", script, 0)

    def test_exact_questions_are_refused(self):
        def script(learner):
            learner.accept()
            with contextlib.suppress(OSError):  # of a connection that has ended
                learner.train(1, 0)
                self.assertEqual(learner._lines.readline(), "")  # nothing is given

        with with_noise(script) as learner:
            own = Own(Question("mean"))
            own.add_typed("1", Numbers(thousands=""))
            with Asking(learner.path, own, lambda text: None) as group:
                self.refused("this learner adds noise (dp: record), and an exact total was asked for. Nothing was shared", group.ask)
        with with_noise(script) as learner, Sums(learner.path) as sums:
            self.refused("this learner adds noise (dp: record), and this analysis needs exact sums. Nothing was shared", sums.agree, "question")


class Summaries(Refusing):
    def setUp(self):
        self.parts = [{"age": random.normal(50, 12, size=400), "bmi": np.where(random.random(400) < 0.1, np.nan, random.normal(26, 4, size=400)),
                       "sex": random.choice(["f", "m"], size=400)} for _ in range(3)]
        self.whole = {name: np.concatenate([part[name] for part in self.parts]) for name in self.parts[0]}
        self.ranges = {"age": (0, 120), "bmi": (10, 60)}

    def describe(self, **options):
        return pooled(lambda sums, part: stats.describe(sums, ["age", "bmi"], part, privacy=(1, 1e-6), ranges=self.ranges, **options), self.parts)

    def test_describe(self):
        got = self.describe()
        for place, name in enumerate(("age", "bmi")):
            values = self.whole[name][~np.isnan(self.whole[name])]
            low, high = self.ranges[name]
            noise, half = 0.25 * math.sqrt(6), (high - low) / 2
            of_mean = half * noise / values.size * math.sqrt(1 + ((values.mean() - (low + high) / 2) / half) ** 2)
            self.assertEqual(got["count"][place], values.size)
            for heading, expected in (("mean", values.mean()), ("variance", values.var(ddof=1)), ("sd", values.std(ddof=1)), ("of it noise", of_mean),
                                      ("std err", math.sqrt(values.var(ddof=1) / values.size + of_mean**2))):
                self.assertAlmostEqual(got[heading][place] / expected, 1, places=9)
        self.assertEqual((got["sites"], got["epsilon"], got["delta"]), (3, 1, 1e-6))
        self.assertIn("hidden: one record; epsilon spent so far: 1, at delta 1e-06", str(got))
        self.ranges["age"] = (0, 40)  # larger values count as 40
        self.assertAlmostEqual(self.describe()["mean"][0], np.minimum(self.whole["age"], 40).mean())

    def test_too_few_rows(self):
        self.parts = [{name: values[:3] for name, values in part.items()} for part in self.parts]
        with self.assertRaisesRegex(NoResult, "age has, with noise, fewer than 10 rows"):
            self.describe(threshold=10)
        self.parts = [{name: values[:1] for name, values in part.items()} for part in self.parts]
        with mock.patch.object(noisy, "BESIDE_NOISE", 8), self.assertRaisesRegex(NoResult, "age has too few rows beside the noise"):
            self.describe(threshold=1)

    def test_ranges(self):
        for ranges in ({}, {"age": (0, 1)}, {"age": (0, 1), "bmi": (2, 2)}, {"age": (0, 1), "bmi": (0, math.inf)}):
            self.refused("give the range of", stats.describe, SimpleNamespace(), ["age", "bmi"], self.parts[0], privacy=(1, 1e-6), ranges=ranges)
        self.refused("ranges are for privacy", stats.describe, SimpleNamespace(), ["age"], self.parts[0], ranges=self.ranges)
        self.refused("epsilon is a number above 0", stats.describe, SimpleNamespace(), ["age"], self.parts[0], privacy=(1, 0.5), ranges=self.ranges)

    def test_crosstab(self):
        got = pooled(lambda sums, part: stats.crosstab(sums, ["sex"], part, {"sex": ["f", "m"]}, threshold=5000, privacy=(1, 1e-6)), self.parts)
        self.assertEqual(got["rows"].tolist(), [int((self.whole["sex"] == level).sum()) for level in "fm"])
        self.assertEqual(got["std err of a count"], 0.25)

    def test_commands(self):
        def run(*arguments):
            return __main__.run(__main__.parser().parse_intermixed_args(arguments))

        noise = ("--epsilon", "1", "--delta", "1e-6")
        self.refused("glm has no form with noise, only describe and crosstab", run, "glm", "a ~ b", "a.csv", *noise)
        self.refused("quantile has no form with noise", run, "quantile", "a", "a.csv", "--range", "a=0,1")
        self.refused("give both, or none", run, "describe", "a", "a.csv", "--epsilon", "1")
        with TemporaryDirectory() as folder:
            path = str(Path(folder, "a.csv"))
            Path(path).write_text("a\n1\n2\n")
            options = __main__.parser().parse_intermixed_args(["describe", "a", path, *noise, "--range", "a=0,3", "--dry-run"])
            options.levels = {}
            with contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(__main__.run(options), 0)
            self.refused("give the range of a", run, "describe", "a", path, *noise)


if __name__ == "__main__":
    unittest.main()
