"""The mixing of one round as an observer sees it: the value that each learner would decode if iteration k were its last."""
import numpy as np

KEPT = 240  # values of a learner at most: the width of a figure in pixels


def kept(k):
	"""Return 0, 1, 2 .. k, or as many with growing distances."""
	ratio, following, chosen = float(k) ** (1 / (KEPT - 1)), 1.0, [0]
	for at in range(1, k + 1):
		if len(chosen) < KEPT and (k < KEPT or at >= following or at == k):
			chosen.append(at)
			following = max(following * ratio, at + 1)
	chosen[-1] = k
	return chosen


def centred(z, p):
	z = np.asarray(z, dtype=np.int64)
	return np.where(z > p // 2, z - p, z)


class States:
	"""`truth`: plain sums of the encodings mod p, at the coordinates. Counts, for every k, the learners' coordinates that would
	come out wrong; keeps the values of the coordinate number `shown`."""

	def __init__(self, learners, truth, shown=0):
		self.learners, self.truth, self.shown = learners, np.asarray(truth), shown
		self.wrong_at = np.zeros(0, dtype=np.int64)
		self.seen = np.zeros(0, dtype=np.int64)
		self.values = np.zeros((0, learners), dtype=np.int64)
		self.last = None  # what learner 1 decodes in the end

	def _grow(self, count):
		if count > len(self.seen):
			more = max(count, 2 * len(self.seen)) - len(self.seen)
			self.wrong_at, self.seen = (np.pad(a, (0, more)) for a in (self.wrong_at, self.seen))
			self.values = np.pad(self.values, ((0, more), (0, 0)))

	def take(self, k, learner, z):
		"""Take rows: an iteration, a learner from 1, its coordinates."""
		self._grow(int(k.max()) + 1)
		wrong = (z != self.truth).sum(axis=1)
		np.add.at(self.wrong_at, k, wrong)
		np.add.at(self.seen, k, z.shape[1])
		self.values[k, learner - 1] = z[:, self.shown]
		first = np.flatnonzero(learner == 1)
		if len(first):
			self.last = z[first[-1]]

	@property
	def k(self):
		return int(np.flatnonzero(self.seen)[-1])

	def whole(self):
		"""Return True if every learner was seen in every iteration."""
		return len(self.seen) > 0 and bool((self.seen[:self.k + 1] == self.learners * len(self.truth)).all())

	def settled(self):
		"""Return the least k from which everything is right and stays right; K+1 when the end is wrong."""
		wrong = np.flatnonzero(self.wrong_at[:self.k + 1])
		return int(wrong[-1]) + 1 if len(wrong) else 0

	def wrong(self, k):
		"""Return the number of wrong coordinates at k, or at K when there is no such iteration."""
		return int(self.wrong_at[min(k, self.k)])

	def rows(self, graph, p, unit):
		"""Return rows of a table: the graph, k, and what each learner decodes."""
		return [[graph, at, *(centred(self.values[at], p) * unit).tolist()] for at in kept(self.k)]
