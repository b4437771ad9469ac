"""The command `starling stats`: python3 -m starling.stats ANALYSIS ... FILE; see starling-stats(1).

`starling stats` sets STARLING_PROGRAM to itself, which --local starts as `STARLING_PROGRAM launch`. The learners of --local find
their file by STARLING_LEARNER, and the first one writes the result into STARLING_RUN_DIR."""
from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from starling import Error, Refused, stats
from starling.stats.csv import MISSING
from starling.stats.glm import FAMILIES
from starling.stats.sums import SMALL

FAILED, USAGE = 1, 2
SITES_LEAST = 3
ROUNDS = 10_000  # of --local; a run ends when the result is there
LOOK_SECONDS = 0.05
PICK = "--pick"  # of a learner of --local: take the file of the learner's number

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

def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _common(o: argparse.Namespace) -> dict[str, Any]:
    return {"threshold": o.small}


def _survival(o: argparse.Namespace) -> dict[str, Any]:
    return {"resolution": o.resolution or 1.0, "until": o.until, "levels": o.levels, **_common(o)}


def _quantile(sums: stats.Sums, o: argparse.Namespace, data: stats.Columns) -> stats.Result:
    if o.resolution is None:
        raise stats.InputError("give the resolution of the quantiles, in the unit of the column: --resolution 0.1")
    return stats.quantiles(sums, o.what, data, o.resolution, [_number(part) for part in _names(o.q)], **_common(o))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise stats.InputError(f"{text!r} is no number") from None


Analysis = Callable[[stats.Sums, argparse.Namespace, stats.Columns], stats.Result]
ANALYSES: dict[str, tuple[str, str, Analysis]] = {
    "describe": ("COLUMNS", "count, mean and variance of columns",
                 lambda s, o, data: stats.describe(s, _names(o.what), data, **_common(o))),
    "quantile": ("COLUMN", "quantiles of a column, to --resolution", _quantile),
    "crosstab": ("COLUMNS", "counts of the categories of one column or two",
                 lambda s, o, data: stats.crosstab(s, _names(o.what), data, o.levels, small=o.cells, **_common(o))),
    "corr": ("COLUMNS", "correlation matrix", lambda s, o, data: stats.correlation(s, _names(o.what), data, **_common(o))),
    "pca": ("COLUMNS", "principal components",
            lambda s, o, data: stats.pca(s, _names(o.what), data, not o.covariance, **_common(o))),
    "ttest": ("FORMULA", "t-test of the means of two groups: 'age ~ sex'",
              lambda s, o, data: stats.ttest(s, o.what, data, o.levels, o.equal_var, o.confidence, **_common(o))),
    "chi2": ("COLUMNS", "chi-squared test of two columns",
             lambda s, o, data: stats.chi2(s, _names(o.what), data, o.levels, not o.no_correction, small=o.cells, **_common(o))),
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


# ---- the command line ----

class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sys.exit(fail(f"{message}; see 'starling stats --help'", USAGE))


def _levels(text: str) -> tuple[str, list[str]]:
    name, equals, words = text.partition("=")
    if not equals or len(_names(words)) < 2:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form sex=f,m")
    return name.strip(), _names(words)


def parser() -> Parser:
    """Return the parser of the command line."""
    listed = "\n".join(f"  {name:<9} {what:<8} {text}" for name, (what, text, _) in ANALYSES.items())
    p = Parser(prog="starling stats", formatter_class=argparse.RawDescriptionHelpFormatter, usage="%(prog)s ANALYSIS WHAT [OPTION...] FILE",
               description="Compute statistics over the rows of all sites; no site sees a row of another one.\n\n"
               f"Analyses:\n{listed}\n", epilog=EXAMPLES + END)
    p.add_argument("analysis", metavar="ANALYSIS", choices=list(ANALYSES), help="one of those above")
    p.add_argument("what", metavar="WHAT", help="columns, separated by commas, or a formula")
    p.add_argument("files", metavar="FILE", nargs="+", help="the data of this site: separated values, plain or .gz")
    add = p.add_argument_group("the analysis, the same at all sites").add_argument
    add("--levels", metavar="NAME=A,B", type=_levels, action="append", default=[], help="categories of a column of words; the first is the reference")
    add("--family", choices=FAMILIES, default="gaussian", help="of glm: linear, logistic or Poisson regression")
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
    add = p.add_argument_group("this site").add_argument
    add("--separator", metavar="C", help="between fields: ',', ';' or tab; found if not given")
    add("--decimal", choices=".,", help="decimals follow this; found if not given")
    add("--thousands", metavar="C", help="between groups of three digits")
    add("--encoding", metavar="NAME", help="of the file; UTF-8, UTF-16 or Latin-1 is found")
    add("--missing", metavar="WORD,...", help=f"words for a missing value, beside an empty field ({','.join(MISSING[1:])})")
    add("--dry-run", action="store_true", help="show how the file is understood, and share nothing")
    add("--socket", metavar="PATH", help="socket of the learner ($STARLING_SOCKET)")
    add("--local", action="store_true", help="play all sites on this machine: one for each FILE, at least three")
    add("--json", action="store_true", help="print JSON")
    add(PICK, action="store_true", help=argparse.SUPPRESS)
    return p


def read(o: argparse.Namespace, path: str) -> stats.Columns:
    """Return the columns of the file."""
    missing = MISSING if o.missing is None else ("", *_names(o.missing))
    separator = "\t" if o.separator in ("tab", "\\t") else o.separator
    return stats.read(path, separator, o.decimal, o.thousands, o.encoding, missing)


def mentioned(o: argparse.Namespace, data: stats.Columns) -> list[str]:
    """Return the columns that the analysis mentions, for a preview."""
    return [name for name in data.names if name in o.what or name == o.exposure]


def fail(text: str, status: int) -> int:
    """Print an error in one line and return the exit status."""
    print("starling stats: " + " ".join(text.split("\n")), file=sys.stderr)
    return status


def say(text: str) -> None:
    """Show `text` on a terminal, in place of what was shown last."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


# ---- one site ----

def check(o: argparse.Namespace, path: str, show: bool) -> stats.Columns:
    """Return the columns of `path` if the analysis can use them; InputError if not. Nothing is shared."""
    data = read(o, path)
    if show:
        print(data.preview(mentioned(o, data)), file=sys.stderr)
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


def site(o: argparse.Namespace) -> int:
    """Take part with one file, and print the result."""
    data = check(o, o.files[0], sys.stderr.isatty() or o.dry_run)
    if o.dry_run:
        return 0
    if not (o.socket or os.environ.get("STARLING_SOCKET")):
        return fail("no learner is named: give the socket of yours with --socket PATH or STARLING_SOCKET, or try the command with "
                    "--local and at least 3 files", USAGE)

    try:
        with stats.Sums(o.socket, on_round=lambda t: say(f"round {t}"), on_wait=say) as sums:
            result = ANALYSES[o.analysis][2](sums, o, data)
    finally:
        say("")
    print(answer(o, result), flush=True)
    return 0


# ---- all sites on this machine ----

def learner(o: argparse.Namespace) -> int:
    """Be a learner of --local: give the result, or the error, to the first process by a file."""
    number, folder = os.environ["STARLING_LEARNER"], Path(os.environ["STARLING_RUN_DIR"])
    status, text = 0, ""
    try:
        with stats.Sums() as sums:
            text = answer(o, ANALYSES[o.analysis][2](sums, o, read(o, o.files[int(number) - 1])))
    except (Error, Refused, stats.InputError) as failure:
        status, text = FAILED, str(failure)
    written = folder / f"answer-{number}.new"
    written.write_text(json.dumps({"status": status, "text": text}))
    written.rename(folder / f"answer-{number}")
    time.sleep(60)  # the launcher is ended as soon as all have answered; it would report one that leaves before the last round
    return 0


def answers(folder: Path, count: int, launcher: subprocess.Popen) -> list[dict[str, Any]]:
    """Return the answers of all learners, or those that there are when the launcher has ended."""
    paths = [folder / f"answer-{number}" for number in range(1, count + 1)]
    while launcher.poll() is None and not all(path.exists() for path in paths):
        time.sleep(LOOK_SECONDS)
    return [json.loads(path.read_text()) for path in paths if path.exists()]


def local(o: argparse.Namespace, arguments: list[str]) -> int:
    """Run a learner for each file, and print the result of the first one."""
    if len(o.files) < SITES_LEAST:
        return fail(f"--local needs at least {SITES_LEAST} files, one for each site: of two sites, each could subtract its own "
                    "sums from the total", USAGE)
    for path in o.files:
        check(o, path, sys.stderr.isatty() or o.dry_run)
    if o.dry_run:
        return 0
    program = os.environ.get("STARLING_PROGRAM") or shutil.which("starling")
    if program is None:
        return fail("--local starts 'starling launch': install starling, or put it on PATH", FAILED)
    settings = [f"--set={setting}" for setting in ("weighting=equal", "max_weight=1", "quorum=all", "log_level=info")]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # ends the launcher, too
    with tempfile.TemporaryDirectory(prefix="starling-") as base:
        folder, said = Path(base, "run"), Path(base, "said")
        command = [program, "launch", "-n", str(len(o.files)), "--rounds", str(ROUNDS), "--topology", "complete", "--run-dir", str(folder), *settings, "--",
                   program, "stats", PICK, *arguments]
        with open(said, "w") as output, subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output) as launcher:
            say(f"{len(o.files)} sites run on this machine")
            try:
                given = answers(folder, len(o.files), launcher)
            finally:
                say("")
                if launcher.poll() is None:
                    launcher.send_signal(signal.SIGINT)
                    launcher.wait()
        failures = [one["text"] for one in given if one["status"] != 0]
        if failures:
            return fail(failures[0], FAILED)
        if len(given) < len(o.files):
            sys.stderr.write(said.read_text())
            return fail("the run on this machine failed", FAILED)
        print(given[0]["text"], flush=True)
    return 0


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    o = parser().parse_intermixed_args(arguments)
    o.levels = dict(o.levels)
    if not o.local and len(o.files) > 1:
        return fail(f"unexpected file {o.files[1]}: a site has one file; --local plays a site for each", USAGE)
    if o.local and o.socket:
        return fail("--local and --socket: leave one of them out", USAGE)
    if o.small < 1 or not 0 < o.confidence < 1:
        return fail("--small is a number from 1, --confidence one between 0 and 1", USAGE)
    try:
        return learner(o) if o.pick else local(o, arguments) if o.local else site(o)
    except stats.InputError as wrong:
        return fail(str(wrong), USAGE)
    except (Error, Refused) as failure:
        return fail(str(failure), FAILED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return 0
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
