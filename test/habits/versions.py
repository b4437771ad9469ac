#!/usr/bin/env python3
"""Fail if a file names another version than meson.build, which is the place to change it."""
import re
import sys

from rooms import ROOT

# The first match of each is the version.
PLACES = {
	'NEWS.md': r'^## (\S+)',
	'README.md': r'This is version (\d[\d.]*\d)',
	'SECURITY.md': r'Version (\d[\d.]*\d)',
	'deploy/ansible/inventory.example.yml': r'/starling_(\d[\d.]*\d)_.*/python3-starling_\1_',
	'deploy/kubernetes/kustomization.yaml': r'newTag: (\S+)',
	'tools/python/pyproject.toml': r'^version = "(.*)"',
	'tools/python/starling/__init__.py': r'^__version__ = "(.*)"',
	'tools/r/DESCRIPTION': r'^Version: (.*)',
}


def main():
	version = re.search(r"^  version: '(.*)',", (ROOT / 'meson.build').read_text(), re.M)[1]
	wrong = 0
	for name, form in PLACES.items():
		found = re.search(form, (ROOT / name).read_text(), re.M)
		if found is None or found[1] != version:
			print(f'{name}: {found[1] if found else "no version"}, but meson.build has {version}')
			wrong += 1
	return wrong > 0


sys.exit(main())
