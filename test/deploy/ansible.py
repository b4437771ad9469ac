"""The role of deploy/ansible on three hosts that are this machine: ansible.py STARLING STARLINGD SOURCE.

The second run changes nothing; the learners average; a changed address changes the rosters only. Skipped without ansible.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from getpass import getuser
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / 'lib'))
from blocks import blocks
from patience import PATIENCE, expect
from ports import free_ports

STARLING, STARLINGD, SOURCE = (Path(path).resolve() for path in sys.argv[1:])

if shutil.which('ansible-playbook') is None:
	print('ansible-playbook is missing: apt-get install ansible-core')
	sys.exit(77)


def play(folder, ports, settings):
	"""Run the playbook; return the changed tasks of each host."""
	hosts = {f'host-{i}': {'starling_id': i, 'starling_address': f'127.0.0.1:{port}', 'starling_folder': str(folder / f'host-{i}')}
		for i, port in enumerate(ports, 1)}
	inventory = {'starling': {'hosts': hosts, 'vars': {'ansible_connection': 'local', 'ansible_python_interpreter': '/usr/bin/python3',
		'starling_become': False, 'starling_user': getuser(), 'starling_service': False, 'starling_command': str(STARLING),
		'starlingd_command': str(STARLINGD), 'starling_settings': settings}}}
	(folder / 'inventory.yml').write_text(json.dumps(inventory))
	if not (folder / 'deploy').exists():
		(folder / 'deploy').symlink_to(SOURCE / 'deploy')
	(_, commands), = blocks(SOURCE / 'deploy/README.md', 'A lab of ten')
	environment = dict(os.environ, ANSIBLE_LOCALHOST_WARNING='false', ANSIBLE_HOME=str(folder / 'ansible'), ANSIBLE_NOCOLOR='1',
		ANSIBLE_LOCAL_TEMP=str(folder / 'local'), ANSIBLE_REMOTE_TEMP=str(folder / 'remote'), LC_ALL='C.UTF-8')
	done = subprocess.run(['sh', '-euc', commands], cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE)
	assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
	return [int(n) for n in re.findall(r'changed=(\d+)', done.stdout)]


def committed(folder):
	asked = subprocess.run([STARLING, 'status', '--json', folder], capture_output=True, text=True).stdout
	return [int(n) for n in re.findall(r'"committed": ?(\d+)', asked)]


def main():
	settings = {'rounds': 1000, 'trainer': 'noise', 'noise_parameters': 1000}
	with tempfile.TemporaryDirectory(prefix='starling-test-') as name:
		folder = Path(name)
		ports = free_ports(3)
		assert all(n >= 4 for n in play(folder, ports, settings)), 'the first run makes folder, identity, roster and settings'
		assert play(folder, ports, settings) == [0, 0, 0], 'the second run changes something'
		for i in (1, 2, 3):
			assert (folder / f'host-{i}/identity/key.pem').stat().st_mode & 0o777 == 0o600
		rosters = {(folder / f'host-{i}/roster.yaml').read_text() for i in (1, 2, 3)}
		assert len(rosters) == 1 and rosters.pop().count('sha256:') == 3
		learners = [subprocess.Popen([STARLINGD, '--config', folder / f'host-{i}/starlingd.yaml'], stderr=open(folder / f'{i}.log', 'w'))
			for i in (1, 2, 3)]
		try:
			expect('three rounds of three learners', lambda: len(rounds := committed(folder)) == 3 and min(rounds) >= 3)
		finally:
			for learner in learners:
				learner.terminate()
			for learner in learners:
				learner.wait(PATIENCE)
		ports[2] = free_ports(1)[0]
		assert play(folder, ports, settings) == [1, 1, 1], 'a new address changes more than the roster'
	print('ansible: passed')


main()
