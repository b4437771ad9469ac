"""Graphs, and the Metropolis-Hastings matrix A of one: its eigenvalues, and how its powers approach the mean. The paper's
quantities, computed from the matrix and not by the code that learners use."""
import math

import numpy as np


def step(programs, topology, learners, seed=1):
	"""Return the line of a schedule for a step, as `starling topology generate` draws it."""
	written = programs.call([programs.starling, 'topology', 'generate', topology, '-n', learners, '--steps', 1, '--seed', seed],
		topology)
	return next(line for line in written.splitlines() if line.startswith('step'))


def edges(line):
	"""Return the edges of a step as rows of two vertices, from 0."""
	return np.array([[int(v) - 1 for v in edge.split('-')] for edge in line.split()[1:]])


def matrix(pairs, learners):
	degree = np.bincount(pairs.ravel(), minlength=learners)
	a = np.zeros((learners, learners))
	i, j = pairs.T
	a[i, j] = a[j, i] = 1 / (np.maximum(degree[i], degree[j]) + 1)
	a[np.diag_indices(learners)] = 1 - a.sum(axis=1)
	return a


def eigenvalues(a):
	"""Return the second largest eigenvalue, which the paper quotes, the least, and the second largest modulus."""
	values = np.linalg.eigvalsh(a)
	return float(values[-2]), float(values[0]), float(max(abs(values[-2]), abs(values[0])))


def iterations(p, learners, mu):
	"""Return the smallest K with 2 p N^1.5 mu^K < 1."""
	if mu <= 0:
		return 1
	return max(1, math.floor(math.log(2 * p * learners * math.sqrt(learners)) / -math.log(mu)) + 1)


def power_norms(a, at):
	"""Return || N A^k - 11' || for every k of `at`. Since A keeps the mean, N A^k - 11' = N (A - 11'/N)^k, which loses nothing
	to the difference of two nearly equal matrices."""
	n = len(a)
	return [n * float(np.abs(np.linalg.eigvalsh(np.linalg.matrix_power(a - 1 / n, int(k)))).max()) for k in at]
