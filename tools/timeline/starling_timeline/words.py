"""Text for people: names of learners, durations, sizes; safe for a terminal, and wrapped to its width."""
from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterable
from typing import TextIO

NAMED_MOST = 4  # learners in a sentence
WIDTH_USUAL, WIDTH_LEAST = 80, 16  # columns; below the least, lines are not wrapped
# Control characters, and those that change the direction of writing; as sl_clean_text (common/base/clean.c) has them.
HIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """Return text that may come from a peer, for a terminal: learners name themselves, and quote what they got."""
    return HIDDEN.sub("?", text)


def width_of(out: TextIO) -> int:
    """Return the width of a terminal, or 0: it is none."""
    if not out.isatty():
        return 0
    try:
        return os.get_terminal_size(out.fileno()).columns or WIDTH_USUAL
    except OSError:
        return WIDTH_USUAL


def fill(lines: Iterable[str], width: int) -> list[str]:
    """Return the lines, broken between words where they are wider than `width`, and continued with an indent of 4 more."""
    if width < WIDTH_LEAST:
        return list(lines)
    return [textwrap.fill(line, width, subsequent_indent=" " * (len(line) - len(line.lstrip()) + 4), break_long_words=False,
                          break_on_hyphens=False) for line in lines]


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


class Names:
    """The names of the learners of a document."""

    def __init__(self, document: dict) -> None:
        self.names = {learner["id"]: learner["name"] for learner in document["learners"]}

    def who(self, learner: int) -> str:
        """Return "ana (2)", or "learner 2" where its name is not known."""
        name = self.names.get(learner)
        return f"{name} ({learner})" if name else f"learner {learner}"

    def several(self, learners: list[int]) -> str:
        """Return a number of learners in words: "ana (1), bo (2) and 7 more"."""
        count = len(learners)
        names = [self.who(one) for one in learners[:count if count <= NAMED_MOST + 1 else NAMED_MOST]]
        last = names.pop() if count == len(names) and count > 1 else f"{count - len(names)} more" if count > len(names) else ""
        return ", ".join(names) + (f" and {last}" if last else "")


def duration(s: float) -> str:
    """Return "12.3 s", with about three digits."""
    return f"{s:.3f} s" if s < 0.0995 else f"{s:.2f} s" if s < 9.95 else f"{s:.1f} s" if s < 99.5 else f"{s:.0f} s"


def size(count: int) -> str:
    """Return a number of bytes as "3.4 KB", "46.0 MB"."""
    return f"{count / 1e3:.1f} KB" if count < 1000000 else f"{count / 1e6:.1f} MB"
