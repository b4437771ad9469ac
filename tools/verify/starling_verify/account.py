"""`starling account`: write the account of the rounds of a learner for others, and verify such a file; see starling-account(1)."""
from __future__ import annotations

import argparse
import json
import mmap
import os
import re
import stat
import struct
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Optional, TextIO

from starling_timeline.command import FAILED, USAGE, CommandError, Parser, complain, guard, why
from starling_timeline.values import date
from starling_timeline.words import clean, plural
from starling_verify import account_record as records
from starling_verify.account_record import Malformed, dumps
from starling_verify.ed25519 import verify
from starling_verify.roster import Rosters

FORMAT = "starling account 1"
FILE = "account"
BACKUPS = ("backup", "backup.new")  # folders of a state folder
FINDINGS_MOST = 20
TIME_END = 253402300800  # the year 10000
EXPORT_EXAMPLES = """Examples:
  starling account export RUNFOLDER --learner learner-02 -o account.jsonl
  starling account export RUNFOLDER --learner learner-02 --table
  starling account export /var/lib/starling/ward --round 17 -o round-17.jsonl

Exit status: 0 written, 1 there is no such account or round, 2 wrong usage."""
VERIFY_EXAMPLES = """Examples:
  starling account verify --roster roster.yaml account.jsonl
  starling account verify -r roster.yaml -r roster-2025.yaml account.jsonl
  starling account verify -r /var/lib/starling/ward/state/rosters account.jsonl

Exit status: 0 all is as it was signed, 1 something is not, 2 wrong usage."""


def span(noun: str, first: int, end: int, verb: bool = False) -> str:
    text = f"{noun} {first}" if first == end else f"{noun}s {first} to {end}"
    return text + (" is" if first == end else " are") * verb


# ---- export ----

def unreadable(path: str, error: OSError) -> CommandError:
    return CommandError(f"{path}: {why(error)}", FAILED)


def is_file(path: str, denied: list[CommandError]) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        denied.append(unreadable(path, error))
        return False


def names_in(folder: str) -> list[str]:
    try:
        return sorted(set(os.listdir(folder)) - set(BACKUPS))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise unreadable(folder, error) from None


def find_account(folder: str, learner: Optional[str]) -> str:
    """Return the path of the account in the folder of a run, of a learner, or of its state."""
    denied: list[CommandError] = []
    names = [learner] if learner else [".", *names_in(folder)]
    paths = (os.path.join(folder, name, below, FILE) for name in names for below in ("", "state"))
    found = sorted({os.path.normpath(path) for path in paths if is_file(path, denied)})
    if not found and denied:
        raise denied[0]
    if not found and not os.path.isdir(folder):
        raise CommandError(f"{folder}: no such folder")
    if not found and learner and not os.path.isdir(os.path.join(folder, learner)):
        raise CommandError(f"{folder}: no learner {learner} here")
    if not found:
        raise CommandError(f"{os.path.join(folder, learner or '')}: no account of rounds: no round has committed there", FAILED)
    if len(found) > 1:
        raise CommandError(f"{folder}: there are accounts of {plural(len(found), 'learner')}: name one with --learner", USAGE)
    return found[0]


class Account:
    """The file of an account, as it is now: a learner may append to it."""

    def __init__(self, path: str) -> None:
        try:
            with open(path, "rb") as file:
                self.data: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if os.fstat(file.fileno()).st_size > 0 else b""
        except OSError as error:
            raise unreadable(path, error) from None
        self.path, self.damaged = path, []
        self.count, self.last = 0, {}
        for self.last in self.records():
            self.count += 1
        if self.count == 0:
            raise CommandError(f"{path}: no record is in it", FAILED)
        for text in self.damaged:
            complain("starling account export", text)

    def records(self) -> Iterator[dict]:
        """Yield the records; note what is damaged."""
        self.damaged, end = [], 0
        for at, found in records.read_file(self.data):
            if self.data[end:at].strip(b"\0"):
                self.damaged.append(f"{self.path}: bytes {end} to {at - 1} are damaged, and left out: no records, and not all zero")
            end = at + len(found)
            try:
                yield records.unpack(found)
            except ValueError as error:
                self.damaged.append(f"{self.path}: the record at byte {at} is damaged, and left out: {error}")

    def head(self, count: int) -> dict:
        return {"format": FORMAT, "run": self.last["run"], "learner": self.last["learner"], "records": count}

    def lines(self) -> Iterator[dict]:
        yield self.head(self.count)
        yield from self.records()

    def proof(self, t: int) -> list[dict]:
        """Return the record of round `t`, and what shows that the last record follows it without showing the others."""
        rest = self.records()
        found = next((record for record in rest if record["round"] == t), None)
        if found is None:
            raise CommandError(f"{self.path}: round {t} is not in it", FAILED)
        later, last = [], found
        for record in rest:
            if record["number"] <= last["number"]:  # another account begins
                break
            if record["number"] > last["number"] + 1:
                lost = span("record", last["number"] + 1, record["number"] - 1, verb=True)
                raise CommandError(f"{self.path}: {lost} lost here: no proof of round {t} can be made", FAILED)
            later.append(records.entry_hash(record).hex())
            last = record
        return [self.head(1), found, {"later": later, "key": last["key"], "signature": last["signature"]}]


def epsilon_of(record: dict) -> str:
    dp = record["dp"]
    return "-" if dp["charges"] == 0 else "no bound" if dp["millionths"] is None else f"{dp['millionths'] / 1e6:.4g}"


def time_of(record: dict) -> str:
    """Return the time of a record; that of a damaged one may be none."""
    return date(record["time"])[:19] + "Z" if record["time"] < TIME_END else "-"


def table_of(found: Iterable[dict]) -> Iterator[str]:
    yield (f"{'round':>7} {'attempt':>7}  {'committed at':<20}  {'signers':>7}  {'weights':>9}  {'epsilon':>8}  {'model':<12}  {'roster':<12}  "
           f"{'program':<12}  participants")
    for r in found:
        participants = " ".join(str(one) for one, _ in r["participants"])
        yield (f"{r['round']:>7} {r['attempt']:>7}  {time_of(r):<20}  {len(r['digests']):>7}  {'<=' + str(r['most_weight']):>9}  "
               f"{epsilon_of(r):>8}  {r['model'][:12]:<12}  {r['view']['roster'][:12]:<12}  {(r['program'] or '-')[:12]:<12}  {participants}")


def export(arguments: list[str]) -> int:
    p = Parser("starling account export", "FOLDER", "Write the account of the rounds of a learner: JSON, one object a line.", EXPORT_EXAMPLES)
    p.add_argument("folder", metavar="FOLDER", help="a run folder, the folder of a learner, or its state folder")
    p.add_argument("-l", "--learner", metavar="NAME", help="the learner of a run folder, by the name of its folder")
    p.add_argument("-r", "--round", metavar="T", help="this round alone, with the proof that the account has it")
    p.add_argument("-o", "--output", metavar="FILE", help="write to this file, not to standard output")
    p.add_argument("-t", "--table", action="store_true", help="a table for people, which cannot be verified")
    o = p.parse_args(arguments)
    if o.round is not None and (not re.fullmatch("[0-9]{1,20}", o.round) or int(o.round) == 0):
        raise CommandError(f"--round {o.round[:40]}: must be a whole number from 1 on")
    account = Account(find_account(o.folder, o.learner))
    proof = account.proof(int(o.round)) if o.round is not None else None
    if o.table:
        write(o.output, table_of(proof[1:2] if proof else account.records()))
    else:
        write(o.output, map(dumps, proof or account.lines()))
    return 0


def write(path: Optional[str], lines: Iterator[str]) -> None:
    if path is None:
        for line in lines:
            print(line)
        sys.stdout.flush()
        return
    try:
        with open(path, "w", encoding="utf-8") as out:
            out.writelines(line + "\n" for line in lines)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}", FAILED) from None


# ---- verify ----

class Check:
    """The records of a file, in order; `findings` says what is wrong with them, `notes` what is not there."""

    def __init__(self, roster: Rosters) -> None:
        self.roster = roster
        self.findings: list[str] = []
        self.notes: list[str] = []
        self.before: Optional[dict] = None
        self.link = records.NONE  # of the record before
        self.count = 0
        self.changed = False  # the record before; nothing can be said of what follows from it
        self.rosters: list[tuple[str, int, int]] = []  # hashes, and the first and last round of records in a row with it

    def take(self, record: dict, where: str) -> None:
        self.count += 1
        before, changed, self.changed = self.link, self.changed, False
        self.link = records.link(record["run"], record["number"], bytes.fromhex(record["link_before"]), records.entry_hash(record))
        if not verify(bytes.fromhex(record["key"]), self.link, bytes.fromhex(record["signature"])):
            self._say(where, f"it was changed: it is not what {self.roster.called(record['learner'])} has signed")
            self.changed = True
            return
        if not changed:
            self._follows(record, before, where)
        self._is_later(record, where)
        self._is_pinned(record, where)
        self._is_certified(record, where)
        self._note_roster(record)
        self.before = record

    def take_broken(self, line: str, number: int) -> None:
        """Take a line that is no record."""
        found = re.match(r'{"number":(\d{1,18}),', line)
        self.findings.append(f"line {number} {f'(record {found[1]}) ' if found else ''}was changed: not a record")
        self.changed = True

    def _note_roster(self, record: dict) -> None:
        used, t = record["view"]["roster"], record["round"]
        if self.rosters and self.rosters[-1][0] == used:
            t = self.rosters.pop()[1]
        self.rosters.append((used, t, record["round"]))

    def compare_rosters(self) -> None:
        """Check that the rosters of the rounds are among those given, with their settings."""
        for used, first, end in self.rosters:
            if used in self.roster.hashes:
                continue
            where = f"{span('round', first, end)}: roster {used}"
            if self.roster.lists:
                self.notes.append(f"{where}: not compared: the settings of a list of learners are in starlingd.yaml; see 'starlingd --check'")
            else:
                self.findings.append(f"{where} is none of those given: another is missing here, or its keys or shared settings were changed")

    def _say(self, where: str, text: str) -> None:
        self.findings.append(f"{where}: {text}")

    def _follows(self, record: dict, link: bytes, where: str) -> None:
        """Check that a record stands behind the one before it, whose link this is."""
        before = self.before
        if before is None and record["number"] > 1:
            self.notes.append(f"{span('record', 1, record['number'] - 1, verb=True)} not in this file")
        elif before is not None and record["number"] != before["number"] + 1:
            self._say(where, f"it comes after record {before['number']}: records are missing, or the account was begun anew")
        elif bytes.fromhex(record["link_before"]) != link:
            self._say(where, "it does not follow the record before it: one of the two was made anew, or others were left out")
        elif record["round"] > (before["round"] if before else 0) + 1:
            first = before["round"] + 1 if before else 1
            self.notes.append(f"{span('round', first, record['round'] - 1, verb=True)} not in the account")

    def _is_later(self, record: dict, where: str) -> None:
        """Check what a record says of an earlier one."""
        before = self.before
        if before is None or record["number"] <= before["number"]:
            return
        if record["run"] != before["run"]:
            self._say(where, "it is of another run")
        if record["learner"] != before["learner"]:
            self._say(where, "it is of another learner than the record before it")
        if record["round"] <= before["round"]:
            self._say(where, f"it is not later than round {before['round']}")
        if record["round"] == before["round"] + 1 and record["view"]["previous"] != before["digest"]:
            self._say(where, f"its view was built on another result of round {before['round']}")
        if record["dp"]["charges"] < before["dp"]["charges"]:
            self._say(where, "fewer charges than in the record before it")

    def _is_pinned(self, record: dict, where: str) -> None:
        if not self.roster.pinned(record["learner"], record["key"]):
            self._say(where, f"no roster pins its key for {self.roster.called(record['learner'])}")

    def _is_certified(self, record: dict, where: str) -> None:
        """Check that enough participants have signed the result (ROUND.md §7.14)."""
        participants = [learner for learner, _ in record["participants"]]
        good = set()
        for digest in record["digests"]:
            learner = digest["learner"]
            if learner not in participants or not self.roster.pinned(learner, digest["key"]):
                self.notes.append(f"{where}: no roster pins the key of {self.roster.called(learner)}, or it took no part: its digest does not count")
            elif not verify(bytes.fromhex(digest["key"]), records.signed_by(record, digest), bytes.fromhex(digest["signature"])):
                self._say(where, f"{self.roster.called(learner)} has not signed this result of this view")
            else:
                good.add(learner)
        size, least = len(participants), self.roster.least()
        if size < least:
            self._say(where, f"{plural(size, 'participant')}; a round has {least} at least")
        need = min(size, max(self.roster.tolerance, (size + record["view"]["forgetful"]) // 2) + 1)
        if participants != sorted(set(participants)) or len(good) < need:
            self._say(where, f"{len(good)} of {plural(size, 'participant')} have signed its result; a commit needs {need}")

    def take_later(self, later: dict) -> None:
        """Check that the newest record follows the one that is shown."""
        record = self.before
        if record is None or self.changed:
            if not self.findings:
                self.findings.append("the record that the later ones follow is missing")
            return
        for number, of_entry in enumerate(later["later"], record["number"] + 1):
            self.link = records.link(record["run"], number, self.link, bytes.fromhex(of_entry))
        key, signature = bytes.fromhex(later["key"]), bytes.fromhex(later["signature"])
        if not self.roster.pinned(record["learner"], later["key"]) or not verify(key, self.link, signature):
            who = self.roster.called(record["learner"])
            self.findings.append(f"the last line: {who} has not signed that these records follow round {record['round']}")
        self.notes.append(f"{plural(len(later['later']), 'later record')} {'are' if len(later['later']) != 1 else 'is'} not shown")


def read_line(line: str) -> dict:
    """Return the object of a line: a record, or the proof that later ones follow. Only one line says the same."""
    value = json.loads(line)
    if type(value) is dict and "later" in value:
        hashes = [*value["later"], value["key"], value["signature"][:64], value["signature"][64:]]
        again = {"later": value["later"], "key": value["key"], "signature": value["signature"]}
        if type(value["later"]) is not list or not all(type(one) is str and re.fullmatch("[0-9a-f]{64}", one) for one in hashes):
            raise Malformed("not hashes")
    else:
        again = records.unpack(records.pack(value))
    if dumps(again) != line:
        raise Malformed("it is written in another way")
    return value


def check_head(line: str) -> dict:
    try:
        head = json.loads(line)
        if head["format"] == FORMAT and dumps({key: head[key] for key in ("format", "run", "learner", "records")}) == line:
            return head
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise CommandError("line 1: not the first line of an account: export it anew", FAILED)


def check_file(file: TextIO, check: Check) -> dict:
    """Check all lines; return the first one."""
    head, number, complete, ended = check_head(file.readline().rstrip("\n")), 1, True, False
    for number, line in enumerate(file, 2):
        complete = line.endswith("\n")
        try:
            value = read_line(line[:-1] if complete else line)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, struct.error):
            if complete:
                check.take_broken(line, number)
            continue
        if ended:
            check.findings.append(f"line {number}: it follows the line that ends the proof")
        ended = "later" in value
        if ended:
            check.take_later(value)
        else:
            check.take(value, f"round {value['round']} (record {value['number']}, line {number})")
    if not complete:
        check.findings.append(f"line {number}: the last line has no end: the file was cut")
    return head


def check_against_head(check: Check, head: dict) -> None:
    last = check.before
    if check.findings:  # of which this may follow
        return
    if last is None or last["run"] != head["run"] or last["learner"] != head["learner"]:
        check.findings.append("line 1: it names another run or learner than the records")
    if check.count != head["records"]:
        check.findings.append(f"line 1: {head['records']} records were exported, {check.count} could be read")


def show(check: Check, head: dict, as_json: bool) -> None:
    last = check.before
    if as_json:
        print(dumps({"run": head["run"], "learner": head["learner"], "records": check.count, "findings": check.findings,
                     "notes": check.notes, "last_round": last["round"] if last else None, "link": check.link.hex(), "tolerance": check.roster.tolerance,
                     "rosters": [{"hash": used, "first_round": first, "last_round": end, "given": used in check.roster.hashes}
                                 for used, first, end in check.rosters]}))
        return
    for text in check.findings[:FINDINGS_MOST]:
        print(clean(text))
    if len(check.findings) > FINDINGS_MOST:
        print(f"and {len(check.findings) - FINDINGS_MOST} more; --json has them all")
    if not check.findings and last is not None:
        show_verdict(check, head, last)
    for text in check.notes[:FINDINGS_MOST]:
        print(f"note: {clean(text)}")


def show_verdict(check: Check, head: dict, last: dict) -> None:
    print(f"{plural(check.count, 'record')} of {clean(check.roster.called(head['learner']))}, run {clean(head['run'])}, "
          f"up to round {last['round']}: as they were signed\nlink of the last one: {check.link.hex()}")
    same = [one for one in check.rosters if one[0] in check.roster.hashes]
    for used, first, end in same[:FINDINGS_MOST]:
        print(f"{span('round', first, end)}: roster {used}, which was given, with its settings")
    if len(same) > FINDINGS_MOST:
        print(f"and {len(same) - FINDINGS_MOST} more; --json has them all")


def files_of(path: str) -> list[str]:
    """Return the files of a folder of rosters, such as state/rosters; or the roster itself."""
    if not os.path.isdir(path):
        return [path]
    found = [os.path.join(path, name) for name in names_in(path) if name.endswith(".yaml")]
    if not found:
        raise CommandError(f"{path}: no roster is in it")
    return found


def verify_file(arguments: list[str]) -> int:
    p = Parser("starling account verify", "--roster FILE|FOLDER FILE", "Verify an exported account of rounds, with nothing but the roster.", VERIFY_EXAMPLES)
    p.add_argument("file", metavar="FILE", help="what `starling account export` has written")
    p.add_argument("-r", "--roster", metavar="FILE|FOLDER", action="append", default=[],
                   help="the roster, or a folder of rosters; may be repeated: all rosters of the run, in any order")
    p.add_argument("-c", "--tolerance", metavar="C", help="the tolerance of the run, where the roster is a list and has none")
    p.add_argument("-j", "--json", action="store_true", help="print JSON")
    o = p.parse_args(arguments)
    if not o.roster:
        p.error("name the roster with --roster")
    if o.tolerance is not None and not re.fullmatch("[1-9][0-9]{0,8}", o.tolerance):
        raise CommandError(f"--tolerance {o.tolerance[:40]}: must be a whole number from 1 on")
    check = Check(Rosters())
    for path in o.roster:
        for file in files_of(path):
            check.roster.read(file)
    if o.tolerance is not None:
        check.roster.tolerance, check.roster.warns = int(o.tolerance), False
    try:
        with open(o.file, encoding="ascii", errors="replace", newline="\n") as file:
            head = check_file(file, check)
    except OSError as error:
        raise CommandError(f"{o.file}: {error.strerror}", FAILED) from None
    check_against_head(check, head)
    check.compare_rosters()
    show(check, head, o.json)
    return FAILED if check.findings else 0


COMMANDS = {"export": export, "verify": verify_file}


def main(arguments: list[str]) -> int:
    """Run the command and return its exit status."""
    word = arguments[0] if arguments else "--help"
    if word in COMMANDS:
        sys.argv[0] = f"starling account {word}"
        return guard(sys.argv[0], lambda: COMMANDS[word](arguments[1:]))
    p = Parser("starling account", "export|verify ...", "Write the account of the rounds of a learner for others, or verify such a file.",
               "Commands:\n  export     write the account of a learner\n  verify     verify an exported account\n\n"
               "See 'starling account COMMAND --help'.")
    p.add_argument("command", help=argparse.SUPPRESS)
    p.parse_args([word])
    p.error(f"unknown command '{word}'")
