#!/bin/sh
# `starling simulate` as a user meets it: command.sh STARLING
. "${0%/*}/../lib/head.sh"
starling=$program
command=simulate
noise="--set trainer=noise --set noise_parameters=20"

[ "$(status --help)" = 0 ] || fail "--help"
grep -q "Examples:" out || fail "--help shows no examples"

# The table of launch, a line per round; then what it came to.
# shellcheck disable=SC2086
[ "$(status -n 6 --rounds 3 $noise --verify --csv rounds.csv --save .)" = 0 ] || fail "3 rounds: $(cat out err)"
[ "$(grep -c "  exact$" out)" = 3 ] || fail "not three exact rounds: $(cat out)"
grep -q "^3 of 3 rounds, all exact" out || fail "no total: $(cat out)"
grep -q "^cost of a round: at most . exchanges*, and .* MB sent by one learner$" out || fail "no cost: $(cat out)"
grep -q "rounds/s; processor seconds: train .*, mix .*; peak memory" out || fail "no figures: $(cat out)"
[ ! -s err ] || fail "progress in a pipe: $(cat err)"
[ "$(wc -l <rounds.csv)" = 4 ] || fail "not a line per round: $(cat rounds.csv)"
awk -F, 'NR == 1 { n = NF } NF != n || n != 20 { exit 1 }' rounds.csv || fail "columns: $(cat rounds.csv)"
[ -s round-000003.safetensors ] || fail "no model"

# shellcheck disable=SC2086
[ "$(status -n 6 --rounds 3 $noise --json)" = 0 ] || fail "--json"
python3 - <<'CHECK' || fail "not that JSON: $(cat out)"
import json
d = json.load(open("out"))
assert d["all_same"] and not d["verified"] and d["parameters"] == 20 and d["learners"] == 6
assert [r["round"] for r in d["rounds"]] == [1, 2, 3] and all(r["mse"] is None for r in d["rounds"])
assert abs(sum(d["rounds"][1]["parts_s"].values()) - d["rounds"][1]["aggregate_s"]) < 1e-6
assert d["cpu_s"]["mix"] > 0 and d["seconds"] > 0
CHECK

# An engine that is not the default is named in the row.
# shellcheck disable=SC2086
[ "$(status -n 4 --rounds 1 $noise --set mixing=metropolis)" = 0 ] || fail "metropolis: $(cat out err)"
grep -q "  same, metropolis with mu 0.000000$" out || fail "no engine and no mu: $(cat out)"

# Twice the same.
one="-n 4 --rounds 2 --set hidden_units=1 --seed 5"
mkdir b # and a is made
# shellcheck disable=SC2086
[ "$(status $one --save a)" = 0 ] || fail "a model: $(cat out err)"
# shellcheck disable=SC2086
[ "$(status $one --save b)" = 0 ] || fail "a model: $(cat out err)"
cmp a/round-000002.safetensors b/round-000002.safetensors || fail "another model"

# Models as they are trained, and what each learner would decode after each exchange: the end is the sum of the encodings.
mkdir trained
# shellcheck disable=SC2086
[ "$(status -n 4 --topology ring --rounds 2 $noise --set mixing=metropolis --set decimals=3 --set clipping_range=5 --set modulus=1020431 \
	--verify --trained trained --states states --coordinates 0,19,20)" = 0 ] || fail "--states: $(cat out err)"
python3 - <<'CHECK' || fail "not these states: $(head states)"
import struct
rows = [tuple(map(int, line.split())) for line in open("states")]
for t in 1, 2:
	models = [struct.unpack("<20f", open(f"trained/{t}.f32", "rb").read()[80 * i:80 * i + 80]) for i in range(4)]
	sums = [sum(round(1000 * model[l]) for model in models) % 1020431 for l in (0, 19)] + [4]
	mine = [row[1:] for row in rows if row[0] == t]
	last = max(k for k, *_ in mine)
	assert sorted(row[:2] for row in mine) == [(k, i) for k in range(last + 1) for i in (1, 2, 3, 4)]
	assert [list(row[2:]) for row in mine if row[0] == last] == 4 * [sums]
	assert all(list(row[2:]) != sums for row in mine if row[0] == 0)
CHECK

# Every engine comes to the same; by forest on a star 5 vectors (of an exact round: four limbs of 37 bits) go up, 5 down and 6 to keepers, and nothing is made good
# afterwards.
for engine in exact metropolis forest auto; do
	[ "$(status -n 6 --topology star --rounds 1 --set trainer=noise --set noise_parameters=100000 --set privacy_check=warn --set sharing=seeded \
		--set mixing=$engine --save . --csv $engine.csv --verify)" = 0 ] || fail "$engine: $(cat out err)"
	tail -c 400000 round-000001.safetensors >$engine.model # its head names the view, which is another one
	cmp $engine.model exact.model || fail "$engine: another model"
done
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
	NR == 2 { bytes = $column["bytes"]; exit !($column["mixing"] == "forest" && bytes > 29.6e6 && bytes < 29.8e6) }' forest.csv ||
	fail "by forest: $(cat forest.csv)"

# Bad input: one line, nothing lost.
while IFS='|' read -r arguments why; do
	# shellcheck disable=SC2086
	refused "$why" $arguments
done <<'WRONG'
-n 1|must be a whole number from 2
extra|unexpected argument
--set decimls=3|did you mean 'decimals'
--set rounds=3 --rounds 3|there is a --rounds too
--topology nowhere|neither a file nor a topology
--data nowhere|nowhere
--set modulus=101|too small
--set quorum=2|quorum: 2 is too small
--save made --csv nowhere/x|No such file
--csv nowhere/x|No such file
--save no/where|No such file
--trained no/where|No such file
--states states|needs --set mixing=metropolis
--set mixing=metropolis --states states|needs --coordinates
--coordinates 5,5|coordinates
-n 3 --set tolerance=2|too few for tolerance 2
WRONG
[ ! -e made ] || fail "a folder without a model is left"
cp rounds.csv kept
[ "$(status --csv rounds.csv --set decimls=3)" = 2 ] || fail "bad setting"
cmp rounds.csv kept || fail "a bad setting costs the last file"

# A run that cannot commit ends, and says why.
[ "$(status -n 6 --rounds 2 --set hidden_units=1 --set clipping_range=0.0001)" = 1 ] || fail "a model beyond clipping_range is taken"
grep -q "exceeds clipping_range 0.0001" err || fail "no reason: $(cat err)"
[ "$(status -n 60 --topology line --set privacy_check=warn --rounds 1 --set decimals=8 --set mixing=metropolis --set trainer=noise --set noise_parameters=3)" = 1 ] || fail "no width"
grep -q "no round committed in 3 steps.*fractional bits" err || fail "no reason: $(cat err)"

# Interrupted: what was done is shown.
# shellcheck disable=SC2086
"$starling" simulate -n 6 --rounds 1000000 $noise >out 2>err &
pid=$!
until grep -q "same" out; do sleep 0.1; done
kill -INT $pid
code=0
wait $pid || code=$?
[ $code = 130 ] || fail "interrupted, it ends with $code"
grep -q "interrupted" err || fail "says nothing: $(cat err)"
grep -q "of 1000000 rounds, not complete" out || fail "no total"
