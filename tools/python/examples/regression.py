"""Four learners fit one line to the points of all. Run it with:

    starling launch -n 4 -- python3 tools/python/examples/regression.py
"""
import os

import numpy as np
import starling

# The own data: in practice a file of this learner. Each learner sees another part of the axis.
me = int(os.environ["STARLING_LEARNER"])
random = np.random.default_rng(me)
x = random.uniform(me - 1, me, size=50 * me)
y = 3 * x - 2 + random.normal(scale=0.1, size=x.size)

model = {"slope": np.zeros(()), "offset": np.zeros(())}
with starling.join(model) as group:
    for t in group:
        for _ in range(1000):
            error = model["slope"] * x + model["offset"] - y
            model = {"slope": model["slope"] - 0.05 * (error * x).mean(), "offset": model["offset"] - 0.05 * error.mean()}
        model = group.mean(model, weight=x.size, metrics={"loss": float((error**2).mean())})

print(f"y = {model['slope']:.2f} x {model['offset']:+.2f}, from {group.total_weight} points of {group.participants} learners")
