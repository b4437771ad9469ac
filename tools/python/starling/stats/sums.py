"""Private sums over the sites of a group: all that the statistics of this package share."""
from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from starling.group import Error, Group

ROOM = 4096  # values of a round
SMALL = 5  # rows: smaller counts are refused or merged
CONSTANT = 1e-26  # the least squared coefficient of variation of a column; that of the rounding of its mean is below 1e-28
PIECES = 4  # 16-bit numbers that stand for the question and the step
NEW_RUN = "start all daemons with another run: and another state:"
PROBE = 1.234567e-3  # beside them, to notice settings that drop digits


class InputError(ValueError):
    """The own data or the question cannot be used. Nothing was shared because of it; the text says what to change."""


class NoResult(Error):
    """The data of all sites do not allow the analysis: small counts, a constant column, no finite estimate."""


class Member(Group):
    """A group for a command: `told` is called with a sentence of the learner on what a round waits for.

    again: the learner asks for another vector of this round, since the last one was possibly released.
    same: what must be the same at all learners; the error if it is not says so."""

    clips = True
    told: Callable[[str], None] | None = None
    again = False
    same = "all sites must run starling.stats, of the same version; then"

    def _take(self, message: dict[str, Any]) -> None:
        super()._take(message)
        if message["type"] == "train":
            self.again = message["again"]
        if message["type"] != "waiting":
            return
        if "trains another model" in self.waiting:
            raise Error(f"{self.waiting}: {self.same} {NEW_RUN}")
        if self.told is not None:
            self.told(self.waiting)

    def check_participants(self) -> None:
        """Raise Error if it is not known how many learners took part in the committed round: a mean is then no sum."""
        if self.participants == 0:
            raise Error(f"round {self.committed} is committed, but the learner was started again and no longer knows how many took part: "
                        "ask again")


class Sums:
    """Sums of arrays over all sites, each exact to the precision of the group (values: model), of weight 1 each.

    All analyses of a run use tensors of the same shapes, so a run may answer one question after the other. A round holds
    `room` values; a larger sum takes several rounds, and the rest of a round is zeros. `path`: see `starling.join`.
    `on_round`: is called with the number of each round before it; `on_wait`: with a sentence on what a round waits for.

    What leaves a site are its arrays, as part of the private sum. All sites learn the sum."""

    def __init__(self, path: str | None = None, room: int = ROOM, on_round: Callable[[int], None] | None = None,
                 on_wait: Callable[[str], None] | None = None) -> None:
        self.participants = 0  # sites of the last sum
        self.own_rows = self.own_dropped = 0  # of the last analysis: rows of this site that are used, and left out
        self._path, self._room, self._on_round, self._on_wait = path, room, on_round, on_wait
        self._group: Member | None = None
        self._rounds: Iterator[int] = iter(())
        self._question, self._step = "", 0

    def __enter__(self) -> Sums:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the group. Its learners go on."""
        if self._group is not None:
            self._group.close()
        self._group = None

    def agree(self, question: str) -> None:
        """Take part with this question: join if needed, and wait until all sites have asked the same one.

        This round has no data. Everything that must be the same at all sites is part of `question`.
        Error: the sites ask different questions."""
        if self._group is None:
            path = self._path or os.environ.get("STARLING_SOCKET")
            if not path:
                raise Error("no learner is named: set STARLING_SOCKET, or give Sums the path of a socket")
            self._group = Member(path, {"question": np.zeros(PIECES + 1), "sums": np.zeros(self._room)}, values="model")
            self._group.told = self._on_wait
            self._rounds = iter(self._group)
            terms = self._group.dp
            if terms is not None:
                self.close()
                raise InputError(f"this learner adds noise (dp: {terms.unit}), and this analysis needs exact sums. Nothing was shared. Take a run with dp: off, or "
                                 "an analysis that can have noise: describe and crosstab, with epsilon and delta")
        self._question, self._step = question, 0
        self.sum({})

    def sum(self, arrays: dict[str, Any]) -> dict[str, np.ndarray]:
        """Return the sums of `arrays` over all sites, float64 of the same shapes.

        The names and shapes are the same at all sites. Error: a round failed, a site was missing or at another step, or no
        round is left."""
        given = {name: np.asarray(array, dtype=np.float64) for name, array in arrays.items()}
        flat = np.concatenate([array.ravel() for array in given.values()]) if given else np.zeros(0)
        if not np.isfinite(flat).all():
            raise Error("a value is not finite: the analysis cannot go on")
        shapes = " ".join(f"{name}{list(array.shape)}" for name, array in given.items())
        total = np.concatenate([self._round(flat[begin:begin + self._room], shapes)
                                for begin in range(0, max(flat.size, 1), self._room)])
        result, begin = {}, 0
        for name, array in given.items():
            result[name] = total[begin:begin + array.size].reshape(array.shape)
            begin += array.size
        return result

    def _round(self, part: np.ndarray, shapes: str) -> np.ndarray:
        """Return the sum of `part` over all sites, in one round."""
        said = hashlib.blake2b(f"{self._question}\n{self._step}\n{shapes}".encode(), digest_size=2 * PIECES).digest()
        own = np.append(np.frombuffer(said, dtype="<u2").astype(np.float64), PROBE)
        padded = np.zeros(self._room)
        padded[:part.size] = part
        mean = self._exchange({"question": own, "sums": padded})
        if self._step == 0 and abs(mean["question"][-1] - PROBE) > 1e-3 * PROBE:
            raise Error("the learners drop digits: leave out the settings values, decimals, clipping_range, modulus and encoding at all sites")
        if np.abs(mean["question"] - own).max() > 0.01:
            raise Error("the sites do not ask the same question: nothing was shared; compare command, formula, levels and "
                        "options of all sites; after a new start, end it at all sites before it begins again" if self._step == 0 else
                        f"a site is at another step than step {self._step} of this analysis, as after a new start: end it "
                        "at all sites before it begins again")
        self._step += 1
        return mean["sums"][:part.size] * self.participants

    def noisy(self, question: str, size: int, budget: Any, parts: Callable[[str], np.ndarray], units: Sequence[str]) -> Any:
        """Return the noisy.Total of one question; see noisy.noisy_total."""
        from starling.stats.noisy import noisy_total

        path = self._path or os.environ.get("STARLING_SOCKET")
        if not path:
            raise Error("no learner is named: set STARLING_SOCKET, or give Sums the path of a socket")
        return noisy_total(path, question, size, budget, parts, units, self._on_wait)

    def _exchange(self, model: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return the mean of `model` over all sites."""
        group = self._group
        assert group is not None
        t = next(self._rounds, None)
        if t is None:
            raise Error(f"the run is over: all of its {group.rounds} rounds are used; set more rounds at all sites, or another run")
        if self._on_round is not None:
            self._on_round(t)
        if group.committed > 0:
            group.model  # noqa: B018, a model of an earlier question: `mean` would return it
        mean = model
        while group.committed < t:
            if group.again and not group.repeatable:
                raise Error(f"round {t} failed after keys were sent; the same values again could reveal them: set membership_change: wait or "
                            "cohort at all sites, or begin the analysis again in a new run (setting run)")
            mean = group.mean(model)
            if group.committed < t:
                next(self._rounds)
        group.check_participants()
        self.participants = group.participants
        if group.participants != group.learners:
            raise Error(f"round {t} had {group.participants} of {group.learners} sites: set quorum: all, and begin again when all "
                        "sites are there")
        return mean


def begin(sums: Sums, question: dict[str, Any], threshold: int, rows: int, dropped: int) -> dict[str, int]:
    """Agree on `question`, then return the facts that each result has: sites, rows and dropped rows of all sites.

    Only these counts have left the sites by then. NoResult: there are fewer rows than `threshold`."""
    sums.own_rows, sums.own_dropped = rows, dropped
    sums.agree("".join(repr(sorted({**question, "threshold": threshold}.items())).split()))
    total = sums.sum({"rows": rows, "dropped": dropped})
    facts = {"sites": sums.participants, "rows": int(np.rint(total["rows"])), "dropped": int(np.rint(total["dropped"]))}
    refuse_small(facts["rows"], threshold, "all sites together have")
    return facts


def refuse_small(count: int, threshold: int, where: str) -> None:
    """Raise NoResult if `count` rows are fewer than `threshold`. The sites have seen the count by then, and no more."""
    if count < threshold:
        raise NoResult(f"{where} fewer than {threshold} rows: nothing more is computed (--small changes the threshold)")
