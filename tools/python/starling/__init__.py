"""Private averaging of models over Starling, without a server.

    import starling

    with starling.join(model) as group:
        for round in group:
            train(model)
            model = group.mean(model, weight=len(data))

`model` is an array, a torch ``state_dict``, or any nesting of dicts, lists and tuples of arrays. The mean has the same
structure, order, shapes and dtypes. The protocol is proto/APPLICATION.md of the source.
"""
from starling.group import Error, Group, Refused, join

__all__ = ["Error", "Group", "Refused", "join"]
__version__ = "0.1.0"
