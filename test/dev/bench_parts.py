"""The parts of starling-bench: figures, what a round on hosts waited for out of samples, queues."""
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

DEV = Path(__file__).resolve().parents[2] / 'tools/dev'
sys.path += [str(DEV / 'bench'), str(DEV), str(DEV.parent / 'paper')]
from compare import Earlier
from daemons import FIRST, long_runs, numbers
from figures import Result, number
from hosts import queue_bytes
from program import Failed
from watch import Sample, Waits, sent_most, waits

# Samples at 0, 1, 2 .. s; each row is the second before its sample.
SAMPLES = [Sample(0.0, sent=(0, 0)), Sample(1.0, busy=0.9, ran=0.5, disk=True, sent=(100, 10)),
	Sample(2.0, busy=0.7, ran=0.75, disk=True, sent=(150, 30)), Sample(3.0, ran=0.25, delayed=0.75, sent=(150, 130)),
	Sample(4.0, disk=True, sent=(160, 230)), Sample(5.0, ran=0.25, sent=(160, 230)), Sample(6.0, delayed=1.0, sent=(170, 230))]


class Figures(unittest.TestCase):
	def test_median_and_spread(self):
		result = Result()
		result.add('s', 'odd', 5, 1, 9, 2)
		result.add('s', 'odd', 7)
		result.add('s', 'none')
		result.add('s', 'even', 4, 1, 2, 9)
		odd, even = result.as_json()
		self.assertEqual(odd, {'name': 'odd', 'unit': 's', 'min': 1, 'median': 5, 'max': 9, 'samples': [5, 1, 9, 2, 7]})
		self.assertEqual(even['median'], 3)

	def test_ratio_of_medians(self):
		result = Result()
		result.add_ratio('half', [1, 2, 9], [4])
		result.add_ratio('of nothing', [], [4])
		self.assertEqual([(f['name'], f['unit'], f['samples']) for f in result.as_json()], [('half', 'x', [0.5])])

	def test_four_digits(self):
		self.assertEqual([number(x) for x in (12345.6, 123.456, 12.3456, 1.23456, 0.0123456, 0)],
			['12346', '123.5', '12.35', '1.235', '0.01235', '0'])

	def test_numbers_of_rounds_but_the_first_ones(self):
		rows = FIRST * [{'bytes': 9, 'parts_s': None}] + [{'bytes': 1, 'parts_s': {'mix': 3}}, {'bytes': 2, 'parts_s': None}]
		self.assertEqual(numbers(rows, 'bytes', 10), [10, 20])
		self.assertEqual(numbers(rows, 'parts_s.mix'), [3])


def figure(name, median, unit='s'):
	return {'name': name, 'unit': unit, 'min': median, 'median': median, 'max': median, 'samples': [median]}


class Compare(unittest.TestCase):
	HERE = {'processors': 2, 'model': 'A', 'load': 1.0}

	def earlier(self, text):
		with tempfile.NamedTemporaryFile('w+', suffix='.json') as file:
			file.write(text)
			file.flush()
			one = Earlier(file.name)
		one.path = 'before.json'
		return one

	def run_before(self, **changed):
		run = {'version': 1, 'machine': {'processors': 2, 'model': 'A', 'load': 7}, 'cases': [{'case': 'ring10', 'notes': ['other programs took 20 %', 'x'],
			'figures': [figure('round', 2.0), figure('gone', 1.0), figure('bytes', 0, 'MB')]}], **changed}
		return self.earlier(json.dumps(run))

	def test_ratios_and_what_only_one_run_has(self):
		case = {'case': 'ring10', 'notes': [], 'figures': [figure('round', 3.0), figure('round', 3.0, 'ms'), figure('bytes', 4.0, 'MB')]}
		self.run_before().compare(case)
		self.assertEqual([(one.get('before'), one.get('ratio')) for one in case['figures']], [(2.0, 1.5), (None, None), (0, None)])
		self.assertEqual(case['notes'], ['not in before.json: round, ms', 'only in before.json: gone, s', 'then: other programs took 20 %'])

	def test_a_missing_case_and_another_machine_are_said(self):
		before = self.run_before()
		self.assertEqual(before.differences(self.HERE, ['ring10']), [])
		self.assertEqual(before.differences({**self.HERE, 'model': 'B'}, ['ring10', 'demo', 'kernels']),
			['before.json is of another machine: model: B here, A there', 'before.json has no case demo, kernels'])
		case = {'case': 'demo', 'notes': [], 'figures': [figure('round', 3.0)]}
		before.compare(case)
		self.assertEqual((case['notes'], case['figures']), ([], [figure('round', 3.0)]))

	def test_what_is_no_earlier_run(self):
		for text in '', '[]', '{"version": 2}', '{"version": 1, "cases": []}':
			with self.assertRaisesRegex(Failed, 'not the output of starling-bench --json'):
				self.earlier(text)


class LongRuns(unittest.TestCase):
	def test_what_a_round_leaves_is_the_difference_of_two_runs(self):
		with tempfile.TemporaryDirectory() as folder:
			def launched(bench, rounds, run_folder, **what):
				for learner in 'learner-01', 'learner-02':
					state = Path(folder, run_folder, learner, 'state')
					state.mkdir(parents=True)
					(state / 'learner.db').write_bytes(bytes(1000 + 3 * rounds))
					(state / 'learner.db-wal').write_bytes(bytes(2 * rounds))
					(state.parent / 'log.jsonl').write_bytes(bytes(4000 * rounds))
				return [{'peak_bytes': 100000 + 7 * t} for t in range(1, rounds + 1)]
			bench = mock.Mock(result=Result())
			bench.programs.path = lambda name: Path(folder, name)
			with mock.patch('daemons.launch', launched):
				long_runs(bench, 10, 30)
		self.assertEqual([(one['name'].split(',')[0], one['samples']) for one in bench.result.as_json()], [('learner.db', [5, 5]), ('log', [4000, 4000]),
			('memory of a learner', [7]), ('learner.db after 30 rounds', [0.00115, 0.00115])])


class Hosts(unittest.TestCase):
	def expect(self, begin, end, *wanted):
		for here, want in zip(waits(SAMPLES, begin, end), Waits(*wanted)):
			self.assertAlmostEqual(here, want)

	def test_each_moment_counts_once(self):
		self.expect(0, 1, 1, 0, 0, 0, 0)  # although a learner runs
		self.expect(1, 2, 0, 0.75, 0, 0.25, 0)
		self.expect(2, 3, 0, 0.25, 0.75, 0, 0)
		self.expect(3, 4, 0, 0, 0, 1, 0)
		self.expect(4, 5, 0, 0.25, 0, 0, 0.75)
		self.expect(5, 6, 0, 0, 1, 0, 0)
		self.expect(0, 6, 1, 1.25, 1.75, 1.25, 0.75)

	def test_a_part_of_a_sample_counts_in_part(self):
		self.expect(0.5, 1.25, 0.5, 0.1875, 0, 0.0625, 0)
		self.expect(3.25, 3.5, 0, 0, 0, 0.25, 0)
		self.expect(7, 8, 0, 0, 0, 0, 0)  # after the last sample

	def test_the_busiest_host_of_a_round(self):
		self.assertEqual(sent_most(SAMPLES, 0, 2), 150)
		self.assertEqual(sent_most(SAMPLES, 2, 4), 200)
		self.assertEqual(sent_most(SAMPLES, 4, 9), 10)  # to the last sample

	def test_a_queue_holds_50_ms_and_at_least_128_kib(self):
		self.assertEqual([queue_bytes(1000), queue_bytes(10)], [6250000, 131072])


unittest.main()
