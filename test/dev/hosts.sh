#!/bin/sh
# starling-bench on hosts of its own, if this machine allows them: hosts.sh STARLING-BENCH
. "${0%/*}/../lib/head.sh"
program=$1 bench=$1 # a link in the build folder, beside starling
mkdir within

interfaces() {
	ls /sys/class/net
}

# Print the processes that work in the folder of the bench.
inside() {
	for process in /proc/[0-9]*; do
		case $(readlink "$process/cwd" 2>/dev/null) in
		"$folder/within/"*) echo "${process#/proc/}" ;;
		esac
	done
}

before=$(interfaces)
ends 0 smoke-hosts --repeat 1 --folder within
if grep "skipped: " out; then
	exit 77
fi
for figure in 'seeded + forest .* s' 'seeded + forest: bandwidth .* s' 'seeded + forest: round trips .* s' \
	'seeded + forest: sent at most .* MB' "seeded + forest: bytes over the ring .* x"; do
	grep -q "$figure" out || fail "no $figure: $(cat out)"
done
! grep -q 'attempts failed' out || fail "a round did not go well: $(cat out)"
[ "$(interfaces)" = "$before" ] || fail "interfaces are left: $(interfaces)"
[ -z "$(ls within)" ] || fail "left behind: $(ls within)"

# Far hosts: a message takes 5 ms, and a round several of them.
ends 0 smoke-far --repeat 1 --folder within --json --set sharing=os --set mixing=exact --set privacy_check=warn
python3 - <<'PYTHON' || fail "not that JSON: $(cat out)"
import json
[case] = json.load(open("out"))["cases"]
assert case["error"] is None, case
if not any(note.startswith("skipped: ") for note in case["notes"]):
    figures = {f["name"]: f["median"] for f in case["figures"]}
    assert figures["os + exact"] > 0.03, figures
    assert figures["os + exact: round trips"] > 0, figures
PYTHON

for wrong in "--set colour" "--set a=b --set" "smoke-near"; do
	# shellcheck disable=SC2086
	ends 2 $wrong
	[ -s err ] || fail "$wrong: says nothing"
done

# Killed in the middle of a round: no process is left, and with them no host.
"$bench" hosts-20mbit --repeat 3 --folder within >out 2>err &
pid=$!
until [ "$(inside | wc -l)" -ge 5 ] && ls within/*/run/learner-05/control.sock >/dev/null 2>&1; do
	sleep 0.1
done
kill -KILL $pid
wait $pid 2>/dev/null || :
until [ -z "$(inside)" ]; do
	sleep 0.1
done
[ "$(interfaces)" = "$before" ] || fail "interfaces are left: $(interfaces)"
