#!/bin/sh
# simtest from the command line: simtest.sh SIMTEST
set -eu
simtest=$(realpath "$1")
fail() {
	echo "$*" >&2
	exit 1
}
status() {
	code=0
	"$@" >out 2>err || code=$?
	echo "$code"
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

[ "$(status "$simtest" --help)" = 0 ] || fail "--help"
grep -q "Examples:" out || fail "--help shows no examples"
grep -q -- "--seeds" out || fail "--help names no options"

[ "$(status "$simtest" --seed 1 --seeds 20 --learners 5 --rounds 4 --jobs 2)" = 0 ] || fail "20 seeds: $(cat out err)"
grep -q "^20 seeds of 5 learners and 4 rounds: 0 failed" out || fail "no total: $(cat out)"
grep -q "^partition" out || fail "no table"
[ ! -s err ] || fail "progress in a pipe: $(cat err)"

[ "$(status "$simtest" --seed 5 --learners 5 --rounds 4 --trace)" = 0 ] || fail "--trace"
tail -n 1 out >last
grep -q "^seed 5: ok after .*digest" last || fail "the last line: $(cat last)"
"$simtest" --seed 5 --learners 5 --rounds 4 --trace | tail -n 1 | cmp - last || fail "another last line"
"$simtest" --seed 5 --learners 5 --rounds 4 | cmp - last || fail "another last line without --trace"

# Lies and faults show in the totals and in a trace, whether the protocol withstands them or not.
code=$(status "$simtest" --seeds 8 --faults liar --lies state,twice --learners 5 --rounds 3)
[ "$code" = 0 ] || [ "$code" = 3 ] || fail "--lies: $(cat err)"
grep -q "^lie twice  *[1-9]" out || fail "no lies in the totals: $(cat out)"
for seed in 1 2 3 4 5 6; do
	"$simtest" --seed "$seed" --faults liar --lies twice --learners 5 --rounds 3 --trace || true
	"$simtest" --seed "$seed" --faults rollback --learners 6 --rounds 6 --trace || true
done >out
grep -q "LIES to .*: twice" out || fail "no lie in the trace"
grep -q "FAULT its disk is set back to t[0-9]" out || fail "no fault in the trace"
grep -q "gave up" out && fail "rollback: $(grep "gave up" out)"

for wrong in "--seeds 0" "--learners 2" "--rounds x" "--jobs 0" "--trace --seeds 2" "--faults crash,what" "--lies truth" "--learners 3 --faults crash,liar" "--learners 5 --faults wiped" "--learners 5 --lies double" "extra" "--what"; do
	# shellcheck disable=SC2086
	[ "$(status "$simtest" $wrong)" = 2 ] || fail "$wrong: not a usage error"
	[ -s err ] || fail "$wrong: says nothing"
done
[ "$(status sh -c "'$simtest' --seeds 2 --rounds 2 >/dev/full")" = 1 ] || fail "a full disk is no failure"
