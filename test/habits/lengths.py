#!/usr/bin/env python3
"""Fail on a C function of more than 70 lines, from its opening to its closing brace. Tables stand outside of functions."""
import sys

from rooms import ROOT, sources

LINES_MOST = 70


def functions(path):
	"""Return (line, number of lines) of each function of a file: its braces stand alone in the first column."""
	found, begin = [], None
	for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
		if line == '{':
			begin = number
		elif line == '}' and begin is not None:
			found.append((begin, number - begin + 1))
			begin = None
	return found


def main():
	"""Measure all functions and name those that are too long."""
	measured = [(path, *f) for path in sources('common', 'daemon', 'test', 'tools') for f in functions(path)]
	long = [f'{path}:{line}: a function of {lines} lines, at most {LINES_MOST}' for path, line, lines in measured if lines > LINES_MOST]
	print('\n'.join(long), file=sys.stderr)
	print(f'{len(measured)} functions, {len(long)} too long')
	return 1 if long or not measured else 0


if __name__ == '__main__':
	sys.exit(main())
