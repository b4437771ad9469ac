#!/usr/bin/env python3
"""Fail on an exported name that does not begin with sl_ and the name of its file: foo_bar.c exports sl_foo_bar_*, or sl_foo_*.

    exports.py LIBRARY...
"""
import sys
from pathlib import Path

from rooms import symbols


def allowed(member, name):
	"""Return true if object file `member` may export `name`: sl_ and one or more leading words of the file's name."""
	words = Path(member).name.split('.')[0].split('_')
	prefixes = ['sl_' + '_'.join(words[:k]) for k in range(1, len(words) + 1)]
	return any(name == p or name.startswith(p + '_') for p in prefixes)


def main():
	"""Read the libraries and report each name that breaks the rule."""
	count, wrong = 0, []
	for archive in sys.argv[1:]:
		for member, (exported, _) in symbols(archive).items():
			count += len(exported)
			wrong += [f'{archive}: {member} exports {name}' for name in sorted(exported) if not allowed(member, name)]
	print('\n'.join(wrong), file=sys.stderr)
	print(f'{count} exported names, {len(wrong)} not of their file')
	return 1 if wrong or count == 0 else 0


if __name__ == '__main__':
	sys.exit(main())
