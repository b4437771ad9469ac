"""Headless Chromium for tests of the page: whether it is here, and playwright-core, which drives it."""
import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tools' / 'web'))
sys.dont_write_bytecode = True

import npm_package  # noqa: E402

VERSION = '1.65.1'
INTEGRITY = 'hqPpz7blSMPxWVdoeE1yiBSzXsKiVOd2k+kjCvmUywD2GPO2Dd9HfcWnq9NN0GHbNZDFgZ9JfBFr+X5/BLo0qw=='  # sha512


def prepare(folder):
	"""Put playwright-core into `folder`; return the environment of a node program, or None and what is missing."""
	for program in ('chromium', 'node'):
		if shutil.which(program) is None:
			return None, f'{program} is not installed'
	package, why = npm_package.get('playwright-core', VERSION, INTEGRITY, folder)
	if package is None:
		return None, why
	package.extractall(Path(folder) / 'playwright-core')
	return {**os.environ, 'PLAYWRIGHT': str(Path(folder) / 'playwright-core' / 'package' / 'index.mjs'), 'CHROMIUM': shutil.which('chromium')}, ''
