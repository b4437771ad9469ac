"""Three learners stop when the mean of their losses on held-out data has hardly fallen for three rounds, and keep the best model. Run it with:

    starling launch -n 3 --rounds 200 --set metrics=aggregate -- python3 tools/python/examples/early_stop.py
"""
import os

import numpy as np
import starling

me = int(os.environ["STARLING_LEARNER"])
random = np.random.default_rng(me)
x = random.normal(size=(100, 5))
y = x @ np.arange(5.0) + random.normal(scale=0.5, size=100)
losses = []  # private means of the rounds, the same numbers at all learners


def has_converged(means):  # the round after is the last one
    losses.append(means["loss"])
    return len(losses) > 3 and min(losses[-3:]) > 0.999 * min(losses[:-3])


model, best = {"w": np.zeros(5)}, None
with starling.join(model, metrics=["loss"], stop=has_converged) as group:
    for t in group:
        loss = float(((x[80:] @ model["w"] - y[80:]) ** 2).mean())  # of the last mean, on data that is not trained on
        before = model
        model = {"w": model["w"] - 0.3 * x[:80].T @ (x[:80] @ model["w"] - y[:80]) / 80}
        model = group.mean(model, metrics={"loss": loss})
        if group.metrics["loss"] == min(losses):
            best = before

print(f"the best of {len(losses)} models has a mean loss of {min(losses):.4f}: {np.round(best['w'], 2)}")
