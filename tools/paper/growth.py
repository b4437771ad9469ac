"""Part h: how time and memory grow with the number of floats that are averaged, and with the number of learners."""
import math

import numpy as np

import fit
from simulation import Simulation

LEARNERS, MEMORY_LEARNERS = 12, 3
REPEATS = 3
EXACT_POWER = 0.05  # how far from 1 the fitted power may be
MEMORY = 'memory'
# A curve: what x is, the claim, its sharing and phase; points (floats, neighbours, least K), of --quick below.
GROWTHS = {
	'shares (os)': ('n · neighbours', 'shares: time grows linearly with n and neighbours (os)', 'os', 'share',
		[(10000, 4, 0), (20000, 4, 0), (50000, 4, 0), (50000, 10, 0), (100000, 10, 0), (200000, 10, 0), (400000, 10, 0)]),
	'shares (shamir) of 4 neighbours': ('n · neighbours', 'shares: time grows linearly with n (shamir)', 'shamir', 'share',
		[(10000, 4, 0), (20000, 4, 0), (50000, 4, 0)]),
	'mixing (metropolis)': ('n · neighbours · K', 'mixing: time grows linearly with n, neighbours and K', 'os', 'mix',
		[(10000, 4, 40), (20000, 4, 40), (20000, 10, 40), (50000, 10, 40), (100000, 10, 40), (100000, 10, 100)]),
	MEMORY: ('n', 'memory of a learner grows linearly with n', None, None,
		[(30000, 0, 0), (100000, 0, 0), (300000, 0, 0), (1000000, 0, 0), (3000000, 0, 0)])}
GROUPS, QUICK_GROUPS, LARGE = [10, 20, 50, 100, 200, 400, 1000, 2000], [10, 20, 40], 100  # learners; powers: from LARGE on
DEGREE, FLOATS = 4, 1000
# Of one learner in a round of a group: the unit, and what is measured.
COSTS = {'processor time': 'seconds', 'sent': 'bytes', 'memory': 'bytes'}
QUICK, QUICK_MEMORY = [(1000, 4, 20), (2000, 4, 20), (4000, 4, 20)], [(30000, 0, 0), (60000, 0, 0), (100000, 0, 0)]


def measure_time(report, name, sharing, phase, point):
	"""Return x and the least y of several runs: other programs only add time."""
	floats, neighbours, k = point
	settings = {'trainer': 'noise', 'noise_parameters': floats, 'modulus': 2147483647, 'mixing': 'metropolis',
		'sharing': sharing, 'iterations': k}
	y = math.inf
	for _ in range(1 if report.quick else REPEATS):
		run = Simulation(name, LEARNERS, [f'regular:{neighbours}'], settings, rounds=2).play(report, pinned=True)
		y = min(y, run.seconds(phase))
	return floats * neighbours * (run.k if phase == 'mix' else 1), y


def peak(report, floats):
	settings = {'trainer': 'noise', 'noise_parameters': floats, 'sharing': 'os'}
	return Simulation(MEMORY, MEMORY_LEARNERS, ['complete'], settings).play(report).summary['peak_bytes']


def curve(report, name, sharing, phase, points):
	"""Return x and y. Memory: the most of one of three learners in a round, above what a small model takes."""
	if name == MEMORY:
		none = peak(report, 100)
		return [p[0] for p in points], [(peak(report, p[0]) - none) / MEMORY_LEARNERS for p in points]
	return zip(*(measure_time(report, name, sharing, phase, p) for p in points))


def group(report, learners):
	"""Return the exchanges and the costs of a round of small models."""
	settings = {'trainer': 'noise', 'noise_parameters': FLOATS}
	run = Simulation(f'{learners} learners', learners, [f'regular:{DEGREE}'], settings).play(report)
	summary = run.summary
	return run.k, [run.seconds(*summary['cpu_s']), summary['rounds'][0]['bytes'] / learners, summary['peak_bytes'] / learners]


def measure_groups(report):
	"""What a learner of a group of N takes for the others: N records, where a model is small."""
	sizes = QUICK_GROUPS if report.quick else GROUPS
	rows = []
	for learners in sizes:
		exchanges, costs = group(report, learners)
		rows.append([learners, DEGREE, FLOATS, 1, exchanges, *costs])
	report.table('h_groups.csv', ['learners', 'degree', 'floats', 'rounds', 'exchanges', 'seconds', 'bytes', 'memory'], rows)
	large = [row for row in rows if report.quick or row[0] >= LARGE]
	for k, (cost, unit) in enumerate(COSTS.items()):
		x, y = [row[0] for row in large], [row[5 + k] for row in large]
		report.claim('h', 'measured', f'{cost} of a learner against N, degree {DEGREE}', '',
			f'fitted power {fit.power(x, y):.2f} over {x[0]} to {x[-1]} learners; {y[-1]:.3g} {unit} at the last')


def measure(report):
	measure_groups(report)
	rows, figures = [], []
	for name, (over, claim, sharing, phase, points) in GROWTHS.items():
		if report.quick:
			points = QUICK_MEMORY if name == MEMORY else QUICK
		unit = 'bytes' if name == MEMORY else 'seconds'
		x, y = map(list, curve(report, name, sharing, phase, points))
		power = fit.power(x, y)
		rows += [[name, over, a, b, unit] for a, b in zip(x, y)]
		factor = math.exp(float(np.mean(np.log(y) - power * np.log(x))))
		figures.append({'curve': name, 'x': over, 'y': unit, 'factor': factor, 'power': power})
		report.claim('h', report.full_verdict(abs(power - 1) <= EXACT_POWER), claim, 'linear',
			f'fitted power {power:.3f} over {x[0]:.3g} to {x[-1]:.3g}')
	report.table('h_growth.csv', ['what', 'over', 'x', 'y', 'y_is'], rows)
	report.figures['h'] = figures
	report.values['h_floats'] = FLOATS
	report.values['h_repeats'] = 1 if report.quick else REPEATS
