#!/usr/bin/env python3
"""Fail on an exported name that does not begin with sl_ and its file or room: foo_bar.c exports sl_foo_bar_*, or sl_foo_*;
a file of libstore.a may also export sl_store_*. A shared library exports what its header declares, and all of it.

    exports.py LIBRARY...    each named lib<room>.a, or LIBRARY.so.VERSION
"""
import re
import sys
from pathlib import Path

from rooms import ROOT, exported_by, symbols

# What a file may export besides.
EXCEPTIONS = {
	('wire', 'frame'): 'sl_deframer',        # frames read from a byte stream: the functions of struct sl_deframer
}


# The header of each shared library.
HEADERS = {'libstarling': 'tools/libstarling/starling.h', 'libstarlingcore': 'tools/libstarlingcore/core.h'}


def allowed(room, file, name):
	"""Return true if `file` of `room` may export `name`: it begins with leading words of the file, or of the room."""
	prefixes = [EXCEPTIONS[room, file]] if (room, file) in EXCEPTIONS else []
	for words in (file.split('_'), room.split('_')):
		prefixes += ['sl_' + '_'.join(words[:k]) for k in range(1, len(words) + 1)]
	return any(name == p or name.startswith(p + '_') for p in prefixes)


def main():
	"""Read the libraries and report each name that breaks the rule."""
	count, wrong = 0, []
	for archive in sys.argv[1:]:
		if '.so' in Path(archive).name:
			header = ROOT / HEADERS[Path(archive).name.split('.so')[0]]
			declared = set(re.findall(r'(starling_\w+)\(', header.read_text()))
			wrong += [f'{archive}: {name} is exported or declared, not both' for name in declared ^ exported_by(archive)]
			count += len(declared)
			continue
		room = Path(archive).name[len('lib'):-len('.a')]
		for member, (exported, _) in symbols(archive).items():
			file = member.split('.')[0]
			count += len(exported)
			wrong += [f'{room}: {file}.c exports {name}' for name in sorted(exported) if not allowed(room, file, name)]
	print('\n'.join(wrong), file=sys.stderr)
	print(f'{count} exported names, {len(wrong)} not of their file or room')
	return 1 if wrong or count == 0 else 0


if __name__ == '__main__':
	sys.exit(main())
