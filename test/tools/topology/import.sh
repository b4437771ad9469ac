#!/bin/sh
# `starling topology import` as a user starts it: argument 1 is the program.
set -eu
starling=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
	echo "import.sh: $*" >&2
	exit 1
}

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
"$starling" topology show out.txt >/dev/null || fail "what import writes, show does not read"
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
grep -q 'read as bonnmotion' err.txt || fail "$(cat err.txt)"
"$starling" topology import walk.tcl --range 14 2>err.txt | grep -v '^#' >ns2.txt
grep -q 'read as ns2' err.txt || fail "$(cat err.txt)"
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
for line in '"format": "ns2"' '"learners": 3' '"steps": 5' '"connected": 2' '"degree": 0.93333'; do
	grep -q "$line" json.txt || fail "no $line in $(cat json.txt)"
done

# Bad input: one line, status 2.
refused() {
	wanted=$1
	shift
	status=0
	"$starling" topology import "$@" >out.txt 2>err.txt || status=$?
	[ $status = 2 ] || fail "$* ended with $status"
	[ ! -s out.txt ] || fail "$* writes nevertheless"
	[ "$(wc -l <err.txt)" = 1 ] || fail "$* says: $(cat err.txt)"
	grep -qF -e "$wanted" err.txt || fail "$* says: $(cat err.txt)"
}
refused 'which file?'
refused 'nowhere: No such file or directory' nowhere
refused '.: cannot be read' .
refused 'more-than-one-node.edges: No such file' a.edges more-than-one-node.edges
printf '1 2\n3\n' >bad.edges
refused 'bad.edges:2: "3" is half an edge' a.edges bad.edges
printf '0 1\n\000\n' >zero.edges
refused 'zero.edges:2: a byte 0x00: not a text file' zero.edges
refused 'a.edges: an edge list has no use for --range (if it is something else, say --format)' a.edges --range 5
refused 'a.edges: an edge list has no use for --every' a.edges --every 5 --format edges
refused 'b.edges: no node; a schedule needs two or more' b.edges
printf '1 1\n' >one.edges
refused 'one.edges: one node; a schedule needs two or more' one.edges
refused "walk.movements: a movement (bonnmotion) needs the radio's --range in metres" walk.movements
refused 'walk.tcl: a movement (ns2) has no use for --by' walk.tcl --by t --range 5
refused 'walk.tcl: a movement (ns2) is one file, not 2' walk.tcl walk.tcl --range 5
refused 'walk.tcl:1: "$node_(0)" is no time' walk.tcl --range 5 --format bonnmotion
refused '40 s of movement are more than 100000 steps of 0.0001 s; say --every or --steps' walk.tcl --range 5 --every 0.0001
refused 'all.txt: a schedule already' all.txt
refused '--range 0: must be above 0' walk.tcl --range 0
refused '--range nan: must be above 0' walk.tcl --range nan
refused '--every -1: must be above 0' walk.tcl --every=-1
refused '--format gml: must be edges, bonnmotion or ns2' a.edges --format gml
refused '--by 2: columns 1 and 2 are the nodes' a.edges --by 2
refused '--steps 0: must be a whole number from 1 to 100000' a.edges --steps 0
refused '--json takes standard output' a.edges --json
refused 'no/folder: No such file or directory' a.edges -o no/folder
head -c 40 all.csv.gz >cut.gz
refused 'cut.gz: ends within the compressed data' cut.gz

# A disk that is full is no bad input.
if [ -c /dev/full ]; then
	status=0
	"$starling" topology import a.edges -o /dev/full 2>err.txt || status=$?
	[ $status = 1 ] || fail "a full disk ended with $status"
	grep -q '/dev/full: cannot be written: No space left on device' err.txt || fail "$(cat err.txt)"
fi
