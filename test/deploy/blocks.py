"""The commands of deploy/README.md: blocks.py FILE CHAPTER [MACHINE]

Prints the commands of the chapter, in order, as a shell script that ends at the first one that fails. A block begins with
```sh MACHINE. A chapter is named by its heading.
"""
import re
import sys
from pathlib import Path


def blocks(path, chapter):
	"""Return [(machine, commands)] of a chapter, without those of its deeper headings' equals."""
	found, level, inside = [], None, False
	lines = iter(Path(path).read_text().splitlines())
	for line in lines:
		heading = re.match(r'(#+) (.*)', line)
		if heading:
			depth = len(heading[1])
			if heading[2] == chapter:
				level, inside = depth, True
			elif inside and depth <= level:
				inside = False
		if line.startswith('```sh'):
			commands = []
			for command in lines:
				if command == '```':
					break
				commands.append(command)
			if inside:
				found.append((line[5:].strip(), '\n'.join(commands) + '\n'))
	if level is None:
		raise SystemExit(f'{path}: no chapter "{chapter}"')
	return found


def main():
	path, chapter, *machine = sys.argv[1:]
	chosen = [commands for name, commands in blocks(path, chapter) if not machine or name == machine[0]]
	if not chosen:
		raise SystemExit(f'{path}: no commands in "{chapter}"' + (f' for {machine[0]}' if machine else ''))
	print('set -eux\n' + ''.join(chosen), end='')


if __name__ == '__main__':
	main()
