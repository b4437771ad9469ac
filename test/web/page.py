#!/usr/bin/env python3
"""The live page and the report in headless Chromium: page.py STARLING. Exit status 77 where there is no browser."""
import subprocess
import sys
import tempfile
from pathlib import Path

import browser


def main():
	with tempfile.TemporaryDirectory(prefix='starling-test-page-', ignore_cleanup_errors=True) as folder:
		environment, why = browser.prepare(folder)
		if environment is None:
			print(why)
			return 77
		return subprocess.run(['node', str(Path(__file__).with_name('page.mjs')), sys.argv[1], folder], env=environment).returncode


sys.exit(main())
