"""One row of figures of a round, and one of each learner in it, from the round's document (starling_timeline). Units: seconds, bytes."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Optional

from starling_timeline.rounds import PHASES
from starling_timeline.words import clean

FIGURES = ("train_s", "bytes_sent", "bytes_received", "loss", "mse", "digest")  # of a learner
ROUNDS_HEAD = ("round", "start", "seconds", "attempts", "participants", "edges", "mixing", "exchanges", "tolerance", "cut_vertices",
               "bytes_sent", "loss", "mse", "same", "slowest", "slowest_phase", "slowest_s")
LEARNERS_HEAD = ("round", "learner", "name", "committed_s", "waited_s", *FIGURES, *(f"in_{phase}_s" for phase in PHASES))


def _size(items: Optional[list[Any]]) -> Optional[int]:
    return None if items is None else len(items)


def round_row(document: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of a round; one that is not known is None. Those of the graph are of the last attempt with a view."""
    view = next((one for one in reversed(document["attempts"]) if one.get("edges") is not None), {})
    names = {learner["id"]: learner["name"] for learner in document["learners"]}
    sent, errors = ([one[field] for one in document["learners_of_round"] if one.get(field) is not None] for field in ("bytes_sent", "mse"))
    slowest, end = document.get("slowest") or {}, document.get("end_s")
    values = (document["round"], document.get("start"), None if end is None else end - (document.get("start_s") or 0), len(document["attempts"]),
              _size(view.get("participants")), _size(view.get("edges")), view.get("mixing"), view.get("steps"), view.get("tolerance"),
              _size(view.get("cut_vertices")), sum(sent) if sent else None, document.get("loss"),
              sum(errors) / len(errors) if errors else None, document.get("same"), names.get(slowest.get("learner")),
              slowest.get("phase"), slowest.get("s"))
    return dict(zip(ROUNDS_HEAD, values))


# ---- CSV ----

def _text(value: Any) -> str:
    """Return a value of a table, on one line and without the control characters that a log may have. A spreadsheet takes a text that
    begins with one of =+-@ for a formula: it gets an apostrophe."""
    if isinstance(value, str):
        value = clean(value).replace("\n", "?")
        guarded = "'" + value if value[:1] in tuple("=+-@") else value
        return '"' + guarded.replace('"', '""') + '"'
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else f"{value:.9g}" if isinstance(value, float) else str(value)


def line(values: Iterable[Any]) -> str:
    """Return a line of a table."""
    return ",".join(map(_text, values)) + "\n"


def _sum(intervals: Iterable[dict[str, Any]]) -> str:
    """Return the seconds of all intervals that have an end."""
    return f"{sum(one['to_s'] - one['from_s'] for one in intervals if one.get('to_s') is not None):.6f}"


def learner_lines(document: dict[str, Any]) -> str:
    """Return the lines of all learners of a round."""
    names = {learner["id"]: learner["name"] for learner in document["learners"]}
    text = ""
    for one in document["learners_of_round"]:
        committed, spans = one.get("committed_s"), one.get("spans", ())
        seconds = ["" if committed is None else f"{committed - (document.get('start_s') or 0):.6f}", _sum(one.get("waits", ()))]
        phases = [_sum(span for span in spans if span["phase"] == phase) for phase in PHASES]
        text += ",".join([line((document["round"], one["learner"], names.get(one["learner"])))[:-1], *seconds,
                          line(one.get(figure) for figure in FIGURES)[:-1], *phases]) + "\n"
    return text
