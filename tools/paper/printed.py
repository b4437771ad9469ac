"""Part g: three statements of the paper, tried as printed."""
import itertools
import math

import numpy as np

import graph
from report import MISPRINT
from rounds import P
from simulation import Simulation, write_schedule

N, STATES = 100, 16
GRAPHS = {'10 neighbours': 'neighbours:10', 'star': 'star', 'line': 'line'}
PRIMES = {'1020431': P, '2^31-1': 2 ** 31 - 1, '2^36-5': 2 ** 36 - 5, '2^40-87': 2 ** 40 - 87, '2^44-17': 2 ** 44 - 17}


def share_distance(highest):
	"""Return how much two shares of a polynomial of degree 2 over Z_7 reveal of its secret: the largest total variation
	distance, with the highest coefficient from `highest`. Every polynomial is counted."""
	p = 7
	count = np.zeros((p, p * p))
	for x, c1, c2 in itertools.product(range(p), range(p), highest):
		h1, h2 = ((x + c1 * at + c2 * at * at) % p for at in (1, 2))
		count[x, h1 * p + h2] += 1
	part = count / count.sum(axis=1, keepdims=True)
	return float(max(np.abs(a - b).sum() / 2 for a in part for b in part))


class Trial:
	"""Uniform masked states of the learners of a graph, mixed to the end in real numbers."""

	def __init__(self, pairs, p):
		self.a, self.p = graph.matrix(pairs, N), p
		self.k = graph.iterations(p, N, graph.eigenvalues(self.a)[2])
		self.s = np.random.default_rng([p, N, self.k]).integers(p, size=(N, STATES))
		both = np.concatenate([pairs, pairs[:, ::-1]])
		both = both[np.argsort(both[:, 0], kind='stable')]
		self.i, self.j = both.T
		self.start = np.flatnonzero(np.diff(self.i, prepend=-1))
		self.weight = self.a[self.i, self.j][:, None]

	def product(self, s):
		"""A times s: as the paper has it."""
		return self.a @ s

	def difference(self, s):
		"""s_i + sum a_ij (s_j - s_i): less rounding."""
		return s + np.add.reduceat(self.weight * (s[self.j] - s[self.i]), self.start)

	def printed(self, s):
		"""The rule that the paper prints, with s_i for s_j."""
		return np.diag(self.a)[:, None] * s + np.add.reduceat(self.weight * s[self.i], self.start)

	def wrong(self, way):
		"""Return how many of the states are wrong after K iterations of `way`."""
		s = self.s.astype(np.float64)
		for _ in range(self.k):
			s = way(s)
		return int((np.floor(N * s + 0.5).astype(np.int64) % self.p != self.s.sum(axis=0) % self.p).sum())


def try_shares(report):
	printed, uniform = share_distance(range(1, 7)), share_distance(range(7))
	report.values |= {'g_printed': f'{printed:.4f}', 'g_uniform': f'{uniform:.4f}'}
	if uniform != 0:
		report.wrong(f'shares with uniform coefficients tell of the secret: distance {uniform:g}')
	report.claim('g', printed == 0, 'τ shares tell nothing (Lemma 2), with c_τ ≠ 0 as printed', 'distance 0',
		f'{printed:.4f} at p = 7, τ = 2 (1/6 = {1 / 6:.4f}); 0 with c_τ uniform')


def try_rule(report):
	trial, every = Trial(graph.edges(graph.step(report.programs, 'neighbours:40', N)), P), N * STATES
	printed, meant = (every - trial.wrong(way) for way in (trial.printed, trial.product))
	report.values |= {'g_k': trial.k, 'g_right_printed': printed, 'g_right_meant': meant}
	report.claim('g', MISPRINT if printed != every and meant == every else printed == every,
		'the update rule reaches the mean (it prints s_i for s_j)', 'all states',
		f'as printed {printed} of {every}, as meant {meant} of {every}')


def round_of(report, name, topology, p, engine):
	"""Return the number of wrong rounds of the learners, with an engine that is exact."""
	settings = {'trainer': 'noise', 'noise_parameters': STATES - 1, 'decimals': 3, 'clipping_range': 1, 'modulus': p, 'mixing': engine}
	return Simulation(f'{name}, {engine}', N, [topology], settings).play(report).wrong_rounds()


def takes_metropolis(report, topology, p):
	"""Return False where rounding in fixed point is not provably harmless."""
	schedule = write_schedule(report.programs, N, [topology])
	return report.programs.starling_json(['topology', 'analyze', schedule, '--modulus', p, '--no-exact'], topology)[0]['metropolis']


def try_reals(report):
	"""Real numbers as p grows, beside fixed point and the field."""
	rows, where, right = [], [], True
	for name, topology in list(GRAPHS.items())[:1 if report.quick else None]:
		pairs, fails = graph.edges(graph.step(report.programs, topology, N)), []
		for text, p in PRIMES.items():
			trial = Trial(pairs, p)
			product, difference = trial.wrong(trial.product), trial.wrong(trial.difference)
			fixed = round_of(report, name, topology, p, 'metropolis') if takes_metropolis(report, topology, p) else math.nan
			rows.append([name, p, trial.k, product, difference, fixed, round_of(report, name, topology, p, 'exact')])
			fails += [text] if product else []
		right = right and '1020431' not in fails
		where.append(f'{fails[0] if fails else "none tried"} ({name})')
	report.table('g_numbers.csv', ['topology', 'p', 'k', 'wrong_float64', 'wrong_float64_differences', 'wrong_fixed_point',
		'wrong_field'], rows)
	report.claim('g', right, 'real numbers (float64) mix to the right integers', 'at p = 1020431',
		f'{"right" if right else "wrong"} there; wrong from p = {", ".join(where)} on')


def measure(report):
	try_shares(report)
	try_rule(report)
	try_reals(report)
