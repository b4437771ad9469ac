"""The parts of `starling topology audit` against an independent search: what a coalition learns, and which coalitions are weak. audit.sh
tests the reports; test/leak shows that the messages of a round tell exactly these sums. audit_units.py"""
import random
import sys
import unittest
from itertools import chain, combinations
from pathlib import Path

for room in ('tools/topology', 'tools/timeline'):
	sys.path.insert(0, str(Path(__file__).resolve().parents[2] / room))
from starling_topology import audit, weak  # noqa: E402
from starling_topology.leakage import P, Span  # noqa: E402
from starling_topology.participants import Schedule, Step, beyond, graph, majority, parts  # noqa: E402


# ---- an independent search ----

def graphs(n):
	"""Yield the links of every graph of n learners."""
	pairs = list(combinations(range(1, n + 1), 2))
	for number in range(1 << len(pairs)):
		yield [pair for bit, pair in enumerate(pairs) if number >> bit & 1]


def drawn(n, links, random):
	"""A graph that is connected more often than not."""
	return sorted({tuple(sorted(random.sample(range(1, n + 1), 2))) for _ in range(links)})


def sets(members, least=0):
	return chain.from_iterable(combinations(members, size) for size in range(least, len(members) + 1))


def groups_of(links, members):
	"""Return the connected parts: sets that grow together along the links."""
	found = [{member} for member in members]
	for one, two in links:
		if one in members and two in members:
			ends = [part for part in found if one in part or two in part]
			found = [part for part in found if part not in ends] + [set.union(*ends)]
	return sorted(sorted(part) for part in found)


def majority_of(links, n):
	return next((part for part in groups_of(links, range(1, n + 1)) if len(part) > n / 2), [])


def learns_more(links, present, coalition):
	"""The paper's Theorem: more than the mean iff the others, if two or more, do not hang together."""
	others = set(present) - set(coalition)
	return len(others) == 1 or len(groups_of(links, others)) > 1


def least_weak(links, present, c):
	found = [set(some) for some in sets(present, 1) if len(some) <= c and learns_more(links, present, some)]
	return {tuple(sorted(some)) for some in found if not any(less < some for less in found)}


def rank(rows, p):
	"""Return the rank of rows mod p by plain elimination."""
	rows, found = [list(row) for row in rows], 0
	for column in range(len(rows[0]) if rows else 0):
		pivot = next((i for i in range(found, len(rows)) if rows[i][column] % p), None)
		if pivot is None:
			continue
		rows[found], rows[pivot] = rows[pivot], rows[found]
		scale = pow(rows[found][column], -1, p)
		for i in range(found + 1, len(rows)):
			factor = rows[i][column] * scale
			rows[i] = [(a - factor * b) % p for a, b in zip(rows[i], rows[found])]
		found += 1
	return found


class Participants(unittest.TestCase):
	def test_the_theorem_on_all_small_graphs(self):
		for n in range(2, 6):
			for links in graphs(n):
				step, present = Step(graph(n, links), majority(n)), majority_of(links, n)
				self.assertEqual(step.present, present)
				self.assertEqual(step.absent(), [learner for learner in range(1, n + 1) if learner not in present])
				for coalition in sets(range(1, n + 1)):
					groups = step.without(coalition)
					self.assertEqual(groups, groups_of(links, set(present) - set(coalition)))
					self.assertEqual(beyond(groups), learns_more(links, present, coalition))

	def test_a_schedule(self):
		schedule = Schedule(['learners 4\n', 'step 1-2 2-3\n', 'step 1-2 2-3\n', 'step\n'])
		self.assertEqual(schedule.learners, 4)
		first, second, third = schedule.steps(3)
		self.assertIs(first, second)
		self.assertEqual((first.present, first.neighbours), ([1, 2, 3], [[], [2], [1, 3], [2], []]))
		self.assertEqual((third.present, third.largest), ([], 1))


class Weak(unittest.TestCase):
	def found(self, n, links, c, steps=1):
		search = weak.Search(c)
		search.run([Step(graph(n, links), majority(n))] * steps)
		return search

	def test_weak_points_of_all_small_graphs(self):
		for n in range(2, 6):
			for links in graphs(n):
				present = majority_of(links, n)
				for c in range(1, 5):
					search = self.found(n, links, c, 3)
					self.assertEqual(search.rounds, 3 if present else 0)
					self.assertEqual(set(search.weak), least_weak(links, present, c), (n, links, c))
					self.assertTrue(all(numbers == [1, 2, 3] for numbers in search.weak.values()))

	def test_weak_points_of_larger_graphs(self):
		draw = random.Random(1)
		for _ in range(300):
			n = draw.randint(6, 9)
			links, c = drawn(n, draw.randint(n, 4 * n), draw), draw.randint(2, 4)
			self.assertEqual(set(self.found(n, links, c).weak), least_weak(links, majority_of(links, n), c), (n, links, c))

	def test_the_order(self):
		search = self.found(6, [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (3, 6), (2, 5)], 2, 2)
		self.assertEqual([coalition for coalition, _ in search.in_order()], [(2,), (3, 5)])

	def test_graphs_that_tolerate(self):
		draw, told = random.Random(2), set()
		for _ in range(600):
			n, c = draw.randint(3, 10), draw.randint(1, 4)
			links = drawn(n, draw.randint(n, 9 * n), draw)
			members = groups_of(links, range(1, n + 1))[0]
			wanted = len(members) > c + 1 and not any(
				len(groups_of(links, set(members) - set(some))) > 1 for some in sets(members) if len(some) <= c)
			self.assertEqual(weak.tolerates(graph(n, links), members, c), wanted, (n, links, c))
			told.add((c, wanted))
		self.assertEqual(len(told), 8)

	def test_paths_that_change_their_ways(self):
		# The first path, 1-2-3-6, must give 3 to the second; both ends are different.
		links = [(1, 2), (1, 4), (2, 3), (2, 5), (4, 3), (3, 6), (5, 7)]
		neighbours = graph(7, links)
		self.assertTrue(weak._has_paths(neighbours, 1, {6, 7}, 2))
		self.assertFalse(weak._has_paths(neighbours, 1, {6, 7}, 3))
		self.assertFalse(weak._has_paths(graph(7, links[:-1]), 1, {6, 7}, 2))

	def test_paths_that_are_given_back(self):
		# 1-2-3-4-5 first; then 4 is reached by 6 and 7, 2 goes on to 11, and 3 is free for the third.
		chains = [(1, 2, 3, 4, 5), (1, 6, 7, 4), (2, 8, 9, 10, 11), (1, 12, 13, 14, 3, *range(15, 23))]
		links = [link for chain in chains for link in zip(chain, chain[1:])]
		neighbours = graph(22, links)
		self.assertTrue(weak._has_paths(graph(11, [link for link in links if max(link) < 12]), 1, {5, 11}, 2))
		self.assertTrue(weak._has_paths(neighbours, 1, {5, 11, 22}, 3))
		self.assertFalse(weak._has_paths(neighbours, 1, {5, 11, 22}, 4))

	def test_a_cut_that_parts_the_first(self):
		# 1 and 8 cut 2 from 3; from each other learner, three paths lead to 1, 2 and 3.
		links = [*combinations((2, 4, 6), 2), *combinations((3, 5, 7), 2), *((end, one) for end in (1, 8) for one in range(2, 8))]
		self.assertFalse(weak.tolerates(graph(8, links), list(range(1, 9)), 2))
		self.assertTrue(weak.tolerates(graph(8, links), list(range(1, 9)), 1))

	def test_too_many_coalitions(self):
		n = 300
		with self.assertRaises(weak.TooManyError):
			self.found(n, [(one, one + 1) for one in range(1, n)], 4)
		complete = list(combinations(range(1, n + 1), 2))
		self.assertEqual(self.found(n, complete, 4).weak, {})  # it tolerates four, and nothing is tried

	def test_too_many_steps(self):
		search = weak.Search(1)
		step = Step(graph(3, [(1, 2), (2, 3)]), 2)
		with self.assertRaises(weak.TooManyError):
			search.run(step for _ in range(weak.POINTS_MOST + 1))


class Leakage(unittest.TestCase):
	def check(self, span, sums, honest):
		"""Check that the span is that of the sums, and reduced."""
		rows = [[total.get(learner, 0) for learner in honest] for total in sums]
		known = rank(rows, span.p)
		self.assertEqual(span.rank, known)
		self.assertEqual(span.free, [learner for learner in honest if learner not in span.rows])
		for total in sums:
			self.assertTrue(span.knows(total))
		for lead, row in span.rows.items():
			self.assertEqual(len(row), len(span.free))
			self.assertTrue(all(0 <= a < span.p and (a == 0 or learner > lead) for learner, a in zip(span.free, row)))
			full = [1 if learner == lead else dict(zip(span.free, row)).get(learner, 0) for learner in honest]
			self.assertEqual(rank([*rows, full], span.p), known)
		for learner in honest:
			self.assertEqual(span.knows({learner: 1}), rank([*rows, [int(one == learner) for one in honest]], span.p) == known)
			self.assertEqual(span.reveals(learner), span.knows({learner: 1}))

	def learn(self, n, rounds, coalition, p):
		honest = [learner for learner in range(1, n + 1) if learner not in coalition]
		span, sums = Span(honest, p), []
		for links in rounds:
			members = {end for link in links for end in link} - set(coalition)
			for group in parts(graph(n, links), members):
				span.learn(group)
				sums.append(dict.fromkeys(group, 1))
		self.check(span, sums, honest)

	def test_every_round(self):
		for n in range(2, 6):
			for links in graphs(n):
				for coalition in sets(range(1, n + 1)) if n < 5 else ((), (1,), (2, 4)):
					self.learn(n, [links], coalition, 7)

	def test_every_pair_of_rounds_and_some_triples(self):
		draw = random.Random(3)
		for n in range(2, 5):
			every = list(graphs(n))
			for one, two in combinations(every, 2):
				self.learn(n, [one, two], draw.choice([(), (1,), (2,), (1, 3)]), draw.choice((7, 11, 31)))
		for _ in range(2000):
			self.learn(5, draw.sample(list(every), 3), draw.choice([(), (1,), (2,), (4,)]), draw.choice((7, 11, 31)))

	def test_many_rounds(self):
		draw = random.Random(14)
		for p in (29, P, 2 ** 61 - 1) * 6:
			rounds = [drawn(24, 20, draw) for _ in range(8)]
			self.learn(24, rounds, draw.sample(range(1, 25), 3), p)

	def test_pairings(self):
		"""Two pairings around learner 1 give the pairs and differences of the rest, the third gives every model."""
		span = Span([2, 3, 4, 5])
		for group in ([2, 3], [4, 5], [2, 3], [4, 5]):
			span.learn(group)
		self.assertEqual(span.rank, 2)
		self.assertTrue(span.knows({2: 7, 3: 7, 4: 5, 5: 5}))
		self.assertFalse(span.knows({2: 1, 4: 1}))
		span.learn([2, 4])
		span.learn([3, 5])
		self.assertEqual(span.rank, 3)
		self.assertTrue(span.knows({2: 1, 5: P - 1}) and span.knows({3: 1, 4: P - 1}))
		self.assertFalse(any(span.reveals(learner) for learner in range(2, 6)))
		span.learn([2, 5])
		self.assertEqual((span.rank, span.free), (4, []))
		self.assertTrue(all(span.reveals(learner) for learner in range(2, 6)))

	def test_rows_for_people(self):
		"""x1 + x2, x2 + x3 and x1 + x3 + x4 leave each of the first three with half of x4."""
		span = Span([1, 2, 3, 4], 1020431)
		span.learn([1, 2])
		self.assertEqual(span.integers(1, 1), {1: 1, 2: 1})
		span.learn([2, 3])
		self.assertEqual(span.integers(1, 1), {1: 1, 3: -1})
		span.learn([1, 3, 4])
		self.assertIsNone(span.integers(1, 1))
		self.assertEqual([span.integers(lead, 9) for lead in (1, 2, 3)], [{1: 2, 4: 1}, {2: 2, 4: -1}, {3: 2, 4: 1}])
		self.assertNotIn(4, span.rows)


class Words(unittest.TestCase):
	def test_combinations(self):
		for coefficients, text in (({4: 1, 2: 1}, 'x2+x4'), ({1: 2, 3: -1, 4: -3}, '2x1-x3-3x4'), ({1: -1}, '-x1'),
				(dict.fromkeys(range(1, 9), 1), 'x1+x2+x3+x4+x5+x6+x7+x8'), (dict.fromkeys(range(1, 10), 1), 'x1+x2+x3+... (9 models)')):
			self.assertEqual(audit.combination(coefficients), text)

	def test_lists(self):
		self.assertEqual([audit.ids(range(1, count + 1)) for count in (1, 2, 3, 8, 20)],
			['1', '1 and 2', '1, 2 and 3', '1, 2, 3, 4, 5, 6, 7 and 8', '1, 2, 3, 4, 5, 6, 7, 8, ... and 12 more'])
		self.assertEqual(audit.several([], ['a', 'b', 'c', 'd'], ' sums'), 'a, b, c and d')
		self.assertEqual(audit.several([3], ['a', 'b', 'c', 'd', 'e'], ' sums'), 'the model of learner 3, and a, b, c, d, ... and 1 more sums')

	def test_coalitions(self):
		self.assertEqual(audit.read_coalition('5,003,5', 6), [3, 5])
		for text, what in (('7' * 5000, 'unknown learner'), ('0', 'unknown learner 0 '), ('1,', 'must be ids'), ('1,2', 'all learners')):
			with self.assertRaisesRegex(audit.CommandError, what):
				audit.read_coalition(text, 2)


if __name__ == '__main__':
	unittest.main()
