"""`starling abort`: tell learners that an attempt will never be completed."""
from __future__ import annotations

import os
import sys

from starling_control.learners import Learner, Learners, ask, number, say
from starling_timeline.command import FAILED, USAGE, CommandError, Parser
from starling_timeline.values import items, text

ANSWER_S = 10
ROUND_MOST = (1 << 32) - 1
EXAMPLES = """Tell every learner that still waits; with --run, all of them are told. The cost:
- each learner trains its model of the round again; the new one differs by training noise only, and the
  sum with the first one may be known to the lost learners;
- a fork, if the lost learners had committed the round: when they come back, their model differs, and
  they are refused until their state folders are moved away.
If a learner is only late or switched off, wait for it instead: the round goes on by itself when it is
back.

Examples:
  starling abort --round 7 --run RUNFOLDER
  starling abort --round 7 --run RUNFOLDER --learner learner-03 --yes
  starling abort --round 7 --control /run/starling/control.sock

Exit status: 0 every learner that answered and had such an attempt has aborted it, 1 none had, or one
did not, 2 bad usage."""


def _parser() -> Parser:
    p = Parser("starling abort", "--round T (--run FOLDER [--learner NAME]... | --control SOCKET)",
               "Abort an attempt that cannot be completed: more of its participants are lost for good than its\nlinks tolerate.", EXAMPLES)
    p.add_argument("-r", "--round", metavar="T", help="round whose open attempt to abort (required)")
    p.add_argument("-d", "--run", metavar="FOLDER", help="all learners of this run folder, or of a folder of learners set up by hand")
    p.add_argument("-l", "--learner", metavar="NAME", action="append", default=[],
                   help="only this learner of the folder, by name or id; may be repeated")
    p.add_argument("-c", "--control", metavar="SOCKET", help="the learner with this control socket")
    p.add_argument("-y", "--yes", action="store_true", help="do not ask for confirmation")
    return p


def _is_called(one: Learner, name: str) -> bool:
    """Return True if `name` is the learner's folder, its name, or its id (the number in learner-03)."""
    reply, numbers = one.reply or {}, [(one.reply or {}).get("id")]
    if one.shown.startswith("learner-") and one.shown[8:].isdecimal():
        numbers.append(int(one.shown[8:]))
    return name in (one.shown, text(reply, "name")) or (name.isdecimal() and int(name) in numbers)


def _show(learners: Learners, one: Learner) -> None:
    """Show the state of a learner to the operator, before the confirmation."""
    reply = one.reply or {}
    awaits, phase = learners.names(items(reply, "awaits")), text(reply, "phase")
    of = "; no linked learner has the deposit or the deposit key of " if phase == "RECOVER" else "; waits for "
    state = (f"not running, or waiting for its application ({os.strerror(one.error)})" if one.error
             else "does not answer; left out" if one.reply is None
             else f"round {number(reply, 'round')} attempt {number(reply, 'attempt')}, {phase}{of + awaits if awaits else ''}")
    print(f"{one.shown}: {state}", file=sys.stderr)


def _tell(one: Learner, t: int) -> bool:
    if not one.did():
        return False
    print(f"{one.shown}: attempt {number(one.reply, 'attempt')} of round {t} is aborted")
    return True


def _confirmed(t: int) -> bool:
    print(f"Aborting invalidates the models trained for round {t}. If a lost learner had committed it alone, its model and yours\n"
          "differ for ever (a fork). If it may come back, wait for it instead. Type the number of the round to go on: ",
          end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().rstrip("\n") == str(t)


def _run(learners: Learners, names: list[str], t: int, yes: bool) -> int:
    ask(learners, ANSWER_S, op="status")
    wanted = [one for one in learners if not names or any(_is_called(one, name) for name in names)]
    for one in wanted:
        _show(learners, one)
    if not wanted:
        raise CommandError(f"{learners.folder}: no such learner in it")
    answering = [one for one in wanted if one.reply is not None]
    if not answering:
        return FAILED
    if not yes and not _confirmed(t):
        say("nothing was aborted")
        return FAILED
    ask(answering, ANSWER_S, op="abort", round=t)
    done = [_tell(one, t) for one in answering]
    # A learner with nothing to abort is no failure if another one had such an attempt.
    return 0 if any(done) and all(one.reply is not None for one in answering) else FAILED


def abort(arguments: list[str]) -> int:
    p = _parser()
    o = p.parse_args(arguments)
    if o.round is None:
        p.error("--round T is required")
    if not (o.round.isdecimal() and 1 <= int(o.round) <= ROUND_MOST):
        raise CommandError(f"--round {o.round}: must be a whole number from 1 to {ROUND_MOST}")
    if (o.run is None) == (o.control is None) or (o.learner and o.run is None):
        p.error("which learners? give --run FOLDER, with or without --learner, or --control SOCKET")
    if not o.yes and not sys.stdin.isatty():
        raise CommandError("standard input is no terminal: confirm with --yes", USAGE)
    return _run(Learners(o.run, [o.control] if o.control else []), o.learner, int(o.round), o.yes)
