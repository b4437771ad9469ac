"""Ten clinics train one classifier with differential privacy of each patient (DP-SGD): epsilon 4, delta 1e-5.

    starling launch -n 10 --rounds 20 --set dp=record --set dp_clip=0.088 --set dp_epsilon=4 --set dp_delta=1e-5 \\
        -- python3 tools/python/examples/dp_breast_cancer.py
    python3 tools/python/examples/dp_breast_cancer.py --central   # the same by one party that has the data of all
    python3 tools/python/examples/dp_breast_cancer.py --local     # each clinic adds all of the noise by itself, then they average

The data are the breast-cancer set that scikit-learn ships, 569 patients with 30 columns, two classes; or its
file breast_cancer.csv, with --data FILE. A fifth is held out,
the clinics have the rest in order of the first column. In each round, a clinic adds up the gradients of its patients, each clipped to
the norm C, and all take a step along the sum: dp_clip is the learning rate, 4, times C, divided by 45.5, the patients of a clinic on average.

Accuracy over 40 random splits, 20 times each, computed in one process with noise of the same size: 97.4 % by one party, 97.3 % here (0.06 points less,
standard error 0.04), 96.3 % if each clinic adds all of the noise (1.1 points less, 0.1; at the best learning rate for that, 0.7). Without noise it
is 97.5 %, so nothing can be much better. With the held-out fifth of this file, 22 launches reached 96.1 % on average (0.1), and the computation 96.3 %.

Columns are scaled by constants that were known before: means of the data would tell something of a patient.
"""
import argparse
import os

import numpy as np
import starling

ROUNDS, C, RATE, CLINICS, EPSILON, DELTA = 20, 1.0, 4.0, 10, 4.0, 1e-5
# Of each measure: a usual value, and how far patients differ; for the mean, the standard error and the worst of its cells.
USUAL = np.array([14, 19, 90, 650, 0.1, 0.1, 0.1, 0.05, 0.18, 0.06, 0.4, 1.2, 3, 40, 0.007, 0.025, 0.03, 0.012, 0.02, 0.004,
                  16, 25, 110, 900, 0.13, 0.25, 0.27, 0.11, 0.3, 0.085])
DIFFER = np.array([3.5, 4, 25, 350, 0.015, 0.05, 0.08, 0.04, 0.03, 0.007, 0.3, 0.5, 2, 45, 0.003, 0.018, 0.03, 0.006, 0.008, 0.003,
                   5, 6, 35, 550, 0.025, 0.15, 0.2, 0.07, 0.06, 0.02])


def load(path):
    """Return columns [patients, 31], scaled and with a constant one, and classes: of the training, and held out."""
    if path is None:
        from sklearn.datasets import load_breast_cancer
        X, y = load_breast_cancer(return_X_y=True)
    else:
        table = np.loadtxt(path, delimiter=",", skiprows=1)
        X, y = table[:, :-1], table[:, -1]
    X = np.append((X - USUAL) / DIFFER, np.ones((len(X), 1)), axis=1)
    held_out = np.arange(len(X)) % 5 == 0
    return X[~held_out], y[~held_out], X[held_out], y[held_out]


def gradients(model, X, y):
    """Return the gradient of the loss of each patient."""
    return {"w": (1 / (1 + np.exp(-X @ model["w"])) - y)[:, None] * X}


def train_together(X, y):
    model = {"w": np.zeros(X.shape[1])}  # the same at all clinics
    with starling.join(model) as group:
        for _ in group:
            total = starling.dp.clipped_sum(gradients(model, X, y), C)
            model = group.mean(starling.dp.descend(group, model, total), weight=len(X))
    print(f"epsilon spent: {group.spent:.3f}; noise of each value in a round: {group.noise:.4f}")
    return model


def train_here(X, y, noise):
    """Take the same steps on the data of all, with noise of `noise` times C."""
    model, random = {"w": np.zeros(X.shape[1])}, np.random.default_rng(seed)
    for _ in range(ROUNDS):
        total = starling.dp.clipped_sum(gradients(model, X, y), C)["w"] + random.normal(scale=noise * C, size=X.shape[1])
        model = {"w": model["w"] - RATE / len(X) * total}
    return model


def least_noise():
    """Return the noise multiplier that spends EPSILON in all rounds."""
    low, high = 0.01, 1000.0
    for _ in range(60):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if starling.dp.epsilon(middle, DELTA, ROUNDS) > EPSILON else (low, middle)
    return high


parser = argparse.ArgumentParser(description="see the text at the top of this file")
parser.add_argument("--data")
parser.add_argument("--seed", type=int)
where = parser.add_mutually_exclusive_group()
where.add_argument("--central", action="store_true")
where.add_argument("--local", action="store_true")
options = parser.parse_args()
X, y, X_test, y_test = load(options.data)
seed = options.seed
if options.central:
    model = train_here(X, y, least_noise())
elif options.local:
    model = train_here(X, y, least_noise() * CLINICS**0.5)  # that of all clinics together
else:
    me, learners = int(os.environ["STARLING_LEARNER"]), int(os.environ["STARLING_LEARNERS"])
    mine = np.array_split(np.argsort(X[:, 0]), learners)[me - 1]
    model = train_together(X[mine], y[mine])
print(f"accuracy on held-out patients: {((X_test @ model['w'] > 0) == y_test).mean():.4f}", flush=True)
