"""What the difference of two sums tells of one learner: the figures in README.

    /usr/bin/python3 tools/dev/differences.py

Eight learners train a logistic regression; the sum of their models is known to a coalition of one (c = 1), as in every round. The last one
is new in the second of two rounds, or is lost after the first. `membership_change` decides which learners take part (GROUP.md 12.7): with wait
and cohort, two more enter with a newcomer; with cohort, three more sit out when one is lost; with wait no round goes on without it. The
colluder is one of these, and subtracts its own updates. It takes the difference of the two sums for the update of the last learner.

Cosine: of this estimate and the true update. AUC: of a membership test, which asks for a sample whether the estimate goes in the direction
of its gradient: 0.5 is guessing. Samples that were used against fresh ones of the same learner."""

import numpy as np

LEARNERS, SAMPLES, FEATURES, REPEATS = 8, 40, 50, 200
TARGET, COLLUDER = LEARNERS - 1, LEARNERS - 2
# name: participants of the first and of the second round
CASES = {
	'the mean alone': (None, range(8)),
	'newcomer, warn': (range(7), range(8)),
	'newcomer, wait and cohort': (range(5), range(8)),
	'loss, warn': (range(8), range(7)),
	'loss, cohort': (range(8), range(4)),
}


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


def attempt(rng, first, second, epochs, before):
	"""Return the cosine and the AUC of one repetition, after `before` rounds."""
	truth, centres = rng.normal(size=FEATURES) / 3, rng.normal(size=(LEARNERS, FEATURES)) / 4
	data = [samples(rng, centre, truth) for centre in centres]
	fresh = samples(rng, centres[TARGET], truth)
	model = np.zeros(FEATURES)
	for _ in range(before):
		model = model + np.mean([train(rng, model, data[i], epochs) for i in (first or second)], axis=0)
	true, total = None, []
	for members in (first, second):
		if members is None:
			continue
		updates = {i: train(rng, model, data[i], epochs) for i in members}
		if TARGET in updates:
			true, at = updates[TARGET], model
		total.append(sum(update for i, update in updates.items() if i != COLLUDER))
		model = model + np.mean(list(updates.values()), axis=0)
	estimate = total[-1] if len(total) == 1 else (total[1] - total[0]) * (1 if TARGET in second else -1)
	score = [gradient(at, *of) @ -estimate for of in (data[TARGET], fresh)]
	return estimate @ true / np.linalg.norm(estimate) / np.linalg.norm(true), auc(*score)


def main():
	for epochs in (0, 2):
		for before in (0, 10):
			print(f'{"one step over all samples" if epochs == 0 else f"{epochs} epochs of SGD"}, after {before} rounds')
			for name, (first, second) in CASES.items():
				rng = np.random.default_rng(1)
				results = np.array([attempt(rng, first, second, epochs, before) for _ in range(REPEATS)])
				print(f'  {name:26} cosine {results[:, 0].mean():5.2f}   AUC {results[:, 1].mean():4.2f}')


if __name__ == '__main__':
	main()
