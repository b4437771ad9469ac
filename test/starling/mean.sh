#!/bin/sh
# `starling mean`, `sum`, `count` and `histogram`, with real daemons: mean.sh STARLING STARLINGD PYTHON
# What needs no daemon is in test/python/test_totals.py.
python=$3
"$python" -c 'import numpy' 2>/dev/null || { echo "numpy is not installed (Debian: python3-numpy)"; exit 77; }
. "$(dirname "$0")/../lib/head.sh"
starling=$program
mkdir tmp bin none
export TMPDIR="$folder/tmp"
python_of() { # FOLDER, then options: a python3 in the folder
	printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v "$python") ${2-}" >"$1/python3"
	chmod +x "$1/python3"
}
python_of bin
without=$PATH
export PATH="$folder/bin:$PATH"
# expect TEXT ARGUMENT...: run the command and expect this output.
expect() {
	expected=$1
	shift
	ends 0 "$@"
	[ "$(cat out)" = "$expected" ] || fail "not '$expected': $*"
}

# Sums are exact in decimals, where binary fractions are not; negative numbers are values, no options.
expect 21.233 mean --local 21.5 19.0 23.2
grep -q '^3 learners, 3 rows$' err || fail "the participants are not told"
expect 0.30 sum --local 0.10 0.15 0.05
expect 899999999.99997 sum --local 299999999.99999 299999999.99999 299999999.99999
expect -1.5 sum --local 2 -4.25 0.75
cat >a.csv <<'END'
name,"age, in years",answer
"Ada ""A.""",36,yes
Bob,,no
END
printf '"age, in years";answer\r\n41,50;yes\r\nNaN;yes\r\n' | iconv -t UTF-16 >b.csv
printf '"age, in years",answer\n7,no\n9,no' | gzip >c.csv
expect '{"question": "mean", "column": "age, in years", "mean": 23.375, "sum": 93.5, "rows": 4, "learners": 3, "round": 1}' \
	mean --json --local --csv a.csv --csv b.csv --csv c.csv --column 'age, in years'
has err 'a.csv: 1 missing value skipped'
expect '{"question": "histogram", "column": null, "bins": [{"from": null, "to": 0, "count": 1}, {"from": 0, "to": 10.5, "count": 1}, {"from": 10.5, "to": 20, "count": 1}, {"from": 20, "to": null, "count": 1}], "rows": 4, "learners": 4, "round": 1}' \
	histogram --json --bins 0,10.5,20 --local -- -0.1 0 10.5 20
expect 'yes 3
no  3' count --local --categories yes,no --csv a.csv --csv b.csv --csv c.csv --column answer
"$python" -c 'import numpy as np
for i in range(3): np.save(f"{i}.npy", np.array([[i, 0.5, -i]]))
np.save("f4.npy", np.array([0.25, 1.5], "f4"))
np.save("i8.npy", np.array([3, 500]))'
expect '' sum --local --npy 0.npy --npy 1.npy --npy 2.npy --output sum.npy
"$python" -c 'import numpy as np; assert np.load("sum.npy").tolist() == [[3, 1.5, -3]], np.load("sum.npy")'
# Integers and floats mixed: the floats keep their decimals.
expect '6.25
1001.5' sum --local --npy i8.npy --npy f4.npy --npy i8.npy
refused 'f4.npy gives an array of shape [2], and 0.npy an array of shape [1,3]: all learners must' \
	mean --local --npy f4.npy --npy i8.npy --npy 0.npy
ends 2 sum --local 99999999999999.9 99999999999999.9 99999999999999.9
has err 'sum: the total has more than 15 digits'
ends 2 sum --local --npy 0.npy --npy 1.npy --npy 2.npy --output none/none/sum.npy
has err 'none/none/sum.npy: No such file or directory'
[ -z "$(ls tmp)" ] || fail "a temporary folder is left: $(ls tmp)"

# Answers through daemons that run, and such whose settings would not keep all digits.
cat >ask.sh <<'END'
case $1-$STARLING_LEARNER in
decimals-*) exec "$2" sum 1.55 ;;
range-*) exec "$2" sum 150 ;;
good-*) exec "$2" sum 1.5 2 ;;
twice-*) "$2" sum 1 && exec "$2" mean 1 ;;
esac
END
launch() {
	rm -rf run
	status=0
	"$starling" launch -n 3 --rounds $rounds --run-dir run --set decimals=1 --set clipping_range=100 -- sh ask.sh "$@" "$starling" \
		>out 2>err || status=$?
}
rounds=2
launch twice
grep -q 'this run.*: a run answers one question: .* another run: and another state:$' \
	run/learner-*/output.txt || fail "the remedy for a second question is not told"
rounds=1
launch good
[ $status -eq 0 ] && [ "$(grep -c '^10.5$' run/learner-0*/output.txt | grep -c ':1$')" -eq 3 ] || fail "not the sum at all learners"
launch decimals
grep -q 'a value has 2 decimals, and the learners keep 1: set decimals: 2 at all of them' run/learner-*/output.txt ||
	fail "the missing decimals are not named"
launch range
grep -q '150 is beyond clipping_range 100 of the learners: set clipping_range: 1000' run/learner-*/output.txt ||
	fail "the range is not named"

# Other tensors at one learner: its neighbours are told, and a run that can do without it goes on. The numbers of a command that is
# told, and ends, are in the round all the same.
cat >other.sh <<'END'
bins=0,10
[ $STARLING_LEARNER -ne 2 ] || bins=0,10,20
"$1" histogram --bins $bins 5 2>&1
until [ -e "$STARLING_RUN_DIR/progress.txt" ]; do sleep 0.1; done
END
rm -rf run
ends 1 launch -n 4 --rounds 1 --run-dir run --set quorum=3 -- sh other.sh "$starling"
named=' trains another model: tensor .* is .* here'
grep -q "learner-0.*$named" run/learner-*/output.txt || fail "an application is not told"
grep -q 'all learners must ask the same question' run/learner-*/output.txt || fail "the remedy for another question is not told"
grep -q '^learner-02 (2) took part in no round: ' out || fail "the learner that differs is not named"

# Noise: little of it leaves the result as it is, and it is told. An exact total is refused where learners add noise.
near() { # LEAST MOST
	"$python" -c 'import sys; value = float(open("out").read()); assert float(sys.argv[1]) < value < float(sys.argv[2]), value' "$@" ||
		fail "not between $*"
}
noise='--epsilon 900 --delta 0.1'
ends 0 mean --local 21.5 19 -23 $noise --range -30 30
near -4 16 # eight standard deviations away
has err '3 learners; the mean of the numbers of the learners, with noise of standard deviation 1.' 'hidden: one learner; epsilon spent so far: '
ends 0 sum --local --csv a.csv --csv b.csv --csv c.csv --column 'age, in years' $noise --range 0 40
near 52 132
has err '1 value is outside the range and counts as its end' 'hidden: one record'
ends 0 count --local --categories yes,no yes no yes $noise
grep -q '^yes [123]$' out && grep -q '^no [012]$' out || fail "other counts"
refused '--epsilon needs --range LOW HIGH' mean --local 1 2 3 $noise
rm -rf run
ends 1 launch -n 3 --rounds 1 --run-dir run --set dp=learner --set dp_clip=1 --set dp_epsilon=4 --set dp_delta=0.01 -- \
	sh -c '"$0" mean 3 2>&1' "$starling"
grep -q 'this learner adds noise (dp: learner), and an exact total was asked for. Nothing was shared' run/learner-*/output.txt ||
	fail "an exact total is not refused"

# Input that cannot be used; a learner that is not there.
refused '--local needs at least 3 values' mean --local 1 2
refused "a.csv has no column 'agee': it has name, age, in years, answer" mean --csv a.csv --column agee
refused "a.csv, line 2: name is 'Ada \"A.\"', which is no number" mean --csv a.csv --column name
ends 2 mean 3
has err 'with --socket PATH or STARLING_SOCKET, or try the command with --local'
ends 1 mean --socket /dev/null/x 3
has err '/dev/null/x: Not a directory'

# Output that cannot be written; a python3 that cannot be used: one line with the remedy.
line() {
	[ $code -eq 1 ] || fail "status $code, not 1: $*"
	[ "$(wc -l <err)" = 1 ] || fail "more than one line"
	has err "$@"
}
if [ -e /dev/full ]; then
	code=0
	"$starling" sum --local 1 2 3 2>err >/dev/full || code=$?
	line 'starling sum: cannot write standard output: No space left on device'
fi
code=0
PATH="$folder/none" "$starling" mean 3 2>err || code=$?
line 'starling mean: python3 cannot be started: No such file or directory (Debian: apt-get install python3)'
python_of none -S
for word in yes --help; do # no help: an answer
	code=0
	PATH="$folder/none:$without" "$starling" count --local --categories yes,--help -- yes yes $word 2>err || code=$?
	line 'starling count: ' ' has no numpy: run python3 -m pip install numpy (with uv: uv pip install numpy; Debian: apt-get install python3-numpy), or put another python3 first on PATH'
done
printf '#!/bin/sh\nexec %s -c "import runpy, sys; sys.version_info = (3, 6, 15); sys.modules[\\"__future__\\"] = None; del sys.argv[0]; runpy.run_path(sys.argv[0], run_name=\\"__main__\\")" "$@"\n' "$(command -v "$python")" >"$folder/none/python3"
code=0
PATH="$folder/none:$without" "$starling" status 2>err || code=$?
line 'starling status: ' '/python3 is older than Python 3.9: put another python3 first on PATH'
