"""Groups of groups: the example, with real daemons."""
import concurrent.futures
import itertools
import os
import sys
import threading
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import starling

sys.path.append(str(Path(starling.__file__).resolve().parents[1] / "examples"))
import groups_of_groups  # noqa: E402

PROGRAM = os.environ.get("STARLING_PROGRAM")


class Left(Exception):
    """A program has left."""


def once(call):
    """Return `call`, which fails at its second call, and that time only."""
    calls = itertools.count(1)

    def act(*arguments):
        if next(calls) == 2:
            raise Left
        return call(*arguments)
    return act


def restarting(member):
    """Return `member`, begun anew when it has left: in its second training, or before it asks the parent group."""
    def run(socket, train, model, records, parent):
        train, begun = once(train), 0
        for each in filter(None, (socket, parent)):
            each.fail = lambda cause: None
        while True:
            begun += 1
            try:
                return member(socket, train, model, records, parent)
            except Left:
                assert begun < 4
    return run


def moves(change):
    """Return what trains a model: it adds `change`."""
    return lambda model: {"w": model["w"] + change}


@unittest.skipIf(PROGRAM is None, "run.py was not told the launcher")
class Groups(unittest.TestCase):
    def test_the_mean_of_all(self):
        """All twelve have the same model, to the last bit: the weighted mean over all of them, but for rounding to a double. A program that
        leaves, and begins anew, changes nothing."""
        random = np.random.default_rng(1)
        changes, records = random.normal(size=(12, 50)), random.integers(1, 1000 // 4, size=12)
        restart = restarting(groups_of_groups.member)
        with mock.patch.multiple(groups_of_groups, member=restart, ask_parent=once(groups_of_groups.ask_parent)):
            models = groups_of_groups.run([moves(change) for change in changes], {"w": np.zeros(50)}, records.tolist(), 3, PROGRAM)
        self.assertEqual([model["w"].tobytes() for model in models], [models[0]["w"].tobytes()] * 12)
        np.testing.assert_allclose(models[0]["w"], 3 * np.average(changes, axis=0, weights=records), rtol=1e-12)

    def test_without_its_representative_a_group_waits(self):
        """There is no mean of weights that are all 0: the round is tried again until the representative hands over the mean of all groups."""
        missed = threading.Event()

        def member(socket):
            yielded = []
            with socket(np.zeros(2), values="model") as group:
                for t in group:
                    yielded.append(t)
                    if yielded.count(2) == 2:
                        missed.set()
                    model = group.mean(np.ones(2), 1 if t == 1 else 0)
            return model.tolist()

        def representative(socket):
            with socket(np.zeros(2), values="model") as group:
                for t in group:
                    if t == 2:
                        self.assertTrue(missed.wait(300))
                    model = group.mean(np.full(2, 7.0))
            return model.tolist()

        with starling.local(4, rounds=2, program=PROGRAM, topology="complete", max_weight=10, straggler_timeout=0.5) as sockets:
            with concurrent.futures.ThreadPoolExecutor(4) as threads:
                found = threads.map(lambda work, socket: work(socket), (representative, member, member, member), sockets)
                self.assertEqual(list(found), [[7.0, 7.0]] * 4)


if __name__ == "__main__":
    unittest.main()
