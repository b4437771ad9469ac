"""A run as a trace: the Trace Event Format (JSON) that ui.perfetto.dev and chrome://tracing open.

One process for each learner; its phases are slices of one track, its waits of more than a second another, its commits instants. Times are
microseconds since the first record of the run.
"""
from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import TextIO

from starling_timeline.timeline import Timeline
from starling_timeline.values import dumps
from starling_timeline.words import Names

PHASES, WAITS = 1, 2  # tracks


def microseconds(s: float) -> float:
    return float(round(s * 1e6))


def names_of(run: dict) -> Iterator[dict]:
    names = Names(run)
    for learner in names.names:
        for what, track, name in (("process_name", 0, names.who(learner)), ("thread_name", PHASES, "phases"), ("thread_name", WAITS, "waits")):
            yield {"ph": "M", "name": what, "pid": learner, "tid": track, "args": {"name": name}}


def slices(track: int, lane: dict, named: list[tuple[str, dict, dict]], end_s: float) -> Iterator[dict]:
    """Yield the slices of a track: name, interval, arguments. One that goes on ends with the run; and each at the latest where another
    begins, since slices that overlap in part are not shown. The times of waits are rounded. In a broken log they may be no numbers."""
    begins = sorted(interval["from_s"] for _, interval, _ in named if interval["from_s"] is not None)
    for name, interval, args in named:
        start, end = interval["from_s"], interval["to_s"]
        if start is None:
            continue
        end = max(start, end_s) if end is None else end
        end = min([end, *begins[bisect_right(begins, start):][:1]])
        yield {"ph": "X", "name": name, "pid": lane["learner"], "tid": track, "ts": microseconds(start),
               "dur": microseconds(end) - microseconds(start), "args": args}


def events(timeline: Timeline) -> Iterator[dict]:
    run = timeline.run()
    yield from names_of(run)
    for t in timeline.order:
        for lane in timeline.round(t)["learners_of_round"]:
            spans = [(span["phase"], span, {"round": t, "attempt": span["attempt"]}) for span in lane["spans"]]
            waits = [(wait["for"] or "wait", wait, {"round": t, "awaited": wait["awaited"]}) for wait in lane["waits"]]
            yield from slices(PHASES, lane, spans, run["end_s"])
            yield from slices(WAITS, lane, waits, run["end_s"])
            if lane["committed_s"] is not None:
                yield {"ph": "i", "s": "p", "name": "adopted" if lane["adopted"] else "committed", "pid": lane["learner"], "tid": PHASES,
                       "ts": microseconds(lane["committed_s"]), "args": {"round": t}}


def write(out: TextIO, timeline: Timeline) -> None:
    """Write the trace of all rounds."""
    out.write('{"displayTimeUnit":"ms","traceEvents":[')
    separator = "\n"
    for event in events(timeline):
        out.write(separator + dumps(event))
        separator = ",\n"
    out.write("\n]}\n")
