#!/bin/sh
# `starling topology augment` as a user starts it: argument 1 is the program.
. "${0%/*}/../lib/head.sh"
starling=$program
command=topology

# A line becomes a ring; a ring stays one; what is cut off is taken in.
printf '# mine\nlearners 4\nstep 1-2 2-3 3-4\nstep 1-2 2-3 3-4 1-4\nstep 1-2 2-3 1-3\n' >a.txt
"$starling" topology augment a.txt >b.txt 2>err.txt
[ "$(sed -n 1,4p b.txt)" = "# augmented for c = 1
learners 4
step 1-2 1-4 2-3 3-4
step 1-2 1-4 2-3 3-4" ] || fail "$(cat b.txt)"
[ "$(sed -n 1p err.txt)" = "step 1: added 1-4" ] || fail "$(cat err.txt)"
grep -q '^step 3: added [123]-4 [123]-4$' err.txt || fail "$(cat err.txt)"
[ "$(tail -1 err.txt)" = "3 links added in 2 of 3 steps; every step now tolerates c = 1" ] || fail "$(cat err.txt)"
"$starling" topology analyze b.txt | grep -q 'refused:' && fail "an augmented step is refused"

# Once more, and there is nothing to do; a pipe does as well as a file.
"$starling" topology augment - <b.txt >c.txt 2>err.txt
cmp b.txt c.txt || fail "an augmented schedule is augmented again"
[ "$(cat err.txt)" = "no links added: every step already tolerates c = 1" ] || fail "$(cat err.txt)"

# Names of topologies, and as many colluders as are asked for.
"$starling" topology augment line -n 3 --steps 2 --tolerance 0 2>/dev/null >line.txt
[ "$(tail -1 line.txt)" = "step 1-2 2-3" ] || fail "a line is connected"
"$starling" topology augment star -n 10 --tolerance 3 2>err.txt | "$starling" topology analyze - --tolerance 3 >shown.txt
grep -q 'refused:' shown.txt && fail "$(cat shown.txt)"
grep -q '^step 1: added\( [0-9]*-[0-9]*\)\{8\} ... and [0-9]* more$' err.txt || fail "a long list is not cut: $(cat err.txt)"

# At most a dozen steps are told, and JSON tells all.
"$starling" topology augment line -n 4 --steps 20 -o d.txt 2>err.txt
[ "$(wc -l <err.txt)" = 14 ] || fail "$(cat err.txt)"
[ "$(sed -n 13p err.txt)" = "... and in 8 more steps" ] || fail "$(cat err.txt)"
"$starling" topology augment line -n 4 --steps 20 --json -o e.txt >json.txt 2>err.txt
cmp d.txt e.txt || fail "--json writes another schedule"
[ ! -s err.txt ] || fail "--json says more: $(cat err.txt)"
[ "$(tr -d ' \n' <json.txt | grep -o '"added":\[\[1,4\]\]' | wc -l)" = 20 ] || fail "$(cat json.txt)"
tr -d ' \n' <json.txt | grep -q '{"learners":4,"tolerance":1,"added":20,"steps":\[{"step":1,' || fail "$(cat json.txt)"

# Bad input.
refused 'no topology given' augment
refused '3 learners cannot tolerate 2 that collude: at least 4 are needed' augment ring -n 3 --tolerance 2
refused '--tolerance 1999: must be a whole number from 0 to 1998' augment a.txt --tolerance 1999
refused '--tolerance one: must be a whole number' augment a.txt --tolerance one
refused 'nowhere.txt: neither a file nor a topology' augment nowhere.txt
refused "rign: neither a file nor a topology; did you mean 'ring'?" augment rign
refused 'ring: give the number of learners with -n' augment ring
refused '--json prints on standard output: write the schedule to a file with -o FILE' augment a.txt --json
refused 'no/folder: No such file or directory' augment a.txt -o no/folder
printf 'learners 3\nstep 1-4\n' | refused 'standard input:2: edge 1-4: unknown learner 4' augment -
