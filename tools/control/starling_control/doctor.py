"""`starling doctor`: what it says of this machine and of the peers of its learner.

    the program: configuration, roster, key ("machine") --> learner, address, disk, limits: here --> peers ("peers") --> clocks: here
"""
from __future__ import annotations

import argparse
import errno
import json
import os
import resource
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from typing import Optional

from starling_control.learners import STOP_ONE, at_socket, ask, clean, committed, number, records, two_places
from starling_timeline import command
from starling_timeline.command import AS_OWNER, Parser
from starling_timeline.values import real, text, whole
from starling_timeline.words import plural

DESCRIPTION = """Look for what keeps the learner of this machine from taking part: first here, then at each peer of its roster.
One line each, with the remedy. Run it as the user of the learner.

FOLDER is that of the group, as with --folder, or of a learner in a run folder."""
EPILOG = """Examples:
  starling doctor
  starling doctor RUNFOLDER/learner-01
  starling doctor --config /etc/starling/starlingd.yaml

Exit status: 0 all is well, 1 something fails, 2 wrong usage, or this machine has no learner."""
OK, WARN, FAIL = "ok", "warn", "FAIL"
ANSWER_S = 2
CHECK_S = 30  # of `starlingd --check`
PEERS_S = 8  # in which the program asks all peers
AVAHI_PID = "/run/avahi-daemon/pid"
SYNC_BYTES, SYNC_SLOW_MS = 64 << 10, 100
MODELS, ROOM_LEAST = 10, 1 << 20  # that a state folder may hold, starlingd(8); bytes of records and log
FILES_OWN = 64  # descriptors besides those of links
MEMORY_LEAST = 8 << 20  # secrets of a small model
LONG_S = 0.01  # round trip time from which on a link is long
CLOCK_S = 300  # by which two clocks may differ without a word
SET_CLOCK = "set the clock, with timedatectl set-ntp true"
YEARS = range(2025, 2101)  # that a clock may show
FILE_AHEAD_S = 60  # that the date of a file may lie ahead, as on a network file system
LISTEN_REMEDIES = {errno.EADDRINUSE: "another program has the port ('ss -ltnp' shows which): end it, or choose another port",
                   errno.EADDRNOTAVAIL: "set 'listen' to an address of this machine, such as 0.0.0.0:PORT",
                   errno.EACCES: "choose a port of 1024 or more"}
DISK_REMEDIES = {errno.ENOSPC: "free some space, or inodes (df -h and df -i show which is short)", errno.EDQUOT: "free some space, or have the quota raised",
                 errno.EROFS: "mount its file system writable ('dmesg' says if a damaged disk was the reason), or set 'state' to a folder elsewhere",
                 errno.ENOENT: "make the folder, or correct 'state'", errno.ENOTDIR: "set 'state' to a folder",
                 errno.EIO: "the disk fails, see 'dmesg': set 'state' to a folder on another one"}
GIVE_FOLDER = "give the folder to the user of the learner, and run this command as that user"
FORGETS = "which forgets all when the machine or container ends: this learner then sits out a round, and pays for it with dp"
REMOTE = "where a record may be lost with the power of another machine, and a second machine may run this learner"
ON_DISK, ON_LOCAL_DISK = "put 'state' on a disk, or set 'forgetful'", "put 'state' on a local disk"
EXPORT = f"{ON_LOCAL_DISK}, or export it with 'sync', and mount it without 'nolock' and 'local_lock'"
FILE_SYSTEMS = {"tmpfs": (FORGETS, ON_DISK), "overlay": (FORGETS, ON_DISK), "NFS": (REMOTE, EXPORT)}
CORRECT = "correct its address in the roster (in a group, on the admin's machine: starling group address)"
JOIN_AGAIN = "move the folder of the group elsewhere, and join with a new invitation"
RESTORE = "restore its folder from its newest backup, or"
REMEDIES = {"configuration": "correct it; starlingd.yaml(5) describes each setting",
            "roster": "copy it again from a learner that runs; see roster(5)",
            "removed": f"it was removed; to take part again, {JOIN_AGAIN}", "no line": "correct 'id', or have this learner added to the roster",
            "key": f"{RESTORE} make a new key with 'starling keygen'",
            "other key": "correct 'identity' or 'id', or have the roster line of 'starling keygen --show' put into the roster of all learners",
            "key of group": f"{RESTORE} have this learner removed, {JOIN_AGAIN}"}
# What is found at a peer: the text, with a detail, and the remedy.
PEERS = {
    "answers": ("answers", ""),
    "busy": ("answers, and holds another link, or waits for its first program", ""),
    "forming": ("answers; the group is forming", ""),
    "link": ("the learner holds a link", ""),
    "narrow": ("it can be reached, but large packets are lost on the way; links use small ones (of 1200 bytes, or 536)",
               "if the path is to carry more: let ICMP 'fragmentation needed' and 'packet too big' through the firewalls, "
               "or lower the MTU of the VPN's interface at both ends (ip link set dev NAME mtu 1280)"),
    "relayed": ("the learner holds a link; its own address does not answer ({})", ""),
    "late": (f"not done within {PEERS_S} s", "does its name resolve? see /etc/resolv.conf"),
    "nowhere": ("its address {}", CORRECT),
    "other learner": ("another learner answers there, {}", "correct the addresses of the two in the roster (in a group: starling group address)"),
    "other key": ("another key answers than the roster has, {}",
                  "compare it with 'starling keygen --show' there, then correct the key or the address in the roster"),
    "one way": ("one direction only: it has dialled this machine, and cannot be dialled ({})",
                f"the link works; if this machine is to dial, too, open the firewall there, make its name resolve here, or {CORRECT}"),
    "only dials": ("its address leads nowhere on purpose, as it only dials out, and the learner of this machine holds no link with it",
                   "start both; links come when it dials"),
    "no name": ("its name does not resolve ({})", f"does the name server answer? see /etc/resolv.conf and /etc/hosts here, or {CORRECT}"),
    "proxy": ("{}", "ask the operator of the proxy"),
    "no route": ("no route ({})",
                 "look at the route and the VPN (ip route get HOST); a firewall may say so, too: let the port through those of both machines"),
    "forbidden": ("this machine forbids the connection ({})", "let the port through the firewall of this machine"),
    "refused": ("connection refused: no program listens there", f"start its learner, or {CORRECT}"),
    "over": ("it does not run; this learner has committed all rounds, and cannot tell if that one has, too",
             "'starling doctor' there tells; if it has not, start it and this learner"),
    "no answer": ("no answer within {} s", "is its machine on? let the port through the firewalls of both machines"),
    "network": ("{}", "see the network of both machines"),
    "tls": ("TLS failure: {}", "another program, or a proxy that ends TLS, may have the port: correct the address, or pass TLS through"),
    "silent": ("it accepts the connection, and no TLS follows: {}",
               "is its learner stopped by a signal (kill -CONT), does its disk hang, or has another program or a proxy the port? see its log"),
    "other run": ("other run: it takes no part in '{}'", "set 'run' to the same name at all learners"),
    "other roster": ("answers, and has another roster or other shared settings",
                     "give all learners the same roster and shared settings, then run 'starling reload'"),
    "newer": ("version differs: it speaks a newer version of the protocol", "upgrade Starling here"),
    "older": ("version differs: it speaks an older version of the protocol", "upgrade Starling there"),
    "refuses key": ("it refuses the key of this machine, which is not in its roster",
                    "have the line of this machine put into its roster, then run 'starling reload' there"),
    "mute": ("it completes the TLS handshake, and then sends nothing", "see its log; is its machine overloaded?"),
    "unfit roster": ("its roster does not fit: {}", "ask the admin which roster is right"),
    "version of roster": ("answers; it has version {}",
                          "it spreads between two rounds: wait for the next round, or run 'starling group update' at the older one"),
    "other group": ("other group: the learner that answers, with the right key, is not of {}", "end that learner, and start the one of this group"),
    "no member": ("not a member: the key of this machine is not in its roster",
                  f"run 'starling group list' there; if it is right, to join again, {JOIN_AGAIN}"),
    "later": ("it cannot answer now", "see its log"),
    "no sense": ("{}", "see its log"),
}


class Doctor:
    """The findings. `facts`: of the configuration, if that can be read; `status`: of the running learner, if it answers."""

    def __init__(self, folder: Optional[str], config: Optional[str], as_json: bool) -> None:
        asked = {"subject": config or folder or "", "config": config is not None}
        machine = json.loads(command.ask("machine", **asked))
        self.findings: list[dict] = []
        self.facts, self.json, self.shown = machine["facts"], as_json, 0
        self.status: Optional[dict] = None
        self.runs = self.ended = False  # ended: after the last round
        if self.facts is None:
            about = "roster" if machine["in_roster"] else "configuration"
            self.add(FAIL, about, machine["error"], _remedy(machine["error"], REMEDIES[about]))
        else:
            self.config = machine["config"]
            self.configuration(machine)
            self.machine()
        self.show()
        if machine["good"]:
            self.peers(json.loads(command.ask("peers", **asked)))

    def add(self, result: str, about: str, said: str, remedy: str = "") -> None:
        self.findings.append({"result": result, "about": about, "text": clean(said), "remedy": remedy})

    def show(self) -> None:
        """Print what was not printed yet: what is found here, before the peers have answered."""
        for one in [] if self.json else self.findings[self.shown:]:
            print(f"{one['result']:<4}  {one['about']}: {one['text']}{'; ' if one['remedy'] else ''}{one['remedy']}")
        self.shown = len(self.findings)
        sys.stdout.flush()

    # ---- this machine ----

    def configuration(self, machine: dict) -> None:
        facts, own = self.facts, self.facts["self"]
        self.add(OK, "configuration", self.config)
        group = f"group {facts['group']}, version {facts['version']}, " if facts["group"] is not None else ""
        self.add(OK, "roster", group + plural(facts["learners"], "learner"))
        if own is None:
            self.add(FAIL, "own line", f"{facts['roster']} has no learner {facts['id']}", REMEDIES["removed" if group else "no line"])
            return
        name = f"{own['name']} ({own['id']})"
        if own["flaw"] is None:
            self.add(OK, "own line", f"{name}, {own['address']}")
        else:
            self.add(WARN, "own line", f"{name}: other machines may be unable to reach {own['dialled']}, which {own['flaw']}", CORRECT)
        if own["key"] is None:
            again = f"the key is there, so make the certificate again: starling keygen --dir {shlex.quote(facts['identity'])}"
            new = REMEDIES["key of group" if group else "key"]
            remedy = {"not valid": again, "not found": new, "malformed": new}.get(machine["kind"], "")  # SL_ERRORS of err.h
            self.add(FAIL, "key", machine["error"], _remedy(machine["error"], remedy))
        elif own["key"] != own["pinned"]:
            self.add(FAIL, "key", f"{facts['identity']} has {own['key']}, the roster {own['pinned']}",
                     REMEDIES["key of group" if group else "other key"])
        else:
            self.add(OK, "key", f"{own['key']}, mode 0600")

    def machine(self) -> None:
        self.secrets()
        self.proxy()
        self.clock()
        if self.facts["mdns"] and not os.path.exists(AVAHI_PID):  # it has the file while it runs
            self.add(WARN, "discovery", f"discover: mdns needs avahi-daemon, and there is no {AVAHI_PID}", "apt install avahi-daemon, or start it")
        self.learner()
        if self.facts["listen"] is not None:
            self.address(self.facts["listen"])
        self.disk()
        self.files()
        self.memory()
        self.lines()
        if not self.runs and self.facts["self"] is not None and not any(one["result"] == FAIL for one in self.findings):
            self.start()

    def secrets(self) -> None:
        """Look for files that only their owner may read."""
        for about, path in (("admin key", os.path.join(os.path.dirname(self.config), "admin.key")), ("token", self.facts["token"])):
            try:
                mode = os.stat(path).st_mode & 0o7777
            except OSError:
                continue
            if mode & 0o077:
                self.add(FAIL, about, f"others can read {path} (mode {mode:04o})", f"run chmod 600 {shlex.quote(path)}")
            elif about == "admin key" and self.facts["admin_flaw"]:
                self.add(FAIL, about, self.facts["admin_flaw"],
                         _remedy(self.facts["admin_flaw"], "put back a copy: without it, this machine can neither admit a learner nor sign a change"))

    def proxy(self) -> None:
        """Say which way the connections of this machine go."""
        if self.facts["proxy_error"]:
            self.add(FAIL, "proxy", self.facts["proxy_error"], "correct it; see starlingd.yaml(5)")
        elif self.facts["proxy"]:
            self.add(OK, "proxy", f"connections to other machines go through {self.facts['proxy']}")

    def clock(self) -> None:
        now, before, remedy = time.time(), "", SET_CLOCK
        try:
            dated = os.stat(self.facts["roster"]).st_mtime
        except OSError:
            dated = 0
        if dated > now + FILE_AHEAD_S:
            before, remedy = f", before the date of {self.facts['roster']}", f"{SET_CLOCK}; if it is right, touch that file"
        elif self.facts["made_at"] > now:
            folder = self.facts["identity"]
            before = f", before the date of the certificate in {folder}"
            remedy = f"{SET_CLOCK}; if it is right, rm {shlex.quote(f'{folder}/cert.pem')} && starling keygen --dir {shlex.quote(folder)}"
        shown = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now))
        if before or time.gmtime(now).tm_year not in YEARS:
            self.add(FAIL, "clock", f"it shows {shown}{before}", remedy)
        else:
            self.add(OK, "clock", shown)

    def learner(self) -> None:
        one = at_socket(self.facts["control"])
        ask([one], ANSWER_S, op="status", peers=True)
        self.status, problem, self.runs = one.reply, one.problem(), not one.absent()
        self.ended = one.absent() and committed(self.facts["state"]) >= self.facts["rounds"]
        if number(one.reply, "id") not in (0, self.facts["id"]):
            self.add(FAIL, "learner", f"{one.shown} is the socket of another one, {text(one.reply, 'name')}", "set 'control' to another path")
            self.status, self.runs = None, False
        elif self.ended:
            self.add(OK, "learner", f"it has finished: all {self.facts['rounds']} rounds are committed")
        elif one.absent():
            start = f"start it: starlingd --config {shlex.quote(self.config)}, or its unit"
            self.add(WARN, "learner", "it is not running", start if self.facts["listen"] is not None else "")
        elif problem:
            denied = one.error in (errno.EACCES, errno.EPERM)
            self.add(WARN, "learner", f"{one.shown}: {problem}", AS_OWNER if denied
                     else "see its log: a signal may have stopped it (kill -CONT), or its disk hangs")
        elif one.reply.get("forming") is True or one.reply.get("waiting") is True:
            self.add(OK, "learner", f"runs; {text(one.reply, 'error')}")
        elif text(one.reply, "obstacle"):
            self.add(WARN, "learner", f"runs, and waits: {text(one.reply, 'obstacle')}")
        else:
            self.add(OK, "learner", f"runs, with {number(one.reply, 'links')} links")
        for name, places in two_places([one.reply]).items():
            self.add(FAIL, name, f"runs at two places, {places}: its identity was copied", STOP_ONE)

    def address(self, listen: str) -> None:
        host, _, port = listen.rpartition(":")
        try:
            found = socket.getaddrinfo(host.strip("[]") or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
            if not self.runs:  # a running learner has the port
                with socket.socket(found[0], socket.SOCK_STREAM) as one:
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    one.bind(found[4])
                    one.listen(1)
        except socket.gaierror as failure:
            self.add(FAIL, "address", f"{listen}: {failure.strerror}", "correct the name, or set 'listen'")
        except OSError as failure:
            self.add(FAIL, "address", f"{listen}: {failure.strerror}",
                     LISTEN_REMEDIES.get(failure.errno, "set 'listen' to an address of this machine"))
        else:
            all_addresses = ", all addresses, as the roster has no single address of this machine" if self.facts["all_addresses"] else ""
            self.add(OK, "address", f"{listen}{all_addresses}, {'held by the running learner' if self.runs else 'free'}")

    def disk(self) -> None:
        folder = self.facts["state"]
        if not os.path.exists(folder) and os.path.dirname(folder):
            folder = os.path.dirname(folder)  # the learner makes it
        try:
            with tempfile.TemporaryFile(prefix=".doctor-", dir=folder, buffering=0) as file:
                file.write(bytes(SYNC_BYTES))
                begun = time.monotonic()
                os.fsync(file.fileno())
                ms = 1000 * (time.monotonic() - begun)
            free = shutil.disk_usage(folder).free
        except OSError as failure:
            self.add(FAIL, "disk", f"{folder}: {failure.strerror}", DISK_REMEDIES.get(failure.errno, GIVE_FOLDER))
        else:
            slow, lacks = ms > SYNC_SLOW_MS, self.room() - free
            self.add(WARN if slow else OK, "disk", f"{folder}: {ms:.1f} ms to synchronise 64 KiB",
                     "a round synchronises six times: put 'state' on a faster disk" if slow else "")
            if lacks > 0 and not self.ended:
                self.add(FAIL if free < max(self.model_bytes(), ROOM_LEAST) else WARN, "room on disk",
                         f"{folder}: {free / (1 << 20):.1f} MiB free, {lacks / (1 << 20):.1f} MiB more may be needed",
                         "free some space: a learner needs up to ten times the size of its model")
        if self.facts["disk"]:
            risk, remedy = FILE_SYSTEMS.get(self.facts["disk"], (REMOTE, ON_LOCAL_DISK))
            if self.facts["forgetful"] and risk == FORGETS:
                self.add(OK, "file system", f"{folder} is on {self.facts['disk']}, {risk}; 'forgetful' allows for that", "")
                return
            self.add(WARN, "file system", f"{folder} is on {self.facts['disk']}, {risk}", remedy)

    def model_bytes(self) -> int:
        """Return the size of the last model; 0: there is none."""
        try:
            return os.stat(os.path.join(self.facts["state"], "checkpoints", "latest.safetensors")).st_size
        except OSError:
            return 0

    def room(self) -> int:
        """Return what the learner may need besides the files that it has."""
        used = 0
        for at, _, names in os.walk(self.facts["state"]):
            for name in names:
                try:
                    used += os.lstat(os.path.join(at, name)).st_size
                except OSError:  # a learner that runs removes files
                    pass
        return max(MODELS * self.model_bytes() - used, ROOM_LEAST)

    def limit(self, which: int) -> tuple[tuple[int, int], str]:
        """Return a limit of the running learner, or else of this process, and whose it is."""
        pid = whole(self.status or {}, "pid")
        try:
            return (resource.prlimit(pid, which), "of the learner") if pid else (resource.getrlimit(which), "of this shell")
        except (OSError, OverflowError):  # a number that no process has
            return resource.getrlimit(which), "of this shell"

    def files(self) -> None:
        (_, most), whose = self.limit(resource.RLIMIT_NOFILE)
        need = self.facts["learners"] + FILES_OWN
        if most == resource.RLIM_INFINITY:
            self.add(OK, "open files", f"unlimited ({whose})")
        elif most >= need:
            self.add(OK, "open files", f"up to {most} ({whose}), up to {need} needed")
        else:
            self.add(FAIL, "open files", f"up to {most} ({whose}), {need} needed for a link to each learner",
                     "raise it: ulimit -Hn, or LimitNOFILE= of the unit")

    def memory(self) -> None:
        """About twice the size of the model holds secrets: the trained model and the masked state. Several exchanges take more. Large vectors
        are in files."""
        (most, _), whose = self.limit(resource.RLIMIT_MEMLOCK)
        size = self.model_bytes()
        need = max(2 * size if size < self.facts["paged_bytes"] else 0, MEMORY_LEAST)
        said = f"{most / (1 << 20):.1f} MiB ({whose}), about {need / (1 << 20):.1f} MiB needed"
        if most == resource.RLIM_INFINITY:
            self.add(OK, "locked memory", f"unlimited ({whose})")
        elif most >= need:
            self.add(OK, "locked memory", said)
        else:
            self.add(WARN, "locked memory", said, "secrets could be swapped to disk: ulimit -l unlimited, or LimitMEMLOCK=infinity in the unit")

    def lines(self) -> None:
        """What the system does for a connection, and whether that is too little for the long links that the learner has measured."""
        control, receive, send = (_sysctl(name) for name in ("tcp_congestion_control", "tcp_rmem", "tcp_wmem"))
        if control and receive and send:
            self.add(*long_links(records(self.status, "peers"), control, int(receive), int(send)))

    def start(self) -> None:
        """Say why the learner cannot start, such as damaged records."""
        try:
            done = subprocess.run([_starlingd(), "--config", self.config, "--check"], capture_output=True, text=True, errors="replace", timeout=CHECK_S)
        except (OSError, subprocess.TimeoutExpired):
            return
        if done.returncode:
            why = done.stderr.strip().rpartition("\n")[2].partition(": ")[2]
            self.add(FAIL, "start", why or f"starlingd --check has ended with status {done.returncode}")

    # ---- peers ----

    def peers(self, peers: list[dict]) -> None:
        bad_clock = any(one["about"] == "clock" and one["result"] == FAIL for one in self.findings)
        known = [peer["ahead_s"] for peer in peers if peer["ahead_s"] is not None]
        off = [s for s in known if abs(s) > CLOCK_S]
        if not bad_clock and len(off) >= 2 and 2 * len(off) > len(known):  # the clock of this machine is the wrong one
            bad_clock = True
            self.add(FAIL, "clock", f"it is {_ahead(-off[-1])} those of {len(off)} of the {len(known)} peers that answer", SET_CLOCK)
        for peer in peers:
            if peer["code"] == "no name" and peer["address"].rpartition(":")[0].endswith(".invalid"):
                peer = {**peer, "code": "only dials", "result": WARN}
            if peer["code"] == "refused" and self.ended:
                peer = {**peer, "code": "over", "result": WARN}
            (said, remedy), result, s = PEERS[peer["code"]], peer["result"], peer["ahead_s"]
            said = f"{peer['address']}: {said.format(peer['text'])}"
            if result != FAIL and peer["path"]:
                said += f", through the {peer['path']}"
            if peer["code"] == "late":
                result = FAIL
            elif result == OK and s is not None and abs(s) > CLOCK_S and not bad_clock:
                result, remedy = WARN, "set the wrong one, with timedatectl set-ntp true"
                said += f"; its clock is {_ahead(s)} that of this machine"
            self.add(result, peer["about"], said, remedy)


def _remedy(error: str, remedy: str) -> str:
    """Return the remedy of an error, or that of a file which this user may not read."""
    return AS_OWNER if os.strerror(errno.EACCES) in error else remedy


def _starlingd() -> str:
    """Return the daemon beside this program, or in the build folder."""
    folder = os.path.dirname(os.path.realpath(os.environ["STARLING_PROGRAM"]))
    built = os.path.join(folder, "../daemon/starlingd")
    return built if os.path.exists(built) else os.path.join(folder, "starlingd")


def _sysctl(name: str) -> str:
    """Return the last word of a setting of the kernel, or ""."""
    try:
        with open(f"/proc/sys/net/ipv4/{name}", encoding="ascii") as file:
            return (file.read().split() or [""])[-1]
    except OSError:
        return ""


def long_links(peers: list[dict], control: str, receive: int, send: int) -> tuple[str, str, str, str]:
    """Return the finding. In a round trip a connection carries about half of a buffer, as the kernel counts its overhead, too."""
    said = f"congestion control {control}, buffers of a connection up to {receive / (1 << 20):.1f} and {send / (1 << 20):.1f} MiB"
    far = max(peers, key=lambda peer: real(peer, "rtt_s") if real(peer, "rtt_s") >= LONG_S else 0, default={})
    rtt_s = real(far, "rtt_s")
    if not rtt_s >= LONG_S:
        return OK, "long links", said, ""
    most = min(receive, send) / 2 / rtt_s
    said += f": up to {most * 8e-6:.0f} Mbit/s over the {1000 * rtt_s:.0f} ms to {text(far, 'name')}"
    if not control.startswith("bbr"):
        return WARN, "long links", f"{said}, and far less after losses", "modprobe tcp_bbr, then sysctl -w net.ipv4.tcp_congestion_control=bbr, at both ends"
    if any(real(peer, "rate") * real(peer, "rtt_s") >= min(receive, send) / 4 for peer in peers if real(peer, "rtt_s") >= LONG_S):
        return WARN, "long links", f"{said}; a link has reached half of that", "larger buffers at both ends: starlingd(8), LONG LINKS"
    return OK, "long links", said, ""


def _ahead(ahead_s: int) -> str:
    """Return by how much a clock is ahead or behind, such as "31 days behind"."""
    s, days = abs(ahead_s), abs(ahead_s) // 86400
    return f"{f'{days // 365} years' if days > 730 else f'{days} days' if days > 1 else f'{s} s'} {'behind' if ahead_s < 0 else 'ahead of'}"


def doctor(arguments: list[str]) -> int:
    p = Parser(sys.argv[0], "[FOLDER]", DESCRIPTION, EPILOG)
    p.add_argument("of", metavar="FOLDER", nargs="?", help=argparse.SUPPRESS)
    p.add_argument("--folder", metavar="DIR", help="folder of the group, if this machine has several")
    p.add_argument("-c", "--config", metavar="FILE", help="configuration of a learner that is set up by hand")
    p.add_argument("--control", help=argparse.SUPPRESS)
    p.add_argument("--json", action="store_true", help="print the result as JSON")
    o = p.parse_intermixed_args(arguments)
    folder = o.folder if o.of is None else o.of
    if o.control is not None:  # a learner that does not run has no such socket
        p.error(f"doctor looks at one learner by its folder: starling doctor FOLDER, not --control {o.control}")
    if folder is not None and o.config is not None:
        p.error("--folder and --config exclude each other")
    if folder == "":
        p.error("the folder has no name")
    found = Doctor(folder, o.config, o.json)
    found.show()
    if found.json:
        print(json.dumps(found.findings, ensure_ascii=False))
    return 1 if any(one["result"] == FAIL for one in found.findings) else 0
