"""The manifests, without a cluster: kubernetes.py STARLING STARLINGD SOURCE.

kubectl puts them together. What refers to something must find it. Then each pod of the stateful set is run: the command of its
container with its variables, and with its volumes as folders. One loses its volume and goes on. Skipped without kubectl or
PyYAML.
"""
import base64
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / 'lib'))
from blocks import blocks
from patience import PATIENCE, expect
from ports import free_ports

STARLING, STARLINGD, SOURCE = (Path(path).resolve() for path in sys.argv[1:])
PODS = 4

try:
	import yaml
except ImportError:
	print('PyYAML is missing')
	sys.exit(77)
if shutil.which('kubectl') is None:
	print('kubectl is missing')
	sys.exit(77)



def build(folder, volumes=True):
	"""Return the objects that `kubectl apply -k` would make, of a copy of the folder in `folder`."""
	copy = folder / 'kubernetes'
	if not copy.exists():
		shutil.copytree(SOURCE / 'deploy/kubernetes', copy, ignore=shutil.ignore_patterns('identities'))
		environment = dict(os.environ, PATH=f'{STARLING.parent}:{os.environ["PATH"]}')
		for _ in range(2):  # the second call keeps the identities
			subprocess.run([copy / 'make-identities', str(PODS)], check=True, env=environment, stdout=subprocess.DEVNULL)
	kustomization = copy / 'kustomization.yaml'
	text = (SOURCE / 'deploy/kubernetes/kustomization.yaml').read_text()
	assert '# - without-volume' in text
	kustomization.write_text(text if volumes else text.replace('# - without-volume', '- without-volume'))
	made = subprocess.run(['kubectl', 'kustomize', copy], check=True, capture_output=True, text=True).stdout
	return list(yaml.safe_load_all(made))


def find(objects, kind, name=None):
	found = [o for o in objects if o['kind'] == kind and name in (None, o['metadata']['name'])]
	assert len(found) == 1, (kind, name, [o['metadata']['name'] for o in found])
	return found[0]


def check_references(objects):
	"""Names and labels that refer to each other are the same."""
	learners = find(objects, 'StatefulSet')
	spec, template = learners['spec'], learners['spec']['template']
	pod = template['spec']
	container, = pod['containers']
	labels = template['metadata']['labels']
	service = find(objects, 'Service', spec['serviceName'])
	selectors = {'the set': spec['selector']['matchLabels'], 'the service': service['spec']['selector'],
		'the budget': find(objects, 'PodDisruptionBudget')['spec']['selector']['matchLabels'],
		'the policy': find(objects, 'NetworkPolicy')['spec']['podSelector']['matchLabels']}
	for name, selector in selectors.items():
		assert selector.items() <= labels.items(), f'{name} selects other pods'
	assert service['spec']['clusterIP'] == 'None' and service['spec']['publishNotReadyAddresses']
	port = container['ports'][0]['containerPort']
	policy = find(objects, 'NetworkPolicy')['spec']
	assert port == service['spec']['ports'][0]['port'] == policy['ingress'][0]['ports'][0]['port'] == policy['egress'][0]['ports'][0]['port']
	volumes = {v['name'] for v in pod['volumes']} | {v['metadata']['name'] for v in spec.get('volumeClaimTemplates', [])}
	assert {m['name'] for m in container['volumeMounts']} <= volumes
	assert spec['replicas'] == PODS and find(objects, 'PodDisruptionBudget')['spec']['maxUnavailable'] == 1
	roster = find(objects, 'ConfigMap', next(v['configMap']['name'] for v in pod['volumes'] if v['name'] == 'roster'))['data']['roster.yaml']
	members = yaml.safe_load(roster)
	for ordinal, member in enumerate(members, spec['ordinals']['start']):
		assert member['id'] == ordinal and member['address'] == f'{learners["metadata"]["name"]}-{ordinal}.{service["metadata"]["name"]}:{port}'
	context = container['securityContext']
	assert pod['securityContext']['runAsNonRoot'] and context['readOnlyRootFilesystem'] and not context['allowPrivilegeEscalation']
	assert context['capabilities']['drop'] == ['ALL'] and not pod['automountServiceAccountToken']


class Pod:
	"""The container of pod number `ordinal`, with its volumes in folders; its address is 127.0.0.1:`ports`[ordinal]."""

	def __init__(self, objects, ordinal, ports, folder):
		spec = find(objects, 'StatefulSet')['spec']
		self.container, = spec['template']['spec']['containers']
		self.name = f'{find(objects, "StatefulSet")["metadata"]["name"]}-{ordinal}'
		self.folder = folder / self.name
		self.paths, self.process = {}, None
		for mount in self.container['volumeMounts']:
			volume = self.folder / mount['name']
			volume.mkdir(parents=True)
			source = next((v for v in spec['template']['spec']['volumes'] if v['name'] == mount['name']), {})
			self.fill(objects, source, volume)
			self.paths[mount['mountPath']] = volume / mount.get('subPathExpr', '').replace('$(POD_NAME)', self.name)
		settings = self.paths['/etc/starling'] / 'starlingd.yaml'
		settings.write_text(self.mapped(settings.read_text()).replace('0.0.0.0:7400', f'127.0.0.1:{ports[ordinal]}') + 'straggler_timeout: 10\n')
		roster = self.paths['/etc/starling-roster'] / 'roster.yaml'
		roster.write_text(re.sub(r'starling-(\d+)\.starling:7400', lambda m: f'127.0.0.1:{ports[int(m[1])]}', roster.read_text()))

	@staticmethod
	def fill(objects, source, volume):
		"""Write the files of a volume as the kubelet does."""
		if 'configMap' in source:
			for name, text in find(objects, 'ConfigMap', source['configMap']['name'])['data'].items():
				(volume / name).write_text(text)
		for part in source.get('projected', {}).get('sources', []):
			secret = find(objects, 'Secret', part['secret']['name'])
			for item in part['secret']['items']:
				path = volume / item['path']
				path.parent.mkdir(exist_ok=True)
				path.write_bytes(base64.b64decode(secret['data'][item['key']]))
				path.chmod(0o440)  # 0400, and the group of fsGroup

	def mapped(self, text):
		"""Replace the paths of the container by those of the folders, the longest first."""
		places = sorted(self.paths, key=len, reverse=True)
		return re.sub('|'.join(re.escape(p) + r'(?![\w-])' for p in places), lambda m: str(self.paths[m[0]]), text)

	def run(self, command):
		environment = {'PATH': f'{STARLINGD.parent}:{STARLING.parent}:/usr/bin:/bin'}
		for variable in self.container['env']:
			environment[variable['name']] = self.mapped(variable['value']) if 'value' in variable else self.name
		return subprocess.Popen([self.mapped(word) for word in command], env=environment, stdout=subprocess.DEVNULL,
			stderr=open(self.folder / 'log', 'ab'))

	def start(self):
		self.process = self.run(self.container['command'])

	def ready(self):
		return self.run(self.container['readinessProbe']['exec']['command']).wait(PATIENCE) == 0

	def committed(self):
		socket = self.paths['/var/lib/starling'] / 'state/control.sock'
		asked = subprocess.run([STARLING, 'status', '--json', '--control', socket], capture_output=True, text=True)
		found = re.search(r'"committed": ?(\d+)', asked.stdout)
		return int(found[1]) if found else 0

	def log(self):
		return (self.folder / 'log').read_text()[-2000:]


def run_pods(objects, folder):
	"""All pods average; one without its volume sits a round out and goes on."""
	ports = dict(enumerate(free_ports(PODS), 1))
	pods = [Pod(objects, ordinal, ports, folder) for ordinal in ports]
	try:
		for pod in pods:
			pod.start()
		for pod in pods:
			expect(f'three rounds of {pod.name}: {pod.log()}', lambda: pod.committed() >= 3)
		expect('pods are ready', lambda: all(pod.ready() for pod in pods))
		lost = pods[-1]
		lost.process.send_signal(signal.SIGKILL)
		lost.process.wait()
		shutil.rmtree(lost.paths['/var/lib/starling'] / 'state')
		before = pods[0].committed()
		lost.start()
		expect('the others go on', lambda: pods[0].committed() > before)
		expect(f'the pod without a volume takes part again: {lost.log()}', lambda: lost.committed() > before + 3)
		expect('one model', lambda: same_digest(pods))
	finally:
		for pod in pods:
			if pod.process:
				pod.process.terminate()
		for pod in pods:
			if pod.process:
				pod.process.wait(PATIENCE)
	for pod in pods:
		assert '"event":"fatal"' not in pod.log(), pod.log()


def same_digest(pods):
	"""Return true if all pods have committed some round, with one digest."""
	rounds = {}
	for pod in pods:
		for record in map(json.loads, (pod.folder / 'log').read_text().rpartition('\n')[0].splitlines()):
			if record['event'] == 'committed':
				rounds.setdefault(record['round'], {})[pod.name] = record['digest']
	for of_round in rounds.values():
		assert len(set(of_round.values())) == 1, of_round
	return any(len(of_round) == len(pods) for of_round in rounds.values())


def replay_page(folder):
	"""Run the commands of deploy/README.md with a kubectl that puts together what it is to apply, and asks no cluster."""
	shutil.copytree(SOURCE / 'deploy', folder / 'deploy', ignore=shutil.ignore_patterns('identities'))
	(folder / 'bin').mkdir()
	stub = folder / 'bin/kubectl'
	stub.write_text(f'#!/bin/sh\n[ "$1 $2" != "apply -k" ] || exec {shutil.which("kubectl")} kustomize "$3"\n')
	stub.chmod(0o755)
	environment = dict(os.environ, PATH=f'{folder}/bin:{STARLING.parent}:{os.environ["PATH"]}')
	for _, commands in blocks(SOURCE / 'deploy/README.md', 'Kubernetes'):
		said = subprocess.run(['sh', '-euc', commands], cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout
		assert 'kind: StatefulSet' in said, said


def main():
	with tempfile.TemporaryDirectory(prefix='starling-test-') as folder:
		for volumes in (False, True):
			objects = build(Path(folder), volumes)
			check_references(objects)
			claims = find(objects, 'StatefulSet')['spec'].get('volumeClaimTemplates', [])
			assert len(claims) == volumes, claims
		run_pods(objects, Path(folder))
		replay_page(Path(folder) / 'page')
	print('kubernetes: passed')


main()
