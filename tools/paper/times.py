"""Part e: time against the number of shares, and against K; of this code, and of the paper's simulation in Octave."""
import math
import shutil

import fit
from program import Failed
from report import MEASURED
from rounds import K, P
from simulation import Simulation

FLOATS, ITERATIONS = [2353, 3922, 7060, 13336], [10, 30, 100, 300]
STRAIGHT = 0.1  # largest distance of a point from the line, as a part of its y
ONE_THREAD = {'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'}


class Curve:
	"""Seconds of one learner and round, over shares or iterations."""

	def __init__(self, name, over, sharing=None):
		self.name, self.over, self.sharing = name, over, sharing  # sharing: of this code; None: Octave
		self.x, self.y = [], []

	def add(self, x, y):
		if math.isfinite(y):
			self.x.append(x)
			self.y.append(y)

	def slope(self):
		return fit.line(self.x, self.y)[0]

	def slope_text(self, factor, unit):
		return f'{factor * self.slope():.3g} {unit}' if math.isfinite(self.slope()) else 'not measured'


class Times:
	def __init__(self, report, octave):
		self.report, self.octave, self.why = report, octave, None
		self.learners, self.neighbours, self.points = (20, 17, 3) if report.quick else (100, 87, 4)
		self.curves = {name: Curve(name, 'shares', name) for name in ('shamir', 'os', 'seeded')}
		self.curves['Octave'] = Curve('Octave', 'shares')
		self.curves['metropolis'] = Curve('metropolis', 'iterations', 'os')
		self.curves |= {name: Curve(name, 'iterations') for name in ('Octave one by one', 'Octave one product')}

	def measure(self, curve):
		"""Add a point for each number of floats, or for each K."""
		of_k = curve.over == 'iterations'
		for floats, k in zip(FLOATS[:self.points], ITERATIONS):
			settings = {'trainer': 'noise', 'noise_parameters': FLOATS[0] if of_k else floats, 'decimals': 3, 'clipping_range': 1,
				'mixing': 'metropolis', 'sharing': curve.sharing, 'iterations': k if of_k else K, 'modulus': P}
			run = Simulation(curve.name, self.learners, [f'regular:{self.neighbours}'], settings, rounds=3)
			run.play(self.report, pinned=True)
			if of_k:
				curve.add(run.k, run.seconds('mix'))
			else:  # the paper's steps 4 to 14
				curve.add((self.neighbours + 1) * floats, run.seconds('share', 'ready', 'mix', 'confirm', 'other'))

	def run_octave(self, curve, floats):
		of_k = curve.over == 'iterations'
		settings = {'PP_SHARE': 'gemm', 'PP_N': self.learners, 'PP_DEG': self.neighbours, 'PP_n': floats, 'PP_K': ITERATIONS[0],
			'PP_T': 1 if of_k else 3, 'PP_CONS': 'loop' if curve.name == 'Octave one by one' else 'gemm',
			'PP_KLIST': ','.join(map(str, ITERATIONS[1:self.points])) if of_k else ''}
		output = self.report.programs.call(['octave-cli', '--norc', '--quiet', '--no-history', self.octave], 'Octave',
			environment={**ONE_THREAD, **{key: str(value) for key, value in settings.items()}})
		for line in output.splitlines():
			if of_k and line.startswith('consensus,'):
				curve.add(octave_number(line, 'K'), octave_number(line, 'K') * octave_number(line, 's_per_iter_per_learner'))
			elif not of_k and line.startswith('shares,'):
				curve.add(octave_number(line, 'shares_per_learner'), octave_number(line, 'agg_s_per_learner'))

	def measure_octave(self):
		if self.octave is None:
			self.why = 'no --octave paper_octave.m was given'
		elif not self.octave.is_file():
			raise Failed(f'{self.octave}: No such file or directory', 2)
		elif shutil.which('octave-cli') is None:
			self.why = 'octave-cli is not installed'
		else:
			for floats in FLOATS[:self.points]:
				self.run_octave(self.curves['Octave'], floats)
			for name in 'Octave one by one', 'Octave one product':
				self.run_octave(self.curves[name], FLOATS[0])

	def claim_linear(self, curve, claim):
		"""A round has a part that does not grow: a fitted power would take it for a bend, a line does not."""
		off = fit.off(curve.x, curve.y)
		self.report.claim('e', self.report.full_verdict(off <= STRAIGHT), claim, 'linear',
			f'no point is off a straight line by more than {100 * off:.1f} %, over {curve.x[0]:.3g} to {curve.x[-1]:.3g}')

	def write(self):
		curves, report = self.curves, self.report
		report.table('e_time.csv', ['what', 'over', 'x', 'seconds'],
			[[c.name, c.over, x, y] for c in curves.values() for x, y in zip(c.x, c.y)])
		report.figures['e'] = {over: [c.name for c in curves.values() if c.over == over and c.x]
			for over in ('shares', 'iterations')}
		report.values |= {'e_learners': self.learners, 'e_neighbours': self.neighbours,
			'e_octave': f' Not measured here: {self.why}' if self.why else ''}
		self.claim_linear(curves['shamir'], 'time of a round grows linearly with the number of shares')
		own = ', '.join(f'{name} {1e9 * curves[name].slope():.3g} ns' for name in ('shamir', 'os', 'seeded'))
		report.claim('e', MEASURED, f'seconds for each share, {self.neighbours} neighbours, K = {K}', '2.315e-6 s (laptop, MATLAB)',
			f'{own}; the paper\'s simulation in Octave here: {curves["Octave"].slope_text(1e9, "ns")}')
		self.claim_linear(curves['metropolis'], 'time of mixing grows linearly with K')
		one, product = (curves[f'Octave one {what}'].slope_text(1e6, 'µs') for what in ('by one', 'product'))
		report.claim('e', MEASURED, f'seconds for each iteration, {self.neighbours} neighbours', '6.155e-6 s (n not said)',
			f'{1e6 * curves["metropolis"].slope():.3g} µs at n = {FLOATS[0]}; Octave here, a learner at a time: {one}; '
			f'all learners as one matrix product: {product}')


def octave_number(line, key):
	"""Return the number behind KEY= in a line of KEY=VALUE,KEY=VALUE; NaN when there is none."""
	pairs = dict(pair.split('=', 1) for pair in line.split(',') if '=' in pair)
	return float(pairs.get(key, 'nan'))


def measure(report, octave):
	times = Times(report, octave)
	for curve in times.curves.values():
		if curve.sharing is not None:
			times.measure(curve)
	times.measure_octave()
	times.write()
