"""A run of many rounds with real daemons leaves nothing that grows but their logs: long_run.py STARLING [SECONDS].

Three learners of a small model run for SECONDS (600), or longer: until they have so many rounds that nothing should grow any more, and as many
again. The database and the memory of each learner are compared between these moments. What grew, but for a few pages, is extrapolated to
100,000 rounds: growth of less than 64 KB in the whole test is not seen."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SETTLED = 2000  # rounds: the store keeps 1,024, and its log is emptied every fifty or so
FAR = 100000  # rounds, to which the growth is extrapolated
DATABASE_MOST, MEMORY_PART = 5_000_000, 0.02  # bytes there; of the memory
PAGES = 64 << 10  # bytes that come and go, whatever the number of rounds
SECONDS = 600


class Moment:
	"""What the learners have: rounds, bytes of records, bytes of memory."""

	def __init__(self, learners):
		self.round = rounds_of(learners[0])
		self.database = max((learner / 'state/learner.db').stat().st_size for learner in learners)
		self.memory = max(memory_of(learner) for learner in learners)


def rounds_of(learner):
	return max((int(name[7:13]) for name in os.listdir(learner / 'state') if name.startswith('result-')), default=0)


def memory_of(learner):
	"""Return the bytes of memory that are of no file."""
	status = Path(f'/proc/{(learner / "pid").read_text().strip()}/status').read_text(encoding='ascii')
	return 1024 * int(re.search(r'RssAnon:\s+([0-9]+) kB', status)[1])


def wait_for(launcher, condition):
	while not condition():
		assert launcher.poll() is None, 'the launcher has ended'
		time.sleep(0.5)


def grown(before, after, there):
	"""Return a size at round FAR, if it grows on as between two moments."""
	return there(after) + max(0, there(after) - there(before) - PAGES) / (after.round - before.round) * (FAR - after.round)


def main(starling, seconds=SECONDS):
	with tempfile.TemporaryDirectory(prefix='starling-test-') as folder:
		run, end = Path(folder) / 'run', time.monotonic() + float(seconds)
		launcher = subprocess.Popen([starling, 'launch', '-n', '3', '--rounds', '1000000', '--topology', 'complete', '--run-dir', run, '--set', 'trainer=noise',
			'--set', 'noise_parameters=10'], stdout=subprocess.DEVNULL)
		learners = [run / f'learner-0{i}' for i in (1, 2, 3)]
		try:
			wait_for(launcher, lambda: (learners[0] / 'state').exists() and rounds_of(learners[0]) >= SETTLED)
			before = Moment(learners)
			wait_for(launcher, lambda: time.monotonic() >= end and rounds_of(learners[0]) >= 2 * SETTLED)
			after = Moment(learners)
		finally:
			launcher.send_signal(signal.SIGINT)
			launcher.wait()
	database, memory = (grown(before, after, there) for there in (lambda one: one.database, lambda one: one.memory))
	for one in before, after:
		print(f'round {one.round}: database {one.database} bytes, memory {one.memory} bytes')
	print(f'extrapolated to round {FAR}: database {database:.0f} bytes, memory {memory:.0f} bytes')
	assert database <= DATABASE_MOST, database
	assert memory <= before.memory * (1 + MEMORY_PART), memory


main(*sys.argv[1:])
