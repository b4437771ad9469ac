#!/usr/bin/env python3
"""Fail on a citation of PROTOCOL.md that names a section that does not exist, or another section's title."""
import re
import sys

from rooms import ROOT

FOLDERS = ('common', 'daemon', 'deploy', 'proto', 'test', 'tools')
SUFFIXES = ('.c', '.h', '.md', '.proto', '.py', '.scd', '.sh', '.txt')
CITATION = re.compile(r'§(\d+(?:\.\d+)*)((?: [^§).,;\n]+)?)')


def files():
	"""Return the texts of the source that may cite the protocol."""
	found = (p for folder in FOLDERS for p in (ROOT / folder).rglob('*') if p.suffix in SUFFIXES)
	return sorted(found) + sorted(ROOT.glob('*.md'))


def is_title(words, title):
	"""Return true if the words after a number are the title, begin with it, are its beginning, or are no title at all."""
	return not words[:1].isupper() or words.startswith(title) or title.startswith(words)


def main():
	"""Check every citation; a title counts outside of PROTOCOL.md, as far as it stands on the same line."""
	protocol = ROOT / 'proto/PROTOCOL.md'
	titles = dict(re.findall(r'^#+ (\d[\d.]*) (.*)$', protocol.read_text(), re.M))
	count, wrong = 0, []
	for path in files():
		for number, line in enumerate(path.read_text().splitlines(), 1):
			for section, words in CITATION.findall(line):
				count += 1
				if section not in titles:
					wrong.append(f'{path.relative_to(ROOT)}:{number}: there is no §{section}')
				elif path != protocol and not is_title(words.strip(' */"\'`'), titles[section]):
					wrong.append(f'{path.relative_to(ROOT)}:{number}: §{section} is "{titles[section]}"')
	print('\n'.join(wrong), file=sys.stderr)
	print(f'{count} citations of {len(titles)} sections, {len(wrong)} wrong')
	return 1 if wrong or count == 0 or not titles else 0


if __name__ == '__main__':
	sys.exit(main())
