"""Check the rounds of a run: a request in each line of standard input, an answer in each line of standard output.

    {"round": 3, "folder": "/tmp/run", "learners": 4, "who": [1, 2, 4], "passed": [2], "tolerance": 1,
     "encoding": {"values": "update", "decimals": 0, "bits": 12, "paper": false, "clamp": false, "clipping_range": 1.0}}
    {"round": 3}                                               the mean is exact
    {"round": 3, "error": "...", "missing": false}             it is not, or is not known to be; missing: there are no models to tell

The first line of output is {"ready": true}. The program ends with its input."""
from __future__ import annotations

import json
import resource
import signal
import sys

from starling_verify.checkpoint import CheckError
from starling_verify.rounds import Encoding, Request, check


def answer(line: str) -> dict:
    """Return the answer to a request."""
    fields = json.loads(line)
    request = Request(**{**fields, "encoding": Encoding(**fields["encoding"])})
    try:
        check(request)
    except CheckError as error:
        return {"round": request.round, "error": str(error), "missing": error.missing}
    except MemoryError:
        return {"round": request.round, "error": "out of memory", "missing": False}
    return {"round": request.round}


def main(arguments: list) -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C: the launcher ends this program
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # the models of all learners are open at a time
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(line)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
