"""Commands and what they print: golden.py STARLING FILE...; with --write first, FILE is written anew.

A line "$ COMMAND" is run by sh in a folder of its own; what follows is what it prints, then what it prints as errors, then
"[3]" for an exit status that is not 0. Lines before the first command are a comment. The runs of test/data are in the folder.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
HELPERS = r'''
starling() { "$STARLING" "$@"; }
# Put # for what differs from run to run or from processor to processor: fractions, sizes, parts of a round, paths.
steady() {
	sed -E '/"(parts_s|cpu_s)": \{/,/\}/{/\}/!d;s/ *\}/      "parts_s": #/}; s/("[a-z_]*(seconds|_s|bytes|bytes_most)": )[^,]*/\1#/
		s/[0-9]+\.[0-9]+(e-?[0-9]+)?/#/g; s/(clamped|parameters to|peak memory) [0-9,#]+/\1 #/; s/^.* rounds.s; processor seconds: .*/# rounds\/s; processor seconds: #/
		s/learner-0[0-9] \([0-9]\)/learner-0# (#)/; s/parameter [0-9]+: -?#/parameter #/; s/learner-0[0-9], round/learner-0#, round/
		s|/[^ "]*/starling logs|starling logs|; s|"/.*/|"|; s/  +/  /g'
}
# Put # for keys, hashes, invitations, dates and the path of the present folder.
masked() {
	sed -E "s|$PWD/||g; s/[0-9a-f]{64}/#/g; s/starling1-[A-Za-z0-9_-]+/starling1-#/g; s/[0-9a-f]{4}( [0-9a-f]{4}){3,}/#/g
		s/[A-Za-z0-9+\/]{40,}=*/#/g; s/20[0-9]{2}-[0-9]{2}-[0-9]{2}([T ][0-9:.]+Z?( UTC)?)?/#/g"
}
# Print JSON with a field in each line, as far as that is short.
fields() { python3 "$GOLDEN/fields.py" "$@"; }
# Print data of a report: they stand before the only script of a page that begins with "{".
page() { report=$1; shift; grep -o '>{"rounds":.*}</script>' "$report" | sed 's/^>//; s/<.script>$//' | fields "$@"; }
'''


def blocks(text):
	"""Return the comment of a file, and its commands."""
	comment, *rest = re.split(r'^\$ ', text, flags=re.MULTILINE)
	return comment, [block.split('\n', 1)[0] for block in rest]


def run(command, folder, environment):
	done = subprocess.run(['sh', '-c', HELPERS + command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
	printed = [text if text.endswith('\n') else text + '\n' for text in (done.stdout, done.stderr) if text]
	return ''.join(printed) + (f'[{done.returncode}]\n' if done.returncode else '')


def transcript(text, starling):
	"""Return the text with what the commands print now."""
	comment, commands = blocks(text)
	environment = {**os.environ, 'STARLING': str(Path(starling).resolve()), 'GOLDEN': str(Path(__file__).parent), 'LC_ALL': 'C.UTF-8', 'TZ': 'UTC'}
	environment.pop('COLUMNS', None)
	with tempfile.TemporaryDirectory(prefix='starling-test-') as folder:
		shutil.copytree(SOURCE / 'test/data/runs', folder, dirs_exist_ok=True)
		for log in (SOURCE / 'test/data/logs').glob('*.jsonl'):
			(Path(folder) / 'three' / log.stem).mkdir(parents=True)
			shutil.copy(log, Path(folder) / 'three' / log.stem / 'log.jsonl')
		return comment + ''.join(f'$ {command}\n{run(command, folder, environment)}' for command in commands)


def main(arguments):
	write = arguments[0] == '--write'
	starling, *files = arguments[write:]
	status = 0
	for file in files:
		want = Path(file).read_text()
		have = transcript(want, starling)
		if write:
			Path(file).write_text(have)
		elif have != want:
			subprocess.run(['diff', '-u', file, '-'], input=have, text=True)
			status = 1
	return status


sys.exit(main(sys.argv[1:]))
