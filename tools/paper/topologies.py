"""Parts c and d: the paper's six topologies: mixing on each, the powers of its matrix, its eigenvalues."""
import math

import graph
from rounds import K, P
from simulation import Simulation

N = 100
FLOATS, WATCHED = 2353, 64
FLOATS_LONG = 15  # and the weight: 16 elements, where mixing takes thousands of iterations
K_LONG, K_QUICK = 1000, 250
SETTINGS = {'trainer': 'noise', 'decimals': 3, 'clipping_range': 1, 'mixing': 'metropolis', 'modulus': P}

POINTS = 60
NORM_LEAST = 1e-9  # in the figure: K is decided at 4.9e-8
AGREE = 1e-6
DEGREES = range(40, 99)
FOUR_DIGITS = 0.00005 * 1.0001  # half of the last digit, and a little for the paper's own rounding


class Topology:
	def __init__(self, name, topology, paper):
		self.name, self.topology = name, topology
		self.paper = paper  # its second largest eigenvalue, to four digits
		self.run = self.states = None  # of one round; None: --quick leaves it out

	def open(self, programs):
		self.matrix = graph.matrix(graph.edges(graph.step(programs, self.topology, N)), N)
		self.lambda_2, self.lambda_min, self.mu = graph.eigenvalues(self.matrix)
		self.k, self.k_lambda = (graph.iterations(P, N, value) for value in (self.mu, self.lambda_2))

	def mix(self, report):
		brief = self.k > K_LONG or report.quick
		floats, count = (FLOATS_LONG, FLOATS_LONG) if brief else (FLOATS, WATCHED)
		self.run = Simulation(self.name, N, [self.topology], {**SETTINGS, 'noise_parameters': floats},
			coordinates=[c * (floats // count) for c in range(count)]).play(report)
		self.states = self.run.states[1]
		if not self.k <= self.states.k <= self.k + 1:  # learners round mu up by 1e-12
			report.wrong(f'{self.name}: learners mix {self.states.k} times, the bound says {self.k}')


def choose_k(mu):
	"""Return 1, 2, 3 .. at growing distances, up to where the norm is below NORM_LEAST."""
	end = 2.0 if mu < 1e-6 else math.log(NORM_LEAST / N) / math.log(mu)
	following, ratio, chosen = 1.0, end ** (1 / (POINTS - 1)), []
	while len(chosen) < POINTS and following <= end:
		chosen.append(math.floor(following))
		following = max(following * ratio, math.floor(following) + 1)
	return chosen


def check_norms(report, one, at, norms):
	"""Compare the norms with N mu^k, on which the bound on K rests, and the norm at K with the bound."""
	for k, norm in zip(at, norms):
		expected = N * one.mu ** k
		if one.mu > 1e-6 and abs(norm - expected) > AGREE * expected:
			report.wrong(f'{one.name}: the norm at k = {k} is {norm:g}, N mu^k is {expected:g}')
			break
	at_k = graph.power_norms(one.matrix, [one.k])[0]
	if not 2 * P * math.sqrt(N) * at_k < 1:
		report.wrong(f'{one.name}: K = {one.k} does not meet the bound: the norm is {at_k:g}')


def write_norms(report, six):
	rows = []
	for one in six:
		at = choose_k(one.mu)
		norms = graph.power_norms(one.matrix, at)
		check_norms(report, one, at, norms)
		rows += [[one.name, k, norm] for k, norm in zip(at, norms)]
	report.table('c_norms.csv', ['graph', 'k', 'norm'], rows)


def write_degrees(report):
	"""Find the neighbours for which K = 10 is enough."""
	mu_most, enough, rows = (2 * P * N ** 1.5) ** (-1 / K), DEGREES[0], []
	for degree in DEGREES:
		pairs = graph.edges(graph.step(report.programs, f'regular:{degree}', N))
		mu = graph.eigenvalues(graph.matrix(pairs, N))[2]
		k = graph.iterations(P, N, mu)
		rows.append([degree, mu, k])
		if k > K:
			enough = degree + 1
	report.table('c_degrees.csv', ['neighbours', 'mu', 'k'], rows)
	report.values |= {'c_mu': f'{mu_most:.4f}', 'c_enough': enough}
	report.claim('c', False, 'K = 10 meets the bound on K ("verified" for arbitrary topologies)', 'K = 10',
		f'only for μ ≤ {mu_most:.4f}: about {enough} neighbours of 100')
	return enough


def part_c(report, six):
	write_norms(report, six)
	enough = write_degrees(report)
	mixed = [one for one in six if one.states is not None]
	rows = [row for one in mixed for row in one.states.rows(one.name, P, one.run.unit)]
	report.table('c_trajectories.csv', ['graph', 'k', *(f'learner_{i + 1}' for i in range(N))], rows)
	report.figures['c'] = {'enough': enough, 'bound': 1 / (2 * P * math.sqrt(N)), 'lines': [one.name for one in six[1:]],
		'graphs': [{'graph': one.name, 'k': one.states.k, 'right': one.states.settled(),
			'value': float(one.run.decoded(one.states.truth[0]))} for one in mixed]}
	settled = [one.states.settled() for one in mixed]
	right = sum(one.states.settled() <= one.states.k for one in mixed)
	ascending = sum(after > before for before, after in zip([0, *settled], settled))
	report.claim('c', right == len(mixed), 'all trajectories end at the true value under all six topologies', '6 of 6',
		f'{right} of {len(mixed)} measured')
	report.claim('c', ascending == len(mixed), 'the denser the topology, the fewer iterations', 'in this order of the six',
		f'ascending in {ascending} of {len(mixed)} measured')


def part_d(report, six):
	rows = []
	for one in six:
		s = one.states
		observed = (s.settled(), s.wrong(one.k_lambda), s.wrong(K), N * len(s.truth)) if s is not None else 4 * [math.nan]
		rows.append([one.name, one.paper, one.lambda_2, one.lambda_min, one.mu, one.k, one.k_lambda, *observed])
	report.table('d_topologies.csv', ['topology', 'lambda_2_paper', 'lambda_2', 'lambda_min', 'mu', 'k_bound',
		'k_from_lambda_2', 'k_observed', 'wrong_at_k_from_lambda_2', 'wrong_at_10', 'decoded'], rows)
	mixed = [one for one in six if one.states is not None]
	same = all(abs(one.lambda_2 - one.paper) <= FOUR_DIGITS for one in six)
	wrong = [one for one in mixed if one.states.wrong(one.k_lambda) > 0]
	at_ten = sum(one.states.wrong(K) == 0 for one in mixed)
	where = ''.join(f'; {one.name}: K = {one.k_lambda} from λ₂, {one.states.settled()} needed' for one in wrong)
	report.claim('d', same, 'second largest eigenvalues of the six topologies', '0, 0.3259, 0.8181, 0.9555, 0.9900, 0.9997',
		', '.join(f'{0 if abs(one.lambda_2) < 1e-9 else one.lambda_2:.4f}' for one in six))
	report.claim('d', not wrong, 'λ₂ tells how fast mixing converges', 'λ₂ alone',
		f'K from λ₂ is wrong on {len(wrong)} of {len(mixed)} graphs{where}')
	report.claim('d', at_ten == len(mixed), 'K = 10 decodes right on its six topologies', 'K = 10',
		f'on {at_ten} of {len(mixed)} measured')


def measure(report):
	six = [Topology('complete', 'complete', 0), Topology('40 neighbours', 'neighbours:40', 0.3259),
		Topology('20 neighbours', 'neighbours:20', 0.8181), Topology('10 neighbours', 'neighbours:10', 0.9555),
		Topology('star', 'star', 0.9900), Topology('line', 'line', 0.9997)]
	for one in six:
		one.open(report.programs)
		if not report.quick or one.k <= K_QUICK:
			one.mix(report)
	if 'c' in report.wanted:
		part_c(report, six)
	if 'd' in report.wanted:
		part_d(report, six)
