"""Hand over a model of ten million float32 and measure it: handover.py. Status 77 without numpy.

A learner in another process copies the vector out of the shared memory and back, as a daemon does, and answers at once. Then
group.mean takes the time of the hand-over, in and out. It is compared with two plain copies of the same size, and the
memory of the application with its own two copies, model and mean, and the two shared vectors.
"""
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE.parents[1] / "tools" / "python")]
try:
    import numpy as np
except ImportError:
    print("numpy is not installed (Debian: python3-numpy)")
    sys.exit(77)
import starling
from fake_learner import FakeLearner

ELEMENTS, ROUNDS = 10_000_000, 12
MEGABYTES = 4 * ELEMENTS / 1e6


def learn(learner):
    learner.accept()
    own = np.zeros_like(learner.up)
    for t in range(1, ROUNDS + 1):
        learner.train(t, t - 1)
        learner.hear("trained")
        own[:] = learner.up
        learner.mean(t, own)
    learner.tell("done")


def peak_megabytes():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024 / 1e6


def milliseconds(action):
    begun = time.perf_counter()
    action()
    return 1e3 * (time.perf_counter() - begun)


learner = FakeLearner(learn)
child = os.fork()
if child == 0:
    learner._run()
    os._exit(0 if learner.failure is None else 1)
base = peak_megabytes()
model, times = np.ones(ELEMENTS, dtype=np.float32), []
with starling.join(model, learner.path) as group:
    for t in group:
        begun = time.perf_counter()
        model = group.mean(model)
        times.append(1e3 * (time.perf_counter() - begun))
grown = peak_megabytes() - base
assert os.waitpid(child, 0)[1] == 0
other = np.ones_like(model)
copies = min(milliseconds(lambda: np.copyto(other, model)) for _ in range(15)) * 2
taken = min(times)  # the least disturbed by other programs
print(f"hand-over of {ELEMENTS} float32, in and out: {taken:.1f} ms; two copies: {copies:.1f} ms; "
      f"ratio {taken / copies:.2f}, {taken - copies:.1f} ms more")
print(f"peak memory of the application: {grown:.0f} MB more; model, mean and the shared vectors are {4 * MEGABYTES:.0f} MB")
assert grown <= 4 * MEGABYTES + 4, "the application holds more than its own two copies"
assert taken - copies <= 40, "the hand-over takes more than 40 ms beyond two copies"
