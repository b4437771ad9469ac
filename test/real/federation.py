"""One federation of ten with applications of different kinds: federation.py STARLING STARLINGD EXAMPLE.

Four learners have a program in Python, three the EXAMPLE in C, and three start a shell script (trainer: exec). One learner is
killed in mid-run, together with its application, and both are started again. Every round must be exact: all learners
have the same checkpoint, and it is the mean of their encodings, added up here. Status 77 without numpy.
"""
import os
import shutil
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "tools" / "python"
sys.path[:0] = [str(PACKAGE), str(HERE.parent / "lib")]
try:
    import numpy as np
except ImportError:
    print("numpy is not installed (Debian: python3-numpy)")
    sys.exit(77)
import starling
from patience import expect
from ports import free_ports

PROGRAM, DAEMON, EXAMPLE = (os.path.abspath(path) for path in sys.argv[1:4])
KINDS = ["python"] * 4 + ["c"] * 3 + ["shell"] * 3
KILLED, ROUNDS = 2, 20
DECIMALS = 6
SETTINGS = f"""run: federation
roster: ../roster.yaml
identity: identity
state: state
log: log.jsonl
rounds: {ROUNDS}
weighting: samples
max_weight: 100
decimals: {DECIMALS}
clipping_range: 16
quorum: all
max_degree: 9
keep_checkpoints: all
unsafe_dump_model: true
serve_after_end: 10
"""
SCRIPT = f"""#!/bin/sh
echo "the shell script of learner $STARLING_LEARNER begins"
exec {sys.executable} {HERE / "site.py"}
"""


class Learner:
    """A daemon in its folder, and its application: that of another process, or of the daemon."""

    def __init__(self, folder, number, kind, port):
        self.folder, self.number, self.kind = folder / f"site-{number}", number, kind
        self.folder.mkdir()
        self.processes = []
        self.roster_line = subprocess.run(
            [PROGRAM, "keygen", "--id", str(number), "--name", f"site-{number}", "--address", f"127.0.0.1:{port}"],
            cwd=self.folder, check=True, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL).stdout
        trainer = "trainer: application\n"
        if kind == "shell":
            (self.folder / "train.sh").write_text(SCRIPT)
            (self.folder / "train.sh").chmod(0o755)
            trainer = "trainer: exec\ncommand: ../train.sh\n"
        (self.folder / "starlingd.yaml").write_text(f"id: {number}\n{SETTINGS}{trainer}")

    def start(self):
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "OMP_NUM_THREADS": "1", "STARLING_LEARNER": str(self.number),
                       "STARLING_SOCKET": str(self.folder / "state" / "application.sock")}
        commands = [[DAEMON, "--config", "starlingd.yaml"]]
        if self.kind == "python":
            commands.append([sys.executable, str(HERE / "site.py")])
        elif self.kind == "c":
            commands.append([EXAMPLE])
        with open(self.folder / "output.txt", "a") as output:
            self.processes = [subprocess.Popen(command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                                               stdout=output, stderr=output) for command in commands]

    def kill(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()

    def committed(self):
        found = sorted((self.folder / "state" / "checkpoints").glob("round-*.safetensors"))
        return int(found[-1].name[6:12]) if found else 0

    def said(self):
        return (self.folder / "output.txt").read_text()


def all_ended(learners):
    statuses = [process.poll() for learner in learners for process in learner.processes]
    assert all(status in (None, 0) for status in statuses), statuses
    return all(status == 0 for status in statuses)


def exact_mean(learners, t):
    """Return the mean of round t in exact rationals, from the weights and models that the learners dumped."""
    total, sums = 0, None
    for learner in learners:
        dump = (learner.folder / "state" / f"trained-{t:06}.model").read_bytes()
        weight = int.from_bytes(dump[:8], "little")
        terms = [weight * round(Fraction(float(x)) * 10 ** DECIMALS) for x in np.frombuffer(dump[8:], dtype="<f4")]
        total += weight
        sums = terms if sums is None else [a + b for a, b in zip(sums, terms)]
    assert total == 30 * len(learners)
    return [np.float32(z / (10.0 ** DECIMALS * total)) for z in sums]


def check_rounds(learners):
    for t in range(1, ROUNDS + 1):
        paths = [learner.folder / "state" / "checkpoints" / f"round-{t:06}.safetensors" for learner in learners]
        files = {path.read_bytes() for path in paths}
        assert len(files) == 1, f"the checkpoints of round {t} differ"
        model = starling.load(paths[0])
        assert model.metadata["learners"] == str(len(learners))
        assert [float(value) for value in model.values()] == [float(value) for value in exact_mean(learners, t)], f"round {t} is not exact"
    assert abs(model["slope"] - 2) < 0.1 and abs(model["height"] + 1) < 0.1, model


def run(learners):
    for learner in learners:
        learner.start()
    killed = learners[KILLED]
    expect("some rounds", lambda: killed.committed() >= ROUNDS // 3)
    killed.kill()
    at = killed.committed()
    assert at < ROUNDS, "the run was over before the learner was killed"
    killed.start()
    expect("the end of the run", lambda: all_ended(learners))
    check_rounds(learners)
    print(f"{ROUNDS} rounds of {len(learners)} learners, all exact; site-{killed.number} was killed after round {at}")
    for learner in learners:
        assert learner.kind != "shell" or "the shell script" in learner.said() + (learner.folder / "log.jsonl").read_text()


folder = Path(tempfile.mkdtemp(prefix="starling-test-"))
learners = [Learner(folder, number, kind, port) for number, (kind, port) in enumerate(zip(KINDS, free_ports(len(KINDS))), 1)]
(folder / "roster.yaml").write_text("".join(learner.roster_line for learner in learners))
try:
    run(learners)
except BaseException:
    for learner in learners:
        print(f"--- {learner.folder}\n{learner.said()[-2000:] if learner.processes else ''}")
    raise
finally:
    for learner in learners:
        learner.kill()
shutil.rmtree(folder)
