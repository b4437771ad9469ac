#!/usr/bin/env python3
"""Fail on a line of common/INVARIANTS.md that names a function, a mutant or a test that does not exist, or on a table of SECURITY.md
that names such a test.

Each mutant of a line must be killed, by its own list of tests, by a test of the line."""
import re
import sys

from rooms import ROOT, sources

TEXT = ROOT / 'common/INVARIANTS.md'


def functions():
	"""Return the names of all functions that are defined in common, daemon and tools."""
	text = '\n'.join((ROOT / path).read_text() for path in sources('common', 'daemon', 'tools', 'test/explorer', 'test/simulator'))
	return set(re.findall(r'^[a-z][^\n;={}]*?\b(\w+)\(', text, re.M))


def mutants():
	"""Return the tests of each mutant, without their suites."""
	text = '\n'.join(path.read_text() for path in sorted((ROOT / 'test/mutants').glob('*.txt')))
	stanzas = re.findall(r'^\[([\w-]+)\]\n(.*?)(?=^\[|\Z)', text, re.M | re.S)
	return {name: re.search(r'^test: (.*)$', body, re.M).group(1).split() for name, body in stanzas}


def exists(test):
	"""Return true if `room/name` is a file of tests, or a script."""
	room, _, name = test.partition('/')
	return any((ROOT / 'test' / room / file).exists() for file in (f'test_{name}.c', f'{name}.sh', f'{name}.py'))


def is_named(test, names):
	"""Return true if the tests of a mutant have `room/name`: alone, with its suite, or after the name of its suite."""
	room, _, name = test.partition('/')
	return any(n in (name, test, f'{room}_{name}', f'cluster_{name}') for n in names)


def security():
	"""Return what is wrong in the last columns of SECURITY.md, which name tests."""
	lines = enumerate((ROOT / 'SECURITY.md').read_text().splitlines(), 1)
	return [f'SECURITY.md:{number}: no test {name}' for number, line in lines if line.startswith('| ')
	        for name in re.findall(r'\b[a-z]+/\w+', line.strip('|').rpartition('|')[2]) if not exists(name)]


def main():
	"""Check every line of every table."""
	known, killers, wrong, count = functions(), mutants(), [], 0
	for number, line in enumerate(TEXT.read_text().splitlines(), 1):
		cells = [cell.strip() for cell in line.strip('|').split('|')]
		if not line.startswith('| ') or cells[0] == 'promise':
			continue
		count += 1
		if len(cells) != 5 or not all(cells):
			wrong.append(f'{number}: not five columns')
			continue
		named, broken, tests = re.findall(r'`(\w+)`', cells[2]), cells[3].split(', '), cells[4].split(', ')
		wrong += [f'{number}: no function {name}' for name in named if name not in known]
		wrong += [f'{number}: no mutant {name}' for name in broken if name not in killers]
		wrong += [f'{number}: no test {name}' for name in tests if not exists(name)]
		wrong += [f'{number}: no test of the line kills {name}' for name in broken
		          if name in killers and not any(is_named(test, killers[name]) for test in tests)]
		wrong += [] if named and '§' in cells[1] else [f'{number}: no rule or no function']
	wrong = [f'common/INVARIANTS.md:{w}' for w in wrong] + security()
	print('\n'.join(wrong), file=sys.stderr)
	print(f'{count} invariants, {len(wrong)} wrong')
	return 1 if wrong or not count else 0


if __name__ == '__main__':
	sys.exit(main())
