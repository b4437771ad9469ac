#!/usr/bin/env python3
"""Fail on a sentence of more than 40 words in the texts TEXTS, and on a glossary of 50 terms or more.

A paragraph, an item of a list and a cell of a table are read on their own. Code and drawings are left out. A sentence ends with a
full stop, a question mark or an exclamation mark that a space follows; a colon or a semicolon ends none. A word has a letter or a digit.
"""
import re
import sys

from rooms import ROOT

WORDS_MOST = 40
TERMS_MOST = 49
TEXTS = ('proto/*.md', 'README.md', 'common/*.md', 'deploy/man/*.scd*')
END = re.compile(r'(?<=[^.][.?!])(?:[)"*_\]]*)\s+')
ITEM = re.compile(r'\s*(?:[-*]|\d+\.|\([ivx]+\))\s')
SHORT = re.compile(r'\b(e\.g|i\.e|cf|no|vs|etc)\.\s')


def blocks(text, is_page):
	"""Return (line, text) of each paragraph, item of a list and cell of a table. Code, drawings and a synopsis count as none."""
	found, begin, lines, code, synopsis = [], 0, [], False, False

	def end():
		if lines:
			found.append((begin, ' '.join(lines)))
		lines.clear()

	for number, line in enumerate(text.splitlines(), 1):
		bare = line.strip()
		code ^= line.startswith('```')
		synopsis = line == '# SYNOPSIS' if is_page and line.startswith('# ') else synopsis
		indented = line.startswith('\t') if is_page else line.startswith('    ')
		if code or synopsis or not bare or line.startswith(('```', '#', ';')) or (indented and not lines):
			end()
		elif bare.startswith('|') or (is_page and re.match(r'[|:<\[\]=-]+\s', line)):
			end()
			found += [(number, cell) for cell in re.split(r'(?<!\\)\|', bare)]
		else:
			if ITEM.match(line):
				end()
			if not lines:
				begin = number
			lines.append(bare)
	end()
	return found


def sentences(text):
	"""Return the sentences of a paragraph, without the addresses of links."""
	text = re.sub(r'\]\([^)]*\)', ']', text)
	text = SHORT.sub(r'\1 ', text)
	return [s for s in END.split(text) if s]


def words(sentence):
	"""Return the number of words of a sentence."""
	return sum(any(c.isalnum() for c in word) for word in sentence.split())


def terms():
	"""Return the terms of the glossary, the table of section 1.1."""
	table = re.search(r'^### 1\.1 .*?(?=^##)', (ROOT / 'proto/ROUND.md').read_text(), re.M | re.S).group(0)
	rows = re.findall(r'^\| (.+?) \|', table, re.M)[1:]
	return [term for row in rows for term in row.split(', ')]


def main():
	"""Name each sentence that is too long, and the number of terms if it is too large."""
	count, wrong, longest = 0, [], 0
	for path in sorted({p for pattern in TEXTS for p in ROOT.glob(pattern)}):
		for line, block in blocks(path.read_text(), '.scd' in path.name):
			for sentence in sentences(block):
				count += 1
				length = words(sentence)
				longest = max(longest, length)
				if length > WORDS_MOST:
					wrong.append(f'{path.relative_to(ROOT)}:{line}: {length} words: {sentence}')
	listed = terms()
	if len(listed) > TERMS_MOST:
		wrong.append(f'proto/ROUND.md: a glossary of {len(listed)} terms, at most {TERMS_MOST}')
	print('\n'.join(wrong), file=sys.stderr)
	print(f'{count} sentences, the longest of {longest} words; {len(listed)} terms; {len(wrong)} wrong')
	return 1 if wrong or not count or not listed else 0


if __name__ == '__main__':
	sys.exit(main())
