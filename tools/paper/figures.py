"""The figures of a report, drawn from the tables and figures.json in its folder by matplotlib."""
import csv
import json
from pathlib import Path

LINE, BLACK = '#5fa0cc', 'black'
LONG = 240  # iterations: more are drawn on a logarithmic axis
SIZE = 4.8, 3.4  # inches of a panel


class Figures:
	def __init__(self, folder):
		import matplotlib
		matplotlib.use('svg')
		matplotlib.rcParams['svg.hashsalt'] = 'starling'
		from matplotlib import pyplot
		self.pyplot, self.folder = pyplot, Path(folder)

	def rows(self, name, *begin):
		"""Return the rows of a table whose first columns are `begin`: the other columns, as numbers where they are."""
		with open(self.folder / f'{name}.csv', encoding='utf-8', newline='') as table:
			found = [row[len(begin):] for row in list(csv.reader(table))[1:] if row[:len(begin)] == list(begin)]
		return list(zip(*found))

	def open(self, rows, columns):
		figure, axes = self.pyplot.subplots(rows, columns, squeeze=False, layout='constrained',
			figsize=(columns * SIZE[0], rows * SIZE[1]))
		return figure, axes.ravel().tolist()

	def panel(self, axes, title, x, y):
		axes.set(title=title, xlabel=x, ylabel=y)
		axes.grid(linewidth=0.3)

	def across(self, axes, at, label):
		axes.axhline(at, linestyle='--', color=BLACK, linewidth=0.8)
		axes.annotate(label, (0.02, at), xycoords=('axes fraction', 'data'), xytext=(0, 3), textcoords='offset points')

	def upright(self, axes, at, label):
		axes.axvline(at, linestyle='--', color=BLACK, linewidth=0.8)
		axes.annotate(label, (at, 0.04), xycoords=('data', 'axes fraction'), xytext=(3, 0), textcoords='offset points', rotation=90)

	def close(self, figure, name):
		for axes in figure.axes:
			if axes.get_legend_handles_labels()[0]:
				axes.legend(fontsize='small')
		figure.savefig(self.folder / f'{name}.svg', metadata={'Date': None})
		self.pyplot.close(figure)

	def trajectories(self, name, panels, columns, what):
		"""Draw what all learners decode over k, with marks at 10, where all are right, and at K."""
		figure, all_axes = self.open((len(panels) + columns - 1) // columns, columns)
		for axes, (title, one) in zip(all_axes, panels):
			self.panel(axes, title, 'iteration k', what)
			k, *learners = (list(map(float, column)) for column in self.rows(name, one['graph']))
			if one['k'] >= LONG:
				axes.set_xscale('log')
			for values in learners:
				axes.plot(k, values, linewidth=0.5, color=LINE)
			axes.axhline(one['value'], linestyle='--', color=BLACK, label=f'{one["value"]:.4g}')
			for at, label in [(10, 'K = 10')] * (one['k'] > 10) + [(one['right'], f'all right from {one["right"]}'), (one['k'], f'K = {one["k"]}')]:
				self.upright(axes, at, label)
		for axes in all_axes[len(panels):]:
			axes.remove()
		self.close(figure, name)

	def curves(self, axes, table, begins, x=0, y=1, **style):
		for label, begin in begins.items():
			columns = self.rows(table, *begin)
			axes.plot(list(map(float, columns[x])), list(map(float, columns[y])), label=label, **{'marker': '.', **style})

	def a(self, of):
		panels = [(f'Round {t}: {one["graph"]}', one) for t, one in enumerate(of['rounds'], 1)]
		self.trajectories('a_trajectories', panels, 3, f'coordinate {of["coordinate"]} of the model, as decoded')

	def b(self, of):
		figure, all_axes = self.open(1, 3)
		for axes, coordinate in zip(all_axes, map(str, of['coordinates'])):
			self.panel(axes, f'Coordinate {coordinate}', 'round', 'value')
			self.curves(axes, 'b_consensus', {'consensus': [coordinate]})
			self.curves(axes, 'b_consensus', {'difference': [coordinate]}, y=3)
		self.close(figure, 'b_consensus')

	def c(self, of):
		self.trajectories('c_trajectories', [(one['graph'], one) for one in of['graphs']], 3, 'a coordinate of the model, as decoded')
		figure, (axes,) = self.open(1, 1)
		self.panel(axes, 'How fast the powers of A approach the mean', 'iteration k', "‖N·Aᵏ − 11'‖")
		axes.set(xscale='log', yscale='log', ylim=(1e-9, 100))
		self.curves(axes, 'c_norms', {name: [name] for name in of['lines']}, marker='')
		self.across(axes, of['bound'], '1/(2p√N): K is reached below')
		self.upright(axes, 10, 'K = 10')
		self.close(figure, 'c_norms')
		figure, (axes,) = self.open(1, 1)
		self.panel(axes, 'Iterations that the bound asks for', 'neighbours of each of 100 learners, random graphs', 'K')
		self.curves(axes, 'c_degrees', {None: []}, y=2, marker='')
		axes.set_ylim(0, 25)
		self.across(axes, 10, 'K = 10')
		self.upright(axes, of['enough'], f'{of["enough"]} neighbours')
		self.close(figure, 'c_degrees')

	def e(self, of):
		figure, all_axes = self.open(1, 2)
		for axes, over, title, x, slope in [(all_axes[0], 'shares', 'Shares', 'shares of a learner in a round', 2.315e-6),
				(all_axes[1], 'iterations', 'Mixing', 'iterations K', 6.155e-6)]:
			self.panel(axes, title, x, 'seconds of a learner in a round')
			axes.set(xscale='log', yscale='log')
			self.curves(axes, 'e_time', {name: [name, over] for name in of[over]})
			ends = axes.get_xlim()
			axes.plot(ends, [slope * end for end in ends], linestyle='--', color=BLACK, label='slope in the paper')
		self.close(figure, 'e_time')

	def f(self, of):
		titles = {'1': '1 hidden unit, n = 2,353, as in the paper', '32': '32 hidden units, n = 50,992'}
		figure, all_axes = self.open(1, len(of))
		for axes, (hidden, ways) in zip(all_axes, of.items()):
			self.panel(axes, titles[hidden], 'round', 'mean squared error of a pixel, on images held out')
			axes.set_yscale('log')
			self.curves(axes, 'f_loss', {way: [hidden, way] for way in ways})
		self.close(figure, 'f_loss')

	def h(self, of):
		figure, all_axes = self.open(2, 2)
		for axes, one in zip(all_axes, of):
			self.panel(axes, one['curve'], one['x'], one['y'])
			axes.set(xscale='log', yscale='log')
			self.curves(axes, 'h_growth', {None: [one['curve'], one['x']]}, linestyle='', marker='o')
			ends = axes.get_xlim()
			axes.plot(ends, [one['factor'] * end ** one['power'] for end in ends], label=f'power {one["power"]:.3f}')
		self.close(figure, 'h_growth')


def draw(folder):
	"""Draw all figures of the report in `folder`; raise ImportError without matplotlib."""
	described = json.loads((Path(folder) / 'figures.json').read_text(encoding='utf-8'))
	figures = Figures(folder)
	for part, of in described.items():
		getattr(figures, part)(of)
