"""`starling dp audit`: was each learner charged for each committed round that it took part in? See starling-dp(1).

    logs --> an Account of each learner: its views, its charges --+--> findings
    `starling status` --> the ledgers of learners that run -------+

A learner is charged when it has prepared an attempt, before anything of it can be seen (ROUND.md §14.1). So a committed attempt without a
charge is a finding, unless the learner took part with the weight 0 because its budget was spent.
"""
from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Optional

from starling_timeline.command import FAILED, MISSING, USAGE, CommandError, Parser, ask, complain, guard
from starling_timeline.logs import Logs
from starling_timeline.rounds import ids
from starling_timeline.values import NAN, dumps, real, text, whole
from starling_timeline.words import Names, clean, fill, plural, width_of

NAME = "starling dp audit"
STATUS_S = 60  # how long `starling status` may take
SLACK = 1e-6  # of epsilon: logs have few digits
FINDINGS_MOST = 20  # that are printed; JSON has them all
EXAMPLES = """
Examples:
  starling dp audit RUNFOLDER
  starling dp audit ana.jsonl bo.jsonl
  starling dp audit RUNFOLDER --json | jq '.findings[].text'

Exit status: 0 nothing found; 1 something found, or no learner in the logs; 2 wrong usage, or no charge in the logs and no dp in the roster."""

Place = tuple[int, int]  # round, attempt


def bound(record: dict, name: str) -> float:
    """Return an epsilon, which is null where there is no bound."""
    return math.inf if name in record and record[name] is None else real(record, name)


@dataclass
class Charge:
    """What the learner had spent after a charge. epsilon: as its sampling is declared; infinite: no bound."""
    epsilon: float
    unsampled: float
    delta: float
    budget: float  # NaN: none

    @classmethod
    def read(cls, record: dict) -> Charge:
        return cls(bound(record, "epsilon"), bound(record, "epsilon_unsampled"), real(record, "delta"), real(record, "budget"))


@dataclass
class Account:
    """A learner, as its log tells of it."""
    id: int
    name: str = ""
    views: dict[Place, list[int]] = field(default_factory=dict)  # participants
    charges: dict[Place, Charge] = field(default_factory=dict)
    lowered: list[tuple[Place, float, float]] = field(default_factory=list)  # epsilon before and after
    last: Optional[Charge] = None
    guessed: int = 0  # attempts that were charged without a record of them
    gaps: list[tuple[int, Place]] = field(default_factory=list)  # round from which on they were, and the attempt before which
    spent: list[int] = field(default_factory=list)  # rounds in which its budget was found spent
    took_part: set[Place] = field(default_factory=set)
    ledger: Optional[dict] = None  # of a learner that runs

    def charge(self, place: Place, charge: Charge) -> None:
        before = self.last
        if before is not None and before.delta == charge.delta and charge.unsampled < before.unsampled * (1 - SLACK):
            self.lowered.append((place, before.unsampled, charge.unsampled))
        self.charges[place] = self.last = charge

    def sends_zeros(self, t: int) -> bool:
        """Return true if its budget was spent in round `t`: the last such record has no charge of a later round after it, up to `t`."""
        spent = [s for s in self.spent if s <= t]
        return bool(spent) and not any(spent[-1] < charged <= t for charged, _ in self.charges)

    def in_gap(self, place: Place) -> bool:
        """Return true if the attempt was charged without a record of it: its log was set back, too."""
        return any(begin <= place[0] and place < end for begin, end in self.gaps)

    def epsilon(self, sampled: bool) -> float:
        """Return epsilon at the end of the log; 0: no charge."""
        return 0.0 if self.last is None else self.last.epsilon if sampled else self.last.unsampled


class Audit:
    """The accounts of a run, from its logs."""

    def __init__(self) -> None:
        self.accounts: dict[int, Account] = {}
        self.commits: dict[Place, set[int]] = {}  # the learners that committed by mixing or recovery
        self.unit = ""  # record or learner: of the roster

    # ---- records ----

    def take(self, record: dict) -> None:
        own = whole(record, "learner")
        if own == 0:
            return
        account = self.accounts.setdefault(own, Account(own))
        account.name = account.name or text(record, "name")
        place, event = (whole(record, "round"), whole(record, "attempt")), text(record, "event")
        if event == "view":
            account.views[place] = ids(record, "participants")
        elif event == "committed":
            self.commits.setdefault(place, set()).add(own)
        elif event == "charged":
            account.charge(place, Charge.read(record))
        elif event == "ledger_gap":
            account.guessed += whole(record, "guessed")
            account.gaps.append((whole(record, "from"), place))
        elif event in ("budget_spent", "budget_zeros"):
            account.spent.append(place[0])

    def close(self) -> None:
        """Find who took part in what was committed: a view that one log tells of names all of its participants."""
        for place, by in self.commits.items():
            known = [self.accounts[one].views[place] for one in sorted(by) if place in self.accounts[one].views]
            for own in by.union(*known[:1]):
                if own in self.accounts:
                    self.accounts[own].took_part.add(place)

    def without_log(self) -> list[int]:
        """Return the participants of committed attempts of which there is no log."""
        named = {one for account in self.accounts.values() for place, members in account.views.items() if place in self.commits for one in members}
        return sorted(named - set(self.accounts))

    # ---- findings ----

    def findings(self) -> list[dict]:
        found = []
        for own in sorted(self.accounts):
            account = self.accounts[own]
            found += [*uncharged(account), *lowered(account), *over_budget(account), *behind(account)]
        return found

    def document(self) -> dict:
        """Return the audit as a new object; starling-dp(1) describes it."""
        rounds = {t for t, _ in self.commits}
        return {"v": 1, "unit": self.unit or None, "rounds": len(rounds), "without_log": self.without_log(),
                "learners": [fields(self.accounts[own]) for own in sorted(self.accounts)], "findings": self.findings()}


def finding(account: Account, kind: str, place: Place, sentence: str) -> dict:
    t, a = place
    return {"finding": kind, "learner": account.id, "round": t or None, "attempt": a or None, "text": sentence}


def uncharged(account: Account) -> list[dict]:
    return [finding(account, "no_charge", (t, a), f"took part in round {t}, which attempt {a} committed, and was not charged for it")
            for t, a in sorted(account.took_part - set(account.charges)) if not account.sends_zeros(t) and not account.in_gap((t, a))]


def lowered(account: Account) -> list[dict]:
    return [finding(account, "lowered", place, f"its epsilon fell from {before:.4g} to {after:.4g} (without sampling) in round {place[0]}: its "
                    "ledger has lost charges") for place, before, after in account.lowered]


def over_budget(account: Account) -> list[dict]:
    return [finding(account, "over_budget", place, f"has spent epsilon {charge.epsilon:.4g} in round {place[0]}; its budget is {charge.budget:.4g}")
            for place, charge in sorted(account.charges.items()) if charge.epsilon > charge.budget * (1 + SLACK)][:1]


def behind(account: Account) -> list[dict]:
    """Compare the ledger of a learner that runs with its log."""
    if account.ledger is None or account.last is None:
        return []
    charges, epsilon, delta = whole(account.ledger, "charges"), bound(account.ledger, "epsilon_unsampled"), real(account.ledger, "delta")
    if charges < len(account.charges):
        return [finding(account, "ledger", (0, 0), f"its ledger has {plural(charges, 'charge')}, its log {len(account.charges)}")]
    if delta == account.last.delta and epsilon < account.last.unsampled * (1 - SLACK):
        return [finding(account, "ledger", (0, 0), f"its ledger has epsilon {epsilon:.4g} (without sampling), its log {account.last.unsampled:.4g}")]
    return []


def number(value: float) -> Optional[float]:
    """Return a value for JSON; None: no bound, no budget, or not known."""
    return value if math.isfinite(value) else None


def fields(account: Account) -> dict:
    last = account.last or Charge(0.0, 0.0, NAN, NAN)
    return {"id": account.id, "name": account.name, "attempts_charged": len(account.charges), "guessed": account.guessed,
            "rounds_committed": len({t for t, _ in account.took_part}), "epsilon": number(last.epsilon),
            "epsilon_unsampled": number(last.unsampled), "delta": number(last.delta), "budget": number(last.budget),
            "budget_spent": account.spent[0] if account.spent else None, "ledger": account.ledger}


# ---- what is read beside the logs ----

def unit_of(folder: str) -> str:
    """Return the setting `dp` of the roster in a run folder; "": none, or off."""
    path = os.path.join(folder, "roster.yaml")
    found = json.loads(ask("roster", path))["dp"] if os.path.exists(path) else "off"
    return "" if found == "off" else found


def ledgers(folder: str) -> dict[int, dict]:
    """Return the ledgers of the learners of a run folder that run, by id."""
    command = [os.environ.get("STARLING_PROGRAM", "starling"), "status", "--json", folder]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=STATUS_S, check=False)
        rows = json.loads(done.stdout)["learners"]
        shown = [row["status"] for row in rows]
        return {whole(one, "id"): one["dp"] for one in shown if type(one) is dict and type(one.get("dp")) is dict}
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError, RecursionError):
        return {}


# ---- words ----

def figure(value: Optional[float], none: str) -> str:
    return none if value is None else f"{value:.4g}"


def table(names: Names, learners: list[dict]) -> list[str]:
    found = [f"{'learner':<20}{'charged':>9}{'committed':>11}{'epsilon':>10}{'unsampled':>11}{'delta':>9}{'budget':>9}"]
    for one in learners:
        found.append(f"{names.who(one['id'])[:19]:<20}{one['attempts_charged']:>9}{one['rounds_committed']:>11}{figure(one['epsilon'], 'no bound'):>10}"
                     f"{figure(one['epsilon_unsampled'], 'no bound'):>11}{figure(one['delta'], ''):>9}{figure(one['budget'], 'none'):>9}")
    return found


def remarks(names: Names, document: dict) -> list[str]:
    learners = document["learners"]
    found = [f"{names.who(one['id'])} was also charged for {plural(one['guessed'], 'attempt')} of which it has no record."
             for one in learners if one["guessed"]]
    for t in sorted({one["budget_spent"] for one in learners if one["budget_spent"]}):
        spent = [one["id"] for one in learners if one["budget_spent"] == t]
        found.append(f"The budget did not suffice for round {t}: {names.several(spent)}.")
    if document["without_log"]:
        found.append(f"No log: {names.several(document['without_log'])}.")
    return found


def lines(document: dict) -> list[str]:
    """Return the audit as text."""
    names, found = Names(document), document["findings"]
    unit = {"record": "hidden: each record; ", "learner": "hidden: each learner; ", None: ""}[document["unit"]]
    head = [f"{unit}committed rounds: {document['rounds']}", *table(names, document["learners"]), *remarks(names, document)]
    if not found:
        return [*head, "Each learner was charged for each committed round that it took part in."]
    shown = [f"FOUND: {names.who(one['learner'])} {one['text']}." for one in found[:FINDINGS_MOST]]
    return head + shown + ([f"and {len(found) - FINDINGS_MOST} more"] if len(found) > FINDINGS_MOST else [])


# ---- the command ----

def audit_of(paths: list[str]) -> Audit:
    audit = Audit()
    with Logs(paths) as logs:
        for record in logs.records():
            audit.take(record)
    audit.close()
    if logs.malformed.count:
        complain(NAME, f"{plural(logs.malformed.count, 'malformed line')} left out, the first at {logs.malformed.first}")
    for folder in filter(os.path.isdir, paths):
        audit.unit = audit.unit or unit_of(folder)
        for own, ledger in ledgers(folder).items():
            if own in audit.accounts:
                audit.accounts[own].ledger = ledger
    if not audit.unit and not any(account.charges for account in audit.accounts.values()):
        raise CommandError(f"{paths[0]}: no learner was charged, and no roster.yaml there has dp: record or dp: learner (records of charges "
                           "have the level info)", USAGE)
    if not audit.accounts:
        raise CommandError(f"{paths[0]}: no record of a learner in its logs, so nothing is audited", FAILED)
    return audit


def run(paths: list[str], as_json: bool) -> int:
    document = audit_of(paths).document()
    print(dumps(document) if as_json else clean("\n".join(fill(lines(document), width_of(sys.stdout)))), flush=True)
    return FAILED if document["findings"] else 0


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    for out in (sys.stdout, sys.stderr):
        out.reconfigure(encoding="utf-8", errors="replace")
    parser = Parser(NAME, "RUNFOLDER|FILE...", "Check that each learner was charged for each committed round that it took part in, and show "
                    "what each has spent.", EXAMPLES)
    parser.add_argument("paths", metavar="RUNFOLDER|FILE", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("-j", "--json", action="store_true", help="print JSON")
    o = parser.parse_intermixed_args(arguments)
    if not o.paths:
        parser.error(MISSING)
    return guard(NAME, lambda: run(o.paths, o.json))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
