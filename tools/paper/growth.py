"""Part h: how time, bytes and memory grow with the floats that are averaged, and with what else sizes a group."""
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
# A group, and what of it is varied: the values, those of --quick, and the first that counts for the power.
GROUP = {'learners': 20, 'degree': 4, 'floats': 100000, 'iterations': 0, 'rounds': 1}
VARIED = {
	'learners': ({'floats': 1000}, [10, 20, 50, 100, 200, 400, 1000, 2000], [10, 20, 40], 100),
	'floats': ({'learners': 5}, [1000, 10000, 100000, 1000000, 10000000], [1000, 3000, 10000], 100000),
	'degree': ({'learners': 100, 'floats': 10000}, [4, 8, 16, 32, 64], [4, 6, 8], 4),
	'iterations': ({'mixing': 'metropolis'}, [200, 400, 800, 1600], [200, 300, 400], 200),
	'rounds': ({'floats': 10000}, [4, 16, 64, 256, 1024], [1, 2, 4], 64)}
COSTS = ['seconds', 'bytes', 'memory']  # of processor time; sent; at most
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


def group(report, varied, value, settings):
	"""Return the group and the costs of a learner in it: processor time and bytes of all rounds, memory at most."""
	of = {**GROUP, **{key: settings[key] for key in GROUP if key in settings}, varied: value}
	given = {'trainer': 'noise', 'noise_parameters': of['floats'], 'mixing': settings.get('mixing', 'auto')}
	if of['iterations']:
		given['iterations'] = of['iterations']
	run = Simulation(f'{value} {varied}', of['learners'], [f'regular:{of["degree"]}'], given, of['rounds']).play(report)
	summary = run.summary
	costs = [sum(summary['cpu_s'].values()), sum(row['bytes'] for row in summary['rounds']), summary['peak_bytes']]
	return {**of, 'iterations': run.k}, [cost / of['learners'] for cost in costs]


def measure_groups(report):
	"""What a learner takes, against each property of its group."""
	rows = []
	for varied, (settings, values, quick, first) in VARIED.items():
		measured = [group(report, varied, value, settings) for value in (quick if report.quick else values)]
		rows += [[varied, *of.values(), *costs] for of, costs in measured]
		counted = [(of[varied], costs) for of, costs in measured if report.quick or of[varied] >= first]
		x = [value for value, _ in counted]
		powers = [f'{cost} {fit.power(x, [costs[k] for _, costs in counted]):.2f}' for k, cost in enumerate(COSTS)]
		report.claim('h', 'measured', f'costs of a learner against {varied}', '',
			f'fitted powers over {x[0]} to {x[-1]}: ' + ', '.join(powers))
	report.table('h_groups.csv', ['varied', *GROUP, *COSTS], rows)


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
	report.values['h_repeats'] = 1 if report.quick else REPEATS
