"""What rounds on hosts waited for: samples of the learners' threads and of the links' counters, every few milliseconds."""
import os
import re
import threading
import time
from collections import namedtuple
from pathlib import Path

INTERVAL_S = 0.005
LOOK_EACH = 40  # samples; learners started since the last look are found then
BUSY = 0.8  # from here on a link is full: packet headers of large segments are not counted

# What has been since the sample before: `at` in seconds of CLOCK_MONOTONIC; `busy`, the part of its rate that the busiest link
# carried; `ran`, the part of the time in which the busiest learner ran, and `delayed`, in which it was ready and had no processor;
# `disk`: a thread of a learner waits for the disk now. `sent`: bytes of each host so far.
Sample = namedtuple('Sample', 'at busy ran delayed disk sent', defaults=(0.0, 0.0, 0.0, False, ()))
# What the learners waited for, seconds. Each moment counts once.
Waits = namedtuple('Waits', 'bandwidth cpu taken disk trips')


def waits(samples, begin, end):
	"""Return what the learners waited for between two moments."""
	bandwidth = cpu = taken = disk = trips = 0.0
	for before, sample in zip(samples, samples[1:]):
		took = min(sample.at, end) - max(before.at, begin)
		if took <= 0:
			continue
		if sample.busy >= BUSY:
			bandwidth += took
			continue
		rest = max(0.0, took * (1 - sample.ran - sample.delayed))
		cpu += took * sample.ran
		taken += took * sample.delayed
		disk += rest if sample.disk else 0.0
		trips += 0.0 if sample.disk else rest
	return Waits(bandwidth, cpu, taken, disk, trips)


def sent_most(samples, begin, end):
	"""Return the bytes that the busiest host has sent between two moments."""
	first, last = (next((s for s in samples if s.at >= at), samples[-1]) for at in (begin, end))
	return max(b - a for a, b in zip(first.sent, last.sent))


class Learner:
	"""A learner's process: the times of all its threads."""

	def __init__(self, pid):
		self.folder, self.threads, self.before = Path(f'/proc/{pid}/task'), {}, None

	def _files(self):
		"""Return the open files of each thread: to open them anew each time would take longer than to read them."""
		try:
			now = set(os.listdir(self.folder))
		except OSError:
			now = set()
		for gone in self.threads.keys() - now:
			for file in self.threads.pop(gone):
				os.close(file)
		for new in now - self.threads.keys():
			try:
				self.threads[new] = [os.open(self.folder / new / name, os.O_RDONLY) for name in ('stat', 'schedstat')]
			except OSError:
				pass  # it has ended
		return self.threads.values()

	def look(self, passed):
		"""Return which parts of the last `passed` seconds the threads ran, and were ready; and whether one waits for the disk."""
		ran, delayed, disk = 0.0, 0.0, False
		for stat, schedstat in self._files():
			try:
				disk |= b') D' in os.pread(stat, 512, 0)
				times = os.pread(schedstat, 128, 0).split()
			except OSError:
				continue
			ran, delayed = ran + 1e-9 * int(times[0]), delayed + 1e-9 * int(times[1])
		before, self.before = self.before, (ran, delayed)
		if before is None or ran < before[0] or delayed < before[1]:  # new, or a thread has ended
			return 0.0, 0.0, disk
		ran, delayed = (ran - before[0]) / passed, (delayed - before[1]) / passed
		over = max(1.0, ran + delayed)
		return ran / over, delayed / over, disk


class Link:
	"""The counters of a host's device."""

	def __init__(self, host):
		self.file, self.before = os.open(f'/proc/{host.holder.pid}/net/dev', os.O_RDONLY), (0, 0)

	def bytes(self):
		"""Return the bytes sent and received."""
		fields = re.search(rb'eth0:(.*)', os.pread(self.file, 4096, 0))[1].split()
		return int(fields[8]), int(fields[0])

	def look(self):
		"""Return the larger of the bytes sent and received since the last look, and all bytes sent."""
		before, self.before = self.before, self.bytes()
		return max(b - a for a, b in zip(before, self.before)), self.before[0]


class Watch(threading.Thread):
	"""Takes samples from its start until `stop`. `name`: of the learners' processes."""

	def __init__(self, links, mbit, name):
		super().__init__(daemon=True)
		self.links, self.rate, self.learner_name = links, mbit * 1e6 / 8, f'{name}\n'.encode()
		self.samples, self.learners, self.ended = [], {}, False

	def _find_learners(self):
		for pid in filter(str.isdecimal, os.listdir('/proc')):
			try:
				if pid not in self.learners and Path(f'/proc/{pid}/comm').read_bytes() == self.learner_name:
					self.learners[pid] = Learner(pid)
			except OSError:
				pass  # it has ended

	def _look(self, before):
		at = time.monotonic()
		looks = [learner.look(at - before) for learner in self.learners.values()]
		ran, delayed, _ = max(looks, key=lambda look: look[0] + look[1], default=(0.0, 0.0, False))
		carried, sent = zip(*(link.look() for link in self.links))
		return Sample(at, max(carried) / (at - before) / self.rate, ran, delayed, any(look[2] for look in looks), sent)

	def run(self):
		be_urgent()
		before = 0.0
		while not self.ended:
			if len(self.samples) % LOOK_EACH == 0:
				self._find_learners()
			self.samples.append(self._look(before))
			before = self.samples[-1].at
			time.sleep(INTERVAL_S)

	def stop(self):
		"""Return the samples."""
		self.ended = True
		self.join()
		return self.samples


def be_urgent():
	"""Have this thread run before all that are not so urgent, if that is allowed."""
	try:
		os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
	except OSError:
		pass
