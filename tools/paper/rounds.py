"""Parts a and b: six rounds of training over changing graphs, and the value that every learner decodes."""
import numpy as np

from simulation import Simulation

PICKED = [1568, 2032, 2039]  # those that the paper shows, 1569, 2033 and 2040 of 2353, from 0 here
DRAWN = 1  # of the three: the first is a corner of the image, where nothing moves
COORDINATES = sorted(PICKED + list(range(0, 40 * 58, 40)))
ROUNDS = 6
K = 10
P = 1020431

# From dense to sparse; in the last round the learners move.
FULL = 100, {'80 neighbours': 'regular:80', '60 neighbours': 'regular:60', '40 neighbours': 'regular:40',
	'20 neighbours': 'regular:20', '10 neighbours': 'regular:10', 'in range of each other': 'geometric'}
QUICK = 12, {'10 neighbours': 'regular:10', '8 neighbours': 'regular:8', '6 neighbours': 'regular:6',
	'5 neighbours': 'regular:5', '4 neighbours': 'regular:4', 'in range of each other': 'geometric:0.7'}


def part_a(report, run, names):
	rows, figure = [], []
	for t, name in enumerate(names, 1):
		states = run.states[t]
		rows += states.rows(name, P, run.unit)
		figure.append({'graph': name, 'k': states.k, 'right': states.settled(),
			'value': float(run.decoded(run.sums(t))[PICKED[DRAWN]])})
	report.table('a_trajectories.csv', ['graph', 'k', *(f'learner_{i + 1}' for i in range(run.learners))], rows)
	report.figures['a'] = {'coordinate': PICKED[DRAWN] + 1, 'rounds': figure}
	report.values |= {'a_learners': run.learners, 'a_parameters': run.summary['parameters']}
	all_states = [run.states[t] for t in range(1, ROUNDS + 1)]
	ended = sum(s.wrong(s.k) == 0 for s in all_states)
	at_ten = sum(s.wrong(K) == 0 for s in all_states)
	report.claim('a', ended == ROUNDS, 'in every round over changing graphs all trajectories end at the true mean',
		'6 of 6 rounds',
		f'{ended} of {ROUNDS} rounds, with K = {min(s.k for s in all_states)} to {max(s.k for s in all_states)} from each graph')
	report.claim('a', at_ten == ROUNDS, 'K = 10 iterations are enough on changing graphs', '6 of 6 rounds',
		f'{at_ten} of {ROUNDS} rounds are right at k = 10')


def part_b(report, run):
	rows, furthest = [], 0.0
	for t in range(1, ROUNDS + 1):
		truth, mean = run.decoded(run.sums(t)), run.mean(t)
		furthest = max(furthest, float(np.abs(truth[:-1] - mean).max()))
		for picked in PICKED:
			value = float(run.decoded(run.states[t].last[COORDINATES.index(picked)]))
			rows.append([picked + 1, t, value, float(truth[picked]), value - float(truth[picked]), float(mean[picked])])
	rows.sort(key=lambda row: row[:2])
	report.table('b_consensus.csv', ['coordinate', 'round', 'consensus', 'truth', 'difference', 'mean_of_floats'], rows)
	report.figures['b'] = {'coordinates': [picked + 1 for picked in PICKED]}
	report.values['b_furthest'] = f'{furthest:.2g}'
	same, wrong = sum(row[4] == 0 for row in rows), run.wrong_rounds()
	report.claim('b', same == len(rows) and wrong == 0, 'consensus minus ground truth is 0 at three coordinates',
		'0 in every round',
		f'0 at {same} of {len(rows)} points; of all coordinates and learners, in {wrong} of {ROUNDS} rounds one differs')


def measure(report):
	learners, graphs = QUICK if report.quick else FULL
	settings = {'hidden_units': 1, 'decimals': 3, 'clipping_range': 5, 'mixing': 'metropolis', 'modulus': P}
	if report.quick:
		settings['epochs'] = 1
	run = Simulation('six rounds', learners, graphs.values(), settings, rounds=ROUNDS, data=report.data,
		coordinates=COORDINATES, shown=COORDINATES.index(PICKED[DRAWN])).play(report)
	if 'a' in report.wanted:
		part_a(report, run, graphs)
	if 'b' in report.wanted:
		part_b(report, run)
