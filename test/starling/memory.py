"""The memory of learners in `starling simulate`: memory.py STARLING [--nightly]

What a learner keeps of each other participant decides how large a group one machine can simulate, and what a
learner of it needs. Memory does not depend on the load of the machine; what is bounded is the peak of the process.
"""

import os
import subprocess
import sys


def peak(starling, learners, rounds, parameters):
    """Return the peak of resident bytes of a simulation of small models."""
    usual = {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}  # it writes to memory that nobody uses
    run = subprocess.Popen([starling, "simulate", f"--learners={learners}", f"--rounds={rounds}", "--set=trainer=noise",
                            f"--set=noise_parameters={parameters}"], stdout=subprocess.PIPE, text=True, env=usual)
    text = run.stdout.read()
    _, status, usage = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    assert run.returncode == 0 and f"{rounds} of {rounds} round" in text, text
    print(f"{learners} learners: {usage.ru_maxrss / 1024 / learners:.2f} MiB each", flush=True)
    return usage.ru_maxrss * 1024


def each_participant(starling, step):
    """Return what a learner keeps of each participant: N^2 takes that; what a learner takes for itself is linear."""
    one, two, three = (peak(starling, learners, 2, 10) for learners in (step, 2 * step, 3 * step))
    return (three - 2 * two + one) / (2 * step**2)


def main():
    starling = sys.argv[1]
    if "--nightly" in sys.argv:
        for learners, most in (1000, 4e9), (2000, 12e9):
            used = peak(starling, learners, 1, 1000)
            assert used <= most, f"{learners} learners take {used / 1e9:.2f} GB"
        return
    used = each_participant(starling, 120)
    print(f"{used:.0f} bytes for each participant")
    assert used <= 4000, f"a learner keeps {used:.0f} bytes for each participant"


main()
