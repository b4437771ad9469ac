"""The report: claims, values in its text, tables, and its files, which are stored all at once or not at all."""
import csv
import io
import json
import math
import os
import re
import time
from pathlib import Path

from program import Failed

HOLDS, HOLDS_NOT, MEASURED, MISPRINT = 'holds', 'does not hold', 'measured', 'misprint'


def number(value):
	"""Return a cell of a table: as many digits as give the same number back; empty for a number that is none."""
	if isinstance(value, str):
		return value
	if not math.isfinite(value):
		return ''
	return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def fill(template, values, wanted):
	"""Return the sections of `template` (they begin with a line %a for part a) that are wanted, with values for @name@."""
	lines, taken = [], True
	for line in template.splitlines():
		if line.startswith('%'):
			taken = line[1] in wanted
		elif taken:
			lines.append(re.sub('@(.+?)@', lambda name: str(values[name[1]]), line))
	return ''.join(line + '\n' for line in lines)


class Folder:
	"""The files of a report. An older report in the same folder stays whole until commit replaces its files."""

	def __init__(self, path):
		self.path, self.files, self.made = Path(path), {}, False

	def make(self):
		"""Make the folder, if it is not there. An interrupt at any moment is followed by drop."""
		self.made = not self.path.exists()
		try:
			self.path.mkdir()
		except FileExistsError:
			self.made = False
		except OSError as error:
			raise Failed(f'cannot make the folder {self.path}: {error.strerror}') from error
		if not self.path.is_dir():
			raise Failed(f'cannot write into {self.path}: Not a directory')
		if not os.access(self.path, os.W_OK | os.X_OK):
			raise Failed(f'cannot write into {self.path}: Permission denied')

	def _part(self, name):
		return self.path / f'.{name}.part'

	def commit(self):
		for name, text in self.files.items():
			try:
				self._part(name).write_text(text, encoding='utf-8', newline='')
			except OSError as error:
				raise Failed(f'cannot write {self.path}/{name}: {error.strerror}') from error
		for name in self.files:
			self._part(name).replace(self.path / name)
			self.made = False
		self.drop()

	def drop(self):
		"""Remove what was not committed, and the folder if it was made for it."""
		for name in self.files:
			self._part(name).unlink(missing_ok=True)
		self.files = {}
		if self.made and self.path.exists():
			self.path.rmdir()
		self.made = False


class Report:
	def __init__(self, programs, folder, wanted, quick, data):
		self.programs, self.folder, self.wanted, self.quick, self.data = programs, folder, wanted, quick, data
		self.values, self.figures, self.claims, self.broken = {}, {}, [], []

	def claim(self, part, verdict, claim, paper, here):
		"""Add a row to the table of claims. `verdict`: one of the words above, or whether the claim holds."""
		word = verdict if isinstance(verdict, str) else HOLDS if verdict else HOLDS_NOT
		self.claims.append({'part': part, 'claim': claim, 'paper': paper, 'here': here, 'verdict': word})

	def full_verdict(self, holds):
		"""Return the verdict; `measured` with --quick, which measures too little for one."""
		return MEASURED if self.quick else bool(holds)

	def wrong(self, text):
		"""Note a check of Starling that failed: the report names it, and the exit status is 1."""
		self.broken.append(text)

	def table(self, name, header, rows):
		out = io.StringIO()
		writer = csv.writer(out)
		writer.writerow(header)
		writer.writerows([number(cell) for cell in row] for row in rows)
		self.folder.files[name] = out.getvalue()

	def _top(self):
		quick = ', with --quick: smaller, and not all of it' if self.quick else ''
		text = ('# The paper\'s evaluation, measured again\n\nLu, Yu and Suri, *Privacy-preserving Decentralized Federated Learning '
			'over Time-varying Communication Graph*, section Performance Evaluation. Numbers under "paper" are the paper\'s. All '
			f'others were computed by Starling {self.programs.version()} on {time.strftime("%Y-%m-%d")}, on a machine of '
			f'{os.cpu_count()} processors ({os.uname().machine}){quick}.\n\n')
		if self.broken:
			text += (f'## This run is broken\n\n{len(self.broken)} checks of this code failed; do not rely on anything below.\n\n'
				+ ''.join(f'- {line}\n' for line in self.broken) + '\n')
		return text

	def write(self, template):
		"""Make the report and the table of claims, beside the tables that the parts have made."""
		header = ['part', 'claim', 'paper', 'here', 'verdict']
		rows = [[claim[name] for name in header] for claim in self.claims]
		self.table('claims.csv', header, rows)
		text = self._top() + '## Claims\n\n| | claim | paper | here | verdict |\n|---|---|---|---|---|\n'
		text += ''.join(f'| {" | ".join(row)} |\n' for row in rows) + '\n'
		self.folder.files['report.md'] = text + fill(template, self.values, self.wanted)
		if self.figures:
			self.folder.files['figures.json'] = json.dumps(self.figures, indent=1, ensure_ascii=False) + '\n'

	def show(self, as_json):
		if as_json:
			claims = {'claims': self.claims, 'broken': self.broken, 'folder': str(self.folder.path)}
			print(json.dumps(claims, indent=2, ensure_ascii=False))
			return
		for c in self.claims:
			print(f'{c["part"]}  claim: {c["claim"]}\n   paper: {c["paper"]}\n   here: {c["here"]}\n   verdict: {c["verdict"]}\n')
		for line in self.broken:
			print(f'BROKEN: {line}')
		print(f'{self.folder.path}/report.md')
