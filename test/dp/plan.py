#!/usr/bin/env python3
"""Compare `starling dp plan --json` with a second computation: plan.py STARLING

Gaussian noise by the normal distribution, sampling by a numeric integral over the mixture: no formula of the accountant but the
definitions.
"""
import json
import math
import subprocess
import sys

import numpy as np

BOUNDLESS = 36  # beyond this epsilon the distance of the drawn noise from its distribution may exceed delta


def below(x):
	"""Return the probability that a normal number is below x."""
	return math.erfc(-x / math.sqrt(2)) / 2


def plan(*arguments):
	done = subprocess.run([sys.argv[1], 'dp', 'plan', '--json', *map(str, arguments)], check=True, capture_output=True, text=True)
	return json.loads(done.stdout)


def gaussian_epsilon(delta, mu):
	"""Return epsilon of noise 1 / mu, by bisection."""
	low, high = 0.0, 1e4
	while high - low > 1e-9:
		middle = (low + high) / 2
		spent = below(mu / 2 - middle / mu) - math.exp(min(middle, 700)) * below(-mu / 2 - middle / mu)
		low, high = (middle, high) if spent > delta else (low, middle)
	return high


def sampled_epsilon(delta, q, z, rounds):
	"""Return epsilon from the Renyi divergences of orders 2 to 128 of the mixture to the noise alone."""
	x = np.linspace(-12 * z, 12 * z + 130, 40001)
	noise = -x ** 2 / (2 * z * z)
	mixture = np.logaddexp(math.log1p(-q) + noise, math.log(q) - (x - 1) ** 2 / (2 * z * z))
	found = []
	for order in range(2, 129):
		terms = order * mixture + (1 - order) * noise
		integral = np.exp(terms - terms.max()).sum() * (x[1] - x[0]) / (z * math.sqrt(2 * math.pi))
		divergence = (terms.max() + math.log(integral)) / (order - 1)
		found.append(rounds * divergence + math.log1p(-1 / order) - (math.log(delta) + math.log(order)) / (order - 1))
	return min(found)


def near(what, value, expected, above):
	"""Expect a value that is not below `expected`, and above it by a small part only."""
	if not expected * (1 - 1e-9) <= value <= expected * (1 + above):
		sys.exit(f'{what}: {value}, and {expected} here')


def main():
	for z, rounds, delta, records, batch, d in ((1.1, 500, 1e-5, 60000, 256, 50992), (2, 1000, 1e-6, 100000, 2000, 1000000),
	                                            (20, 300, 1e-5, 5000, 500, 1000), (6, 500, 1e-6, 50000, 500, 7000)):
		answer = plan('-z', z, '-T', rounds, '-d', delta, '--records', records, '--batch', batch, '-p', d, '--learners', 7, '--tolerance', 2)
		plain, sampled = answer['plans']
		expected = gaussian_epsilon(delta, math.sqrt(rounds) / z)
		if plain['epsilon'] is sampled['epsilon_unsampled'] is None and expected > BOUNDLESS:
			plain['epsilon'] = sampled['epsilon_unsampled'] = expected
		near('epsilon', plain['epsilon'], expected, 1e-4)
		near('epsilon with sampling', sampled['epsilon'], sampled_epsilon(delta, batch / records, z, rounds), 1e-4)
		near('epsilon if not at random', sampled['epsilon_unsampled'], plain['epsilon'], 1e-9)
		near('noise of the mean', plain['noise_of_mean'], z * math.sqrt(d * 7 / 5) / batch, 0.05)
		near('local noise', plain['local_noise_of_mean'], math.sqrt(5) * plain['noise_of_mean'], 1e-9)
		clips, room = max(2**10, 2**27 / d), 12 * z * (1 / plain['step'] + math.sqrt(d)) / math.sqrt(5 * 7)
		near('bits', plain['bits'], math.ceil(math.log2(4 * 7 * (clips / plain['step'] + room))), 1e-9)  # one is spare
		near('noise of a share', plain['sigma_steps'] * plain['step'] * math.sqrt(5), z, 0.05)
		# A target: the least noise of four digits.
		wanted = sampled['epsilon']
		found = plan('-e', wanted, '-T', rounds, '-d', delta, '--records', records, '--batch', batch, '-p', d)['plans'][1]
		near('noise for epsilon', found['noise'], z, 1.1e-3)
		if found['epsilon'] > wanted:
			sys.exit(f'epsilon {found["epsilon"]} is above {wanted}')


main()
