"""The rooms of the source tree and the arrows between them: which room may use which."""
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# A row is a room and the rooms it uses directly. A room may also use what those rooms use.
ARROWS = {
	'common/base': '',
	'common/field': 'common/base',
	'common/dp': 'common/field',
	'common/graph': 'common/base',
	'common/mixing': 'common/field common/graph',
	'common/protocol': 'common/mixing common/dp',
	'common/wire': 'common/protocol proto',
	'common/compute': 'common/protocol',
	'common/core': 'common/compute',
	'common/config': 'common/protocol',
	'common/membership': 'common/config',
	'common/setup': 'common/core common/config',
	'common/model': 'common/config',
	'common/report': 'common/protocol common/config',
	'daemon/runtime': 'common/config',
	'daemon/store': 'common/core common/wire common/compute common/model daemon/runtime',
	'daemon/net': 'common/wire common/membership daemon/runtime',
	'daemon/observe': 'common/report daemon/store daemon/net',
	'daemon/membership': 'daemon/observe',
	'daemon/application': 'common/model daemon/runtime',
	'daemon/learner': 'common/setup common/model common/report daemon/runtime daemon/membership daemon/application',
	'daemon': 'daemon/learner',
	'proto': '',
	'tools/lib': 'common/config common/model common/report daemon/runtime',
	'tools/topology': 'tools/lib common/mixing common/report',
	'tools/host': 'common/core',
	'tools/runner': 'tools/host tools/lib common/setup',
	'tools/launch': 'tools/lib tools/topology common/report daemon/store daemon/net',
	'tools/libstarling': '',  # for applications: nothing of the learner, whose protocol it implements a second time
	'tools/libstarlingcore': 'tools/host common/wire',
	'tools/example': 'tools/libstarlingcore',  # by its installed header
	'tools/r': 'tools/libstarling',  # by its installed header
	'tools/starling': 'common/dp tools/launch tools/runner daemon/membership',
	'tools/dev': 'tools/starling daemon/learner',
	# Tests themselves have no room.
	'test/explorer': 'tools/host',
	'test/simulator': 'test/explorer tools/host tools/lib',
}


def reach(room, seen=None):
	"""Return the rooms that `room` may use, itself among them."""
	seen = set() if seen is None else seen
	if room not in seen:
		seen.add(room)
		for below in ARROWS[room].split():
			reach(below, seen)
	return seen


def room_of(path):
	"""Return the room of `path` (relative to the root): its longest prefix in ARROWS, or None."""
	folder = Path(path).parent
	while str(folder) not in ARROWS:
		if folder == folder.parent:
			return None
		folder = folder.parent
	return str(folder)


def sources(*folders):
	"""Return the paths of the C files of `folders`, relative to the root; of a tree without git as well."""
	return sorted(str(p.relative_to(ROOT)) for folder in folders for p in (ROOT / folder).rglob('*.[ch]'))


def exported_by(library):
	"""Return the names that a shared library exports."""
	listed = subprocess.run(['nm', '-D', '--defined-only', '-P', library], check=True, capture_output=True, text=True).stdout
	return {line.split()[0] for line in listed.splitlines()} - {'_init', '_fini', '__bss_start', '_edata', '_end'}


def symbols(archive):
	"""Return {object file: (exported names, imported names)} of a static library."""
	listed = subprocess.run(['nm', '-A', '-g', '-P', archive], check=True, capture_output=True, text=True).stdout
	found = {}
	for line in listed.splitlines():
		where, name, kind = line.split()[:3]
		member = Path(where.rstrip(':').rpartition('[')[2].rstrip(']')).name
		exported, imported = found.setdefault(member, (set(), set()))
		if not name.startswith('__odr_asan'):  # of the address sanitizer, beside each variable
			(imported if kind in 'Uwv' else exported).add(name)
	return found
