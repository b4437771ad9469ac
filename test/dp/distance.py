#!/usr/bin/env python3
"""Compute how far the elements of plans are from the discrete Gaussian distribution, in exact arithmetic.

    distance.py PRINT_PLAN

The limits are those of common/dp/gaussian.h.
"""
import subprocess
import sys
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 90
ALL = 2 ** 63         # draws of a table
SMOOTHING2 = 4        # the square of the least v
OF_TERM, OF_ELEMENT = Decimal(2) ** -112, Decimal(2) ** -104
CONVOLVED = {'9.5', '16', '33', '38.45', '100'}  # those that are multiplied out
PLANNED = ['0.5', '0.7071', '1', '1.1', '2', '2.718281828', '4', '6.5', '9.3', '9.4', '10', '23', '38', '39', '140', '150.3', '1000', '6700',
	'65536', '123456.789', '1e6', '4194304', *sorted(CONVOLVED), *(f'{0.6 * 1.41 ** i:.6g}' for i in range(46))]


def gaussian(variance, most):
	"""Return the probabilities of 0 .. most under N_Z(0, variance); half of that for x > 0 is each of x and -x."""
	weights = [(-Decimal(x * x) * variance.denominator / (2 * variance.numerator)).exp() * (2 if x else 1) for x in range(most + 1)]
	total = sum(weights)
	return [w / total for w in weights]


def table(common, rare):
	"""Return the probabilities of |y_i|, times 2^126."""
	assert common == sorted(common) and rare == sorted(rare) and 0 <= common[0] and common[-1] < ALL > rare[-1]
	assert len(common) <= 128 and len(rare) <= 128
	wholes = [b - a for a, b in zip([-1, *common], common)] + [0] * (len(rare) + 1 - len(common))
	rares = [b - a for a, b in zip([-1, *rare], [*rare, ALL - 1])]
	left = ALL - 1 - common[-1]
	assert 0 < left <= 128, left
	assert sum(wholes) + left == ALL == sum(rares)
	return [whole * ALL + left * part for whole, part in zip(wholes, rares)]


def variation(probabilities, variance):
	"""Return the total variation between the probabilities of 0 .. , those of x and -x added, and N_Z."""
	ideal = gaussian(variance, len(probabilities) + 50)
	return sum(abs(a - b) for a, b in zip(ideal, [*probabilities, *[0] * 51])) / 2


def convolve(sizes, coefficients):
	"""Return the distribution of the sum of c_i y_i over all y >= 0, as probabilities of |y|."""
	term = {x * sign: Fraction(p, 2 ** 126 * (2 if x else 1)) for x, p in enumerate(sizes) for sign in (1, -1)}
	one = 2 ** 200
	scaled = {x: int(p * one) for x, p in term.items()}
	total = {0: one}
	for c in coefficients:
		new = {}
		for z, p in total.items():
			for x, q in scaled.items():
				new[z + c * x] = new.get(z + c * x, 0) + p * q
		total = {z: p // one for z, p in new.items()}
	return [Decimal(total.get(z, 0) * (2 if z else 1)) / one for z in range(max(total) + 1)]


def check(name, sigma, coefficients, common, rare):
	sigma = Fraction(float.fromhex(sigma))
	asked = Fraction(float(name))
	assert asked <= sigma <= asked + Fraction(1, 2 ** 20), f'{name}: planned {float(sigma)}'
	squares = sum(c * c for c in coefficients)
	variance = sigma ** 2 / squares
	sizes = table(common, rare)
	distance = variation([Decimal(p) / 2 ** 126 for p in sizes], variance)
	assert distance < OF_TERM, f'{name}: a term is {distance} from N_Z(0, {float(variance)})'
	assert coefficients[0] == 1 and min(coefficients) > 0
	for i in range(1, len(coefficients)):
		before = sum(c * c for c in coefficients[:i])
		smooth = variance * before / (before + coefficients[i] ** 2)
		assert smooth >= SMOOTHING2 * (1 - Fraction(1, 2 ** 40)), f'{name}: term {i} has v^2 = {float(smooth)}'
	text = f'{name}: {len(coefficients)} terms, each within {distance:.1e}'
	if name in CONVOLVED:
		distance = variation(convolve(sizes, coefficients), sigma ** 2)
		assert distance < OF_ELEMENT, f'{name}: an element is {distance} from N_Z'
		text += f', their sum within {distance:.1e}'
	print(text)


def main():
	"""Check each plan."""
	lines = subprocess.run([sys.argv[1], *PLANNED], check=True, capture_output=True, text=True).stdout.splitlines()
	assert len(lines) == 4 * len(PLANNED)
	for i, name in enumerate(PLANNED):
		sigma, *rest = lines[4 * i:4 * i + 4]
		check(name, sigma, *([int(v) for v in line.split()] for line in rest))


if __name__ == '__main__':
	main()
