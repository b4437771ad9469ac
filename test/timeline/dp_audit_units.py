"""`starling dp audit`: dp_audit_units.py STARLING. Three learners commit three rounds; the second needs two attempts, which are both charged."""
import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / 'tools/timeline'))
from starling_timeline import dp_audit  # noqa: E402

STARLING = sys.argv.pop(1)
NAMES = {1: 'ana', 2: 'bo', 3: 'eve'}
MEMBERS = 'members:\n' + ''.join(f'- {{id: {own}, name: {name}, address: "h{own}:1", key: "sha256:{own:064}"}}\n' for own, name in NAMES.items())
HIDES = 'dp_clip: 1, dp_noise: 1, dp_delta: 1e-6'
ATTEMPTS = [(1, 1), (2, 1), (2, 2), (3, 1)]


def record(own, place, event, **fields):
	t, a = place
	return {'v': 1, 'time': f'2026-11-23T10:00:{10 * t + a:02}.000Z', 'mono_ms': 1e4 * t, 'level': 'info', 'learner': own, 'name': NAMES[own],
		'event': event, 'text': event, 'round': t, 'attempt': a, **fields}


def charged(own, place, spent, **fields):
	return record(own, place, 'charged', epsilon=spent / 10, epsilon_unsampled=spent, delta=1e-5, budget=2.0, **fields)


def run_of(participants=(1, 2, 3)):
	"""Return the logs of the run, by learner: views, charges 1, 2, 3, 4, and commits."""
	logs = {own: [] for own in NAMES}
	for own in participants:
		for spent, place in enumerate(ATTEMPTS, 1):
			logs[own].append(record(own, place, 'view', view=f'{place[1]:016}', participants=list(participants), neighbours=[]))
			logs[own].append(charged(own, place, spent))
			if place != (2, 1):
				logs[own].append(record(own, place, 'committed', digest='00'))
	return logs


def without(logs, own, event, place):
	"""Take out a record; return it with its place."""
	at = next(i for i, one in enumerate(logs[own]) if one['event'] == event and (one['round'], one['attempt']) == place)
	return at, logs[own].pop(at)


class DpAudit(unittest.TestCase):
	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.folder = Path(folder.name)
		os.environ['STARLING_PROGRAM'] = STARLING
		sys.argv[0] = dp_audit.NAME

	def audit(self, logs, *options, roster=None):
		"""Return exit status, output and errors. `roster`: its settings."""
		for own, records in logs.items():
			(self.folder / NAMES[own]).mkdir(exist_ok=True)
			(self.folder / NAMES[own] / 'log.jsonl').write_text(''.join(json.dumps(one) + '\n' for one in records))
		if roster:
			(self.folder / 'roster.yaml').write_text(roster + '\n' + MEMBERS)
		out, err = io.StringIO(), io.StringIO()
		out.reconfigure = err.reconfigure = lambda **_: None
		with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
			status = dp_audit.main([str(self.folder), *options])
		return status, out.getvalue(), err.getvalue()

	def document(self, logs, roster=None):
		status, out, _ = self.audit(logs, '--json', roster=roster)
		document = json.loads(out)
		self.assertEqual(status, 1 if document['findings'] else 0)
		return document

	def kinds(self, logs, roster=None):
		return [(one['finding'], one['learner'], one['round'], one['attempt']) for one in self.document(logs, roster)['findings']]

	def show_status(self, epsilon, charges):
		"""Let `starling status` show a ledger of ana."""
		dp = {'unit': 'record', 'epsilon': epsilon / 10, 'epsilon_unsampled': epsilon, 'delta': 1e-5, 'budget': 2.0, 'charges': charges, 'guessed': 0}
		program = self.folder / 'status'
		answer = {'learners': [{'learner': 'ana', 'status': {'id': 1, 'dp': dp}}, {'learner': 'bo', 'status': None}]}
		program.write_text(f"#!/bin/sh\n[ \"$1 $2\" = 'status --json' ] || exit 2\necho '{json.dumps(answer)}'\nexit 1\n")
		program.chmod(0o755)
		os.environ['STARLING_PROGRAM'] = str(program)

	def test_each_attempt_is_charged(self):
		document = self.document(run_of(), roster=f'settings: {{dp: record, {HIDES}}}')
		self.assertEqual((document['unit'], document['rounds'], document['without_log']), ('record', 3, []))
		self.assertEqual(document['learners'][1], {
			'id': 2, 'name': 'bo', 'attempts_charged': 4, 'guessed': 0, 'rounds_committed': 3, 'epsilon': 0.4, 'epsilon_unsampled': 4,
			'delta': 1e-5, 'budget': 2, 'budget_spent': None, 'ledger': None})

	def test_a_missing_charge_is_found(self):
		logs = run_of()
		without(logs, 3, 'charged', (2, 2))
		self.assertEqual(self.kinds(logs), [('no_charge', 3, 2, 2)])
		_, out, _ = self.audit(logs)
		self.assertIn('FOUND: eve (3) took part in round 2, which attempt 2 committed, and was not charged for it.', out)

	def test_a_failed_attempt_needs_no_charge(self):
		logs = run_of()
		without(logs, 3, 'charged', (2, 1))
		self.assertEqual(self.kinds(logs), [])

	def test_a_participant_that_did_not_commit_itself_took_part(self):
		"""It was Ready, and fetched the result."""
		logs = run_of()
		without(logs, 2, 'committed', (3, 1))
		without(logs, 2, 'charged', (3, 1))
		self.assertEqual(self.kinds(logs), [('no_charge', 2, 3, 1)])

	def test_who_committed_took_part_without_a_view_in_the_log(self):
		logs = run_of()
		for own in NAMES:
			without(logs, own, 'view', (1, 1))
		without(logs, 1, 'charged', (1, 1))
		self.assertEqual(self.kinds(logs), [('no_charge', 1, 1, 1)])

	def test_who_was_away_is_not_charged(self):
		logs = run_of(participants=(1, 2))
		logs[3] = [record(3, (3, 1), 'caught_up', digest='00')]
		document = self.document(logs)
		self.assertEqual(document['findings'], [])
		self.assertEqual((document['learners'][2]['rounds_committed'], document['learners'][2]['epsilon']), (0, 0))

	def test_zeros_after_the_budget_need_no_charge(self):
		logs = run_of()
		at, _ = without(logs, 1, 'charged', (3, 1))
		logs[1].insert(at, record(1, (3, 1), 'budget_zeros', epsilon=2.1, budget=2.0))
		document = self.document(logs)
		self.assertEqual((document['findings'], document['learners'][0]['budget_spent']), ([], 3))
		self.assertIn('The budget did not suffice for round 3: ana (1).', self.audit(logs)[1])

	def test_a_round_before_the_end_of_the_budget_needs_its_charge(self):
		logs = run_of()
		without(logs, 1, 'charged', (1, 1))
		logs[1].append(record(1, (3, 1), 'budget_spent', epsilon=2.1, budget=2.0))
		self.assertEqual(self.kinds(logs), [('no_charge', 1, 1, 1)])

	def test_a_budget_that_was_raised_is_charged_again(self):
		logs = run_of()
		logs[1].insert(0, record(1, (1, 1), 'budget_zeros', epsilon=2.1, budget=2.0))
		without(logs, 1, 'charged', (1, 1))
		without(logs, 1, 'charged', (3, 1))
		self.assertEqual(self.kinds(logs), [('no_charge', 1, 3, 1)])

	def test_a_ledger_that_was_lowered_is_found(self):
		logs = run_of()
		at, _ = without(logs, 1, 'charged', (3, 1))
		logs[1].insert(at, charged(1, (3, 1), 1))
		self.assertEqual(self.kinds(logs), [('lowered', 1, 3, 1)])
		logs[1][at]['delta'] = 1e-4  # another delta is no fall
		self.assertEqual(self.kinds(logs), [])

	def test_more_than_the_budget_is_found_once(self):
		logs = run_of()
		for one in logs[2]:
			if one['event'] == 'charged' and one['round'] > 1:
				one['epsilon'] = 2.5
		self.assertEqual(self.kinds(logs), [('over_budget', 2, 2, 1)])

	def test_no_bound_is_more_than_any_budget(self):
		logs = run_of()
		without_sampling = [one for one in logs[1] if one['event'] == 'charged'][2:]
		for one in without_sampling:
			one['epsilon_unsampled'] = None
		document = self.document(logs)
		self.assertEqual((document['findings'], document['learners'][0]['epsilon_unsampled']), ([], None))
		self.assertIn('no bound', self.audit(logs)[1])
		without_sampling[0]['epsilon'] = None
		self.assertEqual(self.kinds(logs), [('over_budget', 1, 2, 2)])
		without_sampling[1]['epsilon_unsampled'] = 4
		self.assertEqual(self.kinds(logs), [('lowered', 1, 3, 1), ('over_budget', 1, 2, 2)])

	def test_no_budget_is_no_finding(self):
		logs = run_of()
		for one in logs[2]:
			if one['event'] == 'charged':
				one['budget'] = None
		document = self.document(logs)
		self.assertEqual((document['findings'], document['learners'][1]['budget']), ([], None))

	def test_the_ledger_of_a_learner_that_runs(self):
		self.show_status(4, 4)
		document = self.document(run_of())
		self.assertEqual((document['findings'], document['learners'][0]['ledger']['charges']), ([], 4))
		self.show_status(4, 3)
		self.assertEqual(self.kinds(run_of()), [('ledger', 1, None, None)])
		self.show_status(3, 4)
		self.assertEqual(self.kinds(run_of()), [('ledger', 1, None, None)])

	def test_gaps_and_missing_logs_are_said(self):
		logs = run_of()
		logs[1].append(record(1, (3, 1), 'ledger_gap', **{'from': 1, 'to': 3, 'guessed': 2}))
		logs[3] = []
		status, out, _ = self.audit(logs)
		self.assertEqual(status, 0)
		self.assertIn('ana (1) was also charged for 2 attempts of which it has no record.', out)
		self.assertIn('No log: learner 3.', out)
		self.assertIn('Each learner was charged for each committed round that it took part in.', out)

	def test_a_gap_has_the_charges_of_a_log_that_was_set_back(self):
		for begin, place, found in ((2, (3, 1), 0), (2, (2, 3), 0), (3, (3, 1), 1), (1, (2, 2), 1)):
			logs = run_of()
			without(logs, 1, 'charged', (2, 2))
			logs[1].append(record(1, place, 'ledger_gap', **{'from': begin, 'to': place[0], 'guessed': 1}))
			self.assertEqual(self.kinds(logs), [('no_charge', 1, 2, 2)] * found)

	def test_a_run_without_dp_is_no_run_to_audit(self):
		logs = {own: [one for one in records if one['event'] != 'charged'] for own, records in run_of().items()}
		status, out, err = self.audit(logs, roster='settings: {rounds: 3, dp: "off"} # as before dp: record')
		self.assertEqual((status, out), (2, ''))
		self.assertIn('no learner was charged', err)
		self.assertEqual(len(self.kinds(logs, roster=f'settings: {{rounds: 3, dp: learner, {HIDES}}}')), 9)

	def test_logs_without_a_learner_are_no_audit(self):
		status, out, err = self.audit({own: [] for own in NAMES}, roster=f'settings: {{dp: record, {HIDES}}}')
		self.assertEqual((status, out), (1, ''))
		self.assertIn('no record of a learner in its logs, so nothing is audited', err)

	def test_the_records_are_those_of_learners(self):
		table = (SOURCE / 'common/report/record_table.h').read_text()
		for event, fields in {'charged': 'round attempt epsilon epsilon_unsampled delta budget', 'ledger_gap': 'round attempt from to guessed',
		                      'budget_spent': 'round epsilon budget', 'budget_zeros': 'round epsilon budget'}.items():
			self.assertRegex(table, rf'X\(\w+, "{event}", \w+, "{fields}"')

	def test_what_a_log_holds_is_only_shown(self):
		logs = run_of()
		logs[1][1].update(epsilon='4', epsilon_unsampled='', delta=[], budget={})
		logs[2][0].update(participants=[2, 'x', -1, None])
		for one in logs[2]:
			one['name'] = 'b\x1b[31mo'
		status, out, _ = self.audit(logs)
		self.assertEqual(status, 0)
		self.assertNotIn('\x1b', out)


if __name__ == '__main__':
	unittest.main()
