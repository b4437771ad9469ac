#!/usr/bin/env python3
"""Fail on an include from one room into another that rooms.py does not allow. --list prints the arrows that exist."""
import re
import sys
from collections import Counter

from rooms import ARROWS, ROOT, reach, room_of, sources


def main():
	"""Read the include lines of every source file and report each that crosses rooms without an arrow."""
	arrows, wrong = Counter(), []
	for name in sources('common', 'daemon', 'tools', 'test/explorer', 'test/simulator'):
		room = room_of(name)
		for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
			include = re.match(r'#include "([^"]+)"', line)
			if not include:
				continue
			target = room_of(include[1])
			if target is None or target not in reach(room):
				wrong.append(f'{name}:{number}: {room} must not include {include[1]}')
			elif target != room:
				arrows[(room, target)] += 1
	if '--list' in sys.argv[1:]:
		for (room, target), count in sorted(arrows.items()):
			print(f'{count:4} {room} -> {target}')
	for line in wrong:
		print(line, file=sys.stderr)
	print(f'{sum(arrows.values())} includes between {len(ARROWS)} rooms, {len(wrong)} not allowed')
	return 1 if wrong or not arrows else 0


if __name__ == '__main__':
	sys.exit(main())
