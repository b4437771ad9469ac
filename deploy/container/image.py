#!/usr/bin/python3
"""Make an image of one layer, for `podman load`, `docker load` and skopeo: image.py CONTAINERFILE VERSION ARCHITECTURE ROOT.tar IMAGE.tar

USER, ENTRYPOINT and CMD are those of the Containerfile. The file is an OCI layout with a manifest.json, which older versions of docker
look for. The time of all is SOURCE_DATE_EPOCH: the same root gives the same bytes.
"""
import datetime
import gzip
import hashlib
import io
import json
import os
import re
import sys
import tarfile
from pathlib import Path

TYPE = 'application/vnd.oci.image.'
PATH = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'


def digest(content):
	return hashlib.sha256(content).hexdigest()


def described(blobs, kind, content, **more):
	"""Put `content` among the blobs and return what refers to it."""
	blobs[digest(content)] = content
	return {'mediaType': TYPE + kind, 'digest': f'sha256:{digest(content)}', 'size': len(content), **more}


def packed(value):
	return json.dumps(value, sort_keys=True).encode()


def settings(containerfile):
	"""Return what a runtime has to know of the last stage of the Containerfile."""
	last = {word: json.loads(value) if value.startswith('[') else value for word, value in re.findall(r'^(USER|ENTRYPOINT|CMD) (.*)$', containerfile, re.M)}
	return {'User': last['USER'], 'Entrypoint': last['ENTRYPOINT'], 'Cmd': last['CMD'], 'Env': [PATH]}


def image(containerfile, version, architecture, root, moment):
	"""Return the files of the image by their names."""
	blobs, created = {}, datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
	layer = described(blobs, 'layer.v1.tar+gzip', gzip.compress(root, 6, mtime=0))
	config = described(blobs, 'config.v1+json', packed({'created': created, 'architecture': architecture, 'os': 'linux',
		'config': settings(containerfile), 'rootfs': {'type': 'layers', 'diff_ids': [f'sha256:{digest(root)}']}}))
	manifest = described(blobs, 'manifest.v1+json', packed({'schemaVersion': 2, 'mediaType': f'{TYPE}manifest.v1+json', 'config': config,
		'layers': [layer]}), annotations={'org.opencontainers.image.ref.name': version, 'io.containerd.image.name': f'localhost/starling:{version}'})
	files = {f'blobs/sha256/{name}': content for name, content in blobs.items()}
	place = {one['digest']: 'blobs/' + one['digest'].replace(':', '/') for one in (layer, config)}
	files['index.json'] = packed({'schemaVersion': 2, 'mediaType': f'{TYPE}index.v1+json', 'manifests': [manifest]})
	files['manifest.json'] = packed([{'Config': place[config['digest']], 'RepoTags': [f'localhost/starling:{version}'], 'Layers': [place[layer['digest']]]}])
	files['oci-layout'] = packed({'imageLayoutVersion': '1.0.0'})
	return files


def main():
	containerfile, version, architecture, root, target = sys.argv[1:]
	moment = int(os.environ['SOURCE_DATE_EPOCH'])
	with tarfile.open(target, 'w', format=tarfile.GNU_FORMAT) as archive:
		for name, content in sorted(image(Path(containerfile).read_text(), version, architecture, Path(root).read_bytes(), moment).items()):
			entry = tarfile.TarInfo(name)
			entry.size, entry.mtime = len(content), moment
			archive.addfile(entry, io.BytesIO(content))
	print(target)


main()
