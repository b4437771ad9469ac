"""A wheel, a tarball and a bill of materials of the programs of this build folder: bundle.py SOURCE BUILD

The wheel has the files that it lists, and the licences. In a virtual environment that is not active, three learners average with its
programs, its libraries and its Python package. The tarball does so at any place, whatever LD_LIBRARY_PATH is; its programs need no newer
C library than that of Debian 12. The bill has what SPDX 2.3 asks for, and each library with its licence. Made again, all have the same bytes.
A signature of their sums verifies, and no other one. Skipped without patchelf, pip, numpy or ssh-keygen.
"""
import base64
import csv
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

SOURCE, BUILD = (Path(path).resolve() for path in sys.argv[1:])
PATIENCE = 300
PYTHON = '/usr/bin/python3'  # of the folder in which Debian's numpy is
sys.path.insert(0, str(SOURCE / 'deploy/bundle'))
import bundle  # noqa: E402


def run(*command, **options):
	done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=PATIENCE, **options)
	assert done.returncode == 0, f'{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}'
	return done.stdout


def environment(folder, **more):
	"""Return the variables of a user who has nothing but what Debian has."""
	return {'HOME': str(folder), 'PATH': '/usr/bin:/bin', 'LANG': 'C.UTF-8', **more}


def check_wheel(wheel):
	assert re.fullmatch(r'starling-[\d.]+-py3-none-manylinux_2_36_\w+\.whl', wheel.name), wheel.name
	with zipfile.ZipFile(wheel) as archive:
		names = archive.namelist()
		assert len(set(names)) == len(names)
		record = next(name for name in names if name.endswith('.dist-info/RECORD'))
		rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(archive.read(record).decode()))}
		assert list(rows) == names, 'RECORD has other files than the wheel'
		for name in names:
			content = archive.read(name)
			digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip('=')
			assert rows[name] == (['', ''] if name == record else [f'sha256={digest}', str(len(content))]), name
			assert archive.getinfo(name).external_attr >> 16 == (0o100755 if '.data/scripts/' in name else 0o100644), name
		texts = {name.rsplit('/', 1)[1] for name in names if '/licenses/' in name}
		assert texts >= {'LICENSE', 'copyright', 'openssl.txt', 'libsodium.txt', 'sqlite3.txt', 'gmp.txt', 'LGPL-2.1', 'README'}, texts
		# As the source lists the package, so that no module is missing, and nothing else is in it.
		tracked = {path.relative_to(SOURCE / 'tools/python').as_posix() for path in (SOURCE / 'tools/python/starling').rglob('*')
			if path.suffix in ('.py', '.typed')}
		assert {name for name in names if name.startswith('starling/')} == tracked


def check_programs(tree):
	"""The files need no newer C library, and no library but those beside them; an older C library is refused."""
	files = [*(tree / 'bin').glob('starling*'), *(tree / 'lib/starling').glob('*.so*')]
	own = {path.name for path in files}
	assert own > {'libcrypto.so.3', 'libopenblas.so.0'}, own
	for path in files:
		text = run('readelf', '--wide', '--dynamic', '--version-info', path)
		versions = {tuple(map(int, version.split('.'))) for version in re.findall(r'GLIBC_(\d+\.\d+)', text)}
		assert max(versions, default=(0, 0)) <= (2, 36), f'{path.name} needs glibc {max(versions)}'
		needed = set(re.findall(r'\(NEEDED\).*\[(.*)\]', text))
		others = {name for name in needed - own if not re.match(r'(libc|libm|libresolv|libgcc_s|ld-linux.*)\.so', name)}
		assert not others, f'{path.name} needs {others}'
		paths = re.findall(r'\((RPATH|RUNPATH)\).*\[(.*)\]', text)
		assert paths == ([('RPATH', '$ORIGIN/../lib/starling')] if path.parent.name == 'bin' else []), f'{path.name}: {paths}'


def launch(starling, folder, name, **more):
	"""Three learners average with the script of the README."""
	out = run(starling, 'launch', '-n', '3', '--rounds', '3', '--verify', '--run-dir', folder / name, '--', 'python3',
		SOURCE / 'tools/python/examples/regression.py', env=environment(folder, **more), cwd=folder)
	assert '3 of 3 rounds, all exact' in out and '300 points of 3 learners' in out, out
	figures = run(starling, 'logs', folder / name, '--stats', env=environment(folder, **more), cwd=folder)
	assert 'Rounds committed: 3' in figures, figures


def check_environment(wheel, folder):
	place = folder / 'some where'
	run(PYTHON, '-m', 'venv', '--system-site-packages', place)
	run(place / 'bin/python3', '-m', 'pip', 'install', '--no-index', wheel, env=environment(folder))
	loaded = run('ldd', place / 'bin/starling', env=environment(folder))
	assert 'not found' not in loaded and loaded.count(str(place)) > 8, loaded
	launch(place / 'bin/starling', folder, 'wheel')
	where = 'import starling; from starling.local import find_program; print(starling.__file__, find_program())'
	said = run(place / 'bin/python3', '-c', where, env=environment(folder)).strip()
	assert re.fullmatch(f'{place}/lib/python3[^ ]*/starling/__init__.py {place}/bin/starling', said), said
	assert (place / 'share/man/man1/starling.1').exists()
	run(place / 'bin/python3', '-m', 'pip', 'uninstall', '--yes', 'starling', env=environment(folder))
	left = [path for path in place.rglob('*starling*') if path.is_file()]
	assert not left, left


def check_tarball(tarball, folder):
	with tarfile.open(tarball) as archive:
		archive.extractall(folder / 'any place')
	tree, = (folder / 'any place').iterdir()
	check_programs(tree)
	bundle.GLIBC_NEWEST = (2, 17)
	try:
		bundle.check(tree)
		raise AssertionError('a file that needs a newer C library is not refused')
	except bundle.Failed as flaw:
		assert 'needs glibc 2.' in str(flaw), flaw
	# Libraries of others on the path are not taken.
	(folder / 'others').mkdir()
	(folder / 'others/libsodium.so.23').write_text('no library\n')
	launch(tree / 'bin/starling', folder, 'tarball', LD_LIBRARY_PATH=str(folder / 'others'))
	settings = dict(env=environment(folder, PKG_CONFIG_PATH=str(tree / 'lib/pkgconfig')))
	for library in 'libstarling', 'libstarlingcore':
		assert run('pkg-config', '--cflags-only-I', library, **settings).strip() == f'-I{tree}/lib/pkgconfig/../../include'.replace(' ', '\\ ')
	assert {path.name for path in tree.iterdir()} == {'LICENSE', 'bin', 'include', 'lib', 'share'}
	return tree


def check_bill(file, tree):
	"""The bill is as SPDX 2.3 wants it, and has the libraries that the tarball has, each with its licence and what it needs."""
	bill = json.loads(file.read_text())
	assert file.read_bytes() == (tree / 'share/doc/starling/starling.spdx.json').read_bytes()
	assert (bill['spdxVersion'], bill['dataLicense'], bill['SPDXID']) == ('SPDX-2.3', 'CC0-1.0', 'SPDXRef-DOCUMENT')
	assert re.fullmatch(r'https://\S+-[0-9a-f]{64}', bill['documentNamespace']) and '#' not in bill['documentNamespace']
	assert bill['name'] and bill['creationInfo']['created'] == '2023-11-14T22:13:20Z'
	assert all(re.match('(Tool|Organization|Person): ', one) for one in bill['creationInfo']['creators'])
	packages = {one['SPDXID']: one for one in bill['packages']}
	assert len(packages) == len(bill['packages'])
	for identifier, one in packages.items():
		assert re.fullmatch(r'SPDXRef-[A-Za-z0-9.-]+', identifier) and one['filesAnalyzed'] is False
		assert one['name'] and one['versionInfo'] and one['downloadLocation'] and one['copyrightText'] and ': ' in one['supplier'], one
		assert re.fullmatch(r'[A-Za-z0-9.-]+( (OR|AND|WITH) [A-Za-z0-9.-]+)*', one['licenseConcluded']) and one['licenseConcluded'] != 'NOASSERTION', one
		assert all(ref['referenceType'] == 'purl' and re.match(r'pkg:(deb/debian|generic|npm)/\S+@\S+', ref['referenceLocator']) for ref in one['externalRefs'])
	used = {word for one in packages.values() for word in one['licenseConcluded'].split() if word.startswith('LicenseRef-')}
	assert used <= {one['licenseId'] for one in bill['hasExtractedLicensingInfos'] if one['extractedText']}
	ends = {(one['spdxElementId'], one['relatedSpdxElement']) for one in bill['relationships']}
	assert {end for pair in ends for end in pair} == {'SPDXRef-DOCUMENT', *packages}, 'something is related to nothing'
	assert ('SPDXRef-DOCUMENT', 'SPDXRef-starling') in ends and ('SPDXRef-libmicrohttpd12', 'SPDXRef-libgnutls30') in ends
	rows = [line.split() for line in (tree / 'share/doc/starling/libraries/README').read_text().splitlines()]
	known = {row[0]: row[1:3] for row in rows if len(row) == 5}
	libraries = {path.name for path in (tree / 'lib/starling').glob('*.so*')}
	assert libraries == {name for name in known if '.so' in name}
	for name in libraries:
		for other in re.findall(r'\(NEEDED\).*\[(.*)\]', run('readelf', '--wide', '--dynamic', tree / 'lib/starling' / name)):
			pair = tuple(f'SPDXRef-{known[file][0]}' for file in (name, other) if file in known)
			assert len(set(pair)) < 2 or pair in ends, f'the bill does not tell that {name} needs {other}'
	listed = [[one['name'], one['versionInfo']] for one in bill['packages']]
	assert all(known[name] in listed for name in libraries), 'a library is not in the bill'
	assert {name for name, _ in listed} - {known[name][0] for name in libraries} <= {'starling', 'uplot'}


def check_signature(folder):
	"""tools/package signs the sums with a key of SSH; the commands of deploy/README.md verify that."""
	sums = ''.join(f'{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n' for path in folder.glob('starling-*'))
	(folder / 'SHA256SUMS').write_text(sums)
	for name in 'release', 'other':
		run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', folder / name)
	page = subprocess.run([PYTHON, Path(__file__).parent / 'blocks.py', SOURCE / 'deploy/README.md', 'Verify', 'files'], check=True, capture_output=True, text=True).stdout
	assert 'ssh-keygen' in page and 'sha256sum' in page, page

	def verifies(key):
		settings = environment(folder, KEY=(folder / f'{key}.pub').read_text().strip())
		return subprocess.run(['sh', '-euc', page], cwd=folder, env=settings, capture_output=True, timeout=PATIENCE).returncode == 0

	for _ in range(2):  # a signature takes the place of the one before
		run(SOURCE / 'tools/package', 'sign', folder / 'release', folder)
	assert 'sign KEY' in run(SOURCE / 'tools/package', 'sign', '--help', folder)
	assert verifies('release') and not verifies('other')
	(folder / 'SHA256SUMS').write_text(sums.replace('a', 'b'))
	assert not verifies('release'), 'other sums than were signed'
	done = subprocess.run([SOURCE / 'tools/package', 'sign', folder / 'release', folder], capture_output=True, timeout=PATIENCE)
	assert done.returncode == 1, 'sums that are wrong are signed'
	(folder / 'SHA256SUMS').write_text(sums)
	with open(next(folder.glob('starling-*.whl')), 'ab') as file:
		file.write(b'x')
	assert not verifies('release'), 'another file than was signed'


def main():
	for command, package in (['patchelf', '--version'], 'patchelf'), ([PYTHON, '-c', 'import ensurepip, venv'], 'python3-venv'), \
			([PYTHON, '-c', 'import numpy'], 'python3-numpy'), (['sh', '-c', 'command -v ssh-keygen'], 'openssh-client'):
		try:
			subprocess.run(command, check=True, capture_output=True)
		except (OSError, subprocess.CalledProcessError):
			print(f'{package} is missing: apt-get install {package}')
			return 77
	with tempfile.TemporaryDirectory(prefix='starling-test-') as name:
		folder = Path(name)
		kinds = ['wheel', 'tarball', 'bill']
		wheel, tarball, bill = files = bundle.make(kinds, SOURCE, BUILD, folder, 1700000000)
		before = os.umask(0o077)
		again = bundle.make(kinds, SOURCE, BUILD, folder / 'again', 1700000000)
		os.umask(before)
		assert [path.read_bytes() for path in again] == [path.read_bytes() for path in files], 'other bytes'
		check_wheel(wheel)
		check_environment(wheel, folder)
		check_bill(bill, check_tarball(tarball, folder))
		check_signature(folder)
	return 0


sys.exit(main())
