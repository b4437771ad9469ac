"""Two sites behind one NAT: behind_nat.py STARLING STARLINGD UNIT SOURCE

Two hosts stand at bridge0. Two stand behind a router with NAT (stand-in/nat.py): others see one address, and cannot dial them. They cannot reach
each other, either, and link through a relay. Skipped where name spaces or tun devices are refused.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import hosts
import lab
from hosts import Group, invitation
from lab import ip, run
from patience import expect

SOURCE = Path(sys.argv[4]).resolve()
OUTER = '10.79.0.1'
INNER = {3: 'ward-3', 4: 'ward-4'}  # bridges


class Host(hosts.Host):
	def __init__(self, folder, number):
		super().__init__(folder, number)
		if number in INNER:
			self.advertised = f'{OUTER}:{7400 + number}'  # where no port is passed on

	def connect(self, bridge):
		if self.number in INNER:
			self.address = f'10.78.{self.number}.2'
		super().connect(INNER.get(self.number, bridge))

	def set_up(self):
		super().set_up()
		gateway = f'10.78.{self.number}.1' if self.number in INNER else '10.77.0.100'
		run(*self.inside('ip', 'route', 'add', *(('default',) if self.number in INNER else (f'{OUTER}/32',)), 'via', gateway))


class Router(lab.Host):
	def __init__(self):
		super().__init__(100)
		self.hold('true')
		self.connect('bridge0')
		self.set_up()
		lab.add_bridge('inner')
		ip('link', 'add', 'dev', 'inner0', 'type', 'veth', 'peer', 'name', 'eth1', 'netns', str(self.holder.pid))
		ip('link', 'set', 'dev', 'inner0', 'master', 'inner', 'up')
		for number in INNER:
			run(*self.inside('ip', 'address', 'add', f'10.78.{number}.1/24', 'dev', 'eth1'))
		run(*self.inside('ip', 'link', 'set', 'dev', 'eth1', 'up'))
		self.process = subprocess.Popen(self.inside(sys.executable, str(SOURCE / 'test/stand-in/nat.py'), OUTER), stdin=subprocess.DEVNULL,
			stdout=subprocess.PIPE, text=True)
		self.refused = self.process.stdout.readline() != 'ready\n'


def make(group, folder):
	group.hosts = [Host(folder, number) for number in range(1, 5)]
	first, others = group.hosts[0], group.hosts[1:]
	for host in group.hosts[2:]:
		host.plug('inner')
	said = first.done(first.starling('group', 'create', 'ward', '--learner', first.name, '--address', f'{first.address}:7400', '--members', '4',
		'--auto-admit', '3', '--set', 'relay=yes', *hosts.OWN, *(word for setting in hosts.SETTINGS for word in ('--set', setting))))
	first.start()
	for host, joining in hosts.join(others, invitation(said)):
		host.done(joining)
	for host in others:
		host.start()
	group.expect_rounds('two of four behind one NAT, all', group.hosts, 3)


def sees_one_address(host):
	text = run(*host.inside('ss', '-Htn', 'state', 'established'))
	return text.count(OUTER) >= 2 and '10.78.' not in text


def path(host, other):
	"""Return how the link of a host to another one goes."""
	shown = json.loads(host.done(host.starling('status', '--json', '--control', '/var/lib/starling/ward/state/control.sock')))
	return next(peer['path'] for peer in shown['learners'][0]['status']['peers'] if peer['name'] == other.name)


def narrow(group, router):
	"""Large packets to the router are lost: those of the relay, which then closes what it passes on, and of the links to the open hosts."""
	run('tc', 'qdisc', 'add', 'dev', router.port, 'root', 'tbf', 'rate', '100mbit', 'burst', '1314', 'limit', '1mb')
	group.expect_rounds('a narrow path to the NAT, all', group.hosts, 3)
	expect('the two are linked', lambda: (path(*group.hosts[2:]) or '').startswith('relay '))
	last = group.look()
	group.expect_rounds(f'the narrow path to the NAT after round {last}, all', group.hosts, 3)


def inside():
	ip('link', 'set', 'dev', 'lo', 'up')
	for bridge in ('bridge0', *INNER.values()):
		lab.add_bridge(bridge)
	with tempfile.TemporaryDirectory(prefix='starling-test-') as name:
		group, router = Group(), Router()
		try:
			if router.refused:
				print('tun devices are refused')
				return 77
			make(group, Path(name))
			expect('the two are linked', lambda: (path(*group.hosts[2:]) or '').startswith('relay '))
			narrow(group, router)
			expect('both come from one address', lambda: sees_one_address(group.hosts[1]))
		except BaseException:
			hosts.tell(group.hosts)
			raise
		finally:
			for host in group.hosts:
				for process in filter(None, (host.daemon, host.holder)):
					process.kill()
					process.wait()
			for process in router.process, router.holder:
				process.kill()
				process.wait()
	print('behind_nat: passed')
	return 0


if __name__ == '__main__':
	sys.exit(hosts.main(inside))
