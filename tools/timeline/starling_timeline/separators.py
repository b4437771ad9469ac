"""The participants and links of a view whose loss alone would separate others."""
from __future__ import annotations

from collections.abc import Iterable

Edge = tuple[int, int]


def separators(vertices: Iterable[int], edges: Iterable[Edge]) -> tuple[list[int], list[list[int]]]:
    """Return the cut vertices and the bridges, ascending: a depth-first search (Hopcroft and Tarjan, 1973) numbers the vertices; `low` is
    the lowest number that a vertex and those below it reach by one edge that is not in the tree."""
    near: dict[int, list[int]] = {vertex: [] for vertex in vertices}
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    cuts, bridges = set(), []
    for root in near:
        if root in number:
            continue
        number[root] = low[root] = len(number)
        path, branches = [(root, 0, iter(near[root]))], 0
        while path:
            vertex, above, rest = path[-1]
            other = next(rest, None)
            if other is None:
                path.pop()
                if not path:
                    break
                low[above] = min(low[above], low[vertex])
                if low[vertex] > number[above]:
                    bridges.append([min(above, vertex), max(above, vertex)])
                if above == root:
                    branches += 1
                elif low[vertex] >= number[above]:
                    cuts.add(above)
            elif other not in number:
                number[other] = low[other] = len(number)
                path.append((other, vertex, iter(near[other])))
            elif other != above:
                low[vertex] = min(low[vertex], number[other])
        if branches > 1:
            cuts.add(root)
    return sorted(cuts), sorted(bridges)
