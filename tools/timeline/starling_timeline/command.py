"""What commands in Python share: the parser of the command line, errors in one line, and what they ask of C."""
from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from starling_timeline.words import clean

FAILED, USAGE = 1, 2  # exit statuses
AS_OWNER = "run this command as the user of the learner, or as root"
JOURNAL = "journalctl -u starlingd@{} -o cat --output-fields=STARLING_JSON >log.jsonl"
MISSING = f"give a run folder or log files; of a learner of systemd: {JOURNAL.format('GROUP')}"


class CommandError(Exception):
    """Why a command ends, and its exit status."""

    def __init__(self, text: str, status: int = USAGE) -> None:
        super().__init__(text)
        self.status = status


def complain(program: str, text: str) -> None:
    """Print an error of a command in one line."""
    print(f"{program}: {clean(text.replace(chr(10), '?'))}", file=sys.stderr)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def __init__(self, prog: str, usage: str, description: str, epilog: str) -> None:
        super().__init__(prog=prog, usage=f"%(prog)s [OPTION...] {usage}", description=description, epilog=epilog, add_help=False,
                         formatter_class=argparse.RawDescriptionHelpFormatter)
        self.add_argument("-?", "-h", "--help", action="help", help="show this help")

    def error(self, message: str) -> NoReturn:
        wrong = re.match("unrecognized arguments: --([^ =]+)", message)
        near = difflib.get_close_matches(wrong[1], [name[2:] for name in self._option_string_actions], 1) if wrong else []
        if wrong and near:
            complain(self.prog, f"unknown option '--{wrong[1]}'; did you mean '--{near[0]}'?")
            sys.exit(USAGE)
        complain(self.prog, f"{message}; see '{self.prog} --help'")
        sys.exit(USAGE)


def whole(option: str, least: int, most: int) -> Callable[[str], int]:
    """Return the reader of an option that is a whole number."""
    def read(text: str) -> int:
        if re.fullmatch("[0-9]{1,40}", text) and least <= int(text) <= most:
            return int(text)
        raise CommandError(f"--{option} {text}: must be a whole number from {least} to {most}")
    return read


def real(option: str, most: float) -> Callable[[str], float]:
    """Return the reader of an option that is a number above 0."""
    def read(text: str) -> float:
        try:
            value = float(text) if re.fullmatch("[0-9.eE+-]+", text) else 0.0
        except ValueError:
            value = 0.0
        if 0 < value <= most:
            return value
        raise CommandError(f"--{option} {text}: must be above 0, at most {most:g}")
    return read


def lines(part: str, subject: str, **request: Any) -> Iterator[str]:
    """Yield the lines that a part of the command answers which is C (tools/starling/part.c). If that fails, it has said why: the command
    ends."""
    command = [os.environ["STARLING_PROGRAM"], "part", sys.argv[0], part, subject, json.dumps(request)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout
        try:
            yield from process.stdout
        except GeneratorExit:  # enough was read
            process.kill()
            raise
    if process.returncode != 0:
        sys.exit(process.returncode if process.returncode > 0 else FAILED)


def ask(part: str, subject: str, **request: Any) -> str:
    """Return the whole answer."""
    return "".join(lines(part, subject, **request))


def why(failure: OSError) -> str:
    """Return what the system says of a file, with the remedy for one of another user."""
    return (failure.strerror or str(failure)) + f"; {AS_OWNER}" * isinstance(failure, PermissionError)


def guard(program: str, act: Callable[[], int]) -> int:
    """Return the exit status of `act`; an error of the user or of the system ends it with one line."""
    try:
        return act()
    except CommandError as error:
        complain(program, str(error))
        return error.status
    except MemoryError:
        complain(program, "out of memory")
        return FAILED
    except OSError as failure:
        complain(program, f"{failure.filename}: {failure.strerror}" if failure.filename else failure.strerror or str(failure))
        return FAILED


def document(value: Any, digits: int, line: str = "\n") -> str:
    """Return a value as JSON, as commands in C print it: reals with at most so many digits."""
    if isinstance(value, float):
        text, _, exponent = f"{value:.{digits}g}".partition("e")
        return f"{text}e{int(exponent)}" if exponent else text if "." in text else f"{text}.0"
    if not isinstance(value, (dict, list)) or not value:
        return json.dumps(value)
    within = f"{line}  "
    if isinstance(value, dict):
        return "{" + ",".join(f"{within}{json.dumps(key)}: {document(one, digits, within)}" for key, one in value.items()) + f"{line}}}"
    return "[" + ",".join(within + document(one, digits, within) for one in value) + f"{line}]"
