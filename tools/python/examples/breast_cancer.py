"""Five clinics train one classifier, on columns that are scaled by the mean and the variance of all of them.

    starling launch -n 5 -- python3 tools/python/examples/breast_cancer.py
    python3 tools/python/examples/breast_cancer.py --pooled      # the same on the data of all, in one place

The data are the breast-cancer set that scikit-learn ships: 569 samples of 30 columns, two classes. A fifth is held out;
the clinics have the rest in order of the first column, so that their columns differ widely. The first three rounds find the
common mean and variance; from the fourth on the columns are scaled by them.
"""
import argparse
import os

import numpy as np
import starling.sklearn
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

parser = argparse.ArgumentParser()
parser.add_argument("--pooled", action="store_true")
pooled = parser.parse_args().pooled

X, y = load_breast_cancer(return_X_y=True)
held_out = np.arange(len(X)) % 5 == 0
X_test, y_test, X, y = X[held_out], y[held_out], X[~held_out], y[~held_out]

estimator = SGDClassifier(loss="log_loss", alpha=1e-3, random_state=1)
if pooled:
    model = make_pipeline(StandardScaler(), estimator).fit(X, y)
else:
    me, learners = int(os.environ["STARLING_LEARNER"]), int(os.environ["STARLING_LEARNERS"])
    mine = np.array_split(np.argsort(X[:, 0]), learners)[me - 1]
    model = starling.sklearn.fit(estimator, X[mine], y[mine], classes=[0, 1], standardize=True)
print(f"AUC on held-out samples: {roc_auc_score(y_test, model.decision_function(X_test)):.4f}", flush=True)
