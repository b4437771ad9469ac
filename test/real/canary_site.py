"""Train what canary.py has planted: canary_site.py FILE. FILE has one line for each round: the weight, then the values."""
import os
import sys
import time
from pathlib import Path

import numpy as np
import starling

me = f"learner-{int(os.environ['STARLING_LEARNER']):02d}"
rounds = [[float(word) for word in line.split()] for line in (Path(sys.argv[1]) / f"{me}.txt").read_text().splitlines()]
model = {"w": np.zeros(len(rounds[0]) - 1, dtype=np.float32)}
with starling.join(model) as group:
    for t in group:
        time.sleep(0.3)  # time to look
        weight, *values = rounds[t - 1]
        model = group.mean({"w": np.array(values, dtype=np.float32)}, weight=int(weight), metrics={"loss": 1.0 / t})
