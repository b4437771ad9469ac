#!/bin/sh
# `starling launch -- COMMAND` with real daemons: launch.sh STARLING STARLINGD PYTHON PACKAGE
python=$3
export PYTHONPATH="$4"
"$python" -c 'import numpy' 2>/dev/null || { echo "numpy is not installed (Debian: python3-numpy)"; exit 77; }
. "$(dirname "$0")/../lib/head.sh"
starling=$program

# run STATUS ARGUMENT...: launch three learners and expect the status.
run() {
	expected=$1
	shift
	rm -rf run
	ends "$expected" launch -n 3 --run-dir run "$@"
}

cat >train.py <<'END'
import os
import numpy as np
import starling

me = int(os.environ["STARLING_LEARNER"])
assert os.environ["STARLING_LEARNERS"] == "3" and os.path.isdir(os.environ["STARLING_RUN_DIR"])
model = {"w": np.ones((2, 2)), "steps": np.array(me)}
with starling.join(model) as group:
    for t in group:
        model["w"] = np.full((2, 2), float(me + t))
        model = group.mean(model, weight=me, metrics={"loss": 1.0 / t})
        assert np.allclose(model["w"], (1 * 1 + 2 * 2 + 3 * 3) / 6 + t, atol=1e-3), model
        assert model["steps"] == me and group.participants == 3 and group.total_weight == 6
print("the end of", me)
END

# A run while learners are killed; what the commands print is shown and kept; five checkpoints and a link remain.
run 0 --rounds 8 --chaos 2 -- "$python" train.py
grep -q '8 of 8 rounds, all the same' out || fail "not all rounds, or not the same"
grep -q '^learner-02: the end of 2$' out || fail "no output of the command"
grep -q '^the end of 3$' run/learner-03/output.txt || fail "the output is not kept"
[ "$(ls run/learner-01/state/checkpoints/round-*.safetensors | wc -l)" -eq 5 ] || fail "not five checkpoints"
[ "$(readlink run/learner-01/state/checkpoints/latest.safetensors)" = round-000008.safetensors ] || fail "no link to the latest"
grep -q '"w":{"data_offsets":\[0,32\],"dtype":"F64","shape":\[2,2\]}' run/learner-01/state/checkpoints/latest.safetensors ||
	fail "the tensor has no name"

# The encodings of the applications add up.
run 0 --rounds 2 --verify -- "$python" train.py
grep -q 'all exact' out || fail "not exact"

# Updates, the default: the first round, from zeros, is exact. Then each tensor has a range of its own,
# 2^8 times its largest value with 30 bits, then by its updates, with 18 bits, and from the fifth round on with 12.
cat >precise.py <<'END'
import os
import numpy as np
import starling

me = int(os.environ["STARLING_LEARNER"])
model = {"large": np.zeros(5000), "small": np.zeros(5000)}
steps = {}
ranges = {"large": (10, -5, -5), "small": (0, -5, -5)}
with starling.join(model) as group:
    for t in group:
        changes = {"large": (4, 0.01), "small": (0.003, 0.01)}  # largest ones, which are the same at all learners
        draws = [np.random.default_rng([learner, t]).uniform(-1, 1, 4999) for learner in (1, 2, 3)]
        trained = [{name: part + changes[name][min(t - 1, 1)] * np.append(draw, 1) for name, part in model.items()} for draw in draws]
        mean = group.mean(trained[me - 1])
        for name in model:
            before = steps.get(name, 0)  # what the last encoding left out is in this one
            step = steps[name] = 0 if t == 1 else 2.0 ** (ranges[name][t - 2] - (0, 20, 30, 18, 18)[t])
            error = np.abs(mean[name] - sum(other[name] for other in trained) / 3).max()
            assert step / 16 <= error <= (step + before) / 2 + 1e-15, (t, name, error)
        assert group.decimals is None and group.clipping_range is None, group.clipping_range
        model = mean
END
run 0 --rounds 4 --verify -- "$python" precise.py
grep -q 'all exact' out || fail "not exact"

# A sum of updates takes a variance below 0: a tensor that is declared non-negative becomes 0, at all learners, also those
# that are killed and start again. Without the declaration its square root would be NaN.
cat >variance.py <<'END'
import numpy as np
import starling

model = {name: np.array([1, 1e-4], np.float32) for name in ("bn.running_var", "spread", "free")}
with starling.join(model, nonnegative=("sp*",)) as group:
    for t in group:
        trained = {name: np.array([0.6, -1e-6], np.float32) if t > 1 else part for name, part in model.items()}
        mean = group.mean(trained)
        assert t != 2 or mean["free"][1] < 0, mean
        assert mean["bn.running_var"].min() >= 0 and mean["spread"].min() >= 0, mean
END
run 0 --rounds 4 --chaos 1 --verify -- "$python" variance.py
grep -q 'all exact' out || fail "not exact"
run 1 --set quorum=all -- "$python" -c "
import os, numpy, starling
own = ('w',) if os.environ['STARLING_LEARNER'] == '2' else ()
with starling.join({'w': numpy.zeros(2)}, nonnegative=own) as group:
    for t in group:
        group.mean({'w': numpy.zeros(2)})"
grep -q 'trains another model: tensor w is float64 \[2\].* there and float64 \[2\].* here; start' err && grep -q 'non-negative' err ||
	fail "a declaration at one learner only is not named"

# Small changes beside large ones: every tensor moves as it was trained.
cat >frozen.py <<'END'
import numpy as np
import starling

model = {"a": np.full(3, 0.5), "still": np.full(9000, 0.5), "w": np.full(9000, 0.5), "x": np.full(9000, 0.5)}
with starling.join(model) as group:
    for t in group:
        if t < 6:
            model = {"a": model["a"] + 50, "still": model["still"], "w": model["w"] + 1e-4, "x": model["x"] + 1000}
        model = group.mean(model)
for name, moved in (("a", 250), ("still", 0), ("w", 5e-4), ("x", 5000)):
    assert abs(model[name] - 0.5 - moved).max() <= moved * 1e-3, (name, model[name])
END
run 0 --rounds 7 --verify -- "$python" frozen.py
grep -q 'what training added' out && fail "a tensor stands still"

# From a common model, every tensor keeps its digits from the first round on; what is not trained comes back bit by bit.
cat >first.py <<'END'
import os
import sys
import numpy as np
import starling

own = int(os.environ["STARLING_LEARNER"]) if "other" in sys.argv else 1
model = {"a": np.full(9000, 1e12 * own), "still": np.full(9000, -0.0), "w": np.full(9000, 1e-12)}
if "other" in sys.argv:
    model["tiny"] = np.full(3, 1e-45)
with starling.join(model) as group:
    for t in group:
        trained = {"a": model["a"] * 1.5, "still": model["still"], "w": model["w"] * 1.25}
        mean = group.mean({**trained, "tiny": model["tiny"]} if "tiny" in model else trained)
        if "tiny" in model and t == 1:
            assert (mean["a"] == 3e12).all() and mean["w"].tobytes() == trained["w"].tobytes() and not mean["tiny"].any(), mean
        if own == 1 and "other" not in sys.argv:
            assert mean["still"].tobytes() == model["still"].tobytes()
            assert all(abs(mean[name] / trained[name] - 1).max() < (2**-20 if t == 1 else 2**-12) for name in ("a", "w")), mean
        model = mean
END
run 0 --rounds 2 --verify -- "$python" first.py
grep -q 'all exact' out || fail "not exact"
grep -q 'begin with different models' run/learner-01/log.jsonl && fail "the models are the same"
# Without one, whole models are averaged exactly, whatever their magnitudes are, and nobody tells the others about them. Only
# what is below 2^-128 is lost, and named.
run 0 --rounds 2 --verify -- "$python" first.py other
grep -q 'all exact' out || fail "not exact"
grep -q 'begin with different models' run/learner-01/log.jsonl || fail "the models are not the same"
grep -q '"values":"exact".*"bits":32' run/learner-01/log.jsonl || fail "the first round is not exact"
grep -q 'round 1: all values of the tensor tiny are too small for an exact round and are 0 in it (such tensors: 1): scale them up' out ||
	fail "the tensor that is lost is not named"
grep -q '"tensor":"tiny"' run/learner-02/log.jsonl || fail "the log does not name the tensor"

# What rounding leaves out of a change is in the next one: after twelve rounds the last rests alone are missing. A learner that
# is killed between two rounds loses its rest, so that of this moment is missing, too. A learner that joins in round 20 finds
# the steps in the result of the round before.
cat >steps.py <<'END'
import json
import os
import signal
import time
from pathlib import Path
import numpy as np
import starling

me, folder = int(os.environ["STARLING_LEARNER"]), Path(os.environ["STARLING_RUN_DIR"])
late = os.environ["STARLING_LEARNERS"] == "4"

def change(learner, t):
    return 0.001 * 0.9**t * np.append(np.random.default_rng([learner, t]).uniform(-1, 1, 8999), 1)

def step(t):
    "Return the step of round t, by the exponent in the checkpoint before."
    before = starling.load(folder / f"learner-01/state/checkpoints/round-{t - 1:06}.safetensors")
    return 2.0 ** (json.loads(before.metadata["ranges"])[0] - 12)

while late and me == 4 and not (folder / "learner-01/state/checkpoints/round-000019.safetensors").exists():
    time.sleep(0.1)
begin = np.linspace(-1, 1, 9000)
model, trained, together = {"w": begin}, begin, 0
with starling.join(model) as group:
    for t in group:
        before = model["w"]
        model = group.mean({"w": before + change(me, t)})
        if me == 4 and t < 20:
            continue  # it has the result of another round
        if late and t >= 20 and group.participants == 3:
            continue  # one was too slow
        added = sum(change(learner, t) for learner in range(1, group.participants + 1)) / group.participants
        trained = trained + added
        if t >= 6:
            error = abs(model["w"] - before - added).max()
            assert step(t) / 16 < error <= step(t) / 2 + step(t - 1) / 2, (t, error, step(t))
        together += t >= 20 and group.participants == 4
        if me == 2 and t == 8 and not late:
            os.kill(int((folder / "learner-02/pid").read_text()), signal.SIGKILL)
assert not late or together > 0
if not late:
    missing = abs(model["w"] - trained).max()
    assert missing <= step(12) / 2 + step(8) / 2 / 3, (missing, step(12), step(8))
END
run 0 --rounds 12 --set keep_checkpoints=all --verify -- "$python" steps.py
grep -q 'all exact' out || fail "not exact"
rm -rf run
ends 0 launch -n 4 --run-dir run --rounds 24 --set stall_timeout=10 --set keep_checkpoints=all --verify -- "$python" steps.py
grep -q 'all exact' out || fail "not exact"

# A tensor that is rounded to 0 as a whole is shown in each round, and is an error in the fourth; one that is not trained is
# neither.
cat >zeros.py <<'END'
import json
import os
import subprocess
import sys
import numpy as np
import starling

model = {"still": np.zeros(5), "tiny": np.zeros(5), "w": np.ones(5)}
with starling.join(model) as group:
    for t in group:
        model = group.mean({"still": model["still"], "tiny": model["tiny"] + 1e-4, "w": model["w"] + 1})
        if t == 2 and os.environ["STARLING_LEARNER"] == "1":
            status = [sys.argv[1], "status", os.environ["STARLING_RUN_DIR"]]
            learners = json.loads(subprocess.run(status + ["--json"], stdout=subprocess.PIPE).stdout)["learners"]
            assert any(one["status"]["rounded"] == 1 for one in learners if one["status"]), learners
            shown = subprocess.run(status, stdout=subprocess.PIPE, text=True).stdout
            assert "rounded to 0 as a whole in its last model: 1 tensor\n" in shown, shown
END
coarse='--set values=model --set decimals=2 --set clipping_range=100'
run 1 --rounds 8 $coarse -- "$python" zeros.py "$starling"
grep -q '^ *3 .* same, rounded 1$' out || fail "the tensor that is rounded to 0 is not shown"
grep -q 'round 4 .*: tensor tiny: trained, and rounded to 0 as a whole by all learners in each of the last three rounds: raise decimals at all learners, or set rounded_to_zero: warn' err ||
	fail "the error does not name the tensor"
[ ! -e run/learner-02/state/checkpoints/round-000004.safetensors ] || fail "round 4 was committed"
run 0 --rounds 5 --json $coarse --set rounded_to_zero=warn -- "$python" zeros.py "$starling"
[ "$(tr -d ' \n' <out | grep -o '"rounded":1,' | wc -l)" -eq 5 ] || fail "not in each round"

# Integers and metrics are exact in each round, and cost the model nothing; so are numbers that are no updates.
cat >beside.py <<'END'
import os
import numpy as np
import starling

me = int(os.environ["STARLING_LEARNER"])
with starling.join({"w": np.zeros(3, np.float32), "far": np.float64(0)}, metrics=["loss"]) as group:
    w, far = np.zeros(3, np.float32), 0.0
    for t in group:
        mean = group.mean({"w": w + np.float32(1e-4), "far": np.float64(far + 1e12)}, metrics={"loss": (1e8, 1e-9, -3e30)[t - 1] * me})
        w, far = mean["w"], mean["far"]
        assert group.metrics["loss"] == (2e8, 2e-9, -6e30)[t - 1], group.metrics
        assert abs(w / (t * 1e-4) - 1).max() < 1e-3 and abs(far / (t * 1e12) - 1) < 1e-3, mean
END
run 0 --rounds 3 --verify --set metrics=aggregate -- "$python" beside.py
grep -q 'all exact' out || fail "not exact"
cat >model.py <<'END'
import os
from fractions import Fraction
import numpy as np
import starling

me = int(os.environ["STARLING_LEARNER"])
own = lambda learner, t: np.random.default_rng([learner, t]).normal(size=64) * 10.0 ** np.linspace(-20, 30, 64)
with starling.join(values="model") as group:
    for t in group:
        if t == 1:
            try:
                group.mean(np.append(own(me, t)[:63], 1e39))
            except starling.Refused as refused:
                assert str(refused).startswith("model[63] is 1e+39, too large to be averaged"), refused
            else:
                raise AssertionError("1e39 is taken")
        mean = group.mean(own(me, t))
        exact = [float(sum(map(Fraction, parts)) / 3) for parts in zip(*(own(learner, t).tolist() for learner in (1, 2, 3)))]
        assert mean.tolist() == exact, mean - exact
END
run 0 --rounds 3 --verify -- "$python" model.py
grep -q 'all exact' out || fail "not exact"

# A learner that is left out of all rounds does not hold the run for ever, and is named; so is a model before training that
# has no numbers.
cat >odd.py <<'END'
import os
import numpy as np
import starling

model = {"w": np.ones((4, 5)), **({"x": np.ones(3)} if os.environ["STARLING_LEARNER"] == "2" else {})}
with starling.join(model) as group:
    for t in group:
        model = group.mean({name: part + 1 for name, part in model.items()})
END
status=0
rm -rf run
"$program" launch -n 5 --rounds 2 --run-dir run -- "$python" odd.py >out 2>err || status=$?
[ $status -eq 1 ] || fail "status $status, not 1, with a learner that has no round"
status=0
"$program" launch --resume run --rounds 3 -- "$python" odd.py >out 2>err || status=$?
[ $status -eq 1 ] || fail "status $status, not 1, when it is resumed"
grep -qE '^learner-02 \(2\) took part in no round: .* trains another model: tensor x is (there|here), and not (here|there); start' out ||
	fail "a learner without a round is not named"
rm -rf run
run 1 --rounds 2 -- "$python" -c "
import numpy as np, starling
with starling.join({'b': np.zeros(2), 'w': np.array([[1.0, 1.0], [1.0, float('nan')]])}) as group:
    for t in group:
        group.mean({'b': np.zeros(2), 'w': np.ones((2, 2))})"
grep -q 'Error: the model before training cannot be used: w\[1,1\] is not a finite number' out || fail "a NaN before training is not named"

# A training that fails at one learner is named at all others, with the cause that waiting does not remove.
cat >fails.py <<'END'
import os
import time
import numpy as np
import starling

group = starling.join(np.zeros(2))
for t in group:
    for tries in range(600 if t == 2 and os.environ["STARLING_LEARNER"] == "2" else 0):
        try:
            group.mean(np.full(2, np.nan))
        except starling.Refused as refused:
            assert "model[0] is not a finite number" in str(refused), refused
        time.sleep(0.1)
        if all("to train again" in open(f"{os.environ['STARLING_RUN_DIR']}/learner-{other:02}/log.jsonl").read() for other in (1, 3)):
            break
    group.mean(np.ones(2))
END
run 0 --rounds 3 --set quorum=all -- "$python" fails.py
for learner in 1 3; do
	grep -q 'round 2: waiting for learner-02 (2) to train again, for the last model could not be used' run/learner-0$learner/log.jsonl ||
		fail "the failed training of learner 2 is not named at learner $learner"
done

# Commands that cannot be used.
run 1 -- ./no-such-command
grep -q 'no-such-command: no such command' err || fail "a missing command is not named"
! grep -q 'resume' out err || fail "a run without a round is to be continued"
run 1 -- train.py
grep -q 'train.py: .*; a script needs its interpreter, as in: -- python3 train.py' err || fail "a file that is no program is not named"
run 1 -- env -u PYTHONPATH "$python" -I -c 'import starling' # -I: without the package of the build folder
grep -q "its Python has no package starling: in that environment, run python3 -m pip install" err || fail "no remedy for a missing package"
run 1 -- sh -c 'echo some words; exit 3'
grep -q 'the command of learner-.* ended with status 3; its output is in' err || fail "an early end is not named"
! grep -q 'resume' out err || fail "a command that has ended before the first round is to be continued"
grep -q '^learner-0[123]: some words$' out || fail "its words are not shown"
run 1 -- true
grep -q 'ended before the first round was committed; its output is in run/learner-' err ||
	fail "an end without a round is not named"
! grep -q 'starling logs' out || fail "the logs of the learners are suggested"
cat >die.py <<'END'
import os
import numpy as np
import starling
with starling.join(np.zeros(2)) as group:
    for t in group:
        if t == 2 and os.environ["STARLING_LEARNER"] == "2":
            os.abort()
        group.mean(np.ones(2))
END
run 1 --rounds 5 -- "$python" die.py
grep -q 'the command of learner-02 ended with status 134' err || fail "a crash is not named"
run 2 --set trainer=application
grep -q 'name the application: starling launch ... -- COMMAND' err || fail "the missing command is not asked for"
run 2 --set trainer=noise -- true
grep -q 'true is the trainer' err || fail "two trainers are not refused"

# Expect that the processes child-ID have ended: they are gone, or not reaped.
expect_ended() {
	for child in child-*; do
		case $(ps -o stat= -p "${child#child-}") in
		'' | Z*) ;;
		*) fail "$child runs on" ;;
		esac
	done
}

# Learners with different models: the tensor is named, and the run ends at once.
cat >mixed.py <<'END'
import os
import numpy as np
import starling
dtype = np.float64 if os.environ["STARLING_LEARNER"] == "2" else np.float32
with starling.join({"a": np.zeros(3, np.float32), "b": np.zeros((2, 2), dtype)}) as group:
    for t in group:
        group.mean({"a": np.ones(3, np.float32), "b": np.ones((2, 2), dtype)})
END
run 1 --set quorum=all -- "$python" mixed.py
grep -q '^starling launch: .* trains another model: tensor b is float[0-9]* \[2,2\] there and float[0-9]* \[2,2\] here; start' err ||
	fail "the tensor is not named"

# The learners stop together, when one has asked for it.
cat >stop.py <<'END'
import os
import numpy as np
import starling
with starling.join(np.zeros(2), stop=True) as group:
    for t in group:
        if t == 3 and os.environ["STARLING_LEARNER"] == "2":
            group.stop()
        group.mean(np.ones(2) * t)
assert group.stopped and group.committed == 3, group.committed
END
run 0 --rounds 20 --verify --set metrics=aggregate -- "$python" stop.py
grep -q '^stopped after round 3 of 20 by agreement$' out && grep -q '3 of 3 rounds, all exact' out || fail "no agreed end"
run 1 --rounds 2 -- "$python" stop.py
grep -q 'join(stop=...) needs the setting metrics: aggregate at all learners: --set metrics=aggregate' out || fail "no remedy"
! grep -qE '^ +1 ' out || fail "it is said after a round only"
run 1 --set metrics=aggregate -- "$python" -c "
import os, numpy, starling
with starling.join(numpy.zeros(2), stop=os.environ['STARLING_LEARNER'] == '2') as group:
    for t in group:
        group.mean(numpy.ones(2))"
grep -q '^starling launch: .* the averaged metric stop, which stop= of starling.join adds, is' err || fail "stop= is not named"
! grep -q '^starling launch: .*tolerance' err || fail "a wrong cause is named"
run 0 --rounds 100 --set metrics=aggregate -- "$python" "$PYTHONPATH/examples/early_stop.py"
grep -q '^stopped after round [0-9]* of 100 by agreement$' out || fail "no early stop"
[ "$(sed -n 's/^learner-0[123]: the best of //p' out | sort -u | wc -l)" -eq 1 ] || fail "not the same best model"

# All weights are 0: each attempt fails, and the reason is said.
cat >weightless.py <<'END'
import os
import numpy as np
import starling
with starling.join(np.zeros(2)) as group:
    for t in group:
        group.mean(np.random.rand(2), weight=0)
END
"$starling" launch -n 3 --run-dir run-0 --set weighting=samples --set max_weight=9 -- "$python" weightless.py >out 2>err &
launcher=$!
deadline=$(($(date +%s) + 600)) # of a test that hangs
until grep -q 'the weights of all learners are 0: one at least must have a weight above 0' out; do
	[ "$(date +%s)" -lt $deadline ] || fail "no reason"
	sleep 0.1
done
until "$starling" status run-0 >said 2>&1; grep -q 'the weights of all learners are 0' said; do
	[ "$(date +%s)" -lt $deadline ] || fail "no reason in the status: $(cat said)"
	sleep 0.1
done
kill $launcher
wait $launcher || :

# A learner that averages other values is left out by the others, and named once, and at the end: it took part in no round, though it may
# have results of the others.
cat >odd.py <<'END'
import os, numpy, starling
odd = os.environ['STARLING_LEARNER'] == '4'
with starling.join(numpy.zeros(2), values='model' if odd else 'update') as group:
    for t in group:
        group.mean(numpy.ones(2))
END
rm -rf run
status=0
"$starling" launch -n 5 --rounds 3 --run-dir run -- "$python" odd.py >out 2>err || status=$?
[ $status -eq 1 ] || fail "status $status, not 1, with a learner that took part in no round"
grep -q '3 of 3 rounds' out || fail "the others do not go on"
grep -qE '^learner-04 \(4\) took part in no round: learner-0[0-9] .*: round 1 attempt [0-9]* leaves learners out: learner-0[0-9] \([0-9]\) averages ' out ||
	fail "the learner and the values are not named at the end"
[ "$(grep -c '^learner-0[0-9] ([0-9]) took part in no round' out)" -eq 1 ] || fail "another learner is named"
[ "$(grep -c '^learner-0[0-9] ([0-9]): round 1 .*leaves learners out: learner-0[0-9] ([0-9]) averages ' out)" -eq 1 ] || fail "it is not named once"

# Weights so large that updates keep few bits: the setting is named, with its number.
run 0 --rounds 3 --set weighting=samples --set max_weight=17592186044416 -- "$python" train.py
grep -q 'updates keep 1[0-9] bits below the ranges of their tensors: 3 times max_weight .*; set max_weight to [0-9]* or less at all' out ||
	fail "the bits that are missing are not named"

# A command that starts a session of its own is waited for.
run 0 --rounds 2 -- setsid "$python" train.py
grep -q '2 of 2 rounds' out || fail "not all rounds"

# Many tensors with long names.
cat >many.py <<'END'
import os
import numpy as np
import starling
me = int(os.environ["STARLING_LEARNER"])
model = {f"{i}." + "n" * (1016 if i < 2 else 30): np.full(1, 0.0, np.float32) for i in range(20000)}
with starling.join(model) as group:
    for t in group:
        mean = group.mean({name: np.float32(0.1) + part * 0 + me * i % 7 for i, (name, part) in enumerate(model.items())})
        assert all(abs(part - 0.1 - sum(one * i % 7 for one in (1, 2, 3)) / 3) < 0.05 for i, part in enumerate(mean.values())), mean
assert len(starling.load(os.environ["STARLING_RUN_DIR"] + "/learner-01/state/checkpoints/latest.safetensors", like=model)) == 20000
END
run 0 --rounds 2 --verify -- "$python" many.py
grep -q 'all exact' out || fail "not exact"

# No quorum has the same model: no wait helps, and the run ends.
cat >unlike.py <<'END'
import os
import numpy as np
import starling
with starling.join(np.zeros(int(os.environ["STARLING_LEARNER"]))) as group:
    for t in group:
        group.mean(group.model if t > 1 else np.ones(int(os.environ["STARLING_LEARNER"])))
END
run 1 -- "$python" unlike.py
grep -q '^starling launch: .* trains another model: tensor .* start the same program at all learners' err || fail "the tensor is not named"

# One mistake in the program is shown once.
cat >mistake.py <<'END'
import glob
import os
import signal
import time
import numpy as np
import starling
signal.signal(signal.SIGTERM, signal.SIG_IGN)  # all three come to the mistake
print("begun", flush=True)
open(f"begun-{os.environ['STARLING_LEARNER']}", "w").close()
with starling.join(np.zeros(2)) as group:
    for t in group:
        while len(glob.glob("begun-*")) < 3:
            time.sleep(0.05)
        group.mean(np.ones(2) * group.no_such_thing)
END
run 1 -- "$python" mistake.py
[ "$(grep -c 'Traceback' out)" -eq 1 ] || fail "not one traceback"
[ "$(grep -c 'no_such_thing' out)" -eq 2 ] || fail "the traceback is not whole"
grep -q '^(the same at learners [123] and [123])$' out || fail "the others are not named"
[ "$(grep -c '^learner-0[123]: begun' out)" -eq 3 ] || fail "other lines are not shown for each learner"

# A value that cannot be encoded is named by tensor and place; what a command leaves behind is ended with it.
cat >diverge.py <<'END'
import subprocess
import numpy as np
import starling
for session in (False, True):
    child = subprocess.Popen(["sleep", "1000"], start_new_session=session)
    open(f"child-{child.pid}", "w").close()
with starling.join({"w": np.zeros((2, 2))}) as group:
    for t in group:
        group.mean({"w": np.array([[0, 0], [0, np.nan]])})
END
run 1 --rounds 5 -- "$python" diverge.py
grep -q 'w\[1,1\] is not a finite number: the training has diverged' out || fail "the place is not named"
expect_ended

# A program that needs fewer rounds than the run has: the number is named.
cat >two.py <<'END'
import numpy as np
import starling
with starling.join({"w": np.zeros(2)}) as group:
    for t in group:
        group.mean({"w": np.zeros(2)})
        if t == 2:
            break
END
run 1 --rounds 5 -- "$python" two.py
grep -q 'the command of learner-0[123] ended after round 2 of 5 (if it needs no more: --rounds 2); its output is in run/learner-' err || fail "no number of rounds"
run 0 --rounds 2 -- "$python" two.py

# A program that does not end after the last round: an interrupt ends it, and there is nothing to continue.
cat >stays.py <<'END'
import signal, time
import numpy as np
import starling
signal.signal(signal.SIGTERM, signal.SIG_IGN)
with starling.join({"w": np.zeros(2)}) as group:
    for t in group:
        group.mean({"w": np.zeros(2)})
print("stays", flush=True)
time.sleep(1000)
END
rm -rf run
"$starling" launch -n 3 --rounds 2 --run-dir run -- "$python" stays.py >out 2>err &
launcher=$!
until [ "$(grep -c ': stays$' out)" -eq 3 ]; do sleep 0.1; done
until grep -q '^waits for the program of learner-01 (pid [1-9][0-9]*) and 2 more: no round follows, and it has not ended; Ctrl-C ends it$' out; do sleep 0.1; done
kill -INT $launcher
status=0
wait $launcher || status=$?
[ $status -eq 130 ] || fail "an interrupted run ends with $status"
has out '2 of 2 rounds, all the same'
! grep -q 'to continue' out || fail "a run of all rounds is to be continued"

# The privacy budget has room for two rounds. A run that is resumed then ends at once, though its learners may end
# before the launcher hears them, and before their programs have joined.
cat >noisy.py <<'END'
import numpy as np
import starling
with starling.join({"w": np.zeros(2)}) as group:
    for t in group:
        group.mean({"w": np.ones(2)})
END
run 0 --rounds 5 --set dp=learner --set dp_clip=1 --set dp_noise=2 --set dp_epsilon=1.6 --set dp_delta=0.01 -- "$python" noisy.py
grep -q '^stopped after round 2 of 5 as a privacy budget is spent$' out || fail "not two rounds: $(cat out)"
ends 1 launch --resume run -- "$python" noisy.py
grep -q '^stopped after round 2 of 5 as a privacy budget is spent$' out || fail "the spent budget is not told: $(cat out err)"
! grep -q 'again' out err || fail "a learner without a budget is started again"

# The variables of an outer learner are replaced.
rm -f child-*
STARLING_LEARNER=9 run 1 -- sh -c '(trap "" TERM; exec sleep 1000) & touch child-$!; env | grep STARLING_LEARNER=; exit 3'
grep -q '^learner-0[123]: STARLING_LEARNER=[123]$' out || fail "a variable is missing"
! grep -q 'STARLING_LEARNER=9' out || fail "a variable is there twice"
expect_ended

# Commands of a launcher that is killed are ended.
rm -rf run child-*
"$starling" launch -n 3 --run-dir run -- sh -c 'sleep 1000 & touch child-$!; setsid sleep 1000 & touch child-$!; wait' >out 2>err &
launcher=$!
while [ "$(find . -maxdepth 1 -name 'child-*' | wc -l)" -lt 6 ]; do sleep 0.1; done
until "$starling" status run >seen 2>&1 || grep -q 'waits for its first program on /.*run/learner-01/.*application.sock' seen; do sleep 0.1; done
grep -q '3 learners: 3 waiting' seen || fail "status does not name the first program: $(cat seen)"
kill -9 $launcher
for child in child-*; do
	while :; do
		case $(ps -o stat= -p "${child#child-}") in '' | Z*) break ;; esac
		sleep 0.1
	done
done

# The learners start the command themselves.
run 0 --rounds 2 --verify --set trainer=exec --set command="X='a b' $python train.py"
grep -q 'all exact' out || fail "not exact"
grep -q '^learner-02: the end of 2$' out || fail "no output of the command"
run 2 --set trainer=exec
grep -q 'trainer: exec needs `command`' err || fail "the missing command is not asked for"

# A program that fails in each round, as with values that are not finite, is named by all other learners.
cat >diverges.py <<'END'
import os
import numpy as np
import starling
with starling.join({"w": np.zeros(2)}) as group:
    for t in group:
        group.mean({"w": np.full(2, np.nan if os.environ["STARLING_LEARNER"] == "2" and t == 2 else 1.0)})
END
rm -rf run
"$starling" launch -n 3 --rounds 5 --run-dir run --set trainer=exec --set command="$python diverges.py" >out 2>err &
launcher=$!
for i in 1 3; do
	until grep -q '"event":"waiting".*learner-02 (2) to train again, for the last model could not be used' run/learner-0$i/log.jsonl 2>/dev/null; do sleep 0.1; done
done
until
	"$starling" status run >seen 2>&1 || :
	[ "$(grep -c 'learner-02 (2) to train again' seen)" -eq 2 ]
do sleep 0.1; done
kill -INT $launcher
wait $launcher || :
has out 'w[0] is not a finite number: the training has diverged'
