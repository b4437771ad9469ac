"""What `starling status` knows of learners.

One that runs answers with its status (common/report/status_table.h). One that has ended is described by the end of its log, or by its state folder. Of a peer
that was not asked, other learners tell what it said last: second-hand.
"""
from __future__ import annotations

import json
import os
import re
from typing import Any, Optional

from starling_control.learners import Learner, Learners, ask, clean, committed, inner
from starling_timeline import command, logs
from starling_timeline.values import items, text, whole

ANSWER_S = 2
TAIL_BYTES = 65536
NAMES_MOST = 2  # awaited learners that are named
PEERS_MOST = 3  # learners that are asked what they know of their peers

# From the best to the worst. Finished: ended after the last round. Forming: waits until its group has enough learners. Waiting: for
# its first program; or it starts, and has no control socket yet. Overdue: waits beyond a deadline. Silent: does not answer, or cannot be
# asked; it may run. New: is set up, does not run and has begun no round.
STATES = {"running": "making progress", "finished": "finished", "forming": "forming", "waiting": "waiting", "overdue": "overdue",
          "silent": "silent", "new": "not started yet", "stopped": "stopped"}


class Row:
    """A learner, as its answer or its log describes it."""

    def __init__(self, asked: Learner) -> None:
        self.asked = asked
        self.committed = self.rounds = 0  # rounds: 0: unknown
        self.state, self.status = "running", None

    def take(self) -> None:
        """Take the reply."""
        reply = self.asked.reply or {}
        self.status = reply if reply.get("ok") is True else None  # None unless it runs, answers and takes part
        self.last: Optional[dict] = None  # its last log record; None: unknown, or it answers
        self.charged: Optional[dict] = None  # the last record of a charge; None as `last`, or without dp
        self.ended = self.finished = False  # the last record says why it ended; the log says that all rounds are committed
        if self.status is not None:
            self.asked.know(reply, "id")
            self.state = "overdue" if reply.get("overdue") is True else "running"
            self.committed, self.rounds = whole(reply, "committed"), whole(reply, "rounds")
        elif reply.get("forming") is True or reply.get("waiting") is True:
            self.asked.know(reply, "id")
            self.state = "forming" if reply.get("forming") is True else "waiting"
        else:
            for record in logs.end(self.asked.log, 0, TAIL_BYTES):
                self._record(record)
            self.last, self.charged = clean(self.last), clean(self.charged)
            self.state = self._state_of_log()
            self.asked.know(self.last, "learner")
            if self.state in ("stopped", "new") and self.last is None and self.asked.config:
                self._take_state()

    def _take_state(self) -> None:
        """Without a log, the state folder tells which round was the last one, and the settings how many there are, and the name."""
        try:
            facts = json.loads(command.ask("machine", subject=self.asked.config, config=True))["facts"] or {}
        except SystemExit:  # why is said; the other learners are shown all the same
            return
        self.asked.know(inner(facts, "self"), "id")
        self.committed, self.rounds = committed(text(facts, "state")), whole(facts, "rounds")
        if 0 < self.rounds <= self.committed:
            self.state = "finished"

    def _state_of_log(self) -> str:
        return ("silent" if not self.asked.absent() else "waiting" if self.asked.runs() else "new" if self.asked.fresh
                else "finished" if self.finished else "stopped")

    def _record(self, record: dict) -> None:
        """Take a record of the log: the last one stays that describes the learner. An evaluation runs beside the round and may end after
        the record that says why the learner ends; an application leaves after that record."""
        event = text(record, "event")
        if event in ("committed", "caught_up"):
            self.committed = whole(record, "round")
        if event == "charged":
            self.charged = record
        if event == "phase":  # a launcher ends its learners after the last round, in this phase
            self.finished = record.get("phase") == "DONE"
        self.finished |= event == "finished"
        if self.last is None or not (event == "evaluated" or (self.ended and event == "application")):
            self.ended = event in ("finished", "stopping", "fatal", "again")
            self.last = record

    def spent(self) -> dict:
        """Return what it has spent of its privacy: its answer, or the last charge in its log; {}: no dp."""
        return inner(self.status, "dp") or self.charged or {}

    def name(self) -> str:
        """Return the name to show: that of the learner, or of its folder."""
        return self.asked.name or self.asked.shown


class Status:
    """What all learners do. `verified`: rounds that the launcher of this run has recomputed; 0: none."""

    def __init__(self, of: Learners) -> None:
        self.of, self.rows, self.verified = of, [Row(one) for one in of], 0

    def read(self) -> None:
        """Ask all."""
        ask(self.of, ANSWER_S, op="status", peers=len(self.of) <= PEERS_MOST)
        for row in self.rows:
            row.take()
        self.verified = self._read_verified()

    def _read_verified(self) -> int:
        try:
            with open(os.path.join(self.of.folder, "progress.txt"), encoding="ascii") as file:
                found = re.match(r"round \d+\s+step \d+\s+verified (\d+)", file.read(256)) if self.of.folder else None
        except (OSError, ValueError):
            return 0
        return int(found[1]) if found else 0

    def count(self) -> dict[str, int]:
        """Return how many learners have each of the states that occur, from the best to the worst."""
        states = [row.state for row in self.rows]
        return {state: states.count(state) for state in STATES if state in states}

    def exit(self) -> int:
        """Return 0 all make progress, 1 one waits beyond a deadline or does not answer, 2 one has ended."""
        states = self.count().keys()
        return 2 if states & {"stopped", "new", "finished"} else 0 if states == {"running"} else 1

    def over(self) -> bool:
        """Return True if no learner runs and one has finished."""
        states = self.count().keys()
        return "finished" in states and states <= {"finished", "stopped"}

    def is_exact(self, row: Row) -> bool:
        return 0 < row.committed <= self.verified

    def wait(self, row: Row) -> str:
        """Return what a learner waits for: "waits for ana (1) to send a digest"; "" if it does not run."""
        if row.status is None:
            return ""
        names = self.of.names(items(row.status, "awaits"), NAMES_MOST)
        obstacle = text(row.status, "obstacle")
        return f"waits for {names}{' ' if names else ''}{text(row.status, 'waits_for')}{': ' if obstacle else ''}{obstacle}"

    def document(self) -> dict[str, Any]:
        return {"v": 1, "exit_status": self.exit(),
                "learners": [{"learner": row.name(), "where": row.asked.shown, "state": row.state, "committed": row.committed,
                              "exact": True if self.is_exact(row) else None, "status": row.status, "last_record": row.last} for row in self.rows]}
