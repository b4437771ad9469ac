"""Nothing secret leaves a learner: canary.py STARLING STARLINGD. Status 77 without numpy.

Three learners train planted models with planted weights. The values, their changes, the weights, and whatever the
learners keep in their state folders while a round runs (masked states, deposits, key shares, the trained models) are then searched
for in everything that a person or another learner can see: logs, outputs, the journal, the states of the others, status, metrics, records
and page over HTTP, report, trace, command lines and environments. Each value is searched for as bytes, hexadecimal, base64 and decimal.
One daemon of each run is aborted in mid-round with core files allowed: it must leave none.
"""
import base64
import http.client
import itertools
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "tools" / "python"
try:
    import numpy as np
except ImportError:
    print("numpy is not installed (Debian: python3-numpy)")
    sys.exit(77)

sys.path.append(str(HERE.parent / "lib"))
from patience import PATIENCE  # noqa: E402
from ports import free_ports  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
LEARNERS, ROUNDS, VALUES, DECIMALS = 3, 4, 16, 8  # so many decimals that no time in milliseconds is a value by chance
WINDOW = 16  # bytes of a file that are searched for


# --- what is searched for ---

def ways_of_bytes(secret):
    """Return the secret as bytes, in hexadecimal, and in base64 at each of the three places of a group."""
    ways = {secret, secret.hex().encode(), secret.hex().upper().encode()}
    for before in range(3):
        text = base64.b64encode(bytes(before) + secret)
        ways.add(text[(before * 8 + 5) // 6:(len(secret) + before) * 8 // 6])
    return ways


def ways_of_values(values):
    """Return two neighbouring values as bytes of every type, and each value in decimal, with seven or more digits."""
    ways = set()
    for a, b in zip(values, values[1:]):
        for form in ("<2f", "<2d"):
            ways |= ways_of_bytes(struct.pack(form, a, b))
        ways |= ways_of_bytes(struct.pack("<2q", round(a * 10**DECIMALS), round(b * 10**DECIMALS)))
    for value in values:
        ways.add(f"{abs(value):.12f}"[:9].encode() if abs(value) >= 1 else f"{abs(value):.10f}".encode()[:11])
        if abs(value) >= 1:
            ways |= {f"{abs(value):.6f}".encode(), str(abs(round(value * 10**DECIMALS))).encode()}
    return ways


class Canary:
    """The secrets of one learner: what was planted, or else what its trainer made, and what the open round needs."""

    def __init__(self, number):
        self.name = f"learner-{number:02d}"
        self.planted, self.kept = set(), set()

    def plant(self, folder, weights, models, means):
        lines = [" ".join(str(x) for x in [weight, *model]) for weight, model in zip(weights, models)]
        (folder / f"{self.name}.txt").write_text("\n".join(lines) + "\n")
        self.planted = {str(weight).encode() for weight in weights}
        for model in models:
            self.planted |= ways_of_values(model)
        for mean, model in zip(means, models[1:]):
            steps = [abs(a - b) for a, b in zip(model, mean)]
            self.planted |= {f"{step:.9f}"[:7].encode() for step in steps if step >= 1}  # committed means are rounded

    def watch(self, state):
        """Add the dumped model, and parts of what is kept for the open round: masked state, deposits."""
        for path in [*state.glob("attempt.*"), *state.glob("trained-*.model")]:
            try:
                data = path.read_bytes()
            except FileNotFoundError:
                continue  # the round is over
            if path.suffix == ".model":
                values = np.frombuffer(data[8:len(data) // 4 * 4], dtype="<f4")
                self.planted |= ways_of_values([float(value) for value in values if abs(value) > 1e-3][:VALUES])
                continue
            windows = (data[at:at + WINDOW] for at in range(0, len(data) - WINDOW + 1, WINDOW))
            found = (window for window in windows if len(set(window)) > WINDOW // 2)  # neither padding nor a small number
            for window in itertools.islice(found, 64):
                self.kept |= ways_of_bytes(window)


def plant(canaries, folder):
    """Write the models and weights of all learners, for canary_site.py."""
    randomness = random.Random(1)
    weights = [[randomness.randrange(10**7, 10**8) for _ in range(ROUNDS)] for _ in canaries]
    models = [[[float(np.float32(randomness.uniform(1, 9) * randomness.choice([-1, 1]))) for _ in range(VALUES)]
               for _ in range(ROUNDS)] for _ in canaries]
    means = [np.average([model[t] for model in models], axis=0, weights=[weight[t] for weight in weights]).tolist()
             for t in range(ROUNDS)]
    folder.mkdir()
    for canary, weight, model in zip(canaries, weights, models):
        canary.plant(folder, weight, model, means)


START = 4  # bytes of every way to write a secret that are compared at once


def first_way(by_start, starts, data):
    """Return a way that stands in the data, or None. starts: the first bytes of all ways as sorted numbers."""
    for shift in range(START):
        words = np.frombuffer(data, dtype="<u4", offset=shift, count=max(0, (len(data) - shift) // START))
        places = np.minimum(np.searchsorted(starts, words), len(starts) - 1)
        for word in np.flatnonzero(starts[places] == words):
            at = shift + START * int(word)
            for way in by_start[data[at:at + START]]:
                if data.startswith(way, at):
                    return way
    return None


def search(ways, places):
    """Return (place, way) for the places, a dictionary from name to bytes, in which one of the ways stands."""
    by_start = {}
    for way in ways:
        by_start.setdefault(way[:START], []).append(way)
    starts = np.sort(np.frombuffer(b"".join(by_start), dtype="<u4"))
    matches = ((name, first_way(by_start, starts, data)) for name, data in places.items() if len(data) > START)
    return [(name, way) for name, way in matches if way is not None]


# --- where it is searched ---

def processes(folder):
    """Return command line and environment of every process that runs in the folder."""
    places = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if folder in os.readlink(process / "cwd"):
                for part in ("cmdline", "environ"):
                    places[f"{part} of process {process.name}"] = (process / part).read_bytes()
        except OSError:
            continue  # it has ended
    return places


class Reader(threading.Thread):
    """Reads what a URL gives, until the other side ends it; a stream of events goes on until then."""

    def __init__(self, url):
        super().__init__(daemon=True)
        self.url, self.data = url, b""
        self.start()

    def run(self):
        try:
            with urllib.request.urlopen(self.url, timeout=PATIENCE) as answer:
                while chunk := answer.read1():
                    self.data += chunk
        except (OSError, http.client.HTTPException):
            pass  # the run has ended


PAGE = re.compile(rb"page: (http://127\.0\.0\.1:\d+/)")


def pages(port, printed):
    """Read everything that the learners and the page of the launcher serve."""
    page = PAGE.search(printed)
    urls = [f"{page[1].decode()}{path}" for path in ("", "events", "log?learner=1&round=1")] if page else []
    for i in range(LEARNERS):
        urls += [f"http://127.0.0.1:{port + i}/{path}" for path in ("metrics", "healthz", "records")]
    return [Reader(url) for url in urls]


def command(places, *arguments):
    done = subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE)
    places["starling " + " ".join(arguments)] = done.stdout


def journal(since):
    """Return what the journal of systemd has taken since then; no place where it does not run."""
    if not Path("/run/systemd/journal/socket").exists() or shutil.which("journalctl") is None:
        return {}
    done = subprocess.run(["journalctl", f"--since=@{since:.0f}", "--output=export"], stdout=subprocess.PIPE, timeout=PATIENCE)
    return {"journal": done.stdout}


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.is_symlink()}


# --- core files ---

CORE_PATTERN = Path("/proc/sys/kernel/core_pattern").read_text().strip()


def core_files(folder, since):
    """Return the core files of processes that ran in the folder, and those that began to appear elsewhere after `since`."""
    pattern = Path(CORE_PATTERN)  # a name is taken in the working directory of the process
    name = re.sub("%.", "*", pattern.name) + "*"  # the kernel may append the process id
    if not pattern.is_absolute():
        return [path for path in folder.rglob(name) if path.is_file()]
    return [path for path in pattern.parent.glob(name) if path.is_file() and path.stat().st_mtime >= since]


def why_no_core_files(folder):
    """Return why this machine writes no core files that the test can find, or None: a shell that aborts leaves one."""
    if CORE_PATTERN.startswith("|"):
        return f"a program takes them: {CORE_PATTERN}"
    if "%" in str(Path(CORE_PATTERN).parent):
        return f"their folder is not fixed: {CORE_PATTERN}"
    folder.mkdir()
    since = time.time() - 1
    subprocess.run(["sh", "-c", "kill -ABRT $$"], cwd=folder, check=False)
    found = core_files(folder, since)
    for path in found:
        path.unlink()
    return None if found else f"a shell that aborted has left none: core_pattern is {CORE_PATTERN}"


class Victim:
    """The daemon that is aborted once, while it keeps the state of an open round."""

    def __init__(self, folder):
        self.folder, self.aborted = folder, False

    def abort(self):
        if not self.aborted and any(self.folder.glob("state/attempt.*")):
            os.kill(int((self.folder / "pid").read_text()), signal.SIGABRT)
            self.aborted = True


# --- the runs ---

PLANTED = ["--set", "weighting=samples", "--set", "max_weight=100000000", "--set", f"decimals={DECIMALS}",
           "--set", "clipping_range=16", "--", sys.executable, str(HERE / "canary_site.py")]
BUILT_IN = ["--set", "hidden_units=1", "--verify"]


def watch_all(canaries, run, launcher):
    """Look at the state folders as often as possible: a model or a masked state is on disk for some milliseconds."""
    while launcher.poll() is None:
        for canary in canaries:
            canary.watch(run / canary.name / "state")
        time.sleep(0.001)


def play(folder, canaries, arguments):
    """Run some rounds; return all that could be seen, by name."""
    run, port, looked, readers, places, since = folder / "run", free_ports(LEARNERS)[0], 0, [], {}, time.time() - 1
    page_read = False
    victim = Victim(run / canaries[0].name)
    launcher = subprocess.Popen(
        [PROGRAM, "launch", "-n", str(LEARNERS), "--rounds", str(ROUNDS), "--run-dir", str(run), "--http", str(port), "--web",
         "--set", "log_level=debug", "--set", "quorum=all", *arguments],
        env={**os.environ, "PYTHONPATH": str(PACKAGE)}, stdout=open(folder / "printed", "wb"), stderr=subprocess.STDOUT)
    watcher = threading.Thread(target=watch_all, args=(canaries, run, launcher), daemon=True)
    watcher.start()
    end = time.monotonic() + PATIENCE
    while launcher.poll() is None and time.monotonic() < end:
        places.update(processes(str(folder)))
        printed = (folder / "printed").read_bytes()
        committed = printed.count(b" exact\n") + printed.count(b" same\n")
        shown = PAGE.search(printed) is not None
        if committed >= 1:
            victim.abort()
        if committed > looked or shown > page_read:
            looked, page_read = committed, shown
            readers += pages(port, printed)
            command(places, "status", str(run), "--json")
        time.sleep(0.02)
    if launcher.poll() is None:
        launcher.send_signal(signal.SIGINT)
    assert launcher.wait() == 0, (folder / "printed").read_text()
    watcher.join()
    for arguments in (["--json"], ["--stats"], ["--round", "2"], ["--round", "2", "--json"], ["--trace", str(run / "trace.json")]):
        command(places, "logs", str(run), *arguments)
    for number, reader in enumerate(readers):
        places[f"{reader.url} ({number})"] = reader.data
    for path in ("metrics", "healthz", "records", "events", "log?"):
        assert any(path in reader.url and reader.data for reader in readers), f"/{path} was not read"
    places["printed"] = (folder / "printed").read_bytes()
    assert victim.aborted and b"was killed by SIGABRT in round" in places["printed"], places["printed"].decode()
    places.update(files(run))
    places.update(journal(since))
    for path in core_files(folder, since):
        places[f"core file {path}"] = path.read_bytes()
    assert {"report.html", "rounds.csv", "learners.csv", "trace.json"} < set(places), sorted(places)
    return places


def leaks(canaries, places):
    """Return every place that shows a secret, but for the state folder of its owner. Neighbours keep deposits, under keys."""
    for canary in canaries:
        for place, way in search(canary.planted, places):
            if not place.startswith(f"{canary.name}/state/"):
                yield canary.name, place, way
        for place, way in search(canary.kept, places):
            if "/state/" not in place:
                yield canary.name, place, way


def check(what, arguments):
    """Play and search; return True if no secret was found."""
    canaries = [Canary(number) for number in range(1, LEARNERS + 1)]
    with tempfile.TemporaryDirectory(prefix="starling-canary.") as folder:
        if arguments is PLANTED:
            plant(canaries, Path(folder) / "planted")
            arguments = [*arguments, str(Path(folder) / "planted")]
        why = why_no_core_files(Path(folder) / "core")
        if why is not None:
            print(f"{what}: core files are not looked for: {why}")
        places = play(Path(folder), canaries, arguments)
    assert all(canary.kept for canary in canaries), "no masked state was seen"
    assert len(places) > 10 * LEARNERS, sorted(places)
    common = {name: data for name, data in places.items() if "/checkpoints/" in name}
    for canary in canaries:  # an element that no learner has changed is known to all
        canary.planted -= {way for way in canary.planted if search({way}, common)}
    assert all(len(canary.planted) > 100 for canary in canaries)
    ways = set().union(*(canary.planted | canary.kept for canary in canaries))
    for way in ways:  # the search finds what is there
        assert search({way}, {"planted": b"\x01x" + way}) == [("planted", way)]
    found = list(leaks(canaries, places))
    for owner, place, way in found:
        print(f"{what}: a secret of {owner} stands in {place}: {way}")
    cores = [place for place in places if place.startswith("core file ")]
    for place in cores:
        print(f"{what}: an aborted daemon has left a {place}")
    print(f"{what}: {len(places)} places, {sum(len(data) for data in places.values())} bytes, {len(ways)} ways to write a secret")
    return not found and not cores


resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)  # as high as is allowed
sys.exit(0 if check("planted models", PLANTED) & check("a built-in trainer", BUILT_IN) else 1)
