"""Bad paths between sites: paths.py STARLING STARLINGD UNIT [--nightly]

Four hosts as in hosts.py. Some stand at a bridge of their own, and a cable leads from there to the others: a path that loses all packets above a size and
tells nobody, or all packets in one direction, or all. One host cannot be dialled by the others, as behind NAT. Skipped where name spaces are refused.
"""
import sys
import time

import hosts
import lab
from lab import ip, run
from patience import expect

NARROW = 1314  # bytes of the largest Ethernet frame: a path with an MTU of 1300
CABLE = 'cable0', 'cable1'
SMALL = 1200
NEW_ADDRESS = '10.77.0.103'
OUTAGE_S = 8  # longer than the silence that ends a link
OUTAGES_S = (*[OUTAGE_S] * 12, *[360] * 6) if hosts.NIGHTLY else (OUTAGE_S,)
WAYS = (0, 1), (0,), (1,)
# Longer than the silence that ends a link: a lost link ends an attempt before a learner is blamed for it.
TIMEOUTS = 'stall_timeout=10', 'straggler_timeout=30'
ADVERTISED = {4: '10.77.0.204:7400'}  # nothing answers there


class Host(hosts.Host):
	def __init__(self, folder, number):
		super().__init__(folder, number)
		self.advertised = ADVERTISED.get(number, self.advertised)

	def phase(self):
		return self.log.read_text().rpartition('"event":"phase"')[2].partition('"text":"')[2].partition('"')[0]

	def blames(self):
		return self.log.read_text().count('"event":"penalty"')

	def narrow_paths(self):
		"""Return the lines of the doctor that speak of a narrow path."""
		return [line for line in self.doctor().splitlines() if 'large packets are lost on the way' in line]


def lay_cable():
	"""Connect the bridge `far` to bridge0."""
	for bridge in ('bridge0', 'far'):
		lab.add_bridge(bridge)
	ip('link', 'add', 'dev', CABLE[0], 'type', 'veth', 'peer', 'name', CABLE[1])
	for end, bridge in zip(CABLE, ('bridge0', 'far')):
		ip('link', 'set', 'dev', end, 'master', bridge, 'up')


def lose(*ends, burst=NARROW):
	"""Lose what is too large and leaves one of these ends: 0 towards the far hosts, 1 from them. Segments that the kernel sends as one are cut first."""
	for end in CABLE:
		run('tc', 'qdisc', 'replace', 'dev', end, 'root', 'pfifo', 'limit', '1000')
	for end in ends:
		run('tc', 'qdisc', 'replace', 'dev', CABLE[end], 'root', 'tbf', 'rate', '100mbit', 'burst', str(burst), 'limit', '1mb')


def lose_all(*ends):
	for end in ends:
		run('tc', 'qdisc', 'replace', 'dev', CABLE[end], 'root', *lab.LOSE_ALL)


def start(group, folder):
	"""Make a group, whose last host joins over the narrow path."""
	group.hosts = [Host(folder, number) for number in range(1, 5)]
	line = group.create(*hosts.SETTINGS, *TIMEOUTS)
	group.hosts[3].plug('far')
	lose(0, 1)
	group.join(line)
	group.expect_rounds('joined over a narrow path, all', group.hosts, 2)
	is_mended(group, group.hosts[3])


def again(group):
	"""Start all learners anew: they have forgotten the paths."""
	lose()
	for host in group.hosts:
		host.kill_daemon()
	for host in group.hosts:
		host.boot()
	group.expect_rounds('started again, all', group.hosts, 1)


def narrow(group, host, *ends):
	"""A path of large packets becomes narrow in these directions."""
	again(group)
	for other in group.hosts[2:]:
		other.plug('far' if other is host else 'bridge0')
	group.expect_rounds(f'{host.name} has moved, all', group.hosts, 1)
	lose(*ends)
	group.expect_rounds(f'narrow {" and ".join(("to", "from")[end] for end in ends)} {host.name}, all', group.hosts, 2)
	is_mended(group, host)


def segments(group, host):
	return [peer['segment'] for one in group.hosts for peer in one.peers() if host.name in (one.name, peer['name'])]


def is_mended(group, host):
	"""All links of this host have small packets, and nobody is left out."""
	expect('small packets', lambda: all(segment and segment <= SMALL for segment in segments(group, host)))
	expect('nobody is left out', lambda: not any(peer['left_out_until'] for one in group.hosts for peer in one.peers()))
	print(f'blamed so far: {[one.blames() for one in group.hosts]}', flush=True)


def doctor(group, host):
	"""It names the path of links that a learner has, and tries a path without one."""
	others = len(group.hosts) - 2  # one cannot be dialled
	expect('the doctor names the links', lambda: len(host.narrow_paths()) == others)
	again(group)  # no learner knows the path, which a doctor then finds by itself
	host.kill_daemon()
	lose(0, 1)
	expect('the doctor finds the path', lambda: len(host.narrow_paths()) == others)
	lose()
	assert not host.narrow_paths()
	host.boot()


def is_cut_off(group, host):
	"""Neither this host nor any other has a link between them."""
	return not any(peer['link'] == 'up' for one in group.hosts for peer in one.peers() if host.name in (one.name, peer['name']))


def outage(group, host, ends, seconds, pause=0.0):
	"""All packets are lost in these directions, in mid-round: the others go on, and the host is back afterwards."""
	others = group.others(host)
	last = group.look()
	expect('a round begins', lambda: group.look() > last)
	time.sleep(pause)
	lose_all(*ends)
	begin = time.monotonic()
	what = f'{seconds} s without packets {" and ".join(("to", "from")[end] for end in ends)} {host.name}, in {host.phase()}'
	group.expect_rounds(f'{what}, the others', others, 2)
	expect('both ends of each link know', lambda: is_cut_off(group, host))
	print(f'no link of {host.name} stands: {time.monotonic() - begin:.1f} s', flush=True)
	time.sleep(max(0, begin + seconds - time.monotonic()))
	group.expect_rounds(f'{what}, the others still', others, 1)
	lose()
	group.expect_rounds(f'{what}, then all', group.hosts, 1)
	print(f'packets of {host.name}: {segments(group, host)}', flush=True)


def disconnected(group, host):
	"""What a provider does every 24 hours: all connections end, and the host has another address. The roster has the old one."""
	ended = run(*host.inside('ss', '-K', '-t', 'state', 'established'))
	host.move(NEW_ADDRESS)
	print(f'{ended.count(":7400")} connections of {host.name} have ended', flush=True)
	group.expect_rounds(f'{host.name} has lost its connections and address, all', group.hosts, 2)


def inside():
	ip('link', 'set', 'dev', 'lo', 'up')
	lay_cable()
	with hosts.played('paths') as (group, folder):
		start(group, folder)
		third, fourth = group.hosts[2:]
		for host, ways in (third, WAYS if hosts.NIGHTLY else WAYS[:1]), (fourth, WAYS if hosts.NIGHTLY else WAYS[1:]):
			for ends in ways:
				narrow(group, host, *ends)
			if host is third:
				doctor(group, third)
		again(group)
		third.plug('far')
		fourth.plug('bridge0')
		for ends in WAYS[1:] if hosts.NIGHTLY else WAYS[2:]:
			outage(group, third, ends, OUTAGE_S)
		for turn, seconds in enumerate(OUTAGES_S):
			outage(group, third, (0, 1), seconds, 0.004 * turn)
		disconnected(group, third)


if __name__ == '__main__':
	sys.exit(hosts.main(inside))
