"""Sites in this process: a thread each, whose private sums are plain sums."""
from __future__ import annotations

import threading

import numpy as np

from starling.stats import Sums
from starling.stats.noisy import Total

ROUNDS_MOST = 500


class FakeSite(Sums):
    """One site of `hub`. `shared` has what it has given, round by round."""

    def __init__(self, hub: Hub, place: int, room: int) -> None:
        super().__init__(room=room)
        self._group, self._hub, self._place = object(), hub, place
        self.shared: list[np.ndarray] = []

    def close(self) -> None:
        pass

    def _exchange(self, model):
        self.shared.append(model["sums"].copy())
        assert len(self.shared) < ROUNDS_MOST, "the analysis does not end"
        self.participants = self._hub.sites
        return self._hub.mean(self._place, model)


    def noisy(self, question, size, budget, parts, units):
        """Add noise.sd to nothing: the sum is exact, and said to have noise of this standard deviation."""
        self.question, self.units = question, units
        rows = parts(units[0])
        assert rows.shape[1] == size and (np.sqrt((rows**2).sum(axis=1)) <= 1 + 1e-12).all()
        self.shared.append(rows.sum(axis=0))
        total = self._hub.mean(self._place, {"sums": self.shared[-1]})["sums"] * self._hub.sites
        return Total(total, self._hub.noise, "record", self._hub.sites, 1, budget.delta, budget.epsilon)


class Alone(Exception):
    """Another site has left before this round."""


class Hub:
    """Adds up what all sites give in a round."""

    def __init__(self, sites: int, room: int = 64) -> None:
        self.sites, self._given, self._left = sites, {}, set()
        self.noise = 0.25  # that sums are said to have
        self._changed = threading.Condition()
        self.members = [FakeSite(self, place, room) for place in range(sites)]

    def mean(self, place, model):
        t = len(self.members[place].shared)
        with self._changed:
            given = self._given.setdefault(t, {})
            given[place] = model
            self._changed.notify_all()
            self._changed.wait_for(lambda: len(given) == self.sites or self._left - set(given))
            if len(given) < self.sites:
                raise Alone
        return {name: sum(given[site][name] for site in range(self.sites)) / self.sites for name in model}

    def leave(self, place):
        with self._changed:
            self._left.add(place)
            self._changed.notify_all()


def play(analyse, parts, room=64):
    """Return [analyse(sums, part) of each site]; an exception takes the place of a result."""
    hub, results = Hub(len(parts), room), [None] * len(parts)

    def run(place):
        try:
            results[place] = analyse(hub.members[place], parts[place])
        except Exception as failure:
            results[place] = failure
        hub.leave(place)

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(parts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def pooled(analyse, parts, room=64):
    """Return the result that all sites have, or raise the exception of a site."""
    results = play(analyse, parts, room)
    failures = [result for result in results if isinstance(result, Exception)]
    for failure in sorted(failures, key=lambda failure: isinstance(failure, Alone)):
        raise failure
    assert all(result.as_dict() == results[0].as_dict() for result in results)
    return results[0]
