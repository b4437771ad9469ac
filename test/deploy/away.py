"""Learners that were away: away.py STARLING STARLINGD UNIT [--nightly]

A machine sleeps and wakes at another address; the name servers of all are silent. The hosts, the daemons and the computed means are
those of hosts.py, and the learners know each other by names. Skipped where name spaces are refused.
"""
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import hosts
import lab
from hosts import Group, invitation
from lab import ip, run
from patience import PATIENCE, expect

HOSTS = 5
ASLEEP_S = 1800 if hosts.NIGHTLY else 8  # longer than the silence after which a link is closed
SILENT = 10, '10.77.0.10'  # a machine with a name server that never answers
SILENT_SERVER = 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("", 53)); print(flush=True)\nwhile True: s.recv(512)'
# A name server that is silent costs a command so many seconds; the test allows for a slow machine.
BOUND_S = 60


class Host(hosts.Host):
	"""A host that others know by a name, which its /etc/hosts has or the silent name server."""

	def __init__(self, folder, number):
		super().__init__(folder, number)
		self.advertised = f'{self.name}.example.org:7400'
		for name, text in ('hosts', NAMES), ('resolv.conf', f'nameserver {SILENT[1]}\n'), ('nsswitch.conf', 'hosts: files dns\n'):
			(self.folder / name).write_text(text)
			run(*self.inside('mount', '--bind', self.folder / name, f'/etc/{name}'))

	def forget_names(self):
		with (self.folder / 'hosts').open('r+') as file:
			file.truncate()


NAMES = ''.join(f'10.77.0.{number} host-{number}.example.org\n' for number in range(1, HOSTS + 1))


def make(group, folder):
	group.hosts = [Host(folder, number) for number in range(1, HOSTS + 1)]
	first, others = group.hosts[0], group.hosts[1:]
	said = first.done(first.starling('group', 'create', 'ward', '--learner', first.name, '--address', first.advertised, '--members', str(HOSTS),
		'--auto-admit', str(HOSTS - 1), *hosts.OWN, *(word for setting in hosts.SETTINGS for word in ('--set', setting))))
	first.start()
	line = invitation(said)
	for host, joining in hosts.join(others, line):
		host.done(joining)
	for host in others:
		host.start()
	group.expect_rounds(f'{HOSTS} hosts with names', group.hosts, 2)
	return line


def asleep(group):
	"""A machine is stopped, and goes on at another address; the others go on meanwhile. It takes no attempt of before further."""
	host, new = group.hosts[3], '10.77.0.104'
	others = [h for h in group.hosts if h is not host]
	host.daemon.send_signal(signal.SIGSTOP)
	until = time.monotonic() + ASLEEP_S
	group.expect_rounds('one sleeps, the others', others, 2)
	time.sleep(max(0, until - time.monotonic()))
	run(*host.inside('ip', 'address', 'delete', f'{host.address}/24', 'dev', 'eth0'))
	run(*host.inside('ip', 'address', 'add', f'{new}/24', 'dev', 'eth0'))
	host.address = new
	last, before, read = group.look(), len(host.rounds), len(host.log.read_text())
	host.daemon.send_signal(signal.SIGCONT)
	begin = time.monotonic()
	expect('it is back', lambda: group.look() and len(host.rounds) > before and host.rounds[-1] > last)
	print(f'{ASLEEP_S} s asleep, another address: {time.monotonic() - begin:.1f} s from waking to its next commit', flush=True)
	records = [json.loads(line) for line in host.log.read_text()[read:].splitlines() if line.startswith('{')]
	stale = [r for r in records if r.get('event') == 'committed' and r['round'] <= last - 1]
	assert not stale, f'it has committed old rounds: {stale}'
	group.expect_rounds('it is awake, all', group.hosts, 2)
	for h in group.hosts:
		assert '"event":"evidence"' not in h.log.read_text(), h.name


def silent_names(group, line):
	"""No name resolves any more. A learner starts again: the others dial it where it was, and it has links to all of them."""
	for host in group.hosts:
		host.forget_names()
	host = group.hosts[2]
	host.daemon.kill()
	host.daemon.wait(PATIENCE)
	group.expect_rounds('no name resolves and one has ended, the others', [h for h in group.hosts if h is not host], 2)
	host.boot()
	begin = time.monotonic()
	group.expect_rounds('it is back, all', group.hosts, 2)
	expect('it is linked with all', lambda: links_of(host) == HOSTS - 1)
	print(f'no name resolves: {time.monotonic() - begin:.1f} s from its start to a link with each', flush=True)
	for words in ('doctor',), ('join', line, '--name', 'late', '--address', '10.77.0.99:7400'), \
			('group', 'address', host.name, 'nowhere.example.org:7400'):
		begin = time.monotonic()
		process, output = group.hosts[0].starling(*words)
		process.wait(PATIENCE)
		took = time.monotonic() - begin
		print(f'starling {words[0]}: {took:.1f} s; {output.read_text()}', flush=True)
		assert took < BOUND_S


def links_of(host):
	shown = json.loads(host.done(host.starling('status', '--json', '--control', '/var/lib/starling/ward/state/control.sock')))
	return sum(peer['linked'] for peer in shown['learners'][0]['status']['peers'])


def inside():
	ip('link', 'set', 'dev', 'lo', 'up')
	lab.add_bridge('bridge0')
	server = lab.Host(SILENT[0])
	server.hold('true')
	server.connect('bridge0')
	server.set_up()
	silent = subprocess.Popen(server.inside(sys.executable, '-c', SILENT_SERVER), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
	silent.stdout.readline()
	with tempfile.TemporaryDirectory(prefix='starling-test-') as name:
		group, folder = Group(), Path(name)
		try:
			line = make(group, folder)
			asleep(group)
			silent_names(group, line)
			for host in group.hosts:
				assert '"event":"fatal"' not in host.log.read_text(), host.name
				assert host.daemon.poll() is None, f'{host.name} has ended'
		except BaseException:
			hosts.tell(group.hosts)
			raise
		finally:
			for host in group.hosts:
				for process in filter(None, (host.daemon, host.holder)):
					process.kill()
					process.wait()
			for process in silent, server.holder:
				process.kill()
				process.wait()
	print('away: passed')


if __name__ == '__main__':
	sys.exit(hosts.main(inside))
