#!/bin/sh
# `starling mean`, `sum`, `count` and `histogram`, with real daemons: mean.sh STARLING STARLINGD PYTHON
python=$3
fake=$(realpath "$(dirname "$0")/../python")
. "$(dirname "$0")/../lib/head.sh"
starling=$program
mkdir tmp
export TMPDIR="$folder/tmp"
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
expect 100000000003.251 sum --local 1e11 3.25 0.001
cat >a.csv <<'END'
name,"age, in years",answer
"Ada ""A.""",36,yes
Bob,,no
END
printf 'answer,"age, in years"\r\nyes,41.5\r\nyes,NaN\r\n' >b.csv
printf '"age, in years",answer\n7,no\n9,no' >c.csv
expect '{"question": "mean", "column": "age, in years", "mean": 23.375, "sum": 93.5, "rows": 4, "learners": 3, "round": 1}' \
	mean --json --local --csv a.csv --csv b.csv --csv c.csv --column 'age, in years'
grep -q 'a.csv: 1 empty cell skipped$' err || fail "the empty cell is not told"
expect '{"question": "histogram", "column": null, "bins": [{"from": null, "to": 0, "count": 1}, {"from": 0, "to": 10.5, "count": 1}, {"from": 10.5, "to": 20, "count": 1}, {"from": 20, "to": null, "count": 1}], "rows": 4, "learners": 4, "round": 1}' \
	histogram --json --bins 0,10.5,20 --local -- -0.1 0 10.5 20
expect 'yes 3
no  3' count --local --categories yes,no --csv a.csv --csv b.csv --csv c.csv --column answer
if "$python" -c 'import numpy' 2>/dev/null; then
	"$python" -c 'import numpy as np
for i in range(3): np.save(f"{i}.npy", np.array([[i, 0.5, -i]]))
np.save("f4.npy", np.array([0.25, 1.5], "f4"))
np.save("i8.npy", np.array([3, 500]))
np.save("far.npy", np.array([1e10, 0]))'
	expect '' sum --local --npy 0.npy --npy 1.npy --npy 2.npy --output sum.npy
	"$python" -c 'import numpy as np; assert np.load("sum.npy").tolist() == [[3, 1.5, -3]], np.load("sum.npy")'
	# Integers and floats mixed: the floats keep their decimals.
	expect '6.25
1001.5' sum --local --npy i8.npy --npy f4.npy --npy i8.npy
	refused 'f4.npy gives an array of shape [2], and 0.npy an array of shape [1,3]: all learners must' \
		mean --local --npy f4.npy --npy i8.npy --npy 0.npy
	refused 'i8.npy gives an array of shape [2], and 7 no array: all learners must' mean --local --npy i8.npy 7 8
	expect '10000000003.25
501.5' sum --local --npy f4.npy --npy far.npy --npy i8.npy

	# A learner whose peers ask another question: the command ends.
	cat >learner.py <<'END'
import subprocess, sys
from fake_learner import FakeLearner

def script(learner):
    learner.accept()
    for text in "waiting for c (3) to be ready", "b (2) trains another model: tensor 1 is sum:b float64 [] there":
        learner.tell("waiting", text=text)

with FakeLearner(script) as learner:
    sys.exit(subprocess.run([sys.argv[1], "mean", "--socket", learner.path, "3"], timeout=30).returncode)
END
	status=0
	PYTHONPATH=$fake "$python" learner.py "$starling" >out 2>err || status=$?
	[ $status -eq 1 ] || fail "status $status, not 1, after another question"
	has err 'b (2) trains another model: tensor 1 is sum:b' ': all learners must ask the same question'
fi
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

# Other tensors at one learner: its neighbours are told, and a run that can do without it goes on.
cat >other.sh <<'END'
bins=0,10
[ $STARLING_LEARNER -ne 2 ] || bins=0,10,20
"$1" histogram --bins $bins 5 >log-$STARLING_LEARNER 2>&1 &
while ! grep -qs 'trains another model' log-$STARLING_LEARNER && kill -0 $!; do sleep 0.1; done
cat log-$STARLING_LEARNER
exit 3
END
rm -rf run
! "$starling" launch -n 3 --rounds 1 --run-dir run --set quorum=2 -- timeout 60 sh other.sh "$starling" >out 2>err || fail "no failure"
named=' trains another model: tensor histogram:.* is there, and not here; '
grep -q "^learner-0.*$named" run/learner-*/output.txt || fail "an application is not told"
grep -q 'the command of learner-0. ended with status 3' err || fail "the run has ended at the first difference"

# Input that cannot be used.
refused '--local needs at least 3 values' mean --local 1 2
refused "'1,5' is not a number" sum --local 1,5 2 3
refused "'0.1234567890123' has too many digits" sum 0.1234567890123
refused 'the sum has more than 15 digits' sum 2000000000000000 2000000000000000
ends 1 sum --local 99999999999999.9 99999999999999.9 99999999999999.9
has err 'the total has more than 15 digits'
refused "a.csv: there is no column 'agee'; the columns are name, age, in years, answer" mean --csv a.csv --column agee
refused "a.csv:2: column name: 'Ada \"A.\"' is not a number" mean --csv a.csv --column name
refused 'name the column with --column NAME' mean --csv a.csv
refused "'jes' is none of the categories yes,no; did you mean 'yes'?" count --categories yes,no jes
refused 'name all categories' count yes
refused '1 does not follow 2' histogram --bins 2,1 3
refused 'a.csv: not an .npy file' mean --npy a.csv
refused 'give a value or --csv FILE' mean
ends 1 mean 3
has err 'with --socket PATH or STARLING_SOCKET, or try the command with --local'
ends 2 mean --csv
has err "option '--csv' requires an argument"
ends 1 mean --socket /dev/null/x 3
has err '/dev/null/x: Not a directory'
