#!/usr/bin/python3
"""Make one file of the programs and all that they need but the C library: bundle.py KIND,... SOURCE BUILD FOLDER.

KIND is wheel, tarball, or bill (of materials, which both have in them). BUILD is a build folder of SOURCE, with what `meson install`
installs. The files go into FOLDER, and their paths to standard output.
Libraries are copied from the Debian packages of this machine, unchanged; the programs find them by a path from their own folder.
The environment variable SOURCE_DATE_EPOCH is the time of all files: the same sources and packages give the same bytes.
"""
import gzip
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'tools/python'))
import spdx  # noqa: E402
import wheel_file  # noqa: E402

GLIBC_NEWEST = (2, 36)  # of Debian 12: programs that need no newer one run on all later versions
PROGRAMS = ('starling', 'starlingd')
SHARED = ('libstarling', 'libstarlingcore')
LIBRARIES = 'lib/starling'
LOADED = 'libopenblas.so.0'  # loaded when it is called (common/base/blas.c), for the built-in trainer
OF_THE_SYSTEM = ('glibc', 'libgcc_s.so.1')  # the C library, by its source package, and what belongs to it on each system
TEXTS = 'share/doc/starling/libraries'  # the licences of the libraries
OWN_TEXT = 'share/doc/starling/copyright'  # of Starling, and of the charts that its page has
BILL = 'share/doc/starling/starling.spdx.json'  # the libraries, for scanners
# What `meson install` writes and the tarball has, beside the programs. The wheel has what is in share/.
PARTS = ('include', 'lib/systemd', 'lib/sysusers.d', 'share/bash-completion', 'share/doc', 'share/man', 'share/starling')
COMMON_LICENCES = '/usr/share/common-licenses/'
README = '''The programs of Starling use the libraries in this list, and no others of the system than the C library. They are files of
Debian packages, unchanged. The source of each is the Debian source package of the name and version given; a file NAME.txt
in this folder has its licence. You may replace a library by another one with the same file name.

'''


class Failed(Exception):
	pass


def run(*command, **options):
	done = subprocess.run(command, capture_output=True, text=True, **options)
	if done.returncode != 0:
		raise Failed(f'{command[0]} failed: {(done.stderr or done.stdout).strip()}')
	return done.stdout


# ---- programs and pages ----

def stage(source, build, tree):
	"""Copy what is installed into `tree`, and the Python package."""
	options = {o['name']: o['value'] for o in json.loads(run('meson', 'introspect', '--buildoptions', str(build)))}
	with tempfile.TemporaryDirectory() as name:
		run('meson', 'install', '-C', str(build), '--no-rebuild', '--quiet', '--destdir', name)
		installed = Path(name, options['prefix'].lstrip('/'))
		for part in PARTS:
			shutil.copytree(installed / part, tree / part)
		for program in PROGRAMS:
			copy_program(installed / 'bin' / program, tree / 'bin' / program, f'$ORIGIN/../{LIBRARIES}')
		for library in SHARED:
			copy_shared(library, installed / options['libdir'], tree / 'lib')
	shutil.copy(source / 'LICENSE', tree / 'LICENSE')
	shutil.copy(source / 'deploy/debian/copyright', tree / OWN_TEXT)
	for path, (content, _) in wheel_file.package_files().items():
		write(tree / LIBRARIES / 'python' / path, content)


def copy_shared(name, folder, to):
	"""Copy a library for other programs, with its links and its file for pkg-config."""
	library = folder / f'{name}.so'
	copy_program(library.resolve(), to / library.resolve().name, f'$ORIGIN/../{LIBRARIES}')
	for link in (library.resolve().name.rsplit('.', 2)[0], library.name):
		(to / link).symlink_to(library.resolve().name)
	text = (folder / f'pkgconfig/{name}.pc').read_text()
	for key, value in (('prefix', '${pcfiledir}/../..'), ('libdir', '${prefix}/lib'), ('includedir', '${prefix}/include')):
		text = re.sub(f'^{key}=.*', f'{key}={value}', text, flags=re.M)
	write(to / f'pkgconfig/{name}.pc', text.encode())


def copy_program(program, to, path):
	"""Copy `program` without its symbols; it looks for libraries in `path` first, whatever LD_LIBRARY_PATH is."""
	to.parent.mkdir(parents=True, exist_ok=True)
	run('strip', '-o', str(to), str(program))
	run('patchelf', '--force-rpath', '--set-rpath', path, str(to))


def write(path, content):
	path.parent.mkdir(parents=True, exist_ok=True)
	path.write_bytes(content)


# ---- libraries ----

def packages_of(files):
	"""Return the Debian package of each file: its name, version, source package, the version of that, and architecture."""
	real = {file: os.path.realpath(file) for file in files}
	# A library may be listed under /lib, which is a link to /usr/lib.
	found = subprocess.run(['dpkg-query', '--search', *real.values(), *(path.removeprefix('/usr') for path in real.values())],
		capture_output=True, text=True).stdout
	owners = {'/usr' + path.removeprefix('/usr'): names.split(', ')[0] for names, path in (line.split(': ', 1) for line in found.splitlines())}
	form = '${binary:Package}\t${Package}\t${Version}\t${source:Package}\t${source:Version}\t${Architecture}\n'
	rows = (line.split('\t') for line in run('dpkg-query', '--show', f'--showformat={form}').splitlines())
	facts = {row[0]: tuple(row[1:]) for row in rows}
	for file, path in real.items():
		if path not in owners:
			raise Failed(f'{file} is in no Debian package: its licence is not known')
	return {file: facts[owners[path]] for file, path in real.items()}


def own_files(tree):
	return [*(tree / 'bin' / name for name in PROGRAMS), *((tree / f'lib/{name}.so').resolve() for name in SHARED)]


def copy_libraries(tree):
	"""Copy all libraries that the programs need, but those of the C library, and return the package of each."""
	needed = {LOADED: run('cc', f'-print-file-name={LOADED}').strip()}
	if not os.path.isabs(needed[LOADED]):
		raise Failed(f'{LOADED} is not installed (Debian: libopenblas0)')
	for file in [*own_files(tree), needed[LOADED]]:
		for line in run('ldd', str(file)).splitlines():
			name, _, path = line.strip().partition(' => ')
			if path.startswith('not found'):
				raise Failed(f'{file} needs {name}, which is not found')
			if path.startswith('/'):
				needed[name] = path.split(' (')[0]
	packages = packages_of(needed.values())
	packages = {name: packages[path] for name, path in sorted(needed.items())
		if name not in OF_THE_SYSTEM and packages[path][2] not in OF_THE_SYSTEM}
	for name in packages:
		write(tree / LIBRARIES / name, Path(needed[name]).read_bytes())
	return packages


def copy_licences(tree, packages):
	"""Write the licence of each source package, and the licences that these texts refer to."""
	common = set()
	for package, source in sorted({(package[0], package[2]) for package in packages.values()}):
		text = Path('/usr/share/doc', package, 'copyright').read_bytes()
		write(tree / TEXTS / f'{source}.txt', text)
		common |= set(re.findall(COMMON_LICENCES + r'([A-Za-z]+[-.0-9]*[0-9])', text.decode(errors='replace')))
	for name in sorted(common):
		write(tree / TEXTS / 'common-licenses' / name, Path(COMMON_LICENCES, name).read_bytes())
	rows = [('file', 'package', 'version', 'source package', 'its version')]
	rows += [(name, *package[:4]) for name, package in packages.items()]
	widths = [max(len(row[i]) for row in rows) for i in range(5)]
	lines = ['  '.join(word.ljust(width) for word, width in zip(row, widths)).rstrip() for row in rows]
	write(tree / TEXTS / 'README', (README + '\n'.join(lines) + '\n').encode())


def needed_by(file):
	return set(re.findall(r'^ *NEEDED +(\S+)$', run('objdump', '-p', str(file)), re.M))


def write_bill(tree, about, moment, build, packages):
	"""Write the list of libraries, from which scanners know what has a published flaw."""
	system = dict(line.split('=', 1) for line in Path('/etc/os-release').read_text().splitlines() if '=' in line)
	needs = {name: needed_by(tree / LIBRARIES / name) for name in packages}
	needs[''] = {LOADED}.union(*(needed_by(path) for path in own_files(tree)))
	if unknown := {package[2] for package in packages.values()} - spdx.LICENCES.keys():
		raise Failed(f'add the licence of {", ".join(sorted(unknown))} to deploy/bundle/spdx.py')
	page = (build / 'tools/web/uplot.js').read_text()
	charts = page.split()[2] if page else ''
	text = spdx.bill(about, moment, f'{system["ID"]}-{system["VERSION_ID"]}'.replace('"', ''), packages, needs, charts)
	write(tree / BILL, text.encode())


def check(tree):
	"""Fail if a file needs a newer C library, or would look for libraries elsewhere."""
	for path in [*own_files(tree), *(tree / LIBRARIES).glob('*.so*')]:
		text = run('objdump', '-p', str(path))
		newest = max([tuple(map(int, version.split('.'))) for version in re.findall(r' GLIBC_([\d.]+)$', text, re.M)], default=(0,))
		if newest > GLIBC_NEWEST or ' GLIBC_PRIVATE' in text:
			raise Failed(f'{path.name} needs glibc {".".join(map(str, newest))}, not {".".join(map(str, GLIBC_NEWEST))}: build on Debian 12')
		if path.parent == tree / LIBRARIES and re.search(r'^ *(RPATH|RUNPATH)', text, re.M):
			raise Failed(f'{path.name} has a search path of its own')


# ---- the kinds of file ----

def write_tarball(tree, about, moment, folder):
	name = f'{about["name"]}-{about["version"]}-linux-{platform.machine()}'

	def normal(entry):
		entry.uid = entry.gid = 0
		entry.uname = entry.gname = 'root'
		entry.mtime = moment
		if entry.isfile():
			entry.mode = 0o755 if entry.mode & 0o100 else 0o644
		elif entry.isdir():
			entry.mode = 0o755
		return entry

	target = folder / f'{name}.tar.gz'
	with open(target, 'wb') as file, gzip.GzipFile('', 'wb', 9, file, mtime=moment) as packed, \
			tarfile.open(fileobj=packed, mode='w', format=tarfile.GNU_FORMAT) as archive:
		archive.add(tree, name, recursive=False, filter=normal)
		for path in sorted(tree.rglob('*')):
			archive.add(path, f'{name}/{path.relative_to(tree).as_posix()}', recursive=False, filter=normal)
	return target


def wheel_place(path, stem):
	"""Return the name in the wheel of a file of the tree, or None. pip copies scripts/ to the programs of an environment and
	data/ to its top folder, so that their places to each other are those of the tarball."""
	info = f'{stem}.dist-info'
	if path == 'LICENSE':
		return f'{info}/licenses/LICENSE'
	if path == BILL:
		return f'{info}/sboms/{Path(BILL).name}'
	if path == OWN_TEXT or path.startswith(TEXTS):
		return f'{info}/licenses/{path.removeprefix("share/doc/starling/")}'
	if path.startswith(f'{LIBRARIES}/python/'):
		return path.removeprefix(f'{LIBRARIES}/python/')
	if path.startswith('bin/'):
		return f'{stem}.data/scripts/{path.removeprefix("bin/")}'
	if path.startswith((f'{LIBRARIES}/', 'share/')):
		return f'{stem}.data/data/{path}'
	return None


def write_wheel(tree, about, moment, folder):
	stem = f'{about["name"]}-{about["version"]}'
	members = {}
	for path in tree.rglob('*'):
		place = wheel_place(path.relative_to(tree).as_posix(), stem)
		if path.is_file() and place is not None:
			members[place] = (path.read_bytes(), 0o755 if os.access(path, os.X_OK) and '.data/scripts/' in place else 0o644)
	tag = f'py3-none-manylinux_{GLIBC_NEWEST[0]}_{GLIBC_NEWEST[1]}_{platform.machine()}'
	return wheel_file.write(folder, tag, members, moment)


def make(kinds, source, build, folder, moment):
	"""Write a file of each kind into `folder`, and return their paths."""
	about = wheel_file.project()
	with tempfile.TemporaryDirectory() as name:
		tree = Path(name)
		stage(source, build, tree)
		packages = copy_libraries(tree)
		copy_licences(tree, packages)
		write_bill(tree, about, moment, build, packages)
		check(tree)
		folder.mkdir(parents=True, exist_ok=True)
		return [KINDS[kind](tree, about, moment, folder) for kind in kinds]


def copy_bill(tree, about, moment, folder):
	return shutil.copyfile(tree / BILL, folder / f'{about["name"]}-{about["version"]}.spdx.json')


KINDS = {'wheel': write_wheel, 'tarball': write_tarball, 'bill': copy_bill}


def main():
	if len(sys.argv) != 5 or not set(sys.argv[1].split(',')) <= set(KINDS):
		print(__doc__.strip(), file=sys.stderr)
		return 2
	source, build, folder = (Path(path).resolve() for path in sys.argv[2:])
	print(*make(sys.argv[1].split(','), source, build, folder, int(os.environ.get('SOURCE_DATE_EPOCH', time.time()))), sep='\n')
	return 0


if __name__ == '__main__':
	try:
		sys.exit(main())
	except (Failed, OSError) as flaw:
		print(f'bundle: {flaw}', file=sys.stderr)
		sys.exit(1)
