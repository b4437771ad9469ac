"""The parts of `starling estimate`: the formulas of families against the graphs themselves (what is exact is equal, a bound holds, an estimate
is near), how costs grow, what a step of `topology analyze` costs, and what the learners have in C against costs.py. estimate_units.py STARLING PRINT_COSTS"""
import json
import random
import subprocess
import sys
import unittest
from math import inf
from pathlib import Path

for room in ('tools/topology', 'tools/timeline'):
	sys.path.insert(0, str(Path(__file__).resolve().parents[2] / room))
from starling_timeline.command import CommandError, document  # noqa: E402
from starling_topology import costs, families  # noqa: E402
from starling_topology.costs import CHUNK, ENGINES, SHARINGS, Costs, Round, vector_bytes  # noqa: E402
from starling_topology.families import BOUND, EXACT, Figures, figures  # noqa: E402

STARLING, PRINT_COSTS = sys.argv.pop(1), sys.argv.pop(1)
P31 = 2147483647
ELEMENTS_MOST = 1 << 33


def in_c(lines):
	"""Return what C says to each line, as a list of words."""
	text = '\n'.join(' '.join(map(str, line)) for line in lines)
	said = subprocess.run([PRINT_COSTS], input=text, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
	assert len(said) == len(lines)
	return [line.split() for line in said]


# ---- costs ----

class TheSameAsInC(unittest.TestCase):
	def test_limits(self):
		self.assertEqual(in_c([['limits']]), [[str(n) for n in (costs.LEARNERS_MOST, costs.K_MOST, families.TREES_MOST, CHUNK, costs.SLOT_BYTES)]])

	def test_engines(self):
		draw = random.Random(1)
		graphs = [Costs(draw.choice([1, 50, costs.K_MOST, costs.K_MOST + 1]), draw.choice([0, 1, 2, 3, draw.randint(4, 1999)]),
			draw.randint(1, draw.choice([2, 10, 1000])), trees, draw.randint(trees, 70 * trees), draw.randint(1, draw.choice([4, 30, 1999])),
			draw.randint(2, draw.choice([10, 40000, 1 << 22, ELEMENTS_MOST])), draw.randint(12, 61))
			for trees in (draw.choice([1, 2, 10, 64]) for _ in range(5000))]
		graphs.append(Costs(1, 1, 1, 1, 4, 13, 16384, 32))  # both cost the same
		automatic = set()
		for c, (auto, *said) in zip(graphs, in_c([['engines', *c] for c in graphs])):
			expected = []
			for engine in ENGINES:
				vectors, exchanges = c.vectors(engine, c.busiest, c.load / c.trees + 1), c.exchanges(engine)
				states = c.states(engine, c.busiest) if exchanges else 0
				expected += [engine, str(exchanges), str(c.state_bits(engine)), str(c.window(engine)), f'{vectors:.17g}', str(states)]
			self.assertEqual((c, auto, said), (c, c.automatic(), expected))
			automatic.add(auto)
		self.assertEqual(automatic, {'exact', 'forest'})

	def test_messages(self):
		def wire(words):
			return [size + 22.0 * -(-size // 16384) for size in map(int, words)]
		chunks = [(index, size) for index in (0, 1, 127, 128, 16384, 262143) for size in (1, 32, 72, 127, 128, 4096, 16383, 16384, 262144)]
		for (index, size), said in zip(chunks, in_c([('chunk', *chunk) for chunk in chunks])):
			self.assertEqual([costs.chunk_bytes(index, size)], wire(said))
		records = [(count, floats, p) for count in (1, 2, 9, 127, 128, 129, 1999) for floats in (1, 127, 128, 50992, 1 << 30)
			for p in (3, 97, 131071, P31, (1 << 40) - 87, (1 << 61) - 1) if (count + 1) * p.bit_length() * costs.points_of(p) < 60 << 13]
		for (count, floats, p), said in zip(records, in_c([('records', *record) for record in records])):
			self.assertEqual(list(costs.records_bytes(count, floats, p)), wire(said))
		holders = [1, 2, 3, 4, 5, 8, 9, 1024, 1025, 1999]
		for count, (path, key) in zip(holders, in_c([('keys', count) for count in holders])):
			self.assertEqual(costs.key_bytes(count), (costs.chunk_bytes(0, int(path)), wire([key])[0]))

	def test_metropolis(self):
		draw = random.Random(2)
		asked = [(draw.choice([3, 97, 131071, P31, (1 << 61) - 1]), draw.randint(2, 1000000), draw.randint(1, 1000), draw.randint(1, 1 << 30),
			draw.choice([0, 1 - 10 ** -draw.uniform(0, 12), 1 / 3, 1])) for _ in range(5000)]
		for (p, n, degree, edges, mu), (k, bits) in zip(asked, in_c([('spectrum', p, n, degree, edges, repr(mu)) for p, n, degree, edges, mu in asked])):
			of = figures('star', 0, n)._replace(degree_max=degree, edges=edges, mu=mu)
			wanted = costs.iterations(p, n, mu)
			self.assertEqual((int(k) if int(k) < 2 ** 64 - 1 else inf, int(bits)), (wanted, costs.p_bits_most(of)), (p, n, degree, edges, mu))

	def test_trees(self):
		elements = [1, 4096, 4097, 8192, 262144, 262145, ELEMENTS_MOST]
		self.assertEqual([int(said) for said, in in_c([('trees', count) for count in elements])], [costs.trees_most(count) for count in elements])


class ACost(unittest.TestCase):
	def round(self, topology, n, floats, p=P31):
		name, _, parameter = topology.partition(':')
		return Round(figures(name, float(parameter or 0), n), floats, p)

	def test_a_vector_is_its_elements_and_a_little(self):
		for count in 1000, 32768, 32769, 1000001, ELEMENTS_MOST:
			for bits in range(12, 65):
				bare = count * bits / 8
				self.assertTrue(bare + 60 < vector_bytes(count, bits) < 1.004 * bare + 150)
		self.assertGreater(vector_bytes(32769, 32) - vector_bytes(32768, 32), 60)  # another frame

	def test_the_table_of_bytes(self):
		"""Of a ring: exact takes floor(N/2) exchanges, forest 2 floor(N/2) steps of one vector each."""
		of = self.round('ring', 10, 100000)
		v, v8, flood = vector_bytes(100001, 31), vector_bytes(100001, 64), of.flood_bytes / 10
		exact, forest, metropolis = of.cost('exact', 'os'), of.cost('forest', 'seeded'), of.cost('metropolis', 'shamir')
		self.assertTrue(2 * 11 * 100 < flood < 2 * 11 * 900)
		self.assertEqual(exact['exchanges'], 5)
		keys = exact['bytes_mean'] - (2 * v + 5 * 2 * v + flood)  # a key share of two, and the key
		self.assertTrue(2 * (40 + 32 + 32) < keys < 2 * (40 + 32 + 32 + 250))
		self.assertAlmostEqual(exact['bytes_most'], exact['bytes_mean'], delta=1)
		self.assertAlmostEqual(metropolis['bytes_mean'], 2 * v + 2 * v + (of.k - 1) * 2 * v8 + keys + flood, delta=1)
		self.assertEqual(forest['exchanges'], 10)
		self.assertTrue((3 * 10 - 2) * v < 10 * (forest['bytes_mean'] - flood) < (3 * 10 - 2) * v + 10 * (2 * 300 + keys))
		self.assertAlmostEqual(exact['bytes_all'], 10 * exact['bytes_mean'], delta=1)
		state = 100001 * 31 / 8  # of which three are deposits, and two on their way
		self.assertAlmostEqual(exact['memory_bytes'], 18e6 + 20 * 100001 + 6 * state, delta=1)

	def test_more_costs_more(self):
		one, more = self.round('regular:6', 50, 100000), self.round('regular:6', 50, 200000)
		for engine in ENGINES:
			for sharing in SHARINGS:
				a, b = one.cost(engine, sharing), more.cost(engine, sharing)
				self.assertEqual(a['exchanges'], b['exchanges'])
				self.assertGreater(b['bytes_mean'] - more.flood_bytes / 50, 1.9 * (a['bytes_mean'] - one.flood_bytes / 50))
				self.assertGreater(b['memory_bytes'], a['memory_bytes'])
				self.assertGreaterEqual(a['bytes_most'], a['bytes_mean'])

	def test_metropolis_has_its_limits(self):
		of = self.round('line', 1000, 1000)
		self.assertGreater(of.k, costs.K_MOST)
		self.assertIsNone(of.cost('metropolis', 'shamir'))
		self.assertTrue(of.cost('exact', 'shamir') and of.cost('forest', 'shamir'))
		self.assertIsNone(self.round('regular:10', 100, 1000, (1 << 61) - 1).cost('metropolis', 'shamir'))
		singular = Round(figures('regular', 10, 100)._replace(deg_r=0), 1000, P31)
		self.assertIsNone(singular.cost('exact', 'shamir'))
		self.assertIn('exact cannot run: r(1) = 0 mod p', singular.notes())

	def test_a_million_learners(self):
		of = self.round('regular:16', 1000000, 50992, (1 << 40) - 87)
		self.assertLess(of.cost('forest', 'seeded')['bytes_mean'] - of.flood_bytes / 1e6, 4 * vector_bytes(50993, 40))


class Printed(unittest.TestCase):
	def test_reals_as_in_c(self):
		value = {'one': [1.0, 0.1 + 0.2, 1e15, 123456789012345.678, 1e-5, 2.5e-7, 1e300, 3], 'none': [], 'of': {'it': None, 'is': True}}
		self.assertEqual(document(value, 15), '''{
  "one": [
    1.0,
    0.3,
    1e15,
    123456789012346.0,
    1e-5,
    2.5e-7,
    1e300,
    3
  ],
  "none": [],
  "of": {
    "it": null,
    "is": true
  }
}''')
		self.assertEqual(document(3.99643168187452, 12), '3.99643168187')


# ---- steps of a schedule ----

def analyzed(topology, n, p, floats, *options):
	"""Return the first step as `starling topology analyze` prints it."""
	done = subprocess.run([STARLING, 'topology', 'analyze', topology, '-n', str(n), '--modulus', str(p), '--floats', str(floats), '--json', *options],
		stdout=subprocess.PIPE, check=True)
	return json.loads(done.stdout)[0]


class AStep(unittest.TestCase):
	"""What a learner sends in a round of the paper's p, with 100 elements of 20 bits; topology.sh has other figures."""

	def test_bytes(self):
		"""By the default engine, exact: a share and deg r = 2 states for each element, to every neighbour."""
		self.assertEqual(analyzed('star', 100, 1020431, 99)['bytes'], {'mean': 1.98 * 750, 'max': 99 * 750})
		self.assertEqual(analyzed('star', 100, 1020431, 99, '--seeded')['bytes']['max'], 99 * (32 + 250 * 2))

	def test_bytes_of_the_fallback(self):
		"""Where p is too small for exact, the default engine falls back on metropolis, with states of 8 bytes."""
		step = analyzed('star', 100, 97, 99)
		self.assertIsNone(step['exact'])
		self.assertEqual(step['bytes']['max'], 99 * (88 + 88 + 100 * 8 * (step['k'] - 1)))
		self.assertTrue(step['metropolis'])

	def test_bytes_by_forest(self):
		"""Where neither can run: a share for each neighbour, two vectors down the only tree, and the deposit."""
		step = analyzed('line', 600, 599, 99, '--tolerance', '0')
		self.assertEqual((step['exact'], step['metropolis'], step['forest_vectors']['trees']), (None, False, 1))
		self.assertEqual(step['bytes'], {'mean': (1198 + 1798) * 125 / 600, 'max': (2 + 3) * 125})

	def test_the_field(self):
		"""Where p leaves metropolis no room."""
		note = analyzed('line', 400, P31, 99, '--no-exact', '--tolerance', '0')['note']
		bits = int(note.rpartition(' ')[2])
		self.assertIn('metropolis cannot run: p has 31 bits, and rounding leaves room for', note)
		self.assertTrue(20 < bits < 31)


# ---- families ----

def look_at(topology, n):
	"""Return the figures of the graph itself, as C answers them; None: it is not connected."""
	request = json.dumps({'learners': n, 'p': P31, 'floats': 999999, 'seed': '7', 'first': 1, 'exact': True})
	done = subprocess.run([STARLING, 'part', 'estimate_units', 'steps', topology, request], stdout=subprocess.PIPE, check=True)
	step, = json.loads(done.stdout)['steps']
	return Figures(**step['graph']) if step['components'] == 1 else None


class Formulas(unittest.TestCase):
	def whole(self, certainty, formula, real, off):
		if certainty == EXACT:
			self.assertEqual(formula, real)
		elif certainty == BOUND:
			self.assertGreaterEqual(formula, real)
		else:
			self.assertLessEqual(abs(formula - real), off)

	def mu(self, formula, real):
		off, gap = formula.mu - real, (1 - formula.mu) / (1 - real)
		self.assertTrue(abs(off) < 1e-9 if formula.mu_is == EXACT else off > -1e-9 if formula.mu_is == BOUND else 0.5 < gap < 2, (formula.mu, real))

	def family(self, topology, n):
		with self.subTest(topology=topology, n=n):
			name, _, parameter = topology.partition(':')
			formula, real = figures(name, float(parameter or 0), n), look_at(topology, n)
			self.assertIsNotNone(real)
			self.mu(formula, real.mu)
			self.whole(formula.deg_r_is, formula.deg_r, real.deg_r, 0)
			self.whole(formula.depth_is, formula.depth, real.depth, max(2, 0.8 * real.depth))
			if name == 'geometric':
				self.assertLess(abs(formula.degree_mean - real.degree_mean), 0.15 * real.degree_mean)
				return
			self.assertAlmostEqual(formula.edges, real.edges, delta=1e-6)
			self.assertAlmostEqual(formula.degree_mean, real.degree_mean, delta=1e-9)
			self.assertEqual(formula.degree_max, real.degree_max)

	def test_families_of_all_sizes(self):
		for name in 'complete', 'ring', 'line', 'star':
			for n in range(3 if name == 'ring' else 2, 40):
				self.family(name, n)
		for n in range(9, 60):
			self.family('grid', n)

	def test_lattices(self):
		for n in range(7, 30):
			self.family('nearest:4', n)
			self.family('nearest:6', n)
		self.family('nearest:10', 100)

	def test_classes(self):
		"""The paper's own among them: 40, 20 and 10 neighbours of 100."""
		for k, n in (40, 100), (20, 100), (10, 100), (4, 12), (4, 14), (4, 16), (2, 9), (8, 12):
			self.family(f'neighbours:{k}', n)

	def test_random_ones(self):
		for topology, n in (('regular:3', 100), ('regular:4', 400), ('regular:10', 100), ('regular:16', 500), ('regular:2', 20), ('regular:9', 10),
			('geometric:0.3', 100), ('geometric:0.2', 300), ('geometric:0.15', 500)):
			self.family(topology, n)

	def test_what_the_forest_asks(self):
		"""The formulas give the trees of the real forest, and the edges of the busiest learner in them."""
		for name in 'complete', 'ring', 'line', 'star':
			for n in range(3, 12):
				formula, real = figures(name, 0, n), look_at(name, n)
				self.assertEqual(formula.trees, real.trees)
				self.assertTrue(formula.load == real.load or (name == 'ring' and formula.load >= real.load), (name, n))
				self.assertLess(abs(formula.bound - real.bound), 0.01 * real.bound)

	def test_what_has_no_figures(self):
		self.assertIsNone(look_at('geometric:0.01', 30))
		for radius in 0.01, 0.1899:
			with self.assertRaisesRegex(CommandError, 'at least 0.18997 is needed'):
				figures('geometric', radius, 30)
		figures('geometric', 0.18997, 30)  # sqrt(ln 30 / (30 pi))


if __name__ == '__main__':
	unittest.main()
