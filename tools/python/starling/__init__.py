"""Private averaging of models over Starling, without a server.

    import starling

    with starling.join(model) as group:
        for round in group:
            train(model)
            model = group.mean(model, weight=len(data))

`model` is an array, a torch module or ``state_dict``, or any nesting of dicts, lists, tuples and dataclasses of arrays of any
library. The mean has the same structure, order, shapes, dtypes and devices; of a module it is a ``state_dict`` to be loaded.
`starling.load` reads a committed model from a file, `starling.local` runs a group of learners on this machine. `starling.flower` runs a Flower
client, `starling.sklearn` trains an estimator, `starling.stats` computes statistics, `starling.dp` clips records for differential privacy. The protocol is proto/APPLICATION.md of the source.
"""
from starling import dp
from starling.checkpoint import Checkpoint, load
from starling.group import Error, Group, Refused, Timeout, join
from starling.local import local

__all__ = ["Checkpoint", "Error", "Group", "Refused", "Timeout", "dp", "join", "load", "local"]
__version__ = "0.2.0"
