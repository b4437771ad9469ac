"""`pip install ./tools/python` in an environment of its own: without a network or a compiler, and used without the source."""
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from fake_learner import FakeLearner

SOURCE = Path(__file__).resolve().parents[2] / "tools" / "python"
MISSING = [f"python3-{name}" for name in ("pip",) if importlib.util.find_spec(name) is None]
if importlib.util.find_spec("ensurepip") is None:
    MISSING.append("python3-venv")

PROGRAM = """
import numpy as np, starling, starling.flower, starling.lightning, starling.sklearn, starling.stats, starling.transformers
with starling.join({"w": np.zeros(2)}) as group:
    for t in group:
        print(group.mean({"w": np.ones(2)})["w"], starling.__file__)
"""


class Wheel(unittest.TestCase):
    @unittest.skipIf(MISSING, f"missing Debian packages: {' '.join(MISSING)}")
    def test_a_round_in_a_clean_environment(self):
        def script(learner):
            learner.begin_trained()
            learner.mean(1, 7)
            learner.tell("done")

        def run(*command, **environment):
            done = subprocess.run(command, cwd=folder, env={"PATH": f"{folder}/clean/bin", "HOME": folder, **environment}, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
            self.assertEqual(done.returncode, 0, done.stdout)
            return done.stdout

        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(SOURCE, f"{folder}/source", ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
            run(sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", "clean")  # numpy is the system's
            python = f"{folder}/clean/bin/python3"
            run(python, "-m", "pip", "install", "--no-index", "./source")
            with FakeLearner(script) as learner:
                said = run(python, "-c", PROGRAM, STARLING_SOCKET=learner.path)
            self.assertIn("[7. 7.]", said)
            self.assertIn(f"{folder}/clean/", said)


if __name__ == "__main__":
    unittest.main()
