"""A group of learners on this machine, with real daemons, and the notebook."""
import concurrent.futures
import os
import select
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import starling

PROGRAM = os.environ.get("STARLING_PROGRAM")
PACKAGE = Path(starling.__file__).resolve().parents[1]


def average(socket, value, weight=1):
    with socket({"w": np.zeros(2)}) as group:
        for _ in group:
            model = group.mean({"w": np.full(2, value)}, weight=weight)
    return model["w"].tolist()


@unittest.skipIf(PROGRAM is None, "run.py was not told the launcher")
class Local(unittest.TestCase):
    def test_three_learners_in_threads(self):
        with starling.local(3, rounds=2, program=PROGRAM, topology="complete", max_weight=10) as sockets:
            folder = Path(sockets[0]).parents[2]
            with concurrent.futures.ThreadPoolExecutor(3) as threads:
                self.assertEqual(list(threads.map(average, sockets, (1.0, 2.0, 6.0), (1, 1, 2))), [[3.75, 3.75]] * 3)
            process = sockets[0]._launch.process
            self.assertTrue(folder.exists())
        self.assertIsNotNone(process.returncode)
        self.assertFalse(folder.exists())
        with self.assertRaisesRegex(starling.Error, "starling launch has ended"):
            sockets[0](np.zeros(2))

    def test_values_that_are_refused_by_name(self):
        with starling.local(3, program=PROGRAM, topology="complete") as sockets:
            for value in (np.nan, np.inf, -np.inf):
                model = {"a": np.ones(2), "net": [np.zeros(2), np.float32([[0, 1], [value, 3]])]}
                with sockets[0]({"a": np.ones(2), "net": [np.zeros(2), np.zeros((2, 2), np.float32)]}) as group:
                    with self.subTest(value), self.assertRaisesRegex(starling.Refused, r"net\.1\[1, ?0\] is not a finite number"):
                        group.mean(model)

    def test_values_at_the_edge(self):
        """Zeros, the largest of float16, a negative zero, the least of float32, and 9,000 tensors."""
        least = np.finfo(np.float32).smallest_subnormal
        model = {"half": np.array([65504, -0.0], np.float16), "least": np.array([least]), "zeros": np.zeros(3), "many": [0.5] * 9000}

        def learner(socket):
            with socket(model) as group:
                for _ in group:
                    mean = group.mean(model)
            return mean

        with starling.local(3, rounds=1, program=PROGRAM, topology="complete") as sockets:
            with concurrent.futures.ThreadPoolExecutor(3) as threads:
                for mean in threads.map(learner, sockets):
                    self.assertEqual({name: np.ravel(part).tolist() for name, part in mean.items()},
                                     {name: np.ravel(part).tolist() for name, part in model.items()})

    def run_with_a_burst(self, **settings):
        def learner(socket):
            with socket({"w": np.zeros(400)}) as group:
                for t in group:
                    group.mean({"w": (np.zeros(400) if t == 1 else group.model["w"]) + (1e9 if t == 3 else 1)})

        with starling.local(3, rounds=3, program=PROGRAM, topology="complete", **settings) as sockets:
            with concurrent.futures.ThreadPoolExecutor(3) as threads:
                list(threads.map(learner, sockets))

    def test_a_change_that_is_cut_is_told_of(self):
        with self.assertWarnsRegex(UserWarning, "^the mean lacks what this learner has cut: round 3: 400 values .* beyond ") as warned:
            self.run_with_a_burst()
        self.assertEqual((warned.filename, len(warned.warnings)), (__file__, 3))  # each learner warns once
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            self.run_with_a_burst(decimals=3, clipping_range=10, clipping="clamp")
            self.run_with_a_burst(values="model")

    def test_a_learner_that_changes_more_than_the_others(self):
        """Its change is cut in each round, although it is only 3.5 times the range: not one round of growth, after which the range follows."""
        def learner(socket, large):
            with socket({"w": np.zeros(400)}) as group:
                model = {"w": np.zeros(400)}
                for _ in group:
                    model = group.mean({"w": model["w"] + np.where(np.arange(400) < large, 7, 1)})

        def run(large, **settings):
            with starling.local(3, rounds=7, program=PROGRAM, topology="complete", **settings) as sockets:
                with concurrent.futures.ThreadPoolExecutor(3) as threads:
                    list(threads.map(learner, sockets, (large, 0, 0)))

        with self.assertWarnsRegex(UserWarning, "round 7: 100 values .* beyond ") as warned:
            run(100)
        self.assertEqual(len(warned.warnings), 1)
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            run(4)  # of 400 values
            run(100, values="model")

    def test_errors_of_the_launcher(self):
        for options, text in (({"decimals": "many"}, "decimals"), ({"trainer": "noise"}, "cat is the trainer"),
                              ({"topology": "x"}, "x: neither a file nor a topology")):
            with self.subTest(text), self.assertRaisesRegex(starling.Error, "starling launch has ended with status 2:\n.*" + text):
                with starling.local(3, program=PROGRAM, **options):
                    self.fail("the launcher has accepted it")
        with self.assertRaisesRegex(starling.Error, r"/no/such/starling cannot be started \(No such file .*: install Starling, or name the program"):
            with starling.local(3, program="/no/such/starling"):
                self.fail("there is no such program")

    def test_the_body_fails(self):
        with self.assertRaisesRegex(ZeroDivisionError, "division"):
            with starling.local(3, program=PROGRAM, topology="complete") as sockets:
                process = sockets[0]._launch.process
                1 / 0
        self.assertIsNotNone(process.returncode)

    def test_a_launcher_that_ends_ends_the_learners_of_the_program(self):
        def end(socket):
            with socket(np.zeros(2)) as group:
                socket._launch.process.terminate()
                for _ in group:
                    group.mean(np.zeros(2))

        with starling.local(3, program=PROGRAM, topology="complete") as sockets:
            with self.assertRaisesRegex(starling.Error, "starling launch has ended with status"):
                end(sockets[1])

    def test_a_learner_that_fails_ends_the_others(self):
        def learner(socket, denominator):
            with socket(np.zeros(2)) as group:
                for _ in group:
                    group.mean(np.ones(2) * (1 // denominator))

        with concurrent.futures.ThreadPoolExecutor(3) as threads, starling.local(3, program=PROGRAM, topology="complete") as sockets:
            ends = [threads.submit(learner, socket, denominator) for socket, denominator in zip(sockets, (1, 0, 1))]
            errors = [end.exception() for end in ends]
        self.assertIsInstance(errors[1], ZeroDivisionError)
        for error in (errors[0], errors[2]):
            self.assertIsInstance(error, starling.Error)
            self.assertRegex(str(error), "^another learner of this group has failed: ZeroDivisionError: ")

    def test_nothing_is_left_of_a_program_that_is_killed(self):
        code = textwrap.dedent("""
            import starling, sys, time
            with starling.local(3, program=sys.argv[1]) as sockets:
                print(sockets[0]._launch.process.pid, flush=True)
                time.sleep(600)
            """)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        program = subprocess.Popen([sys.executable, "-c", code, PROGRAM], stdout=subprocess.PIPE, text=True,
                                   env={**os.environ, "PYTHONPATH": str(PACKAGE), "TMPDIR": folder.name})
        with program:
            launch = int(program.stdout.readline())
            watch = os.pidfd_open(launch)
            program.send_signal(signal.SIGKILL)
        try:
            self.assertTrue(select.select([watch], [], [], 300)[0], "the launcher goes on")
        finally:
            os.close(watch)

    def test_the_notebook(self):
        try:
            import ipykernel  # noqa: F401
            import nbclient
            import nbformat
        except ImportError as missing:
            self.skipTest(f"{missing.name} is not installed (Debian: python3-nbclient, python3-ipykernel)")
        notebook = nbformat.read(PACKAGE / "examples" / "three_learners.ipynb", as_version=4)
        nbformat.validate(notebook)
        codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
        self.assertFalse(any(cell.outputs or cell.execution_count for cell in codes), "outputs are stored")
        path = os.pathsep.join([os.path.dirname(PROGRAM), os.environ["PATH"]])
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, PATH=path, PYTHONPATH=str(PACKAGE), IPYTHONDIR=folder,
                                                                       PYDEVD_DISABLE_FILE_VALIDATION="1"):
            nbclient.NotebookClient(notebook, timeout=None, kernel_name="python3").execute()
        self.assertRegex(codes[-1].outputs[0].text, r"^y = (2\.9|3\.0)\d x ")


if __name__ == "__main__":
    unittest.main()
