#!/bin/sh
# `starling topology` as a user starts it: argument 1 is the program.
set -eu
starling=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
	echo "topology.sh: $*" >&2
	exit 1
}

# What generate writes, show shows; and it is the same for the same seed, another for another.
"$starling" topology generate regular:4 -n 12 --steps 3 --seed 5 >a.txt
"$starling" topology generate regular:4 -n 12 --steps 3 --seed 5 >b.txt
"$starling" topology generate regular:4 -n 12 --steps 3 --seed 6 >c.txt
cmp a.txt b.txt || fail "one seed, two schedules"
cmp -s a.txt c.txt && fail "two seeds, one schedule"
[ "$(grep -c '^step' a.txt)" = 3 ] || fail "not three steps"
"$starling" topology show a.txt >shown.txt
"$starling" topology show regular:4 -n 12 --steps 3 --seed 5 >named.txt
cmp shown.txt named.txt || fail "a file is shown otherwise than what it was made from"
"$starling" topology show a.txt --json >json.txt
[ "$(grep -c '"edges": 24' json.txt)" = 3 ] || fail "json without the edges"

# The paper's graphs: K from the eigenvalue of largest modulus.
"$starling" topology show neighbours:20 -n 100 --p 1020431 | grep -q ' 215$' || fail "K of 20 neighbours is 215"
"$starling" topology show neighbours:40 -n 100 --p 1020431 | grep -q ' 80$' || fail "K of 40 neighbours is 80"

# No line is wider than 80 columns.
for name in complete ring line star grid nearest neighbours regular geometric; do
	"$starling" topology show $name -n 60 >wide.txt
	awk -v name=$name 'length($0) > 80 { exit 1 }' wide.txt || fail "$name is wider than 80 columns"
done

# A disconnected step has no mu below 1 and no K.
printf 'learners 4\nstep 1-2\nstep\n' >parts.txt
"$starling" topology show parts.txt | grep -q '3 parts    1.0000000         -$' || fail "parts are not shown"
"$starling" topology show parts.txt --json | grep -q '"k": null' || fail "K without connection"

# Bad input: one line, status 2.
refused() {
	status=0
	"$starling" topology "$@" >out.txt 2>err.txt || status=$?
	[ $status = 2 ] || fail "$* ended with $status"
	[ -s err.txt ] || fail "$* says nothing"
}
printf 'learners 4\nstep 1-5\n' >bad.txt
refused show bad.txt
grep -q 'bad.txt:2: edge 1-5: unknown learner 5' err.txt || fail "$(cat err.txt)"
refused show ring
refused show ring -n 1
refused show ring -n 5 --p 10
refused show nowhere.txt -n 5
refused generate a.txt -n 12
refused generate rign -n 12
grep -q "rign: no such topology; did you mean 'ring'?" err.txt || fail "$(cat err.txt)"
refused show stra -n 12
grep -q "did you mean 'star'?" err.txt || fail "$(cat err.txt)"
refused generate neighbours:7 -n 10
refused draw ring
refused
