"""One npm package of a pinned version and hash, without its dependencies."""
import base64
import hashlib
import subprocess
import sys
import tarfile
from pathlib import Path


def get(name, version, integrity, folder):
	"""Return the package as an open tar file, or None and why it cannot be had. It is the file beside this one, or is taken into `folder`."""
	file = f'{name}-{version}.tgz'
	path = Path(__file__).resolve().parent / file
	if not path.exists():
		path = Path(folder) / file
	if not path.exists():
		try:
			subprocess.run(['npm', 'pack', f'{name}@{version}', '--prefer-offline', '--ignore-scripts', '--fetch-retries=0',
				'--fetch-timeout=20000'], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=True)
		except FileNotFoundError:
			return None, 'npm is not installed'
		except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
			return None, f'npm cannot get {name}'
	if base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode() != integrity:
		sys.exit(f'{path} is not the package that is expected: its sha512 differs')
	return tarfile.open(path), ''
