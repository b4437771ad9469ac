"""Programs that the experiments and starling-bench run: starling with its commands, and others. One at a time; ended with this program."""
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHUNK = 1 << 22
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


class Failed(Exception):
	"""What ends the experiments; `status` is the exit status of this program."""

	def __init__(self, text, status=1):
		super().__init__(text)
		self.status = status


def beside(script):
	"""Return the path of starling: beside `script` as it was called, in the build folder of its source, or in PATH."""
	source = Path(__file__).resolve().parents[2]
	for path in Path(script).absolute().parent / 'starling', source / 'build/tools/starling':
		if path.is_file() and os.access(path, os.X_OK):
			return str(path)
	return 'starling'


class Programs:
	def __init__(self, starling, show, prefix='starling-paper-', folder=None):
		self.starling = starling
		self.show = show  # a function of a text: what runs
		self.folder = tempfile.TemporaryDirectory(prefix=prefix, dir=folder)

	def path(self, name):
		return Path(self.folder.name) / name

	def remove(self, name):
		shutil.rmtree(self.path(name), ignore_errors=True)

	def close(self):
		self.folder.cleanup()

	def _end(self, child):
		if child.poll() is None:
			child.send_signal(signal.SIGINT)
		child.wait()

	def _await(self, child, what, source, take):
		rest = b''
		while source is not None and (chunk := source.read(CHUNK)):
			lines, newline, rest = (rest + chunk).rpartition(b'\n')
			take(lines + newline)
			self.show(what)
		while True:
			try:
				return child.wait(timeout=0.2)
			except subprocess.TimeoutExpired:
				self.show(what)

	def call(self, arguments, what, pinned=False, environment=None, take=None):
		"""Run a program to its end; return what it prints. `pinned`: to one processor. `take` gets the lines that the
		program writes to the file @STATES@ of its arguments, some at a time."""
		def prepare():
			LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
			if pinned:
				os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
		source, passed = None, ()
		arguments = [str(a) for a in arguments]
		if take is not None:
			read, write = os.pipe()
			source, passed = os.fdopen(read, 'rb'), (write,)
			arguments = [a.replace('@STATES@', f'/dev/fd/{write}') for a in arguments]
		self.show(what)
		with open(self.path('output'), 'w+b') as out, open(self.path('errors'), 'w+b') as err:
			try:
				child = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=out, stderr=err, pass_fds=passed,
					cwd=self.folder.name, env={**os.environ, **(environment or {})}, preexec_fn=prepare)
			except OSError as error:
				raise Failed(f'{arguments[0]} cannot be started: {error.strerror}') from error
			finally:
				for fd in passed:
					os.close(fd)
			try:
				status = self._await(child, what, source, take)
			finally:
				self._end(child)
				if source is not None:
					source.close()
			out.seek(0)
			err.seek(0)
			output, said = (f.read().decode(errors='replace') for f in (out, err))
		if status != 0:
			last = (said.strip() or 'no message').splitlines()[-1]
			raise Failed(f'{what}: {Path(arguments[0]).name} ended with status {status}: {last}', 2 if status == 2 else 1)
		return output

	def starling_json(self, arguments, what, **more):
		return json.loads(self.call([self.starling, *arguments, '--json'], what, **more))

	def version(self):
		return self.call([self.starling, '--version'], 'version').split()[-1]


class Load:
	"""How much of the processors' time went to other programs, since the start."""

	def __init__(self):
		self.before = self._read()

	@staticmethod
	def _read():
		with open('/proc/stat', encoding='ascii') as stat:
			all_s = sum(int(n) for n in stat.readline().split()[1:4]) / os.sysconf('SC_CLK_TCK')
		return time.monotonic(), all_s, sum(os.times()[:4])

	@staticmethod
	def part(before, after, processors):
		"""Return the part, 0 to 1, from two readings of (clock, busy time of all, own)."""
		wall, every, own = (b - a for a, b in zip(before, after))
		return min(1.0, max(0.0, (every - own) / (wall * processors))) if wall > 0 else 0.0

	def others(self):
		return self.part(self.before, self._read(), os.cpu_count())


def say(text):
	print(f'starling-paper: {text}', file=sys.stderr)
