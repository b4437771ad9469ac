"""A run of `starling simulate`: every commit is compared with plain sums. The sums are made here, of the models as they are
trained, with the encoding alone: shares, mixing and rounding must come to the same."""
import shutil

import numpy as np

import graph
from states import States, centred

SEED = 1


def write_schedule(programs, learners, topologies):
	"""Write a schedule with a step for each topology; return its path."""
	path = programs.path('schedule.txt')
	steps = [graph.step(programs, name, learners, seed + 1) for seed, name in enumerate(topologies)]
	path.write_text(''.join(line + '\n' for line in [f'learners {learners}', *steps]), encoding='ascii')
	return path


class Simulation:
	"""`coordinates`: of the states of mixing, ascending; `trained`: keep the models. After `play`: rows, k, states, sums."""

	def __init__(self, what, learners, topologies, settings, rounds=1, data=None, coordinates=(), shown=0, trained=False):
		self.what, self.learners, self.topologies, self.settings = what, learners, topologies, settings
		self.rounds, self.data, self.coordinates, self.shown = rounds, data, list(coordinates), shown
		self.keep = trained or bool(coordinates)
		self.states, self.summary, self.folder = {}, None, None
		self.p = settings.get('modulus')
		self.unit = 1.0 / learners
		for _ in range(settings.get('decimals', 0)):
			self.unit /= 10

	def trained(self, t):
		"""Return the models of round t as they were trained, a row for each learner."""
		return np.fromfile(self.folder / f'{t}.f32', dtype='<f4').reshape(self.learners, -1)

	def mean(self, t):
		"""Return the mean of the floats, without any encoding."""
		return self.trained(t).astype(np.float64).mean(axis=0)

	def sums(self, t):
		"""Return the sums mod p of the encodings (`weighted`, every weight 1), with the sum of the weights."""
		encoded = np.rint(self.trained(t).astype(np.float64) * 10 ** self.settings['decimals']).astype(np.int64)
		return np.append(encoded.sum(axis=0), self.learners) % self.p

	def decoded(self, z):
		return centred(z, self.p) * self.unit

	def _take(self, text):
		rows = np.fromstring(text, dtype=np.int64, sep=' ').reshape(-1, 3 + len(self.coordinates))
		for t in np.unique(rows[:, 0]).tolist():
			if t not in self.states:
				self.states[t] = States(self.learners, self.sums(t)[self.coordinates], self.shown)
			of_round = rows[rows[:, 0] == t]
			self.states[t].take(of_round[:, 1], of_round[:, 2], of_round[:, 3:])

	def _arguments(self, programs):
		arguments = ['simulate', '-n', self.learners, '--rounds', self.rounds, '--seed', SEED, '--verify',
			'--topology', write_schedule(programs, self.learners, self.topologies)]
		for key, value in {'privacy_check': 'warn', **self.settings}.items():
			arguments += ['--set', f'{key}={value}']
		if self.data is not None:
			arguments += ['--data', self.data]
		if self.keep:
			self.folder = programs.path('trained')
			shutil.rmtree(self.folder, ignore_errors=True)
			self.folder.mkdir()
			arguments += ['--trained', self.folder]
		if self.coordinates:
			arguments += ['--states', '@STATES@', '--coordinates', ','.join(map(str, self.coordinates))]
		return arguments

	def play(self, report, pinned=False, more=()):
		"""Run the rounds and check them."""
		programs = report.programs
		self.summary = programs.starling_json([*self._arguments(programs), *more], self.what, pinned=pinned,
			take=self._take if self.coordinates else None)
		self.check(report)
		return self

	def check(self, report):
		"""Report each wrong or missing result."""
		rows = {row['round']: row for row in self.summary['rounds']}
		for t in range(1, self.rounds + 1):
			where = f'{self.what}, round {t}'
			row, states = rows.get(t), self.states.get(t)
			if row is None or row['learners'] != self.learners or not row['same']:
				report.wrong(f'{where}: not all of {self.learners} learners committed the same')
			if row is None or not row['verified']:
				report.wrong(f'{where}: a committed model is not the plain sum')
			if self.coordinates and (states is None or not states.whole()):
				report.wrong(f'{where}: not every state was seen')
			elif self.coordinates and states.settled() > states.k:
				report.wrong(f'{where}: wrong after all K = {states.k} iterations')

	@property
	def k(self):
		return self.summary['rounds'][-1]['steps']

	def wrong_rounds(self):
		return sum(not row['verified'] for row in self.summary['rounds'])

	def seconds(self, *phases):
		"""Return processor seconds of a learner in a round, of these phases."""
		return sum(self.summary['cpu_s'][phase] for phase in phases) / self.learners / self.rounds
