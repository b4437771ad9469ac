"""A rolling upgrade: rolling.py STARLING STARLINGD SOURCE.

Five learners run the version before, whose commit stands in `previous` and is built here. One after the other is ended and started
again with the present version, on its state folder. The rounds go on meanwhile, and every learner ends with the same models.
Status 77 if git does not have that commit.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))
from patience import PATIENCE, expect
from ports import free_ports

PROGRAM, DAEMON, SOURCE = (os.path.abspath(path) for path in sys.argv[1:4])
PREVIOUS = (Path(__file__).parent / "previous").read_text().strip()
LEARNERS, ROUNDS_EACH = 5, 3
SETTINGS = """run: upgrade
roster: ../roster.yaml
identity: identity
state: state
log: log.jsonl
trainer: noise
noise_parameters: 20000
rounds: 100000
keep_checkpoints: all
stall_timeout: 5
"""


def build_previous(folder):
    """Return the daemon of the version before, or end with status 77."""
    known = subprocess.run(["git", "-C", SOURCE, "cat-file", "-e", PREVIOUS + "^{commit}"], capture_output=True, check=False)
    if known.returncode != 0:
        print(f"git does not have commit {PREVIOUS}")
        sys.exit(77)
    archive = subprocess.run(["git", "-C", SOURCE, "archive", PREVIOUS], check=True, stdout=subprocess.PIPE).stdout
    source = folder / "source"
    source.mkdir()
    subprocess.run(["tar", "-x", "-C", source], input=archive, check=True)
    subprocess.run(["meson", "setup", folder / "build", source], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", folder / "build", "daemon/starlingd"], check=True, stdout=subprocess.DEVNULL)
    return folder / "build" / "daemon" / "starlingd"


class Learner:
    def __init__(self, folder, number):
        self.folder, self.process = folder / f"learner-{number}", None
        self.folder.mkdir()
        self.line = subprocess.run(
            [PROGRAM, "keygen", "--id", str(number), "--name", f"learner-{number}", "--address", f"127.0.0.1:{free_ports(1)[0]}"],
            cwd=self.folder, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        (self.folder / "starlingd.yaml").write_text(f"id: {number}\n{SETTINGS}")

    def start(self, daemon):
        self.process = subprocess.Popen([daemon, "--config", self.folder / "starlingd.yaml"])

    def end(self):
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE)
        self.process = None
        assert status == 0, f"{self.folder.name} ended with status {status}"

    def records(self):
        lines = (self.folder / "log.jsonl").read_text().splitlines() if (self.folder / "log.jsonl").exists() else []
        return [json.loads(line) for line in lines if line.endswith("}")]

    def last_round(self):
        return max((r["round"] for r in self.records() if r["event"] == "committed"), default=0)

    def models(self):
        return {path.name: path.read_bytes() for path in (self.folder / "state" / "checkpoints").iterdir()
                if not path.is_symlink()}


def expect_rounds(learners, count):
    """Wait until every learner has committed `count` rounds more than the furthest has now."""
    wanted = max(learner.last_round() for learner in learners) + count

    def committed():
        for learner in learners:
            assert learner.process.poll() is None, f"{learner.folder.name} has ended: {learner.records()[-1]['text']}"
        return all(learner.last_round() >= wanted for learner in learners)

    expect(f"round {wanted}", committed, pause=0.2)
    return wanted


def compare(learners):
    """Return the number of rounds whose model at least two learners keep; all of them are the same."""
    models, compared = [learner.models() for learner in learners], 0
    for name in sorted(set().union(*models)):
        copies = {m[name] for m in models if name in m}
        assert len(copies) == 1, f"{name} differs"
        compared += sum(name in m for m in models) > 1
    return compared


def main(folder):
    old = build_previous(folder)
    learners = [Learner(folder, number) for number in range(1, LEARNERS + 1)]
    (folder / "roster.yaml").write_text("".join(learner.line for learner in learners))
    try:
        for learner in learners:
            learner.start(old)
        expect_rounds(learners, ROUNDS_EACH)
        for learner in learners:
            learner.end()
            learner.start(DAEMON)
            print(f"{learner.folder.name} upgraded, all at round {expect_rounds(learners, ROUNDS_EACH)}", flush=True)
        for learner in learners:
            learner.end()
        compared = compare(learners)
        assert compared > ROUNDS_EACH * LEARNERS, compared
        refused = [r["text"] for learner in learners for r in learner.records() if "version of the protocol" in r["text"]]
        print(f"{compared} models compared; {len(refused)} links refused for their version")
    finally:
        for learner in learners:
            if learner.process is not None:
                learner.process.kill()
                learner.process.wait()


with tempfile.TemporaryDirectory() as name:
    main(Path(name))
