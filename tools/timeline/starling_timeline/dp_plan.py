"""The report of `starling dp plan`; see starling-dp(1). tools/starling/dp_plan.c reads the command line, finds noise and epsilon, and hands
them over as JSON on standard input; this adds what the noise does to a mean."""
from __future__ import annotations

import json
import math
import signal
import sys
from collections.abc import Iterable
from typing import Optional

from starling_timeline.command import document, guard
from starling_timeline.words import WIDTH_USUAL, fill, width_of

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


def main(_arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)

    def act() -> int:
        asked = json.load(sys.stdin)
        text = document(_answer(asked), DIGITS)
        print(text if asked["json"] else "\n".join(_lines(json.loads(text))), flush=True)
        return 0
    return guard(sys.argv[0], act)
