"""Three hosts that find each other by multicast DNS: discovery.py STARLING STARLINGD UNIT

The hosts are those of hosts.py, each with a D-Bus and an avahi-daemon of its own. After the group is made, all get other addresses
again and again: where the roster says, no host answers. Skipped where the name spaces, dbus-daemon or avahi-daemon are missing.
"""
import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import hosts
from hosts import run
from patience import PATIENCE, expect

HOSTS = 3
BUS = '''<busconfig>
<type>system</type>
<listen>unix:path={folder}/bus</listen>
<auth>EXTERNAL</auth>
<policy context="default">
<allow user="*"/><allow own="*"/><allow send_type="method_call"/><allow send_type="signal"/>
<allow send_requested_reply="true" send_type="method_return"/><allow send_requested_reply="true" send_type="error"/>
<allow receive_type="method_call"/><allow receive_type="method_return"/><allow receive_type="error"/><allow receive_type="signal"/>
</policy>
</busconfig>
'''
AVAHI = '''[server]
host-name={name}
allow-interfaces=eth0
use-ipv6={ipv6}
[wide-area]
enable-wide-area=no
[publish]
publish-workstation=no
'''
FALSE = '''<service-group><name>{name}</name><service><type>_starling._tcp</type><port>9</port></service></service-group>
'''


def short_hash(data):
	return hashlib.blake2b(data, digest_size=16).digest()


class Host(hosts.Host):
	"""A host with the services of a desktop: D-Bus and avahi-daemon."""

	def __init__(self, folder, number):
		self.services, self.bus, self.avahi = [], None, None
		super().__init__(folder, number)
		run(*self.inside('mount', '-t', 'tmpfs', 'tmpfs', '/run'))
		(self.folder / 'announced').mkdir()
		run(*self.inside('mount', '--bind', self.folder / 'announced', '/etc/avahi/services'))
		(self.folder / 'bus.conf').write_text(BUS.format(folder=self.folder))
		self.start_bus()
		self.start_avahi()

	def inside(self, *command):
		return super().inside('env', f'DBUS_SYSTEM_BUS_ADDRESS=unix:path={self.folder}/bus', *map(str, command))

	def serve(self, *command):
		with (self.folder / 'services.log').open('a') as log:
			self.services.append(subprocess.Popen(self.inside(*command), stdin=subprocess.DEVNULL, stdout=log, stderr=log))
		return self.services[-1]

	def start_bus(self):
		(self.folder / 'bus').unlink(missing_ok=True)
		self.bus = self.serve('dbus-daemon', '--config-file', self.folder / 'bus.conf', '--nofork', '--nopidfile')
		expect(f'{self.name} has D-Bus', self.bus_answers)

	def bus_answers(self):
		"""Return true if the bus takes connections: its socket is there a moment before."""
		with socket.socket(socket.AF_UNIX) as bus:
			return bus.connect_ex(str(self.folder / 'bus')) == 0

	def start_avahi(self, ipv6='no'):
		(self.folder / 'avahi.conf').write_text(AVAHI.format(name=self.name, ipv6=ipv6))
		started = self.avahi_starts()
		self.avahi = self.serve('avahi-daemon', '-f', self.folder / 'avahi.conf', '--no-drop-root', '--no-chroot', '--no-rlimits')
		# an address that goes while avahi-daemon starts keeps it from ever announcing anything
		expect(f'{self.name} has avahi-daemon', lambda: self.avahi_starts() > started)

	def avahi_starts(self):
		return (self.folder / 'services.log').read_text().count('Server startup complete')

	def stop_avahi(self):
		self.avahi.terminate()
		self.avahi.wait(PATIENCE)

	def tag(self):
		"""Return the name under which the learner is announced (LINKS.md §6.2)."""
		pin = re.search(rf'name: "?{self.name}"?,.*sha256:([0-9a-f]{{64}})', (self.folder / 'ward/roster.yaml').read_text())[1]
		return short_hash(b'starling mdns 1' + short_hash(b'ward') + bytes.fromhex(pin)).hex()

	def processes(self):
		return [*self.services, *super().processes()]

	def stop(self):
		self.daemon.terminate()
		assert self.daemon.wait(PATIENCE) == 0, self.name

	def lines(self, pattern):
		return [line for line in self.log.read_text().splitlines() if re.search(pattern, line)]


def make(group, folder):
	group.hosts = [Host(folder, number) for number in range(1, HOSTS + 1)]
	group.join(group.create('discover=mdns', *hosts.SETTINGS))
	group.expect_rounds('at the addresses of the roster, all', group.hosts, 2)


def all_move(group):
	"""All hosts get other addresses while the rounds go on: what the roster says is wrong, and no host knows one of another."""
	for number, host in enumerate(group.hosts, 1):
		host.move(f'10.77.1.{number}', 16)
	group.expect_rounds('all have moved, all', group.hosts, 3)


def all_start(group):
	"""All hosts start at further addresses; one of them also announces the first host, where nothing listens."""
	for number, host in enumerate(group.hosts, 1):
		host.stop()
		host.move(f'10.77.2.{number}', 16)
	(group.hosts[2].folder / 'announced/false.service').write_text(FALSE.format(name=f'{group.hosts[0].tag()} #2'))
	for host in group.hosts:
		host.start()
	group.expect_rounds('started at addresses that are not in the roster, all', group.hosts, 3)
	expect('the false announcement is seen', lambda: group.hosts[1].lines(r'host-1 \(1\) is announced at [^"]*10\.77\.2\.3:9'))


def services_hang(group):
	"""D-Bus and avahi-daemon stand still while a learner ends and starts: it finds no member, is found where it was announced before, and takes part."""
	host = group.hosts[2]
	for service in host.services:
		service.send_signal(signal.SIGSTOP)
	host.stop()
	host.start()
	group.expect_rounds('D-Bus and avahi-daemon hang on one host, all', group.hosts, 2)
	for service in host.services:
		service.send_signal(signal.SIGCONT)


def avahi_away(group):
	"""avahi-daemon ends on one host, and returns: one line for each, and the rounds go on."""
	host = group.hosts[1]
	lost, works = (lambda: host.lines('no member is found by mDNS')), (lambda: host.lines('announces port 7400'))
	before = len(works())
	host.stop_avahi()
	expect('the learner notes that avahi-daemon is gone', lambda: len(lost()) == 1)
	group.expect_rounds('without avahi-daemon on one host, all', group.hosts, 2)
	host.start_avahi()
	expect('the learner is announced again', lambda: len(works()) == before + 1)
	assert len(lost()) == 1, lost()


def bus_away(group):
	"""D-Bus ends on one host, avahi-daemon with it, and both return: the learner connects again."""
	host = group.hosts[0]
	lost, works = (lambda: host.lines('no member is found by mDNS')), (lambda: host.lines('announces port 7400'))
	before = len(works())
	host.bus.terminate()
	host.bus.wait(PATIENCE)
	host.stop_avahi()
	expect('the learner notes that D-Bus is gone', lambda: len(lost()) == 1)
	host.start_bus()
	host.start_avahi()
	expect('the learner is announced again', lambda: len(works()) == before + 1)
	assert len(lost()) == 1, lost()


def link_local(group):
	"""The hosts have no address but those that IPv6 gives itself."""
	if not Path('/proc/net/if_inet6').exists():
		print('link-local addresses: left out, this kernel has no IPv6')
		return
	for host in group.hosts:
		host.stop_avahi()
		host.start_avahi(ipv6='yes')
		host.move(None)
	group.expect_rounds('with link-local addresses of IPv6, all', group.hosts, 3)


def inside():
	hosts.lay_bridges()
	with hosts.played('discovery') as (group, folder):
		try:
			make(group, folder)
			for scene in (all_move, all_start, avahi_away, services_hang, bus_away, link_local):
				scene(group)
		except BaseException:
			for host in group.hosts:
				print(f'--- {host.name} has found', *host.lines('"event":"(found|discovery)"'), sep='\n')
				print(f'--- services of {host.name}\n{(host.folder / "services.log").read_text()[-3000:]}')
			raise


missing = [program for program in ('dbus-daemon', 'avahi-daemon') if shutil.which(program, path=os.environ.get('PATH', '') + ':/usr/sbin') is None]
if missing:
	print(f'{missing[0]} is missing: apt install {missing[0].replace("dbus-daemon", "dbus")}')
	sys.exit(77)
sys.exit(hosts.main(inside))
