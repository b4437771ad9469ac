"""An earlier run of starling-bench (--json), and how many times its medians those of now are."""
import json

from program import Failed

VERSION = 1  # of the JSON output


class Earlier:
	def __init__(self, path):
		self.path = path
		try:
			with open(path, encoding='utf-8') as file:
				run = json.load(file)
			if run['version'] != VERSION:
				raise ValueError
			self.machine = {name: run['machine'][name] for name in ('processors', 'model')}
			self.cases = {case['case']: {(one['name'], one['unit']): one['median'] for one in case['figures']} for case in run['cases']}
			self.noted = {case['case']: case['notes'] for case in run['cases']}
		except OSError as failure:
			raise Failed(f'{path}: {failure.strerror}', 2) from None
		except (ValueError, KeyError, TypeError):
			raise Failed(f'{path}: not the output of starling-bench --json', 2) from None

	def differences(self, machine, names):
		"""Return what makes the two runs hard to compare, a sentence each. `names`: the cases of this run."""
		found = [f'{name}: {machine[name]} here, {self.machine[name]} there' for name in self.machine if machine[name] != self.machine[name]]
		found = [f'{self.path} is of another machine: {"; ".join(found)}'] if found else []
		absent = [name for name in names if name not in self.cases]
		return found + ([f'{self.path} has no case {", ".join(absent)}'] if absent else [])

	def compare(self, case):
		"""Add "before" and "ratio" to the figures of a case, as in the JSON output; and say which figures only one of the runs has."""
		if case['case'] not in self.cases:
			return
		before = dict(self.cases[case['case']])
		for figure in case['figures']:
			key = figure['name'], figure['unit']
			if key not in before:
				case['notes'].append(f'not in {self.path}: {figure["name"]}, {figure["unit"]}')
				continue
			figure['before'] = before.pop(key)
			figure['ratio'] = figure['median'] / figure['before'] if figure['before'] else None
		case['notes'] += [f'only in {self.path}: {name}, {unit}' for name, unit in before]
		case['notes'] += [f'then: {note}' for note in self.noted[case['case']] if note.startswith('other programs')]
