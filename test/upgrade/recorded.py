"""State folders of version 0.1.0 with this version: recorded.py STARLING STARLINGD.

test/data/upgrade/state-0.1.0.tar.xz has the folders of three learners that were killed in mid-round, with a budget of privacy. `starlingd
--check` changes nothing in them. This version goes on: no round is repeated or left out, models are kept, what was spent stays spent,
and an account begins. The state of an earlier version is refused in one line and left as it is.

    recorded.py --record STARLING STARLINGD-0.1.0    writes the archive
"""
import hashlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))
from patience import PATIENCE, expect
from ports import free_ports

RECORD = sys.argv[1] == "--record"
STARLING, STARLINGD = (os.path.abspath(path) for path in sys.argv[-2:])
ARCHIVE = Path(__file__).resolve().parents[1] / "data" / "upgrade" / "state-0.1.0.tar.xz"
LEARNERS = "ana", "bo", "eve"
ROUNDS = 3
SETTINGS = """run: upgrade
roster: ../roster.yaml
identity: identity
state: state
log: log.jsonl
trainer: noise
noise_parameters: 20
rounds: 100000
keep_checkpoints: all
stall_timeout: 5
dp: learner
dp_clip: 1
dp_noise: 2
dp_delta: 0.01
"""


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)


def rows(folder, query):
    """Ask the records of a learner that does not run, in a copy: a connection would empty the log of SQLite."""
    with tempfile.TemporaryDirectory() as name:
        for path in (folder / "state").glob("learner.db*"):
            shutil.copy(path, name)
        return sqlite3.connect(Path(name) / "learner.db").execute(query).fetchall()


def records(folder):
    """Return the records of the log of a learner that are complete."""
    log = folder / "log.jsonl"
    lines = log.read_text().splitlines() if log.exists() else []
    return [json.loads(line) for line in lines if line.endswith("}")]


def committed(folder):
    return [one["round"] for one in records(folder) if one["event"] == "committed"]


def contents(folder):
    """Return what the files of a folder have."""
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file() and path.name != "lock"}


def start(folder):
    return subprocess.Popen([STARLINGD, "--config", folder / "starlingd.yaml"], stderr=subprocess.DEVNULL)


def record():
    """Let three learners run, kill them at once, and again until one has an attempt that is open."""
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(name, learner) for learner in LEARNERS]
        lines = []
        for number, (folder, port) in enumerate(zip(folders, free_ports(len(LEARNERS))), 1):
            folder.mkdir()
            lines.append(run(STARLING, "keygen", "--id", str(number), "--name", folder.name, "--address", f"127.0.0.1:{port}",
                             "--dir", folder / "identity").stdout)
            (folder / "starlingd.yaml").write_text(f"id: {number}\n{SETTINGS}")
        Path(name, "roster.yaml").write_text("".join(lines))
        while not all((folder / "state").exists() and rows(folder, "SELECT 1 FROM attempts") for folder in folders):
            before = len(committed(folders[0]))
            learners = [start(folder) for folder in folders]
            expect("rounds", lambda: len(committed(folders[0])) >= before + ROUNDS)
            time.sleep(0.02)
            for learner in learners:
                learner.kill()
                learner.wait()
        for folder in folders:
            (folder / "log.jsonl").unlink()
        ARCHIVE.parent.mkdir(exist_ok=True)
        with tarfile.open(ARCHIVE, "w:xz") as archive:
            archive.add(name, "")


def unpack(folder):
    """Unpack the learners into `folder`, with addresses that are free here."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder)
    ports = iter(free_ports(len(LEARNERS)))
    roster = folder / "roster.yaml"
    roster.write_text(re.sub(r"(?<=127\.0\.0\.1:)\d+", lambda _: str(next(ports)), roster.read_text()))
    return [folder / name for name in LEARNERS]


def check_refused(folder):
    """The state of a version before 0.1.0 is refused in one line, twice, and not changed."""
    connection = sqlite3.connect(folder / "state" / "learner.db")
    connection.execute("PRAGMA user_version = 9")
    connection.commit()
    connection.close()
    before = contents(folder / "state")
    for command in ["--check"], []:
        done = run(STARLINGD, "--config", folder / "starlingd.yaml", *command)
        said = done.stderr.strip() or (folder / "log.jsonl").read_text().strip().splitlines()[-1]
        assert done.returncode not in (0, 77) and "\n" not in said, (done.returncode, said)
        assert "(format 9;" in said and "run that version until the next commit" in said, said
        assert contents(folder / "state") == before, "a state that is refused is changed"


def check_converted(folder):
    """A learner that is alone converts its records, and can do no more: they are the same as before."""
    queries = "SELECT * FROM rounds", "SELECT * FROM ledger", "SELECT t, a FROM attempts"
    before = [rows(folder, query) for query in queries]
    assert all(before), "the archive has no round, no charge, or no open attempt"
    learner = start(folder)
    expect("a start", lambda: any(one["event"] == "attempt_resumed" for one in records(folder)))
    learner.send_signal(signal.SIGTERM)
    assert learner.wait(PATIENCE) == 0
    assert rows(folder, "PRAGMA user_version") > [(10,)]
    for query, was in zip(queries, before):
        assert rows(folder, query) == was, f"another answer to {query}"


def last_round(folder):
    return rows(folder, "SELECT max(t) FROM rounds")[0][0]


def spent(folder):
    """Return the number of charges that the ledger of a learner has."""
    return rows(folder, "SELECT charges FROM ledger")[0][0]


def account(folder):
    """Return the rounds in the account of a learner, which verifies."""
    file = folder / "account.jsonl"
    done = run(STARLING, "account", "export", "--output", file, folder / "state")
    assert done.returncode == 0, done.stderr
    done = run(STARLING, "account", "verify", "--roster", folder.parent / "roster.yaml", file)
    assert done.returncode == 0, done.stdout + done.stderr
    return [one["round"] for one in map(json.loads, file.read_text().splitlines()) if "round" in one]


def play(folders):
    """Let this version go on from the folders, and compare with what was recorded."""
    models = {folder: contents(folder / "state" / "checkpoints") for folder in folders}
    charges = {folder: spent(folder) for folder in folders}
    last = {folder: last_round(folder) for folder in folders}
    for folder in folders:
        before = contents(folder)
        done = run(STARLINGD, "--config", folder / "starlingd.yaml", "--check")
        assert done.returncode == 0, done.stdout + done.stderr
        assert contents(folder) == before, "a check changes files"
    learners = [start(folder) for folder in folders]
    try:
        goal = max(last.values()) + ROUNDS
        expect("rounds", lambda: all(learner.poll() is None for learner in learners) and all(max(committed(f), default=0) >= goal for f in folders))
        for learner in learners:
            learner.send_signal(signal.SIGTERM)
        assert [learner.wait(PATIENCE) for learner in learners] == [0] * len(learners)
    finally:
        for learner in learners:
            learner.kill()
            learner.wait()
    for folder in folders:
        rounds = account(folder)
        assert rounds == sorted(set(rounds)) and rounds[0] > last[folder], f"{folder.name}: an account of {rounds} after {last[folder]}"
        assert set(committed(folder)) <= set(rounds), f"{folder.name}: rounds {committed(folder)}, an account of {rounds}"
        kept = contents(folder / "state" / "checkpoints")
        assert models[folder].items() <= {**kept, "latest.safetensors": models[folder].get("latest.safetensors")}.items(), folder.name
        assert charges[folder] <= spent(folder) >= last_round(folder), f"{folder.name}: {spent(folder)} charges after {charges[folder]}"
        assert rows(folder, "PRAGMA user_version") > [(10,)]
    print(f"rounds {min(last.values()) + 1} to {goal}, charges {sorted(charges.values())} kept")


def main():
    for check in check_refused, check_converted:
        with tempfile.TemporaryDirectory() as name:
            check(unpack(Path(name))[0])
    with tempfile.TemporaryDirectory() as name:
        play(unpack(Path(name)))


if RECORD:
    record()
else:
    main()
