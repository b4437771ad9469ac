"""What the commands of this package share: the parser of the command line, and errors in one line."""
from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import NoReturn

from starling_timeline.logs import FAILED, USAGE, LogsError

from starling_web.server import Failure


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def __init__(self, prog: str, usage: str, description: str, epilog: str) -> None:
        super().__init__(prog=prog, usage=f"%(prog)s [OPTION...] {usage}", description=description, epilog=epilog, add_help=False,
                         formatter_class=argparse.RawDescriptionHelpFormatter)
        self.add_argument("-?", "-h", "--help", action="help", help="show this help")

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message}; see '{self.prog} --help'", file=sys.stderr)
        sys.exit(USAGE)


def guard(program: str, act: Callable[[], int]) -> int:
    """Return the exit status of `act`; an error of the user or of the system ends it with one line."""
    try:
        return act()
    except (Failure, LogsError) as failure:
        print(f"{program}: {failure}", file=sys.stderr)
        return failure.status
    except OSError as failure:  # of a file of the program, or of standard output
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        if isinstance(failure, BrokenPipeError):  # the reader has read enough
            return 0
        print(f"{program}: {failure.filename or 'cannot write standard output'}: {failure.strerror}", file=sys.stderr)
        return FAILED
