"""The chapters of deploy/README.md on groups: groups.py STARLING STARLINGD SOURCE UNIT

Each machine of the page is a mount name space with a /var/lib/starling of its own; all are on loopback. `systemctl` is a stub
that starts the command line of the unit, `journalctl` one that shows its log. Only the commands of the page make the group: no file is copied or edited. Says how
many commands a machine needed and how long it took to the first round. Skipped where name spaces are refused.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / 'lib'))
from blocks import blocks
from patience import PATIENCE, expect
from ports import free_ports

STARLING, STARLINGD, SOURCE, UNIT = (Path(path).resolve() for path in sys.argv[1:])
INVITATION = re.compile(r'starling1-\S+')
STUB = '''#!/bin/sh
# systemctl enable --now|start|stop|reload|disable --now starlingd@GROUP: the command line of its unit, until the learner is ready, or its end.
[ "$1" != status ] || exit 0
case "$1 $2" in
"enable --now") shift ;;
"disable --now") shift 2 && set -- stop "$@" ;;
esac
group=${{2#starlingd@}}
case "$1 $2" in
"--now starlingd@$group" | "start starlingd@$group") ;;
"reload starlingd@$group")
	kill -HUP "$(tail -n 1 /var/lib/starling/pids)"
	exit 0
	;;
"stop starlingd@$group")
	pid=$(tail -n 1 /var/lib/starling/pids)
	kill -TERM "$pid"
	while grep -q '^State:.[^Z]' "/proc/$pid/status" 2>/dev/null; do sleep 0.1; done
	: >/var/lib/starling/pids
	exit 0
	;;
*)
	echo "systemctl: unknown: $*" >&2
	exit 1
	;;
esac
command=$(sed -n "s/%i/$group/g; s/^ExecStart=//p" {unit} | sed 's|^[^ ]*/starlingd|{starlingd}|')
before=$(cat /var/lib/starling/log 2>/dev/null | wc -l)
setsid $command >>/var/lib/starling/log 2>&1 </dev/null &
echo $! >>/var/lib/starling/pids
for try in $(seq 300); do
	! tail -n +$((before + 1)) /var/lib/starling/log | grep -q 'listening on' || [ ! -S "/var/lib/starling/$group/state/control.sock" ] || exit 0
	sleep 0.1
done
exit 1
'''


class Machine:
	"""A machine of the page."""

	def __init__(self, name, folder, addresses):
		self.name, self.addresses = name, addresses
		self.folder = folder / name
		self.home = folder / f'{name}-root' # of root, where the commands are run
		self.folder.mkdir()
		self.home.mkdir()
		self.bin = folder / 'bin'
		self.running, self.commands, self.before = None, 0, 0
		self.output = self.folder / 'output'

	def start(self, commands, invitation='', **variables):
		"""Begin to run commands of the page on this machine, with these variables of the shell."""
		for address, here in self.addresses.items():
			commands = commands.replace(address, here)
		commands = commands.replace('--set rounds=1000', '--set rounds=1000 --set hidden_units=1') # less training
		self.commands += len([line for line in commands.splitlines() if line and not line.startswith('#')])
		script = f'mount -t tmpfs tmpfs /var/lib\nmkdir /var/lib/starling\nmount --bind {self.folder} /var/lib/starling\ncd {self.home}\n{commands}'
		environment = dict(os.environ, PATH=f'{self.bin}:{STARLING.parent}:{os.environ["PATH"]}', INVITATION=invitation, MACHINE=self.name, **variables)
		self.before = len(self.said())
		self.running = subprocess.Popen(['unshare', '-rm', 'sh', '-euc', script], env=environment, stdin=subprocess.DEVNULL,
			stdout=open(self.output, 'a'), stderr=subprocess.STDOUT)

	def said(self):
		return self.output.read_text() if self.output.exists() else ''

	def wait(self):
		if self.running and self.running.wait(PATIENCE) != 0:
			raise AssertionError(f'{self.name}: the commands fail: {self.said()[-2000:]}')
		self.running = None

	def end(self):
		if self.running:
			self.running.kill()
		self.die()

	def die(self):
		"""Kill its learner, if it runs."""
		pids = self.folder / 'pids'
		for pid in pids.read_text().split() if pids.exists() else []:
			try:
				os.kill(int(pid), signal.SIGKILL)
			except ProcessLookupError:
				pass

	def committed(self):
		log = self.folder / 'log'
		found = re.findall(r'"event":"(?:committed|caught_up)".*?"round":(\d+)|round (\d+) committed', log.read_text()) if log.exists() else []
		return max((int(a or b) for a, b in found), default=0)


def waits(joiner):
	"""Return true if this learner waits for the admin, or its command has ended."""
	return 'Waiting for the admin' in joiner.said()[joiner.before:] or joiner.running.poll() is not None



def replay(machines, chapter, invitations, part=slice(None), host=None):
	"""Run the blocks of a chapter, or a part of them; those of any machine, or a new one, on `host`. One that waits for the admin goes on beside
	the others, until its machine's next one."""
	begin = time.monotonic()
	for name, commands in blocks(SOURCE / 'deploy/README.md', chapter)[part]:
		machine = machines[host if name in ('host', 'new') else name]
		machine.wait()
		joins = 'starling join' in commands
		before = len(INVITATION.findall(machine.said()))
		machine.start(commands, invitations.pop(0) if joins else '')
		if joins or 'group rotate' in commands:
			expect(f'{name} waits to be admitted', lambda: waits(machine))
		else:
			machine.wait()
		if name == 'laptop-1':
			invitations += INVITATION.findall(machine.said())[before:]
	for machine in machines.values():
		machine.wait()
	print(f'{chapter}: {time.monotonic() - begin:.1f} s', flush=True)


def make_admins(first, others):
	"""Several admins, as the page says: the keys, and the proposal, are sent."""
	(_, key), (_, add), (_, sign) = blocks(SOURCE / 'deploy/README.md', 'Several admins')
	for one in others:
		one.start(key)
		one.wait()
	keys = [re.findall(r'admin:[0-9a-f]+', one.said())[-1] for one in others]
	first.start(add, KEY_1=keys[0], KEY_2=keys[1])
	first.wait()
	shutil.copy(first.folder / 'ward/proposal.yaml', others[0].home)
	others[0].start(sign)
	others[0].wait()
	assert '2 of 3 admins must sign, not 1 of 1\nSigned; it is in force' in others[0].said(), others[0].said()[-2000:]


def expect_rounds(what, machines):
	"""All of them take part in two rounds more."""
	after = max(machine.committed() for machine in machines)
	expect(what, lambda: all(machine.committed() > after + 1 for machine in machines))


def expect_one_stream(machines, running):
	"""The logs of all machines are brought together, as the page says."""
	together = running[0].home / 'logs'
	for machine in running:
		replay(machines, 'Look', [], slice(0, 2), machine.name)
		if machine is not running[0]:
			shutil.copytree(machine.home / 'logs', together, dirs_exist_ok=True)
	replay(machines, 'Look', [], slice(2, None))
	assert 'all learners have the same models' in running[0].said(), running[0].said()
	assert (together / 'report.html').exists() and len(list(together.glob('*/log.jsonl'))) == len(running)


def expect_same_models(machines):
	"""The committed models that machines have of one round are the same file."""
	of_round = {}
	for machine in machines:
		for path in (machine.folder / 'ward/state/checkpoints').glob('round-*.safetensors'):
			of_round.setdefault(path.name, set()).add(path.read_bytes())
	assert of_round and all(len(models) == 1 for models in of_round.values()), {r: len(m) for r, m in of_round.items()}


def main():
	if subprocess.run(['unshare', '-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/var/lib'], capture_output=True).returncode != 0:
		print('mount name spaces are refused')
		return 77
	with tempfile.TemporaryDirectory(prefix='starling-test-') as name:
		folder = Path(name)
		stub = folder / 'bin/systemctl'
		stub.parent.mkdir()
		stub.write_text(STUB.format(unit=UNIT, starlingd=STARLINGD))
		stub.chmod(0o755)
		for name, commands in (('journalctl', 'cat /var/lib/starling/log'), ('hostname', 'echo "$MACHINE"')):
			(stub.parent / name).write_text(f'#!/bin/sh\n{commands}\n')
			(stub.parent / name).chmod(0o755)
		(stub.parent / 'starlingd').symlink_to(STARLINGD)
		(stub.parent / 'chown').symlink_to('/bin/true') # a user name space has no user starling
		names = [f'laptop-{i}' for i in (1, 2, 3, 4, 6)]
		ports = free_ports(len(names) + 1)
		addresses = {f'{n}.example.org:7400': f'127.0.0.1:{port}' for n, port in zip(names + ['laptop-5'], ports)}
		machines = {n: Machine(n, folder, addresses) for n in names}
		first, invitations = list(machines.values())[:3], []
		try:
			begin = time.monotonic()
			replay(machines, 'Three laptops', invitations)
			expect('the first round', lambda: all(m.committed() >= 1 for m in first))
			took = time.monotonic() - begin
			print(f'three laptops: {took:.1f} s to the first round; commands: ' + ', '.join(f'{m.name} {m.commands}' for m in first) + '; files edited: 0')
			expect('five rounds', lambda: all(m.committed() >= 5 for m in first))
			expect_same_models(first)
			expect_one_stream(machines, first)
			named = lambda *names: [machines[name] for name in names]
			replay(machines, 'Change a setting', invitations, host='laptop-2')
			assert 'starlingd.yaml: fine' in machines['laptop-2'].said(), machines['laptop-2'].said()
			expect('laptop-2 has reloaded', lambda: '"event":"reloaded"' in (machines['laptop-2'].folder / 'log').read_text())
			replay(machines, 'Add or remove a learner', invitations, slice(0, 4))
			four = named('laptop-1', 'laptop-2', 'laptop-3', 'laptop-4')
			expect_rounds('rounds of four', four)
			replay(machines, 'Back up', invitations, host='laptop-1')
			expect_rounds('rounds after the copy', four)
			replay(machines, 'Restore', invitations, host='laptop-1')
			expect_rounds('rounds of the learner that is restored', four)
			machines['laptop-4'].die()
			replay(machines, 'Replace a dead machine', invitations)
			expect_rounds('rounds of the machine that replaces it', named('laptop-1', 'laptop-2', 'laptop-3', 'laptop-6'))
			replay(machines, 'Add or remove a learner', invitations, slice(4, None))
			replay(machines, 'Re-key', invitations)
			expect_rounds('rounds after the new key', named('laptop-1', 'laptop-2', 'laptop-6'))
			replay(machines, 'Move a learner', invitations, host='laptop-2')
			expect('the new address', lambda: f'listening on 127.0.0.1:{ports[-1]};' in (machines['laptop-2'].folder / 'log').read_text())
			expect_rounds('rounds after the move', named('laptop-1', 'laptop-2', 'laptop-6'))
			make_admins(machines['laptop-1'], named('laptop-2', 'laptop-6'))
			expect_rounds('rounds of several admins', named('laptop-1', 'laptop-2', 'laptop-6'))
			expect_same_models(machines.values())
			for machine in machines.values():
				assert '"event":"fatal"' not in (machine.folder / 'log').read_text(), machine.name
		except BaseException:
			for machine in machines.values():
				for file in ('output', 'log'):
					path = machine.folder / file
					print(f'--- {machine.name} {file}\n{path.read_text()[-1500:] if path.exists() else ""}')
			raise
		finally:
			for machine in machines.values():
				machine.end()
	print('groups: passed')
	return 0


sys.exit(main())
