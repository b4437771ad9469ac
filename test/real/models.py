"""Real training with real daemons: models.py STARLING mnist | breast_cancer. Status 77 where a package is missing.

Each compares the example program with the same training on the data of all in one place.
"""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
EXAMPLES = SOURCE / "tools" / "python" / "examples"
PACKAGES = {"torch": "python3-torch", "sklearn": "python3-sklearn", "numpy": "python3-numpy"}
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE / "tools" / "python"), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def need(*packages):
    for package in packages:
        if importlib.util.find_spec(package) is None:
            print(f"{package} is not installed (Debian: {PACKAGES[package]})")
            sys.exit(77)


def figures(*command):
    """Run a command; return the numbers that it prints as "KIND on held-out ...: NUMBER"."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([str(part) for part in command], cwd=folder, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=300)
    assert done.returncode == 0, done.stdout
    print(done.stdout)
    return [float(number) for number in re.findall(r"on held-out .*: ([0-9.]+)", done.stdout)], done.stdout


def together(learners, rounds, *command):
    """Train by `starling launch --verify`; return the figure, which is the same at all learners."""
    found, text = figures(os.path.abspath(sys.argv[1]), "launch", "-n", learners, "--rounds", rounds, "--verify", "--", sys.executable, *command)
    assert f"{rounds} of {rounds} rounds, all exact" in text
    assert len(found) == learners and len(set(found)) == 1, found
    return found[0]


def alone(*command):
    found, _ = figures(sys.executable, *command)
    assert len(found) == 1
    return found[0]


def breast_cancer():
    need("numpy", "sklearn")
    program = EXAMPLES / "breast_cancer.py"
    private, pooled = together(5, 10, program), alone(program, "--pooled")
    assert abs(private - pooled) <= 0.01, (private, pooled)


def mnist():
    need("numpy", "torch")
    program, data = EXAMPLES / "mnist_torch.py", ("--data", SOURCE / "test" / "data" / "mnist")
    private = together(8, 20, program, *data)
    central, best_alone = alone(program, "--central", *data), alone(program, "--alone", *data)
    assert private >= central - 0.04, (private, central)  # two points, and two of the 120 held-out images
    assert private >= best_alone + 0.2, (private, best_alone)


{"breast_cancer": breast_cancer, "mnist": mnist}[sys.argv[2]]()
