"""What the commands of this package share: options of files, errors in one line, and --local, all learners on this machine.

`starling` sets STARLING_PROGRAM to itself, which --local starts as `STARLING_PROGRAM launch`."""
from __future__ import annotations

import argparse
import concurrent.futures
import difflib
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

import starling
from starling.group import Error, Refused
from starling.local import find_program
from starling.stats.csv import MISSING, Columns
from starling.stats.csv import read as read_file
from starling.stats.sums import InputError

FAILED, USAGE, INTERRUPTED = 1, 2, 130
LEARNERS_LEAST = 3
NO_SOCKET = ("no learner is named: give the socket of yours with --socket PATH or STARLING_SOCKET, or try the command with --local and at "
             f"least {LEARNERS_LEAST} ")

Result = TypeVar("Result")


# ---- messages ----

def fail(program: str, text: str, status: int) -> int:
    """Print an error in one line and return the exit status."""
    print(f"{program}: " + " ".join(text.split("\n")), file=sys.stderr)
    return status


def say(text: str) -> None:
    """Show `text` on a terminal, in place of what was shown last."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def guard(program: str, act: Callable[[], int]) -> int:
    """Return the exit status of `act`; an error of the user or of the run ends it with one line."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # so that Ctrl-C ends the learners of --local
    try:
        return act()
    except InputError as wrong:
        return fail(program, str(wrong), USAGE)
    except (Error, Refused) as failure:
        return fail(program, str(failure), FAILED)
    except MemoryError:
        return fail(program, "out of memory", FAILED)
    except OSError as flaw:
        return fail(program, f"{flaw.filename}: {flaw.strerror}" if flaw.filename else flaw.strerror or str(flaw), FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED


# ---- the command line ----

class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, with the nearest name of an unknown option."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **options)
        self.add_argument("--version", action="version", version=f"starling {starling.__version__}", help="show the version and exit")

    def error(self, message: str) -> NoReturn:
        unknown = re.fullmatch(r"unrecognized arguments: (--[a-z-]+).*", message)
        near = difflib.get_close_matches(unknown[1], self._option_string_actions, 1) if unknown else []
        hint = f"did you mean '{near[0]}'?" if near else f"see '{self.prog} --help'"
        sys.exit(fail(self.prog, f"{message}; {hint}", USAGE))


def names(text: str) -> list[str]:
    """Return the names of a list with commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def add_options(add: Callable[..., Any], dry_run: str, local: str) -> None:
    """Add the options of files that `read` takes, and of the learner; `dry_run` and `local` are the help of these."""
    add("--separator", metavar="C", help="between fields: ',', ';' or tab; found if not given")
    add("--decimal", metavar="C", choices=".,", help="decimals follow this; found if not given")
    add("--thousands", metavar="C", help="between groups of three digits")
    add("--encoding", metavar="NAME", help="of the file; UTF-8, UTF-16, Windows-1252 or Latin-1 is found")
    add("--missing", metavar="WORD,...", help=f"further words for a missing value, beside an empty field and {','.join(MISSING[1:])}")
    add("--dry-run", action="store_true", help=dry_run)
    add("--socket", metavar="PATH", help="socket of the learner ($STARLING_SOCKET)")
    add("--local", action="store_true", help=local)
    add("--json", action="store_true", help="print JSON")


def read(o: argparse.Namespace, path: str, empty: bool = False) -> Columns:
    """Return the columns of the file, as the options say. `empty`: it may have no rows."""
    missing = (*MISSING, *names(o.missing or ""))
    separator = "\t" if o.separator in ("tab", "\\t") else o.separator
    return read_file(path, separator, o.decimal, o.thousands, o.encoding, missing, empty)


def show(o: argparse.Namespace, data: Columns, columns: Sequence[str]) -> None:
    """Show on a terminal and with --dry-run how the file is understood."""
    if o.dry_run or sys.stderr.isatty():
        print(data.preview(columns), file=sys.stderr)


# ---- learners ----

def socket(o: argparse.Namespace) -> str | None:
    return o.socket or os.environ.get("STARLING_SOCKET") or None


def check_local(o: argparse.Namespace, inputs: Sequence[Any], why: str) -> None:
    """Raise InputError if the inputs cannot be those of --local; `why` begins with what they are."""
    if o.socket:
        raise InputError("--local and --socket: leave one of them out")
    if len(inputs) < LEARNERS_LEAST:
        raise InputError(f"--local needs at least {LEARNERS_LEAST} {why}")


def play(work: Callable[[str, int], Result], count: int, rounds: int, **settings: Any) -> Result:
    """Run `count` learners on this machine, a thread each, and return what `work(socket, place)` returns for the first one.

    Error: the learners cannot be run. An exception of `work` ends all learners; the first one is raised."""
    program = os.environ.get("STARLING_PROGRAM") or find_program()
    if shutil.which(program) is None:
        raise Error("--local starts 'starling launch': install starling, or put it on PATH")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # ends the launcher, too
    failures: list[BaseException] = []

    with concurrent.futures.ThreadPoolExecutor(count) as threads, starling.local(
            count, rounds, program=program, weighting="equal", max_weight=1, log_level="info", **settings) as sockets:
        say(f"{count} learners run on this machine")

        def learner(place: int) -> Result:
            try:
                return work(sockets[place], place)
            except BaseException as failure:
                failures.append(failure)  # the others fail because of the first
                sockets[place].fail(failure)
                raise

        futures = [threads.submit(learner, place) for place in range(count)]
        concurrent.futures.wait(futures, return_when=concurrent.futures.FIRST_EXCEPTION)
        say("")
        if failures:
            raise failures[0]
        return futures[0].result()
