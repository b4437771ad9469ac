"""The cases in a process of their own (bench-kernels), and those of real daemons over loopback, by `starling launch`.

The first rounds are not counted: the links are made, and the ranges of the tensors, with more bits an element, give way to those of
updates (ROUND.md §4.8). The trainer is `noise`, except in the case `demo`.
"""
import statistics
import tempfile

from program import Failed

PARTS = 'agree', 'share', 'ready', 'mix', 'confirm'
TLS = 'TLS with nothing around it, both ends'
MEMORY_FOLDER = '/dev/shm'
FIRST = 4  # rounds that are not counted


def launch(bench, learners, topology, size=0, settings=(), run_folder='run', what='rounds of daemons', rounds=0):
	"""Launch one run; return the rounds of its summary. `size` 0: the default trainer. `rounds` 0: one for each sample, after the first ones."""
	arguments = ['launch', '-n', learners, '--rounds', rounds or bench.repeat + FIRST, '--topology', topology, '--run-dir', run_folder]
	for setting in (*(('trainer=noise', f'noise_parameters={size}') if size else ()), *settings):
		arguments += ['--set', setting]
	summary = bench.programs.starling_json(arguments, what)
	if not summary['all_same']:
		raise Failed("the launcher's summary does not say that all rounds were the same")
	return summary['rounds']


def numbers(rows, key, scale=1.0):
	"""Return a number of each round but the first ones; of "parts_s" with "." between. Rounds without it are left out."""
	*within, key = key.split('.')
	found = [(row[within[0]] or {} if within else row).get(key) for row in rows[FIRST:]]
	return [scale * value for value in found if value is not None]


def kernels(bench, case):
	"""Run a case of bench-kernels."""
	for name, unit, value in bench.sample(case):
		bench.result.add(unit, name, value)


def exchange(bench, learners, size, topology, few, many):
	"""The difference between many and few iterations is the cost of the exchanges: CPU of both ends, mixing included."""
	cpu = bench.result.add('ns a byte', 'CPU of both ends, mixing included')
	runs = [launch(bench, learners, topology, size, ('mixing=metropolis', f'iterations={n}'), f'run-{n}', f'{n} iterations')
		for n in (few, many)]
	for a, b in zip(*(rows[FIRST:] for rows in runs)):
		if b['bytes'] > a['bytes']:
			cpu.append(1e9 * (b['cpu_s'] - a['cpu_s']) / (b['bytes'] - a['bytes']))
	kernels(bench, 'tls')
	bench.result.add_ratio('over bare TLS', cpu, bench.result.add('ns a byte', TLS))


def traffic(bench, simulated, launched):
	"""What a learner sends and computes in rounds of small models, by the number of learners: it grows with their records."""
	topology, size = 'regular:6', 1000
	for learners in simulated:
		rows = bench.programs.starling_json(['simulate', '-n', learners, '--rounds', bench.repeat + FIRST, '--topology', topology, '--set', 'trainer=noise',
			'--set', f'noise_parameters={size}'], f'{learners} learners in one process')['rounds']
		bench.result.add('kB', f'sent by a learner, N {learners}', *numbers(rows, 'bytes', 1e-3 / learners))
	for learners in launched:
		rows = launch(bench, learners, topology, size, run_folder=f'run-{learners}', what=f'{learners} daemons')
		bench.result.add('ms', f'CPU of a learner, N {learners}', *numbers(rows, 'cpu_s', 1e3 / learners))


def floor(bench, learners, size, row):
	"""Return the seconds for the bytes of a round through bare TLS and the arithmetic of `additive` and `exact`, on all processors."""
	degree, samples = 2 * row['edges'] / learners, {}
	for name, _, value in bench.sample('floor', int(degree)):
		samples.setdefault(name, []).append(value)
	bench.result.add('ns a byte', TLS, *samples[TLS])
	tls, share, exact = (statistics.median(samples[name]) for name in (TLS, 'additive', 'exact'))
	work = (size + 1) * ((degree + 1) * share + degree * row['steps'] * exact)
	return 1e-9 * (row['bytes'] * tls + learners * work) / bench.processors


def daemons(bench, memory=False, least=False, **what):
	"""Rounds; with `memory` again with the run folder on a tmpfs, with `least` beside the least time that bytes and arithmetic take."""
	result = bench.result
	rows = launch(bench, **what)
	seconds = result.add('s', 'last trained to last commit', *numbers(rows, 'aggregate_s'))
	result.add('s', '  train', *numbers(rows, 'train_s'))
	for part in PARTS:
		result.add('s', f'  {part}', *numbers(rows, f'parts_s.{part}'))
	result.add('s', 'CPU of all learners', *numbers(rows, 'cpu_s'))
	result.add('MB', 'sent by all learners', *numbers(rows, 'bytes', 1e-6))
	result.add('MB', 'memory of a learner, at most', *numbers(rows, 'peak_bytes', 1e-6))
	if least:
		shortest = result.add('s', 'its floor: bytes and arithmetic')
		shortest.append(floor(bench, what['learners'], what['size'], rows[FIRST]))
		result.add_ratio('over its floor', seconds, shortest)
	if memory:
		try:
			folder = tempfile.TemporaryDirectory(prefix='starling-bench-', dir=MEMORY_FOLDER)
		except OSError:
			result.notes.append(f'not measured without a disk: no folder can be made in {MEMORY_FOLDER}')
			return
		with folder as name:
			rows = launch(bench, **what, run_folder=f'{name}/run', what='rounds of daemons, on a tmpfs')
		result.add('s', 'the same with the records on a tmpfs', *numbers(rows, 'aggregate_s'))


def long_runs(bench, few, many, **what):
	"""What a round leaves, from runs of `few` and of `many` rounds: bytes of the files of each learner, and of the largest memory of all."""
	left = {'learner.db, with its log': 'state/learner.db*', 'log': 'log.jsonl'}
	sizes, peaks = [], []
	for rounds in few, many:
		rows = launch(bench, **what, run_folder=f'run-{rounds}', what=f'{rounds} rounds of daemons', rounds=rounds)
		peaks.append(rows[-1]['peak_bytes'])
		sizes.append([{name: sum(path.stat().st_size for path in learner.glob(files)) for name, files in left.items()}
			for learner in sorted(bench.programs.path(f'run-{rounds}').glob('learner-*'))])
	for name in left:
		bench.result.add('B a round', name, *((after[name] - before[name]) / (many - few) for before, after in zip(*sizes)))
	bench.result.add('B a round', 'memory of a learner, at most', (peaks[1] - peaks[0]) / (many - few))
	bench.result.add('MB', f'learner.db after {many} rounds', *(one['learner.db, with its log'] / 1e6 for one in sizes[1]))
