"""Eight hosts on a bridge, a daemon on each: hosts.py STARLING STARLINGD UNIT [--nightly]

This program runs in network, mount and process name spaces of its own, with the bridge. A host is a process in a network and a
mount name space inside, with a veth device to the bridge and a /var/lib/starling of its own; commands reach it by nsenter. The
group is made by `starling group create` and `join` alone, and daemons are started with the command line of the unit. After each scene
the mean of a round is computed here from the models that its participants trained. No traffic leaves, and all processes end with this
one. Skipped where name spaces, ip or tc are refused.
"""
import array
import collections
import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[i] / folder) for i, folder in ((1, 'lib'), (2, 'tools/dev'))]
import lab
from lab import ip, run
from patience import PATIENCE, expect

STARLING, STARLINGD, UNIT = (Path(path).resolve() for path in sys.argv[1:4])
NIGHTLY = '--nightly' in sys.argv
INSIDE = 'STARLING_TEST_BRIDGE'
HOSTS = 8
DECIMALS = 4
# The nightly run has a scene in which no host may miss a round.
TIMEOUTS = (('stall_timeout=15', 'straggler_timeout=30') if NIGHTLY else
	('stall_timeout=5', 'straggler_timeout=5'))
SETTINGS = ('rounds=100000', 'trainer=noise', 'noise_parameters=750', 'values=model', f'decimals={DECIMALS}', *TIMEOUTS)
OWN = ('--set', 'unsafe_dump_model=true')
FAR_MS = 50
# Nothing answers at 10.77.0.20x. Host 4 has another address, too; the others cannot dial host 6, as behind NAT.
ADVERTISED = {4: '10.77.0.204:7400,10.77.0.4:7400', 6: '10.77.0.206:7400'}
HOLD = 'mount -t tmpfs tmpfs /var/lib && mkdir /var/lib/starling && mount --bind "$1" /var/lib/starling'


class Host(lab.Host):
	"""A machine with one daemon, on port 7400; in the roster it has its address, or those of ADVERTISED."""

	def __init__(self, folder, number):
		super().__init__(number)
		self.advertised = ADVERTISED.get(number, f'{self.address}:7400')
		self.folder = folder / self.name
		self.folder.mkdir()
		self.log = self.folder / 'log'
		self.log.touch()
		self.rounds, self.caught_up, self.read = [], [], 0
		self.id, self.view = None, {}
		self.participants = {}  # ids, of rounds that this host has committed
		self.commands, self.daemon = 0, None
		self.power_on()

	def power_on(self):
		self.hold(HOLD, self.folder)
		self.connect('bridge0')
		self.set_up()

	def power_off(self):
		"""Pull the cable first, so that no connection is closed; then kill all that runs here."""
		ip('link', 'delete', 'dev', self.port)
		here = os.readlink(f'/proc/{self.holder.pid}/ns/net')
		for pid in (int(p.name) for p in Path('/proc').iterdir() if p.name.isdecimal()):
			try:
				if os.readlink(f'/proc/{pid}/ns/net') == here:
					os.kill(pid, signal.SIGKILL)
			except (FileNotFoundError, ProcessLookupError):
				pass
		for process in filter(None, (self.holder, self.daemon)):
			process.wait(PATIENCE)

	def processes(self):
		"""Return what runs here, the process with the name spaces last."""
		return [process for process in (self.daemon, self.holder) if process]

	def kill_daemon(self):
		self.daemon.kill()
		self.daemon.wait(PATIENCE)

	def move(self, address, length=24):
		"""Give the host another address, as DHCP does, or none."""
		run(*self.inside('ip', '-4', 'address', 'flush', 'dev', 'eth0'))
		if address:
			run(*self.inside('ip', 'address', 'add', f'{address}/{length}', 'dev', 'eth0'))
			self.address = address

	def limit(self, rate, burst):
		"""Let no more through, both ways."""
		queue = 'root', 'tbf', 'rate', rate, 'burst', burst, 'latency', '300ms'
		run('tc', 'qdisc', 'add', 'dev', self.port, *queue)
		run(*self.inside('tc', 'qdisc', 'add', 'dev', 'eth0', *queue))

	def starling(self, *words):
		"""Begin a command of a user on this machine."""
		self.commands += 1
		output = self.folder / f'output-{self.commands}'
		with output.open('w') as file:
			process = subprocess.Popen(self.inside(str(STARLING), *words), stdin=subprocess.DEVNULL, stdout=file, stderr=file)
		return process, output

	def done(self, command):
		"""Wait until a command has ended well; return what it printed."""
		process, output = command
		assert process.wait(PATIENCE) == 0, f'{self.name}: {shlex.join(process.args)}: status {process.returncode}: {output.read_text()}'
		return output.read_text()

	def waits(self, command):
		"""Wait until a command waits for the admin."""
		process, output = command
		expect(f'{self.name}: a command waits for the admin', lambda: 'aiting for the admin' in output.read_text() or process.poll() is not None)
		assert process.poll() is None, f'{self.name}: {shlex.join(process.args)} has ended: {output.read_text()}'

	def start(self):
		"""What `systemctl enable --now starlingd@ward` does; return when the learner takes connections."""
		self.commands += 1
		self.boot()

	def boot(self):
		before = self.log.stat().st_size
		text = re.search(r'^ExecStart=(.*)$', UNIT.read_text(), re.M)[1].replace('%i', 'ward')
		command = shlex.split(text)
		assert command[0].endswith('/starlingd'), text
		with self.log.open('ab') as log:
			self.daemon = subprocess.Popen(self.inside(str(STARLINGD), *command[1:]), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
		expect(f'{self.name} listens', lambda: re.search('"event":"listening"|listening on', self.log.read_text()[before:]))

	def peers(self):
		"""Return what the status says of the other learners."""
		shown = json.loads(self.done(self.starling('status', '--json', '--control', '/var/lib/starling/ward/state/control.sock')))
		return shown['learners'][0]['status']['peers']

	def path(self, other):
		"""Return how the link to another host goes."""
		return next(peer['path'] for peer in self.peers() if peer['name'] == other.name)

	def is_relayed(self, other):
		return (self.path(other) or '').startswith('relay ')

	def doctor(self):
		return run(*self.inside('sh', '-c', f'{STARLING} doctor; true'))

	def look(self):
		"""Read what the log has more; return the last round that this host knows the model of."""
		with self.log.open() as log:
			log.seek(self.read)
			text = log.read()
		whole = text.rfind('\n') + 1
		self.read += len(text[:whole].encode())
		for line in text[:whole].splitlines():
			# A kill may cut a line where a page of the file ends; the next start goes on in it.
			at = line.rfind('{"v":')
			record = json.loads(line[at:]) if at >= 0 else {}
			self.id = record.get('learner', self.id)
			if record.get('event') == 'view':
				self.view = record
			elif record.get('event') == 'committed':
				self.rounds.append(record['round'])
				if all(self.view.get(key) == record[key] for key in ('round', 'attempt')):
					self.participants[record['round']] = self.view['participants']
			elif record.get('event') == 'caught_up':
				self.caught_up.append(record['round'])
		return max(self.rounds[-1:] + self.caught_up[-1:], default=0)


class Group:
	"""The hosts, and all committed models that were ever seen on one."""

	def __init__(self):
		self.hosts, self.models, self.seen = [], {}, collections.defaultdict(set)
		self.folders = {}  # of each learner that ever was, by its id

	def create(self, *settings, own=None, more=0):
		"""Make a group that admits all others and so many more, and start its first learner; return the invitation."""
		first = self.hosts[0]
		said = first.done(first.starling('group', 'create', 'ward', '--learner', first.name, '--address', first.advertised, '--members',
			str(len(self.hosts)), '--auto-admit', str(len(self.hosts) - 1 + more), *(OWN if own is None else own),
			*(word for setting in settings for word in ('--set', setting))))
		first.start()
		return invitation(said)

	def join(self, line):
		"""Let the others join, and start them."""
		for host, joining in join(self.hosts[1:], line):
			host.done(joining)
		for host in self.hosts[1:]:
			host.start()

	def others(self, *left_out):
		return [host for host in self.hosts if host not in left_out]

	def expect_well(self):
		for host in self.hosts:
			assert '"event":"fatal"' not in host.log.read_text(), host.name
			assert host.daemon.poll() is None, f'{host.name} has ended'

	def tell(self):
		"""Print what the hosts have logged, when a test has failed."""
		for host in self.hosts:
			print(f'--- {host.name}: rounds {host.rounds[-5:]}, caught up {host.caught_up[-5:]}\n{host.log.read_text()[-6000:]}')

	def look(self):
		"""Compare the models of each round; return the last round of any host."""
		for host in self.hosts:
			for path in (host.folder / 'ward/state/checkpoints').glob('round-*.safetensors'):
				number = int(path.name[6:-12])
				if host.name in self.seen[number]:
					continue
				try:
					model = path.read_bytes()
				except FileNotFoundError:
					continue  # an old one, deleted just now
				self.seen[number].add(host.name)
				assert self.models.setdefault(number, model) == model, f'{path.name} differs on {host.name}'
		last = max(host.look() for host in self.hosts)
		self.folders.update((host.id, host.folder / 'ward/state') for host in self.hosts)
		return last

	def computed(self, hosts, last):
		"""Return false if no round after `last` was committed by all of these hosts, or compute the mean of the newest one."""
		names = {host.name for host in hosts}
		rounds = [r for r in self.seen if r > last and self.seen[r] >= names and all(r in host.participants for host in hosts)]
		if not rounds:
			return False
		number = max(rounds)
		participants = hosts[0].participants[number]
		assert {host.id for host in hosts} <= set(participants), f'round {number}: {participants}'
		mean = mean_of([self.folders[i] / f'trained-{number:06}.model' for i in participants])
		model = self.models[number]
		values = floats(model[8 + int.from_bytes(model[:8], 'little'):])
		assert values == mean, f'round {number} is not the mean of its {len(participants)} models'
		return True

	def exact(self, hosts):
		"""Return how many rounds were seen with one model on all of these hosts."""
		return sum(self.seen[number] >= {host.name for host in hosts} for number in self.seen)

	def expect_rounds(self, what, hosts, rounds):
		"""Expect that each of these hosts commits so many rounds that no host has committed yet, and that one is exact; return the seconds."""
		begin, last = time.monotonic(), self.look()
		expect(f'{what}: {rounds} rounds', lambda: self.look() and all(len([r for r in host.rounds if r > last]) >= rounds for host in hosts))
		took = time.monotonic() - begin
		expect(f'{what}: a round of them all', lambda: self.look() and self.computed(hosts, last))
		print(f'{what}: {rounds} rounds in {took:.1f} s', flush=True)
		return took


class Gateway(lab.Host):
	"""A machine at bridge0 with one process, and with a leg at an inner bridge, if that is named."""

	def __init__(self, number, bridge=None, *addresses):
		super().__init__(number)
		self.process = None
		self.hold('true')
		self.connect('bridge0')
		self.set_up()
		if bridge:
			device = f'inner{number}'
			ip('link', 'add', 'dev', device, 'type', 'veth', 'peer', 'name', 'eth1', 'netns', str(self.holder.pid))
			ip('link', 'set', 'dev', device, 'master', bridge, 'up')
			for address in addresses:
				run(*self.inside('ip', 'address', 'add', f'{address}/24', 'dev', 'eth1'))
			run(*self.inside('ip', 'link', 'set', 'dev', 'eth1', 'up'))

	def serve(self, *command, **files):
		self.process = subprocess.Popen(self.inside(sys.executable, *command), stdin=subprocess.DEVNULL, **files)

	def stop(self):
		self.process.kill()
		self.process.wait(PATIENCE)

	def end(self):
		self.stop()
		self.holder.kill()
		self.holder.wait(PATIENCE)


def floats(text):
	values = array.array('f')
	values.frombytes(text)
	return values


def mean_of(paths):
	"""Return the mean of models that learners dumped, as ROUND.md §4 has it. A float32 times 10^4 is exact in Python's floats."""
	scale, total, sums = 10 ** DECIMALS, 0, None
	for path in paths:
		dump = path.read_bytes()
		weight = int.from_bytes(dump[:8], 'little')
		terms = [weight * round(x * scale) for x in floats(dump[8:])]
		total += weight
		sums = terms if sums is None else [a + b for a, b in zip(sums, terms)]
	return array.array('f', [z / (scale * total) for z in sums])


def invitation(text):
	return re.search(r'starling1-\S+', text)[0]


def join(hosts, line):
	"""Begin to join with one invitation."""
	return [(host, host.starling('join', line, '--name', host.name, '--address', host.advertised, *OWN)) for host in hosts]


def make(group, folder):
	"""Make a group of eight, and see five exact rounds."""
	group.hosts = [Host(folder, number) for number in range(1, HOSTS + 1)]
	begin = time.monotonic()
	group.join(group.create(*SETTINGS))
	expect('the first exact round', lambda: group.look() and group.exact(group.hosts) >= 1)
	print(f'{HOSTS} hosts: {time.monotonic() - begin:.1f} s from the first command to the first exact round; commands: '
		+ ', '.join(f'{host.name} {host.commands}' for host in group.hosts) + '; files edited: 0', flush=True)
	expect('five exact rounds', lambda: group.look() and group.exact(group.hosts) >= 5)
	for number in ADVERTISED:
		assert 'listening on [::]:7400, all addresses' in group.hosts[number - 1].log.read_text()


def expect_left_out(hosts, others):
	"""These know at most the round that was on its way when they were cut off, of three that the others have committed."""
	cut = max(host.look() for host in hosts)
	assert cut < max(host.look() for host in others) - 1, 'learners have models of rounds that were committed without them'


def versions(group):
	"""A host shows the versions of the programs of all."""
	peers = group.hosts[0].peers()
	want = run(STARLING, '--version').split()[1]
	assert [peer['version'] for peer in peers] == [want] * (HOSTS - 1), peers


def partition(group):
	five, three = group.hosts[:5], group.hosts[5:HOSTS]
	for host in three:
		host.plug('bridge1')
	group.expect_rounds('partition 5/3, the five', five, 3)
	expect_left_out(three, five)
	for host in three:
		host.plug('bridge0')
	group.expect_rounds('healed, all', group.hosts, 2)


def power_off(group):
	host = group.hosts[7]
	host.power_off()
	group.expect_rounds('a host without power, the others', group.others(host), 2)
	host.power_on()
	host.boot()
	group.expect_rounds('power is back, all', group.hosts, 2)


def one_way_loss(group):
	"""A host sends, and hears nothing."""
	host = group.hosts[2]
	run('tc', 'qdisc', 'add', 'dev', host.port, 'root', *lab.LOSE_ALL)
	others = group.others(host)
	group.expect_rounds('one-way loss, the others', others, 3)
	expect_left_out([host], others)
	run('tc', 'qdisc', 'delete', 'dev', host.port, 'root')
	group.expect_rounds('without loss, all', group.hosts, 2)


def new_address(group):
	"""A running learner gets another address. The roster has the old one, where nothing answers: the learner dials out, and is back."""
	host = group.hosts[4]
	host.move('10.77.0.105')
	group.expect_rounds(f'a host at {host.address}, all', group.hosts, 2)


def moved(group):
	"""A learner starts at another address than the roster has: it listens there, and takes part. Then the admin tells the others the address."""
	first, host = group.hosts[0], group.hosts[6]
	host.power_off()
	host.address = '10.77.0.107'
	host.power_on()
	host.boot()
	group.expect_rounds('a host has moved, all', group.hosts, 2)
	first.done(first.starling('group', 'address', host.name, f'{host.address}:7400'))
	expect('all have the new address', lambda: all(f'{host.address}:7400' in (h.folder / 'ward/roster.yaml').read_text() for h in group.hosts))
	group.expect_rounds('all know where it is', group.hosts, 2)
	for h in group.hosts:
		assert '"event":"no_address"' not in h.log.read_text(), f'{h.name} has waited for an address'


def slow_link(group):
	host = group.hosts[3]
	host.limit('200kbit', '4kb')
	took = group.expect_rounds('a link of 0.2 Mbit/s, all', group.hosts, 3)
	assert took > 1.5, 'the link is not slow: it carries more than 20 KB each way in a round'
	run('tc', 'qdisc', 'delete', 'dev', host.port, 'root')
	run(*host.inside('tc', 'qdisc', 'delete', 'dev', 'eth0', 'root'))


def far_link(group):
	"""A host moves to a third bridge, which is so many milliseconds away from the first one."""
	host, other = group.hosts[3], group.hosts[0]
	try:
		link = lab.start_relay(FAR_MS, 'far0', 'far2')
	except lab.Refused as why:
		print(f'a link of {FAR_MS} ms: left out, {why}')
		return
	with link:
		try:
			lab.add_bridge('bridge2')
			for i in '02':
				ip('link', 'set', 'dev', f'far{i}', 'master', f'bridge{i}', 'up')
			host.plug('bridge2')
			took = seconds_to_connect(host, other)
			assert took >= 2 * FAR_MS / 1000, f'a connection took {took} s: the link is too short'
			group.expect_rounds(f'a link of {FAR_MS} ms, all', group.hosts, 3)
			host.plug('bridge0')
		finally:
			link.kill()


def seconds_to_connect(host, other):
	connect = f"""import socket, time
begin = time.monotonic()
socket.create_connection(("{other.address}", 7400), {PATIENCE}).close()
print(time.monotonic() - begin)"""
	return float(run(*host.inside(sys.executable, '-c', connect)))


def other_bridge(group):
	"""A host moves to a second bridge that is connected to the first one, and back."""
	ip('link', 'add', 'dev', 'trunk0', 'type', 'veth', 'peer', 'name', 'trunk1')
	for i in '01':
		ip('link', 'set', 'dev', f'trunk{i}', 'master', f'bridge{i}', 'up')
	for bridge in ('bridge1', 'bridge0'):
		group.hosts[5].plug(bridge)
		group.expect_rounds(f'a host at {bridge}, all', group.hosts, 3)


def ninth(group, folder):
	first, host = group.hosts[0], Host(folder, 9)
	(_, joining), = join([host], invitation(first.done(first.starling('group', 'invite'))))
	host.waits(joining)
	first.done(first.starling('admit', host.name))
	host.done(joining)
	host.start()
	group.hosts.append(host)
	group.expect_rounds('a ninth is admitted, all', group.hosts, 2)


def removed(group):
	first, gone = group.hosts[0], group.hosts[6]
	first.done(first.starling('group', 'remove', gone.name))
	gone.daemon.wait(PATIENCE)
	gone.look()
	group.hosts.remove(gone)
	group.expect_rounds('one is removed, the others', group.hosts, 2)


def rotated(group):
	"""A host renews its key, and nobody misses a round."""
	first, host = group.hosts[0], group.hosts[1]
	before = group.look()
	rotating = host.starling('group', 'rotate')
	host.waits(rotating)
	first.done(first.starling('admit', host.name))
	host.done(rotating)
	group.expect_rounds('a new key, all', group.hosts, 2)
	end = min(h.look() for h in group.hosts)
	for h in group.hosts:
		missed = set(range(before + 1, end + 1)) - set(h.rounds)
		assert not missed, f'{h.name} has missed rounds {sorted(missed)} while a key was renewed'


def lay_bridges():
	ip('link', 'set', 'dev', 'lo', 'up')
	for bridge in ('bridge0', 'bridge1'):
		lab.add_bridge(bridge)


@contextlib.contextmanager
def played(name):
	"""Yield an empty group and its folder. In the end, no learner may have failed; all processes of the group end."""
	with tempfile.TemporaryDirectory(prefix='starling-test-') as folder:
		group = Group()
		try:
			yield group, Path(folder)
			group.expect_well()
		except BaseException:
			group.tell()
			raise
		finally:
			for process in (process for host in group.hosts for process in host.processes()):
				process.kill()
				process.wait()
	print(f'{name}: passed')


def inside():
	"""Play all scenes, in the name spaces of this test."""
	lay_bridges()
	with played('hosts') as (group, folder):
		make(group, folder)
		for scene in (partition, power_off, one_way_loss, far_link, new_address, moved):
			scene(group)
		if NIGHTLY:
			for scene in (slow_link, other_bridge):
				scene(group)
			versions(group)
			ninth(group, folder)
			rotated(group)
			removed(group)


def main(inside):
	"""Run `inside` in name spaces of its own; return the exit status."""
	if INSIDE in os.environ:
		return inside()
	why = lab.refusal()
	if why:
		print(why)
		return 77
	os.environ[INSIDE] = 'yes'
	os.execvp(lab.INSIDE[0], [*lab.INSIDE, sys.executable, *sys.argv])


if __name__ == '__main__':
	sys.exit(main(inside))
