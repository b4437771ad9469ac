"""The command `starling stats`: python3 -m starling.stats ANALYSIS ... FILE; see starling-stats(1)."""
from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from starling import stats
from starling.stats import command, mean
from starling.stats.command import USAGE, say
from starling.stats.glm import FAMILIES
from starling.stats.sums import SMALL

PROGRAM = "starling stats"
NOISY = ("describe", "crosstab")  # the analyses that can have noise
ROUNDS = 10_000  # of --local; a run ends when the result is there

EXAMPLES = """Examples:
  starling stats describe age,bmi data.csv
  starling stats glm 'died ~ age + sex' --levels sex=f,m --family binomial A.csv
  starling stats km 'Surv(days, died) ~ arm' --levels arm=a,b data.csv
  starling stats glm 'bmi ~ age' --local A.csv B.csv C.csv
  starling stats chi2 sex,smoker --levels sex=f,m --levels smoker=no,yes data.csv
  starling stats quantile age --resolution 1 --dry-run data.csv
"""
END = """
Every site gives the same command with its own file; all get the result of the pooled rows. The learner (trainer: application)
needs values: auto or model, quorum: all and some hundred rounds. The result goes to standard output, notes to standard error.
Exit status: 0 the result is printed; 1 the run failed, or the data of all sites allow no result; 2 wrong usage or input.
See starling-stats(1)."""


# ---- analyses ----

def _common(o: argparse.Namespace) -> dict[str, Any]:
    return {"threshold": o.small}


def _survival(o: argparse.Namespace) -> dict[str, Any]:
    return {"resolution": 1.0 if o.resolution is None else o.resolution, "until": o.until, "levels": o.levels, **_common(o)}


def _quantile(sums: stats.Sums, o: argparse.Namespace, data: stats.Columns) -> stats.Result:
    if o.resolution is None:
        raise stats.InputError("give the resolution of the quantiles, in the unit of the column: --resolution 0.1")
    return stats.quantiles(sums, o.what, data, o.resolution, [_number(part) for part in command.names(o.q)], **_common(o))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise stats.InputError(f"{text!r} is no number") from None


Analysis = Callable[[stats.Sums, argparse.Namespace, stats.Columns], stats.Result]
ANALYSES: dict[str, tuple[str, str, Analysis]] = {
    "describe": ("COLUMNS", "count, mean and variance of columns",
                 lambda s, o, data: stats.describe(s, command.names(o.what), data, privacy=o.privacy, ranges=o.range, **_common(o))),
    "quantile": ("COLUMN", "quantiles of a column, to --resolution", _quantile),
    "crosstab": ("COLUMNS", "counts of the categories of one column or two",
                 lambda s, o, data: stats.crosstab(s, command.names(o.what), data, o.levels, small=o.cells, privacy=o.privacy, **_common(o))),
    "corr": ("COLUMNS", "correlation matrix", lambda s, o, data: stats.correlation(s, command.names(o.what), data, **_common(o))),
    "pca": ("COLUMNS", "principal components",
            lambda s, o, data: stats.pca(s, command.names(o.what), data, not o.covariance, **_common(o))),
    "ttest": ("FORMULA", "t-test of the means of two groups: 'age ~ sex'",
              lambda s, o, data: stats.ttest(s, o.what, data, o.levels, o.equal_var, o.confidence, **_common(o))),
    "chi2": ("COLUMNS", "chi-squared test of two columns",
             lambda s, o, data: stats.chi2(s, command.names(o.what), data, o.levels, not o.no_correction, small=o.cells, **_common(o))),
    "glm": ("FORMULA", "linear, logistic or Poisson regression: 'y ~ age + sex'",
            lambda s, o, data: stats.glm(s, o.what, data, o.family, o.levels, o.exposure, o.confidence, **_common(o))),
    "km": ("FORMULA", "Kaplan-Meier estimate: 'Surv(time, event) ~ sex', or '~ 1'",
           lambda s, o, data: stats.kaplan_meier(s, o.what, data, confidence=o.confidence, **_survival(o))),
    "logrank": ("FORMULA", "log-rank test: 'Surv(time, event) ~ sex'",
                lambda s, o, data: stats.logrank(s, o.what, data, **_survival(o))),
    "cox": ("FORMULA", "Cox regression: 'Surv(time, event) ~ age + sex'",
            lambda s, o, data: stats.cox(s, o.what, data, confidence=o.confidence, **_survival(o))),
}


class DryRun(Exception):
    """The own data can be used; nothing was shared."""


class Nothing(stats.Sums):
    """Sums of a dry run: it ends where the group would be joined."""

    def agree(self, question: str) -> NoReturn:
        raise DryRun

    def noisy(self, *question: Any) -> NoReturn:
        raise DryRun


# ---- the command line ----

def _levels(text: str) -> tuple[str, list[str]]:
    name, equals, words = text.partition("=")
    if not equals or len(command.names(words)) < 2:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form sex=f,m")
    return name.strip(), command.names(words)


def _range(text: str) -> tuple[str, tuple[float, float]]:
    name, equals, ends = text.partition("=")
    try:
        low, high = map(float, ends.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form age=0,120") from None
    return name.strip(), (low, high)


def check_privacy(o: argparse.Namespace) -> None:
    """Set o.privacy. InputError: the options do not fit together, or the analysis has no form with noise."""
    if (o.epsilon is None) != (o.delta is None):
        raise stats.InputError("--epsilon and --delta: give both, or none")
    o.range, o.privacy = dict(o.range), None if o.epsilon is None else (o.epsilon, o.delta)
    if (o.privacy or o.range) and o.analysis not in NOISY:
        raise stats.InputError(f"{o.analysis} has no form with noise, only {' and '.join(NOISY)}: its result from noisy sums would be wrong without a sign")


def parser() -> command.Parser:
    """Return the parser of the command line."""
    listed = "\n".join(f"  {name:<9} {what:<8} {text}" for name, (what, text, _) in ANALYSES.items())
    p = command.Parser(prog=PROGRAM, usage="%(prog)s ANALYSIS WHAT [OPTION...] FILE",
               description="Compute statistics over the rows of all sites; no site sees a row of another one.\n\n"
               f"Analyses:\n{listed}\n", epilog=EXAMPLES + END)
    p.add_argument("analysis", metavar="ANALYSIS", choices=list(ANALYSES), help="one of those above")
    p.add_argument("what", metavar="WHAT", help="columns, separated by commas, or a formula")
    p.add_argument("files", metavar="FILE", nargs="+", help="the data of this site: separated values, plain or .gz")
    add = p.add_argument_group("the analysis, the same at all sites").add_argument
    add("--levels", metavar="NAME=A,B", type=_levels, action="append", default=[], help="categories of a column of words; the first is the reference")
    add("--family", choices=FAMILIES, help="of glm: linear (gaussian, the default unless the outcome has two values), logistic or Poisson regression")
    add("--exposure", metavar="NAME", help="of a Poisson regression: column of person-years")
    add("--resolution", metavar="R", type=float, help="of quantiles and times: their grid, in the unit of the column (times: 1)")
    add("--until", metavar="T", type=float, help="of survival: follow all rows until this time")
    add("-q", metavar="Q,Q,...", default="0.25,0.5,0.75", help="quantiles (%(default)s)")
    add("--confidence", metavar="C", type=float, default=0.95, help="of intervals (%(default)s)")
    add("--equal-var", action="store_true", help="of ttest: Student's test in place of Welch's")
    add("--no-correction", action="store_true", help="of chi2: no continuity correction for two by two")
    add("--covariance", action="store_true", help="of pca: columns as they are, not scaled")
    add("--small", metavar="N", type=int, default=SMALL, help="refuse counts of fewer rows (%(default)s)")
    add("--merge", dest="cells", action="store_const", const="merge", default="refuse", help="of tables: merge categories with small counts")
    add = p.add_argument_group("differential privacy of describe and crosstab, the same at all sites").add_argument
    add("--epsilon", metavar="E", type=float, help="one round with noise, which spends at most this epsilon; the learners need dp: record and rounds: 1")
    add("--delta", metavar="D", type=float, help="with this delta")
    add("--range", metavar="NAME=LOW,HIGH", type=_range, action="append", default=[], help="of describe: values outside count as its ends")
    add = p.add_argument_group("this site").add_argument
    command.add_options(add, "show how the file is understood, and share nothing",
                        "play all sites on this machine: one for each FILE, at least three")
    return p


def mentioned(o: argparse.Namespace, data: stats.Columns) -> list[str]:
    """Return the columns that the analysis mentions, for a preview."""
    return [name for name in data.names if name in o.what or name == o.exposure]


# ---- one site ----

def check(o: argparse.Namespace, path: str) -> stats.Columns:
    """Return the columns of `path` if the analysis can use them; InputError if not. Nothing is shared."""
    data = command.read(o, path)
    command.show(o, data, mentioned(o, data))
    nothing = Nothing()
    try:
        ANALYSES[o.analysis][2](nothing, o, data)
    except DryRun:
        if nothing.own_dropped > 0:
            print(f"{path}: {nothing.own_rows} rows are used, {nothing.own_dropped} have a missing value", file=sys.stderr)
        return data
    raise AssertionError("an analysis did not begin with agree")


def answer(o: argparse.Namespace, result: stats.Result) -> str:
    return json.dumps({"analysis": o.analysis, **result.as_dict()}) if o.json else str(result)


def analyse(o: argparse.Namespace, path: str, data: stats.Columns, shown: bool = True) -> stats.Result:
    """Take part on the socket `path`; `shown`: tell which round it is, and what it waits for."""
    with stats.Sums(path, on_round=(lambda t: say(f"round {t}")) if shown else None, on_wait=say if shown else None) as sums:
        return ANALYSES[o.analysis][2](sums, o, data)


def run(o: argparse.Namespace) -> int:
    if not o.local and len(o.files) > 1:
        return command.fail(PROGRAM, f"unexpected file {o.files[1]}: a site has one file; --local plays a site for each", USAGE)
    if o.small < 1 or not 0 < o.confidence < 1:
        return command.fail(PROGRAM, "--small is a number from 1, --confidence one between 0 and 1", USAGE)
    if o.local:
        command.check_local(o, o.files, "files, one for each site: of two sites, each could subtract its own sums from the total")
    check_privacy(o)
    data = [check(o, path) for path in o.files]
    if o.dry_run:
        return 0
    try:
        if o.local:
            settings = {} if o.privacy is None else {"dp": "record", "dp_clip": 1, "dp_epsilon": o.epsilon, "dp_delta": o.delta}
            result = command.play(lambda socket, place: analyse(o, socket, data[place], place == 0), len(data), ROUNDS if o.privacy is None else 1,
                                  topology="complete", quorum="all", **settings)
        else:
            socket = command.socket(o)
            if socket is None:
                return command.fail(PROGRAM, command.NO_SOCKET + "files", USAGE)
            result = analyse(o, socket, data[0])
    finally:
        say("")
    print(answer(o, result), flush=True)
    return 0


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status. The program starling names it by sys.argv[0]: `starling mean`, or this one."""
    kind = sys.argv[0].removeprefix("starling ")
    if kind in mean.KINDS:
        return mean.main(kind, arguments)

    def act() -> int:
        o = parser().parse_intermixed_args(arguments)
        o.levels = dict(o.levels)
        return run(o)
    return command.guard(PROGRAM, act)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
