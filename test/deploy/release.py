"""`tools/package all` on two checkouts, in other folders, with another umask, time zone, language and CFLAGS: release.py SOURCE

Both give the same bytes. The image has the layers that it names; its root starts learners as the user of the image, and has no compiler.
Skipped without root, git, debhelper, mmdebstrap, patchelf or a Debian archive.
"""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

SOURCE = Path(sys.argv[1]).resolve()
INSIDE = '''set -e
[ "$(id -u):$(id -g)" = 10001:10001 ]
starlingd --version
starling simulate -n 4 --rounds 2 | tail -n 1
starling launch --run-dir /tmp/run -n 3 --rounds 2 --set trainer=noise | tail -n 1
starling status --json /tmp/run >/tmp/status || [ $? -le 2 ]
touch /var/lib/starling/state/x
! command -v gcc
! command -v apt-get
'''


def run(*command, **options):
	done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
	assert done.returncode == 0, f'{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}'
	return done.stdout


def package(repository, source, folder, umask, **more):
	"""Clone the repository to `source`, and return the sums of what tools/package makes of it in `folder`."""
	run('git', 'clone', '--quiet', '--no-hardlinks', repository, source, umask=umask)
	variables = {'PATH': os.environ['PATH'], 'HOME': str(folder.parent / 'home'), 'CCACHE_DISABLE': '1', **more}
	run(source / 'tools/package', 'all', folder, env=variables, umask=umask)
	run('sha256sum', '--check', '--strict', 'SHA256SUMS', cwd=folder)
	return (folder / 'SHA256SUMS').read_text()


def check_image(file, folder):
	"""Unpack the image as a runtime does, and start its programs in a root of their own."""
	with tarfile.open(file) as archive:
		archive.extractall(folder)
	blobs = {path.name: path for path in (folder / 'blobs/sha256').iterdir()}
	for name, path in blobs.items():
		assert hashlib.sha256(path.read_bytes()).hexdigest() == name, name
	index = json.loads((folder / 'index.json').read_text())
	manifest = json.loads(blobs[index['manifests'][0]['digest'][7:]].read_text())
	config = json.loads(blobs[manifest['config']['digest'][7:]].read_text())
	older, = json.loads((folder / 'manifest.json').read_text())
	layer, = older['Layers']
	assert layer == f'blobs/sha256/{manifest["layers"][0]["digest"][7:]}' and older['Config'] == f'blobs/sha256/{manifest["config"]["digest"][7:]}'
	raw = subprocess.run(['gzip', '--decompress', '--stdout', folder / layer], check=True, stdout=subprocess.PIPE).stdout
	assert config['rootfs']['diff_ids'] == [f'sha256:{hashlib.sha256(raw).hexdigest()}']
	assert config['config']['User'] == '10001:10001' and config['config']['Entrypoint'] == ['/usr/bin/starlingd'], config
	root = folder / 'root'
	root.mkdir()
	subprocess.run(['tar', '--extract', '--numeric-owner', '-C', root], input=raw, check=True)
	script = 'mount --make-rprivate / && mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" && ip link set lo up && exec chroot --userspec="$2" "$1" env -i "$3" HOME=/tmp sh -c "$4"'
	print(run('unshare', '--kill-child', '--fork', '--pid', '--mount', '--net', 'sh', '-c', script, 'sh', root, config['config']['User'],
		config['config']['Env'][0], INSIDE))


def main():
	missing = [name for name in ('git', 'dh', 'mmdebstrap', 'patchelf', 'unshare', 'ip') if shutil.which(name) is None]
	if missing or os.getuid() != 0 or subprocess.run(['git', '-C', SOURCE, 'rev-parse', 'HEAD'], capture_output=True).returncode != 0:
		print(f'needs root, git with this source, and: {", ".join(missing)}')
		return 77
	with tempfile.TemporaryDirectory(prefix='starling-test-') as name:
		folder = Path(name)
		if subprocess.run(['mmdebstrap', '--quiet', '--mode=root', '--variant=extract', 'bookworm', folder / 'archive.tar'], capture_output=True).returncode != 0:
			print('no Debian archive')
			return 77
		first = package(SOURCE, folder / 'a', folder / 'first', 0o022, LC_ALL='C.UTF-8')
		print(first)
		second = package(folder / 'a', folder / 'some where else/b', folder / 'second', 0o077, TZ='Asia/Kathmandu', LC_ALL='C', CFLAGS='-O1')
		assert first == second, f'other bytes:\n{first}{second}'
		image, = (folder / 'first').glob('*-image-*.tar')
		check_image(image, folder / 'image')
	return 0


sys.exit(main())
