#!/bin/sh
# `starling topology` as a user starts it: argument 1 is the program.
. "${0%/*}/../lib/head.sh"
starling=$program
command=topology

# What generate writes, analyze reads; and it is the same for the same seed, another for another.
"$starling" topology generate regular:4 -n 12 --steps 3 --seed 5 >a.txt
"$starling" topology generate regular:4 -n 12 --steps 3 --seed 5 >b.txt
"$starling" topology generate regular:4 -n 12 --steps 3 --seed 6 >c.txt
cmp a.txt b.txt || fail "one seed, two schedules"
cmp -s a.txt c.txt && fail "two seeds, one schedule"
[ "$(grep -c '^step' a.txt)" = 3 ] || fail "not three steps"
"$starling" topology analyze a.txt >shown.txt
"$starling" topology analyze regular:4 -n 12 --steps 3 --seed 5 >named.txt
cmp shown.txt named.txt || fail "a file is shown otherwise than what it was made from"
"$starling" topology analyze a.txt --json >json.txt
[ "$(grep -c '"edges": 24' json.txt)" = 3 ] || fail "json without the edges"

# The paper's graphs: K from the eigenvalue of largest modulus.
row() { # STEP: its row of the table on standard input, words only
	sed -n "s/^ *\($1!\{0,1\}  *.*\)/\1/p" | tr -s ' '
}
expect() { # WANTED, then what analyze is asked
	wanted=$1
	shift
	got=$("$starling" topology analyze "$@" | row 1)
	[ "$got" = "$wanted" ] || fail "analyze $*: $got"
}
#       step edges min mean max mu kappa c K exact forest MB max
expect "1 1000 20 20.0 20 0.9048 20 19 215 6 10 17.8 17.8" neighbours:20 -n 100 --modulus 1020431
expect "1 2000 40 40.0 40 0.7649 40 39 80 3 10 20.4 20.4" neighbours:40 -n 100 --modulus 1020431
expect "1! 99 1 2.0 99 0.9900 1 0 2133 2 2 0.8 37.9" star -n 100 --modulus 1020431
expect "1 3 2 2.0 2 0.0000 2 1 1 1 2 0.4 0.4" complete -n 3
expect "1! 3 2 2.0 2 0.0000 2 1 1 1 2 0.4 0.4" complete -n 3 --tolerance 2
expect "1 3 2 2.0 2 0.0000 2 1 1 1 2 0.2 0.2" complete -n 3 --seeded
expect "1 99 1 2.0 99 0.9900 1 0 2133 - 2 - -" star -n 100 --modulus 1020431 --tolerance 0 --no-exact --floats 9

expect "1! 99 1 2.0 2 0.9997 1 0 65155 99 100 25.2 25.5" line -n 100 --modulus 1020431
expect "1! 6 2 2.0 2 0.6667 2 1 38 3 6 0.9 0.9" ring -n 6 --tolerance 2
expect "1 10 4 4.0 4 0.0000 4 3 1 1 2 0.9 0.9" complete -n 5 --tolerance 3

# What is refused, and why; at most a dozen notes, and lists that are cut short.
says() { # WANTED, then what analyze is asked
	wanted=$1
	shift
	"$starling" topology analyze "$@" >out.txt
	tr -s '\n ' ' ' <out.txt | grep -qF -e "$wanted" || fail "analyze $*: $(cat out.txt)"
}
says '100 learners, models of 50,992 floats, p = 2097143; !: refused at c = 1' star -n 100
says "step 1: refused: tolerance 1 is not met: learner 1 alone could learn sums over parts of the others' models; missing links: 2-3, 3-4, 4-5, 5-6, 6-7, 7-8, 8-9, 9-10 and 90 more" star -n 100
says "refused: tolerance 1 is not met: any one of learners 2, 3 and 4 could learn sums over parts of the others' models; missing link: 1-5" line -n 5
says 'any one of learners 2, 3, 4, 5, 6, 7, 8, 9, ... and 12 more could learn' line -n 22
says "step 1: refused: tolerance 2 is not met: learners 2 and 4 together could learn sums over parts of the others' models; missing links: 1-9, 3-7" grid -n 9 --tolerance 2
says 'step 1: refused: 3 learners are too few for tolerance 2: colluding learners could compute the remaining model from the mean; at least 4 must take part' complete -n 3 --tolerance 2
says 'metropolis cannot run: p has 31 bits, and rounding leaves room for 30' line -n 300 --no-exact --modulus 2147483647
says 'metropolis cannot run: more than 1000000 exchanges' line -n 400 --no-exact --modulus 1020431
printf 'learners 4\nstep 1-2\nstep 1-2\nstep 1-2 1-3 1-4\nstep 3-4\n' >notes.txt
says 'steps 1 to 2: refused: not connected: 3 parts, the largest of 2 learners step 3: refused: tolerance 1 is not met: learner 1 alone could' notes.txt
says 'step 4: refused: not connected: 3 parts' notes.txt
says 'step 3: learner 1 cuts the others apart' notes.txt --tolerance 0
"$starling" topology analyze nearest:4 -n 9 | grep -q 'step 1:' && fail "a good step has a note"
{
	echo learners 3
	for i in 1 2 3 4 5 6 7; do printf 'step 1-2\nstep 1-2 2-3\n'; done
} >many.txt
says "others' models; missing link: 1-3 ... and 2 more steps; --json lists all" many.txt

# JSON has it all.
"$starling" topology analyze notes.txt --json >json.txt
has json.txt '"kappa": 1' '"forest_vectors": null' '"bound": 3.0' '"tolerance": null' '"tolerance": 0' '"refused": true' '"exact": 2' '"forest": 2' '"metropolis": true' \
	'"note": "refused: not connected: 3 parts, the largest of 2 learners"' '"floats": 50992' '"largest": 2'
"$starling" topology analyze line -n 100 --json | tr -d ' \n' | grep -qE '"articulation":\[2,3,4,[0-9,]*,98,99\]' ||
	fail "JSON does not name every articulation point"
"$starling" topology analyze ring -n 5 --json | grep -q '"note": null' || fail "a note of nothing"
"$starling" topology generate regular:4 -n 12 --steps 3 --seed 5 | "$starling" topology analyze - >piped.txt
cmp shown.txt piped.txt || fail "a schedule in a pipe is shown otherwise than in a file"

# No line is wider than 80 columns.
for name in complete ring line star grid nearest neighbours regular geometric; do
	"$starling" topology analyze $name -n 60 >wide.txt
	awk -v name=$name 'length($0) > 80 { exit 1 }' wide.txt || fail "$name is wider than 80 columns"
done

# A disconnected step has no mu below 1 and no K.
printf 'learners 4\nstep 1-2\nstep\n' >parts.txt
[ "$("$starling" topology analyze parts.txt | row 1)" = "1! 1 0 0.5 1 1.0000 0 - - - - - -" ] || fail "parts have a cost"
"$starling" topology analyze parts.txt --json | grep -q '"k": null' || fail "K without connection"

# Bad input.
printf 'learners 4\nstep 1-5\n' >bad.txt
refused 'bad.txt:2: edge 1-5: unknown learner 5' analyze bad.txt
refused 'ring: give the number of learners with -n' analyze ring
refused '--learners 1: must be a whole number from 2 to 2000' analyze ring -n 1
refused '--modulus 10: not a prime' analyze ring -n 5 --modulus 10
refused 'nowhere.txt: neither a file nor a topology (complete, ring,' analyze nowhere.txt -n 5
refused 'a.txt: no such topology; see starling topology --help' generate a.txt -n 12
refused "rign: no such topology; did you mean 'ring'?" generate rign -n 12
refused "stra: neither a file nor a topology; did you mean 'star'?" analyze stra -n 12
refused 'neighbours:7: neighbours:K needs a K that' generate neighbours:7 -n 10
refused "starling topology: unknown verb 'draw'; see 'starling topology --help'" draw ring
refused "starling topology: unknown verb 'analyse'; did you mean 'analyze'?" analyse ring
refused '--tolerance 1999: must be a whole number from 0 to 1998' analyze ring -n 5 --tolerance 1999
refused '--tolerance -1: must be a whole number' analyze ring -n 5 --tolerance -1
refused '--floats 0: must be a whole number' analyze ring -n 5 --floats 0
refused 'standard input:1: the file has no step' analyze - </dev/null
[ "$(status)" = 2 ] || fail "no verb is no error"
has err 'Usage: starling topology generate'
