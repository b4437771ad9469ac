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

for wrong in "--seeds 0" "--learners 2" "--rounds x" "--jobs 0" "--trace --seeds 2" "extra" "--what"; do
	# shellcheck disable=SC2086
	[ "$(status "$simtest" $wrong)" = 2 ] || fail "$wrong: not a usage error"
	[ -s err ] || fail "$wrong: says nothing"
done
[ "$(status sh -c "'$simtest' --seeds 2 --rounds 2 >/dev/full")" = 1 ] || fail "a full disk is no failure"
