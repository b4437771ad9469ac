"""The parts of the live page and the report: requests over sockets, streams, figures, logs, files. web_units.py PYTHON-FOLDER"""
import asyncio
import contextlib
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv.pop(1))
sys.path.append(str(Path(__file__).resolve().parents[1] / 'lib'))
from patience import PATIENCE  # noqa: E402
from starling_timeline import logs  # noqa: E402
from starling_timeline.logs import Logs  # noqa: E402
from starling_timeline.timeline import Timeline  # noqa: E402
from starling_timeline.values import rounded  # noqa: E402
from starling_web import follow, live, report, rows, server, sources  # noqa: E402

SECRET = '0123456789abcdef0123456789abcdef'
HEADERS = (b"Content-Security-Policy: default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; script-src 'self'",
	b'X-Content-Type-Options: nosniff', b'X-Frame-Options: DENY', b'Referrer-Policy: no-referrer', b'Cross-Origin-Resource-Policy: same-origin',
	b'Cross-Origin-Opener-Policy: same-origin', b'Cache-Control: no-store')
REQUESTS = (  # token, request ('|' ends a line), status, whether it is served
	(None, 'GET /hello HTTP/1.1|Host: localhost', 200, True),
	(None, 'GET /hello?name=ana HTTP/1.1|Host: localhost:80', 200, True),
	(None, 'HEAD /hello HTTP/1.1|Host: localhost', 200, True),
	(None, 'HEAD /events HTTP/1.1|Host: localhost', 200, True),
	(None, 'GET / HTTP/1.1|Host: localhost', 404, True),
	(None, 'GET /../../etc/passwd HTTP/1.1|Host: localhost', 404, True),
	(None, 'GET /hello|Host: localhost', 400, False),
	(None, 'GET  /hello HTTP/1.1|Host: localhost', 400, False),
	(None, 'POST /hello HTTP/1.1|Host: localhost|Content-Length: 4', 405, False),
	(None, 'OPTIONS * HTTP/1.1|Host: localhost', 405, False),
	(None, 'GET /hello HTTP/1.1|Host: localhost|Content-Length: 4', 413, False),
	(None, 'GET /hello HTTP/1.1|Host: localhost|Transfer-Encoding: chunked', 413, False),
	# a name that its owner lets point here
	(None, 'GET /hello HTTP/1.1|Host: evil.example', 403, False),
	(None, 'GET /hello HTTP/1.1|Host: localhost.evil.example', 403, False),
	(None, 'GET /hello HTTP/1.1|Host: localhost|Host: evil.example', 403, False),
	(None, 'GET /hello HTTP/1.0', 403, False),
	# pages of others
	(None, 'GET /hello HTTP/1.1|Host: localhost|Origin: http://localhost', 200, True),
	(None, 'GET /hello HTTP/1.1|Host: localhost|Origin: http://evil.example', 403, False),
	(None, 'GET /hello HTTP/1.1|Host: localhost|Origin: null', 403, False),
	(SECRET, f'GET /hello?token={SECRET} HTTP/1.1|Host: ana|Origin: http://evil.example', 403, False),
	# the token
	(SECRET, 'GET /hello HTTP/1.1|Host: localhost', 401, False),
	(SECRET, f'GET /hello HTTP/1.1|Host: ana.example|Authorization: bearer {SECRET}', 200, True),
	(SECRET, f'GET /hello?token={SECRET} HTTP/1.1|Host: ana.example', 200, True),
	(SECRET, f'GET /hello HTTP/1.1|Host: localhost|Authorization: Bearer {SECRET}0', 401, False),
	(SECRET, 'GET /hello?token= HTTP/1.1|Host: localhost', 401, False),
	(SECRET, f'GET /hello?token={SECRET} HTTP/1.1|Host: a|Authorization: Bearer wrong', 401, False))
QUERIES = (('a&' * 15, 200), ('a&' * 16, 414), ('a=1&' * 16, 414), ('a&' * 5000, 414), ('x' * 4089, 200), ('x' * 4090, 414), ('x' * 20000, 414))


class Http(unittest.IsolatedAsyncioTestCase):
	"""A server whose /hello greets, and whose /events sends {} and then what is published."""

	async def asyncSetUp(self):
		self.served, self.tasks = [], []

	async def asyncTearDown(self):
		for task in self.tasks:
			task.cancel()
		await asyncio.gather(*self.tasks, return_exceptions=True)

	def open(self, token=None):
		async def serve(path, query):
			self.served.append(path)
			if path == '/events':
				return server.Stream(lambda stream: stream.send(server.event('first', '{}')))
			return server.Answer(200, query.get('name', 'world').encode()) if path == '/hello' else None
		one = server.Server('127.0.0.1:0', token, "script-src 'self'", serve)
		self.tasks.append(asyncio.ensure_future(one.accept()))
		self.port = int(one.url.rpartition(':')[2])
		return one

	async def dial(self, text, limit=2 ** 16):
		reader, writer = await asyncio.open_connection('127.0.0.1', self.port, limit=limit)
		self.addCleanup(writer.close)
		writer.write(text.encode())
		return reader, writer

	async def ask(self, request):
		reader, _ = await self.dial(request.replace('|', '\r\n') + '\r\n\r\n')
		return await asyncio.wait_for(reader.read(), PATIENCE)

	async def hear(self, reader, text):
		return await asyncio.wait_for(reader.readuntil(text), PATIENCE)

	async def hear_end(self, reader):
		with contextlib.suppress(ConnectionResetError):
			self.assertEqual(await asyncio.wait_for(reader.read(), PATIENCE), b'')

	async def until(self, condition, act=lambda: None):
		end = time.monotonic() + PATIENCE
		while not condition():
			self.assertLess(time.monotonic(), end)
			act()
			await asyncio.sleep(0.01)

	async def subscribe(self):
		reader, writer = await self.dial('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n', 1 << 21)
		head = await self.hear(reader, b'event: first\ndata: {}\n\n')
		self.assertIn(b'Content-Type: text/event-stream; charset=utf-8\r\n', head)
		return reader, writer, head

	async def test_requests(self):
		for token, request, status, served in REQUESTS:
			with self.subTest(request):
				self.served.clear()
				self.open(token)
				answer = await self.ask(request)
				self.assertRegex(answer, b'HTTP/1.1 %d ' % status)
				for header in HEADERS:
					self.assertIn(b'\r\n' + header + b'\r\n', answer)
				self.assertEqual(bool(self.served), served)

	async def test_bodies(self):
		self.open()
		self.assertTrue((await self.ask('GET /hello?name=a%20b HTTP/1.1|Host: localhost')).endswith(b'\r\nContent-Length: 3\r\n\r\na b'))
		self.assertTrue((await self.ask('HEAD /hello HTTP/1.1|Host: localhost')).endswith(b'\r\nContent-Length: 5\r\n\r\n'))
		self.assertIn(b'\r\nAllow: GET, HEAD\r\n', await self.ask('POST /hello HTTP/1.1|Host: localhost'))

	async def test_the_answer_to_a_request_with_a_body_arrives(self):
		self.open()
		answer = await self.ask('POST /hello HTTP/1.1|Host: localhost|Content-Length: 1000000||' + 'x' * 1000000)
		self.assertRegex(answer, b'HTTP/1.1 405 ')

	async def test_long_requests_are_refused(self):
		self.open()
		answer = await self.ask('GET /hello HTTP/1.1|Host: localhost|X: ' + 'x' * server.REQUEST_BYTES)
		self.assertRegex(answer, b'HTTP/1.1 431 ')
		for query, status in QUERIES:
			with self.subTest(query[:9]):
				self.assertRegex(await self.ask(f'GET /hello?{query} HTTP/1.1|Host: localhost'), b'HTTP/1.1 %d ' % status)
		self.assertEqual(len(self.served), 2)

	async def test_connections_are_limited(self):
		one = self.open()
		streams = [await self.subscribe() for _ in range(server.CONNECTIONS_MOST)]
		more, _ = await self.dial('GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n')  # accepted when another has ended
		one.publish(server.event('round', '{}'))
		for reader, _, _ in streams:
			await self.hear(reader, b'event: round\ndata: {}\n\n')
		self.assertNotIn('/hello', self.served)
		streams[5][1].close()
		await self.hear(more, b'world')

	async def test_closed_requests_give_room(self):
		self.open()
		for _ in range(2 * server.CONNECTIONS_MOST):
			(await self.dial('GET /hello HTTP/1.1\r\nHost: '))[1].close()
		self.assertRegex(await self.ask('GET /hello HTTP/1.1|Host: localhost'), b'HTTP/1.1 200 ')

	async def test_half_requests_leave_room(self):
		"""They stay open, and are within their time. Of one address, the oldest give way; of many, when all places are taken."""
		for name in 'HEAD_SECONDS', 'SECONDS':
			self.enterContext(mock.patch.object(server, name, 36000))
		one = self.open(SECRET)
		held = [await self.dial('GET /hello HTTP/1.1\r\nHost: ') for _ in range(server.CONNECTIONS_MOST)]
		self.assertRegex(await self.ask(f'GET /hello?token={SECRET} HTTP/1.1|Host: a'), b'HTTP/1.1 200 ')
		await self.hear_end(held[0][0])
		self.assertLessEqual(len(one.waiting), server.ADDRESS_MOST)
		with mock.patch.object(server, 'ADDRESS_MOST', server.CONNECTIONS_MOST):
			held += [await self.dial('GET /hello HTTP/1.1\r\nHost: ') for _ in range(server.CONNECTIONS_MOST)]
			self.assertRegex(await self.ask(f'GET /hello?token={SECRET} HTTP/1.1|Host: a'), b'HTTP/1.1 200 ')

	async def test_a_head_has_its_own_time(self):
		with mock.patch.object(server, 'HEAD_SECONDS', 0.2), mock.patch.object(server, 'SECONDS', 36000):
			self.open()
			reader, _ = await self.dial('GET /hello HTTP/1.1\r\nHost: ')
			await self.hear_end(reader)

	def test_places(self):
		for address, place in (('192.0.2.1', '192.0.2.1'), ('::ffff:192.0.2.1', '192.0.2.1'), ('2001:db8::1:2:3:4', '2001:db8::/64'),
			('fe80::1%eth0', 'fe80::/64')):
			self.assertEqual(server.place((address, 1)), place)

	async def test_slow_requests_are_cut(self):
		"""Bytes come all the time, but the request never ends. A stream has no such limit."""
		with mock.patch.object(server, 'SECONDS', 0.2):
			one = self.open()
			stream, _, _ = await self.subscribe()
			reader, writer = await self.dial('')
			ended = asyncio.ensure_future(reader.read())
			await self.until(ended.done, lambda: writer.write(b'G'))
			self.assertIn(type(ended.exception()), (ConnectionResetError, type(None)))
			one.publish(server.event('round', '{}'))
			await self.hear(stream, b'event: round\ndata: {}\n\n')

	async def test_streams(self):
		one = self.open()
		(a, closing, head), (b, _, _) = await self.subscribe(), await self.subscribe()
		for header in HEADERS:
			self.assertIn(b'\r\n' + header + b'\r\n', head)
		self.assertEqual(len(one.streams), 2)
		one.publish(server.event('round', '{"n":1}'))
		for reader in a, b:
			await self.hear(reader, b'event: round\ndata: {"n":1}\n\n')
		closing.close()
		await self.until(lambda: len(one.streams) == 1)
		one.publish(server.event('state', 'x'))
		await self.hear(b, b'event: state\ndata: x\n\n')

	async def test_idle_streams_get_comments(self):
		with mock.patch.object(server, 'BEAT_S', 0.05):
			self.open()
			reader, _, _ = await self.subscribe()
			await self.hear(reader, b':\n\n')
			await self.hear(reader, b':\n\n')

	async def test_clients_that_do_not_read_are_dropped(self):
		one, line, said = self.open(), server.event('round', 'x' * (1 << 20)), 0
		_, _, _ = await self.subscribe()
		quick, _, _ = await self.subscribe()
		while len(one.streams) == 2:
			self.assertLess(said, 64, 'MB are queued for a client')
			one.publish(line)
			said += 1
			await self.hear(quick, b'x\n\n')
		one.publish(server.event('state', 'still there'))
		await self.hear(quick, b'still there\n\n')

	async def test_a_client_that_reads_nothing_for_long_is_dropped(self):
		with mock.patch.object(server, 'SECONDS', 0.2), mock.patch.object(server, 'QUEUE_BYTES', 1 << 30):
			one = self.open()
			await self.subscribe()
			one.publish(server.event('round', 'x' * (64 << 20)))  # more than sockets take
			await self.until(lambda: not one.streams)

	async def test_addresses(self):
		for address, text in (('0.0.0.0:0', 'other machines can reach 0.0.0.0:0, which then needs a token: give --token-file, or listen on 127.0.0.1'),
				('9464', "'9464' is not an address; expected HOST:PORT or [IPV6]:PORT"), ('127.0.0.1:http', 'cannot listen on 127.0.0.1:http: '),
				('x..y:1', 'cannot listen on x..y:1: ')):
			with self.assertRaisesRegex(server.CommandError, re.escape(text)):
				server.listen(address, None)
		one = self.open()
		with self.assertRaisesRegex(server.CommandError, 'the port is in use by another program') as caught:
			server.listen(one.url[7:], None)
		self.assertEqual(caught.exception.status, 2)
		for address, token in (('0.0.0.0:0', SECRET), ('[::1]:0', None)):
			listening, _, url = server.listen(address, token)
			listening.close()
			self.assertEqual(url.rpartition(':')[0], 'http://' + address[:-2])

	def test_hosts(self):
		for header, own in (('localhost', True), ('LOCALHOST:1', True), ('127.0.0.1', True), ('127.1.2.3:99', True), ('[::1]', True),
				('[::1]:99', True), ('ana.example:99', True), ('', False), ('localhost.', False), ('128.0.0.1', False), ('[::2]', False),
				('127.0.0.1.evil', False), ('evil', False), ('evil:127', False), ('ana.example.x', False), ('127.0.0.1@evil', False)):
			self.assertEqual(server.is_own(header, 'ana.example'), own, header)
		for origin, host, same in (('http://a:1', 'A:1', True), ('https://a', 'a', True), ('http://a:1', 'a', False), ('ftp://a', 'a', False),
				('http://', 'a', False)):
			self.assertEqual(server.is_same(origin, host), same, origin)

	def test_tokens(self):
		with tempfile.TemporaryDirectory() as folder:
			path = Path(folder) / 'token'
			with self.assertRaises(server.CommandError) as caught:
				server.read_token(str(path))
			self.assertEqual(caught.exception.status, 1)
			for content, mode, good in ((SECRET + '\n', 0o600, True), (SECRET, 0o400, True), (SECRET + '\r\nmore', 0o600, True),
					('x' * 255, 0o600, True), ('x' * 256, 0o600, False), (SECRET, 0o640, False), ('0123456789abcde', 0o600, False),
					('', 0o600, False), ('0123456789 abcdefgh', 0o600, False), (SECRET + 'ä', 0o600, False)):
				path.unlink(missing_ok=True)
				path.write_text(content)
				path.chmod(mode)
				if good:
					self.assertEqual(server.read_token(str(path)), content.split()[0])
				else:
					with self.assertRaises(server.CommandError) as caught:
						server.read_token(str(path))
					self.assertNotIn(SECRET, str(caught.exception))


class Follow(unittest.IsolatedAsyncioTestCase):
	async def test_bodies_in_chunks(self):
		"""Lines do not depend on how they come; one that is too long is left out."""
		long = b'y' * (follow.LINE_BYTES_MOST + 1)
		for chunked, parts in ((True, (b'3\r\na\nb\r\n', b'2;x=1\r\nc\n\r\n', b'0\r\n\r\n')), (False, (b'a\nb', b'c\n')),
				(False, (b'a\n' + long, long + b'\nbc\n'))):
			reader = asyncio.StreamReader()
			for part in parts:
				reader.feed_data(part)
			reader.feed_eof()
			self.assertEqual([line async for line in follow.lines(reader, chunked)], [b'a', b'bc'])
		for wrong in (b'x\r\n', b'-1\r\n', b'ffffffff\r\n', b'5\r\nab'):
			reader = asyncio.StreamReader()
			reader.feed_data(wrong)
			reader.feed_eof()
			with self.assertRaises(EOFError):
				_ = [line async for line in follow.lines(reader, True)]

	async def test_addresses(self):
		for url, token, shown in (('http://127.0.0.1:9101', None, 'http://127.0.0.1:9101'), ('http://[::1]:1/records', None, 'http://[::1]:1'),
				('https://ana.example/', None, 'https://ana.example'), ('http://ana.example:1', SECRET, 'http://ana.example:1')):
			self.assertEqual(follow.Learner(url, token).shown, shown)
		for url in ('127.0.0.1:1', 'ftp://127.0.0.1', 'http://', 'http://[::1', 'http://127.0.0.1:x', 'http://127.0.0.1/metrics',
				'http://ana.example', 'http://127.0.0.1\r\nX:1', f'http://{SECRET}@127.0.0.1', f'http://127.0.0.1?token={SECRET}'):
			with self.assertRaises(server.CommandError) as caught:
				follow.Learner(url, None)
			self.assertNotIn(SECRET, str(caught.exception))


DOCUMENT = {'v': 1, 'round': 7, 'start': '2026-11-23T01:00:00Z', 'start_s': 10.0, 'end_s': 12.5,
	'learners': [{'id': 1, 'name': '=cmd'}, {'id': 2, 'name': 'b"o'}],
	'attempts': [{'attempt': 1, 'ended': 'failed'}, {'attempt': 2, 'participants': [1, 2], 'edges': [[1, 2]], 'mixing': 'forest', 'steps': 2,
		'tolerance': 0, 'cut_vertices': [1]}],
	'learners_of_round': [{'learner': 1, 'spans': [{'phase': 'train', 'from_s': 10, 'to_s': 11}, {'phase': 'mix', 'from_s': 11, 'to_s': None}],
		'waits': [{'from_s': 11, 'to_s': 11.5, 'awaited': [2]}], 'committed_s': 12, 'bytes_sent': 5}, {'learner': 2, 'bytes_sent': 7, 'loss': 0.5}],
	'loss': 0.5, 'same': True, 'slowest': {'learner': 2, 'phase': 'mix', 's': 1.5}}


def record(second, event, **fields):
	return json.dumps({'v': 1, 'time': f'2026-11-23T01:00:0{second}Z', 'mono_ms': second, 'level': 'info', 'learner': 1, 'name': 'a', 'event': event,
		'text': 't</script>', **fields}) + '\n'


LAST_BYTES = 200_000  # of the ends of long logs
# In a process of its own: prints by how much the memory has grown, in bytes.
REPORT_GROWTH = """import re, sys
sys.path.insert(0, sys.argv[1])
from starling_web import report
report.PARTS_MOST, report.DOCUMENTS_BYTES = 500, 500_000
peak = lambda: 1024 * int(re.search(r"VmHWM:\\s+([0-9]+)", open("/proc/self/status").read())[1])
before = peak()
assert report.write_anew(sys.argv[2])
print(peak() - before)"""


def make_logs(folder, rounds):
	"""Write the logs of two learners, five records in each round. The clock of one is behind."""
	for learner in 1, 2:
		(Path(folder) / f'learner-{learner}').mkdir()
		with open(f'{folder}/learner-{learner}/log.jsonl', 'w', encoding='utf-8') as out:
			for t in range(1, rounds + 1):
				at = f'2026-11-23T{t // 3600:02}:{t // 60 % 60:02}:{t % 60:02}'
				head = f'{{"v":1,"time":"{at}.%dZ","mono_ms":{1000 * t},"level":"info","learner":{learner},"name":"l{learner}","round":{t},"attempt":1'
				for place, rest in enumerate(('"event":"training"', '"event":"trained","train_s":0.1,"loss":0.5', '"event":"phase","phase":"AGREE"',
						f'"event":"view","view":"{t:08x}","participants":[1,2],"neighbours":[{3 - learner}],"edges":1,"mixing":"exact","steps":1',
						f'"event":"committed","digest":"{t:08x}","round_bytes_sent":10')):
					out.write(head % (200 + 150 * place - 100 * learner) + f',{rest},"text":"{"x" * 90}"}}\n')


class Report(unittest.TestCase):
	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.folder = folder.name

	def logs(self, *lines):
		(Path(self.folder) / 'log.jsonl').write_text(''.join(lines))
		logs = Logs([self.folder])
		self.addCleanup(logs.close)
		return logs

	def test_rows(self):
		row = rows.round_row(DOCUMENT)
		self.assertEqual(rows.line(row.values()), '7,"2026-11-23T01:00:00Z",2.5,2,2,1,"forest",2,0,1,12,0.5,,true,"b""o","mix",1.5\n')
		lines = rows.learner_lines(DOCUMENT).splitlines()
		self.assertTrue(lines[0].startswith('7,1,"\'=cmd",2.000000,0.500000,,5,,,,,1.000000,0.000000,'), lines)
		self.assertEqual(len(lines[1].split(',')), len(rows.LEARNERS_HEAD))

	def test_a_text_is_no_formula(self):
		for text in '=1', '+1', '-1', '@a':
			self.assertEqual(rows.line([text]), f'"\'{text}"\n')
		self.assertEqual(rows.line(['a=1', '', None, 0.1, False]), '"a=1","",,0.1,false\n')

	def test_a_text_has_no_control_characters(self):
		self.assertEqual(rows.line(['a\x1b[2J\r\nb', '\t=1', '\u202ec\x9b']), '"a?[2J??b","?=1","?c?"\n')
		named = {**DOCUMENT, 'learners': [{'id': 1, 'name': 'x\x1b]0;\x07\n=y'}]}
		self.assertRegex(rows.learner_lines(named), r'\A7,1,"x\?\]0;\?\?=y",')

	def test_log_of_a_learner(self):
		"""The log has the records of the round, and those between them without one."""
		logs = self.logs(record(1, 'phase', round=1), record(2, 'phase', round=2), record(3, 'listening'), record(4, 'phase', round=3))
		_ = list(logs.records())
		for learner, t, most, found in (1, 2, 9, 2), (1, 1, 9, 1), (1, 0, 9, 4), (1, 0, 3, 3), (2, 2, 9, 0), (1, 4, 9, 0):
			self.assertEqual(len(sources.excerpt(sources.Files(logs), learner, t, 'debug', most)), found)

	def test_the_log_leaves_out_lower_levels(self):
		logs = self.logs(record(1, 'phase', level='debug'), record(2, 'phase', round=2), record(3, 'phase', level='warn'))
		_ = list(logs.records())
		self.assertEqual([one['time'][-2] for one in sources.excerpt(sources.Files(logs), 1, 0, 'info', 9)], ['2', '3'])

	def test_rounds_of_a_configuration(self):
		self.assertEqual(report.rounds_of(self.folder), 0)
		(Path(self.folder) / 'roster.yaml').write_text('settings: {seed: "1", rounds: "20"}\nmembers:\n- {name: "rounds: 7"}\n')
		self.assertEqual(report.rounds_of(self.folder), 20)
		(Path(self.folder) / 'learner-01').mkdir()
		(Path(self.folder) / 'learner-01/config.yaml').write_text('# rounds: 1\nid: 1\nrounds: 30\n')
		self.assertEqual(report.rounds_of(self.folder), 30)

	def test_report(self):
		"""Text of a peer cannot end the element that the data stand in; the data are what was given. Nonsense ends no report."""
		logs = self.logs(record(1, 'phase', round=1, attempt=1, phase='TRAIN'), record(2, 'phase', round=(1 << 63) - 1),
			record(3, 'trained', round=1, attempt=1, train_s=float('inf')).replace('Infinity', '1e999'), record(4, 'evaluated', round=1, mse=float('nan')),
			record(5, 'phase', round=1, text='\ud800'), record(6, 'committed', round=1, metrics={'a': 0}, text=0).replace(': 0', ': ' + '[' * 900 + ']' * 900))
		timeline, source = Timeline(), sources.Files(logs)
		self.assertFalse(report.write(timeline, source, self.folder))
		for one in logs.records():
			timeline.take(one)
		self.assertTrue(report.write(timeline, source, self.folder))
		page = (Path(self.folder) / 'report.html').read_text()
		before, after, directives = live.page()
		self.assertTrue(page.startswith(before) and page.endswith(after) and "'self'" in directives)
		data = json.loads(page[len(before):page.index('</script>', len(before))], parse_constant=self.fail)
		self.assertEqual(data['log']['1'][0]['text'], 't</script>')
		self.assertIn("default-src 'none'", page)
		self.assertNotIn('unsafe-inline', page)
		self.assertEqual(len((Path(self.folder) / 'rounds.csv').read_text().splitlines()), 3)

	def test_a_report_that_cannot_be_written_leaves_no_part(self):
		logs = self.logs(record(1, 'phase', round=1, attempt=1, phase='TRAIN'))
		timeline = Timeline()
		for one in logs.records():
			timeline.take(one)
		(Path(self.folder) / 'rounds.csv').mkdir()
		with self.assertRaises(server.CommandError) as caught:
			report.write(timeline, sources.Files(logs), self.folder)
		self.assertEqual(caught.exception.status, 1)
		self.assertFalse([name for name in os.listdir(self.folder) if name.endswith('.new')])

	def test_earlier_rounds_are_in_the_charts_only(self):
		logs = self.logs(*(record(t, 'phase', round=t, attempt=1, phase='TRAIN') for t in range(1, 6)))
		timeline = Timeline()
		for one in logs.records():
			timeline.take(one)
		size = len(report.dumps(timeline.round(5), report.DIGITS))
		with mock.patch.object(report, 'DOCUMENTS_BYTES', 5 * size // 2):
			report.write(timeline, sources.Files(logs), self.folder)
		data = json.loads(re.search('>({"rounds":.*})</script>', (Path(self.folder) / 'report.html').read_text())[1])
		self.assertEqual(data['text'], 'report; rounds before 4 only in the charts')
		self.assertEqual([one['row']['round'] for one in data['rounds'] if 'document' in one], [4, 5])
		self.assertEqual([one['row']['round'] for one in data['rounds']], [1, 2, 3, 4, 5])


	def test_the_memory_of_a_report_is_bounded(self):
		make_logs(self.folder, 6000)
		size = sum(path.stat().st_size for path in Path(self.folder).glob('*/log.jsonl'))
		grown = int(subprocess.check_output([sys.executable, '-c', REPORT_GROWTH, sys.path[0], self.folder]))
		self.assertLess(grown, size / 2)
		lines = (Path(self.folder) / 'rounds.csv').read_text().splitlines()
		self.assertEqual([int(line.split(',')[0]) for line in lines[1:]], list(range(1, 6001)))
		self.assertEqual(len((Path(self.folder) / 'learners.csv').read_text().splitlines()), 12001)
		page = (Path(self.folder) / 'report.html').read_text()
		data = json.loads(re.search('>({"rounds":.*})</script>', page)[1])
		self.assertEqual([one['row']['round'] for one in data['rounds']], list(range(1, 6001)))
		self.assertRegex(data['text'], 'report; rounds before 5[0-9]* only in the charts')


class Pages(unittest.IsolatedAsyncioTestCase):
	async def test_a_new_page_gets_rows_and_the_last_documents(self):
		timeline, sent = Timeline(), []
		for t in range(1, 8):
			timeline.take(json.loads(record(t, 'phase', round=t, attempt=1, phase='TRAIN')))
		one = live.Live('127.0.0.1:0', None, timeline, follow.Follow([], None, timeline.take))
		self.addCleanup(one.server.socket.close)
		with mock.patch.object(live, 'ROUNDS_KEPT', 3), mock.patch.object(live, 'ROWS_KEPT', 5):
			stream = await one.serve('/events', {})
			stream.send = sent.append
			one.begin(stream)
		names, data = zip(*(re.fullmatch(b'event: (.*)\ndata: (.*)\n\n', event).groups() for event in sent))
		self.assertEqual(names, (b'state', b'rows', b'round', b'round', b'round'))
		self.assertEqual([row['row']['round'] for row in json.loads(data[1])], [3, 4, 5, 6, 7])
		self.assertEqual([json.loads(one)['document']['round'] for one in data[2:]], [5, 6, 7])
		self.assertEqual((await one.serve('/log', {'learner': '1', 'round': '0'})).status, 400)
		self.assertEqual((await one.serve('/log', {'learner': '1', 'round': '1'})).body, b'[]')
		self.assertIsNone(await one.serve('/other', {}))

	async def read_long(self, folder):
		"""Return a page of the long logs, with its first events, the lines read for them, and the reading of earlier rounds."""
		source = sources.Files(Logs([folder], follow=True, last=LAST_BYTES))
		timeline, sent = Timeline(), []
		one = live.Live('127.0.0.1:0', None, timeline, source)
		self.addCleanup(source.logs.close)
		self.addCleanup(one.server.socket.close)
		with mock.patch.object(logs, 'parse', side_effect=logs.parse) as parse:
			earlier = await one.begin_reading()
			stream = await one.serve('/events', {})
			stream.send = sent.append
			one.begin(stream)
		return one, sent, parse.call_count, earlier

	async def test_a_page_of_long_logs_does_not_wait_for_them(self):
		"""It shows the last rounds when the ends are read, and has all rows later, as if it had read everything first."""
		with tempfile.TemporaryDirectory() as folder:
			make_logs(folder, 3000)
			one, sent, lines, earlier = await self.read_long(folder)
			self.assertLess(lines, 2000)
			self.assertIn(b'reading earlier rounds', sent[0])
			self.assertEqual([json.loads(event.split(b'data: ')[1])['document']['round'] for event in sent[2:]], list(range(2951, 3001)))
			await earlier
			self.assertNotIn(b'reading earlier rounds', one.state())
			self.assertFalse(one.has_all())
			whole, all_logs = Timeline(), Logs([folder])
			for one_record in all_logs.records():
				whole.take(one_record)
			all_logs.close()
			await one.refresh_rows()
			self.assertEqual(rounded(one.rows, 6), rounded({t: rows.round_row(whole.round(t)) for t in range(1, 3001)}, 6))
			self.assertEqual(rounded(one.timeline.round(2999), 6), rounded(whole.round(2999), 6))

	async def test_a_page_reads_no_more_rounds_than_it_has_rows_of(self):
		with tempfile.TemporaryDirectory() as folder, mock.patch.object(live, 'ROWS_KEPT', 500), mock.patch.object(logs, 'SEARCH_BYTES', 4096), \
				mock.patch.object(live, 'PARTS_MOST', 200):
			make_logs(folder, 3000)
			one, _, _, earlier = await self.read_long(folder)
			with mock.patch.object(logs, 'parse', side_effect=logs.parse) as parse:
				await earlier
			self.assertLess(parse.call_count, 6000)
			await one.refresh_rows()
			self.assertEqual(sorted(one.rows), list(range(2501, 3001)))
			self.assertTrue(all(one.rows[t]['same'] and one.rows[t]['participants'] == 2 for t in one.rows))
			self.assertLessEqual(one.timeline.parts, 200)

	async def test_what_has_changed_is_sent_once_and_costs_little(self):
		"""Making documents takes at most 2 % of the time, and none are made without a page."""
		timeline, sent = Timeline(), []
		one = live.Live('127.0.0.1:0', None, timeline, follow.Follow([], None, timeline.take))
		self.addCleanup(one.server.socket.close)
		one.server.publish = sent.append
		timeline.take(json.loads(record(1, 'phase', round=1, attempt=1, phase='TRAIN')))
		clock, used = mock.Mock(return_value=100.0), mock.Mock(side_effect=itertools.count(0, 0.1))
		with mock.patch.object(live.time, 'monotonic', clock), mock.patch.object(live.time, 'thread_time', used):
			one.publish()
			self.assertEqual(sent, [])
			one.server.streams.add(None)
			for now, second, count in (100, 1, 1), (200, 1, 1), (200, 2, 2), (204, 3, 2), (206, 3, 3):
				clock.return_value = float(now)
				if second > len(sent):
					timeline.take(json.loads(record(second, 'phase', round=second, attempt=1, phase='TRAIN')))
				one.publish()
				self.assertEqual(len(sent), count, (now, second))


unittest.main()
