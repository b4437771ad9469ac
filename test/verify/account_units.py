"""`starling account`: what was changed in an exported account is named, signatures are checked as RFC 8032 says, and a roster is read as the
learners read it: account_units.py STARLING STARLINGD"""
import contextlib
import functools
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'tools/verify'), str(ROOT / 'tools/timeline')]
from starling_verify import account, ed25519, roster  # noqa: E402
from starling_verify import account_record as records  # noqa: E402

STARLING, STARLINGD = sys.argv.pop(1), sys.argv.pop(1)
os.environ['STARLING_PROGRAM'] = STARLING
RUN, OWN, LEARNERS = 'study', 2, (1, 2, 3, 5)
STRIDE = 13 if ed25519.Ed25519PublicKey is not None else 211  # bytes between two that are changed


class Signer:
	"""A key that signs (RFC 8032, 5.1.6)."""

	def __init__(self, seed):
		digest = hashlib.sha512(seed).digest()
		self.scalar = int.from_bytes(digest[:32], 'little') & ((1 << 254) - 8) | 1 << 254
		self.prefix = digest[32:]
		self.key = self.packed(self.scalar)

	@staticmethod
	def packed(scalar):
		x, y, z, _ = ed25519._combine(scalar, 0, ed25519.BASE)
		inverse = pow(z, -1, ed25519.P)
		return (y * inverse % ed25519.P | (x * inverse % ed25519.P & 1) << 255).to_bytes(32, 'little')

	def sign(self, message):
		nonce = int.from_bytes(hashlib.sha512(self.prefix + message).digest(), 'little') % ed25519.ORDER
		point = self.packed(nonce)
		h = int.from_bytes(hashlib.sha512(point + self.key + message).digest(), 'little') % ed25519.ORDER
		return point + ((nonce + h * self.scalar) % ed25519.ORDER).to_bytes(32, 'little')


KEYS = {learner: Signer(bytes([learner]) * 32) for learner in (*LEARNERS, 9)}
PINS = {learner: hashlib.sha256(roster.SPKI + key.key).hexdigest() for learner, key in KEYS.items()}


def roster_of(learners, settings='settings: {rounds: 20, tolerance: 1}\nmembers:\n'):
	return settings + ''.join(f'- {{id: {i}, name: site-{i}, address: "127.0.0.1:{i}", key: "sha256:{PINS[i]}"}}\n' for i in learners)


def hash_of(settings):
	with tempfile.NamedTemporaryFile('w') as file:
		file.write(roster_of(LEARNERS, f'settings: {settings}\nmembers:\n'))
		file.flush()
		found = roster.Rosters()
		found.read(file.name)
	return found.hashes.pop()


ROSTER = hash_of('{rounds: 20}')


def hashed(*parts):
	return hashlib.blake2b(repr(parts).encode(), digest_size=32).hexdigest()


def made_record(t, before, signers=(2, 1, 5), **changes):
	"""Return the record of round t that learner OWN signs after `before`."""
	view = {**{name: 3 + i for i, name in enumerate(records.NUMBERS)}, 'forgetful': 0, 'roster': ROSTER, 'edges': hashed('edges', t),
		'previous': before['digest'] if before else bytes(32).hex()}
	dp = {'charges': t, 'guessed': 0, 'millionths': 250000 * t if t < 3 else None}
	record = {'number': before['number'] + 1 if before else 1, 'link_before': link_of(before).hex(), 'run': RUN, 'round': t, 'attempt': 1,
		'time': 1795000000 + t, 'participants': [[learner, 1] for learner in LEARNERS], 'view': view, 'digest': hashed('digest', t),
		'model': hashed('model', t), 'program': hashed('program') if t > 1 else None, 'most_weight': 4000, 'dp': dp, 'digests': [],
		'learner': OWN, 'key': KEYS[OWN].key.hex(), 'signature': ''}
	record.update(changes)
	for learner in signers:
		digest = {'learner': learner, 'key': KEYS[learner].key.hex()}
		record['digests'].append({**digest, 'signature': KEYS[learner].sign(records.signed_by(record, digest)).hex()})
	record['signature'] = KEYS[OWN].sign(link_of(record)).hex()
	return record


def link_of(record):
	return records.link(record['run'], record['number'], bytes.fromhex(record['link_before']), records.entry_hash(record)) if record else bytes(32)


def made_account(rounds=3, **changes):
	"""Return records of rounds; `changes` are of round 2."""
	found = []
	for t in range(1, rounds + 1):
		found.append(made_record(t, found[-1] if found else None, **(changes if t == 2 else {})))
	return found


RECORDS = made_account()


class Case(unittest.TestCase):
	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.folder = Path(folder.name)
		self.roster = self.folder / 'roster.yaml'
		self.write_roster(LEARNERS)

	def write_roster(self, *of):
		self.roster.write_text(roster_of(*of))

	def run_command(self, *arguments):
		out, err = io.StringIO(), io.StringIO()
		with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
			try:
				status = account.main([str(one) for one in arguments])
			except SystemExit as end:
				status = end.code
		return status, out.getvalue(), err.getvalue()

	def write(self, found, before=b'', after=b''):
		state = self.folder / 'learner-02' / 'state'
		state.mkdir(parents=True, exist_ok=True)
		(state / 'account').write_bytes(before + b''.join(map(records.pack, found)) + after)

	def export(self, *options):
		status, out, err = self.run_command('export', self.folder, *options)
		self.assertEqual((status, err), (0, ''))
		return out

	def verify(self, text, *options):
		file = self.folder / 'export'
		file.write_bytes(text if type(text) is bytes else text.encode())
		status, out, err = self.run_command('verify', '--roster', self.roster, *options, '--json', file)
		found = json.loads(out)['findings'] if out else [err]
		self.assertEqual(status, 1 if found else 0)
		return found

	def expect(self, text, part, *options):
		found = self.verify(text, *options)
		self.assertTrue(any(part in one for one in found), (part, found))


class Export(Case):
	def test_all_is_as_it_was_signed(self):
		self.write(RECORDS)
		text = self.export()
		self.assertEqual([json.loads(line) for line in text.splitlines()[1:]], RECORDS)
		self.assertEqual(self.verify(text), [])
		status, out, _ = self.run_command('verify', '--roster', self.roster, self.folder / 'export')
		self.assertEqual(status, 0)
		self.assertEqual(out, '3 records of learner 2 (site-2), run study, up to round 3: as they were signed\n'
			f'link of the last one: {link_of(RECORDS[2]).hex()}\nrounds 1 to 3: roster {ROSTER}, which was given, with its settings\n')

	def test_rosters_are_named(self):
		other = hash_of('{rounds: 30}')
		self.write(made_account(view={**RECORDS[1]['view'], 'roster': other}))
		text, missing = self.export(), f'round 2: roster {other} is none of those given'
		self.expect(text, missing)
		first, self.roster = self.roster, self.folder / 'next.yaml'
		self.write_roster(LEARNERS, 'settings: {rounds: 30}\nmembers:\n')
		self.assertEqual(self.verify(text, '--roster', first), [])
		_, out, _ = self.run_command('verify', '--roster', self.roster, '-r', first, self.folder / 'export')
		self.assertEqual(out.splitlines()[2:], [f'round {t}: roster {used}, which was given, with its settings'
			for t, used in ((1, ROSTER), (2, other), (3, ROSTER))])
		_, out, _ = self.run_command('verify', '--roster', first, '--json', self.folder / 'export')
		self.assertEqual(json.loads(out)['rosters'][1], {'hash': other, 'first_round': 2, 'last_round': 2, 'given': False})

	def test_a_folder_of_rosters(self):
		"""Each counts by what it says, whatever its name; what is no .yaml is none."""
		other = hash_of('{rounds: 30}')
		self.write(made_account(view={**RECORDS[1]['view'], 'roster': other}))
		text, kept, first = self.export(), self.folder / 'rosters', self.roster
		kept.mkdir()
		self.roster = kept
		self.assertEqual(self.run_command('verify', '-r', kept, self.folder), (2, '', f'starling account verify: {kept}: no roster is in it\n'))
		(kept / '.new.0').write_text('{')
		for settings, used, missing in (('{rounds: 20}', ROSTER, f'round 2: roster {other}'), ('{rounds: 29}', other, f'round 2: roster {other}')):
			(kept / f'{used}.yaml').write_text(roster_of(LEARNERS, f'settings: {settings}\nmembers:\n'))
			self.assertEqual([one.split(' is none')[0] for one in self.verify(text)], [missing])
		(kept / f'{other}.yaml').write_text(roster_of(LEARNERS, 'settings: {rounds: 30}\nmembers:\n'))
		self.assertEqual(self.verify(text), [])
		self.assertEqual(self.verify(text, '--roster', first), [])

	def test_a_roster_that_was_changed_is_named(self):
		self.write(RECORDS)
		text = self.export()
		for settings in ('{rounds: 21, tolerance: 1}', '{rounds: 20, sharing: "shamir"}', '{rounds: 20, dp: record}', '{}'):
			self.write_roster(LEARNERS, f'settings: {settings}\nmembers:\n')
			self.assertRegex(self.verify(text)[0], f'^rounds 1 to 3: roster {ROSTER} is none of those given')
		self.write_roster((*LEARNERS, 9))
		self.assertEqual(len(self.verify(text)), 1)
		self.write_roster(LEARNERS)
		self.assertEqual(self.verify(text), [])
		self.write_roster(LEARNERS, '')  # a list, with other settings than the default ones
		self.assertEqual(self.verify(text), [])
		_, out, _ = self.run_command('verify', '--roster', self.roster, self.folder / 'export')
		self.assertEqual(out.splitlines()[2:], [f'note: rounds 1 to 3: roster {ROSTER}: not compared: the settings of a list of learners are in '
			"starlingd.yaml; see 'starlingd --check'"])

	def test_a_table(self):
		self.write(RECORDS)
		lines = self.export('--table').splitlines()
		self.assertEqual(lines[2].split(), ['2', '1', '2026-11-18T11:06:42Z', '3', '<=4000', '0.5', RECORDS[1]['model'][:12],
			RECORDS[1]['view']['roster'][:12], RECORDS[1]['program'][:12], '1', '2', '3', '5'])
		self.assertIn('no bound', lines[3])
		self.assertEqual(len(lines), 4)

	def test_numbers_that_are_too_large(self):
		self.write(made_account(time=2**64 - 1))
		self.assertEqual(self.export('--table').splitlines()[2].split()[2], '-')
		for wrong in ('9' * 5000, '9' * 21, '-1', '00', '²'):
			status, _, err = self.run_command('export', self.folder, f'--round={wrong}')
			self.assertEqual((status, len(err) < 200), (2, True))
			self.assertIn('must be a whole number from 1 on', err)

	def test_what_is_lost_or_being_written_is_left_out(self):
		self.write(RECORDS[1:], before=bytes(300), after=records.pack(RECORDS[2])[:200])
		self.assertEqual(self.verify(self.export()), [])

	def test_bytes_that_are_no_record_are_named(self):
		cut = records.pack(RECORDS[0])[:500]
		self.write(RECORDS[1:], before=cut + bytes(300))
		status, text, err = self.run_command('export', self.folder)
		self.assertEqual((status, self.verify(text)), (0, []))
		self.assertIn('account: bytes 0 to 799 are damaged, and left out', err)
		packed = list(map(records.pack, RECORDS))  # the size of the second record is another one
		(self.folder / 'learner-02/state/account').write_bytes(packed[0] + packed[1][:5] + b'\xff' + packed[1][6:] + packed[2])
		_, text, err = self.run_command('export', self.folder)
		self.assertEqual((len(text.splitlines()), len(err.splitlines())), (3, 1))
		self.assertIn(f'bytes {len(packed[0])} to {len(packed[0] + packed[1]) - 1} are damaged', err)

	def test_a_damaged_record_is_named(self):
		packed = list(map(records.pack, RECORDS))
		state = self.folder / 'learner-02/state'
		state.mkdir(parents=True)
		run = records.HEAD.size  # the bytes of the name
		(state / 'account').write_bytes(packed[0] + packed[1][:run] + b'\xff\xff\xff\x7f' + packed[1][run + 4:] + packed[2])
		status, text, err = self.run_command('export', self.folder)
		self.assertEqual((status, len(text.splitlines()), len(err.splitlines())), (0, 3, 1))
		self.assertIn(f'account: the record at byte {len(packed[0])} is damaged, and left out: it ends too early', err)
		self.expect(text, 'it comes after record 1: records are missing')

	def test_the_account_is_found(self):
		status, _, err = self.run_command('export', self.folder)
		self.assertEqual((status, 'no account of rounds' in err), (1, True))
		self.write(RECORDS)
		for nowhere in ('nowhere', 'learner-02/state/account'):
			status, _, err = self.run_command('export', self.folder / nowhere)
			self.assertEqual((status, err.strip().endswith(f'{nowhere}: no such folder')), (2, True))
		status, _, err = self.run_command('export', self.folder, '--learner', 'learner-09')
		self.assertEqual((status, err.strip().endswith(f'{self.folder}: no learner learner-09 here')), (2, True))
		for folder in ('learner-02', 'learner-02/state', '.'):
			self.assertEqual(self.run_command('export', self.folder / folder)[0], 0)
		(self.folder / 'learner-03').mkdir()
		(self.folder / 'learner-03/account').write_bytes(records.pack(RECORDS[0]))
		self.assertEqual(self.run_command('export', self.folder)[0], 2)
		self.assertEqual(len(self.export('--learner', 'learner-03').splitlines()), 2)

	def test_backups_are_no_other_learners(self):
		self.write(RECORDS)
		state = self.folder / 'learner-02/state'
		for name in ('backup', 'backup.new'):
			(state / name).mkdir()
			(state / name / 'account').write_bytes(records.pack(RECORDS[0]))
		for folder in (self.folder, state.parent, state):
			self.assertEqual(len(self.run_command('export', folder)[1].splitlines()), 4)
		self.assertEqual(len(self.run_command('export', state / 'backup')[1].splitlines()), 2)

	def test_a_folder_beside_it_may_be_denied(self):
		self.write(RECORDS)
		(self.folder / 'lost+found').mkdir()
		real = account.os.stat

		def denies(path, *more, **named):
			if 'lost+found' in str(path):
				raise PermissionError(13, 'Permission denied')
			return real(path, *more, **named)
		with unittest.mock.patch('os.stat', denies):
			self.assertEqual(self.run_command('export', self.folder)[0], 0)

	def test_the_folder_of_another_user(self):
		"""For root there is none, so that what is denied is made up."""
		self.write(RECORDS)
		for name in ('os.listdir', 'os.stat', 'starling_verify.account.open'):
			with unittest.mock.patch(name, side_effect=PermissionError(13, 'Permission denied'), create=True):
				status, out, err = self.run_command('export', self.folder)
			self.assertEqual((status, out), (1, ''))
			self.assertRegex(err, f'^starling account export: {self.folder}[^ ]*: Permission denied; run this command as the user of the learner, or as root\n$')


class OneRound(Case):
	def setUp(self):
		super().setUp()
		self.write(RECORDS)

	def test_it_is_shown_without_the_others(self):
		text = self.export('--round', 2)
		self.assertEqual(self.verify(text), [])
		for other in (RECORDS[0], RECORDS[2]):
			self.assertNotIn(other['model'], text)
		self.assertEqual(self.run_command('export', self.folder, '--round', 4)[0], 1)

	def test_no_proof_across_a_hole(self):
		found = made_account(5)
		self.write([*found[:2], *found[3:]])
		status, out, err = self.run_command('export', self.folder, '--round', 1)
		self.assertEqual((status, out), (1, ''))
		self.assertIn('account: record 3 is lost here: no proof of round 1 can be made', err)
		self.assertEqual(self.verify(self.export('--round', 4)), [])

	def test_the_proof_ends_where_another_account_begins(self):
		self.write([*RECORDS, made_record(4, None)])
		text = self.export('--round', 1)
		self.assertEqual(self.verify(text), [])
		self.assertEqual(len(json.loads(text.splitlines()[2])['later']), 2)

	def test_the_newest_record_follows_it(self):
		lines = self.export('--round', 1).splitlines()
		later = json.loads(lines[2])
		self.assertEqual(len(later['later']), 2)
		for changed in ([later['later'][1]], later['later'][::-1], [*later['later'], hashed('more')]):
			self.expect('\n'.join([*lines[:2], records.dumps({**later, 'later': changed})]) + '\n', 'has not signed that these records follow round 1')
		last = self.export('--round', 3).splitlines(keepends=True)
		self.assertEqual(self.verify(''.join([*last, last[-1]])), ['line 4: it follows the line that ends the proof'])
		self.assertEqual(len(self.verify(''.join(last).replace('"later":[]', '"later":{}'))), 1)
		stranger = KEYS[9]
		signed = {**later, 'key': stranger.key.hex(), 'signature': stranger.sign(link_of(RECORDS[2])).hex()}
		self.expect('\n'.join([*lines[:2], records.dumps(signed)]) + '\n', 'has not signed that these records follow')


class Verify(Case):
	def exported(self, found):
		self.write(found)
		return self.export()

	@unittest.mock.patch.object(roster, 'ask', functools.lru_cache(roster.ask))
	def test_each_changed_byte_is_named(self):
		text = self.exported(RECORDS).encode()
		lines = text.split(b'\n')
		begins = [sum(len(line) + 1 for line in lines[:i]) for i in range(len(lines))]
		for at in range(0, len(text), STRIDE):
			line = max(i for i, begin in enumerate(begins) if begin <= at) + 1
			other = b'0' if text[at:at + 1] != b'0' else b'1'
			found = self.verify(text[:at] + other + text[at + 1:])
			self.assertTrue(len(found) == 1 and f'line {line}' in found[0], (at, text[at - 20:at + 20], found))
		self.assertEqual(self.verify(text.replace(b'"attempt":1', b'"attempt":x')),
			[f'line {i + 1} (record {i}) was changed: not a record' for i in (1, 2, 3)])
		self.assertEqual(self.verify(text.replace(b'"time":', b'"time\xff', 1)), ['line 2 (record 1) was changed: not a record'])

	def test_a_record_that_is_left_out_or_moved_is_named(self):
		lines = self.exported(RECORDS).splitlines(keepends=True)
		self.expect(''.join(lines[:2] + lines[3:]), 'round 3 (record 3, line 3): it comes after record 1: records are missing')
		self.expect(''.join(lines[:3]), 'line 1: 3 records were exported, 2 could be read')
		self.expect(''.join([lines[0], lines[1], lines[3], lines[2]]), 'line 3')
		self.expect(''.join(lines)[:-1], 'the last line has no end')
		self.expect(''.join(lines[1:]), 'line 1')

	def test_rounds_without_record_are_noted(self):
		found = [made_record(3, None)]
		for t in (4, 6, 9):
			found.append(made_record(t, found[-1]))
		self.assertEqual(self.verify(self.exported(found)), [])
		_, out, _ = self.run_command('verify', '--roster', self.roster, self.folder / 'export')
		self.assertEqual(out.splitlines()[-3:], ['note: rounds 1 to 2 are not in the account', 'note: round 5 is not in the account',
			'note: rounds 7 to 8 are not in the account'])

	def test_what_a_liar_signs_is_not_what_the_participants_have_signed(self):
		"""The learner signs a record of its own making; the signatures of the others are real ones."""
		real = RECORDS[1]
		for changes in ({'participants': [[1, 1], [2, 1], [5, 1]]}, {'digest': hashed('another')}, {'round': 7},
				{'view': {**real['view'], 'roster': hashed('another')}}):
			record = {**real, **changes}
			record['signature'] = KEYS[OWN].sign(link_of(record)).hex()
			self.expect(self.exported([RECORDS[0], record]), 'has not signed this result of this view')

	def test_enough_participants_have_signed(self):
		self.expect(self.exported(made_account(signers=(2, 1))), 'round 2 (record 2, line 3): 2 of 4 participants have signed its result; a commit needs 3')
		self.expect(self.exported(made_account(signers=(2, 1, 1))), '2 of 4 participants')
		self.expect(self.exported(made_account(signers=(2, 1, 9))), '2 of 4 participants')
		self.assertEqual(self.verify(self.exported(made_account(signers=(3, 1, 5)))), [])

	def test_enough_have_taken_part(self):
		"""A learner could sign what it alone has seen."""
		alone = {'participants': [[OWN, 1]], 'signers': (OWN,)}
		pair = {'participants': [[1, 1], [OWN, 1]], 'signers': (1, OWN)}
		texts = [self.exported(made_account(**changes)) for changes in (alone, {'participants': [], 'signers': ()}, pair)]
		self.expect(texts[0], 'round 2 (record 2, line 3): 1 participant; a round has 3 at least')
		self.expect(texts[1], '0 participants; a round has 3 at least')
		self.expect(texts[2], '2 participants; a round has 3 at least')
		for settings in ('settings: {tolerance: 1, privacy_check: "warn"}\nmembers:\n', ''):
			self.write_roster(LEARNERS, settings)
			self.expect(texts[0], '1 participant; a round has 2 at least')
			self.expect(texts[1], '0 participants; a round has 2 at least')
			self.assertFalse(any('participant' in one for one in self.verify(texts[2])))

	def test_the_tolerance_of_a_list(self):
		four = self.exported(RECORDS)
		self.write_roster(LEARNERS, '')
		self.assertEqual(self.verify(four), [])
		self.expect(four, '4 participants; a round has 5 at least', '--tolerance', '3')
		self.expect(four, '3 of 4 participants have signed its result; a commit needs 4', '--tolerance', '3')
		self.assertEqual(self.verify(four, '--tolerance', '2'), [])
		for wrong in ('0', 'x', '9' * 5000):
			self.assertEqual(self.run_command('verify', '-r', self.roster, '--tolerance', wrong, self.folder / 'export')[0], 2)

	def test_keys_are_those_of_the_roster(self):
		text = self.exported(RECORDS)
		self.write_roster((1, 3, 5))
		self.expect(text, 'no roster pins its key for learner 2')
		self.write_roster((1, 2))
		self.expect(text, '2 of 4 participants have signed')

	def test_one_history(self):
		self.expect(self.exported(made_account(view={**RECORDS[1]['view'], 'previous': hashed('another')})), 'another result of round 1')
		self.expect(self.exported(made_account(round=1)), 'it is not later than round 1')
		self.expect(self.exported(made_account(dp={'charges': 0, 'guessed': 0, 'millionths': 0})), 'fewer charges')
		self.expect(self.exported([RECORDS[0], made_record(2, RECORDS[0], link_before=hashed('another'))]), 'it does not follow the record before it')
		self.expect(self.exported([RECORDS[0], made_record(2, RECORDS[0], run='another')]), 'it is of another run')
		self.expect(self.exported([*RECORDS, made_record(1, None)]), 'the account was begun anew')

	def test_wrong_usage(self):
		self.assertEqual(self.run_command()[0], 0)
		self.assertEqual(self.run_command('change')[0], 2)
		self.assertEqual(self.run_command('verify', self.roster)[0], 2)
		self.assertEqual(self.run_command('verify', '--roster', self.folder / 'none', self.roster)[0], 2)
		self.assertEqual(self.run_command('export', '--round', '0', self.folder)[0], 2)
		for text in (b'', b'\xff\n', b'{}\n', b'[' * 100000):
			self.expect(text, 'not')


class ARoster(unittest.TestCase):
	"""It says what a learner reads in it."""

	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.folder = Path(folder.name)
		done = subprocess.run([STARLING, 'keygen', '--id', '300', '--name', 'a', '--address', '127.0.0.1:1', '--dir', self.folder / 'own'], capture_output=True, text=True, check=True)
		pins = [PINS[2], re.search('sha256:([0-9a-f]{64})', done.stdout)[1], PINS[1], PINS[3]]
		self.members = [{'id': i, 'name': name, 'address': address, 'key': f'sha256:{pin}'}
			for i, name, address, pin in zip((70000, 300, 7, 8), 'bacd', ('site-key:2', '127.0.0.1:1', 'my-id:3', 'members:4'), pins)]

	def read(self, text):
		"""The hash is that of a learner."""
		(self.folder / 'roster.yaml').write_text(text)
		(self.folder / 'config').write_text('run: x\nid: 300\nroster: roster.yaml\nidentity: own\nstate: state\ntrainer: noise\n')
		done = subprocess.run([STARLINGD, '--config', self.folder / 'config', '--check'], capture_output=True, text=True, check=False)
		self.assertEqual(done.returncode, 0, f'{text}{done.stderr}')
		found = roster.Rosters()
		found.read(self.folder / 'roster.yaml')
		self.assertEqual(found.hashes, {re.search('[0-9a-f]{64}', done.stdout)[0]}, text)
		self.assertEqual(found.names, {one['id']: one['name'] for one in self.members})
		self.assertEqual(found.pins, {(one['id'], one['key']) for one in self.members})
		return found.lists, found.warns, found.tolerance

	def test_it_may_be_written_in_any_way(self):
		whole = {'settings': {'rounds': 20, 'tolerance': 2}, 'members': self.members}
		lines = ''.join(f'- {json.dumps(one)}\n' for one in self.members)
		blocks = ''.join(f'- address: {one["address"]} # id: 9\n  id: {one["id"]}\n  # key: sha256:{"0" * 64}, lost\n  key: {one["key"]}\n  name: {one["name"]}\n'
			for one in self.members)
		for text, expected in ((json.dumps(whole), (False, False, 2)), (json.dumps(whole, indent=2), (False, False, 2)), (lines, (True, True, 1)), (blocks, (True, True, 1)),
				(f'members:\n{blocks}settings:\n  quorum: all\n  privacy_check: warn # not enforce\n', (False, True, 1)),
				(f'\ufeffsettings: {{"quorum": "all", \'rounds\': 20, # or {{30}}\n  tolerance: 2}}\n"members":\n{lines}', (False, False, 2))):
			self.assertEqual(self.read(text), expected, text)

	def test_what_is_none_is_refused(self):
		lines, file = roster_of(LEARNERS, ''), self.folder / 'roster.yaml'
		for text, reason in ((None, ': No such file or directory'), ('', ':1:1: the file is empty'), ('[]', ':1:1: lists 0 learners; 2 to [0-9]+ are possible'),
				(lines.replace('id: 2', 'id: 1'), ":2:8: id 1 is repeated; 'site-1' has it"), (f'settings: {{rounds: {"9" * 50}}}\nmembers:\n{lines}', '.*: rounds must be .*'),
				(f'settings: {{colour: blue}}\nmembers:\n{lines}', ".*: unknown key 'colour'.*")):
			if text is not None:
				file.write_text(text)
			done = subprocess.run([STARLING, 'account', 'verify', '-r', file, file], capture_output=True, text=True, check=False)
			self.assertEqual((done.returncode, done.stdout), (2, ''), text)
			self.assertRegex(done.stderr, f'^starling account verify: {file}{reason}\n$')


class Signatures(unittest.TestCase):
	VECTORS = (  # RFC 8032, 7.1: key, message, signature
		('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', '',
		 'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b'),
		('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c', '72',
		 '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00'),
	)

	def each(self):
		yield ed25519.verify_plainly
		if ed25519.Ed25519PublicKey is not None:
			yield ed25519.verify

	def test_vectors(self):
		for check in self.each():
			for vector in self.VECTORS:
				key, message, signature = map(bytes.fromhex, vector)
				self.assertTrue(check(key, message, signature))
				self.assertFalse(check(key, message + b'1', signature))
				for at in (0, 31, 32, 62):
					changed = bytearray(signature)
					changed[at] ^= 1
					self.assertFalse(check(key, message, bytes(changed)))
				self.assertFalse(check(bytes([key[0] ^ 1]) + key[1:], message, signature))
				more = int.from_bytes(signature[32:], 'little') + ed25519.ORDER
				self.assertFalse(check(key, message, signature[:32] + more.to_bytes(32, 'little')))
			self.assertFalse(check(b'\xff' * 32, b'', bytes(64)))


if __name__ == '__main__':
	unittest.main()
