"""Part f: loss against rounds, with models averaged as floats and through the encodings.

A mean of nine digits is within 10^-9 of that of the floats. The last model is compared with the mean of the models as they were
trained."""
import shutil

import numpy as np

from simulation import Simulation

ROUNDS = 25
TRAINS = 0.5  # of the gain of floats: less counts as not trained
EQUALS = 0.02  # of the loss of floats: a smaller difference counts as equal
FLOATS = {'encoding': 'weighted', 'decimals': 9, 'modulus': 2 ** 61 - 1}
WAYS = {'floats': FLOATS, 'weighted σ = 3': {'encoding': 'weighted', 'decimals': 3},
	'paper σ = 2': {'encoding': 'paper', 'decimals': 2}, 'paper σ = 4': {'encoding': 'paper', 'decimals': 4}}


def check_floats(report, run, saved):
	"""Compare the last model with the mean of the floats: half of the ninth digit and half a unit of float32 are rounded off."""
	mean = run.mean(run.rounds)
	model = np.frombuffer(next(saved.glob('*.safetensors')).read_bytes()[-4 * len(mean):], dtype='<f4')
	apart = np.abs(model - mean)
	if (apart > 0.501e-9 + 0.501 * np.spacing(np.abs(model))).any():
		report.wrong(f'floats: the last model is up to {apart.max():g} away from the mean of the floats')


def curve(report, way, hidden_units, learners, rounds):
	"""Return the mean squared error before the first round, and after each."""
	settings = {'hidden_units': hidden_units, 'modulus': 2147483647, 'sharing': 'os', 'mixing': 'exact',
		'epochs': 1 if report.quick else 5, **WAYS[way]}
	checked = way == 'floats' and hidden_units == 1
	run = Simulation(way, learners, ['regular:4' if report.quick else 'regular:10'], settings, rounds=rounds, data=report.data,
		trained=checked)
	saved = report.programs.path('saved')
	run.play(report, more=['--save', saved] if checked else [])
	if checked:
		check_floats(report, run, saved)
		shutil.rmtree(saved)
	return [run.summary['mse_initial'], *(row['mse'] for row in run.summary['rounds'])]


def claim(report, mse, hidden_units, learners, rounds):
	floats, weighted, paper = (mse[hidden_units, way] for way in ('floats', 'weighted σ = 3', 'paper σ = 2'))
	before, after = paper[0], paper[-1]
	report.claim('f', report.full_verdict(before - after >= TRAINS * (before - floats[-1])),
		f'its encoding (paper) trains at σ = 2; h = {hidden_units}, N = {learners}', 'σ = 2',
		f'MSE {before:.4f} before, {after:.4f} after {rounds} rounds; floats: {floats[-1]:.4f}')
	report.claim('f', report.full_verdict(abs(weighted[-1] - floats[-1]) <= EQUALS * floats[-1]),
		f'averaging through an encoding trains as with floats; h = {hidden_units}', 'no loss of accuracy',
		f'weighted, σ = 3: {weighted[-1]:.4f}; floats: {floats[-1]:.4f}')


def measure(report):
	learners, rounds = (10, 2) if report.quick else (100, ROUNDS)
	plans = [] if report.quick else [(32, way) for way in WAYS]
	plans += [(1, way) for way in WAYS if way != 'paper σ = 4']
	mse = {(hidden, way): curve(report, way, hidden, learners, rounds) for hidden, way in plans}
	report.table('f_loss.csv', ['hidden', 'averaging', 'round', 'mse'],
		[[hidden, way, t, value] for (hidden, way), values in mse.items() for t, value in enumerate(values)])
	sizes = sorted({hidden for hidden, _ in plans}, reverse=True)
	report.figures['f'] = {str(hidden): [way for size, way in plans if size == hidden] for hidden in sizes}
	report.values |= {'f_learners': learners, 'f_data': 'digits that the program draws (no MNIST was given: --data)'
		if report.data == 'digits' else 'the images given'}
	for hidden in sizes:
		claim(report, mse, hidden, learners, rounds)
