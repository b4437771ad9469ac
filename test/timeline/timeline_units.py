"""Rounds out of log records: timeline_units.py. test/data/logs has a run of ana (1), bo (2) and eve (3) on the line ana - bo - eve. Round 1
needs two attempts, since eve is stopped; in round 2 ana trains for 4 s."""
import contextlib
import io
import json
import math
import os
import random
import re
import sys
import tempfile
import unittest
from itertools import combinations
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / 'tools/timeline'))
from starling_timeline import document, logs, rounds, stats, trace  # noqa: E402
from starling_timeline.command import guard  # noqa: E402
from starling_timeline.explain import Explanation  # noqa: E402
from starling_timeline.logs import Logs, CommandError  # noqa: E402
from starling_timeline.separators import separators  # noqa: E402
from starling_timeline.timeline import Timeline  # noqa: E402
from starling_timeline.values import date, dumps, moment, rounded  # noqa: E402
from starling_timeline.words import Names, clean, duration, fill  # noqa: E402

RUN = {name: [record for record in map(logs.parse, (SOURCE / f'test/data/logs/{name}.jsonl').read_bytes().splitlines()) if record]
	for name in ('ana', 'bo', 'eve')}


def feed(*names, backwards=False):
	"""Return a timeline of the logs of the run, one after the other; backwards: each backwards, and twice."""
	fed = Timeline()
	for name in names or RUN:
		for record in RUN[name][::-1] + RUN[name] if backwards else RUN[name]:
			fed.take(record)
	return fed


def record(learner, s, event, **fields):
	"""Return a record of the moment `s` seconds after 10:00."""
	return {'v': 1, 'time': date(moment('2026-11-23T10:00:00.000Z') + s), 'mono_ms': 1000.0 * s, 'level': 'info', 'learner': learner,
		'event': event, 'text': event, 'round': 1, **fields}


def start_ana(to, s):
	assert to.take({**record(1, s, 'listening', name='ana', incarnation=2), 'round': None})


def short(*lines):
	"""Return round 1 of records in short: LEARNER SECONDS EVENT [ATTEMPT PHASE [AWAITED WAITED_S]]; of a commit: LEARNER SECONDS committed
	ATTEMPT DIGEST 0 MARGIN."""
	fed = Timeline()
	for line in lines:
		learner, s, event, attempt, word, awaited, real = (line.split() + [None] * 4)[:7]
		fields = {'attempt': int(attempt)} if attempt else {}
		if event == 'view':
			fields.update(view=word, participants=[1, 2], neighbours=[3 - int(learner)], edges=1)
		elif event == 'committed' and word:
			fields.update(digest=word, margin=float(real))
		elif event == 'attempt_failed':
			fields['reason'] = word
		elif word:
			fields['phase'] = word
		if awaited and awaited != '0':
			fields.update({'for': 'to send', 'awaited': [int(awaited)], 'waited_s': float(real)})
		assert fed.take(record(int(learner), float(s), event, **fields))
	return fed.round(1)


class Rounds(unittest.TestCase):
	def expect(self, document, path, wanted):
		"""Expect that a part of a document is `wanted`, but for the fifth digit; `path` as "attempts.0.reason"."""
		for step in path.split('.'):
			document = document[int(step) if isinstance(document, list) else step]
		self.assertEqual(rounded(document, 4), wanted, path)

	def test_changes_are_counted_per_round(self):
		fed = Timeline()
		self.assertEqual(fed.version, 0)
		for one in RUN['ana']:
			self.assertTrue(fed.take(one))
		version = fed.version
		self.assertEqual(fed.changed_since(version, 0), 0)
		self.assertTrue(fed.take(RUN['ana'][-1]))  # of round 2
		self.assertEqual([fed.changed_since(*since) for since in ((version, 0), (version, 2), (0, 1))], [2, 0, 2])
		self.assertEqual([fed.round_before(t) for t in (1000000, 2, 1)], [3, 1, 0])
		self.assertIsNone(fed.round(4))
		self.assertFalse(fed.take({**RUN['ana'][0], 'v': 2}))

	def test_a_failed_privacy_check(self):
		fed = feed()
		fed.take(record(1, 0, 'exposed', level='warn', text='goes on', attempt=1))
		self.expect(fed.round(1), 'private', False)
		self.expect(fed.round(1), 'notes.0', {'learner': 1, 'level': 'warn', 'event': 'exposed', 'text': 'goes on'})

	def test_a_start_in_mid_run_is_told(self):
		"""The first start is none; the log has it at 10.010. A start after a commit is of the next round."""
		fed = feed()
		self.assertNotIn('restarts', fed.round(1)['learners_of_round'][0])
		for s in (1.470, 1.470, 13.452):
			start_ana(fed, s)
		self.expect(fed.round(1), 'learners_of_round.0.restarts', [{'at': '2026-11-23T10:00:01.470Z', 'at_s': 1.46, 'phase': 'share', 'attempt': 1}])
		self.expect(fed.round(2), 'learners_of_round.0.restarts', [{'at': '2026-11-23T10:00:13.452Z', 'at_s': 13.44, 'phase': None}])

	def test_a_failed_attempt_and_a_commit(self):
		fed = feed()
		fed.name('ward', 3)
		for path, wanted in {
			'run': 'ward', 'rounds': 3, 'learners.2': {'id': 3, 'name': 'eve'},
			'attempts.0.ended': 'failed', 'attempts.0.reason': 'no data came from eve (3) for 10 s',
			'attempts.0.cut_vertices': [2], 'attempts.0.bridges': [[1, 2], [2, 3]],
			'attempts.1.ended': 'committed', 'attempts.1.reason': None, 'attempts.1.edges': [[1, 2], [2, 3]],
			'attempts.1.mixing': 'forest', 'attempts.1.tolerance': 0, 'same': True, 'private': True, 'loss': 4.0,
			'slowest.learner': 3, 'slowest.phase': 'share', 'links': [{'a': 1, 'b': 2, 'bytes': 1900}, {'a': 2, 'b': 3, 'bytes': 1500}],
			'learners_of_round.0.spans.0': {'phase': 'train', 'attempt': 1, 'from_s': 0.09, 'to_s': 1.09},
			'learners_of_round.0.digest': '0123456789abcdef', 'learners_of_round.1.waits.0.awaited': [3],
			'learners_of_round.0.waits.0.for': 'to receive shares and deposits', 'end_s': 13.44, 'clock_gap': None}.items():
			self.expect(fed.round(1), path, wanted)
		for path, wanted in {'start': '2026-11-23T10:00:13.453Z', 'slowest.learner': 1, 'slowest.phase': 'train'}.items():
			self.expect(fed.round(2), path, wanted)

	def test_an_earlier_record_changes_all_rounds(self):
		"""Times are relative to the first record of the run."""
		fed = feed()
		version = fed.version
		start_ana(fed, -0.99)
		self.assertEqual(fed.changed_since(version, 0), 1)
		self.expect(fed.run(), 'start', '2026-11-23T09:59:59.010Z')
		self.expect(fed.round(1), 'end_s', 14.44)

	def test_a_bounded_timeline_keeps_the_last_rounds(self):
		fed, left = Timeline(), []
		fed.bound(80, 3, left.append)
		for t in range(1, 1001):
			for learner in (1, 2):
				self.assertTrue(fed.take(record(learner, 0, 'phase', phase='SHARE', round=t)))
		self.assertTrue(fed.take(record(1, 0, 'phase', phase='SHARE', round=1)))
		kept, t = [], 1001
		while fed.round_before(t):
			kept.append(t := fed.round_before(t))
		self.assertEqual(kept, list(range(1000, 960, -1)))
		self.assertEqual([(document['round'], len(document['learners_of_round'])) for document in left], [(t, 2) for t in range(1, 961)])

	def test_a_bounded_timeline_keeps_so_many_rounds_at_least(self):
		fed = Timeline()
		fed.bound(80, 3, lambda document: None)
		for t in range(1, 9):
			for learner in range(1, 101):
				fed.take(record(learner, 0, 'phase', phase='SHARE', round=t))
		self.assertEqual(fed.order, [6, 7, 8])

	def test_more_learners_than_a_roster_has(self):
		fed = Timeline()
		for learner in range(1, rounds.LEARNERS_MOST + 1):
			self.assertTrue(fed.take(record(learner, 0, 'phase', phase='SHARE')))
		self.assertFalse(fed.take(record(rounds.LEARNERS_MOST + 1, 0, 'phase', phase='SHARE')))
		self.assertTrue(fed.take(record(rounds.LEARNERS_MOST, 0, 'phase', phase='SHARE', round=2)))

	def test_the_lists_of_a_round_are_bounded(self):
		fed = Timeline()
		for i in range(3000):
			for event in ('phase', 'waiting', 'attempt_failed', 'view', 'listening'):
				fed.take(record(1, i, event, phase='SHARE', attempt=i + 1, view=str(i), waited_s=0, level='warn', text=str(i)))
		lanes, = fed.round(1)['learners_of_round']
		self.assertEqual(len(lanes['spans']), rounds.ENTRIES_MOST)
		self.assertEqual(len(lanes['waits']), rounds.WAITS_MOST)
		self.assertLessEqual(len(lanes['restarts']), rounds.STARTS_MOST)
		self.assertEqual(len(fed.rounds[1].attempts), rounds.ATTEMPTS_MOST)
		self.assertEqual(len(fed.round(1)['notes']), rounds.NOTES_MOST)
		self.assertEqual(len(fed.rounds[1].parts[1].failures), rounds.FAILURES_MOST)

	def test_fields_of_other_types(self):
		"""What a broken or hostile log has in place of a value is as if it were absent, or at most odd: nothing fails on it."""
		odd = [None, True, -1, 0, 0.5, 1e308, 1 << 70, 'x', 'SHARE', [], [1, 'x', None, -3], [[0, 1, 2], [1]], {'a': [1]}]
		draw = random.Random(1)
		names = sorted({name for name in RUN for one in RUN[name] for name in one} - {'v', 'learner', 'time'})
		for _ in range(60):
			fed = Timeline()
			for one in [one for name in RUN for one in RUN[name]]:
				fed.take({**one, **{name: draw.choice(odd) for name in draw.sample(names, draw.choice((0, 0, 1, 5)))}})
			for t in fed.order:
				document = json.loads(dumps(fed.round(t)))
				self.assertTrue(Explanation(document).lines(80))
			self.assertTrue(stats.lines(stats.of_timeline(fed)))
			trace.write(io.StringIO(), fed)

	def test_the_trace_of_a_log_with_an_absurd_wait(self):
		fed, out = Timeline(), io.StringIO()
		fed.take(record(1, 0, 'phase', phase='SHARE', attempt=1))
		fed.take(record(1, 0, 'waiting', phase='SHARE', waited_s=1e308))
		trace.write(out, fed)
		self.assertEqual([event['name'] for event in json.loads(out.getvalue())['traceEvents'] if event['ph'] == 'X'], ['share'])

	def test_the_order_of_records_does_not_matter(self):
		for t in (1, 2):
			self.assertEqual(feed().round(t), feed(backwards=True).round(t))

	def test_one_log_alone(self):
		"""A log of one learner tells of its own links only, so nothing is said of what separates the graph."""
		document = feed('eve').round(1)
		self.expect(document, 'attempts.1.edges', [[2, 3]])
		self.expect(document, 'attempts.1.edge_count', 2)
		self.assertNotIn('cut_vertices', document['attempts'][1])
		self.expect(document, 'links', [{'a': 2, 'b': 3, 'bytes': 1500}])

	def test_a_round_that_goes_on(self):
		"""An open attempt, phase or wait has no end, and the document names the awaited learners."""
		fed = Timeline()
		for one in [one for name in RUN for one in RUN[name]]:
			if moment(one.get('time')) < moment('2026-11-23T10:00:05.000Z'):
				fed.take(one)
		for path, wanted in {
			'end_s': None, 'same': None, 'private': None, 'attempts.0.ended': None, 'learners_of_round.1.spans.3.phase': 'share',
			'learners_of_round.1.spans.3.to_s': None, 'learners_of_round.1.waits.0.to_s': None, 'slowest.learner': 3}.items():
			self.expect(fed.round(1), path, wanted)

	def test_a_stopped_learner_receives_the_result(self):
		"""It ends the attempt late: neither changes when the attempt ended, nor leaves one open. It is the slowest, though no wait was logged."""
		document = short(
			'1 0 phase 1 AGREE', '2 0 phase 1 AGREE', '1 1 view 1 a', '2 1 view 1 a', '1 1 phase 1 SHARE', '2 1 phase 1 SHARE',
			'1 5 attempt_failed 1 lost', '1 5 phase 2 AGREE', '1 6 view 2 b', '1 6 phase 2 SHARE', '1 7 committed 2', '1 7 phase 2 TRAIN',
			'2 30 attempt_failed 1 aborted', '2 30 phase 3 DISCOVER', '2 31 phase 3 CATCHUP', '2 32 caught_up', '2 32 phase 4 TRAIN')
		for path, wanted in {
			'attempts.0.to_s': 5.0, 'attempts.0.reason': 'lost', 'attempts.1.ended': 'committed', 'attempts.1.to_s': 7.0,
			'attempts.2.ended': 'failed', 'attempts.2.reason': 'its learners received the result of the round from peers',
			'learners_of_round.1.adopted': True, 'learners_of_round.1.committed_s': 32.0,
			'slowest': {'learner': 2, 'phase': 'share', 's': 29.0}}.items():
			self.expect(document, path, wanted)
		self.assertEqual(len(document['attempts']), 3)

	def test_clocks_that_differ_are_told(self):
		"""The clock of 2 is 5 s ahead: it enters READY after 1 has left it, and CHECK likewise. A learner that goes on without all others
		shows nothing."""
		self.expect(short(
			'1 0 view 1 a', '2 5 view 1 a', '1 1 phase 1 READY', '2 6 phase 1 READY', '1 1.5 phase 1 RELEASE', '2 6.5 phase 1 RELEASE',
			'1 2 phase 1 CHECK', '2 7.9 phase 1 CHECK', '1 3 phase 1 CONFIRM', '2 8 phase 1 CONFIRM'),
			'clock_gap', {'ahead': 2, 'behind': 1, 's': 4.9})
		self.expect(short(
			'1 0 view 1 a', '2 1 view 1 a', '1 2 phase 1 CHECK', '1 3 phase 1 RECOVER', '1 4 phase 1 CONFIRM', '2 9 phase 1 CHECK',
			'2 9.5 phase 1 CONFIRM'), 'clock_gap', None)

	def test_what_causes_a_wait(self):
		"""2 is stopped from 0.4 s to 20 s, and then believes that it waited for 1. 3 waits for 1, which waits for 2 itself."""
		document = short(
			'1 0 phase 1 SHARE', '2 0 phase 1 SHARE', '3 0 phase 1 SHARE', '1 0.5 phase 1 READY', '3 0.6 phase 1 READY',
			'1 1.5 waiting 1 READY 2 1.0', '3 1.6 phase 1 RELEASE', '3 1.7 phase 1 MIX', '3 2.7 waiting 1 MIX 1 1.0',
			'2 20 waiting 1 SHARE 1 20', '2 20.1 phase 1 READY', '1 21 phase 1 RELEASE', '1 21.1 phase 1 MIX', '1 22 phase 1 CONFIRM',
			'3 22 phase 1 CONFIRM')
		self.expect(document, 'slowest', {'learner': 2, 'phase': 'share', 's': 20.1})
		waits = [lane['waits'][0] for lane in rounded(document, 4)['learners_of_round']]
		self.assertEqual([wait['causes'] for wait in waits], [[{'learner': 2, 's': 19.6}], [], [{'learner': 1, 's': 1.0}]])
		self.assertEqual([wait['stood_still'] for wait in waits], [False, True, False])

	def test_how_the_states_converge(self):
		"""The largest spread of all learners counts, of the last attempt."""
		fed = Timeline()
		for learner, attempt, spread in (
			(1, 1, [[0, 9e9, 9e9], [2, 9.0, 9.0], [4, 9.0, 9.0]]), (1, 2, [[0, 1e9, 2e9], [79, 0.25, 0.5]]),
			(2, 2, [[0, 1.5e9, 2e9], [40, 7.0, 8.0], [79, 0.125, 0.5]]), (3, 1, [[0, 8e9, 9e9]])):
			fed.take(record(learner, 0, 'mixed', attempt=attempt, spread=spread))
		self.expect(fed.round(1), 'spread', [{'step': 0, 'spread': 1.5e9, 'bound': 2e9}, {'step': 40, 'spread': 7.0, 'bound': 8.0},
			{'step': 79, 'spread': 0.25, 'bound': 0.5}])

	def test_what_is_spent(self):
		"""That after the last attempt that was charged counts, in whatever order records come; null is no bound."""
		fed = Timeline()
		for learner, attempt, epsilon in ((1, 2, 0.5), (1, 1, 0.25), (2, 1, None)):
			fed.take(record(learner, 0, 'charged', attempt=attempt, epsilon=epsilon, epsilon_unsampled=4, delta=1e-5, budget=2.0))
		fed.take(record(3, 0, 'training'))
		lanes = fed.round(1)['learners_of_round']
		self.assertEqual([lane.get('dp') for lane in lanes], [
			{'epsilon': 0.5, 'epsilon_unsampled': 4.0, 'delta': 1e-5, 'budget': 2.0},
			{'epsilon': None, 'epsilon_unsampled': 4.0, 'delta': 1e-5, 'budget': 2.0}, None])
		self.assertEqual([line for line in Explanation(fed.round(1)).sentences() if 'spent' in line], [
			'Privacy spent, of epsilon 2 at delta 1e-05: 0.500 (4.000 without sampling) by learner 1; without a bound (4.000 without sampling) by learner 2.'])

	def test_the_same_model(self):
		"""It is the same if all that committed have it, and no rounding was near a tie."""
		for lines, same in (
			(('1 0 phase 1 MIX', '2 0 phase 1 MIX'), None), (('1 1 committed 1 aa 0 0.1', '2 0 phase 1 MIX'), True),
			(('1 1 committed 1 aa 0 0.1', '2 1 committed 1 aa 0 0.1'), True), (('1 1 committed 1 aa 0 0.1', '2 1 committed 1 ab 0 0.1'), False),
			(('1 1 committed 1 aa 0 0.1', '2 1 committed 1 aa 0 0.4'), False)):
			self.assertIs(short(*lines)['same'], same, lines)

	def test_a_ring_has_no_cut_vertex(self):
		fed = Timeline()
		for one in (1, 2, 3, 4):
			fed.take(record(one, 1, 'view', attempt=1, view='a', participants=[1, 2, 3, 4], neighbours=[one % 4 + 1, (one + 2) % 4 + 1],
				edges=4, atom=3 if one == 2 else 4))
		for path, wanted in {'edges': [[1, 2], [1, 4], [2, 3], [3, 4]], 'atom': 3, 'cut_vertices': [], 'bridges': []}.items():
			self.expect(fed.round(1), f'attempts.0.{path}', wanted)

	def test_separators_of_random_graphs(self):
		"""A cut vertex, or a bridge, is what leaves more parts when it is taken away."""
		def parts(vertices, edges):
			part = {one: one for one in vertices}
			for a, b in edges:
				part = {one: part[a] if of == part[b] else of for one, of in part.items()}
			return len(set(part.values()))
		draw = random.Random(2)
		for _ in range(300):
			count = draw.randrange(1, 9)
			vertices = range(1, count + 1)
			edges = [edge for edge in combinations(vertices, 2) if draw.random() < draw.choice((0.2, 0.4))]
			whole = parts(vertices, edges)
			cuts = [one for one in vertices if parts([v for v in vertices if v != one], [e for e in edges if one not in e]) > whole]
			bridges = [list(edge) for edge in edges if parts(vertices, [e for e in edges if e != edge]) > whole]
			self.assertEqual(separators(vertices, edges), (cuts, bridges), edges)


class Files(unittest.TestCase):
	def setUp(self):
		folder = tempfile.TemporaryDirectory(prefix='starling-test-')
		self.addCleanup(folder.cleanup)
		self.folder = Path(folder.name)

	def write(self, name, *ms, end='\n', mode='a'):
		path = self.folder / name / 'log.jsonl'
		path.parent.mkdir(exist_ok=True)
		with open(path, mode) as file:
			file.write('\n'.join(json.dumps(record(7, one / 1000, 'phase', at=one)) for one in ms) + end)
		return path

	def open(self, **options):
		opened = Logs([str(self.folder)], **options)
		self.addCleanup(opened.close)
		return opened

	def test_many_logs_are_one_stream(self):
		"""The order within a file is kept, even where its clock went back."""
		self.write('a', 3, 1, 5)
		self.write('b', 2, 4)
		self.assertEqual([one['at'] for one in self.open().records()], [2, 3, 1, 4, 5])

	def test_a_log_grows_while_it_is_read(self):
		self.write('a', 1)
		opened = self.open(follow=True)
		self.assertEqual([one['at'] for one in opened.read_new()], [1])
		path = self.write('a', 2, end='')
		self.assertEqual(list(opened.read_new()), [])
		path.write_text(path.read_text() + '\n')  # its newline
		self.write('new', 3)
		self.assertEqual([one['at'] for one in opened.read_new()], [2, 3])
		os.rename(self.write('other', 4), path)
		self.assertEqual([one['at'] for one in opened.read_new()], [4])
		self.write('a', 5, mode='w')  # shorter
		path.write_text(path.read_text()[:-1].replace(' ', '') + '\n')
		self.assertEqual([one['at'] for one in opened.read_new()], [5])

	def test_lines_that_are_left_out(self):
		path = self.write('a', 1)
		with open(path, 'ab') as file:
			for line in (b'x', b'{"v":1}', b'[1]', b'\xff', b'{"v":2,"time":"2026-11-23T10:00:00Z"}',
				b'{"v":1,"time":"2026-11-23T10:00:00Z","text":"' + b'y' * (3 << 20) + b'"}', b'z' * 100):
				file.write(line + b'\n')
		self.write('a', 2, end='')
		opened = self.open()
		self.assertEqual([one['at'] for one in opened.records()], [1, 2])
		self.assertEqual(opened.malformed, logs.Skipped(6, 'a/log.jsonl:2'))
		self.assertEqual(opened.other_version, logs.Skipped(1, 'a/log.jsonl:6'))

	def test_the_last_records_of_a_learner(self):
		path = self.write('a', *range(100))
		opened = self.open()
		list(opened.records())
		self.assertEqual([one['at'] for one in opened.again(7, path.stat().st_size // 2)], list(range(51, 100)))
		self.assertEqual(list(opened.again(8)), [])

	def test_what_is_missing(self):
		with self.assertRaises(CommandError) as none:
			self.open()
		self.assertIn('no log.jsonl in it or in its folders', str(none.exception))
		self.assertEqual(none.exception.status, 2)
		self.assertEqual(list(self.open(empty=True).records()), [])
		with self.assertRaises(CommandError) as none:
			Logs([str(self.folder / 'none')])
		self.assertIn('none: No such file or directory', str(none.exception))

	def test_a_log_that_is_elsewhere(self):
		for settings, told in {'log: /srv/ana.jsonl\n': 'the log is /srv/ana.jsonl',
		                       'log: "logs/ana.jsonl"  # of ana\n': f'the log is {self.folder}/logs/ana.jsonl',
		                       'run: r\n': f'in the journal: journalctl -u starlingd@{self.folder.name} -o cat',
		                       'log: a.jsonl\nlog_format: journal\n': 'in the journal: journalctl -u'}.items():
			(self.folder / 'starlingd.yaml').write_text(settings)
			with self.assertRaises(CommandError) as none:
				self.open()
			self.assertIn('or in its folders; by its starlingd.yaml, ', str(none.exception))
			self.assertIn(told, str(none.exception))

	def test_times(self):
		self.assertEqual(moment('1970-01-01T00:01:00.125Z'), 60.125)
		self.assertEqual(moment('1970-01-01T00:01:00Z'), 60)
		for wrong in ('2026-11-23T10:00:06.9e300Z', '2026-11-23', '', 'x' * 30, None, 7):
			self.assertTrue(math.isnan(moment(wrong)), wrong)


class Words(unittest.TestCase):
	def test_text_of_a_peer_is_cleaned(self):
		document = short('1 0 phase 1 MIX')
		document['learners'][0]['name'] = 'a\x1b[2J\u202e\u009b\x7fb'
		document['run'] = 'two\nlines'
		self.assertEqual(clean(Names(document).who(1)), 'a?[2J???b (1)')
		self.assertEqual(clean('a\tb\nc\u2067\u061cé'), 'a?b\nc??é')

	def test_names_of_several(self):
		names = Names({'learners': [{'id': one, 'name': chr(96 + one)} for one in range(1, 8)]})
		for count, text in ((1, 'a (1)'), (2, 'a (1) and b (2)'), (5, 'a (1), b (2), c (3), d (4) and e (5)'), (6, 'a (1), b (2), c (3), d (4) and 2 more')):
			self.assertEqual(names.several(list(range(1, count + 1))), text)
		self.assertEqual(names.who(9), 'learner 9')

	def test_lines_fit_the_terminal(self):
		self.assertEqual(fill(['  one two three four five-six'], 16), ['  one two three\n      four\n      five-six'])
		self.assertEqual(fill(['one two three four five'], 0), ['one two three four five'])

	def test_durations(self):
		self.assertEqual([duration(s) for s in (0.0123, 0.0996, 9.94, 9.96, 99.6)], ['0.012 s', '0.10 s', '9.94 s', '10.0 s', '100 s'])


class Constants(unittest.TestCase):
	"""What is stated once in C, and once here."""
	def test_they_are_equal(self):
		def read(path, pattern):
			return re.findall(pattern, (SOURCE / path).read_text())
		phases = (SOURCE / 'common/protocol/phase.h').read_text().split('#define SL_PHASES(X)')[1].split('enum')[0]
		self.assertEqual([name.lower() for name in re.findall(r'X\((\w+)\)', phases)], list(rounds.PHASES))
		self.assertEqual(read('common/base/limits.h', r'SL_LEARNERS_MAX (\d+)'), [str(rounds.LEARNERS_MOST)])
		self.assertEqual(read('common/base/limits.h', r'SL_SPREADS_MAX (\d+)'), [str(rounds.SPREADS_MOST)])
		self.assertEqual(read('tools/lib/round_table.h', r'SL_MARGIN_MOST ([\d.]+)'), [str(document.MARGIN_MOST)])
		self.assertEqual(read('common/config/envelope.h', r'SL_RECORDS_VERSION (\d+)'), [str(logs.VERSION)])
		self.assertLessEqual(set(rounds.TAKE), set(read('common/report/record_table.h', r'X\(\w+, "(\w+)",')))


class Guard(unittest.TestCase):
	def test_errors_with_and_without_a_file(self):
		def act():
			raise error
		for error, text in ((PermissionError(13, 'Permission denied', 'a'), 'a: Permission denied'), (TimeoutError('timed out'), 'timed out'),
				(OSError(5, 'Input/output error'), 'Input/output error')):
			with contextlib.redirect_stderr(io.StringIO()) as err:
				self.assertEqual(guard('starling', act), 1)
			self.assertEqual(err.getvalue(), f'starling: {text}\n')


if __name__ == '__main__':
	unittest.main()
