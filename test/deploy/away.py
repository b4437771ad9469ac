"""Learners that were away: away.py STARLING STARLINGD UNIT CLOCK [--nightly]

A machine sleeps and wakes at another address; the name servers of all are silent; a newcomer has a thin link. The hosts, the daemons and the computed means are
those of hosts.py, and the learners know each other by names. Skipped where name spaces are refused.
"""
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import hosts
import lab
from lab import ip, run
from patience import expect

CLOCK = Path(sys.argv[4]).resolve()
hosts.OWN += '--set', 'log_level=debug'
HOSTS = 5
STOPPED_S = 8  # longer than the silence after which a link is closed
SUSPENDED_S = 1800 if hosts.NIGHTLY else STOPPED_S
SILENT = 10, '10.77.0.10'  # a machine with a name server that never answers
SILENT_SERVER = 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("", 53)); print(flush=True)\nwhile True: s.recv(512)'


class Host(hosts.Host):
	"""A host that others know by a name, which its /etc/hosts has or the silent name server."""

	def __init__(self, folder, number):
		super().__init__(folder, number)
		self.advertised = f'{self.name}.example.org:7400'
		for name, text in ('hosts', NAMES), ('resolv.conf', f'nameserver {SILENT[1]}\n'), ('nsswitch.conf', 'hosts: files dns\n'):
			(self.folder / name).write_text(text)
			run(*self.inside('mount', '--bind', self.folder / name, f'/etc/{name}'))

	def inside(self, *command):
		return super().inside(*(('env', f'LD_PRELOAD={CLOCK}', f'SUSPENDED_S={self.folder}/suspended') if command[0] == str(hosts.STARLINGD) else ()), *command)

	def forget_names(self):
		with (self.folder / 'hosts').open('r+') as file:
			file.truncate()


NAMES = ''.join(f'10.77.0.{number} host-{number}.example.org\n' for number in range(1, HOSTS + 1))


def make(group, folder):
	group.hosts = [Host(folder, number) for number in range(1, HOSTS + 1)]
	line = group.create(*hosts.SETTINGS)
	group.join(line)
	group.expect_rounds(f'{HOSTS} hosts with names', group.hosts, 2)
	return line


def asleep(group, number, suspended):
	"""A machine is stopped, and goes on at another address; the others go on meanwhile. It takes part in no round that it has slept through. If it was
	suspended, its monotonic clock has stood still."""
	host = group.hosts[number - 1]
	seconds = SUSPENDED_S if suspended else STOPPED_S
	host.daemon.send_signal(signal.SIGSTOP)
	under_way = group.look() + 1
	if suspended:
		ip('link', 'set', 'dev', host.port, 'down')  # it does not see the others close their links
	begin = time.monotonic()
	group.expect_rounds('one sleeps, the others', group.others(host), 2)
	time.sleep(max(0, begin + seconds - time.monotonic()))
	host.move(f'10.77.0.{100 + number}')
	host.plug('bridge0')
	last, before, read = group.look(), len(host.rounds), len(host.log.read_text())
	slept = time.monotonic() - begin
	if suspended:
		(host.folder / 'suspended').write_text(str(int(slept)))
	host.daemon.send_signal(signal.SIGCONT)
	begin = time.monotonic()
	expect('it is back', lambda: group.look() and len(host.rounds) > before and host.rounds[-1] > last)
	print(f'{slept:.0f} s {"suspended" if suspended else "stopped"}, another address: {time.monotonic() - begin:.1f} s from waking to its next commit', flush=True)
	records = [json.loads(line) for line in host.log.read_text()[read:].splitlines() if line.startswith('{')]
	if suspended:
		assert any('this machine has slept' in r['text'] for r in records), 'it has not noticed that its machine was suspended'
	# The round that was under way may end: what it lacked may have come before it was stopped.
	stale = [r for r in records if r.get('event') == 'committed' and under_way < r['round'] <= last - 1]
	assert not stale, f'it has committed old rounds: {stale}'
	group.expect_rounds('it is awake, all', group.hosts, 2)
	for h in group.hosts:
		assert '"event":"evidence"' not in h.log.read_text(), h.name


def silent_names(group, folder, line):
	"""No name resolves any more. A learner starts again: the others dial it where it was, and it has links to all of them."""
	for host in group.hosts:
		host.forget_names()
	host = group.hosts[2]
	host.kill_daemon()
	group.expect_rounds('no name resolves and one has ended, the others', group.others(host), 2)
	host.boot()
	begin = time.monotonic()
	group.expect_rounds('it is back, all', group.hosts, 2)
	expect('it is linked with all', lambda: all(peer['link'] == 'up' for peer in host.peers()))
	print(f'no name resolves: {time.monotonic() - begin:.1f} s from its start to a link with each', flush=True)
	late = Host(folder, HOSTS + 1)
	late.forget_names()
	try:
		for host, words, said in (group.hosts[0], ('doctor',), 'Temporary failure in name resolution'), \
				(group.hosts[0], ('group', 'address', host.name, 'nowhere.example.org:7400'), 'has a name that does not resolve on this machine'), \
				(late, ('join', line, '--name', 'late', '--address', '10.77.0.6:7400'), 'Temporary failure in name resolution'):
			expect_bound(host, words, said)
	finally:
		late.holder.kill()
		late.holder.wait()


def expect_bound(host, words, said):
	"""A command says that names do not resolve, and does not hang."""
	begin = time.monotonic()
	process, output = host.starling(*words)
	try:
		expect(f'starling {words[0]} says that names do not resolve', lambda: said in output.read_text())
	finally:
		process.kill()
		process.wait()
	print(f'starling {words[0]}: {time.monotonic() - begin:.1f} s until it says that a name does not resolve', flush=True)


def thin_link(group, folder, straggler_timeout, takes_part):
	"""A newcomer gets no model within straggler_timeout: it is left out, and says what it needs. Or it gets one, and takes part."""
	first_number = 20 if takes_part else 30
	group.hosts = [hosts.Host(folder, first_number + number) for number in range(1, 4)]
	first, others = group.hosts[0], group.hosts[1:]
	settings = 'rounds=100000', 'trainer=noise', 'noise_parameters=200000', 'values=model', f'decimals={hosts.DECIMALS}', \
		f'straggler_timeout={straggler_timeout}', 'stall_timeout=60'
	line = group.create(*settings, own=(), more=1)
	late = hosts.Host(folder, first_number + 4)
	for host in others:
		host.done(host.starling('join', line, '--name', host.name, '--address', host.advertised))
		host.start()
	expect('rounds of three', lambda: first.look() > 2)
	late.done(late.starling('join', line, '--name', late.name, '--address', late.advertised))
	late.limit('1mbit', '16kb')
	begin, before = time.monotonic(), first.look()
	group.hosts.append(late)
	late.start()
	if takes_part:
		expect('the newcomer takes part', lambda: late.look() and late.rounds)
		print(f'thin link: {time.monotonic() - begin:.1f} s from its start to its first commit', flush=True)
	else:
		needs = expect('the newcomer says what it needs', lambda: re.search(r'or all of them a straggler_timeout of \d+ s', late.log.read_text()))
		print(f'thin link: {time.monotonic() - begin:.1f} s until the newcomer says: {needs[0]}', flush=True)
		expect('the others go on', lambda: first.look() > before + 3)


def inside():
	ip('link', 'set', 'dev', 'lo', 'up')
	lab.add_bridge('bridge0')
	names = hosts.Gateway(SILENT[0])
	names.serve('-c', SILENT_SERVER, stdout=subprocess.PIPE)
	names.process.stdout.readline()
	try:
		with hosts.played('away') as (group, folder):
			line = make(group, folder)
			asleep(group, 4, suspended=False)
			asleep(group, 5, suspended=True)
			silent_names(group, folder, line)
		for straggler_timeout, takes_part in (1, False), (60, True):
			with hosts.played('a thin link') as (group, folder):
				thin_link(group, folder, straggler_timeout, takes_part)
	finally:
		names.end()


if __name__ == '__main__':
	sys.exit(hosts.main(inside))
