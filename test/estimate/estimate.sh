#!/bin/sh
# `starling estimate` as a user starts it: estimate.sh STARLING
. "${0%/*}/../lib/head.sh"
command=estimate

[ "$(status --help)" = 0 ] || fail "--help"
grep -q "Examples:" out || fail "--help shows no examples"
grep -q "MB each is the mean over learners" out || fail "--help does not explain the columns"

[ "$(status neighbours:20 -n 100 --modulus 1020431)" = 0 ] || fail "neighbours:20: $(cat err)"
grep -q "mu 0.904762, deg r 6, depth of the trees 5" out || fail "neighbours:20: $(cat out)"
grep -q "metropolis *shamir *215 " out || fail "neighbours:20: K is not 215: $(cat out)"
[ "$(grep -c -E "^ *(metropolis|exact|forest) " out)" = 9 ] || fail "not nine lines: $(cat out)"

grep -q "auto takes forest" out || fail "neighbours:20: auto: $(cat out)"
grep -q "with the defaults (sharing: seeded, mixing: auto), the busiest learner sends" out || fail "no cost of the defaults: $(cat out)"

[ "$(status regular:16 -n 1000000)" = 0 ] || fail "a million: $(cat err)"
grep -q "deg r <=999999" out || fail "a bound is not marked: $(cat out)"
grep -q "mu ~0.51" out || fail "an estimate is not marked: $(cat out)"
grep -q "this version runs up to 2000 learners" out || fail "a million, and no word of it"
grep -q "metropolis cannot run: p has 34 bits" out || fail "metropolis of a million"

[ "$(status line -n 5000)" = 0 ] || fail "a line: $(cat err)"
grep -q "mu 1-1.3e-07, deg r 4999" out || fail "mu of a long line: $(cat out)"

[ "$(status geometric:0.0005 -n 1000000)" = 2 ] || fail "a graph that is not connected is planned: $(cat out)"
grep -q "geometric:0.0005: 1000000 learners with a radius of 0.0005 are not connected: at least 0.00210 is needed" err ||
	fail "why not: $(cat err)"
[ "$(status geometric:0.0021 -n 1000000 --json)" = 0 ] || fail "the least radius: $(cat err)"

printf 'learners 4\nstep 1-2 2-3 3-4 4-1\n' >ring.txt
[ "$(status ring.txt --json --floats 1000)" = 0 ] || fail "a file: $(cat err)"
python3 - <<'PYTHON' || fail "not that JSON: $(cat out)"
import json
d = json.load(open("out"))
g = d["graph"]
assert g["learners"] == 4 and g["edges"] == 4 and g["deg_r"] == 2 and g["mu_is"] == "exact"
assert d["auto"] == "exact"
assert len(d["costs"]) == 9 and d["n"] == 1000
for c in d["costs"]:
    assert c["bytes_mean"] <= c["bytes_most"] and abs(c["bytes_all"] - 4 * c["bytes_mean"]) < 1 and c["bytes_mean"] > d["flood_bytes"] / 4 and c["memory_bytes"] > 15e6
PYTHON

printf 'learners 4\nstep 1-2 3-4\n' >apart.txt
for wrong in "" "bogus" "ring line" "apart.txt" "ring -n 1" "ring -n 1000001" \
	"ring --floats 0" "ring --modulus 15" "ring -n 100 --modulus 97" "regular:3 -n 100001" "nowhere.txt" "ring --what"; do
	# shellcheck disable=SC2086
	[ "$(status $wrong)" = 2 ] || fail "estimate $wrong: not bad usage"
	[ -s err ] || fail "estimate $wrong: says nothing"
	[ ! -s out ] || fail "estimate $wrong: prints a plan"
done
code=0
"$program" estimate ring >/dev/full 2>err || code=$?
[ $code = 1 ] || fail "a full disk is no failure"
