"""Part i: the estimates of `starling estimate`, compared with rounds of daemons."""
import statistics

from report import MEASURED

ROUNDS = 4  # the first makes the links
P = 2147483647
FULL = [('10, complete', 'complete', 10, 100000, 'exact', 'shamir'),
	('10, ring', 'ring', 10, 100000, 'exact', 'seeded'),
	('30, 6 neighbours', 'regular:6', 30, 30000, 'metropolis', 'os'),
	('100, 10 neighbours', 'regular:10', 100, 10000, 'exact', 'os'),
	('100, 10 neighbours', 'regular:10', 100, 10000, 'exact', 'seeded'),
	('10, ring', 'ring', 10, 1000000, 'forest', 'seeded'),
	('100, 10 neighbours', 'regular:10', 100, 10000, 'forest', 'seeded')]
QUICK = [('4, ring', 'ring', 4, 1000, 'metropolis', 'os')]
# What is compared: its name, in an estimate, in a round of daemons.
QUANTITIES = [('MB sent by all', 'bytes_all', 'bytes'), ('MB of memory, most', 'memory_bytes', 'peak_bytes')]


def estimate(report, name, topology, learners, floats, engine, sharing):
	planned = report.programs.starling_json(['estimate', topology, '-n', learners, '--floats', floats, '--modulus', P], name)
	return next(cost for cost in planned['costs'] if (cost['engine'], cost['sharing']) == (engine, sharing))


def launch(report, name, topology, learners, floats, engine, sharing):
	"""Return the rounds of daemons, without the first."""
	arguments = ['launch', '-n', learners, '--rounds', ROUNDS, '--topology', topology, '--run-dir', 'run']
	for setting in 'trainer=noise', f'noise_parameters={floats}', f'mixing={engine}', f'sharing={sharing}', 'privacy_check=warn':
		arguments += ['--set', setting]
	summary = report.programs.starling_json(arguments, name)
	report.programs.remove('run')
	if not summary['all_same']:
		report.wrong(f'{name}: not all rounds of daemons came to the same')
	return summary['rounds'][1:]


def measure(report):
	rows, ratios, cases = [], {name: [] for name, _, _ in QUANTITIES}, QUICK if report.quick else FULL
	for case in cases:
		planned, measured = estimate(report, *case), launch(report, *case)
		for quantity, of_plan, of_round in QUANTITIES:
			plan, here = 1e-6 * planned[of_plan], 1e-6 * statistics.median(row[of_round] for row in measured)
			rows.append([f'{case[0]}, n = {case[3]}, {case[5]} + {case[4]}', quantity, plan, here])
			ratios[quantity].append(here / plan)
	report.table('i_plan.csv', ['case', 'quantity', 'planned', 'measured'], rows)
	for quantity, values in ratios.items():
		report.claim('i', MEASURED, f'starling estimate: {quantity}', '-',
			f'measured over planned: {min(values):.2f} to {max(values):.2f} in {len(cases)} cases up to N = {cases[-1][2]}')
