#!/bin/sh
# starling-bench from the command line: bench.sh STARLING-BENCH
. "${0%/*}/../lib/head.sh"
program=$1 bench=$1 # a link in the build folder, beside starling
mkdir within

ends 0 --help
grep -q "Examples:" out || fail "--help shows no examples"
for name in kernels instructions noise passes analysis records exchange complete10 complete10shamir ring10 crowd100 crowd100additive traffic long-runs hosts-100mbit smoke-far; do
	grep -q "^  $name " out || fail "--help does not name $name"
done

for wrong in "--repeat 0" "--repeat 101" "--repeat x" "--what" "--folder nowhere kernels"; do
	# shellcheck disable=SC2086
	ends 2 $wrong
	[ -s err ] || fail "$wrong: says nothing"
done
ends 2 kernel
grep -q "there is no case 'kernel'; did you mean 'kernels'?" err || fail "kernel: $(cat err)"

ends 0 kernels --repeat 1 --folder within
grep -q "shamir, 31 bits, degree 87 .* ns a share" out || fail "kernels: $(cat out)"
[ ! -s err ] || fail "progress in a pipe: $(cat err)"

ends 0 kernels --repeat 2 --folder within --json
python3 - <<'PYTHON' || fail "not that JSON: $(cat out)"
import json
d = json.load(open("out"))
[case] = d["cases"]
assert d["machine"]["processors"] >= 1 and d["repeat"] == 2 and case["case"] == "kernels" and case["error"] is None
for f in case["figures"]:
    assert f["min"] <= f["median"] <= f["max"] and len(f["samples"]) == 2 and f["unit"] == "ns a share", f
PYTHON
[ -z "$(ls within)" ] || fail "left behind: $(ls within)"

# Beside an earlier run.
cp out before.json
ends 0 kernels noise --repeat 1 --folder within --compare before.json
grep -q "shamir, 31 bits, degree 87 .* ns a share; .* x before" out || fail "no ratio: $(cat out)"
grep -q "before.json has no case noise" out || fail "a missing case: $(cat out)"
ends 2 kernels --compare "$0"
grep -q "not the output of starling-bench --json" err || fail "--compare: $(cat err)"

ends 0 instructions noise passes analysis records --repeat 1 --folder within
for figure in 'metropolis.*portable' 'sigma 6700, portable .* ns an element' 'all jobs .* ns' 'regular:10, N 1000: polynomial .* ms' 'committed, N 2000 .* ms'; do
	grep -q "$figure" out || fail "no $figure: $(cat out)"
done
[ -z "$(ls within)" ] || fail "left behind: $(ls within)"

# Interrupted in the middle of a run of daemons: nothing is left, neither files nor processes.
"$bench" demo --repeat 100 --folder within >out 2>err &
pid=$!
until ls within/*/run/learner-*/pid >pids 2>/dev/null && [ "$(wc -l <pids)" = 10 ]; do
	sleep 0.1
done
daemons=$(cat within/*/run/learner-*/pid)
kill -INT $pid
code=0
wait $pid || code=$?
[ $code = 130 ] || fail "interrupted: status $code: $(cat err)"
grep -q "interrupted" err || fail "interrupted, and says nothing"
[ -z "$(ls within)" ] || fail "left behind: $(ls within)"
for daemon in $daemons; do
	[ ! -e "/proc/$daemon" ] || fail "process $daemon is left"
done
