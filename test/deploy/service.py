"""The command lines of the units, without systemd: service.py STARLING STARLINGD STARLINGD-TEST UNIT...

This program is the service manager. It reads the units, starts what they start, with /var/lib/starling, /etc/starling and
/run/starling in a folder of its own, and reads what the learners say at $NOTIFY_SOCKET.
"""
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / 'lib'))
from patience import PATIENCE, expect
from ports import free_ports

STARLING, STARLINGD, STARLINGD_TEST, *UNITS = (str(Path(path).resolve()) for path in sys.argv[1:])


class Unit:
	"""A unit as this test starts it: `name` is the instance of a template."""

	def __init__(self, path, name, root):
		self.name, self.root = name, root
		text = Path(path).read_text().replace('%i', name)
		text = re.sub(r'/usr/local/bin/starlingd\b', STARLINGD, text)
		text = re.sub(r'/usr/local/bin/starling\b', STARLING, text)
		for folder in ('/var/lib/starling', '/etc/starling', '/run/starling'):
			text = text.replace(folder, f'{root}{folder}')
		self.settings = dict(re.findall(r'^(\w+)=(.*)$', text, re.M))
		self.folder = root / 'var/lib' / self.settings['StateDirectory']
		self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		self.socket.bind(str(root / f'{name or "plain"}.notify'))
		self.heard, self.process = [], None

	def start(self, watchdog='0.4', **variables):
		"""Start it, with a watchdog of `watchdog` seconds."""
		environment = dict(os.environ, NOTIFY_SOCKET=self.socket.getsockname(), WATCHDOG_USEC=str(int(float(watchdog) * 1e6)), **variables)
		self.heard = []
		command = shlex.split(self.settings['ExecStart'])
		if 'STARLING_CRASH' in variables:
			command[0] = STARLINGD_TEST
		self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
			stdout=subprocess.DEVNULL, stderr=open(self.root / f'{self.name}.log', 'ab'))

	def expect(self, line, seconds=PATIENCE):
		"""Wait until the unit says a line that begins with the pattern `line`; return it."""
		end = time.monotonic() + seconds
		while (left := end - time.monotonic()) > 0:
			self.socket.settimeout(left)
			try:
				message = self.socket.recv(4096).decode().split('\n')
			except TimeoutError:
				break
			self.heard += message
			for said in message:
				if re.match(line, said):
					return said
		raise AssertionError(f'{self.name}: no {line} in {self.heard[-20:]}; its log:\n{self.log()[-3000:]}')

	def silent(self, line, seconds):
		"""Expect that the unit does not say `line`."""
		try:
			self.expect(line, seconds)
		except AssertionError:
			return
		raise AssertionError(f'{self.name} said {line}')

	def drain(self):
		self.socket.settimeout(0)
		try:
			while True:
				self.socket.recv(4096)
		except BlockingIOError:
			pass

	def reload(self):
		return subprocess.run(shlex.split(self.settings['ExecReload']), capture_output=True, text=True, timeout=PATIENCE)

	def log(self):
		return (self.root / f'{self.name}.log').read_text()

	def stop(self):
		self.process.send_signal(getattr(signal, self.settings['KillSignal']))
		self.expect('STOPPING=1')
		return self.process.wait(PATIENCE)


def make_group(root, names, settings=''):
	"""Make the folders of learners of one group, each as if it was on a machine of its own."""
	lines = []
	for i, (name, port) in enumerate(zip(names, free_ports(len(names))), 1):
		folder = root / 'var/lib/starling' / name
		folder.mkdir(parents=True)
		lines.append(subprocess.run([STARLING, 'keygen', '--id', str(i), '--name', name, '--address', f'127.0.0.1:{port}', '--dir',
			folder / 'identity'], check=True, capture_output=True, text=True).stdout)
		(folder / 'starlingd.yaml').write_text(f'run: ward\nid: {i}\nroster: roster.yaml\nidentity: identity\nstate: state\nrounds: 1000\n'
			f'partition: iid\nquorum: all\n{settings}')
	for name in names:
		(root / 'var/lib/starling' / name / 'roster.yaml').write_text(''.join(lines))


def template():
	return next(unit for unit in UNITS if '@' in Path(unit).name)


def start_reload_stop(root):
	"""Three learners of a group are ready, show their rounds, feed the watchdog, reload and end."""
	make_group(root, ['a', 'b', 'c'])
	learners = [Unit(template(), name, root) for name in ('a', 'b', 'c')]
	try:
		for learner in learners:
			learner.start()
			learner.expect('READY=1')
		first = learners[0]
		first.expect(r'STATUS=round \d+ of 1000: ')
		for _ in range(3):
			first.expect('WATCHDOG=1')
		first.drain()
		config = first.folder / 'starlingd.yaml'
		config.write_text(config.read_text() + 'log_level: debug\n')
		done = first.reload()
		assert done.returncode == 0, done
		first.expect('RELOADING=1')
		first.expect('READY=1')
		assert 'the log is reopened at level debug' in first.log()
		config.write_text(config.read_text() + 'log_level: loud\n')
		assert first.reload().returncode == 1, 'a wrong setting is not reported'
		first.expect('READY=1')  # and it goes on
		# Nothing but the loop feeds the watchdog.
		first.process.send_signal(signal.SIGSTOP)
		expect('it is stopped', lambda: 'State:\tT' in Path(f'/proc/{first.process.pid}/status').read_text())
		first.drain()
		first.silent('WATCHDOG=1', 1)
		first.process.send_signal(signal.SIGCONT)
		first.expect('WATCHDOG=1')
		for learner in learners:
			assert learner.stop() == 0, learner.log()
	finally:
		for learner in learners:
			if learner.process:
				learner.process.kill()


def a_loop_that_hangs(root):
	"""The loop of a learner hangs when its second Ready has left (daemon/runtime/failpoint.h): its watchdog starves."""
	make_group(root, ['a', 'b', 'c'])
	learners = [Unit(template(), name, root) for name in ('a', 'b', 'c')]
	try:
		for learner in learners:
			learner.start(**{'STARLING_CRASH': 'ready-sent:2:hang'} if learner is learners[0] else {})
		first = learners[0]
		first.expect('READY=1')
		first.expect('WATCHDOG=1')
		end = time.monotonic() + PATIENCE
		try:
			while time.monotonic() < end:
				first.expect('WATCHDOG=1', 3)
		except AssertionError:
			assert first.process.poll() is None, first.log()
			return
		raise AssertionError('a learner that hangs feeds its watchdog')
	finally:
		for learner in learners:
			learner.process.kill()


def starts_before_the_network(root):
	"""Without its address a learner waits; it goes on when the address is there. In a network namespace of its own."""
	if 'IN_NAMESPACE' not in os.environ:
		if shutil.which('ip') is None or subprocess.run(['unshare', '-rn', 'true'], capture_output=True).returncode != 0:
			return 'network namespaces are refused, or iproute2 is missing'
		subprocess.run(['unshare', '-rn', sys.executable, *sys.argv], env=dict(os.environ, IN_NAMESPACE='yes'), check=True, timeout=2 * PATIENCE)
		return None
	subprocess.run(['ip', 'link', 'set', 'lo', 'up'], check=True)
	make_group(root, ['a', 'b', 'c'], 'listen: 192.0.2.1:7400\n')
	a = Unit(template(), 'a', root)
	a.start()
	a.expect('READY=1')
	a.expect('STATUS=cannot listen on 192.0.2.1:7400: ')
	a.expect('WATCHDOG=1')
	assert a.log().count('"no_address"') == 1, a.log()
	subprocess.run(['ip', 'address', 'add', '192.0.2.1/32', 'dev', 'lo'], check=True)
	a.expect('STATUS=round 1 of 1000: ')
	assert '"event":"listening"' in a.log()
	assert a.stop() == 0
	return None


def takes_the_key_from_the_service_manager(root):
	"""A key among the credentials comes first; its mode is the service manager's affair."""
	make_group(root, ['a', 'b', 'c'])
	a = Unit(template(), 'a', root)
	credentials = root / 'credentials'
	credentials.mkdir()
	assert a.settings['LoadCredential'] == 'key.pem:starlingd.a.key.pem'
	(a.folder / 'identity/key.pem').rename(credentials / 'key.pem')
	(credentials / 'key.pem').chmod(0o440)  # as systemd's access list shows it
	a.start(CREDENTIALS_DIRECTORY=str(credentials))
	a.expect('READY=1')
	assert a.stop() == 0
	a.start()
	assert a.process.wait(PATIENCE) == 2, 'a learner without a key has started'


def plain_unit(root):
	"""The unit of /etc/starling starts the learner that is set up there."""
	make_group(root, ['a', 'b', 'c'])
	plain = Unit(next(unit for unit in UNITS if '@' not in Path(unit).name), '', root)
	for folder in ('etc', 'run'):
		(root / folder / 'starling').mkdir(parents=True)
	for name in ('identity', 'roster.yaml'):
		(root / 'var/lib/starling/a' / name).rename(root / 'var/lib/starling' / name)
	(root / 'etc/starling/starlingd.yaml').write_text(f'run: ward\nid: 1\nroster: {root}/var/lib/starling/roster.yaml\n'
		f'identity: {root}/var/lib/starling/identity\nstate: {root}/var/lib/starling/state\ncontrol: {root}/run/starling/control.sock\n'
		'partition: iid\n')
	plain.start()
	plain.expect('READY=1')
	assert plain.reload().returncode == 0
	plain.expect('RELOADING=1')
	plain.expect('READY=1')
	assert plain.stop() == 0


CASES = (start_reload_stop, a_loop_that_hangs, starts_before_the_network, takes_the_key_from_the_service_manager, plain_unit)


def main():
	for case in (starts_before_the_network,) if 'IN_NAMESPACE' in os.environ else CASES:
		with tempfile.TemporaryDirectory(prefix='starling-test-') as folder:
			why = case(Path(folder))
		if 'IN_NAMESPACE' not in os.environ:
			print(f'{case.__name__}: {"skipped: " + why if why else "passed"}')


main()
