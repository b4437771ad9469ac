"""Readers in Python and bytes that nobody should send: files and replies are changed at random, the same way each time. No error of Python
reaches the user, an error is one line, and each change of an exported account is named. readers.py STARLING NAME [INPUTS]"""
import contextlib
import functools
import io
import json
import os
import random
import re
import socket
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'tools' / room) for room in ('verify', 'timeline', 'control', 'topology', 'python')] + [str(ROOT / 'test/verify')]
from starling_timeline import __main__ as logs  # noqa: E402
from starling_timeline import dp_audit  # noqa: E402

WORDS = (b'0', b'-1', b'1e999', b'1e-320', b'9' * 30, b'9' * 5000, b'NaN', b'Infinity', b'null', b'true', b'""', b'"\\ud800"', b'"\\u0000"', b'[', b'[' * 3000,
	b'{', b'}', b']', b'[]', b'{}', b',', b':', b'"', b"'", b'\n', b'\r', b'\0', b'\xff', b'\xc3', b'\x1b[2J', b' ', b'\t', b'#', b'1,5', b'0x10', b'1_0',
	'٣'.encode(), '\u202e'.encode())
NODES = (None, True, 0, -1, 1 << 31, (1 << 63) - 1, 1 << 64, 1e300, -0.5, '', 'x' * 3000, 'nan', '\n', [], [1], [[]], [None], {}, {'id': {}}, [{'id': 'x'}])
VALUE = re.compile(rb'(?<=[:,\[ ])(-?[0-9][0-9.e+-]*|"[^"]*"|true|false|null)')


def places(value):
	"""Yield each place of a JSON value: what has it, and its index or key."""
	for key in value if type(value) is dict else range(len(value)) if type(value) is list else ():
		yield value, key
		yield from places(value[key])


def other_node(draw, data):
	"""Return lines of JSON, of which one has another value somewhere; or what is no JSON as it is."""
	lines = data.split(b'\n')
	at = draw.randrange(len(lines))
	with contextlib.suppress(ValueError, RecursionError):
		value = json.loads(lines[at])
		found = list(places(value))
		if found:
			where, key = draw.choice(found)
			where[key] = draw.choice(NODES)
			lines[at] = json.dumps(value, separators=(',', ':')).encode()
	return b'\n'.join(lines)


def changed(draw, seed):
	"""Return the bytes with one to three changes."""
	data = bytearray(seed if draw.random() < 0.7 else other_node(draw, seed))
	for _ in range(draw.choice((1, 1, 1, 2, 3))):
		at = draw.randrange(len(data) + 1)
		end = min(len(data), at + draw.choice((0, 1, 1, 2, 8, 100)))
		kind = draw.randrange(7)
		if kind == 0 and at < len(data):
			data[at] ^= 1 << draw.randrange(8)
		elif kind == 1:
			data[at:end] = draw.randbytes(end - at)
		elif kind == 2:
			data[at:end] = draw.choice(WORDS)
		elif kind == 3:
			del data[at:end]
		elif kind == 4:  # bytes from elsewhere
			begin = draw.randrange(len(data) + 1)
			data[at:end] = data[begin:begin + draw.choice((1, 16, 300))]
		elif kind == 5:
			lines = bytes(data).splitlines(keepends=True)
			if lines:
				lines.insert(draw.randrange(len(lines) + 1), lines.pop(draw.randrange(len(lines))) if draw.random() < 0.5 else draw.choice(lines))
			data = bytearray(b''.join(lines))
		else:  # a value of another type
			found = list(VALUE.finditer(bytes(data)))
			if found:
				one = draw.choice(found)
				data[one.start():one.end()] = draw.choice(WORDS)
	return bytes(data)


def run(main, *arguments):
	"""Run a command; return its exit status and both outputs. An error of Python is that of the test."""
	out, err = (io.TextIOWrapper(io.BytesIO(), encoding='utf-8', errors='replace', write_through=True) for _ in range(2))
	with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
		try:
			status = main([str(one) for one in arguments])
		except SystemExit as end:
			status = end.code
	assert status in (0, 1, 2), status
	out, err = (one.buffer.getvalue().decode(errors='replace') for one in (out, err))
	assert '\x1b' not in out + err and 'Traceback' not in out + err, (out, err)
	return status, out, err


def one_line(status, err):
	assert err.count('\n') <= 1 and err.endswith('\n') == bool(err), err


def files(draw, seeds, inputs, look):
	"""Give `look` so many changed files."""
	with tempfile.TemporaryDirectory(prefix='starling-test-') as name:
		folder = Path(name)
		for number in range(inputs):
			seed = draw.choice(seeds)
			(folder / 'file').write_bytes(changed(draw, seed))
			try:
				look(folder / 'file', seed)
			except BaseException:
				Path(f'/tmp/starling-test-{draw.name}-{number}').write_bytes((folder / 'file').read_bytes())
				print(f'input {number}: /tmp/starling-test-{draw.name}-{number}', file=sys.stderr)
				raise


# ---- the account ----

def account(draw, inputs):
	"""Each change of an export is named, and each of the file from which it is made, but for what is lost at its end."""
	sys.argv[2:] = ['']
	import account_units as units
	from starling_verify import account, ed25519, roster as rosters
	from starling_verify import account_record as records
	account.verify = functools.lru_cache(1 << 16)(ed25519.verify)
	rosters.ask = functools.lru_cache(rosters.ask)
	with tempfile.TemporaryDirectory(prefix='starling-test-') as name:
		folder = Path(name)
		(folder / 'account').write_bytes(b''.join(map(records.pack, units.RECORDS)))
		roster = folder / 'roster.yaml'
		roster.write_text(units.roster_of(units.LEARNERS))
		exports = [run(account.main, 'export', folder, *more)[1].encode() for more in ((), ('--round', '1'), ('--round', '3'))]

		def verify(path, seed):
			status, out, err = run(account.main, 'verify', '-r', roster, path)
			one_line(status, err)
			assert (status == 0) == (path.read_bytes() == seed), (status, out, err)
			assert status == 0 or err or re.search(r'line \d+|the last line|is missing|records? ', out), out

		def export(path, seed):
			status, out, err = run(account.main, 'export', folder)
			lines = out.splitlines()[1:]
			if status == 0 and not err and lines != kept[:len(lines)]:
				(folder / 'export').write_text(out)
				assert run(account.main, 'verify', '-r', roster, folder / 'export')[0] != 0, out

		whole = folder / 'whole'
		kept = exports[0].decode().splitlines()[1:]
		for text in exports:
			whole.write_bytes(text)
			assert run(account.main, 'verify', '-r', roster, whole)[0] == 0
		files(draw, exports, inputs, verify)
		packed = (folder / 'account').read_bytes()

		def in_place(path, seed):
			(folder / 'account').write_bytes(path.read_bytes())
			export(path, seed)
		files(draw, [packed], inputs // 10, in_place)


# ---- replies of a learner ----

def peer(i, **more):
	return {'id': i, 'name': f'm{i}', 'link': 'up', 'path': 'direct', 'in_range': True, 'participant': True, 'neighbour': True, 'rtt_s': 0.02, 'rate': 2e6, 'unsent': 0,
		'left_out_until': None, 'two_places': None, 'other_run': False, 'round': 64, 'attempt': 1, 'state': 'ready', 'version': None, **more}


STATUS = {'ok': True, 'v': 1, 'id': 1, 'name': 'm1', 'run': 'run', 'version': '0.1.0', 'pid': 1, 'started_at': '2026-11-30T05:01:51Z', 'round': 64, 'rounds': 400, 'attempt': 1,
	'phase': 'READY', 'phase_s': 5.016, 'deadline_s': 59.5, 'overdue': True, 'progress': 0, 'waits_for': 'a digest', 'awaits': [2, 3], 'obstacle': 'too few', 'learners': 3,
	'neighbours': [2, 3], 'mixing': 'exact', 'steps': 1, 'tolerance': 1, 'atom': 3, 'dp': {'epsilon': 1.5, 'budget': 3.0, 'delta': 1e-6, 'charges': 4, 'guessed': 0}, 'rounded': 0,
	'committed': 63, 'last_commit': {'round': 63, 'at': '2026-11-30T05:01:55Z', 'digest': '6f' * 32, 'loss': 0.5, 'mse': None}, 'links': 2, 'bytes_sent': 222116,
	'bytes_received': 221795, 'round_bytes_sent': 2872, 'step': 64, 'metrics': {'loss': 0.5}, 'memory_bytes': 16977920, 'peak_bytes': 16977920,
	'last_problem': {'text': 'stalled', 'at': '2026-11-30T05:01:55Z'}, 'peers': [peer(2), peer(3, link='down', path=None, rtt_s=None, rate=None, two_places='h:1 and h:2')]}
REPLIES = [json.dumps(one, separators=(',', ':')).encode() + b'\n' for one in (STATUS, {'ok': False, 'v': 1, 'id': 1, 'name': 'm1', 'forming': True, 'error': 'the group is forming'},
	{'ok': False, 'error': 'no such request'})]


def replying(draw, inputs, look):
	"""Give `look` so many changed replies of a learner."""
	from starling_control import learners

	def dial(self):
		mine, other = socket.socketpair()
		mine.setblocking(False)
		with other:
			other.send(reply[:100000])
		return mine
	learners.Learner.dial = dial
	for number in range(inputs):
		reply = changed(draw, draw.choice(REPLIES))
		try:
			look()
		except BaseException:
			print(f'input {number}: {reply}', file=sys.stderr)
			raise


def status(draw, inputs):
	from starling_control import watch
	sys.argv[0] = 'starling status'
	replying(draw, inputs, lambda: run(watch.status, '--control', 'a.sock', *draw.choice(([], ['--json']))))


def doctor(draw, inputs):
	"""The learner of this machine says what it likes; the rest of the doctor is trusted."""
	from starling_control import doctor
	sys.argv[0] = 'starling doctor'
	doctor.Doctor.disk = lambda self: None
	facts = {'id': 1, 'state': '/tmp', 'control': 'control.sock', 'mdns': False, 'listen': None, 'all_addresses': False, 'learners': 3, 'paged_bytes': 1 << 28, 'disk': None,
		'roster': 'roster.yaml', 'identity': 'identity', 'token': '', 'made_at': 0, 'group': None, 'version': 0, 'proxy': '', 'proxy_error': '', 'forgetful': False,
		'self': {'name': 'm1', 'id': 1, 'address': 'h:1', 'dialled': 'h:1', 'flaw': None, 'key': 'k', 'pinned': 'k'}}
	machine = {'config': 'c', 'good': True, 'error': '', 'in_roster': False, 'facts': facts}
	doctor.command.ask = lambda name, **asked: json.dumps([] if name == 'peers' else machine)
	doctor._sysctl = lambda name: 'bbr' if 'control' in name else '4194304'
	replying(draw, inputs, lambda: run(doctor.doctor, *draw.choice(([], ['--json']))))


# ---- files ----

def log(draw, inputs):
	seeds = [path.read_bytes()[:4000] for path in sorted((ROOT / 'test/data/logs').glob('*.jsonl'))]
	seeds += [b'\n'.join(line for path in sorted((ROOT / 'test/data/runs/private').glob('*/log.jsonl')) for line in path.read_bytes().splitlines() if b'charged' in line or b'committed' in line)]

	def look(path, _):
		run(logs.main, path, *draw.choice(([], ['--round', '1'], ['--summary'], ['--json'])))
		run(dp_audit.main, path)
	files(draw, seeds, inputs, look)


def topology(draw, inputs):
	from starling_topology import __main__ as command
	command.say = lambda text: print(text, file=sys.stderr)
	edges = (b'a b\nb c\nc a\n', b"a b {'t': 1}\nb c {'t': 2.5}\nc d {'t': 2.5}\n", b'source,target,time\na,b,1\n"b","c",2\nc,a,2\n')
	moves = (b'0 0 0 10 5 5\n0 1 1 20 90 9\n', b'#3D\n0 0 0 1 10 5 5 1\n0 1 1 2 20 90 9 3\n',
		b'$node_(0) set X_ 1.0\n$node_(0) set Y_ 2.0\n$node_(1) set X_ 5.0\n$node_(1) set Y_ 7.0\n$ns_ at 2.0 "$node_(0) setdest 9.0 9.0 1.5"\n')

	def look(path, seed):
		options = ['--range', '50', '--steps', '20'] if seed in moves else ['--by', draw.choice(('t', 'time', '3'))] if draw.random() < 0.5 else []
		_, _, err = run(command.main, *options, path)
		assert len(err) < 2000, err
	files(draw, edges + moves, inputs, look)


def tables(draw, inputs):
	"""CSV files, as `starling stats` and `starling mean` read them."""
	import gzip
	try:
		from starling.stats import csv, sums
	except ImportError:
		print('skipped: no numpy')
		sys.exit(77)
	text = 'age;weight;sex\n41;70,5;f\n"50";1.080,25;m\n;NA;f\n33;"61,0";"m ""x"""\n'
	seeds = (text.encode(), text.encode('utf-16'), text.encode('latin-1'), gzip.compress(text.encode(), mtime=0), b'a,b\n1,2\n3,4\n', b'a\tb\n1\t2\n')

	def look(path, _):
		with contextlib.suppress(sums.InputError):
			found = csv.read(path)
			for name in found.names:
				with contextlib.suppress(sums.InputError):
					found.numbers(name)
				with contextlib.suppress(sums.InputError):
					found.words(name)
			found.preview(found.names[:3])
	files(draw, seeds, inputs, look)


INPUTS = {account: 20000, status: 6000, doctor: 6000, log: 1500, topology: 6000, tables: 6000}


def main():
	reader = {one.__name__: one for one in INPUTS}[sys.argv[2]]
	inputs = int(sys.argv[3]) if len(sys.argv) > 3 else INPUTS[reader]
	draw = random.Random(1)
	draw.name = reader.__name__
	reader(draw, inputs)
	print(f'{draw.name}: {inputs} inputs')
	return 0


if __name__ == '__main__':
	os.environ['COLUMNS'] = '80'
	sys.exit(main())
