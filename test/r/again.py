"""starling_mean of R where a round comes again after its keys were sent: the same values, or an error."""
import os
import subprocess
import sys

try:
    from fake_learner import FakeLearner
except ImportError:
    print("numpy is not installed (Debian: python3-numpy): not tried")
    sys.exit(0)


def play(learner):
    learner.accept()
    learner.train(1, 0)
    learner.hear("trained")
    learner.train(1, 0, again=True)
    if learner.settings["repeatable"]:
        learner.hear("trained")
        learner.mean(1, learner.up)


def ask(repeatable):
    with FakeLearner(play) as learner:
        learner.settings = {"repeatable": repeatable}
        return subprocess.run(["Rscript", "-e", "cat(starling::starling_mean(7))"], env={**os.environ, "STARLING_SOCKET": learner.path},
                              capture_output=True, text=True, timeout=600)


done = ask(False)
assert done.returncode == 1 and "round 1 failed after keys were sent" in done.stderr and "membership_change: wait or cohort" in done.stderr, done
done = ask(True)
assert done.returncode == 0 and done.stdout == "7", done
