"""The bill of materials, in the format SPDX 2.3: Starling, the libraries that its programs load, and the charts of its page."""
import datetime
import hashlib
import json
import re
from urllib.parse import quote, urlencode

HOME = 'https://starling.example/'
OWN = 'SPDXRef-starling'
MAKER = 'Organization: Starling maintainers'
# The licence of what is loaded, by source package: `Files: *` of its debian/copyright, in the words of SPDX. That file itself
# is beside each library, with what applies to single files.
LICENCES = {
	'gcc-12': 'GPL-3.0-or-later WITH GCC-exception-3.1',
	'gmp': 'LGPL-3.0-or-later OR GPL-2.0-or-later',
	'gnutls28': 'LGPL-2.1-or-later',
	'jansson': 'MIT',
	'libcap2': 'BSD-3-Clause OR GPL-2.0-only',
	'libffi': 'MIT',
	'libfyaml': 'MIT',
	'libgcrypt20': 'LGPL-2.1-or-later',
	'libgpg-error': 'LGPL-2.1-or-later',
	'libidn2': 'LGPL-3.0-or-later OR GPL-2.0-or-later',
	'libmicrohttpd': 'LGPL-2.1-or-later',
	'libsodium': 'ISC',
	'libtasn1-6': 'LGPL-2.1-or-later',
	'libunistring': 'LGPL-3.0-or-later OR GPL-2.0-or-later',
	'libuv1': 'MIT',
	'libzstd': 'BSD-3-Clause OR GPL-2.0-only',
	'lz4': 'BSD-2-Clause',
	'nettle': 'LGPL-3.0-or-later OR GPL-2.0-or-later',
	'openblas': 'BSD-3-Clause',
	'openssl': 'Apache-2.0',
	'p11-kit': 'BSD-3-Clause',
	'protobuf-c': 'BSD-2-Clause',
	'sqlite3': 'blessing',
	'systemd': 'LGPL-2.1-or-later',
	'xz-utils': 'LicenseRef-public-domain',
	'zlib': 'Zlib',
}
PUBLIC = {'licenseId': 'LicenseRef-public-domain', 'name': 'Public domain', 'extractedText': 'Its authors have put this work into the public domain.'}


def identifier(name):
	return 'SPDXRef-' + re.sub('[^A-Za-z0-9.-]', '-', name)


def entry(name, version, licence, supplier, purl, **more):
	"""Return a package of the bill. Its files are not listed: dpkg and the list of a wheel have their sums."""
	return {'SPDXID': identifier(name), 'name': name, 'versionInfo': version, 'supplier': supplier, 'downloadLocation': 'NOASSERTION',
		'filesAnalyzed': False, 'licenseConcluded': licence, 'licenseDeclared': licence, 'copyrightText': 'NOASSERTION',
		'externalRefs': [{'referenceCategory': 'PACKAGE-MANAGER', 'referenceType': 'purl', 'referenceLocator': purl}], **more}


def debian_entry(package, system):
	"""Return the entry of a Debian package: (name, version, source package, its version, architecture)."""
	name, version, source, source_version, architecture = package
	where = urlencode({'arch': architecture, 'distro': system, 'upstream': f'{source}@{source_version}'})
	purl = f'pkg:deb/{system.split("-")[0]}/{name}@{quote(version)}?{where}'
	return entry(name, version, LICENCES[source], 'Organization: Debian', purl,
		sourceInfo=f'Debian source package {source} {source_version}')


def relation(one, kind, other):
	return {'spdxElementId': one, 'relationshipType': kind, 'relatedSpdxElement': other}


def bill(about, moment, system, libraries, needs, charts):
	"""Return the bill as text. libraries: the Debian package of each library; needs: which libraries a library needs, and '' for the programs;
	charts: the version of uPlot in the page, or ''."""
	packages = [entry(about['name'], about['version'], about['license'], MAKER, f'pkg:generic/{about["name"]}@{about["version"]}',
		primaryPackagePurpose='APPLICATION', homepage=HOME)]
	packages += [debian_entry(package, system) for package in sorted(set(libraries.values()))]
	relations = {('SPDXRef-DOCUMENT', 'DESCRIBES', OWN)}
	for file, others in needs.items():
		one = identifier(libraries[file][0]) if file else OWN
		relations |= {(one, 'DEPENDS_ON' if file else 'DYNAMIC_LINK', identifier(libraries[other][0])) for other in others if other in libraries}
	if charts:
		packages.append(entry('uplot', charts, 'MIT', 'Person: Leon Sorokin', f'pkg:npm/uplot@{charts}', comment='The charts of the live page.'))
		relations.add((OWN, 'CONTAINS', identifier('uplot')))
	content = {'packages': packages, 'relationships': [relation(*one) for one in sorted(relations) if one[0] != one[2]]}
	name = f'{about["name"]}-{about["version"]}'
	digest = hashlib.sha256(json.dumps([moment, content], sort_keys=True).encode()).hexdigest()
	created = datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
	head = {'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': name,
		'documentNamespace': f'{HOME}spdx/{name}-{digest}', 'creationInfo': {'created': created, 'creators': [MAKER, 'Tool: starling-package']},
		'comment': 'The wheel and the tarball have these libraries in them; the Debian packages depend on them.'}
	return json.dumps({**head, **content, 'hasExtractedLicensingInfos': [PUBLIC]}, indent=1) + '\n'
