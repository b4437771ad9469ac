"""The parts of the report compute known numbers; a wrong number is reported: parts.py STARLING. Status 77 without numpy."""
import sys
import tempfile
import unittest
from pathlib import Path

try:
	import numpy as np
except ImportError:
	print('numpy is not installed (Debian: python3-numpy)')
	sys.exit(77)

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'tools/paper'))
import fit
import graph
import printed
from program import Failed, Load, Programs
from report import Folder, Report, fill
from simulation import Simulation
from states import States, kept
from times import octave_number

STARLING = str(Path(sys.argv.pop(1)).resolve())


class OfPrograms(unittest.TestCase):
	def setUp(self):
		self.programs = Programs(STARLING, lambda what: None)
		self.addCleanup(self.programs.close)

	def matrix(self, name, learners):
		return graph.matrix(graph.edges(graph.step(self.programs, name, learners)), learners)


class Spectrum(OfPrograms):
	def test_eigenvalues(self):
		"""The paper's, to its four digits; and what it does not print."""
		for name, lambda_2, lambda_min in [('complete', 0, 0), ('neighbours:40', 0.3259, -0.7649), ('neighbours:20', 0.8181, -0.9048),
				('neighbours:10', 0.9555, -0.8182), ('star', 0.9900, 0), ('line', 0.9997, -0.3330)]:
			found = graph.eigenvalues(self.matrix(name, 100))
			np.testing.assert_allclose(found[:2], [lambda_2, lambda_min], rtol=0, atol=5.1e-5)
			self.assertAlmostEqual(found[2], max(abs(found[0]), abs(found[1])), delta=1e-15)

	def test_norms(self):
		at = [1, 2, 3, 17, 200]
		for name in 'star', 'ring', 'regular:4':
			a = self.matrix(name, 20)
			mu = graph.eigenvalues(a)[2]
			np.testing.assert_allclose(graph.power_norms(a, at), [20 * mu ** k for k in at], rtol=1e-9)

	def test_iterations(self):
		mu = {name: graph.eigenvalues(self.matrix(name, 100))[2] for name in ('neighbours:40', 'neighbours:20', 'star', 'line')}
		self.assertEqual([graph.iterations(1020431, 100, value) for value in mu.values()], [80, 215, 2133, 65155])
		self.assertEqual(graph.iterations(1020431, 100, 0.3259), 20)
		self.assertEqual((graph.iterations(101, 2, 0), graph.iterations(2 ** 31, 4, 0.5)), (1, 36))


class Printed(OfPrograms):
	def test_shares(self):
		self.assertEqual(printed.share_distance(range(7)), 0)
		self.assertAlmostEqual(printed.share_distance(range(1, 7)), 1 / 6, delta=1e-12)

	def test_ways(self):
		for name, p, reals, fixed in [('neighbours:40', 1020431, True, True), ('star', 1020431, True, True),
				('neighbours:10', 2 ** 44 - 17, False, False), ('star', 2 ** 40 - 87, False, False)]:
			trial = printed.Trial(graph.edges(graph.step(self.programs, name, 100)), p)
			self.assertEqual([trial.wrong(way) == 0 for way in (trial.product, trial.difference)], [reals, reals], name)
			self.assertEqual(trial.wrong(trial.printed), 1600)
			report = Report(self.programs, None, 'g', True, 'digits')
			self.assertEqual(printed.takes_metropolis(report, name, p), fixed, name)
			trial.k //= 2  # K is needed
			self.assertGreater(trial.wrong(trial.product), 0)

	def test_fixed_point_and_field(self):
		report = Report(self.programs, None, 'g', True, 'digits')
		self.assertEqual([printed.round_of(report, 'ring', 'neighbours:40', 1020431, e) for e in ('metropolis', 'exact')], [0, 0])
		self.assertEqual(report.broken, [])


class Runs(OfPrograms):
	LEARNERS, FLOATS = 6, 40

	def setUp(self):
		super().setUp()
		self.report = Report(self.programs, None, 'a', True, 'digits')
		settings = {'trainer': 'noise', 'noise_parameters': self.FLOATS, 'decimals': 3, 'clipping_range': 5, 'mixing': 'metropolis',
			'modulus': 1020431}
		self.run_ = Simulation('a run', self.LEARNERS, ['complete'], settings, rounds=2, coordinates=[0, 7, 39, 40], shown=1)
		self.run_.play(self.report)

	def test_run(self):
		run = self.run_
		self.assertEqual(self.report.broken, [])
		for t in 1, 2:
			states = run.states[t]
			np.testing.assert_allclose(run.decoded(run.sums(t))[:-1], run.mean(t), rtol=0, atol=0.0005 + 1e-6)
			self.assertTrue(states.whole())
			self.assertLessEqual(states.settled(), states.k)
			self.assertEqual(states.last.tolist(), run.sums(t)[[0, 7, 39, 40]].tolist())
			last = states.rows('x', 1020431, run.unit)[-1]
			self.assertEqual(last[:2], ['x', states.k])
			np.testing.assert_allclose(last[2:], run.mean(t)[7], rtol=0, atol=0.0005 + 1e-6)
		self.assertGreater(run.seconds('mix'), 0)

	def broken_by(self, change):
		change()
		self.run_.check(self.report)
		return self.report.broken

	def test_wrong_result(self):
		"""A commit that is not the plain sum."""
		self.assertEqual(self.broken_by(lambda: self.run_.summary['rounds'][1].update(verified=False)),
			['a run, round 2: a committed model is not the plain sum'])

	def test_wrong_encoding(self):
		"""A sum of the models that is not the one of the learners: each state of the round is wrong in the end."""
		states = self.run_.states[1]
		again = States(self.LEARNERS, states.truth + 1)
		again.take(np.arange(3), np.ones(3, int), np.tile(states.truth, (3, 1)))
		self.assertEqual(again.settled(), 3)

	def test_wrong_mixing(self):
		states = self.run_.states[1]
		states.wrong_at[states.k] = 1
		self.assertIn('a run, round 1: wrong after all', self.broken_by(lambda: None)[0])

	def test_unseen_state(self):
		self.run_.states[1].seen[1] -= 1
		self.assertEqual(self.broken_by(lambda: None), ['a run, round 1: not every state was seen'])

	def test_missing_learner(self):
		self.run_.summary['rounds'][1]['learners'] = 5
		self.assertEqual(self.broken_by(lambda: None), ['a run, round 2: not all of 6 learners committed the same'])

	def test_failed_program(self):
		self.run_.settings['modulus'] = 101
		with self.assertRaisesRegex(Failed, 'a run: starling ended with status 2: .*too small') as caught:
			self.run_.play(self.report)
		self.assertEqual(caught.exception.status, 2)


class Counted(unittest.TestCase):
	def test_settled(self):
		"""Right, wrong again, right: the iteration from which everything stays right is the later one."""
		states = States(1, [0] * 10)
		for wrong, expected in [([9, 4, 0, 2, 0, 0], 4), ([9, 4, 0, 2, 0, 1], 6), ([0] * 6, 0)]:
			states.wrong_at, states.seen = np.array(wrong), np.full(6, 10)
			self.assertEqual(states.settled(), expected)
			self.assertEqual((states.wrong(1), states.wrong(100)), (wrong[1], wrong[5]))

	def test_kept(self):
		self.assertEqual(kept(5), [0, 1, 2, 3, 4, 5])
		at = kept(65155)
		self.assertEqual((at[0], at[-1], sorted(set(at))), (0, 65155, at))
		self.assertLessEqual(len(at), 240)

	def test_fit(self):
		x, y, powers = [1, 2, 4, 8], [5, 7, 11, 19], [3, 12, 48, 192]
		np.testing.assert_allclose(fit.line(x, y), [2, 3])
		self.assertAlmostEqual(fit.power(x, powers), 2)
		self.assertLess(fit.off(x, y), 1e-12)
		self.assertGreater(fit.off(x, powers), 1)  # a parabola is no line: at its foot it is off by more than its height
		self.assertTrue(np.isnan([*fit.line(x[:2], y[:2]), fit.power(x[:2], y[:2]), fit.off(x[:2], y[:2])]).all())

	def test_octave_number(self):
		line = 'shares,mode=gemm,N=100,deg=87,n=2353,agg_s_per_learner=0.062'
		self.assertEqual([octave_number(line, key) for key in ('n', 'N', 'agg_s_per_learner')], [2353, 100, 0.062])
		self.assertTrue(np.isnan(octave_number(line, 's_per_learner')))

	def test_load(self):
		self.assertEqual(Load.part((0, 0, 0), (10, 15, 5), 2), 0.5)
		self.assertEqual(Load.part((0, 0, 0), (10, 4, 5), 2), 0)
		self.assertEqual(Load.part((0, 0, 0), (10, 99, 5), 2), 1)


class Files(unittest.TestCase):
	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.path = Path(folder.name) / 'report'

	def folder(self, text):
		folder = Folder(self.path)
		folder.make()
		folder.files['a.csv'] = text
		return folder

	def test_folder(self):
		self.folder('never').drop()  # and its folder goes
		self.assertFalse(self.path.exists())
		folder = self.folder('first')
		self.assertFalse((self.path / 'a.csv').exists())
		folder.commit()
		self.folder('second').drop()
		self.assertEqual([p.name for p in self.path.iterdir()], ['a.csv'])
		self.assertEqual((self.path / 'a.csv').read_text(), 'first')

	def test_full_disk(self):
		"""A file that cannot be written completely does not get its name."""
		folder = self.folder('x')
		(self.path / '.a.csv.part').symlink_to('/dev/full')
		with self.assertRaisesRegex(Failed, 'a.csv: No space left on device'):
			folder.commit()
		folder.drop()
		self.assertFalse(self.path.exists())

	def test_no_folder(self):
		for path in '/dev/null/report', '/dev/null':  # the second exists; no folder, though
			with self.assertRaisesRegex(Failed, path):
				Folder(path).make()

	def test_table(self):
		report = Report(None, self.folder(''), 'a', True, 'digits')
		report.table('a.csv', ['a', 'b', 'c'], [['plain', 'with "quotes", and commas', 7], [0.1, np.nan, 1 / 3]])
		self.assertEqual(report.folder.files['a.csv'], 'a,b,c\r\nplain,"with ""quotes"", and commas",7\r\n0.1,,0.3333333333333333\r\n')

	def test_fill(self):
		template = 'before\n%a\nof a: @li@\n%b\n\n[@list@] and @li@\n@li@ ends\n%c\nof c\n'
		self.assertEqual(fill(template, {'list': 2, 'li': 'other'}, 'b'), 'before\n\n[2] and other\nother ends\n')


if __name__ == '__main__':
	unittest.main()
