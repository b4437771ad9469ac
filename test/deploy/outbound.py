"""Sites that may only connect out: outbound.py STARLING STARLINGD UNIT SOURCE [--nightly]

Each site is a bridge of its own, whose only way out is a proxy (stand-in/proxy.py). The group is made with the commands of deploy/README.md; the
hosts, the daemons and the computed means are those of hosts.py. Two sites reach each other through a relay alone, which is killed. Skipped where name spaces are refused.
"""
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import hosts
import lab
from blocks import blocks
from lab import ip, run
from patience import expect

SOURCE = Path(sys.argv[4]).resolve()
OPEN = 1, 2          # hosts with a port that others reach
SITES = {3: 1, 4: 2}  # of the others
NAMES = {f'hub-{number}.example.org': f'10.77.0.{number}' for number in OPEN}  # that the proxies alone know
RELAY = '--set', 'relay=yes'
LOGIN = 'PROXY_USER=me', 'PROXY_PASSWORD=se:cret'


class Host(hosts.Host):
	"""A host at bridge0, which others know by a name, or at the bridge of a site, with no route elsewhere."""

	def __init__(self, folder, number):
		super().__init__(folder, number)
		if number in OPEN:
			self.advertised = f'hub-{number}.example.org:7400'
			(self.folder / 'hosts').write_text(''.join(f'{address} {name}\n' for name, address in NAMES.items()))
			run(*self.inside('mount', '--bind', self.folder / 'hosts', '/etc/hosts'))

	def connect(self, bridge):
		site = SITES.get(self.number)
		if site:
			self.address = f'10.78.{site}.{self.number}'
		super().connect(f'site{site}' if site else bridge)


class Proxy(hosts.Gateway):
	"""The proxy of a site, with a leg there and one at bridge0."""

	def __init__(self, folder, site, login):
		super().__init__(100 + site, f'site{site}', f'10.78.{site}.1')
		self.site, self.log, self.login = site, folder / f'proxy-{site}.log', login
		self.start()

	def start(self):
		before = self.log.read_text().count('ready') if self.log.exists() else 0
		with self.log.open('a') as log:
			self.serve(str(SOURCE / 'test/stand-in/proxy.py'), f'10.78.{self.site}.1', '3128', self.login,
				*(f'{name}={address}' for name, address in NAMES.items()), stdout=log, stderr=log)
		expect(f'the proxy of site {self.site} is ready', lambda: self.log.read_text().count('ready') > before)


def replay(host, number, line, proxy):
	"""Run the commands of the page on a host of a site; there is no user starling here."""
	(_, commands), = blocks(SOURCE / 'deploy/README.md', 'Sites that may only connect out')
	commands = commands.replace('-o starling ', '').replace('/etc/starling-proxy', '/var/lib/starling/proxy-login') \
		.replace('http://proxy.clinic.example.org:3128', proxy).replace('--name bo', f'--name {host.name}') \
		.replace('bo.invalid', f'{host.name}.invalid')
	commands = commands.replace('starling join', f'starling join {shlex.join(hosts.OWN)}')
	command = 'env', *LOGIN, f'INVITATION={line}', f'PATH={hosts.STARLING.parent}:/usr/bin:/bin', 'sh', '-euc', commands
	host.commands += 1
	output = host.folder / f'output-{host.commands}'
	with output.open('w') as file:
		return subprocess.Popen(host.inside(*command), stdin=subprocess.DEVNULL, stdout=file, stderr=file), output


def make(group, folder, proxies):
	group.hosts = [Host(folder, number) for number in (*OPEN, *SITES)]
	_, second, third, fourth = group.hosts
	line = group.create(*hosts.SETTINGS, own=(*hosts.OWN, *RELAY))
	second.done(second.starling('join', line, '--name', second.name, '--address', second.advertised, *hosts.OWN, *RELAY))
	for host, proxy in (third, 'http://10.78.1.1:3128'), (fourth, 'socks5://10.78.2.1:3128'):
		host.done(replay(host, host.number, line, proxy))
	for host in second, third, fourth:
		host.start()
	group.expect_rounds('four hosts, two behind proxies', group.hosts, 2)
	assert 'CONNECT hub-1.example.org:7400 open' in proxies[0].log.read_text()
	assert 'SOCKS5 hub-1.example.org:7400 open' in proxies[1].log.read_text()


def relay_ends(group, pause):
	"""The relay that two sites use is killed. The three that are left need a link of each to each: the two take the other relay."""
	third, fourth = group.hosts[2:]
	expect('the sites are linked through a relay', lambda: third.is_relayed(fourth))
	said = third.doctor()
	assert re.search(rf'^ok .*: the learner holds a link; its own address does not answer \(.*, through the {third.path(fourth)}', said, re.M), said
	used = next(host for host in group.hosts if third.path(fourth) == f'relay {host.name}')
	last = group.look()
	expect('a round begins', lambda: group.look() > last)
	time.sleep(pause)
	used.kill_daemon()
	begin = time.monotonic()
	group.expect_rounds(f'a relay is killed {pause:.2f} s after a round, the others', group.others(used), 2)
	print(f'{time.monotonic() - begin:.1f} s to the second round without the relay', flush=True)
	used.boot()
	group.expect_rounds('the relay is back, all', group.hosts, 2)


def proxy_ends(group, proxies):
	"""A proxy dies: its host says so, and the others go on. It comes back."""
	third = group.hosts[2]
	proxies[0].stop()
	group.expect_rounds('a proxy has died, the others', group.others(third), 2)
	said = third.doctor()
	assert 'the proxy itself cannot be reached' in said, said
	expect('the learner says so, too', lambda: 'the proxy itself cannot be reached' in third.log.read_text())
	proxies[0].start()
	group.expect_rounds('the proxy is back, all', group.hosts, 2)
	said = third.doctor()
	assert 'connections to other machines go through http://10.78.1.1:3128' in said, said


def wrong_login(group):
	third = group.hosts[2]
	login = third.folder / 'proxy-login'
	right = login.read_text()
	login.write_text('me:wrong\n')
	said = third.doctor()
	assert 'the proxy refuses the user and password in proxy_credentials_file' in said, said
	login.write_text(right)


def inside():
	ip('link', 'set', 'dev', 'lo', 'up')
	for bridge in ('bridge0', 'site1', 'site2'):
		lab.add_bridge(bridge)
	with hosts.played('outbound') as (group, folder):
		proxies = [Proxy(folder, site, 'me:se:cret') for site in (1, 2)]
		try:
			make(group, folder, proxies)
			for turn in range(12 if hosts.NIGHTLY else 2):
				relay_ends(group, 0.03 * turn)
			proxy_ends(group, proxies)
			wrong_login(group)
		except BaseException:
			for proxy in proxies:
				print(proxy.log.read_text()[-2000:])
			raise
		finally:
			for proxy in proxies:
				proxy.end()


if __name__ == '__main__':
	sys.exit(hosts.main(inside))
