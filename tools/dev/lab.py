"""A lab: hosts of their own in name spaces, with a network between them, for starling-bench and test/deploy.

A process goes into network, mount and process name spaces (`INSIDE`), and makes hosts there. All processes and networks end with it. No
name space has a name and no traffic leaves: nothing is left behind. Needs iproute2 and util-linux, as root or where user
name spaces are allowed.
"""
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

PATIENCE = 600  # seconds; only ends a command that hangs
# A queue for which every packet is too large: all are lost. (Not every kernel has netem or filters.)
LOSE_ALL = 'tbf', 'rate', '8bit', 'burst', '1', 'limit', '1'
# Before a command: run it in name spaces of its own, which end with it.
INSIDE = ('unshare', *(['-r'] if os.geteuid() != 0 else []), '--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc')


class Refused(Exception):
	"""Something that a lab needs is missing here, or not allowed."""


def run(*command):
	try:
		done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
	except FileNotFoundError:
		raise Refused(f'{command[0]} is missing') from None
	if done.returncode != 0:
		raise Refused(f'{shlex.join(map(str, command))}: status {done.returncode}: {done.stdout}{done.stderr}'.strip())
	return done.stdout


def ip(*words):
	run('ip', *words)


def refusal():
	"""Return why this machine cannot have a lab, or None."""
	for program in ('ip', 'tc', 'nsenter', 'unshare'):
		if shutil.which(program) is None:
			return f'{program} is missing'
	probe = f'''set -e
mount -t tmpfs tmpfs /var/lib
ip link add dev probe0 type bridge
ip link add dev probe1 type veth peer name probe2
ip link set dev probe1 master probe0
tc qdisc add dev probe1 root {' '.join(LOSE_ALL)}'''
	try:
		run(*INSIDE, 'sh', '-c', probe)
	except Refused as why:
		return f'name spaces, bridges or queues are refused: {str(why).splitlines()[-1]}'
	return None


def add_bridge(name):
	ip('link', 'add', 'dev', name, 'type', 'bridge', 'forward_delay', '0')
	ip('link', 'set', 'dev', name, 'up')


def start_relay(milliseconds, *devices, mbit=0, queue_bytes=0, loss=0):
	"""Start a process that makes these devices and passes packets between them (relay.py); return it."""
	command = [sys.executable, Path(__file__).with_name('relay.py'), *map(str, (milliseconds, mbit, queue_bytes, loss)), *devices]
	process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	if process.stdout.readline() == '':
		raise Refused(f'tun devices are refused: {process.communicate()[1].splitlines()[-1]}')
	return process


class Host:
	"""A machine: a process in name spaces of its own, with a device eth0 and the address 10.77.0.NUMBER."""

	spaces = '--net', '--mount'

	def __init__(self, number):
		self.number, self.name, self.port, self.address = number, f'host-{number}', f'port{number}', f'10.77.0.{number}'
		self.holder = None

	def hold(self, script, *arguments):
		"""Start the process that has the name spaces, after a script."""
		self.holder = subprocess.Popen(['unshare', *self.spaces, 'sh', '-c', f'{script} && echo && exec sleep infinity', 'sh', *arguments],
			stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
		if self.holder.stdout.readline() != b'\n':
			raise Refused('the name spaces of a host are refused')

	def inside(self, *command):
		return ('nsenter', *self.spaces, '--target', str(self.holder.pid), '--', *command)

	def connect(self, bridge):
		"""Lay a cable to a bridge."""
		ip('link', 'add', 'dev', self.port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', str(self.holder.pid))
		self.plug(bridge)

	def plug(self, bridge):
		ip('link', 'set', 'dev', self.port, 'master', bridge, 'up')

	def set_up(self):
		for words in (('link', 'set', 'dev', 'lo', 'up'), ('address', 'add', f'{self.address}/24', 'dev', 'eth0'), ('link', 'set', 'dev', 'eth0', 'up')):
			run(*self.inside('ip', *words))
