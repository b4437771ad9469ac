"""`starling watch` of learners that are asked over HTTP: watch.py STARLING."""
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / 'lib'))
from patience import PATIENCE, expect
from ports import free_ports

TOKEN = '0123456789abcdef0123456789abcdef'
LEARNERS = 3


class Watch:
	"""A `starling watch` with the lines that it writes."""

	def __init__(self, command):
		self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
		self.lines = []
		threading.Thread(target=lambda: self.lines.extend(iter(self.process.stderr.readline, '')), daemon=True).start()
		self.page = self.process.stdout.readline().split('?')[0].strip()
		assert self.page.startswith('http://127.0.0.1:'), (self.page, self.lines)

	def ask(self, path):
		return urllib.request.urlopen(urllib.request.Request(self.page + path, headers={'Authorization': f'Bearer {TOKEN}'}), timeout=PATIENCE)

	def documents(self):
		"""Yield the documents of rounds as the page gets them."""
		event = ''
		for line in self.ask('events'):
			if line.startswith(b'event: '):
				event = line.decode().split()[1]
			elif line.startswith(b'data: ') and event == 'round':
				yield json.loads(line.removeprefix(b'data: '))['document']

	def expect_line(self, text):
		expect(f'a line with {text} in {self.lines}', lambda: any(text in line for line in self.lines))

	def close(self):
		self.process.send_signal(signal.SIGINT)
		assert self.process.wait(PATIENCE) == 0, self.lines


def whole(document):
	"""Return true if all learners have committed the round, and its links are known."""
	of_round = document['learners_of_round']
	return len(of_round) == LEARNERS and all(one.get('committed_s') for one in of_round) and document['attempts'][-1].get('edges')


def check_refused(starling, urls, token, other, page):
	"""What cannot be watched ends with one line that has the remedy."""
	where = urls[0].removeprefix('http://')
	cases = ((urls, 'needs a token; give --token-file'),
		(['--token-file', other, *urls], 'does not accept the token; --token-file needs the one in its setting http_token_file'),
		(['--token-file', token, page], 'no Starling daemon answers there; give the address in its setting http'),
		([where], f"'{where}' is not the address of a learner; expected http://HOST:PORT"),
		([urls[0] + '/metrics'], 'is not the address of a learner'),
		(['ftp://127.0.0.1'], 'is not the address of a learner'),
		([f'{urls[0]}?token={TOKEN}'], 'give the token by --token-file'),
		([f'{urls[0]}/#{TOKEN}'], 'give the token by --token-file'),
		([*urls, urls[0]], f'{urls[0]} is given twice'),
		(['http://192.0.2.1:9464'], 'a learner on another machine needs a token: give --token-file'),
		(['/tmp', urls[0]], "'/tmp' is not an address"))
	for arguments, text in cases:
		done = subprocess.run([starling, 'watch', *arguments], capture_output=True, text=True, timeout=PATIENCE)
		assert done.returncode == 2 and text in done.stderr and done.stderr.count('\n') == 1, (arguments, done)
		assert TOKEN not in done.stderr


def check(starling, run, urls, token, other):
	watch = Watch([starling, 'watch', '--token-file', token, *urls])
	try:
		seen = next(document for document in watch.documents() if whole(document))
		assert {one['name'] for one in seen['learners']} == {f'learner-0{i + 1}' for i in range(LEARNERS)}
		log = json.load(watch.ask(f'log?learner=2&round={seen["round"]}'))
		assert {'training', 'committed'} <= {record['event'] for record in log}, log
		check_refused(starling, urls, token, other, watch.page)
		assert watch.lines == []
		status = json.loads(subprocess.run([starling, 'status', '--json', run], capture_output=True, text=True).stdout)
		os.kill(status['learners'][1]['status']['pid'], signal.SIGKILL)  # the launcher starts it again
		watch.expect_line(f'learner-02, {urls[1]}: has closed the connection; trying again')
		watch.expect_line(f'learner-02, {urls[1]}: is back')
		after = next(document for document in watch.documents() if whole(document) and document['round'] > seen['round'] + 1)
		assert after['attempts'], after
	finally:
		watch.close()


def check_absent(starling, url):
	"""A learner that does not run is waited for."""
	watch = Watch([starling, 'watch', url])
	watch.expect_line(f'{url}: cannot be reached (')
	watch.close()
	assert len(watch.lines) == 1, watch.lines


def check_once(starling):
	"""A learner sends its last records again on each connection; each is taken once."""
	record = '"v":1,"level":"info","learner":1,"name":"\\u001b[2Ja","event":"phase","phase":"TRAIN","round":7,"attempt":1,"text":"t"'
	lines = ''.join(f'data: {{"time":"2026-11-23T01:00:0{i}.000Z","mono_ms":{i},{record}}}\n\n' for i in range(3))
	with socket.create_server(('127.0.0.1', 0)) as server:
		def serve():
			for sent in ('', lines[:lines.rindex('data')], lines, lines):
				with server.accept()[0] as one:
					one.recv(4096)
					one.sendall(f'HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n{sent}'.encode())
		learner = threading.Thread(target=serve, daemon=True)
		learner.start()
		watch = Watch([starling, 'watch', f'http://127.0.0.1:{server.getsockname()[1]}'])
		learner.join(PATIENCE)
		expect('three records', lambda: len(json.load(watch.ask('log?learner=1&round=7'))) == 3)
		watch.expect_line('?[2Ja, http')
		watch.close()
		assert not any('\x1b' in line for line in watch.lines), watch.lines


class Liar:
	"""A server that sends `answer` to each connection and closes it; without an answer it leaves it open."""

	def __init__(self, answer):
		self.socket = socket.create_server(('127.0.0.1', 0))
		self.url = f'http://127.0.0.1:{self.socket.getsockname()[1]}'
		self.answer, self.kept = answer, []
		threading.Thread(target=self.serve, daemon=True).start()

	def serve(self):
		while True:
			connection = self.socket.accept()[0]
			connection.recv(65536)
			connection.sendall(self.answer)
			if self.answer:
				connection.close()
			else:
				self.kept.append(connection)


def check_silent(starling):
	"""A learner that accepts and does not answer is named."""
	liar = Liar(b'')
	watch = Watch([starling, 'watch', liar.url])
	watch.expect_line(f'{liar.url}: does not answer; waiting for it')
	watch.close()


def check_flapping(starling):
	"""A learner that sends a record and closes, again and again, is asked less and less often."""
	record = b'data: {"v":1,"learner":1,"name":"ana","time":"2026-01-01T00:00:00.000Z","event":"phase"}\n\n'
	liar = Liar(b'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n' + record)
	watch = Watch([starling, 'watch', liar.url])
	watch.expect_line('has closed the connection; trying again')
	time.sleep(4)
	watch.close()
	assert len(watch.lines) <= 12, watch.lines


def secret(path, text):
	path.touch(0o600)
	path.write_text(text + '\n')
	return str(path)


def main(starling):
	port = free_ports(LEARNERS + 1)[0]
	with tempfile.TemporaryDirectory(prefix='starling-test-') as folder:
		token, other = secret(Path(folder) / 'token', TOKEN), secret(Path(folder) / 'other', TOKEN[::-1])
		run = str(Path(folder) / 'run')
		launcher = subprocess.Popen([starling, 'launch', '-n', str(LEARNERS), '--rounds', '1000000', '--http', str(port), '--run-dir', run,
			'--set', 'hidden_units=1', '--set', f'http_token_file={token}'], stdout=subprocess.DEVNULL)
		try:
			expect('a round', lambda: launcher.poll() is not None or Path(run, 'progress.txt').exists())
			check(starling, run, [f'http://127.0.0.1:{port + i}' for i in range(LEARNERS)], token, other)
			check_absent(starling, f'http://127.0.0.1:{port + LEARNERS}')
			check_once(starling)
			check_silent(starling)
			check_flapping(starling)
		finally:
			launcher.send_signal(signal.SIGINT)
			launcher.wait(PATIENCE)


main(*sys.argv[1:])
