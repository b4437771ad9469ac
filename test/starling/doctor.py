"""`starling doctor`: what it says of this machine and of peers: doctor.py STARLING STARLINGD here|peers|links|addresses|remedies|group

Real learners where they can be as wanted. Peers that a learner of today cannot be are played by this program.
"""
import base64
import json
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[level] / folder) for level, folder in
	((1, 'lib'), (2, 'tools/control'), (2, 'tools/timeline'))]
from patience import PATIENCE, expect
from ports import free_ports
from starling_control.doctor import long_links

STARLING, STARLINGD = (str(Path(path).resolve()) for path in sys.argv[1:3])
FRAME_VERSION = int(re.search(r"SL_FRAME_VERSION (\d+)u", (Path(__file__).parents[2] / "common/wire/frame.h").read_text())[1])
VERDICTS = {'admitted': 1, 'other group': 6, 'no member': 10, 'later': 12}
NAMES = {i: f'm{i}' for i in range(1, 17)}
running = []


def run(*arguments, status=0, text=None, limits=None):
	"""Run starling, which ends with this status (None: any); return what it prints on both outputs."""
	def limit():
		for which, value in (limits or {}).items():
			resource.setrlimit(which, (value, value))
	done = subprocess.run([STARLING, *arguments], capture_output=True, text=True, input=text, timeout=PATIENCE, preexec_fn=limit)
	assert status is None or done.returncode == status, f'{arguments}: status {done.returncode}, not {status}\n{done.stdout}{done.stderr}'
	return done.stdout + done.stderr


class Doctor:
	"""What the doctor says."""

	def __init__(self, *arguments, status, limits=None):
		self.said = run('doctor', *arguments, status=status, limits=limits)

	def says(self, result, about, *parts):
		"""Expect one line of this result about something, with these parts; the remedy is the last of a warning or failure."""
		lines = [line for line in self.said.splitlines() if line.startswith(f'{result:4}  {about}')]
		assert len(lines) == 1, f'{len(lines)} lines of {result} of {about}: {self.said}'
		for part in parts:
			assert part in lines[0], f'no "{part}" in: {lines[0]}'
		return self

	def silent(self, result, about):
		"""Expect no line of this result."""
		assert f'{result:4}  {about}' not in self.said, self.said
		return self


def listens(port):
	with socket.socket() as one:
		return one.connect_ex(('127.0.0.1', port)) == 0


# ---- learners ----

def keygen(i, address, folder=None):
	"""Make the key of machine i; return its line of a roster."""
	Path(f'm{i}').mkdir(exist_ok=True)
	done = subprocess.run([STARLING, 'keygen', '--id', str(i), '--name', NAMES[i], '--address', address, '--dir', folder or f'm{i}/identity'],
		capture_output=True, text=True, check=True)
	return done.stdout


def configure(path, i, roster, run_name='one', **more):
	settings = {'run': run_name, 'id': i, 'roster': os.path.abspath(roster), 'identity': os.path.abspath(f'm{i}/identity'),
		'state': os.path.abspath(f'm{i}/state'), 'trainer': 'noise', 'noise_parameters': 10, 'quorum': 'all', **more}
	Path(path).write_text(''.join(f'{key}: {value}\n' for key, value in settings.items()))


def start(config, log):
	process = subprocess.Popen([STARLINGD, '--config', config], stdout=open(log, 'w'), stderr=subprocess.STDOUT)
	running.append(process)
	return process


def start_learner(i, roster, run_name='one'):
	configure(f'm{i}/config.yaml', i, roster, run_name)
	return start(f'm{i}/config.yaml', f'm{i}/log')


def end(process):
	process.kill()
	process.wait()


# ---- peers that are played ----

def play(listener, answer):
	"""Answer each connection to a socket, until the program ends."""
	def loop():
		kept = []
		while True:
			one, _ = listener.accept()
			kept.append(one)
			try:
				answer(one)
			except OSError:
				pass
	threading.Thread(target=loop, daemon=True).start()


def tls_of(identity):
	context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
	context.minimum_version = ssl.TLSVersion.TLSv1_3
	context.load_cert_chain(f'{identity}/cert.pem', f'{identity}/key.pem')
	return context


def play_version(listener, identity, version):
	"""A learner whose frames have another version."""
	context = tls_of(identity)
	def answer(one):
		with context.wrap_socket(one, server_side=True) as tls:
			tls.sendall(bytes([ord('S'), version, 64, 0, 0, 0, 0, 0]))
			tls.recv(1)
	play(listener, answer)


def number(value):
	"""A protobuf varint."""
	out = b''
	while value > 127:
		out += bytes([value & 127 | 128])
		value >>= 7
	return out + bytes([value])


class Asked:
	"""A learner that answers learners that join (GROUP.md §12.9), as `verdict`, `ahead` and `roster` say."""

	def __init__(self, port, identity):
		self.verdict, self.ahead, self.roster = 'admitted', 0, b''
		context = tls_of(identity)
		context.set_alpn_protocols(['starling-join/1'])
		def answer(one):
			with context.wrap_socket(one, server_side=True) as tls:
				size = struct.unpack('<I', tls.recv(4))[0]
				while size > 0:
					size -= len(tls.recv(size))
				tls.sendall(self.answer())
				tls.recv(1)
		play(socket.create_server(('127.0.0.1', port)), answer)

	def answer(self):
		body = b'\x08' + number(VERDICTS[self.verdict]) + b'\x10' + number(max(1, int(time.time()) + self.ahead))
		if self.roster:
			body += b'\x1a' + number(len(self.roster)) + self.roster
		return struct.pack('<I', len(body)) + body


# ---- cases ----

def look_at_peers(ports):
	"""One roster, in which each peer has another fault. Learner 1 is this machine, and does not run."""
	silent, plain, newer, older, full = (socket.create_server(('127.0.0.1', ports[i]), backlog=0 if i == 15 else 8) for i in (5, 6, 10, 13, 15))
	addresses = {4: f'nowhere.test:{ports[4]}', 11: f'localhost:{ports[2]}', 14: '127.255.255.255:7400'} # a broadcast address has no route
	lines = {i: keygen(i, addresses.get(i, f'127.0.0.1:{ports[i]}')) for i in range(1, 16)}
	lines[16] = keygen(16, 'site.invalid:7400')
	write = lambda name, *left_out: Path(name).write_text(''.join(line for i, line in lines.items() if i not in left_out))
	write('without.yaml', 1)
	write('other.yaml', 3)
	lines[12] = lines[12].replace('"127.0.0.1:', '"127.0.0.1:1,127.0.0.1:') # nothing answers at the first of two addresses
	write('roster.yaml')
	learners = [start_learner(2, 'roster.yaml'), start_learner(8, 'without.yaml'), start_learner(9, 'roster.yaml', 'two'), start_learner(12, 'other.yaml')]
	play(silent, lambda one: None)
	play(plain, lambda one: (one.sendall(b'SSH-2.0-OpenSSH_9.2\r\n'), one.close()))
	play_version(newer, 'm10/identity', FRAME_VERSION + 1)
	play_version(older, 'm13/identity', FRAME_VERSION - 1)
	keygen(7, f'127.0.0.1:{ports[7]}', 'new')
	play_version(socket.create_server(('127.0.0.1', ports[7])), 'new', FRAME_VERSION)
	filling = [socket.socket() for _ in range(3)] # the queue of 15 is full: a further connection gets no answer
	for one in filling:
		one.setblocking(False)
		one.connect_ex(('127.0.0.1', ports[15]))
	for i in (2, 8, 9, 12):
		expect(f'learner {i} listens', lambda i=i: listens(ports[i]))
	configure('config.yaml', 1, 'roster.yaml')
	doctor = Doctor('--config', 'config.yaml', status=1)
	doctor.says('ok', 'configuration').says('ok', 'roster', '16 learners').says('ok', 'key', 'mode 0600').says('ok', 'clock')
	doctor.says('warn', 'learner', 'is not running', 'starlingd --config config.yaml').says('ok', 'address', 'free').says('ok', 'open files')
	os.symlink('config.yaml', 'of a clinic.yaml')
	Doctor('--config', 'of a clinic.yaml', status=1).says('warn', 'learner', 'is not running', "starlingd --config 'of a clinic.yaml'")
	doctor.says('ok', 'peer m2 (2)', 'answers')
	doctor.says('FAIL', 'peer m3 (3)', 'connection refused', 'start its learner')
	doctor.says('FAIL', 'peer m4 (4)', 'its name does not resolve', '/etc/hosts')
	doctor.says('FAIL', 'peer m5 (5)', 'accepts the connection, and no TLS follows', 'timed out', 'kill -CONT')
	doctor.says('FAIL', 'peer m6 (6)', 'TLS failure', 'another program')
	doctor.says('FAIL', 'peer m7 (7)', 'another key answers than the roster has, sha256:', 'keygen --show')
	doctor.says('FAIL', 'peer m8 (8)', 'it refuses the key of this machine', 'starling reload')
	doctor.says('FAIL', 'peer m9 (9)', 'other run', "set 'run'")
	doctor.says('FAIL', 'peer m10 (10)', 'version differs', 'newer', 'upgrade Starling here')
	doctor.says('FAIL', 'peer m11 (11)', 'another learner answers there, m2 (2)', 'correct the addresses')
	doctor.says('warn', 'peer m12 (12)', f': 127.0.0.1:{ports[12]}: ', 'another roster', 'starling reload')
	doctor.says('FAIL', 'peer m13 (13)', 'version differs', 'older', 'upgrade Starling there')
	doctor.says('FAIL', 'peer m14 (14)', 'no route', 'ip route get')
	doctor.says('FAIL', 'peer m15 (15)', 'no answer within', 'firewalls')
	doctor.says('warn', 'peer m16 (16)', 'leads nowhere on purpose', 'when it dials')
	for one in learners:
		end(one)


def look_at_links(ports):
	"""This machine holds links to peers whose address is wrong, which is that of another learner, and which are of another run."""
	lines = {1: keygen(1, f'127.0.0.1:{ports[1]}', 'm1/own'), **{i: keygen(i, f'127.0.0.1:{ports[i]}', f'm{i}/linked') for i in (2, 3, 4, 5)}}
	Path('right.yaml').write_text(''.join(lines.values()))
	wrong = dict(lines)
	wrong[2] = wrong[2].replace(f':{ports[2]}', f':{ports[6]}')
	wrong[3] = wrong[3].replace(f'127.0.0.1:{ports[3]}', f'localhost:{ports[4]}')
	Path('wrong.yaml').write_text(''.join(wrong.values()))
	learners = []
	for i in lines:
		configure(f'm{i}/linked.yaml', i, 'wrong.yaml' if i == 1 else 'right.yaml', 'two' if i == 5 else 'one',
			identity=os.path.abspath('m1/own' if i == 1 else f'm{i}/linked'), state=os.path.abspath(f'm{i}/links'))
		learners.append(start(f'm{i}/linked.yaml', f'm{i}/links.log'))
	def linked():
		status = run('status', '--json', '--control', 'm1/links/control.sock', status=None)
		peers = json.loads(status)['learners'][0]['status']['peers'] if '"peers"' in status else []
		return len(peers) == 4 and all(peer['link'] == 'up' for peer in peers) and peers[3]['other_run']
	expect('this machine has four links', linked)
	doctor = Doctor('--config', 'm1/linked.yaml', status=1)
	doctor.says('ok', 'address', 'held by the running learner')
	assert 'learner: runs' in doctor.said, doctor.said
	doctor.says('warn', 'peer m2 (2)', 'one direction only', 'Connection refused', 'firewall', 'starling group address')
	doctor.says('FAIL', 'peer m3 (3)', 'another learner answers there, m4 (4)', 'correct the addresses')
	doctor.says('ok', 'peer m4 (4)', 'holds a link')
	doctor.says('FAIL', 'peer m5 (5)', 'other run', "set 'run'")
	for log in ('m2/links.log', 'm4/links.log', 'm5/links.log'):
		assert 'replaced by' not in Path(log).read_text() and 'a second link' not in Path(log).read_text(), f'{log}: a link was disturbed'
	assert linked(), 'a link was disturbed'
	for one in learners:
		end(one)


def look_at_lines():
	"""A buffer of 8 MiB carries 4 MiB in a round trip of 100 ms: 336 Mbit/s."""
	def finds(result, *parts, control='bbr', send=8 << 20, peers=()):
		found = long_links([{'name': f'm{i}', 'rtt_s': rtt_s, 'rate': rate} for i, (rtt_s, rate) in enumerate(peers)], control, 16 << 20, send)
		assert found[0] == result and all(part in ' '.join(found) for part in parts), found
	finds('ok', 'up to 16.0 and 8.0 MiB')
	finds('ok', peers=[(None, None), (0.009, 1e9)], control='cubic')
	finds('ok', '336 Mbit/s over the 100 ms to m1', peers=[(0.009, None), (0.1, 20.9e6)])
	finds('warn', '336 Mbit/s', 'has reached half of that', 'LONG LINKS', peers=[(0.1, 21e6)])
	finds('warn', '168 Mbit/s over the 200 ms to m1', 'has reached half of that', peers=[(0.1, 21e6), (0.2, None)])
	finds('warn', 'to m0', 'far less after losses', 'tcp_bbr', peers=[(0.01, None)], control='cubic')


def look_here(ports):
	"""Faults of this machine."""
	look_at_lines()
	lines = {3: keygen(3, f'127.0.0.1:{ports[3]}', 'm3/here'), 4: keygen(4, 'nowhere.invalid:7400', 'm4/here')}
	Path('here.yaml').write_text(''.join(lines.values()))
	identity = lambda i: os.path.abspath(f'm{i}/here')
	busy = socket.create_server(('127.0.0.1', 0))
	ahead = time.time() + 86400
	os.utime('here.yaml', (ahead, ahead))
	os.chmod('m3/here/key.pem', 0o644)
	configure('three.yaml', 3, 'here.yaml', identity=identity(3), listen=f'127.0.0.1:{busy.getsockname()[1]}')
	doctor = Doctor('--config', 'three.yaml', status=1)
	doctor.says('FAIL', 'key', 'lets others read the secret key', 'chmod 600')
	doctor.says('FAIL', 'clock', 'before the date of', 'timedatectl')
	doctor.says('FAIL', 'address', 'Address already in use', 'ss -ltnp')
	os.chmod('m3/here/key.pem', 0o600)
	configure('config.yaml', 77, 'here.yaml')
	Doctor('--config', 'config.yaml', status=1).says('FAIL', 'own line', 'has no learner 77', "correct 'id'")
	found = json.loads(run('doctor', '--config', 'config.yaml', '--json', status=1))
	assert set(found[0]) == {'result', 'about', 'text', 'remedy'}, found
	configure('config.yaml', 3, 'here.yaml', identity=identity(3))
	doctor = Doctor('--config', 'config.yaml', status=1, limits={resource.RLIMIT_NOFILE: 40, resource.RLIMIT_MEMLOCK: 65536})
	doctor.says('ok', 'long links', 'congestion control ')
	doctor.says('FAIL', 'open files', 'up to 40', 'ulimit -Hn').says('warn', 'locked memory', '0.1 MiB', 'ulimit -l')
	configure('config.yaml', 4, 'here.yaml', identity=identity(3), state='/proc/nowhere/state')
	doctor = Doctor('--config', 'config.yaml', status=1)
	doctor.says('FAIL', 'key', 'the roster sha256:').says('ok', 'address', ', all addresses', 'free').says('FAIL', 'disk')
	configure('config.yaml', 4, 'here.yaml', rounds='many')
	Doctor('--config', 'config.yaml', status=1).says('FAIL', 'configuration', 'config.yaml:')
	Path('bad.yaml').write_text('nonsense\n')
	configure('config.yaml', 5, 'bad.yaml')
	Doctor('--config', 'config.yaml', status=1).says('FAIL', 'roster', 'bad.yaml', 'roster(5)')
	assert 'exclude each other' in run('doctor', '--config', 'config.yaml', '--folder', 'x', status=2)
	assert 'the folder has no name' in run('doctor', '', status=2)
	assert 'no starlingd.yaml' in run('doctor', '--folder', 'nowhere', status=2)
	assert 'no starlingd.yaml' in run('doctor', 'nowhere', status=2)
	assert 'starling doctor FOLDER' in run('doctor', '--control', 'm1/state/control.sock', status=2)
	Path('run/learner-01').mkdir(parents=True)
	assert 'choose one: starling doctor run/learner-01' in run('doctor', 'run', status=2)
	os.symlink('run', "it's")
	assert "choose one: starling doctor 'it'\\''s/learner-01'" in run('doctor', "it's", status=2)
	shutil.copy('config.yaml', 'run/learner-01')
	assert 'bad.yaml:1:1: ' in run('doctor', 'run/learner-01', status=1)


def look_at_addresses(ports):
	"""Addresses that lead nowhere, own ones and those of peers, and the remedy, which is followed."""
	bad = {2: '0.0.0.0', 3: '224.0.0.1', 4: '127.0.0.1', 5: '[fe80::1]'}
	lines = {i: keygen(i, f'{bad.get(i, "192.0.2.1")}:{ports[i]}') for i in range(1, 6)}
	Path('roster.yaml').write_text(''.join(lines.values()))
	configure('one.yaml', 1, 'roster.yaml', listen=f'127.0.0.1:{ports[1]}')
	doctor = Doctor('--config', 'one.yaml', status=1).says('ok', 'own line', 'm1 (1), 192.0.2.1:')
	for i, flaw in {2: 'leads each machine to itself', 3: 'is the address of no machine', 4: 'leads each machine to itself', 5: 'is valid on one link only'}.items():
		doctor.says('FAIL', f'peer m{i} ({i})', f'{bad[i]}:{ports[i]}: its address {flaw}; correct its address in the roster', 'starling group address')
		configure(f'{i}.yaml', i, 'roster.yaml', listen=f'127.0.0.1:{ports[i]}')
		Doctor('--config', f'{i}.yaml', status=None).says('warn', 'own line', f'm{i} ({i}): other machines may be unable to reach {bad[i]}:{ports[i]}, which {flaw}; correct')
	lines[4] = lines[4].replace(bad[4], f'{bad[4]}:{ports[4]},192.0.2.4') # one of two is good
	Path('roster.yaml').write_text(''.join(lines.values()))
	Doctor('--config', '4.yaml', status=None).says('ok', 'own line', 'm4 (4), 127.0.0.1:')
	for i in lines: # all on one machine
		lines[i] = re.sub(r'address: "[^"]*"', f'address: "127.0.0.1:{ports[i]}"', lines[i])
	Path('roster.yaml').write_text(''.join(lines.values()))
	Doctor('--config', '4.yaml', status=1).says('ok', 'own line', 'm4 (4), 127.0.0.1:').says('FAIL', 'peer m2 (2)', 'connection refused', 'start its learner')


def look_at_remedies(ports):
	"""Remedies that once were those of another fault."""
	Path('roster.yaml').write_text(''.join(keygen(i, f'127.0.0.1:{ports[i]}') for i in (1, 2, 3)))
	configure('config.yaml', 1, 'roster.yaml')
	learner = start('config.yaml', 'log')
	expect('the learner answers', lambda: 'ok    learner' in Doctor('--config', 'config.yaml', status=None).said or 'warn  learner: runs' in Doctor('--config', 'config.yaml', status=None).said)
	configure('other.yaml', 2, 'roster.yaml', control='m1/state/control.sock')
	expect('the doctor of another learner', lambda: 'FAIL  learner: m1/state/control.sock is the socket of another one, m1; set' in Doctor('--config', 'other.yaml', status=1).said)
	learner.send_signal(signal.SIGSTOP) # its port is that of no other program
	doctor = Doctor('--config', 'config.yaml', status=1)
	doctor.says('warn', 'learner', 'does not answer', 'kill -CONT').says('ok', 'address', 'held by the running learner')
	learner.send_signal(signal.SIGCONT)
	end(learner)
	Doctor('--config', 'config.yaml', status=1).says('ok', 'address', 'free').silent('FAIL', 'start')
	records = Path('m1/state/learner.db').rename('m1/learner.db')
	Doctor('--config', 'config.yaml', status=1).says('FAIL', 'start: ', 'state/learner.db: is gone', 'move the state folder away')
	records.rename('m1/state/learner.db')
	Path('alone').mkdir()
	shutil.copy(STARLING, 'alone/starling')
	Path('alone/python').symlink_to(Path(STARLING).parent / 'python')
	Path('alone/starlingd').write_text('#!/bin/sh\nkill -SEGV $$\n')
	Path('alone/starlingd').chmod(0o700)
	said = subprocess.run(['alone/starling', 'doctor', '--config', 'config.yaml'], capture_output=True, text=True, timeout=PATIENCE).stdout
	assert f'FAIL  start: starlingd --check has ended with status -{signal.SIGSEGV:d}\n' in said, said
	ahead = time.time() + 86400
	os.utime('roster.yaml', (ahead, ahead))
	Doctor('--config', 'config.yaml', status=1).says('FAIL', 'clock', 'before the date of', 'if it is right, touch that file')
	Path('roster.yaml').touch()
	Doctor('--config', 'config.yaml', status=1).says('ok', 'clock')
	# A certificate that was made while the clock was ahead. The remedy is done as it is said.
	made = Path('m1/identity/cert.pem').read_text().split('-----')
	der = bytearray(base64.b64decode(made[2]))
	at = der.index(b'\x17\x0d') + 2
	der[at:at + 2] = b'49'
	Path('m1/identity/cert.pem').write_text('-----'.join([*made[:2], '\n' + base64.encodebytes(der).decode(), *made[3:]]))
	remedy = f"if it is right, rm {os.path.abspath('m1/identity')}/cert.pem && starling keygen --dir {os.path.abspath('m1/identity')}"
	Doctor('--config', 'config.yaml', status=1).says('FAIL', 'clock', 'before the date of the certificate', remedy)
	Path('m1/identity/cert.pem').unlink()
	run('keygen', '--dir', 'm1/identity')
	Doctor('--config', 'config.yaml', status=1).says('ok', 'clock')
	for listen, said, result in (('192.0.2.1:7400', "Cannot assign requested address; set 'listen' to an address of this machine, such as 0.0.0.0:PORT", 'FAIL'),
			('no.such.host.invalid:7400', "; correct the name, or set 'listen'", 'FAIL'), (f'0.0.0.0:{ports[1]}', 'free', 'ok')):
		configure('listen.yaml', 1, 'roster.yaml', listen=listen)
		Doctor('--config', 'listen.yaml', status=1).says(result, 'address', said)
	Path('a b').mkdir()
	configure('a b/config.yaml', 1, 'roster.yaml')
	Path('a b/admin.key').write_text('x')
	os.chmod('a b/admin.key', 0o640)
	Doctor('--config', 'a b/config.yaml', status=1).says('FAIL', 'admin key', 'mode 0640', "run chmod 600 'a b/admin.key'")
	os.chmod('a b/admin.key', 0o600)
	Doctor('--config', 'a b/config.yaml', status=1).says('FAIL', 'admin key', 'admin.key: not the key of an admin', 'put back a copy')
	Path('a b/admin.key').write_text(f'ed25519:{"5a" * 32}\n')
	Doctor('--config', 'a b/config.yaml', status=1).silent('FAIL', 'admin key')
	Path('a b/admin.key').unlink()
	Doctor('--config', 'a b/config.yaml', status=1).silent('FAIL', 'admin key')
	certificate = Path('m1/identity/cert.pem')
	certificate.write_text(certificate.read_text()[:200])
	said = f"holds no certificate; the key is there, so make the certificate again: starling keygen --dir {os.path.abspath('m1/identity')}"
	Doctor('--config', 'config.yaml', status=1).says('FAIL', 'key', said)
	assert 'The certificate is made again' in run('keygen', '--dir', os.path.abspath('m1/identity'))
	Doctor('--config', 'config.yaml', status=1).says('ok', 'key')
	certificate.unlink()
	Doctor('--config', 'config.yaml', status=1).says('FAIL', 'key', 'No such file', 'make the certificate again')
	certificate.mkdir()
	said = Doctor('--config', 'config.yaml', status=1).says('FAIL', 'key').said # which says nothing of a remedy
	assert 'cert.pem: Is a directory\n' in said, said
	certificate.rmdir()
	run('keygen', '--dir', 'm1/identity')
	shutil.copy('m2/identity/cert.pem', certificate)
	said = Doctor('--config', 'config.yaml', status=1).says('FAIL', 'key').said
	assert "move it elsewhere, then 'starling keygen --dir' makes one for that key\n" in said, said
	certificate.unlink()
	run('keygen', '--dir', 'm1/identity')
	Path('m1/state/checkpoints').mkdir(exist_ok=True)
	os.symlink('round-0000003.safetensors', 'm1/state/checkpoints/latest.safetensors')
	configure('ended.yaml', 1, 'roster.yaml', rounds=3)
	Doctor('--config', 'ended.yaml', status=0).says('ok', 'learner', 'it has finished').says('warn', 'peer m2 (2)', 'does not run; this learner has committed all rounds, and cannot tell', "'starling doctor' there")
	configure('ended.yaml', 1, 'roster.yaml', rounds=4)
	Doctor('--config', 'ended.yaml', status=1).says('FAIL', 'peer m2 (2)', 'connection refused')
	Path('m1/state/checkpoints/latest.safetensors').unlink()
	kept = Path('m1/identity').rename('m1/kept')
	Doctor('--config', 'config.yaml', status=1).says('FAIL', 'key', 'No such file', 'make a new key with')
	run('group', 'create', 'ward', '--learner', 'a', '--address', f'127.0.0.1:{ports[4]}', '--folder', 'ga')
	Path('ga/identity').rename('ga/kept')
	Doctor('ga', status=1).says('FAIL', 'key', 'No such file', 'restore its folder from its newest backup, or have this learner removed, move the folder')
	keygen(9, '127.0.0.1:9', 'ga/identity')
	Doctor('ga', status=1).says('FAIL', 'key', 'the roster sha256:', 'restore its folder')
	shutil.rmtree('ga/identity')
	Path('ga/kept').rename('ga/identity')
	Doctor('ga', status=None).says('ok', 'key')
	kept.rename('m1/identity')
	if os.geteuid() == 0: # as another user
		for path in ('roster.yaml', 'config.yaml'):
			os.chmod('.', 0o755)
			os.chmod(path, 0o600)
			done = subprocess.run(['setpriv', '--reuid', 'nobody', '--clear-groups', STARLING, 'doctor', '--config', 'config.yaml'], capture_output=True, text=True)
			assert 'Permission denied; run this command as the user of the learner, or as root' in done.stdout, done


def join(name, port, invitation):
	run('join', '-', '--name', name, '--address', f'127.0.0.1:{port}', '--folder', f'g{name}', text=invitation)


def becomes(what, *line):
	"""Wait until the doctor of b says this. A learner that takes another roster starts again, and cannot be reached for a moment."""
	def says():
		try:
			return Doctor('--folder', 'gb', status=None).says(*line)
		except AssertionError:
			return None
	return expect(what, says)


def look_at_group(ports):
	"""A group: a peer is asked as by a learner that joins, so that no link is disturbed."""
	invitation = run('group', 'create', 'ward', '--learner', 'a', '--address', f'127.0.0.1:{ports[3]}', '--folder', 'ga', '--set', 'trainer=noise',
		'--set', 'noise_parameters=10', '--members', '4', '--auto-admit', '2').splitlines()[0]
	first = start('ga/starlingd.yaml', 'ga.log')
	expect('the first learner listens', lambda: listens(ports[3]))
	join('b', ports[4], invitation)
	roster_of_two = Path('ga/roster.yaml').read_bytes()
	becomes('the roster of two', 'ok', 'peer a (1)', 'answers; the group is forming').says('ok', 'roster', 'group ward, version 2')
	join('c', ports[5], invitation)
	becomes('the roster of three', 'warn', 'peer a (1)', 'it has version 3 of the roster, this machine 2', 'wait for the next round')
	run('group', 'remove', 'b', '--folder', 'ga')
	becomes('the roster without it', 'FAIL', 'peer a (1)', 'not a member', 'join again')
	end(first)
	kept = Path('gb/roster.yaml').read_bytes()
	shutil.copy('ga/roster.yaml', 'gb/roster.yaml')
	Doctor('--folder', 'gb', status=1).says('FAIL', 'own line', 'has no learner 2', 'join with a new invitation')
	Path('gb/roster.yaml').write_bytes(kept)
	Path('gb/mdns.yaml').write_text(Path('gb/starlingd.yaml').read_text() + 'discover: mdns\n')
	if not os.path.exists('/run/avahi-daemon/pid'):
		Doctor('--config', 'gb/mdns.yaml', status=1).says('warn', 'discovery', 'needs avahi-daemon', 'apt install')

	first, third = Asked(ports[3], 'ga/identity'), Asked(ports[5], 'gc/identity')
	shutil.copy('gc/roster.yaml', 'gb/roster.yaml') # the version of three
	first.verdict = 'other group'
	Doctor('--folder', 'gb', status=1).says('FAIL', 'peer a (1)', 'other group', 'start the one of this group').says('ok', 'peer c (3)', 'answers')
	first.verdict = 'later'
	Doctor('--folder', 'gb', status=0).says('warn', 'peer a (1)', 'cannot answer now', 'see its log')
	first.verdict, first.roster = 'admitted', roster_of_two
	Doctor('--folder', 'gb', status=0).says('warn', 'peer a (1)', 'version 2 of the roster, this machine 3')
	first.roster = roster_of_two.replace(b'ward', b'dark')
	Doctor('--folder', 'gb', status=1).says('FAIL', 'peer a (1)', 'its roster does not fit', 'ask the admin')
	first.roster = b''

	# Clocks: one that is off is that of the peer; if most are, it is that of this machine.
	first.ahead = 3650  # what the answer takes may be a second less
	Doctor('--folder', 'gb', status=0).says('ok', 'clock').says('warn', 'peer a (1)', 'its clock is 36', 's ahead of', 'timedatectl').says('ok', 'peer c')
	first.ahead = 200
	Doctor('--folder', 'gb', status=0).silent('warn', 'peer')
	first.ahead = -40 * 365 * 86400 - 3600
	Doctor('--folder', 'gb', status=0).says('warn', 'peer a (1)', 'its clock is 40 years behind')
	first.ahead = third.ahead = 10 * 365 * 86400 + 3600  # not at the end of a year: the test takes time
	doctor = Doctor('--folder', 'gb', status=1).says('FAIL', 'clock', '10 years behind those of 2 of the 2 peers', 'timedatectl').silent('warn', 'peer')
	doctor.says('ok', 'peer a (1)', 'answers')
	ahead = time.time() + 86400
	os.utime('gb/roster.yaml', (ahead, ahead))
	Doctor('--folder', 'gb', status=1).says('FAIL', 'clock', 'before the date of').silent('warn', 'peer')


def main():
	case = {'here': look_here, 'peers': look_at_peers, 'links': look_at_links, 'addresses': look_at_addresses, 'remedies': look_at_remedies, 'group': look_at_group}[sys.argv[3]]
	before = Path.cwd()
	with tempfile.TemporaryDirectory(prefix='starling-test-') as folder:
		os.chdir(folder)
		try:
			case(free_ports(16))
		finally:
			for process in running:
				if process.poll() is None:
					end(process)
			os.chdir(before)
	return 0


sys.exit(main())
