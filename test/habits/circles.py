#!/usr/bin/env python3
"""Fail on files of one room that include each other in a circle; foo.c and foo.h count as one file.

    circles.py ROOM...    rooms are folders from the root
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def arrows(room):
	"""Return, for each file of `room` without its suffix, the files of the room that it includes."""
	graph = {}
	for path in sorted((ROOT / room).glob('*.[ch]')):
		found = re.findall(rf'#include "{room}/(\w+)\.h"', path.read_text())
		graph.setdefault(path.stem, set()).update(set(found) - {path.stem})
	return graph


def circle(graph):
	"""Return the files of a circle, the first one again at the end, or None."""
	done, path = set(), []

	def visit(file):
		if file in path:
			return path[path.index(file):] + [file]
		if file in done:
			return None
		path.append(file)
		found = next((c for c in map(visit, sorted(graph.get(file, ()))) if c), None)
		path.pop()
		done.add(file)
		return found

	return next((c for c in map(visit, sorted(graph)) if c), None)


def main():
	"""Check each room and report one circle of it."""
	status = 0
	for room in sys.argv[1:]:
		graph = arrows(room)
		found = circle(graph)
		print(f'{room}: {len(graph)} files, ' + (' -> '.join(found) if found else 'no circle'))
		if found or not graph:
			status = 1
	return status


if __name__ == '__main__':
	sys.exit(main())
