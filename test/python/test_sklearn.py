"""Estimators with partial_fit, against a learner that follows a script."""
import importlib.util
import unittest

import numpy as np
import starling.sklearn
from fake_learner import FakeLearner

random = np.random.default_rng(1)
X = np.float64([[0, 100], [2, 300], [4, 500], [6, 100]])
Y = np.array([0, 0, 1, 1])
OTHER = np.float64([[10, 0], [20, 50]])  # columns of the other learner


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
        from sklearn.linear_model import SGDClassifier, SGDRegressor
        from sklearn.neural_network import MLPClassifier

        kinds = {"estimator.coef_": (SGDClassifier(), [0, 1]), "estimator.intercept_": (SGDRegressor(), None),
                 "estimator.coefs_.1": (MLPClassifier((3,), random_state=1), [0, 1])}
        for name, (estimator, classes) in kinds.items():
            def script(learner):
                self.rounds(learner, lambda t, up: 0 * up + 10 * t, [4, 4])
                self.assertIn(name, [tensor["name"] for tensor in learner.tensors])

            with self.subTest(name=name), FakeLearner(script) as learner:
                made = starling.sklearn.fit(estimator, X / 100, Y, classes=classes, path=learner.path)
                self.assertIs(made, estimator)
                for part in starling.sklearn.learned(made).values():
                    self.assertTrue(all(np.all(array == 20) for array in part), part)

    def test_what_cannot_be_averaged(self):
        from sklearn.linear_model import SGDClassifier
        from sklearn.naive_bayes import GaussianNB

        for estimator in (GaussianNB(), SGDClassifier(average=True)):
            with self.assertRaisesRegex(TypeError, "cannot be averaged"):
                starling.sklearn.fit(estimator, X, Y, classes=[0, 1], path="nowhere")

    def test_columns_are_scaled_by_the_data_of_all(self):
        from sklearn.linear_model import SGDClassifier
        from sklearn.preprocessing import StandardScaler

        both, other = np.concatenate([X, OTHER]), starling.sklearn.sums(OTHER)

        def change(t, up):
            """Average the columns of round 1 with those of the other learner; later they do not change."""
            places = {tensor["name"]: place for place, tensor in zip(np.cumsum(
                [0] + [int(np.prod(tensor["shape"], dtype=int)) for tensor in self.learner.tensors]), self.learner.tensors)}
            for name, size in ((("count"), 1), ("sum", 2), ("squares", 2)):
                begin = places[f"columns.{name}"]
                if t == 1:
                    up[begin:begin + size] = (up[begin:begin + size] + other[name]) / 2
                    self.seen = up.copy()
                self.assertEqual(list(up[begin:begin + size]), list(self.seen[begin:begin + size]))
            return up

        with FakeLearner(lambda learner: self.rounds(learner, change, [1, 4, 4])) as self.learner:
            made = starling.sklearn.fit(SGDClassifier(), X, Y, classes=[0, 1], standardize=True, path=self.learner.path)
        known = StandardScaler().fit(both)
        np.testing.assert_allclose(made[0].transform(both), known.transform(both), rtol=1e-5)
        self.assertEqual(made.predict(X).shape, (4,))

    def test_a_run_of_its_own_for_the_scaler(self):
        def script(learner):
            learner.accept()
            learner.train(1, 0)
            self.assertEqual(sorted(tensor["name"] for tensor in learner.tensors), ["count", "squares", "sum"])
            learner.hear("trained")
            learner.mean(1, learner.up)
            learner.tell("done")

        constant = np.float64([[5, 1], [5, 3]])
        with FakeLearner(script) as learner:
            made = starling.sklearn.standardize(constant, learner.path)
        self.assertEqual((made.mean_.tolist(), made.scale_.tolist()), ([5, 2], [1, 1]))


if __name__ == "__main__":
    unittest.main()
