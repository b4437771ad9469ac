"""Three groups of four learners average over all twelve, by a parent group of three. Run it with:

    python3 tools/python/examples/groups_of_groups.py

Each round of the whole takes two rounds of a group. In the first one its members average what they have trained. Its representative takes
this mean, with the total weight, into a round of the parent group. In the second one it hands the mean of all groups on: it has the
weight 1 there, the others 0. deploy/README.md says who sees what, and what a lost representative costs.
"""
import concurrent.futures
import contextlib
import sys

import numpy as np
import starling

GROUPS, MEMBERS, ROUNDS = 3, 4, 10
SETTINGS = {"topology": "complete", "max_weight": 1000}  # max_weight: records of a member, and of a group in the parent


def ask_parent(parent, mean, weight, wanted):
    """Return the mean of all groups, of round `wanted` of the parent group or a later one."""
    for _ in parent:
        if parent.committed >= wanted:
            break
        parent.mean(mean, weight)
    return parent.model


def member(socket, train, model, records, parent=None):
    """Be a learner of a group; return the last model. The representative has the socket of a learner of the parent group, too. Both may
    leave at any time and begin anew."""
    with contextlib.ExitStack() as both:
        group = both.enter_context(socket(model, values="model"))
        above = both.enter_context(parent(model, values="model")) if parent else None
        asked = 0
        for t in group:
            model = group.model if group.committed else model
            if t % 2 == 1:
                model = group.mean(train(model), records)
            elif above is None:
                model = group.mean(model, 0)
            else:
                if asked < t:
                    whole, asked = ask_parent(above, model, group.total_weight, max(t // 2, above.committed + 1)), t
                model = group.mean(whole, 1)
    return model


def run(trainers, model, records, rounds, program=None):
    """Return the model of each learner; `trainers` and `records` of all of them, group after group."""
    groups = range(0, len(trainers), MEMBERS)
    options = {**SETTINGS, "program": program}
    with contextlib.ExitStack() as all_groups, concurrent.futures.ThreadPoolExecutor(len(trainers)) as threads:
        above = all_groups.enter_context(starling.local(len(groups), rounds, **options))
        sockets = [socket for _ in groups for socket in all_groups.enter_context(starling.local(MEMBERS, 2 * rounds, **options))]
        parents = [above[i // MEMBERS] if i in groups else None for i in range(len(trainers))]
        return list(threads.map(member, sockets, trainers, [model] * len(trainers), records, parents))


def line(me):
    """Return what trains the learner `me`, and its number of points. Each has another part of the axis."""
    random = np.random.default_rng(me)
    x = random.uniform(me / 6, me / 6 + 1, size=20 * (me + 1))
    y = 3 * x - 2 + random.normal(scale=0.1, size=x.size)

    def train(model):
        slope, offset = model["slope"], model["offset"]
        for _ in range(200):
            error = slope * x + offset - y
            slope, offset = slope - 0.05 * (error * x).mean(), offset - 0.05 * error.mean()
        return {"slope": slope, "offset": offset}
    return train, x.size


if __name__ == "__main__":
    trainers, records = zip(*(line(me) for me in range(GROUPS * MEMBERS)))
    models = run(trainers, {"slope": np.zeros(()), "offset": np.zeros(())}, records, ROUNDS, *sys.argv[1:2])
    assert all(model == models[0] for model in models)
    print(f"y = {models[0]['slope']:.2f} x {models[0]['offset']:+.2f}, the same at all {len(models)} learners of {GROUPS} groups")
