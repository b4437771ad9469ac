"""`starling stop`, `starling reload` and `starling backup`: ask learners to do something, and wait until it is done."""
from __future__ import annotations

import os
import select
import signal
import time

from starling_control.learners import Learner, Learners, ask, named, number, parser, say
from starling_timeline.command import FAILED, CommandError
from starling_timeline.values import text, whole

ANSWER_S, STOP_ANSWER_S = 10, 5
STOP_S, STOP_MOST_S = 60, 86400
RESTART_S, BACKUP_S = 30, 600
PAUSE_S = 0.1


# ---- stop ----

class Process:
    """A process whose end is waited for; `known`: there is one."""

    def __init__(self, pid: int) -> None:
        self.pid, self.poll, self.known = pid, select.poll(), False
        try:
            self.poll.register(os.pidfd_open(pid), select.POLLIN)
            self.known = pid > 0
        except OSError:
            pass

    def ended(self, until: float) -> bool:
        """Wait for its end; return False if it has not ended by `until`."""
        return self.known and bool(self.poll.poll(max(0, until - time.monotonic()) * 1000))


def _launcher(folder: str) -> Process:
    """Return the process of the launcher of this run. Its number may be that of another program by now: look at its name."""
    try:
        with open(os.path.join(folder, "pid"), encoding="ascii") as file:
            process = Process(int(file.read().split()[0]))
        with open(f"/proc/{process.pid}/comm", encoding="utf-8", errors="replace") as file:
            process.known = process.known and file.read().startswith("starling")
        return process
    except (OSError, ValueError, IndexError, OverflowError):
        return Process(0)


def _stop_launcher(process: Process, until: float) -> int:
    try:
        os.kill(process.pid, signal.SIGINT)
    except OSError as failure:
        say(f"launcher, process {process.pid}: {failure.strerror}")
        return FAILED
    if not process.ended(until):
        say(f"launcher, process {process.pid}: still running")
        return FAILED
    print("launcher and its learners: ended")
    return 0


def _has_stopped(one: Learner, process: Process, ran: bool, until: float) -> bool:
    """Wait for the end of a learner, and report it."""
    if not ran and one.absent():
        print(f"{one.shown}: is not running")
        return True
    ended = process.ended(until)
    if ended:
        print(f"{one.shown}: ended")
    else:
        say(f"{one.shown}: {one.failure() or 'still running'}")
    return ended


def _ask_half(learners: Learners, op: str, until: float) -> None:
    """Ask, and leave half of the time for what comes after."""
    ask(learners, min(max(0, until - time.monotonic()) / 2, STOP_ANSWER_S), op=op, peers=False)


def _stop_learners(learners: Learners, until: float) -> int:
    _ask_half(learners, "status", until)
    ran = [one.error == 0 for one in learners]
    processes = [Process(whole(one.reply or {}, "pid")) for one in learners]
    _ask_half(learners, "stop", until)
    return 0 if all([_has_stopped(*each, until) for each in zip(learners, processes, ran)]) else FAILED


def stop(arguments: list[str]) -> int:
    p = parser("[RUNFOLDER]", "End learners cleanly, and wait until they have ended. A learner that is started again goes on where it was.",
               "A run of 'starling launch' is ended as by Ctrl-C.\n\n"
               "Examples:\n"
               "  starling stop RUNFOLDER\n"
               "  starling stop --control /run/starling/control.sock --timeout 10\n\n"
               "Exit status: 0 all have ended, 1 a learner still runs or does not answer, 2 wrong usage.")
    p.add_argument("-t", "--timeout", metavar="S", default=str(STOP_S), help="wait at most S seconds for their end (60)")
    o = p.parse_intermixed_args(arguments)
    if not (o.timeout.isdecimal() and 1 <= int(o.timeout) <= STOP_MOST_S):
        raise CommandError(f"--timeout {o.timeout}: must be a whole number from 1 to {STOP_MOST_S}")
    learners = named(p, o.folders, o.control)
    until = time.monotonic() + int(o.timeout)
    launcher = _launcher(learners.folder) if learners.folder else Process(0)
    return _stop_launcher(launcher, until) if launcher.known else _stop_learners(learners, until)


# ---- reload ----

def _has_reloaded(one: Learner) -> bool:
    """Report what became of it. One that does not restart is not asked again."""
    if not one.did():
        one.skip = True
        return False
    one.skip = one.reply.get("restarts") is not True
    print(f"{one.shown}: reloaded{'' if one.skip else '; it restarts with the new roster'}")
    return True


def _await_starts(learners: Learners, before: list[str]) -> bool:
    """Wait until the learners that are not skipped answer after a new start; `before` has the earlier starts of all."""
    until = time.monotonic() + RESTART_S
    while not all(one.skip for one in learners) and time.monotonic() < until:
        time.sleep(2 * PAUSE_S)
        ask(learners, min(until - time.monotonic(), ANSWER_S), op="status", peers=False)
        for one, start in zip(learners, before):
            one.skip = one.skip or (one.reply is not None and text(one.reply, "started_at") != start)
    for one in learners:
        if not one.skip:
            say(f"{one.shown}: has not come back")
    return all(one.skip for one in learners)


def reload(arguments: list[str]) -> int:
    p = parser("[RUNFOLDER]", "Make running learners open their log again, and read log settings and roster again, as SIGHUP does.",
               "A learner that finds an error goes on with what it has; one whose roster has changed restarts by\nitself.\n\n"
               "Examples:\n"
               "  starling reload\n"
               "  starling reload --control /run/starling/control.sock\n\n"
               "Exit status: 0 all have reloaded, 1 a learner has not, 2 wrong usage.")
    o = p.parse_intermixed_args(arguments)
    learners = named(p, o.folders, o.control)
    ask(learners, ANSWER_S, op="status", peers=False)
    before = [text(one.reply or {}, "started_at") for one in learners]
    ask(learners, ANSWER_S, op="reload", peers=False)
    done = [_has_reloaded(one) for one in learners]
    return 0 if _await_starts(learners, before) and all(done) else FAILED


# ---- backup ----

def _ask_one(one: Learner, **request: object) -> bool:
    ask([one], ANSWER_S, op="backup", **request)
    return one.reply is not None and one.reply.get("ok") is True


def _back_up(one: Learner) -> bool:
    until, good = time.monotonic() + BACKUP_S, _ask_one(one)
    copy = whole(one.reply or {}, "number")
    while good:
        good = _ask_one(one, number=copy)
        if good and one.reply.get("done") is True:
            print(f"{one.shown}: round {number(one.reply, 'round')} is in {text(one.reply, 'folder')}")
            return True
        if time.monotonic() >= until:
            break
        time.sleep(PAUSE_S)
    if one.did():
        say(f"{one.shown}: the copy takes more than ten minutes; its end will be logged")
    return False


def backup(arguments: list[str]) -> int:
    p = parser("[RUNFOLDER]", "Have running learners copy their records into the folder 'backup' of their state folder, in place of\n"
               "the copy before, and print its name. The copy holds no secret. Beside it, keep starlingd.yaml, the\n"
               "roster and the identity, which is secret.",
               "\nExamples:\n"
               "  starling backup /var/lib/starling/ward\n"
               "  starling backup --control /run/starling/control.sock\n\n"
               "Exit status: 0 all copies are there, 1 one is not, 2 wrong usage.")
    o = p.parse_intermixed_args(arguments)
    return 0 if all([_back_up(one) for one in named(p, o.folders, o.control)]) else FAILED
