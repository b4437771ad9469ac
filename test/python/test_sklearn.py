"""Estimators with partial_fit, against a learner that follows a script."""
import importlib.util
import unittest
import warnings

import numpy as np
import starling.sklearn
from fake_learner import FakeLearner

random = np.random.default_rng(1)
X = np.float64([[0, 100], [2, 300], [4, 500], [6, 100]])
Y = np.array([0, 0, 1, 1])
CENTRE = np.float64([0, 0, 0, 1000, -3e9, 5, 0])
SPREAD = np.float64([1, 1e3, 1e-3, 1, 1e9, 0, 0])
WILD = random.normal(size=(1000, 7)) * SPREAD + CENTRE  # columns of very different magnitudes, two of them constant
STAGES = ("unit", "mean", "variance")
DECIMALS = 9  # as the learners agree on for five learners


@unittest.skipUnless(importlib.util.find_spec("sklearn"), "scikit-learn is not installed (Debian: python3-sklearn)")
class Estimators(unittest.TestCase):
    def rounds(self, learner, change, weights):
        """Play a learner whose mean is change(trained vector), with these weights of the application."""
        learner.accept()
        for t, weight in enumerate(weights, 1):
            learner.train(t, t - 1)
            self.assertEqual(learner.hear("trained")["weight"], weight)
            learner.mean(t, change(t, learner.up.copy()))
        learner.tell("done")

    def test_kinds_of_estimators(self):
        from sklearn.linear_model import SGDClassifier, SGDOneClassSVM, SGDRegressor
        from sklearn.neural_network import MLPClassifier

        kinds = {"estimator.offset_": (SGDOneClassSVM(), None),
                 "estimator.coef_": (SGDClassifier(), [0, 1]), "estimator.intercept_": (SGDRegressor(), None),
                 "estimator.coefs_.1": (MLPClassifier((3,), random_state=1), [0, 1])}
        for name, (estimator, classes) in kinds.items():
            def script(learner):
                self.rounds(learner, lambda t, up: 0 * up + 10 * t, [4, 4])
                self.assertIn(name, [tensor["name"] for tensor in learner.tensors])

            with self.subTest(name=name), FakeLearner(script) as learner:
                made = starling.sklearn.fit(estimator, X / 100, Y, classes=classes, path=learner.path)
                self.assertIs(made, estimator)
                self.assertEqual(learner.values, "update")
                for part in starling.sklearn.learned(made).values():
                    self.assertTrue(all(np.all(array == 20) for array in part), part)

    def test_a_sparse_matrix(self):
        from scipy.sparse import csr_matrix
        from sklearn.linear_model import SGDClassifier

        with FakeLearner(lambda learner: self.rounds(learner, lambda t, up: up, [4])) as learner:
            starling.sklearn.fit(SGDClassifier(), csr_matrix(X / 100), Y, classes=[0, 1], path=learner.path)
        with self.assertRaisesRegex(TypeError, "standardize takes no sparse matrix"):
            starling.sklearn.fit(SGDClassifier(), csr_matrix(X), Y, classes=[0, 1], path="nowhere", standardize=True)
        with self.assertRaisesRegex(TypeError, "standardize takes no sparse matrix"):
            starling.sklearn.standardize(csr_matrix(X), path="nowhere")

    def test_what_cannot_be_averaged(self):
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.linear_model import SGDClassifier
        from sklearn.naive_bayes import GaussianNB
        from sklearn.neural_network import MLPClassifier
        from sklearn.pipeline import make_pipeline

        for estimator, error, text in ((GaussianNB(), TypeError, "cannot be averaged: .* other arrays, .*, with starling.join$"),
                                       (make_pipeline(SGDClassifier()), TypeError, "has no partial_fit; give its last step, and standardize=True"),
                                       (SGDClassifier(average=True), TypeError, "cannot be averaged"),
                                       (RandomForestClassifier(), TypeError, "has no partial_fit"),
                                       (SGDClassifier, TypeError, r"give an estimator, SGDClassifier\(...\), not its class"),
                                       (MLPClassifier(), ValueError, "needs a random_state")):
            with self.assertRaisesRegex(error, text):
                starling.sklearn.fit(estimator, X, Y, classes=[0, 1], path="nowhere")

    def columns(self, learner, vector):
        """Return views of unit, mean and variance in a vector of the learner."""
        ends = np.cumsum([int(np.prod(tensor["shape"], dtype=int)) for tensor in learner.tensors])
        parts = dict(zip((tensor["name"].split(".")[-1] for tensor in learner.tensors), np.split(vector, ends[:-1])))
        return {name: parts[name] for name in STAGES}

    def scaled(self, learner, own, other, rounds):
        """Play a learner whose mean is that of the application, with the columns `own`, and one with `other`, rounded."""
        def change(t, up):
            columns, known = self.columns(learner, up), self.columns(learner, learner.down)
            given = starling.sklearn._columns(other, known, t - 1)
            for stage, name in enumerate(STAGES, 1):
                expected = 0 * known[name] if stage > t else np.round(known[name], 0 if name == "unit" else DECIMALS)
                if stage != t:
                    np.testing.assert_array_equal(columns[name], expected)
                columns[name][:] = np.average(np.round([columns[name], given[name]], DECIMALS), axis=0,
                                              weights=[len(own), len(other)])
            return np.round(up, DECIMALS)

        self.rounds(learner, change, [len(own)] * rounds)

    def expect_pooled(self, scaler):
        from sklearn.preprocessing import StandardScaler

        known = StandardScaler().fit(WILD)
        np.testing.assert_allclose(scaler.scale_, known.scale_, rtol=1e-3)
        np.testing.assert_allclose((scaler.mean_ - known.mean_) / known.scale_, 0 * SPREAD, atol=1e-5)

    def test_columns_are_scaled_by_the_data_of_all(self):
        from sklearn.linear_model import SGDClassifier

        for order in (np.arange(1000), np.argsort(WILD[:, 1])):
            own, other = WILD[order[:300]], WILD[order[300:]]
            y = own[:, 0] > 0
            with FakeLearner(lambda learner: self.scaled(learner, own, other, 5)) as learner, warnings.catch_warnings():
                warnings.simplefilter("error")
                made = starling.sklearn.fit(SGDClassifier(), own, y, classes=[False, True], standardize=True, path=learner.path)
            self.expect_pooled(made[0])
            self.assertEqual(made.predict(own).shape, (300,))
            self.assertEqual(learner.values, "model")  # of the columns, nothing is an update

    def test_a_run_of_its_own_for_the_scaler(self):
        own, other = WILD[:300], WILD[300:]
        with FakeLearner(lambda learner: self.scaled(learner, own, other, 3)) as learner:
            self.expect_pooled(starling.sklearn.standardize(own, learner.path))
        self.assertEqual(learner.values, "model")

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed (Debian: python3-pandas)")
    def test_names_of_columns(self):
        import pandas
        from sklearn.linear_model import SGDClassifier

        frame = pandas.DataFrame(WILD[:300], columns=list("abcdefg"))
        y = frame["a"] > 0
        for train, rounds in ((lambda path: starling.sklearn.standardize(frame, path).transform, 3),
                              (lambda path: starling.sklearn.fit(SGDClassifier(), frame, y, classes=[False, True], standardize=True, path=path).predict, 4)):
            with FakeLearner(lambda learner: self.scaled(learner, WILD[:300], WILD[300:], rounds)) as learner:
                use = train(learner.path)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                use(frame)
            with self.assertRaisesRegex(ValueError, "feature names"):
                use(frame[list("bacdefg")])

    def test_a_learner_that_was_started_again_finds_the_scale(self):
        from sklearn.linear_model import SGDRegressor

        def script(learner):
            learner.accept()
            known = {"unit": [-1, 3], "mean": [0.5, 0.25], "variance": [4, 0.25]}
            for name, value in known.items():
                self.columns(learner, learner.down)[name][:] = value
            learner.tell("mean", round=3, learners=3, total_weight=30)
            learner.train(4, 3)
            learner.hear("trained")
            self.assertEqual({name: value.tolist() for name, value in self.columns(learner, learner.up).items()}, known)
            learner.mean(4, learner.up)
            learner.tell("done")

        with FakeLearner(script) as learner:
            made = starling.sklearn.fit(SGDRegressor(), X, Y, standardize=True, path=learner.path)
        self.assertEqual((made[0].mean_.tolist(), made[0].scale_.tolist()), ([0.25, 2], [1, 4]))

    def test_lost_digits_are_said(self):
        own = np.array([[0, 1e6], [1, 1e6 + 1]])

        def script(learner):
            self.rounds(learner, lambda t, up: np.round(up, DECIMALS), [2, 2, 2])

        with FakeLearner(script) as learner, self.assertWarnsRegex(UserWarning, "column 1 varies too little"):
            starling.sklearn.standardize(own, learner.path)

    def test_too_few_rounds(self):
        from sklearn.linear_model import SGDRegressor

        def script(learner):
            learner.begin_trained()
            learner.mean(1, learner.up)

        for run, call, least in ((2, lambda path: starling.sklearn.standardize(X, path), 3),
                                 (3, lambda path: starling.sklearn.fit(SGDRegressor(), X, Y, standardize=True, path=path), 4)):
            learner = FakeLearner((lambda learner: learner.accept()) if least == 3 else script)
            learner.run = run
            with learner, self.assertRaisesRegex(starling.Error, f"at least {least} rounds, not {run}"):
                call(learner.path)


if __name__ == "__main__":
    unittest.main()
