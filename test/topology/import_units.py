"""The parts of `starling topology import`: the readers of edge lists and movements, and the places of nodes. import_units.py"""
import sys
import unittest
from itertools import combinations
from pathlib import Path

for room in ('tools/topology', 'tools/timeline'):
	sys.path.insert(0, str(Path(__file__).resolve().parents[2] / room))
from starling_topology import edges, movements  # noqa: E402
from starling_topology.__main__ import guess, is_schedule  # noqa: E402
from starling_topology.text import InputError, Names, Text, number  # noqa: E402

KEYED = [
	("a b\na b {'s': 1}", "f:1: the edge has no 't' that says its step"),
	("a b {'t': 1}\na b {'xt': 1}", "f:2: the edge has no 't' that says its step"),
	("a b {'t': }", "f:1: the edge has no 't' that says its step"),
	('a b t', "f:1: the edge has no 't' that says its step"),
	("a b {'t'", "f:1: the edge has no 't' that says its step"),
	("a b {'t': nan}", 'f:1: \'t\', "nan", is no step or time up to 1e+15'),
	("a b {'t': 'x'}", 'f:1: \'t\', "x", is no step or time up to 1e+15')]
PLAIN = [
	('a b\nc', 'f:2: "c" is half an edge; one reads "u v"'),
	('a,b\n,c', 'f:2: "c" is half an edge; one reads "u v"'),
	('a, # b', 'f:1: "a" is half an edge; one reads "u v"'),
	('a b,c', 'f:1: "b,c" has a comma: are blanks part of the names? They cannot be here'),
	('a ' + 64 * '0', f'f:1: "{40 * "0"}...": a name of more than 63 bytes')]
HEIGHTS = ' (a file with heights must begin with "#3D")'
BONNMOTION = [
	('0 1 2\n0 1 2 3 4\n', 'f:2: 5 numbers, which are no places "t x y"'),
	('0 1 2 3 4 5 6 7', f'f:1: 8 numbers, which are no places "t x y"{HEIGHTS}'),
	('0 1 2 0', f'f:1: 4 numbers, which are no places "t x y"{HEIGHTS}'),
	('0 1 2 9 1 5 6 9 2 3 4 9', f'f:1: time decreases from 9 to 6{HEIGHTS}'),
	('#3D\n0 1 2 3 4', 'f:2: 5 numbers, which are no places "t x y z"'),
	('#3D\n5 1 2 3 4 5 6 7', 'f:2: time decreases from 5 to 4'),
	('-1 0 0', 'f:1: negative time -1'),
	('0 nan 0', 'f:1: "nan" is no coordinate up to 1e+09'),
	('0 1e10 0', 'f:1: "1e10" is no coordinate up to 1e+09'),
	('0 0 -inf', 'f:1: "-inf" is no coordinate up to 1e+09'),
	('1e300 0 0', 'f:1: "1e300" is no time up to 1e+09'),
	('0 0 0 1 2 x', 'f:1: "x" is no coordinate up to 1e+09'),
	('1 0 0 1 0 1', 'f:1: two places at time 1')]
NS2 = [
	('$node_(0) set X_ 1', 'f: node 0 is never given its X_ and Y_'),
	('$ns_ at 1 "$node_(3) setdest 1 2 3"', 'f: node 3 is never given its X_ and Y_'),
	('$node_(0) set X_ 1\nhello', 'f:2: an ns-2 movement has no line that begins with "hello"'),
	('$node_(0)', 'f:1: an ns-2 movement has no line that begins with "$node_(0)"'),
	('$node_(0) get X_ 1', 'f:1: "get" is neither "set" nor "at"'),
	('$node_(x) set X_ 1', 'f:1: "$node_(x)" is no node, as in $node_(0)'),
	('$node_(-1) set X_ 1', 'f:1: "$node_(-1)" is no node, as in $node_(0)'),
	('$node_(1 set X_ 1', 'f:1: "$node_(1" is no node, as in $node_(0)'),
	('$node_(0) set', 'f:1: "set" needs X_, Y_ or Z_ and a number'),
	('$node_(0) set W_ 1', 'f:1: "set" needs X_, Y_ or Z_ and a number'),
	('$node_(0) set X_', 'f:1: the coordinate is missing'),
	('$node_(0) set X_ NaN', 'f:1: "NaN" is no coordinate from -1e+09 to 1e+09'),
	('$node_(0) set X_ 1 2', 'f:1: unexpected "2"'),
	('$ns_ at', 'f:1: the time is missing'),
	('$ns_ at -1 "$node_(0) setdest 1 2 3"', 'f:1: "-1" is no time from 0 to 1e+09'),
	('$ns_ at 1e99 "$node_(0) setdest 1 2 3"', 'f:1: "1e99" is no time from 0 to 1e+09'),
	('$ns_ at 1', 'f:1: "" is no node, as in $node_(0)'),
	('$ns_ at 1 "finish"', 'f:1: "finish" is no node, as in $node_(0)'),
	('$ns_ at 1 "$node_(0)"', 'f:1: "" is neither "setdest" nor "set"'),
	('$ns_ at 1 "$node_(0) reset"', 'f:1: "reset" is neither "setdest" nor "set"'),
	('$ns_ at 1 "$node_(0) setdest 1 2"', 'f:1: the speed is missing'),
	('$ns_ at 1 "$node_(0) setdest 1"', 'f:1: the coordinate is missing'),
	('$ns_ at 1 "$node_(0) setdest 1 2 -3"', 'f:1: "-3" is no speed from 0 to 1e+09'),
	('$ns_ at 1 "$node_(0) setdest 1 2 3 4"', 'f:1: unexpected "4"')]
GUESSES = [('', None), ('# nothing\n\n  \n', None), ('# edges\n0 1\n', 'edges'), ('0 1 2.5\n', 'edges'), ("0 1 {'weight': 1}\n", 'edges'),
	('a b\n', 'edges'), ('1.5 a b\n', 'edges'), ('0.0 1.5 2.5\n', 'bonnmotion'), ('0 1 2 3 4 5\n', 'bonnmotion'), ('#3D\n0 1 2 3\n', 'bonnmotion'),
	('# by ns\n $node_(0) set X_ 1\n', 'ns2'), ('$god_ set-dist 0 1 2\n', 'ns2'), ('set val(nn) 2\n', 'ns2')]


def text(content):
	return Text('f', content if isinstance(content, bytes) else content.encode())


def named(content, by=None, step=4):
	"""Return the contacts of an edge list as {step: {pair of names}}, the names, and the note."""
	names, contacts = Names(), edges.Contacts()
	note = edges.read(text(content), by, step, names, contacts)
	name = list(names.indexes)
	return {when: {tuple(name[i] for i in divmod(pair, edges.NODES)) for pair in pairs} for when, pairs in contacts.at.items()}, name, note


def pairs(*words):
	return {tuple(word.split('-')) for word in words}


class Import(unittest.TestCase):
	def refuse(self, cases, read):
		for content, error in cases:
			with self.assertRaises(InputError) as caught:
				read(content)
			self.assertEqual(str(caught.exception), error)

	def at(self, track, t, x, y):
		for found, wanted in zip(track.at(t), (x, y)):
			self.assertAlmostEqual(found, wanted, 9, f'after {t} s')

	def test_lines(self):
		file = text(b'\xef\xbb\xbfa\r\n\nb\tc\nlast')
		self.assertEqual([(line, file.line) for line in file.lines()], [('   a ', 1), ('', 2), ('b\tc', 3), ('last', 4)])
		self.assertEqual(len(list(file.lines())), 4)
		self.assertEqual(list(text('').lines()), [])

	def test_what_is_no_text(self):
		cases = [(b'a\nb\0c', 2, '00'), (b'\x1b[2J', 1, '1b'), (b'a\n\n\x7f', 3, '7f'), (b'caf\xc3\xa9 \xc2\x9b', 1, 'c2'), (b'\x1f\x8c\x08', 1, '1f')]
		self.refuse([(content, f'f:{line}: a byte 0x{byte}: not a text file') for content, line, byte in cases], text)
		text(b'caf\xc3\xa9 \xc2\xa0\xc2')

	def test_numbers(self):
		for word in ('', 'nan', 'inf', '-inf', '0x10', '1e400', '1e10', '-1e10', '1,5', '1.2.3', '--1', '1e', 'e', '.', '+', '1 ', '1_0', '١'):
			self.assertIsNone(number(word, 1e9), word)
		self.assertEqual([number(word, 1e9) for word in ('-1e9', '+.5E-1', '007', '1e-400')], [-1e9, 0.05, 7, 0])

	def test_names_in_order(self):
		for given, wanted in (('10 9 0 100 2 10', '0 2 9 10 100'), ('10 -9 0 -100 2', '-100 -9 0 2 10'), ('b 10 9 a Z', '10 9 Z a b'), ('1.5 10 9', '1.5 10 9'),
				('99999999999999999999999 100000000000000000000000 007 7 8', '007 7 8 99999999999999999999999 100000000000000000000000')):
			names = Names()
			for name in given.split():
				names.index(text(''), name)
			self.assertEqual(names.sorted(), wanted.split())

	def test_one_node_too_many(self):
		self.refuse([(''.join(f'0 {i}\n' for i in range(2001)), 'f:2001: node 2001, "2000", is one too many')], named)

	def test_edge_lists(self):
		met, _, note = named("# a graph\n\n0 1\n1 2 {}\n2\t3 {'weight': 7, 'colour': 'green'}\n 3  0 7 green # red\n")
		self.assertEqual((met, note), ({4: pairs('0-1', '1-2', '2-3', '3-0')}, None))
		self.assertEqual(named("a,b\nb, c,{'x': 1}\r\nnord,sued 1")[0], {4: pairs('a-b', 'b-c', 'nord-sued 1')})
		self.assertEqual(named('5 5')[:2], ({4: set()}, ['5']))
		self.assertEqual(named("a b {'at': 3, 't': 2}\nb c {\"t\" : \"7.5\"}\nc a {'t':-1e3}", 't')[0], {2: pairs('a-b'), 7.5: pairs('b-c'), -1000: pairs('c-a')})
		self.assertEqual(named('a b x 2 y\nb c  -  3', 4)[0], {2: pairs('a-b'), 3: pairs('b-c')})
		self.assertEqual(named('a,b,,2\nb, c , -,3', 4)[0], {2: pairs('a-b'), 3: pairs('b-c')})

	def test_edge_lists_with_faults(self):
		self.refuse(PLAIN, named)
		self.refuse(KEYED, lambda content: named(content, 't'))
		self.refuse([('a b 1e16', 'f:1: column 3, "1e16", is no step or time up to 1e+15')], lambda content: named(content, 3))
		self.refuse([('a b 1', 'f:1: the edge has no column 4 that says its step')], lambda content: named(content, 4))

	def test_header_lines(self):
		said = 'f:{}: a header line, which is skipped; the nodes are in the columns "{}" and "{}"'
		met, names, note = named('time,src,dst\n0,1,2\n5,2,3\n', 'time')
		self.assertEqual((met, names), ({0: pairs('1-2'), 5: pairs('2-3')}, ['1', '2', '3']))
		self.assertEqual(note, said.format(1, 'src', 'dst'))
		met, _, note = named('# c\n\nuser_a\tuser_b\tRSSI\n7\t8\t-60\n', 3)
		self.assertEqual((met, note), ({-60: pairs('7-8')}, said.format(3, 'user_a', 'user_b')))
		self.assertEqual(named('when,who,whom\n3,ana,bo\n', 'when')[0], {3: pairs('ana-bo')})
		self.assertEqual(named('Source Target\nana bo\n')[::2], ({4: pairs('ana-bo')}, said.format(1, 'Source', 'Target')))
		self.assertEqual(named("source,target,data\na,b,{'t': 7}\n", 't')[0], {7: pairs('a-b')})

		for content in ('time,src,dst\nmon,ana,bo\n', '"time";"src";"dst"\n"mon";"ana";"bo"\n', 'Date;Person 1;Person 2\nmon;ana;bo\n', 'sender,receiver\nana,bo\n'):
			met, names, note = named(content)
			self.assertEqual((met, names), ({4: pairs('ana-bo')}, ['ana', 'bo']), content)
			self.assertIn('f:1: a header line, which is skipped', note)

	def test_fields_of_csv(self):
		self.assertEqual(named('"a b","c d",3\n"c d";e\n')[1], ['a b', 'c d', 'e'])
		self.assertEqual(named('1;2;7\n2;3;8\n', 3)[0], {7: pairs('1-2'), 8: pairs('2-3')})
		met, names, _ = named('"Roe, J","a;b" ,"x, y",7\n "a;b", c,,8\nc,"say ""hi""",z,8', 4)
		self.assertEqual(names, ['Roe, J', 'a;b', 'c', 'say "hi"'])
		self.assertEqual(met, {7: pairs('Roe, J-a;b'), 8: pairs('a;b-c', 'c-say "hi"')})
		self.assertEqual(named('who;whom;at\n"a;b";"c";3\n"c;";"a;b";5', 'at')[0], {3: pairs('a;b-c'), 5: pairs('c;-a;b')})
		self.assertEqual(named('a,"b,c,1')[1], ['a', '"b'])  # a quote without an end is a letter

	def test_no_header_lines(self):
		for content in ('a b\nc d\n', 'time year\nyear day\n', 'a b\nb c 3\n', 'a b 1\nb c 2\n', "a b {'t': 1}\nb c {'t': 2}\n", 'a,b,\nb,c,3\n'):
			met, _, note = named(content)
			self.assertEqual((len(met[4]), note), (2, None), content)

	def test_header_lines_with_faults(self):
		self.refuse([('time,src\n1,2\n', 'f:1: a header line that names no two columns of nodes'), ('t,u,v\n1,2,3\n1,2\n', 'f:3: "2" is half an edge; one reads "u v"')], named)
		self.refuse([('src,dst,t\n1,2,x\n', 'f:2: \'t\', "x", is no step or time up to 1e+15'), ('src,dst,t\n1,2\n', "f:2: the edge has no 't' that says its step")],
			lambda content: named(content, 't'))

	def test_bonnmotion(self):
		names = Names()
		one, two, three = movements.read_bonnmotion(text('# by hand\n0.0 10 20 5.0 10 20 15.0 30.0 60.0\r\n\n2 -1 -2\n0 0 0 1e1 1e1 0'), names)
		self.assertEqual(list(names.indexes), ['0', '1', '2'])
		for t, x, y in ((0, 10, 20), (5, 10, 20), (7.5, 15, 30), (15, 30, 60), (1e9, 30, 60)):
			self.at(one, t, x, y)
		self.at(two, 0, -1, -2)  # before its first place
		self.at(three, 2.5, 2.5, 0)
		one, two = movements.read_bonnmotion(text('#3D\n0 1 2 100 10 11 22 300\n0 5 6 7\n'), Names())
		self.at(one, 5, 6, 12)
		self.at(two, 5, 5, 6)
		movements.read_bonnmotion(text('1 0 0 1 0 0'), Names())  # said twice
		self.refuse(BONNMOTION, lambda content: movements.read_bonnmotion(text(content), Names()))

	def test_ns2(self):
		names = Names()
		zero, two, one = movements.read_ns2(text('#\n# nodes: 3\n#\nset val(nn) 3\n$node_(0) set X_ 0\n$node_(0) set Y_ 0.0\n$node_(0) set Z_ 7\r\n'
			'$god_ set-dist 0 1 2\n$ns_ at 10.0 "$node_(0) setdest 30.0 40.0 5.0"\n$ns_ at 12 "$god_ set-dist 1 2 1"\n'
			'$ns at 4 "$node_(2) setdest 8 0 1" ; # comment\n$ns_ at 2 "$node_(2) setdest 4 0 0"\n  $ns_ at 15 "$node_(1) set X_ 100"\n'
			'$ns_ at 15 "$node_(1) set Y_ 200"\n$node_(1) set Y_ 2\n$node_(1) set X_ 1\n$node_(02) set X_ 0\n$node_(2) set Y_ 0'), names)
		self.assertEqual(list(names.indexes), ['0', '2', '1'])  # in the order met
		for t, x, y in ((0, 0, 0), (10, 0, 0), (15, 15, 20), (20, 30, 40), (99, 30, 40)):  # 25 m of 50 at 5 m/s
			self.at(zero, t, x, y)
		for t, x, y in ((14.999, 1, 2), (15, 100, 200)):
			self.at(one, t, x, y)
		for t, x, y in ((4, 0, 0), (8, 4, 0)):  # speed 0: stays
			self.at(two, t, x, y)
		self.refuse(NS2, lambda content: movements.read_ns2(text(content), Names()))

	def test_ns2_changes_its_mind(self):
		# later in time, earlier in the file; at 5 it is half way there
		track, = movements.read_ns2(text('$n(7) set X_ 0\n$n(7) set Y_ 0\n$ns_ at 5 "$n(7) setdest 5 100 10"\n$ns_ at 0 "$n(7) setdest 10 0 1"\n'
			'$ns_ at 20 "$n(7) setdest 6 100 1e-30"\n'), Names())
		for t, x, y in ((2, 2, 0), (5, 5, 0), (10, 5, 50), (15, 5, 100), (1e9, 5, 100)):
			self.at(track, t, x, y)
		track, = movements.read_ns2(text('$n(0) set X_ 0\n$n(0) set Y_ 0\n$ns_ at 0 "$n(0) setdest 10 0 1"\n$ns_ at 4 "$n(0) set Y_ 50"'), Names())
		for t, x, y in ((3, 3, 0), (4, 4, 50), (100, 4, 50)):  # a jump ends its way
			self.at(track, t, x, y)

	def test_in_range_at_the_instant(self):
		tracks = movements.read_bonnmotion(text('0 0 0\n0 3 4 10 6 8\n0 -300 0 10 300 0\n'), Names())  # the third passes 0 at 5 s
		def found(reach, every, most):
			return [sorted(sorted(pair) for pair in step) for step in movements.steps(tracks, reach, every, most)]
		self.assertEqual(found(5, 5, 3), [[[0, 1]], [[0, 2]], []])
		self.assertEqual(found(4.999999, 5, 3), [[], [[0, 2]], []])
		self.assertEqual(found(10, 5, None), [[[0, 1]], [[0, 1], [0, 2], [1, 2]], [[0, 1]]])
		self.assertEqual(found(5, 2.5, 4), [[[0, 1]], [], [[0, 2]], []])

	def test_the_grid_misses_no_pair(self):
		places = [((7919 * i % 1000) / 10 - 50, (104729 * i % 1009) / 10 - 50) for i in range(300)]
		for reach in (0.25, 1, 3, 17.5, 400):
			wanted = {(j, i) for i, j in combinations(range(300), 2)
				if (places[i][0] - places[j][0]) ** 2 + (places[i][1] - places[j][1]) ** 2 <= reach * reach}
			self.assertEqual(set(movements.near(places, reach)), wanted)

	def test_formats(self):
		for content, form in GUESSES:
			self.assertEqual(guess(text(content)), form, content)
		self.assertTrue(is_schedule(text('# c\n learners\t4\nstep 1-2\n')))
		self.assertFalse(is_schedule(text('learners come\n')))


if __name__ == '__main__':
	unittest.main()
