"""Figures of a case: each has a unit, and several samples."""
import shutil
import statistics
import sys
import textwrap

NAME_WIDTH = 37


class Result:
	"""The figures and notes of a case so far. A figure without samples is not shown, but has its place."""

	def __init__(self):
		self.figures, self.notes = {}, []

	def add(self, unit, name, *samples):
		"""Add samples to a figure; return all that it has."""
		self.figures.setdefault((name, unit), []).extend(samples)
		return self.figures[name, unit]

	def add_ratio(self, name, above, below):
		"""Add a figure of one sample: median over median."""
		if above and below:
			self.add('x', name, statistics.median(above) / statistics.median(below))

	def as_json(self):
		return [{'name': name, 'unit': unit, 'min': min(samples), 'median': statistics.median(samples), 'max': max(samples),
			'samples': samples} for (name, unit), samples in self.figures.items() if samples]


def number(value):
	"""Return a number with the four digits that matter."""
	digits = 0 if value >= 1000 or value == 0 else 1 if value >= 100 else 2 if value >= 10 else 3 if value >= 0.1 else 5
	return f'{value:.{digits}f}'


def show_row(name, least, median, most, unit):
	"""Print a row; a name that is too long gets a line of its own."""
	if len(name) > NAME_WIDTH:
		print(f'  {name}')
		name = ''
	print(f'  {name:<{NAME_WIDTH}} {least:>9} {median:>9} {most:>9} {unit}'.rstrip())


def show_line(text):
	width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 1 << 20
	indent = len(text) - len(text.lstrip()) + 4
	print(textwrap.fill(text, max(width, 16), subsequent_indent=' ' * indent, break_on_hyphens=False))


def show_case(case):
	"""Print a case as text; `case` is as in the JSON output."""
	show_line(f'{case["case"]}: {case["text"]}')
	for figure in case['figures']:
		least, median, most = (number(figure[key]) for key in ('min', 'median', 'max'))
		if len(figure['samples']) == 1:
			least = most = ''
		times = f'; {number(figure["ratio"])} x before' if figure.get('ratio') is not None else ''
		show_row(figure['name'], least, median, most, figure['unit'] + times)
	for note in case['notes']:
		show_line(f'  note: {note}')
	if case['error'] is not None:
		show_line(f'  FAILED: {case["error"]}')
	sys.stdout.flush()
