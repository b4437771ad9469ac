#!/bin/sh
# `starling topology import` as a user starts it: argument 1 is the program.
. "${0%/*}/../lib/head.sh"
starling=$program
command=topology

# A file is a step, in the order given; the numbers of NetworkX begin at 0.
printf '0 1 {}\n1 2 {"weight": 3}\n3 3\n' >a.edges
printf '# nobody meets\n' >b.edges
printf '3 0\n' >c.edges
"$starling" topology import a.edges b.edges c.edges >out.txt 2>err.txt
cat >want.txt <<'END'
# imported, edges
# learner 1: 0
# learner 2: 1
# learner 3: 2
# learner 4: 3
learners 4
step 1-2 2-3
step
step 1-4
END
cmp out.txt want.txt || fail "three files are not three steps"
[ "$(cat err.txt)" = "4 learners, 3 steps, 0 of them connected; mean degree 0.5 (read as edges)" ] || fail "$(cat err.txt)"
"$starling" topology analyze out.txt >/dev/null || fail "what import writes, show does not read"
"$starling" topology import a.edges b.edges 2>/dev/null | tail -1 | grep -qx step || fail "the last file is no step"
"$starling" topology import c.edges a.edges --steps 1 2>err.txt | tail -1 | grep -qx 'step 1-4' || fail "--steps"
[ "$(cat err.txt)" = "4 learners, 1 step, 0 of them connected; mean degree 0.5 (read as edges)" ] || fail "$(cat err.txt)"

# Names that already are 1 to N need no comment.
printf '2 1\n3 2\n' | "$starling" topology import - 2>/dev/null >out.txt
printf '# imported, edges\nlearners 3\nstep 1-2 2-3\n' | cmp - out.txt || fail "1 to 3 are renamed"

# One file for all steps, which the edges name; compressed, and with commas.
printf "b,a,{'t': 20}\nc,b,{'t': 0}\nc,a,{'t': 20}\nc,b,{'t': 7.5}\n" | gzip >all.csv.gz
"$starling" topology import all.csv.gz --by t -o all.txt 2>err.txt
[ "$(grep -v '^#' all.txt)" = "learners 3
step 2-3
step 2-3
step 1-2 1-3" ] || fail "--by t"
printf '1 2 5\n2 3 4\n' | "$starling" topology import - --by 3 2>/dev/null | grep -v '#' >out.txt
[ "$(cat out.txt)" = "learners 3
step 2-3
step 1-2" ] || fail "--by 3"

# A header line is no edge: the nodes are the first two columns that are no time.
printf 'time,src,dst\n0,1,2\n10,2,3\n' >header.csv
"$starling" topology import header.csv --by time 2>err.txt >out.txt
printf '# imported, edges\nlearners 3\nstep 1-2\nstep 2-3\n' | cmp - out.txt || fail "a header line: $(cat out.txt)"
has err.txt 'header.csv:1: a header line, which is skipped; the nodes are in the columns "src" and "dst"' '3 learners, 2 steps'

# Two walk 10 m apart, a third comes by: both formats give the same, by hand.
printf '0.0 0.0 0.0 40.0 40.0 0.0\n0.0 10.0 0.0 40.0 50.0 0.0\n0.0 20.0 30.0 40.0 20.0 -50.0\n' >walk.movements
cat >walk.tcl <<'END'
$node_(0) set X_ 0.0
$node_(0) set Y_ 0.0
$node_(1) set X_ 10.0
$node_(1) set Y_ 0.0
$node_(2) set X_ 20.0
$node_(2) set Y_ 30.0
$ns_ at 0.0 "$node_(0) setdest 40.0 0.0 1.0"
$ns_ at 0.0 "$node_(1) setdest 50.0 0.0 1.0"
$ns_ at 0.0 "$node_(2) setdest 20.0 -50.0 2.0"
END
"$starling" topology import walk.movements --range 14 2>err.txt | grep -v '^#' >bonn.txt
has err.txt 'read as bonnmotion'
"$starling" topology import walk.tcl --range 14 2>err.txt | grep -v '^#' >ns2.txt
has err.txt 'read as ns2'
cmp bonn.txt ns2.txt || fail "one walk, two schedules"
# After 10 s they are at (10,0) (20,0) (20,10): 10, 10 and 14.1 m apart.
[ "$(cat bonn.txt)" = "learners 3
step 1-2
step 1-2 2-3
step 1-2 1-3
step 1-2
step 1-2" ] || fail "in range of whom: $(cat bonn.txt)"
"$starling" topology import walk.movements --range 14.2 2>/dev/null | sed -n 7p | grep -qx 'step 1-2 1-3 2-3' ||
	fail "14.2 m reach 14.1 m"
"$starling" topology import walk.movements --range 14 --every 20 --steps 2 2>/dev/null | tail -2 >out.txt
[ "$(cat out.txt)" = "step 1-2
step 1-2 1-3" ] || fail "--every 20 --steps 2: $(cat out.txt)"
gzip -c walk.movements | "$starling" topology import - --format bonnmotion --range 14 2>/dev/null | grep -v '^#' |
	cmp - bonn.txt || fail "compressed, from standard input"

"$starling" topology import walk.tcl --range 14 --json -o ns2.txt >json.txt 2>err.txt
[ ! -s err.txt ] || fail "--json says more: $(cat err.txt)"
has json.txt '"format": "ns2"' '"learners": 3' '"steps": 5' '"connected": 2' '"degree": 0.93333'

# Bad input.
refused 'no file given' import
refused 'nowhere: No such file or directory' import nowhere
refused '.: cannot be read' import .
refused 'more-than-one-node.edges: No such file' import a.edges more-than-one-node.edges
printf '1 2\n3\n' >bad.edges
refused 'bad.edges:2: "3" is half an edge' import a.edges bad.edges
printf '0 1\n\000\n' >zero.edges
refused 'zero.edges:2: a byte 0x00: not a text file' import zero.edges
refused 'a.edges: an edge list takes no --range (if the format is another, give it with --format)' import a.edges --range 5
refused 'a.edges: an edge list takes no --every' import a.edges --every 5 --format edges
refused 'b.edges: no node; a schedule needs two or more' import b.edges
printf '1 1\n' >one.edges
refused 'one.edges: one node; a schedule needs two or more' import one.edges
refused "walk.movements: a movement (bonnmotion) needs --range, the reach of a link in metres" import walk.movements
refused 'walk.tcl: a movement (ns2) takes no --by' import walk.tcl --by t --range 5
refused 'walk.tcl: a movement (ns2) is one file, not 2' import walk.tcl walk.tcl --range 5
refused 'walk.tcl:1: "$node_(0)" is no time' import walk.tcl --range 5 --format bonnmotion
refused '40 s of movement are more than 100000 steps of 0.0001 s: use a longer --every, or --steps' import walk.tcl --range 5 --every 0.0001
refused 'all.txt: is a schedule already and needs no import' import all.txt
refused '--range 0: must be above 0' import walk.tcl --range 0
refused '--range nan: must be above 0' import walk.tcl --range nan
refused '--every -1: must be above 0' import walk.tcl --every=-1
refused '--format gml: must be edges, bonnmotion or ns2' import a.edges --format gml
refused '--by 2: columns 1 and 2 are the nodes' import a.edges --by 2
refused '--steps 0: must be a whole number from 1 to 100000' import a.edges --steps 0
refused '--json prints on standard output' import a.edges --json
refused "unrecognized arguments: --colour; see 'starling topology import --help'" import a.edges --colour
refused 'no/folder: No such file or directory' import a.edges -o no/folder
head -c 40 all.csv.gz >cut.gz
refused 'cut.gz: ends within the compressed data' import cut.gz

# Only the standard library is needed; without python3 the command says so.
PYTHONPATH=$folder/nowhere "$starling" topology import a.edges >out.txt 2>err.txt || fail "with another PYTHONPATH: $(cat err.txt)"
mkdir empty
status=0
PATH=$folder/empty "$starling" topology import a.edges >out.txt 2>err.txt || status=$?
[ $status = 1 ] || fail "without python3: status $status"
has err.txt 'starling topology import: python3 cannot be started'
# A file of the user that is called like a module is no module.
echo 'raise SystemExit(3)' >json.py
"$starling" topology import a.edges >out.txt 2>err.txt || fail "json.py of the user was run"

# A disk that is full is no bad input.
if [ -c /dev/full ]; then
	status=0
	"$starling" topology import a.edges -o /dev/full 2>err.txt || status=$?
	[ $status = 1 ] || fail "a full disk ended with $status"
	has err.txt '/dev/full: cannot be written: No space left on device'
fi
if [ -c /dev/full ]; then
	status=0
	"$starling" topology import a.edges >/dev/full 2>err.txt || status=$?
	[ $status = 1 ] || fail "full standard output ended with $status"
	has err.txt 'cannot write standard output: No space left on device'
fi
