#!/bin/sh
# starling-paper from the command line: paper.sh STARLING-PAPER STARLING PYTHON. Status 77 without numpy.
starling=$(realpath "$2") python=$3
"$python" -c 'import numpy' 2>/dev/null || { echo "numpy is not installed (Debian: python3-numpy)"; exit 77; }
. "${0%/*}/../lib/head.sh"
drawn=false
"$python" -c 'import matplotlib' 2>/dev/null && drawn=true
mkdir "$folder/bin" "$folder/here"
cd "$folder/here"

# An Octave that is quick: it prints what the paper's simulation prints, as its environment asks.
cat >"$folder/bin/octave-cli" <<'END'
#!/bin/sh
[ "$OMP_NUM_THREADS" = 1 ] || exit 3
echo "shares,mode=gemm,N=$PP_N,deg=$PP_DEG,n=$PP_n,shares_per_learner=$((PP_n * (PP_DEG + 1))),agg_s_per_learner=0.0$PP_n"
for k in $PP_K $(echo "$PP_KLIST" | tr , ' '); do
	echo "consensus,mode=$PP_CONS,K=$k,s_per_iter_per_learner=0.0001"
done
END
chmod +x "$folder/bin/octave-cli"
: >paper_octave.m
PATH=$folder/bin:$PATH

# All parts, in small: the report, the tables, the figures, and the claims as they have to come out.
"$python" "$program" --starling "$starling" --quick --octave paper_octave.m -o all >out.txt 2>err.txt || fail "ended with $?: $(cat err.txt out.txt)"
[ "$(grep -v 'figures are not drawn' err.txt | cut -c 1-2 | tr -d '\n')" = a:b:c:d:e:f:g:h:i: ] || fail "not a line for each part: $(cat err.txt)"
has out.txt claim paper here verdict 'does not hold' all/report.md
for file in report.md figures.json claims.csv a_trajectories.csv b_consensus.csv c_trajectories.csv c_norms.csv c_degrees.csv \
	d_topologies.csv e_time.csv f_loss.csv g_numbers.csv h_groups.csv h_growth.csv i_plan.csv; do
	[ -s "all/$file" ] || fail "no $file"
done
[ "$(find all -name '.*' -type f | wc -l)" = 0 ] || fail "something is left: $(ls -A all)"
grep -qiE '\b(nan|infinity)\b' all/report.md all/figures.json && fail "a number that is none: $(grep -iE '\b(nan|infinity)\b' all/report.md all/figures.json)"
for part in a b c d e f g h i; do
	has all/report.md "## $part. "
done
for figure in a_trajectories b_consensus c_trajectories c_norms c_degrees e_time f_loss h_growth; do
	has all/report.md "($figure.svg)" "($figure.csv)"
	if $drawn; then
		grep -q '</svg>' "all/$figure.svg" || fail "no $figure.svg: $(cat err.txt)"
	fi
done
if $drawn; then # once more
	rm all/*.svg
	"$python" "$program" --draw -o all >draw.txt 2>&1 || fail "--draw: $(cat draw.txt)"
	[ ! -s draw.txt ] && [ "$(ls all/*.svg | wc -l)" = 8 ] || fail "--draw: $(cat draw.txt; ls all)"
fi
claim() { # PART, CLAIM, VERDICT
	grep -E "^$1,\"?$2" all/claims.csv | grep -qE ",$3.?\$" || fail "$2: $(grep -E "$2" all/claims.csv)"
}
claim a 'in every round over changing graphs' holds
claim a 'K = 10' 'does not hold'
claim b 'consensus minus ground truth' holds
claim d 'second largest eigenvalues' holds
claim d 'λ₂ tells how fast' 'does not hold'
claim g 'τ shares tell nothing' 'does not hold'
claim g 'the update rule' misprint
claim e 'seconds for each share, 17 neighbours, K = 10' measured
claim e 'seconds for each iteration, 17 neighbours' measured
claim f 'its encoding' measured
claim f 'averaging through an encoding' measured
[ "$(grep -oE 'Other programs took [0-9]+ % of the processors' all/report.md | wc -l)" = 2 ] || fail "no load, or too much of it"
[ "$(grep -c '^Octave,shares' all/e_time.csv)" = 3 ] || fail "not three times of Octave: $(cat all/e_time.csv)"
[ "$(awk -F, 'NR > 1 && $5 != 0' all/b_consensus.csv | wc -l)" = 0 ] || fail "a difference that is not 0"
awk -F, 'NR > 1 && $8 != "" && $8 > $6 { exit 1 }' all/d_topologies.csv || fail "more iterations needed than the bound says"

# A part alone, as JSON.
"$python" "$program" --starling "$starling" --quick --only d -o one --json >one.json 2>err.txt || fail "--only ended with $?"
[ "$(wc -l <err.txt)" = 1 ] || fail "more parts than asked for: $(cat err.txt)"
has one.json '"part": "d"' '"broken": []' '"folder": "one"'
grep -q '"part": "a"' one.json && fail "a part that nobody asked for"
ls one | sort | tr '\n' ' ' | grep -qx 'claims.csv d_topologies.csv report.md ' || fail "files: $(ls one)"

# Without Octave the report says so; without matplotlib the program says what to install, and how to draw the figures then.
mkdir none
echo 'raise ImportError' >none/matplotlib.py
PATH=/nowhere PYTHONPATH=$PWD/none "$python" "$program" --starling "$starling" --quick --only e -o without >/dev/null 2>err.txt ||
	fail "without Octave it ended with $?: $(cat err.txt)"
has err.txt 'matplotlib is not installed (Debian package python3-matplotlib)' 'starling-paper --draw -o without'
has without/figures.json '"e"'
has without/report.md 'Not measured here'

# Ended early: no report and no folder, and status 130.
"$python" "$program" --starling "$starling" --only c -o early >out.txt 2>err.txt &
pid=$!
until [ -d early ]; do sleep 0.02; done
kill -INT $pid
status=0
wait $pid || status=$?
[ $status = 130 ] || fail "interrupted, it ended with $status: $(cat err.txt)"
[ ! -e early ] || fail "interrupted, it left $(ls -A early)"
has err.txt 'interrupted; there is no report'
[ ! -s out.txt ] || fail "interrupted, it has a table"

# Bad input: one line, and nothing is written.
refused() { # STATUS, WHY, then what starling-paper is asked
	wanted=$1 why=$2
	shift 2
	status=0
	"$python" "$program" --starling "$starling" "$@" >out.txt 2>err.txt || status=$?
	[ $status = "$wanted" ] || fail "$* ended with $status"
	[ "$(grep -c '^starling-paper: ' err.txt)" = 1 ] || fail "$* says: $(cat err.txt)"
	has err.txt "$why"
	[ ! -e bad ] || fail "$* left a folder"
}
refused 2 'a,z: letters from a to i' --only a,z -o bad
refused 2 'letters from a to i' --only '' -o bad
refused 2 'unrecognized arguments: c' -o bad c
refused 2 'nowhere.m: No such file' --quick --only e --octave nowhere.m -o bad
refused 2 'nowhere' --quick --only a --data nowhere -o bad
refused 1 'cannot make the folder no/such' --quick --only d -o no/such
: >file
refused 1 'cannot write into file: Not a directory' --quick --only d -o file
