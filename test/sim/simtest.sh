#!/bin/sh
# `starling sim` as a user meets it: command.sh STARLING
set -eu
starling=$(realpath "$1")
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

[ "$(status "$starling" sim --help)" = 0 ] || fail "--help"
grep -q "Examples:" out || fail "--help shows no examples"
grep -q -- "--seeds" out || fail "--help names no options"

[ "$(status "$starling" sim --seed 1 --seeds 20 --learners 5 --rounds 4 --jobs 2)" = 0 ] || fail "20 seeds: $(cat out err)"
grep -q "^20 seeds of 5 learners and 4 rounds: 0 failed" out || fail "no total: $(cat out)"
grep -q "^partition" out || fail "no table"
[ ! -s err ] || fail "progress in a pipe: $(cat err)"

[ "$(status "$starling" sim --seed 5 --learners 5 --rounds 4 --trace)" = 0 ] || fail "--trace"
tail -n 1 out >last
grep -q "^seed 5: ok after .*digest" last || fail "the last line: $(cat last)"
"$starling" sim --seed 5 --learners 5 --rounds 4 --trace | tail -n 1 | cmp - last || fail "another last line"
"$starling" sim --seed 5 --learners 5 --rounds 4 | cmp - last || fail "another last line without --trace"

[ "$(status "$starling" sim --seed 1 --seeds 3 --rounds 3 --json)" = 0 ] || fail "--json"
python3 -c 'import json; d = json.load(open("out")); assert d["seeds"] == 3 and d["failed"] == 0 and d["failures"] == []' ||
	fail "not that JSON: $(cat out)"

for wrong in "--seeds 0" "--learners 2" "--rounds x" "--jobs 0" "--trace --seeds 2" "--trace --json" "extra" "--what"; do
	# shellcheck disable=SC2086
	[ "$(status "$starling" sim $wrong)" = 2 ] || fail "$wrong: not a usage error"
	[ -s err ] || fail "$wrong: says nothing"
done
[ "$(status sh -c "'$starling' sim --seeds 2 --rounds 2 >/dev/full")" = 1 ] || fail "a full disk is no failure"
