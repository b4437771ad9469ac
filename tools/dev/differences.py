"""What the difference of two sums tells of one learner: the figures in README.

    /usr/bin/python3 tools/dev/differences.py

Nine learners train a logistic regression; the sum of their models is known to a coalition of one (c = 1), as in every round. The last one
is new in the second of two rounds, or is lost after the first. `membership_change` decides which learners take part (GROUP.md 12.7): with wait
and cohort, two more enter with a newcomer; with cohort, three more sit out when one is lost, until sixteen sums are old; with wait no round
goes on without it. The colluder is one of these, and subtracts its own updates. It takes the difference of the two sums for the update of the
last learner.

Cosine: of this estimate and the true update. AUC: of a membership test, which asks for a sample whether the estimate goes in the direction
of its gradient: 0.5 is guessing. Samples that were used against fresh ones of the same learner."""

import numpy as np

LEARNERS, SAMPLES, FEATURES, REPEATS = 9, 40, 50, 200
TARGET, COLLUDER = LEARNERS - 1, LEARNERS - 2
# name: participants of the first and of the second round, and of the sixteen between them, if there are any
CASES = {
	'the mean alone': (None, range(9), None),
	'newcomer, warn': (range(8), range(9), None),
	'newcomer, wait and cohort': (range(6), range(9), None),
	'loss, warn': (range(9), range(8), None),
	'loss, cohort': (range(9), range(5), None),
	'loss, cohort, 16 sums later': (range(9), range(8), range(5)),
}
SUMS = 16


def samples(rng, centre, truth):
	x = rng.normal(size=(SAMPLES, FEATURES)) + centre
	y = (rng.random(SAMPLES) < 1 / (1 + np.exp(-x @ truth))).astype(float)
	return x, y


def gradient(model, x, y):
	return (1 / (1 + np.exp(-x @ model)) - y)[:, None] * x


def train(rng, model, data, epochs):
	"""One step over all samples; or epochs of steps over batches of 8, in an order of their own."""
	x, y = data
	if epochs == 0:
		return -0.5 * gradient(model, x, y).mean(axis=0)
	new = model.copy()
	for _ in range(epochs):
		for batch in np.array_split(rng.permutation(SAMPLES), SAMPLES // 8):
			new -= 0.1 * gradient(new, x[batch], y[batch]).mean(axis=0)
	return new - model


def auc(members, others):
	return float((members[:, None] > others[None, :]).mean())


def rounds(rng, model, data, members, epochs, count):
	for _ in range(count):
		model = model + np.mean([train(rng, model, data[i], epochs) for i in members], axis=0)
	return model


def attempt(rng, first, second, between, epochs, before):
	"""Return the cosine and the AUC of one repetition, after `before` rounds."""
	truth, centres = rng.normal(size=FEATURES) / 3, rng.normal(size=(LEARNERS, FEATURES)) / 4
	data = [samples(rng, centre, truth) for centre in centres]
	fresh = samples(rng, centres[TARGET], truth)
	model = rounds(rng, np.zeros(FEATURES), data, first or second, epochs, before)
	true, total = None, []
	for members in (first, second):
		if members is None:
			continue
		updates = {i: train(rng, model, data[i], epochs) for i in members}
		if TARGET in updates:
			true, at = updates[TARGET], model
		total.append(sum(update for i, update in updates.items() if i != COLLUDER))
		model = model + np.mean(list(updates.values()), axis=0)
		if members is first and between is not None:
			model = rounds(rng, model, data, between, epochs, SUMS)
	estimate = total[-1] if len(total) == 1 else (total[1] - total[0]) * (1 if TARGET in second else -1)
	score = [gradient(at, *of) @ -estimate for of in (data[TARGET], fresh)]
	return estimate @ true / np.linalg.norm(estimate) / np.linalg.norm(true), auc(*score)


def main():
	for epochs in (0, 2):
		for before in (0, 10):
			print(f'{"one step over all samples" if epochs == 0 else f"{epochs} epochs of SGD"}, after {before} rounds')
			for name, case in CASES.items():
				rng = np.random.default_rng(1)
				results = np.array([attempt(rng, *case, epochs, before) for _ in range(REPEATS)])
				print(f'  {name:28} cosine {results[:, 0].mean():5.2f}   AUC {results[:, 1].mean():4.2f}')


if __name__ == '__main__':
	main()
