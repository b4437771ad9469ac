"""The cases on hosts: rounds of learners on hosts of their own, with shaped links.

    host 1: eth0 --tbf-->  bridge  --tbf--> eth0 :host 2      without a delay: veth pairs
    host 1: eth0 --tbf-->  relay  --rate--> eth0 :host 2      with a delay: tap devices

A host has one link, of the same rate in both directions; its queue holds QUEUE_MS of data, at least QUEUE_LEAST bytes. All of it is
in the name spaces of a process of its own (`--inside`).
"""
import json
import shutil
import signal
import statistics
import subprocess
import sys
from pathlib import Path

import lab
import program
from daemons import FIRST, PARTS, launch
from watch import Link, Watch, sent_most, waits

QUEUE_MS, QUEUE_LEAST = 50, 131072
BURST_LEAST = 16384  # bytes that pass at once; the rate is kept over longer times
LEARNER = 'learner'  # the name of the learners' processes
# The first settings are the defaults.
WAYS = ('sharing=seeded mixing=auto', 'sharing=seeded mixing=exact', 'sharing=seeded mixing=forest', 'sharing=shamir mixing=exact')
# bin/starlingd, which the copy of `starling` beside it starts, in the folder of the learner: with the addresses of the hosts in place
# of the loopback address, and on the host of the learner.
START_LEARNER = '''#!/bin/sh
set -e
id=${PWD##*-}
id=${id#0}
sed 's/id: \\([0-9]*\\),\\(.*\\)"127[.]0[.]0[.]1:/id: \\1,\\2"10.77.0.\\1:/' ../roster.yaml >roster.yaml
exec nsenter --net --uts --target "$(cat "${0%/*}/../host-$id")" "${0%/*}/learner" "$@" --set roster=roster.yaml
'''
# reach HOST COMMAND, for mpirun in place of ssh.
REACH = '''#!/bin/sh
host=${1##*.}
shift
exec nsenter --net --uts --target "$(cat "host-$host")" sh -c "$*"
'''
MPIRUN = ('mpirun', '--allow-run-as-root', '--mca', 'plm_rsh_agent', './reach',
	'--mca', 'pml', 'ob1', '--mca', 'btl', 'tcp,self',  # sockets, and no shared memory: the hosts are no machines
	'--mca', 'btl_tcp_if_include', 'eth0', '--mca', 'oob_tcp_if_include', 'eth0',  # the device of each host
	'--mca', 'coll_tuned_use_dynamic_rules', '1', '--mca', 'coll_tuned_allreduce_algorithm', '4')  # its own choice sends twice a ring's bytes


class Host(lab.Host):
	spaces = '--net', '--uts'


def queue_bytes(mbit):
	return max(mbit * 1000 // 8 * QUEUE_MS, QUEUE_LEAST)


def make_hosts(count, mbit, rtt_ms, loss=0):
	"""Return hosts with their links."""
	shape = ('root', 'tbf', 'rate', f'{mbit}mbit', 'burst', max(mbit * 1000 // 8, BURST_LEAST), 'limit', queue_bytes(mbit))
	shape = tuple(map(str, shape))
	hosts = [Host(number) for number in range(1, count + 1)]
	for host in hosts:
		host.hold(f'hostname {host.name}')
	lab.ip('link', 'set', 'dev', 'lo', 'up')  # the launcher looks for free ports there
	if rtt_ms:
		lab.start_relay(rtt_ms / 2, *(host.port for host in hosts), mbit=mbit, queue_bytes=queue_bytes(mbit), loss=loss)
	else:
		lab.add_bridge('bridge0')
	for host in hosts:
		if rtt_ms:
			lab.ip('link', 'set', 'dev', host.port, 'netns', str(host.holder.pid), 'name', 'eth0')
		else:
			host.connect('bridge0')
			lab.run('tc', 'qdisc', 'add', 'dev', host.port, *shape)
		host.set_up()
		lab.run(*host.inside('ip', 'link', 'set', 'dev', 'eth0', 'txqueuelen', '10000'))  # packets for the relay
		lab.run(*host.inside('tc', 'qdisc', 'add', 'dev', 'eth0', *shape))
	return hosts


def write_programs(programs, hosts):
	"""Write the programs that start learners on their hosts, and have `programs` use them."""
	starling, path = Path(shutil.which(programs.starling)).resolve(), programs.path
	path('bin').mkdir()
	daemons = starling.parent / '../daemon/starlingd', starling.with_name('starlingd')
	path(f'bin/{LEARNER}').symlink_to(next(daemon for daemon in daemons if daemon.exists()))
	shutil.copy(starling, path('bin/starling'))
	for name, text in ('bin/starlingd', START_LEARNER), ('reach', REACH):
		path(name).write_text(text)
		path(name).chmod(0o700)
	for host in hosts:
		path(f'host-{host.number}').write_text(f'{host.holder.pid}\n')
	programs.starling = str(path('bin/starling'))


def measure_mpi(bench, hosts, links, size):
	"""Return seconds of MPI_Allreduce of float32, and the megabytes that the busiest host sent in one; or a note says why not."""
	allreduce = Path(bench.starling).with_name('allreduce')
	if not allreduce.exists():
		bench.result.notes.append('MPI_Allreduce is not measured: tools/setup --mpi FOLDER builds it')
		return [], []
	names = ','.join(f'{host.address}:1' for host in hosts)
	before = [link.bytes()[0] for link in links]
	try:
		output = bench.programs.call(hosts[0].inside(*MPIRUN, '--host', names, '-np', len(hosts), allreduce, size, bench.repeat), 'MPI_Allreduce')
	except program.Failed as why:
		bench.result.notes.append(f'MPI_Allreduce is not measured: {why}')
		return [], []
	sent = max(link.bytes()[0] - sent for link, sent in zip(links, before))
	# The first one, which makes the connections, is not timed.
	return [float(line.split()[1]) for line in output.splitlines() if line.startswith('seconds ')], [1e-6 * sent / (bench.repeat + 1)]


class Moments:
	"""When the last learner had trained and had committed each round, in seconds of CLOCK_MONOTONIC; and how that came."""

	def __init__(self, logs):
		self.trained, self.committed, self.attempts, self.learners, self.recovered = {}, {}, {}, {}, set()
		for log in logs:
			for line in log.open():
				self._take(json.loads(line))

	def _take(self, record):
		event, number, at = record.get('event'), record.get('round'), 1e-3 * record['mono_ms']
		if event == 'trained':
			self.trained[number] = max(at, self.trained.get(number, 0))
		elif event == 'committed':
			self.committed[number] = max(at, self.committed.get(number, 0))
			self.attempts[number], self.learners[number] = record['attempt'], record['learners']
		elif event == 'recovering':
			self.recovered.add(number)

	def failures(self, rounds, hosts):
		"""Return a note if the figures are not those of rounds that went well."""
		failed = sum(self.attempts[t] - 1 for t in rounds)
		recovered, fewer = sum(t in self.recovered for t in rounds), sum(self.learners[t] < hosts for t in rounds)
		if failed or recovered or fewer:
			return [f'of {len(rounds)} rounds, {recovered} were finished by recovery, {fewer} without all learners; {failed} attempts failed']
		return []


def measure_way(bench, links, plain, hosts, mbit, size, topology, settings):
	"""Add the figures of rounds with these settings. `plain`: seconds of MPI_Allreduce and of a ring, megabytes of a ring."""
	result, rounds = bench.result, range(FIRST + 1, FIRST + bench.repeat + 1)
	name = ' + '.join(setting.partition('=')[2] for setting in settings if not setting.startswith('privacy_check='))
	watch = Watch(links, mbit, LEARNER)
	watch.start()
	try:
		rows = launch(bench, hosts, topology, size, settings, what=name)
	finally:
		samples = watch.stop()
	moments = Moments(bench.programs.path('run').glob('learner-*/log.jsonl'))
	bench.programs.remove('run')
	seconds, labels = result.add('s', name), ('bandwidth', 'CPU', 'CPU taken by others', 'disk', 'round trips')
	for t in rounds:
		begin, end = moments.trained[t], moments.committed[t]
		seconds.append(end - begin)
		for label, waited in zip(labels, waits(samples, begin, end)):
			result.add('s', f'{name}: {label}', waited)
	result.add('s', f'{name}: CPU of all learners', *(row['cpu_s'] for row in rows[FIRST:]))
	sent = result.add('MB', f'{name}: sent at most',
		*(1e-6 * sent_most(samples, moments.committed[t - 1], moments.committed[t]) for t in rounds))
	for label, above, below in zip(('over MPI_Allreduce', 'over the ring', 'bytes over the ring'), (seconds, seconds, sent), plain):
		result.add_ratio(f'{name}: {label}', above, below)
	parts = [row['parts_s'] for row in rows[FIRST:] if row['parts_s']]  # a round that is finished by recovery has none
	if parts:
		medians = (f'{part} {statistics.median(row[part] for row in parts):.3f} s' for part in PARTS)
		result.notes.append(f'{name}, medians of its parts: {", ".join(medians)}')
	result.notes += [f'{name}: {note}' for note in moments.failures(rounds, hosts)]


def inside(bench, hosts, mbit, size, topology, rtt_ms=0, loss=0, ways=WAYS):
	"""Measure, in name spaces of this process."""
	result, made = bench.result, make_hosts(hosts, mbit, rtt_ms, loss)
	links = [Link(host) for host in made]
	write_programs(bench.programs, made)
	seconds, sent = measure_mpi(bench, made, links, size)
	ring = 2 * (hosts - 1) / hosts * 4 * size  # bytes that the busiest host sends at least, on any graph
	plain = (result.add('s', 'MPI_Allreduce of float32', *seconds), result.add('MB', 'MPI_Allreduce: sent at most', *sent),
		result.add('s', 'ring of float32, from its bytes', 8e-6 * ring / mbit), result.add('MB', 'ring of float32: sent at most', 1e-6 * ring))
	for way in [bench.settings] if bench.settings else map(str.split, ways):
		measure_way(bench, links, (plain[0], plain[2], plain[3]), hosts, mbit, size, topology, way)
	control, buffer = (Path(f'/proc/sys/net/ipv4/{name}').read_text().split()[-1] for name in ('tcp_congestion_control', 'tcp_rmem'))
	result.notes.append(f'TCP: congestion control {control}, receive buffer at most {buffer} bytes')


def die_with_parent():
	program.LIBC.prctl(program.PR_SET_PDEATHSIG, signal.SIGKILL)


def on_hosts(bench, **what):
	"""Measure in a process with name spaces of its own, which the kernel kills with this one; or add a note that they are refused."""
	if bench.is_inside:
		inside(bench, **what)
		return
	why = lab.refusal()
	if why is None:
		command = [*lab.INSIDE, sys.executable, *bench.inside_arguments()]
		with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, preexec_fn=die_with_parent) as child:
			try:
				output = child.communicate()[0]
			finally:
				child.kill()
		if child.returncode != 0:
			raise program.Failed('the process with the hosts has ended')
		told = json.loads(output)
		for figure in told['figures']:
			bench.result.add(figure['unit'], figure['name'], *figure['samples'])
		bench.result.notes += told['notes']
		if told['error'] is not None:
			raise program.Failed(told['error'])
		why = told['refused']
	if why is not None:
		bench.result.notes.append(f'skipped: {why}')
