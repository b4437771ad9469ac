"""`starling dp plan`; see starling-dp(1). C finds noise and epsilon (tools/starling/dp_plan.c); this adds what the noise does to a mean."""
from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable
from typing import Optional

from starling_timeline.command import CommandError, Parser, ask, document, guard, real, whole
from starling_timeline.words import WIDTH_USUAL, fill, width_of

DESCRIPTION = """Plan a run with differential privacy: the noise that keeps epsilon at delta over all rounds, or the epsilon of
a noise, and what it does to the mean. The settings dp, dp_clip, dp_noise, dp_epsilon and dp_delta switch it
on; see starling-dp(7)."""
EPILOG = """A record (or a learner) is clipped to a norm. Each learner adds a share of the noise before its vector is
hidden, and the shares of the learners that do not collude suffice. z is the standard deviation of the noise
in one parameter, divided by the clip.

Sampling helps only if in each round each record is drawn at random, by itself, with the same probability,
batch / records.

Examples:
  starling dp plan -e 4 -d 1e-5 --rounds 100 --records 60000 --batch 256
  starling dp plan -z 1.1 -d 1e-5 --rounds 14062 --records 60000 --batch 256
  starling dp plan -e 1 -d 1e-6 --rounds 1 --unit learner -n 200 -p 20

Exit status: 0 done; 1 failed; 2 bad usage, or a target that no noise meets."""
LEARNERS_MOST, ROUNDS_MOST, FLOATS_MOST, RECORDS_MOST = 2000, 1000000, 1 << 30, (1 << 63) - 1
BITS_MOST = 61  # of a parameter
# Noise in clips. Rounds of a training average it; a single release does not.
POOR, USELESS, SINGLE = 2, 10, 0.1
DIGITS = 12  # of a number
EPSILON_LARGE = 10
COLUMNS = ((9, "z"), (10, "epsilon"), (12, "noise/clip"), (16, "in a parameter"), (6, "bits"))


# ---- the noise of a mean ----

def _single(answer: dict) -> float:
    return SINGLE if answer["rounds"] == 1 else 1


def _plan(asked: dict, plan: dict) -> dict:
    count = asked["learners"] if asked["unit"] == "learner" else asked["batch"]
    of_mean = plan["sigma_total"] * math.sqrt(asked["parameters"]) / plan["norm"] / count
    local = of_mean * math.sqrt(asked["learners"] - asked["tolerance"])
    bits = plan["bits"]
    verdict = ("impossible" if bits > BITS_MOST else "useless" if of_mean > USELESS * _single(asked) else
               "little is hidden" if plan["epsilon"] is None or plan["epsilon"] > EPSILON_LARGE else
               "poor" if of_mean > POOR * _single(asked) else "usable")
    return {"q": plan["q"], "noise": plan["noise"], "epsilon": plan["epsilon"], "epsilon_unsampled": plan["unsampled"],
            "granularity": plan["norm"] / math.sqrt(asked["parameters"]), "step": plan["step"], "sensitivity_steps": plan["sensitivity"],
            "sigma_steps": plan["sigma"], "noise_of_mean": of_mean * asked["clip"], "local_noise_of_mean": local * asked["clip"],
            "bits": bits, "verdict": verdict}


def _fewer_bits(asked: dict, bits: int) -> Optional[dict]:
    """Return a range that takes fewer bits than the last plan."""
    narrow = asked["range"]
    return narrow if narrow and narrow["bits"] < bits else None


def _answer(asked: dict) -> dict:
    """Return what --json prints."""
    plans = [_plan(asked, plan) for plan in asked["plans"]]
    return {"version": 1, **{name: asked[name] for name in ("unit", "delta", "clip", "rounds", "records", "batch", "learners", "tolerance", "parameters")},
            "plans": plans, "fewer_bits": _fewer_bits(asked, plans[-1]["bits"])}


# ---- the table ----

def _rounded_up(value: float) -> str:
    """Return four digits, rounded up."""
    unit = 10 ** (math.floor(math.log10(value)) - 3) if value > 0 else 1
    return f"{math.ceil(value / unit * (1 - 1e-12)) * unit:.4g}"


def _row(plan: dict, of_mean: float, one: float) -> str:
    sampling = f"Poisson, q {plan['q']:.3g}" if plan["q"] < 1 else "none"
    epsilon = "no bound" if plan["epsilon"] is None else _rounded_up(plan["epsilon"])
    cells = f"{plan['noise']:.4g}", epsilon, f"{of_mean:.3g}", f"{one:.3g}", str(plan["bits"])
    return f"  {sampling:<18}" + "".join(f"{cell:>{width}}" for cell, (width, _) in zip(cells, COLUMNS))


def _verdict(plan: dict, of_mean: float, hidden: str) -> Iterable[str]:
    lead = f"With{'' if plan['q'] < 1 else 'out'} sampling: {plan['verdict']}."
    digits = max(2, math.floor(math.log10(of_mean)) + 1) if of_mean > 0 else 2
    yield (f"{lead} A parameter takes at most {BITS_MOST} bits." if plan["bits"] > BITS_MOST
           else f"{lead} The noise of the mean is {of_mean:.{digits}g} times as long as a clipped {hidden}.")
    if plan["epsilon"] is None or plan["epsilon"] > EPSILON_LARGE:
        yield f"An epsilon above {EPSILON_LARGE} promises next to nothing."


def _last(answer: dict, of_mean: float) -> Iterable[str]:
    last = answer["plans"][-1]
    if of_mean > POOR * _single(answer):
        yield ("--unit record, more learners" if answer["unit"] == "learner" else "More records in a round") + ", fewer parameters or fewer rounds help."
    local = last["local_noise_of_mean"] / last["noise_of_mean"]
    yield f"Learners that each hide their data by themselves need noise {local:.1f} times as long."
    fewer = answer["fewer_bits"]
    if fewer is not None:
        yield (f"With clipping_range at {fewer['records']} times dp_clip, a parameter takes {fewer['bits']} bits. It cuts nothing if no learner takes "
               f"more than {fewer['records']} records in a round, twice the average.")
    if len(answer["plans"]) > 1 and last["epsilon_unsampled"] is None:
        yield f"If records are not drawn at random, z = {last['noise']:.4g} keeps no epsilon."
    elif len(answer["plans"]) > 1:
        yield (f"If records are not drawn at random, z = {last['noise']:.4g} spends epsilon {_rounded_up(last['epsilon_unsampled'])}, "
               f"not {_rounded_up(last['epsilon'])}.")


def _lines(answer: dict) -> Iterable[str]:
    learner, plans = answer["unit"] == "learner", answer["plans"]
    of_mean = [plan["noise_of_mean"] / answer["clip"] for plan in plans]
    yield (f"hidden: the vector of each learner; rounds: {answer['rounds']:,}" if learner else
           f"hidden: each of {answer['records']:,} records; rounds: {answer['rounds']:,}, with {answer['batch']:,} records each")
    yield (f"{answer['learners']} learners, of which {answer['tolerance']} may collude; {answer['parameters']:,} parameters; "
           f"delta {answer['delta']:g}; clip {answer['clip']:g}")
    yield f"  {'sampling':<18}" + "".join(f"{name:>{width}}" for width, name in COLUMNS)
    for plan, length in zip(plans, of_mean):
        yield _row(plan, length, plan["noise_of_mean"] / math.sqrt(answer["parameters"]))
    verdicts = [line for plan, length in zip(plans, of_mean) for line in _verdict(plan, length, "vector" if learner else "record")]
    yield from fill([*verdicts, *_last(answer, of_mean[-1])], width_of(sys.stdout) or WIDTH_USUAL)


# ---- the command ----

def _options() -> Parser:
    p = Parser(sys.argv[0], "", DESCRIPTION, EPILOG)
    p.add_argument("-e", "--epsilon", metavar="E", type=real("epsilon", 1000), help="epsilon to be kept: answer the noise")
    p.add_argument("-z", "--noise", metavar="Z", type=real("noise", 1e6), help="noise multiplier, sigma / clip: answer epsilon")
    p.add_argument("-d", "--delta", metavar="D", type=real("delta", 1), help="delta, below one in the number of records")
    p.add_argument("-T", "--rounds", metavar="T", type=whole("rounds", 1, ROUNDS_MOST), help="rounds of the run")
    p.add_argument("--records", metavar="N", type=whole("records", 1, RECORDS_MOST), default=0, help="records of all learners; required with --unit record")
    p.add_argument("--batch", metavar="B", type=whole("batch", 1, RECORDS_MOST), default=0,
                   help="records of all learners in a round (all)")
    p.add_argument("-n", "--learners", metavar="N", type=whole("learners", 2, LEARNERS_MOST), default=10, help="learners (10)")
    p.add_argument("-c", "--tolerance", metavar="C", type=whole("tolerance", 1, LEARNERS_MOST - 2), default=1,
                   help="how many learners may collude (1)")
    p.add_argument("-p", "--parameters", metavar="COUNT", type=whole("parameters", 1, FLOATS_MOST), default=50992,
                   help="parameters of a model (50992)")
    p.add_argument("--clip", metavar="C", type=real("clip", 1e30), default=1.0, help="norm to which a record is clipped, or a learner's vector (1)")
    p.add_argument("--unit", metavar="UNIT", default="record", help="what is hidden: record (the default) or learner")
    p.add_argument("--json", action="store_true", help="print JSON")
    return p


def _check(p: Parser, o: argparse.Namespace) -> None:
    learner = o.unit == "learner"
    hidden = o.learners if learner else o.records
    if o.unit not in ("record", "learner"):
        raise CommandError(f"--unit {o.unit}: must be record or learner")
    for wrong, text in ((bool(o.epsilon) == bool(o.noise), "give either --epsilon or --noise"), (not o.delta, "give --delta, such as 1e-5"),
                        (not o.rounds, "give --rounds"), (not learner and not o.records, "give --records, or --unit learner"),
                        (learner and o.records + o.batch > 0, "--unit learner has no --records and no --batch")):
        if wrong:
            p.error(text)
    if o.batch > o.records:
        raise CommandError(f"--batch {o.batch}: more than the {o.records} records")
    if o.tolerance + 2 > o.learners:
        raise CommandError(f"--tolerance {o.tolerance}: of {o.learners} learners at most {o.learners - 2} may collude")
    if o.delta >= 1 / hidden:
        raise CommandError(f"--delta {o.delta:g}: must be below one in {hidden}, the number of {'learners' if learner else 'records'}: a sum "
                           "that shows one of them whole would be allowed")


def _run(arguments: list[str]) -> int:
    p = _options()
    o = p.parse_args(arguments)
    _check(p, o)
    asked = {**vars(o), "batch": o.batch or o.records}
    asked.update(json.loads(ask("dp", "", **asked, learner=o.unit == "learner")))
    text = document(_answer(asked), DIGITS)
    print(text if o.json else "\n".join(_lines(json.loads(text))), flush=True)
    return 0


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    return guard(sys.argv[0], lambda: _run(arguments))
