"""The trainings of tools/dev/tasks: each runs with Starling, as one process per learner, and in one process with float64 means.

    python3 tools/dev/training.py NAME OUT             as a command of starling launch; learner 1 writes OUT
    python3 tools/dev/training.py NAME OUT --alone     all learners in this process, averaged in float64

OUT (.npz) has each tensor of the common model after every round, [rounds + 1, ...], and the scores of the last one."""

import os
import sys

import numpy as np

LAST = 10  # rounds at the end that have to move the model


def row(what, plain, ours, difference, bound=None):
	"""A row of the table; without a bound, a known gap."""
	return {'what': what, 'float64': plain, 'starling': ours, 'difference': float(difference), 'bound': bound}


def closer(what, alone, ours, score, bound, relative=False):
	"""A row that compares a score; the difference in points, or with `relative` in percent."""
	a, b = float(alone[score]), float(ours[score])
	return row(what, f'{a:.4g}', f'{b:.4g}', 100 * abs(b / a - 1) if relative else abs(b - a), bound)


class Task:
	"""What one learner does, from 1. A model is a dict of arrays."""
	learners, rounds = 3, 8
	quiet, told = False, False  # the logs may have no warning; they have to have `clamped`

	def __init__(self, learner):
		self.learner = learner

	def score(self, model):
		"""Return numbers that say how good a model is."""
		return {}


class Net(Task):
	"""Trains torch modules, one for each seed, with SGD."""
	seeds, epochs, batch, rate = 1, 1, 32, 0.05
	pretrained = 0  # epochs on the images of all, moved by a pixel

	def __init__(self, learner):
		super().__init__(learner)
		import torch
		self.torch = torch
		torch.set_num_threads(1)
		x, y, x_test, y_test = (torch.from_numpy(part) for part in self.load())
		self.test, mine = (x_test, y_test), self.mine(y)
		self.nets = torch.nn.ModuleList(self.net(torch.nn) for seed in range(self.seeds) if torch.manual_seed(seed))
		if self.pretrained:
			moved = torch.roll(x.reshape(-1, 8, 8), 1, 2).reshape(x.shape)
			self.fit(moved, y, self.optimizer(self.rate), self.pretrained)
		self.data = x[mine], y[mine]

	def load(self):
		"""Return images and digits, and those that are held out: a third."""
		from sklearn.datasets import load_digits
		x, y = load_digits(return_X_y=True)
		x, held_out = (x / 16).astype(np.float32), np.arange(len(x)) % 3 == 0
		return x[~held_out], y[~held_out], x[held_out], y[held_out]

	def mine(self, y):
		"""Two pieces of the samples in order of their labels."""
		pieces = np.array_split(np.argsort(y.numpy(), kind='stable'), 2 * self.learners)
		return np.concatenate([pieces[self.learner - 1], pieces[self.learner - 1 + self.learners]])

	def net(self, nn):
		return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))

	def start(self):
		return {name: t.numpy().copy() for name, t in self.nets.state_dict().items()}

	def put(self, model):
		"""Give the nets the values of a model."""
		self.nets.load_state_dict({name: self.torch.from_numpy(np.array(model[name])) for name in self.nets.state_dict()})

	def optimizer(self, rate):
		return self.torch.optim.SGD(self.nets.parameters(), rate, momentum=0.9)

	def rate_of(self, t):
		return self.rate

	def fit(self, x, y, optimizer, epochs):
		"""Train all nets, in place."""
		self.nets.train()
		for _ in range(epochs):
			for batch in self.torch.randperm(len(x)).split(self.batch):
				optimizer.zero_grad()
				sum(self.torch.nn.functional.cross_entropy(net(x[batch]), y[batch]) for net in self.nets).backward()
				optimizer.step()

	def train(self, model, t):
		self.torch.manual_seed(1000 * t + self.learner)
		self.put(model)
		self.fit(*self.data, self.optimizer(self.rate_of(t)), self.epochs)
		return self.start()

	def score(self, model):
		self.put(model)
		self.nets.eval()
		with self.torch.no_grad():
			out = [net(self.test[0]) for net in self.nets]
		loss = [self.torch.nn.functional.cross_entropy(o, self.test[1]).item() for o in out]
		right = [(o.argmax(1) == self.test[1]).double().mean().item() for o in out]
		return {'loss': np.mean(loss), 'accuracy %': 100 * np.mean(right)}


class Mnist(Net):
	"""Digits of scikit-learn, eight learners with two or three of the ten; the mean of five seeds."""
	learners, rounds, seeds, epochs = 8, 20, 5, 2

	def judge(self, alone, ours):
		return [closer('accuracy, points', alone, ours, 'accuracy %', 0.2)]


class Unequal(Net):
	"""One of three learners has nine tenths of the digits, and so takes many more steps of Adam than the others: a known gap."""
	rounds, seeds, batch, rate, told = 20, 5, 16, 1e-4, True

	def mine(self, y):
		parts = np.arange(len(y)) % 20
		return parts < 18 if self.learner == 1 else parts == 16 + self.learner

	def optimizer(self, rate):
		return self.torch.optim.Adam(self.nets.parameters(), rate)

	def judge(self, alone, ours):
		return [closer('loss, %', alone, ours, 'loss', None, relative=True), closer('accuracy, points', alone, ours, 'accuracy %', None)]


class Columns(Net):
	"""A raw column near 250,000 before Linear and BatchNorm1d."""
	batch, quiet = 50, True

	def load(self):
		random = np.random.default_rng(1)
		raw, others = random.normal(250e3, 60e3, 6000), random.normal(0, 1, (6000, 3))
		y = (raw - 250e3) / 60e3 + others[:, 0] ** 2 > 1 + 0.3 * random.normal(0, 1, 6000)
		x = np.column_stack([raw, others]).astype(np.float32)
		return x[:3000], y[:3000].astype(np.int64), x[3000:], y[3000:].astype(np.int64)

	def mine(self, y):
		return np.arange(len(y)) % self.learners == self.learner - 1

	def net(self, nn):
		return nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2))

	def judge(self, alone, ours):
		return [closer('accuracy, points', alone, ours, 'accuracy %', 0.5)]


class SmallColumn(Columns):
	"""Raw columns near 250,000 and near 0.0003: running_var has 4e9 beside 1e-8."""
	rounds, seeds, quiet = 16, 5, False  # the changes of running_var may grow more than fourfold from one round to the next

	def load(self):
		random = np.random.default_rng(1)
		x = random.normal([250e3, 0, 3e-4, -20], [60e3, 1, 1e-4, 5], (6000, 4))
		z = (x - [250e3, 0, 3e-4, -20]) / [60e3, 1, 1e-4, 5]
		y = z[:, 0] + z[:, 1] ** 2 + z[:, 2] > 1 + 0.3 * random.normal(0, 1, 6000)
		x = x.astype(np.float32)
		return x[:3000], y[:3000].astype(np.int64), x[3000:], y[3000:].astype(np.int64)


class LargeColumn(Columns):
	"""A raw column of variance 1e12 beside others of variance 1. The learners begin with different models, so that the first round is exact, and the
	ranges of the second one are above running_var as it is then. The means of the second BatchNorm1d hardly change in some rounds, so that the next
	change is cut, and found again in the next round."""
	quiet = False

	def __init__(self, learner):
		super().__init__(learner)
		self.nets[0][0].bias.data += 1e-30 * learner

	def load(self):
		x, y, x_test, y_test = super().load()
		for part in (x, x_test):
			part[:, 0] *= 1e6 / 60e3
		return x, y, x_test, y_test

	def judge(self, alone, ours):
		return [*super().judge(alone, ours), closer('loss, %', alone, ours, 'loss', 1, relative=True)]


class Falling(Net):
	"""Fine-tuning, with a learning rate that falls by 100."""
	learners, rounds, pretrained = 4, 200, 3

	def rate_of(self, t):
		return self.rate * 100 ** (-(t - 1) / (self.rounds - 1))

	def judge(self, alone, ours):
		def moved(of):
			return sum(np.square(h[-1].astype(float) - h[-1 - LAST]).sum() for h in histories(of).values()) ** 0.5
		a, b = moved(alone), moved(ours)
		return [closer('loss, %', alone, ours, 'loss', 0.5, relative=True),
			row(f'way of the last {LAST} rounds, %', f'{a:.3g}', f'{b:.3g}', 100 * abs(b / a - 1), 5)]


class Lora(Net):
	"""98 % of the values are frozen; two small tensors are trained."""
	learners, pretrained, epochs, batch, rate = 4, 10, 4, 16, 0.01

	def net(self, nn):
		torch = self.torch

		class Adapted(nn.Module):
			def __init__(self):
				super().__init__()
				self.base = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 10))
				self.down, self.up = nn.Parameter(torch.randn(64, 2) / 8), nn.Parameter(torch.zeros(2, 512))

			def forward(self, x):
				return self.base[1:](self.base[0](x) + x @ self.down @ self.up)
		return Adapted()

	def fit(self, *arguments):
		for name, parameter in self.nets.named_parameters():
			parameter.requires_grad = ('base' in name) == (not hasattr(self, 'data'))
		return super().fit(*arguments)

	def judge(self, alone, ours):
		frozen = [h for name, h in histories(ours).items() if 'base' in name]
		changed = [sum((h[t] != h[t - 1]).sum() for h in frozen) for t in range(1, self.rounds + 1)]
		lost = max(np.abs(h[1] - h[0]).max() / np.abs(h[0]).max() for h in frozen)
		return [closer('accuracy, points (an image: 0.17)', alone, ours, 'accuracy %', 0.4),
			row('frozen values that change from round 2 on', '0', f'{sum(changed[1:])}', sum(changed[1:]), 0),
			row('frozen values in round 1, of the largest', '0', f'{changed[0]} change', lost, 0)]


class Adam(Net):
	"""The state of Adam is averaged with the model."""
	rounds, epochs, rate, moments = 12, 2, 3e-3, {'exp_avg': 1, 'exp_avg_sq': 1}  # a moment, and the power of it that is averaged

	def start(self):
		moments = {f'{name}.{m}': np.zeros_like(v) for name, v in super().start().items() for m in self.moments}
		return {**super().start(), **moments, 'step': np.zeros(1, np.float32)}

	def train(self, model, t):
		self.torch.manual_seed(1000 * t + self.learner)
		self.put(model)
		optimizer, trained = self.torch.optim.Adam(self.nets.parameters(), self.rate), {}
		for name, p in self.nets.named_parameters():
			optimizer.state[p] = {m: self.torch.from_numpy(model[f'{name}.{m}'] ** (1 / k)) for m, k in self.moments.items()}
			optimizer.state[p]['step'] = self.torch.tensor(model['step'][0])
		self.fit(*self.data, optimizer, self.epochs)
		for name, p in self.nets.named_parameters():
			trained.update({f'{name}.{m}': optimizer.state[p][m].numpy() ** k for m, k in self.moments.items()})
		return {**super().start(), **trained, 'step': optimizer.state[p]['step'].numpy().reshape(1)}

	def judge(self, alone, ours):
		a, b = (np.abs(of['h/0.0.weight'][-1]).max() for of in (alone, ours))
		least = [min(h.min() for name, h in histories(of).items() if name.endswith('_sq')) for of in (alone, ours)]
		return [closer('loss, %', alone, ours, 'loss', 1, relative=True),
			row('least exp_avg_sq below 0', f'{least[0]:.3g}', f'{least[1]:.3g}', max(0, -least[1]), 0),
			row('largest weight, %', f'{a:.3g}', f'{b:.3g}', 100 * abs(b / a - 1), 10)]


class AdamRoot(Adam):
	"""The same, with the root of exp_avg_sq in its place."""
	moments = {'exp_avg': 1, 'exp_avg_sq': 0.5}


class Words(Columns):
	"""Embedding, mean, Linear, with Adam; a learner touches few rows."""
	batch, rate, words = 32, 1e-2, 3000

	def load(self):
		random = np.random.default_rng(1)
		meaning, y, x = random.normal(0, 1, (self.words, 2)), random.integers(0, 2, 3600), np.empty((3600, 20), np.int64)
		for i, label in enumerate(y):
			likely = np.exp(1.2 * meaning[:, label] - np.log(1 + np.arange(self.words)))
			x[i] = random.choice(self.words, 20, p=likely / likely.sum())
		return x[:600], y[:600], x[600:], y[600:]

	def net(self, nn):
		return nn.Sequential(nn.EmbeddingBag(self.words, 16, mode='mean'), nn.Linear(16, 2))

	def optimizer(self, rate):
		return self.torch.optim.Adam(self.nets.parameters(), rate)


# --- numbers in place of a training ---

class Numbers(Task):
	"""Adds random numbers that depend on the learner and the round alone."""
	learners, rounds = 4, 14

	def random(self, t, learner=None):
		return np.random.default_rng([t, self.learner if learner is None else learner])

	def train(self, model, t):
		update = self.update(t)
		return {name: (value + update[name]).astype(np.float32) for name, value in model.items()}

	def updates(self, t):
		"""Return the updates of all learners, [learner, ...] by name."""
		every = [type(self)(i + 1).update(t) for i in range(self.learners)]
		return {name: np.stack([u[name] for u in every]) for name in every[0]}

	def errors(self, of):
		"""Return by tensor and round the largest error, relative to the largest update: of the mean, and of its sum since round 1."""
		found, late = {}, {}
		for t in range(1, self.rounds + 1):
			for name, u in self.updates(t).items():
				h = of[f'h/{name}']
				error = h[t].astype(float) - h[t - 1] - u.mean(0)
				late[name] = late.get(name, 0) + error if t > 1 else 0 * error
				found.setdefault(name, []).append(np.abs([error, late[name]]).max(1) / np.abs(u).max())
		return {name: np.array(e).T for name, e in found.items()}


def worst(what, alone, ours, at, bound=None):
	"""A row of the largest errors, which `at` chooses from the errors of a tensor."""
	a, b = (max((e[at].max() for e in errors), default=0) for errors in (alone, ours))
	return row(what, power(a), power(b), b, bound)


def power(value):
	"""Write a number as a power of two."""
	return f'2^{np.log2(value):.1f}' if value > 0 else '0'


class Ratio(Numbers):
	"""Tensors of 1e-12 to 1e12 beside each other, with updates of 1 %.

	What a round leaves out, up to 2^-11 of the largest update, comes with the next: the mean of one round may be off by twice that,
	the sum of all rounds by little more than that."""

	def start(self):
		random = self.random(0, 0)
		return {f'1e{e:+03d}': (random.normal(0, 1, 4096) * 10.0 ** e).astype(np.float32) for e in range(-12, 13)}

	def update(self, t):
		random = self.random(t)
		return {name: random.normal(0, 0.01, len(value)) * float(name) for name, value in self.start().items()}

	def judge(self, alone, ours):
		errors = [self.errors(of) for of in (alone, ours)]
		of = [e.values() for e in errors]
		return [worst('error, round 1', *of, np.s_[0, 0], 2 ** -12), worst('error, round 2', *of, np.s_[0, 1], 2 ** -12),
			worst('error, from round 3 on', *of, np.s_[0, 2:], 2 ** -10), worst('error of their sum', *of, np.s_[1, 2:], 2 ** -10.5)]


class Cancel(Numbers):
	"""Twenty learners whose updates cancel: the mean is 1/50 of each."""
	learners = 20

	def start(self):
		return {'w': self.random(0, 0).normal(0, 1, 4096).astype(np.float32)}

	def update(self, t):
		pair = self.random(t, (self.learner + 1) // 2).normal(0, 0.01, 4096)
		return {'w': (1 if self.learner % 2 else -1) * pair + self.random(t, 0).normal(0, 0.01, 4096) / 50}

	def judge(self, alone, ours):
		errors = [self.errors(of).values() for of in (alone, ours)]
		return [worst('error, rounds 1 and 2', *errors, np.s_[0, :2]), worst('error, from round 3 on', *errors, np.s_[0, 2:], 2 ** -11)]


class Always(Numbers):
	"""One learner's updates of half of a tensor are 1000 times those of the others in every round."""
	learners, rounds, far, told = 8, 12, range(1, 10 ** 6), True

	def start(self):
		return {'w': self.random(0, 0).normal(0, 1, 4096).astype(np.float32)}

	def update(self, t):
		u = self.random(t).normal(0, 0.01, 4096)
		u[:2048] *= 1000 if self.learner == 1 and t in self.far else 1
		return {'w': u}

	def others(self, of, rounds):
		"""Return the largest error where all updates are small, relative to the largest of these."""
		w, small = histories(of)['w'].astype(float), np.s_[2048:]
		pairs = ((w[t] - w[t - 1], self.updates(t)['w']) for t in rounds)
		return max(np.abs(moved - u.mean(0))[small].max() / np.abs(u[1:]).max() for moved, u in pairs)

	def judge(self, alone, ours):
		a, b = (self.others(of, range(3, self.rounds + 1)) for of in (alone, ours))
		way = sum(self.updates(t)['w'].mean(0) for t in range(1, self.rounds + 1))[:2048]
		came = [100 * ((of['h/w'][-1].astype(float) - of['h/w'][0])[:2048] @ way) / (way @ way) for of in (alone, ours)]
		return [row("error of the others' part", power(a), power(b), b, 2 ** -8),
			row('what has arrived of the far ones, %', f'{came[0]:.1f}', f'{came[1]:.1f}', abs(came[0] - came[1]))]


class Once(Always):
	"""The same in round 4 alone: what is beyond the range is cut, as by a clipping of gradients."""
	far = (4,)


TASKS = {'mnist': Mnist, 'unequal': Unequal, 'batchnorm': Columns, 'small-column': SmallColumn, 'large-column': LargeColumn, 'falling': Falling, 'lora': Lora, 'adam': Adam, 'adam-root': AdamRoot, 'ratio': Ratio, 'cancel': Cancel,
	 'outlier-always': Always, 'outlier-once': Once, 'embedding': Words}


# --- the two ways ---

def histories(of):
	"""Return the tensors of a result by name, [rounds + 1, ...]."""
	return {name[2:]: of[name] for name in of if name.startswith('h/')}


def mean64(models):
	"""Return the mean in float64, rounded to the dtypes of the models. Integers are kept, as Starling does."""
	return {name: np.mean([m[name] for m in models], axis=0, dtype=np.float64).astype(first.dtype) if first.dtype.kind == 'f' else first
		for name, first in models[0].items()}


def train_alone(kind):
	"""Train all learners in this process. Return the first, and the models."""
	tasks = [kind(i + 1) for i in range(kind.learners)]
	models = [tasks[0].start()]
	for t in range(1, kind.rounds + 1):
		models.append(mean64([task.train(models[-1], t) for task in tasks]))
	return tasks[0], models


def train_together(kind):
	"""Train the learner of this process. Return it, and the models."""
	import starling
	task = kind(int(os.environ['STARLING_LEARNER']))
	models = [task.start()]
	with starling.join(models[0]) as group:
		for t in group:
			models[t:] = [group.mean(task.train(models[t - 1], t))]
	return task, models


if __name__ == '__main__':
	trained, every = (train_alone if sys.argv[3:] else train_together)(TASKS[sys.argv[1]])
	if trained.learner == 1:
		np.savez(sys.argv[2], **{f'h/{name}': np.stack([m[name] for m in every]) for name in every[0]}, **trained.score(every[-1]))
