#!/bin/sh
# `starling topology audit` as a user starts it: argument 1 is the program.
. "${0%/*}/../lib/head.sh"
starling=$program
command=topology

# What the audit answers: its exit status, and a line of the report, however it is broken.
answers() { # STATUS LINE, then what audit is asked
	wanted_status=$1
	wanted=$2
	shift 2
	[ "$(status audit "$@")" = "$wanted_status" ] || fail "$* does not end with $wanted_status: $(cat out err)"
	[ ! -s err ] || fail "$* complains: $(cat err)"
	awk 'length($0) > 80 { exit 1 }' out || fail "$* is wider than 80 columns"
	tr -s '\n ' ' ' <out | grep -qF -e "$wanted" || fail "$*: $(cat out)"
}

# The paper's graphs: a hub sees every model, a spoke none, the middle of a line two sums.
answers 3 'step 1: learns the models of learners 2, 3, 4 and 5 (1 cuts them apart)' star -n 5 --coalition 1
answers 3 'learners 2, 3, 4, 5, 6, 7, 8, 9, ... and 91 more (1 cuts them apart)' star -n 100 --coalition 1
answers 0 'step 1: only the sum of all the others PRIVATE: it learns no more than the mean.' \
	star -n 5 --coalition 3
answers 3 'step 1: learns x1+x2 and x4+x5 (3 cuts them apart)' line -n 5 --coalition 3
answers 3 'step 1: learn the models of learners 1, 3 and 5 (2 and 4 cut them apart)' line -n 5 --coalition 4,2,4
answers 0 'What learners 1 and 2 of 4 learn together' complete -n 4 --coalition 1,2
answers 3 'step 1: learn the model of learner 3, the only other participant' complete -n 3 --coalition 1,2,1

answers 0 'step 1: only the sum of all the others PRIVATE: together they learn no more than the mean.' line -n 5 --coalition 1,5
answers 3 'step 1: learns the model of learner 1, and x3+x4+x5 (2 cuts them apart)' line -n 5 --coalition 2
answers 3 'step 1: learn the model of learner 2, and x4+x5+x6 (1 and 3 cut them apart)' ring -n 6 --coalition 1,3
answers 3 'The privacy check refuses such a round at tolerance 3. ' complete -n 4 --coalition 1,2,3

# A family that moves, a file and a pipe; each step for itself, and all together.
printf 'learners 5\nstep 1-2 3-4 1-5 2-5 3-5 4-5\nstep 1-3 2-4 1-5 2-5 3-5 4-5\nstep 1-4 2-3 1-5 2-5 3-5 4-5\n' >pairs.txt
answers 3 'step 3: learns x1+x4 and x2+x3 (5 cuts them apart) all steps: if no model changes between steps, learns the models of learners 1, 2, 3 and 4 NOT PRIVATE: it learns more than the mean. The privacy check refuses such a round at tolerance 1; starling topology augment --tolerance 1 adds the missing links.' pairs.txt --coalition 5
answers 0 'steps 1 to 3: only the sum of all the others all steps: no more than that' pairs.txt --coalition 1
"$starling" topology audit - --coalition 5 <pairs.txt >piped.txt && fail "a pipe is private"
"$starling" topology audit pairs.txt --coalition 5 >out.txt && fail "a leak ends with 0"
cmp out.txt piped.txt || fail "a pipe is audited otherwise than a file"
"$starling" topology augment pairs.txt 2>/dev/null >augmented.txt
answers 0 'PRIVATE: it learns no more' augmented.txt --coalition 5
answers 0 'PRIVATE: no learner learns more than the mean' augmented.txt

head -3 pairs.txt >two.txt
answers 3 'all steps: if no model changes between steps, learns x1-x4, x2+x4 and x3+x4' two.txt --coalition 5
printf 'learners 4\nstep 1-2 2-3 3-4 1-4\nstep 1-2 2-3 3-4\nstep 1-2 2-3 3-4 1-4\n' >once.txt
answers 3 'step 3: only the sum of all the others all steps: no more than that, even if no model changes between steps NOT PRIVATE: it learns more than the mean in 1 of 3 rounds.' once.txt --coalition 2
printf 'learners 4\nstep 1-2 3-4\nstep 1-2\n' >never.txt
answers 0 'steps 1 to 2: no round: 2 of 4 learners are connected, and the quorum is 3 PRIVATE: no step has a round.' never.txt --coalition 1
answers 0 'PRIVATE: no step has a round.' never.txt

# An absent learner takes no part in a step. Its model is exposed only if models do not change between steps.
printf 'learners 5\nstep 1-2 2-3 3-4 4-5 1-5\nstep 1-2 2-3 1-3 3-4 1-4\n' >absent.txt
answers 0 'PRIVATE while models change' absent.txt --coalition 1
answers 3 'NOT PRIVATE: it learns no more than the mean in each round, but more from all' absent.txt --coalition 1 --unchanged
answers 0 'step 2: no round: 4 of 5 learners are connected, and the quorum is 5' absent.txt --coalition 1 --unchanged --quorum 5

printf 'learners 7\nstep 1-2 2-3 3-4 1-4 5-6 6-7\n' >apart.txt # 6 cuts off only those that are absent
answers 0 'PRIVATE: no learner learns more than the mean.' apart.txt

# Without --coalition: the weak coalitions, at most a dozen of them.
answers 3 'learner 2, step 1: learns the model of learner 1, and x3+x4+x5' line -n 5
answers 3 'NOT PRIVATE: 3 of 5 learners learn more than the mean.' line -n 5
answers 3 'learner 5, step 1 (and 2 more): learns x1+x2 and x3+x4' pairs.txt
answers 3 '... and 6 more; --json lists all' line -n 20
answers 0 'PRIVATE: no learner learns more' ring -n 6
answers 3 'learners 1 and 4, step 1: learn x2+x3 and x5+x6' ring -n 6 --tolerance 2
answers 3 'NOT PRIVATE: 9 coalitions of up to 2 learn more than the mean. The privacy check refuses such a round at tolerance 2; starling topology augment --tolerance 2' ring -n 6 --tolerance 2
answers 0 'PRIVATE: no coalition of that size learns more' complete -n 8 --tolerance 4

# JSON has every list in full.
"$starling" topology audit star -n 100 --coalition 1 --json >json.txt && fail "JSON hides a leak"
tr -d ' \n' <json.txt >flat.txt
has flat.txt '"coalition":[1]' '"sums":[[2],[3],[4]' ',[99],[100]],"beyond_mean":true' '"rank":99,"models":[2,3,' \
	'"rounds":1,"rounds_beyond_mean":1,"private":false' '"quorum":51'
"$starling" topology audit absent.txt --coalition 1 --json >json.txt || fail "JSON leaks"
tr -d ' \n' <json.txt >flat.txt
has flat.txt '"absent":[5],"sums":[[2,3,4]],"beyond_mean":false' '"private":true' \
	'"rank":2,"models":[5],"basis":[{"2":1,"3":1,"4":1},{"5":1}],"beyond_each_step":true'
"$starling" topology audit pairs.txt --json >json.txt && fail "JSON hides weak points"
tr -d ' \n' <json.txt >flat.txt
has flat.txt '"weak":[{"coalition":[5],"steps":[1,2,3]}],"private":false'

# The exit status holds if nobody reads the report to its end.
{
	status=0
	"$starling" topology audit star -n 2000 --coalition 1 --json 2>err || status=$?
	echo "$status" >status.txt
} | head -1 >out
[ "$(cat status.txt)" = 3 ] || fail "cut off: status $(cat status.txt)"
[ ! -s err ] || fail "cut off: $(cat err)"
if [ -c /dev/full ]; then
	status=0
	"$starling" topology audit star -n 5 >/dev/full 2>err || status=$?
	[ $status = 1 ] || fail "full standard output ended with $status"
	has err 'starling topology audit: cannot write standard output: No space left on device'
fi
mkdir empty
status=0
PATH=$folder/empty "$starling" topology audit star -n 5 >out 2>err || status=$?
[ $status = 1 ] || fail "without python3: status $status"
has err 'starling topology audit: python3 cannot be started'

# Bad input.
refused 'no topology given' audit --coalition 1
for list in '' , 3, ,3 a 1-3 '3 5' 3,,5 +3; do
	refused "--coalition $list: must be ids and commas, as in 3,5" audit ring -n 6 --coalition "$list"
done
refused '--coalition 7: unknown learner 7 (learners are 1 to 6)' audit ring -n 6 --coalition 7
refused '--coalition 1,0: unknown learner 0 (learners are 1 to 6)' audit ring -n 6 --coalition 1,0
refused 'unknown learner 4294967297 (learners are 1 to 6)' audit ring -n 6 --coalition 4294967297
refused '--coalition 1,2,3: these are all learners; leave out at least one' audit ring -n 3 --coalition 1,2,3
refused '--tolerance 5: must be a whole number from 1 to 4' audit ring -n 6 --tolerance 5
refused '--tolerance 0: must be a whole number from 1 to 4' audit ring -n 6 --tolerance 0
refused '--coalition names learners, --tolerance searches for coalitions: give one of the two' audit ring -n 6 --tolerance 2 --coalition 1
refused '--unchanged needs a coalition: name one with --coalition' audit ring -n 6 --unchanged
refused '--quorum 3: must be 4 to 6 of 6 learners' audit ring -n 6 --coalition 1 --quorum 3
refused '--quorum 7: must be 4 to 6 of 6 learners' audit ring -n 6 --coalition 1 --quorum 7
refused 'too many coalitions of up to 4 learners' audit line -n 300 --tolerance 4
refused '--coalition 3?4: must be ids' audit ring -n 6 --coalition "3
4"
refused 'nowhere.txt: neither a file nor a topology' audit nowhere.txt --coalition 1
printf 'learners 3\nsteps\n' >bad.txt
refused 'bad.txt:2: "steps" is neither "learners" nor "step"' audit bad.txt --coalition 1
