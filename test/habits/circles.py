#!/usr/bin/env python3
"""Fail on files of one room that include each other, or use each other's functions and variables, in a circle.

    circles.py BUILT...    each of them a static library, or the folder of a program's object files: build/tools/starling.p

foo.c and foo.h count as one file.
"""
import re
import sys
from pathlib import Path

from rooms import ROOT, symbols

def room_of_built(built):
	"""Return the folder with the sources of a library or of a program: that of the build folder, in the source tree."""
	parts = (built.with_suffix('') if built.is_dir() else built.parent).parts
	return next('/'.join(parts[i:]) for i in range(len(parts)) if parts[i] in ('common', 'daemon', 'test', 'tools') and (ROOT / Path(*parts[i:])).is_dir())


def includes(room):
	"""Return, for each file of `room` without its suffix, the files of the room that it includes."""
	graph = {}
	for path in sorted((ROOT / room).glob('*.[ch]')):
		found = re.findall(rf'#include "{room}/(\w+)\.h"', path.read_text())
		graph.setdefault(path.stem, set()).update(set(found) - {path.stem})
	return graph


def calls(built, room):
	"""Return, for each file of `room` without its suffix, the files of the room of which it uses a function or a variable."""
	found = {}
	for member in sorted(built.glob('*.o')) if built.is_dir() else [built]:
		for name, (exported, imported) in symbols(str(member)).items():
			# The objects of a program have names with the folder: starling_doctor.c.o.
			file = name.split('.')[0].removeprefix(room.rpartition('/')[2] + '_' if built.is_dir() else '')
			if (ROOT / room / f'{file}.c').exists():
				found[file] = (exported, imported)
	return {file: {other for other, (exported, _) in found.items() if other != file and exported & imported}
		for file, (_, imported) in found.items()}


def reached(graph, file):
	"""Return the files that `file` reaches over one arrow or more."""
	seen, todo = set(), list(graph.get(file, ()))
	while todo:
		at = todo.pop()
		if at not in seen:
			seen.add(at)
			todo += graph.get(at, ())
	return seen


def circles(graph):
	"""Return the circles, each the sorted files that reach each other."""
	reach = {file: reached(graph, file) for file in graph}
	return {tuple(sorted(b for b in graph if b in reach[a] and a in reach[b])) for a in graph if a in reach[a]}


def main():
	"""Check each room."""
	wrong = []
	for built in map(Path, sys.argv[1:]):
		room = room_of_built(built.resolve())
		by_include, by_call = includes(room), calls(built, room)
		wrong += [f'{room}: a circle of {kind}: {" ".join(circle)}' for kind, graph in (('includes', by_include), ('calls', by_call))
			for circle in sorted(circles(graph))]
		if not by_call:
			wrong.append(f'{room}: no object file in {built}')
		print(f'{room}: {len(by_include)} files, {sum(map(len, by_call.values()))} arrows of calls')
	print('\n'.join(wrong), file=sys.stderr)
	return 1 if wrong or len(sys.argv) < 2 else 0


if __name__ == '__main__':
	sys.exit(main())
