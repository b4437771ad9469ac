"""An application of the federation: it fits a line, as tools/libstarling/example.c does, to points of its own."""
import os

import numpy as np
import starling

random = np.random.default_rng()  # other points in each training: a model that must be trained again becomes another one
me = int(os.environ["STARLING_LEARNER"])
model = {"slope": np.float32(0), "height": np.float32(0)}
with starling.join(model, metrics=["loss"]) as group:
    for t in group:
        if group.committed > 0:
            model = group.model
        x = random.uniform(-1, 1, size=30)
        error = model["slope"] * x + model["height"] - (2 * x - 1 + random.normal(scale=0.01 * me, size=x.size))
        model = {"slope": np.float32(model["slope"] - 0.5 * np.mean(error * x)),
                 "height": np.float32(model["height"] - 0.5 * np.mean(error))}
        model = group.mean(model, weight=x.size, metrics={"loss": float(np.mean(error ** 2))})
print(f"y = {model['slope']:.3f} x {model['height']:+.3f}, after round {group.committed}", flush=True)
