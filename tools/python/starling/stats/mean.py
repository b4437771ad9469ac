"""The commands `starling mean`, `sum`, `count` and `histogram`; see starling-mean(1)."""
from __future__ import annotations

import argparse
import math
import os
import re
import sys
from typing import Any

import numpy as np

from starling.stats import command
from starling.stats import noisy
from starling.stats.csv import Numbers
from starling.stats.sums import InputError
from starling.stats.totals import KINDS, Answer, Own, Question, ask

VALUE = "\0"  # no argument has it
ABOUT = dict(zip(KINDS, (
    ("Compute the exact mean over the numbers of all learners.",
     "mean --local 21.5 19.0 23.2", "mean 21.5", "mean --csv patients.csv --column age", "mean --npy gradient.npy --output mean.npy"),
    ("Compute the exact sum of the numbers of all learners.",
     "sum --local 120 80.5 99.25", "sum --column kWh 12.75", "sum --csv meter.csv --column kWh --separator ';' --dry-run"),
    ("Count how often all learners give each category.",
     "count --categories yes,no,abstain --local yes no yes", "count yes --categories yes,no,abstain",
     "count --csv survey.csv --column answer --categories yes,no"),
    ("Count how many values of all learners fall into each bin. Values outside the bins are counted below and above them.",
     "histogram --bins 0,10,20,30 --local 5 17 25 31", "histogram --bins 0,18,65 --csv patients.csv --column age"))))
END = """
Each learner gives its own numbers to its own starlingd (trainer: application), and all get the same result, exact without
--epsilon. No learner sees the numbers of another one. The question must be the same everywhere: command, --column, categories,
bins. Missing values of a file are skipped. The result goes to standard output; the numbers of learners and rows, to standard error.
Exit status: 0 the result is printed; 1 the round failed; 2 wrong usage or input. See starling-mean(1)."""


# ---- the command line ----

class Take(argparse.Action):
    """Add (kind, text) to the inputs, in their order."""

    def __call__(self, parser: Any, o: argparse.Namespace, values: Any, option: str | None = None) -> None:
        texts = [values] if isinstance(values, str) else values
        o.inputs = o.inputs + [(self.const, text.lstrip(VALUE)) for text in texts]


def parser(kind: str) -> command.Parser:
    """Return the parser of a command."""
    about, *examples = ABOUT[kind]
    listed = "".join(f"  starling {example}\n" for example in examples)
    p = command.Parser(prog=f"starling {kind}", usage="%(prog)s [OPTION...] VALUE...", description=about,
                       epilog=f"Examples:\n{listed}{END}")
    p.set_defaults(inputs=[], categories=None, bins=None, output=None, range=None)
    p.add_argument("values", metavar="VALUE", nargs="*", action=Take, const="value", help="a value of this learner")
    add = p.add_argument_group("the question, the same at all learners").add_argument
    if kind == "count":
        add("--categories", metavar="A,B,...", help="all categories, in the same order at all learners")
    if kind == "histogram":
        add("--bins", metavar="EDGE,EDGE,...", help="edges of the bins, rising; a value on an edge is in the upper bin")
    add("--column", metavar="NAME", help="the column; without a file, the name of the question")
    add = p.add_argument_group("this learner").add_argument
    add("--csv", metavar="FILE", action=Take, const="csv", help="take a column of this file, whose first line has the names")
    if kind in ("mean", "sum"):
        add("--npy", metavar="FILE", action=Take, const="npy", help="take a numpy array: element by element")
        add("-o", "--output", metavar="FILE.npy", help="write the resulting array to this file")
    add = p.add_argument_group("differential privacy, the same at all learners; their daemons have the setting dp").add_argument
    add("--epsilon", metavar="E", type=float, help="ask for a result with noise, which spends at most this epsilon")
    add("--delta", metavar="D", type=float, help="with this delta")
    if kind in ("mean", "sum"):
        add("--range", metavar=("LOW", "HIGH"), nargs=2, help="values outside count as its ends; choose it without looking at the data")
    add = p.add_argument_group("files, and this learner").add_argument
    command.add_options(add, "show how the files are understood and what is given, and share nothing",
                        "run a learner for each value or file, on this machine, to try it out")
    return p


def marked(arguments: list[str]) -> list[str]:
    """Return the arguments with VALUE before negative numbers and all that follows "--": argparse then takes them for values."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return [VALUE + word if re.match(r"-[\d.]", word) else word for word in arguments[:end]] + [VALUE + word for word in arguments[end + 1:]]


def check(kind: str, o: argparse.Namespace) -> None:
    """Raise InputError if the options do not fit together."""
    if kind == "count" and o.categories is None:
        raise InputError("name all categories: --categories yes,no,abstain")
    if kind == "histogram" and o.bins is None:
        raise InputError("name the edges of the bins: --bins 0,10,20,30")
    if not o.inputs:
        raise InputError(f"give a value or --csv FILE; see 'starling {kind} --help'")
    if o.output is not None and not any(name == "npy" for name, _ in o.inputs):
        raise InputError("--output is for the array of --npy")
    if o.output is not None and not o.dry_run:
        check_output(o.output)
    check_privacy(kind, o)
    if o.local:
        command.check_local(o, o.inputs, "values, one for each learner: of two learners, each could subtract its own value from the sum")


def check_output(path: str) -> None:
    """Raise InputError if the file cannot be written: a question is asked once, and its answer would be lost."""
    there = os.path.lexists(path)
    if there and not os.path.isfile(path) and not os.path.isdir(path):
        return  # a pipe would wait for its reader, and lose it
    try:
        open(path, "ab").close()
        if not there:
            os.unlink(path)
    except OSError as flaw:
        raise InputError(f"--output {path}: {flaw.strerror}") from None


def check_privacy(kind: str, o: argparse.Namespace) -> None:
    """Raise InputError if the options of differential privacy do not fit together."""
    if (o.epsilon is None) != (o.delta is None):
        raise InputError("--epsilon and --delta: give both, or none")
    if o.epsilon is None:
        if o.range is not None:
            raise InputError("--range is for --epsilon and --delta")
        return
    noisy.Budget(o.epsilon, o.delta).check()
    if kind in ("mean", "sum") and o.range is None:
        raise InputError(f"--epsilon needs --range LOW HIGH, such as --range 0 120: without it a single value could move the {kind} by any amount, and "
                         "no noise would hide it")
    if o.range is not None:
        plain = [Numbers(thousands="").plain(word.lstrip(VALUE)) for word in o.range]
        o.range = tuple(float(word) if word is not None else float("nan") for word in plain)
        if not o.range[0] < o.range[1]:
            raise InputError("--range has two numbers, the lower one first")
        if not math.isfinite(o.range[1] - o.range[0]):
            raise InputError("--range is wider than numbers can be: choose a narrower one")


# ---- inputs ----

def gather(kind: str, o: argparse.Namespace, question: Question, inputs: list[tuple[str, str]]) -> Own:
    """Return what a learner gives. InputError: an input cannot be used."""
    own = Own(question) if o.epsilon is None else noisy.Rows(question, o.range)
    for name, text in inputs:
        before = own.skipped
        if name == "csv":
            data = command.read(o, text, empty=True)
            command.show(o, data, [question.column or ""])
            own.add_file(data)
        elif name == "npy":
            own.add_array(text)
        else:
            own.add_typed(text, Numbers(o.decimal or ".", o.thousands or ""))
        skipped = own.skipped - before
        if skipped:
            print(f"starling {kind}: {text}: {skipped} missing value{'' if skipped == 1 else 's'} skipped", file=sys.stderr)
    if isinstance(own, noisy.Rows) and own.outside > 0:
        print(f"starling {kind}: {own.outside} value{'s are' if own.outside > 1 else ' is'} outside the range and count{'' if own.outside > 1 else 's'} as its end",
              file=sys.stderr)
    if o.dry_run:
        print(f"{', '.join(text for _, text in inputs)}: would give {own}", file=sys.stderr)
    return own


def check_forms(o: argparse.Namespace, owns: list[Own]) -> None:
    """Raise InputError unless the learners of --local give arrays of one shape, or none."""
    for (_, text), own in zip(o.inputs, owns):
        if own.form != owns[0].form:
            raise InputError(f"{o.inputs[0][1]} gives {owns[0].form}, and {text} {own.form}: all learners must give arrays of the same "
                             "shape, or none")


# ---- the answer ----

def put(o: argparse.Namespace, answer: Answer) -> None:
    """Print the answer, and who took part."""
    if o.output is not None and answer.array is not None:
        with open(o.output, "wb") as file:
            np.save(file, answer.array)
    if o.json or o.output is None:
        print(answer.json() if o.json else answer, flush=True)
    if not o.json:
        print(answer.notes, file=sys.stderr)


def told(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def run(kind: str, o: argparse.Namespace) -> int:
    check(kind, o)
    question = Question(kind, o.column, o.categories, o.bins)
    owns = [gather(kind, o, question, [one]) for one in o.inputs] if o.local else [gather(kind, o, question, o.inputs)]
    if o.dry_run:
        return 0
    def answer_of(place: int, socket: str, told: Any) -> Any:
        own = owns[place]
        return noisy.ask(own, socket, noisy.Budget(o.epsilon, o.delta), told) if isinstance(own, noisy.Rows) else ask(own, socket, told)

    if o.local:
        check_forms(o, owns)
        unit = "record" if any(name == "csv" for name, _ in o.inputs) else "learner"
        settings = {} if o.epsilon is None else {"dp": unit, "dp_clip": 1, "dp_epsilon": o.epsilon, "dp_delta": o.delta}
        answer = command.play(lambda socket, place: answer_of(place, socket, told if place == 0 else lambda text: None), len(owns), 1, **settings)
    else:
        socket = command.socket(o)
        if socket is None:
            raise InputError(command.NO_SOCKET + "values")
        answer = answer_of(0, socket, told)
    put(o, answer)
    return 0


def main(kind: str, arguments: list[str]) -> int:
    """Run the command `kind` of KINDS and return its exit status."""
    def act() -> int:
        o = parser(kind).parse_intermixed_args(marked(arguments))
        for name, value in vars(o).items():
            setattr(o, name, value.lstrip(VALUE) if isinstance(value, str) else value)
        return run(kind, o)
    return command.guard(f"starling {kind}", act)
