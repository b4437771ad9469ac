"""Run main(arguments) of a module: python3 starling_start MODULE NAME ARGUMENT...; NAME begins the lines of its errors.

The folder is run by its path: the current folder is not searched for modules, as a file of the user may be called csv.py."""
# Nothing of __future__, whose annotations Python 3.6 does not have: it comes to the line that names the remedy.
import importlib
import io
import os
import signal
import sys
from typing import Any, NoReturn

FAILED = 1


def end(text: str) -> NoReturn:
    print(f"{sys.argv[0]}: {text}", file=sys.stderr)
    sys.exit(FAILED)


class Output(io.FileIO):
    """Standard output. What its reader did not wait for is dropped, since the exit status is that of the whole work; other lost output ends
    the command at once. Its errors reach no command: each OSError that one sees is of something else, and argparse hides none."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            return len(data)
        except OSError as lost:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what is in the buffer
            end(f"cannot write standard output: {lost.strerror}")


def end_without(module: str) -> NoReturn:
    """End with the remedy for a missing module."""
    lacks = f"{sys.executable} has no "
    if module == "numpy":
        end(lacks + "numpy: run python3 -m pip install numpy (with uv: uv pip install numpy; Debian: apt-get install python3-numpy), or put "
            "another python3 first on PATH")
    end(lacks + f"module {module}: install the Python package of Starling (Debian: python3-starling), or put its folder into PYTHONPATH")


signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends a command from now on, also while its modules are read
_, name, *sys.argv = sys.argv
if sys.version_info < (3, 9):
    end(f"{sys.executable} is older than Python 3.9: put another python3 first on PATH")
sys.stdout = io.TextIOWrapper(io.BufferedWriter(Output(1, "w", closefd=False)), sys.stdout.encoding, sys.stdout.errors,
                              line_buffering=sys.stdout.line_buffering or sys.stdout.write_through)
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "absent"))  # the last folder that is searched
try:
    status = importlib.import_module(name).main(sys.argv[1:])
except SystemExit as early:
    status = early.code
except ModuleNotFoundError as missing:
    end_without(str(missing.name))
except ImportError:  # a numpy that is broken
    end_without("numpy")
sys.stdout.flush()
sys.exit(status)
