"""The check of --verify against ROUND.md §4 Arithmetic in fractions, element by element, and that it refuses all else: verify_units.py"""
import json
import math
import random
import struct
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction
from pathlib import Path

try:
	import numpy as np
except ImportError:
	print('skipped: this python3 has no numpy')
	sys.exit(77)

ROOM = Path(__file__).resolve().parents[2] / 'tools/verify'
sys.path.insert(0, str(ROOM))
from starling_verify import ranges, rounds  # noqa: E402
from starling_verify.checkpoint import Checkpoint, CheckError, Tensor  # noqa: E402
from starling_verify.rounds import Encoding, Request, check  # noqa: E402
from starling_verify.sums import FloatSum, Sum, nearest_doubles, nearest_integers  # noqa: E402
from starling_verify.values import Decimals  # noqa: E402

rounds.BLOCK = 500  # elements: small tensors have several blocks
F4, F8, I8 = np.dtype('<f4'), np.dtype('<f8'), np.dtype('<i8')
NAMES = {F4: 'F32', F8: 'F64', I8: 'I64'}


def holds(value, quotient):
	"""Return true if the double `value` is the nearest to the fraction, ties to even; of 0, without a sign."""
	if quotient == 0 or value == 0:
		return quotient == 0 and value == 0 and math.copysign(1, value) == 1
	off = abs(Fraction(value) - quotient)
	others = [abs(Fraction(math.nextafter(value, end)) - quotient) for end in (-math.inf, math.inf)]
	even = struct.unpack('<Q', struct.pack('<d', value))[0] % 2 == 0
	return all(off < other or (off == other and even) for other in others)


def double(quotient):
	"""Return the double nearest to a fraction."""
	value = quotient.numerator / quotient.denominator
	return next(v for v in (value, math.nextafter(value, -math.inf), math.nextafter(value, math.inf)) if holds(v, quotient))


class Quotients(unittest.TestCase):
	def test_doubles_are_the_nearest(self):
		draw = random.Random(17)
		for bits in (1, 8, 52, 53, 54, 61, 62, 63, 70):
			for bottom in (1, 2, 3, 10, 7 * 10 ** 6, 3 << 30, (1 << 53) - 1, (1 << 53) + 1, 10 ** 12 * 99999):
				tops = [draw.getrandbits(bits) * draw.choice((-1, 1)) for _ in range(100)]
				tops += [bottom * draw.getrandbits(min(bits, 20)) for _ in range(20)]
				tops += [(2 * draw.getrandbits(53) + 1) * bottom for _ in range(20)]  # of 54 bits: a tie
				dtype = np.int64 if max(map(abs, tops)) < 1 << 63 else object
				for top, found in zip(tops, nearest_doubles(np.array(tops, dtype), bottom)):
					self.assertTrue(holds(found, Fraction(top, bottom)), (top, bottom, found))

	def test_integers_are_the_nearest(self):
		tops = [5, 7, -5, -7, 1, -1, 0, 6, 4, (1 << 62) + 1, -(1 << 62) - 1]
		for bottom in (1, 2, 3, 4, (1 << 62) + 1, (1 << 63) - 1, 1 << 63, 1 << 64):
			for top, found in zip(tops, nearest_integers(np.array(tops, np.int64), bottom)):
				self.assertEqual(int(found), round(Fraction(top, bottom)), (top, bottom))
		self.assertEqual(list(nearest_integers(np.array([5, 7, -5, -7, 1, -1]), 2)), [2, 4, -2, -4, 0, 0])

	def test_sums_do_not_wrap(self):
		for weight in (1, 3, (1 << 63) - 1, 1 << 63, (1 << 64) - 1):
			total, terms = Sum(4), np.array([(1 << 63) - 1, -(1 << 63), 0, 1])
			for _ in range(3):
				total.add(terms, weight)
			self.assertEqual([int(value) for value in total.values], [3 * weight * int(term) for term in terms])
		total.add(np.zeros(4, np.int64), 1 << 63)


class Exact(unittest.TestCase):
	"""Means of what nothing was rounded of (ROUND.md §4.3 Limbs and ranges)."""
	KINDS = ((256, -128), (128, -64), (64, -40))

	def expect(self, bits, bottom, models, weights):
		total, sums = FloatSum(len(models[0]), bits, bottom), [0] * len(models[0])
		for model, weight in zip(models, weights):
			total.add(np.array(model), weight)
			sums = [at + weight * round(Fraction(value) / Fraction(2) ** bottom) for at, value in zip(sums, model)]
		found = total.means(sum(weights))
		for at, value in zip(sums, found):
			self.assertTrue(holds(value, at * Fraction(2) ** bottom / sum(weights)), (value, at))

	def test_means(self):
		"""Of any weights, and values that cancel or are halves of the unit more often than chance has it."""
		draw = random.Random(61)
		for turn in range(60):
			bits, bottom = self.KINDS[turn % 3]
			def value(bits=bits, bottom=bottom):
				if draw.randrange(8) == 0:
					return math.ldexp(draw.randrange(9) - 4, bottom - 1)
				return draw.uniform(-1, 1) * 2.0 ** draw.randint(bottom - 3, bits + bottom)
			models = [[value() for _ in range(60)] for _ in range(draw.randint(2, 9))]
			models += [[-value if draw.randrange(2) else value for value in models[0]]]
			weights = [draw.getrandbits(draw.choice((1, 8, 25))) for _ in models]
			weights[0] += 1
			self.expect(bits, bottom, models, weights)
		self.expect(256, -128, models, [1 << 31, (1 << 63) + 1] + [0] * (len(models) - 2))

	def test_ties(self):
		"""Sums that are a number of 54 bits times the weight: half way between two doubles."""
		draw = random.Random(62)
		large = [math.ldexp((1 << 53) + 2 * draw.getrandbits(52), -30) for _ in range(500)]
		one = [math.ldexp(draw.randrange(3) - 1, -30) for _ in large]
		self.expect(256, -128, [large, one, large, one], [1, 1, 1, 1])
		self.expect(256, -128, [large, one, large, one], [3, 3, 5, 5])

	def test_zeros_have_no_sign(self):
		self.expect(64, -40, [[-0.0, -1.0, 2.0 ** -42]], [3])


class WithDecimals(unittest.TestCase):
	"""The integers of elements (ROUND.md §4.2 Encoding)."""
	def integers(self, decimals, values, dtype=F8):
		found, wrong = decimals.of_floats(np.array(values, dtype))
		self.assertFalse(wrong.any())
		return [int(value) for value in found]

	def test_decisive_values(self):
		for dtype in (F4, F8):
			self.assertEqual(self.integers(Decimals(0), [0.5, 1.5, 2.5, -0.5, -1.5, 3.25], dtype), [0, 2, 2, 0, -2, 3])
		self.assertEqual(self.integers(Decimals(1), [0.25, math.nextafter(0.25, 1)]), [2, 3])  # the second product in double is 2.5
		self.assertEqual(self.integers(Decimals(0, 3), [-5, 5, 6, -6, 0]), [-1, 1, 2, -2, 0])
		clipped = Decimals(1, clip=1.5)
		self.assertEqual(self.integers(clipped, [7, -7, 1.5]), [15, -15, 15])
		self.assertEqual(list(clipped.of_integers(np.array([16, -16, 15]))), [15, -15, 15])
		self.assertEqual(self.integers(Decimals(8, clip=0.1), [1], F4), [round(Fraction(float(np.nextafter(F4.type(0.1), F4.type(0)))) * 10 ** 8)])
		self.assertEqual(self.integers(Decimals(12), [5e-324, 4e6]), [0, 4 * 10 ** 18])
		self.assertEqual(list(Decimals(2).of_integers(np.array([-3]))), [-3])

	def test_any_values(self):
		draw = random.Random(23)
		for decimals in range(13):
			for learners in (0, 3, 8):
				for dtype in (F4, F8):
					values = [draw.uniform(-1, 1) * 2.0 ** draw.randint(-20, 16) for _ in range(200)]
					values += [draw.randrange(2000) / 2 / 10 ** decimals for _ in range(100)]
					values = [float(value) for value in np.array(values, dtype)]
					exact = [Fraction(value) * 10 ** decimals for value in values]
					self.assertEqual(self.integers(Decimals(decimals, learners), values, dtype),
						[math.trunc(value / learners) if learners else round(value) for value in exact])

	def test_no_numbers(self):
		_, wrong = Decimals(2).of_floats(np.array([math.nan, math.inf, -math.inf, 1, 2.0 ** 60, 2.0 ** 55]))
		self.assertEqual(list(wrong), [True, True, True, False, True, False])
		self.assertEqual(list(Decimals(2, clip=3).of_floats(np.array([math.nan, math.inf, 1e300]))[1]), [True, True, False])


class Ranges(unittest.TestCase):
	"""ROUND.md §4.3 Limbs and ranges, at the places where something changes."""
	def test_classes(self):
		def tensor(count, dtype=F4, **more):
			return Tensor(0, count, dtype, **more)
		large, other = tensor(1 << 20), tensor(1 << 20, nonnegative=True)
		small, more = tensor(1024), tensor(1)
		for tensors, expected in (([large, small], [(1, 128, -64), (5, 256, -128)]),
			([large, small, tensor(1024)], [(1, 128, -64), (5, 256, -128), (5, 256, -128)]),  # 2048 of 2 million
			([tensor(1 << 16)], [(1, 256, -128)]), ([tensor((1 << 16) + 1)], [(1, 128, -64)]), ([tensor(1 << 24)], [(1, 128, -64)]),
			([tensor((1 << 24) + 1), other], [(1, 64, -40), (3, 256, -128)]),
			([tensor(2000), small, more], [(1, 256, -128), (1, 256, -128), (5, 256, -128)]),  # 1025 are not small together
			([large, tensor(1 << 20, I8), tensor(1 << 20, metric=True)], [(1, 128, -64), (1, 64, 0), (1, 256, -128)])):
			sizes = ranges.Sizes(tensors)
			self.assertEqual([(ranges.limbs(sizes, t), *ranges.exact_bits(sizes, t)) for t in tensors], expected)
		self.assertEqual([ranges.lower_bits(*each) for each in ((1, 12), (3, 12), (5, 12), (3, 30), (5, 30), (5, 48))], [0, 24, 48, 30, 28, 12])

	def test_magnitudes(self):
		self.assertEqual([ranges.magnitude(change, 3) for change in (0, 1e-300, 2.0 ** -21, math.nextafter(2.0 ** -21, 1), 8, 8.1, 32, 33, 256, 257, math.inf)],
			[0, 1, 1, 2, 13, 14, 14, 15, 15, 15, 15])
		self.assertEqual(ranges.magnitude(1.7e308, ranges.MOST), 15)  # 2^1025 is no double

	def test_next_exponents(self):
		for expected, *each in (
			(7, 7, 12, [0, 0, 0], 2, 0, 3),  # no change
			(4, 7, 12, [9, 9, 9], 2, 3 << 10, 3),  # 7 - 4 + 1 = 7 + G_9 + 1
			(3, 7, 12, [9, 9, 8], 3, 3 << 10, 3),  # c + 1 = 3 reach 8
			(4, 7, 12, [15, 9, 3], 2, 3 << 10, 3),
			(-9, 0, 12, [0, 5, 0], 2, 3, 3),  # fewer than c + 1 have one: G_5 + 1
			(2, 0, 12, [14, 14, 14], 2, 0, 3), (0, 0, 12, [14, 0, 0], 2, 0, 3),  # at most 2 more; with fewer than c + 1, none
			(3, 0, 12, [14, 14, 14], 2, 3 << 11, 3), (3, 0, 12, [15, 15, 15], 2, 3 << 11, 3), (4, 0, 12, [15, 15, 15], 2, (3 << 11) + 1, 3),
			(1020, 1019, 12, [14, 14], 2, 2 << 12, 2), (-960, -950, 12, [1, 1], 2, 0, 2)):
			self.assertEqual(ranges.next_exponent(*each), expected, each)

	def test_first_exponents(self):
		for expected, *each in (
			(8, 1.0, 1.0, 1, False), (9, 1.01, 2.0, 1, False), (7, 0.5, 2.0, 1, False),
			(38, 1.0, 1.0, 5, False), (37, 0.5, 1.0, 5, False), (38, 2.0 ** 29, 2.0 ** 29, 3, True), (38, 2.0 ** 30, 2.0 ** 30, 3, True),
			(39, 2.0 ** 31, 2.0 ** 31, 3, True), (0, 0.0, 0.0, 1, False), (12, 0.0, 0.0, 5, False), (0, 0.0, 0.0, 5, True),
			(10, 0.0, 4.0, 1, False), (22, 0.0, 4.0, 5, False), (10, 0.0, 4.0, 3, True), (1020, 1e308, 1e308, 1, False), (-960, 1e-300, 1.0, 1, False)):
			self.assertEqual(ranges.first_exponent(*each), expected, each)


# ---- whole rounds ----

TENSORS = {'d': F8, 'i': I8, 'metric:loss': F8, 'none': F4, 'v': F4, 'w': F4, 'z': F8}
SIZES = {'d': 1030, 'i': 5, 'metric:loss': 1, 'none': 0, 'v': 1100, 'w': 1200, 'z': 3}
NONNEGATIVE = ['v']


def write_checkpoint(path, model, exponents=None, **more):
	"""Write a model as a checkpoint; return its bytes."""
	header, end = {'__metadata__': {'nonnegative': json.dumps(NONNEGATIVE), **({'ranges': json.dumps(exponents)} if exponents else {}), **more}}, 0
	for name, values in model.items():
		header[name] = {'dtype': NAMES[values.dtype], 'shape': list(values.shape), 'data_offsets': [end, end + values.nbytes]}
		end += values.nbytes
	text = json.dumps(header).encode()
	data = struct.pack('<Q', len(text)) + text + b''.join(values.tobytes() for values in model.values())
	path.parent.mkdir(parents=True, exist_ok=True)
	path.write_bytes(data)
	return data


class Rounds(unittest.TestCase):
	WEIGHTS = [3, 1, 0, 700]

	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.folder, self.draw = Path(folder.name), np.random.default_rng(5)
		self.before = self.model(lambda name: self.values(name, 1))
		self.exponents = [4, 0, 0, 4, 38, 5, 30]
		self.trained = [{name: self.trained_values(name) for name in TENSORS} for _ in self.WEIGHTS]

	def model(self, values):
		return {name: np.array(values(name), dtype) for name, dtype in TENSORS.items()}

	def values(self, name, scale):
		values = self.draw.standard_normal(SIZES[name]) * scale * 10.0 ** self.draw.integers(-5, 1, SIZES[name])
		return self.draw.integers(-1 << 62, 1 << 62, SIZES[name]) if name == 'i' else abs(values) if name in NONNEGATIVE else values

	def trained_values(self, name):
		"""Updates; of the second half of v, 0; of z, halves of the step, which cancel. A negative zero stays one."""
		if name == 'i':
			return self.before[name] + self.draw.integers(-1000, 1000, 5)
		values = self.before[name] + self.values(name, 0.01)
		if name == 'v':
			values[:550] -= 3 * self.before[name][:550]
			values[550:] = self.before[name][550:]
		if name == 'w':
			self.before[name][7] = values[7] = -0.0
			values[8] = self.before[name][8] + 1e6  # is cut
		return np.array(values, TENSORS[name])

	def request(self, values, who=(1, 2, 3, 4), passed=(), decimals=4, bits=12, paper=False, clip=0):
		return Request(2, str(self.folder), 4, list(who), list(passed), Encoding(values, decimals, bits, paper, clip > 0, clip), 1)

	def place(self, learner, t=2):
		return self.folder / f'learner-{learner:02}/state/checkpoints/round-{t:06}.safetensors'

	def write(self, mean, exponents=None):
		for learner, (model, weight) in enumerate(zip(self.trained, self.WEIGHTS), 1):
			write_checkpoint(self.place(learner), mean, exponents)
			write_checkpoint(self.place(learner, 1), self.before, self.exponents)
			(self.folder / f'learner-{learner:02}/state/trained-000002.model').write_bytes(
				struct.pack('<Q', weight) + b''.join(values.tobytes() for values in model.values()))

	def mean(self, of):
		"""Return the model of what `of` returns for the element k of a tensor."""
		mean = self.model(lambda name: [of(name, k) for k in range(SIZES[name])])
		for name in NONNEGATIVE:
			mean[name][mean[name] <= 0] = 0
		return mean

	def exact(self, name, k):
		bottom, weight = (0 if name == 'i' else -128), sum(self.WEIGHTS)
		total = sum(w * round(Fraction(model[name][k].item()) / Fraction(2) ** bottom) for w, model in zip(self.WEIGHTS, self.trained))
		return round(Fraction(total, weight)) if name == 'i' else double(total * Fraction(2) ** bottom / weight)

	def decimals(self, name, k, scale=10 ** 4, learners=0, clip=None):
		def integer(value):
			if clip is not None and name != 'i':
				value = max(min(value, clip), -clip)
			if name == 'i':
				return value if clip is None else max(min(value, int(clip * scale)), -int(clip * scale))
			return math.trunc(Fraction(value) * scale / learners) if learners else round(Fraction(value) * scale)
		weights = [1] * 4 if learners else self.WEIGHTS
		total = sum(w * integer(model[name][k].item()) for w, model in zip(weights, self.trained))
		weight = 1 if learners else sum(weights)
		if name in NONNEGATIVE:
			total = max(total, 0)
		if name == 'i':
			return round(Fraction(total, weight))
		return double(Fraction(total, scale * weight)) if TENSORS[name] == F8 else total / (float(scale) * float(weight))

	def update(self, name, k, bits=12):
		if name in ('i', 'metric:loss'):
			return self.exact(name, k)
		at, base = list(TENSORS).index(name), self.before[name][k].item()
		count = {'d': 1, 'v': 3, 'w': 1, 'z': 5}[name]
		lower = ranges.lower_bits(count, bits)
		step = Fraction(2) ** (self.exponents[at] - bits - lower)
		edge = 1 << (bits + lower)
		total = sum(w * max(-edge, min(edge, round(Fraction(model[name][k].item() - base) / step))) for w, model in zip(self.WEIGHTS, self.trained))
		return base if total == 0 else base + float(total) / float(sum(self.WEIGHTS)) * float(step)

	def refused(self, request, text, missing=False):
		with self.assertRaises(CheckError) as caught:
			check(request)
		self.assertIn(text, str(caught.exception))
		self.assertEqual(caught.exception.missing, missing)

	def expect_only(self, request, mean, exponents=None):
		"""The mean is right, and each of its neighbours is not, at the first learner and at another."""
		self.write(mean, exponents)
		check(request)
		for name in (name for name in TENSORS if SIZES[name]):
			for learner, flipped in ((1, SIZES[name] - 1), (3, 0)):
				other = {key: values.copy() for key, values in mean.items()}
				other[name].view(np.uint8)[flipped * other[name].itemsize] ^= 1
				write_checkpoint(self.place(learner), other, exponents)
				parameter = sum(SIZES[key] for key in list(TENSORS)[:list(TENSORS).index(name)]) + flipped
				self.refused(request, f'learner-{learner:02}/state/checkpoints/round-000002.safetensors: parameter {parameter} is ')
				write_checkpoint(self.place(learner), mean, exponents)
		check(request)

	def test_with_decimals(self):
		self.trained = [{**model, 'i': np.arange(5) * 7 - 9 + i} for i, model in enumerate(self.trained)]
		self.expect_only(self.request('model'), self.mean(self.decimals))
		self.expect_only(self.request('model', decimals=9), self.mean(lambda name, k: self.decimals(name, k, 10 ** 9)))
		self.expect_only(self.request('model', clip=0.25), self.mean(lambda name, k: self.decimals(name, k, clip=0.25)))
		self.trained = [{**model, 'i': np.zeros(5, I8)} for model in self.trained]
		self.expect_only(self.request('model', paper=True), self.mean(lambda name, k: self.decimals(name, k, learners=4)))

	def test_exact(self):
		exponents = []
		mean = self.mean(self.exact)
		others = max(float(np.abs(mean[name]).max()) for name in ('d', 'v', 'w', 'z'))
		for name, values in mean.items():
			exact, limbs = name in ('i', 'metric:loss'), {'v': 3, 'z': 5, 'none': 5}.get(name, 1)
			exponents.append(0 if exact else ranges.first_exponent(float(np.abs(values).max()) if values.size else 0.0, others, limbs, name == 'v'))
		self.expect_only(self.request('exact'), mean, exponents)
		self.write(mean, [*exponents[:-1], exponents[-1] + 1])
		self.refused(self.request('exact'), f'the range of tensor 6 is 2^{exponents[-1] + 1}, by the updates 2^{exponents[-1]}')
		self.write(mean)
		self.refused(self.request('exact'), ': without ranges')

	def test_updates(self):
		mean, exponents = self.mean(self.update), []
		for at, name in enumerate(TENSORS):
			if name in ('i', 'metric:loss') or not SIZES[name]:
				exponents.append(0 if SIZES[name] else self.exponents[at])
				continue
			e, lower = self.exponents[at], ranges.lower_bits({'v': 3, 'z': 5}.get(name, 1), 12)
			changes = [np.abs(model[name].astype(F8) - self.before[name]) for model in self.trained]
			edge, step, first = 1 << (12 + lower), Fraction(2) ** (e - 12 - lower), [0] * SIZES[name]
			for k in range(SIZES[name]):
				for w, model in zip(self.WEIGHTS, self.trained):
					q = max(-edge, min(edge, round(Fraction(model[name][k].item() - self.before[name][k].item()) / step)))
					first[k] += w * math.floor((q + (1 << lower) // 2) / Fraction(1 << lower))
			exponents.append(ranges.next_exponent(e, 12, [ranges.magnitude(float(change.max()), e) for change in changes], 2, max(map(abs, first)), 704))
		self.expect_only(self.request('update'), mean, exponents)
		self.assertEqual(math.copysign(1, mean['w'][7]), -1)  # what no learner changes comes back bit by bit
		write_checkpoint(self.place(1, 1), self.before)
		self.refused(self.request('update'), 'round-000001.safetensors: a model of another size')

	def test_values_beyond(self):
		for model in self.trained:
			model['i'] = np.zeros(5, I8)
		for values, of, name, bad in (('model', self.decimals, 'd', math.nan), ('model', self.decimals, 'w', 1e30), ('exact', self.exact, 'w', math.inf),
			('exact', self.exact, 'd', 2.0 ** 128), ('update', self.update, 'd', math.nan), ('model', self.decimals, 'i', (1 << 63) // 3 + 1)):
			self.write(self.mean(of), self.exponents)
			before = list(TENSORS)[:list(TENSORS).index(name)]
			learner = 1 if name == 'i' else 2  # three times this value is no int64
			path = self.folder / f'learner-{learner:02}/state/trained-000002.model'
			data = bytearray(path.read_bytes())
			at = 8 + sum(SIZES[key] * TENSORS[key].itemsize for key in before) + 2 * TENSORS[name].itemsize
			data[at:at + TENSORS[name].itemsize] = np.array([bad], TENSORS[name]).tobytes()
			path.write_bytes(data)
			self.refused(self.request(values), f'{path}: element {sum(SIZES[key] for key in before) + 2} is too large')

	def test_files(self):
		request = self.request('model')
		self.trained = [{**model, 'i': np.zeros(5, I8)} for model in self.trained]
		mean = self.mean(self.decimals)
		self.write(mean)
		check(request)
		write_checkpoint(self.place(3), mean, run='another')
		self.refused(request, f'{self.place(3)}: not the same bytes as {self.place(1)}')
		self.place(3).unlink()
		self.refused(request, f'{self.place(3)}: No such file or directory')
		check(self.request('model', passed=[3]))  # it need not have the model, but takes part
		dump = self.folder / 'learner-03/state/trained-000002.model'
		data = dump.read_bytes()
		dump.write_bytes(data[:-1])
		self.refused(self.request('model', passed=[3]), f'{dump}: not a weight and a model like the one that is committed')
		dump.unlink()
		self.refused(self.request('model', passed=[3]), f'{dump}: No such file or directory', missing=True)
		for learner in (1, 2, 4):
			self.place(learner).unlink()
		self.refused(self.request('model', passed=[1, 2, 3, 4]), 'no learner has the model of round 2', missing=True)
		self.refused(self.request('model', decimals=None), 'not recomputed: its decimals are not known', missing=True)

	def test_no_weight(self):
		self.WEIGHTS = [0, 0, 0, 0]
		self.write(self.before)
		self.refused(self.request('model'), 'the models have no mean: the total weight is 0')

	def test_program(self):
		self.trained = [{**model, 'i': np.zeros(5, I8)} for model in self.trained]
		self.write(self.mean(self.decimals))
		line = json.dumps({'round': 2, 'folder': str(self.folder), 'learners': 4, 'who': [1, 2, 3, 4], 'passed': [], 'tolerance': 1, 'encoding': {
			'values': 'model', 'decimals': 4, 'bits': 0, 'paper': False, 'clamp': False, 'clipping_range': 16.0}})
		wrong = line.replace('"decimals": 4', '"decimals": 3')
		done = subprocess.run([sys.executable, '-m', 'starling_verify'], cwd=ROOM, input=f'{line}\n{wrong}\n', capture_output=True, text=True, check=True)
		ready, right, refused = map(json.loads, done.stdout.splitlines())
		self.assertEqual((ready, right, refused['round'], refused['missing']), ({'ready': True}, {'round': 2}, 2, False))
		self.assertIn('the exact mean is', refused['error'])


class Checkpoints(unittest.TestCase):
	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.path = Path(folder.name, 'round-000001.safetensors')

	def test_tensors_lie_one_after_the_other(self):
		model = {'z': np.array([-2]), 'mean': np.array([1.5, 2]), 'none': np.zeros((0, 3), I8), 'v': np.arange(3, dtype=F4), 'metric:a': np.ones(1)}
		write_checkpoint(self.path, model, [0, 1, 2, -960, 1020])
		read = Checkpoint(str(self.path))
		self.assertEqual([(t.begin, t.count, t.dtype, t.first, t.nonnegative, t.metric, t.exponent) for t in read.tensors if t.count], [
			(0, 1, I8, 0, False, False, 0), (8, 2, F8, 1, False, False, 1), (24, 3, F4, 3, True, False, -960), (36, 1, F8, 6, False, True, 1020)])
		self.assertEqual(read.n, 7)
		self.assertEqual(read.block(read.tensors[3], slice(1, 3)).tolist(), [1, 2])

	def test_what_is_none(self):
		tensor = '"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}'
		for header, data in (('{%s}' % tensor, 4), ('{%s}' % tensor, 12), ('{%s,%s}' % (tensor, tensor), 8), ('{', 8), ('[]', 8), ('{}', 0), ('3', 0),
			('{%s}' % tensor.replace('F32', 'F16'), 8), ('{%s}' % tensor.replace('[0,8]', '[-8,0]'), 8), ('{%s}' % tensor.replace('[2]', '[-2]'), 8),
			('{%s}' % tensor.replace('[2]', '[2.0]'), 8), ('{%s}' % tensor.replace('[0,8]', '[8,16]'), 16),
			('{"__metadata__":{"ranges":"[1,2]"},%s}' % tensor, 8), ('{"__metadata__":{"ranges":"[1.5]"},%s}' % tensor, 8)):
			self.path.write_bytes(struct.pack('<Q', len(header)) + header.encode() + bytes(data))
			with self.assertRaisesRegex(CheckError, 'not a checkpoint: its header and its tensors do not agree'):
				Checkpoint(str(self.path))
		for data in (b'', b'1234567', struct.pack('<Q', 1 << 63) + b'{}'):
			self.path.write_bytes(data)
			with self.assertRaisesRegex(CheckError, 'not a checkpoint'):
				Checkpoint(str(self.path))


if __name__ == '__main__':
	unittest.main()
