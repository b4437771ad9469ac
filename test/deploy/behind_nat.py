"""Two sites behind one NAT: behind_nat.py STARLING STARLINGD UNIT SOURCE

Two hosts stand at bridge0. Two stand behind a router with NAT (stand-in/nat.py): others see one address, and cannot dial them. They cannot reach
each other, either, and link through a relay. Skipped where name spaces or tun devices are refused.
"""
import subprocess
import sys
from pathlib import Path

import hosts
import lab
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


class Router(hosts.Gateway):
	def __init__(self):
		lab.add_bridge('inner')
		super().__init__(100, 'inner', *(f'10.78.{number}.1' for number in INNER))
		self.serve(str(SOURCE / 'test/stand-in/nat.py'), OUTER, stdout=subprocess.PIPE, text=True)
		self.refused = self.process.stdout.readline() != 'ready\n'


def make(group, folder):
	group.hosts = [Host(folder, number) for number in range(1, 5)]
	for host in group.hosts[2:]:
		host.plug('inner')
	group.join(group.create(*hosts.SETTINGS, own=(*hosts.OWN, '--set', 'relay=yes')))
	group.expect_rounds('two of four behind one NAT, all', group.hosts, 3)


def sees_one_address(host):
	text = run(*host.inside('ss', '-Htn', 'state', 'established'))
	return text.count(OUTER) >= 2 and '10.78.' not in text


def narrow(group, router):
	"""Large packets to the router are lost: those of the relay, which then closes what it passes on, and of the links to the open hosts."""
	run('tc', 'qdisc', 'add', 'dev', router.port, 'root', 'tbf', 'rate', '100mbit', 'burst', '1314', 'limit', '1mb')
	group.expect_rounds('a narrow path to the NAT, all', group.hosts, 3)
	expect('the two are linked', lambda: group.hosts[2].is_relayed(group.hosts[3]))
	last = group.look()
	group.expect_rounds(f'the narrow path to the NAT after round {last}, all', group.hosts, 3)


def inside():
	ip('link', 'set', 'dev', 'lo', 'up')
	for bridge in ('bridge0', *INNER.values()):
		lab.add_bridge(bridge)
	router = Router()
	try:
		if router.refused:
			print('tun devices are refused')
			return 77
		with hosts.played('behind_nat') as (group, folder):
			make(group, folder)
			expect('the two are linked', lambda: group.hosts[2].is_relayed(group.hosts[3]))
			narrow(group, router)
			expect('both come from one address', lambda: sees_one_address(group.hosts[1]))
	finally:
		router.end()
	return 0


if __name__ == '__main__':
	sys.exit(hosts.main(inside))
