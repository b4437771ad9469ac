#!/usr/bin/env python3
"""Fail on a citation of the protocol that names a section that does not exist, another section's title, or the wrong text, and on a message
that names no chapter of a man page: packages give other files another name.

Sections are numbered through the texts BOOKS, so that §7.9 is one section wherever it is cited."""
import re
import sys

from rooms import ROOT

BOOKS = ('GROUP.md', 'LINKS.md', 'ROUND.md')
FOLDERS = ('common', 'daemon', 'deploy', 'proto', 'test', 'tools')
SUFFIXES = ('.c', '.h', '.in', '.md', '.proto', '.py', '.scd', '.sh', '.txt')
CITATION = re.compile(r'§(\d+(?:\.\d+)*)((?: [^§).,;\n]+)?)')
CHAPTER = re.compile(r'see ([A-Z][\w ]*) in (?:([\w.-]+)\((\d)\)|the README)')
BREAK = re.compile(r'"\s*\\?\n\s*"')  # within a text of C
NAMED = re.compile(r'(\w+\.md)(?:\s+(?:[*#]|//))*\s+§(\d+(?:\.\d+)*)')


def files():
	"""Return the texts of the source that may cite the protocol."""
	found = (p for folder in FOLDERS for p in (ROOT / folder).rglob('*') if p.suffix in SUFFIXES)
	return sorted(found) + sorted(ROOT.glob('*.md'))


def is_title(words, title):
	"""Return true if the words after a number are the title, begin with it, are its beginning, or are no title at all."""
	return not words[:1].isupper() or words.startswith(title) or title.startswith(words)


def pages(text):
	"""Return the chapters that messages of C name and that no man page has."""
	for chapter, page, number in CHAPTER.findall(BREAK.sub('', text)):
		if f'# {chapter}\n' not in ''.join(p.read_text() for p in (ROOT / 'deploy/man').glob(f'{page}.{number}.scd*')):
			yield chapter


def sections():
	"""Return the book and the title of each section, by number, and the numbers that occur twice."""
	found, twice = {}, []
	for book in BOOKS:
		for number, title in re.findall(r'^#+ (\d[\d.]*) (.*)$', (ROOT / 'proto' / book).read_text(), re.M):
			twice += [number] if number in found else []
			found[number] = (book, title)
	return found, twice


def main():
	"""Check every citation; a title counts outside of the protocol, as far as it stands on the same line."""
	known, twice = sections()
	count, wrong = 0, [f'there are two sections {number}' for number in twice]
	for path in files():
		text, name = path.read_text(), path.relative_to(ROOT)
		for number, line in enumerate(text.splitlines(), 1):
			for section, words in CITATION.findall(line):
				count += 1
				if section not in known:
					wrong.append(f'{name}:{number}: there is no §{section}')
				elif name.parts[0] != 'proto' and not is_title(words.strip(' */"\'`'), known[section][1]):
					wrong.append(f'{name}:{number}: §{section} is "{known[section][1]}"')
		for book, section in NAMED.findall(text):
			if section in known and book != known[section][0]:
				wrong.append(f'{name}: §{section} is in {known[section][0]}, not in {book}')
		if path.suffix in ('.c', '.h') and name.parts[0] != 'test':
			wrong += [f'{name}: no man page has a chapter "{chapter}"' for chapter in pages(text)]
	print('\n'.join(wrong), file=sys.stderr)
	print(f'{count} citations of {len(known)} sections, {len(wrong)} wrong')
	return 1 if wrong or count == 0 or not known else 0


if __name__ == '__main__':
	sys.exit(main())
