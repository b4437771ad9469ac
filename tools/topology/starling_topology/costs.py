"""What a round costs in exchanges, bytes and memory.

Per learner and round, with n floats, d neighbours, p of b bits and v(b) = the frames of a vector of n + 1 elements of b bits, TLS records
included (about (n + 1) b / 8 bytes):

  sharing    bytes sent                  mixing       exchanges   bytes sent
  shamir     d v(b)                      metropolis   K           d (v(b) + (K - 1) v(64))
  os         d v(b)                      exact        deg r       deg r d v(b)
  seeded     d messages of 32 bytes      forest       2 depth     v(b) (1 + load / T)

With forest of T trees, a learner sends 1/T of a vector over each of its edges in the trees, `load` in all, and its deposit to one neighbour
(while no attempt of the round failed; ROUND.md §5.6 Deposits); all learners together send (3N - 2) v(b).

Besides, every signed record goes over every link at least once: 2 N (2E - N + 1) records of a few hundred bytes of all together, an N-th of
that per learner (ROUND.md §7.6 Link states and the flood; a link where both ends send at once carries a record twice). K, deg r and depth:
families.py.

Memory of a learner, for each float: 8 bytes of models (trained and committed), 4 of what the last update left out, b / 8 of the state, and 8
more if an engine has a second vector (metropolis; exact with several exchanges). A learner that fetches a model from a peer needs 4 more for
that time, which are not counted. Besides, chunks under way for each neighbour, and 18 MB of the process itself. Deposits are pages of a file,
which the system keeps as long as it has room; those of less than 4 MiB each count. An application shares two models more with its learner,
which count as memory of the application.

The learners have these rules in C: common/mixing/engine.c, spectrum.c, common/wire. test/estimate/estimate_units.py compares the two."""
from __future__ import annotations

import math
from typing import NamedTuple, Optional

from starling_topology.families import TREES_MOST, Figures

ENGINES, SHARINGS = ("exact", "metropolis", "forest"), ("shamir", "os", "seeded")
LEARNERS_MOST = 2000  # of this version
CHUNK = 32768  # elements
HASH, SIGNATURE, KEY_SHARE, HEADER = 32, 64, 40, 8  # bytes; the header is that of a frame
TREE_ELEMENTS, WINDOW, WINDOW_MOST, WINDOW_BYTES, HOP_BYTES = 4096, 4, 128, 8 << 20, 65536
K_MOST, METROPOLIS_BITS, STATE_BITS = 1000000, 44, 64
TLS_RECORD, TLS_EXTRA = 16384, 22  # of a record: header, tag, content type
PROCESS_BYTES = 18e6  # of a learner without a model
MODELS_BYTES = 12.0  # of the trained and the committed model, and the rest of updates, for each float
SLOT_BYTES = 4 << 20  # a deposit of less stays in memory


# ---- messages (proto/messages.proto) ----

def _varint(value: int) -> int:
    return max(1, (value.bit_length() + 6) // 7)


def _octets(size: int, tag: int = 1) -> int:
    """Return the bytes of a field of so many bytes."""
    return tag + _varint(size) + size if size > 0 else 0


def _number(value: int) -> int:
    return 1 + _varint(value) if value > 0 else 0


def _on_the_wire(payload: int) -> float:
    frame = float(HEADER + payload)
    return frame + TLS_EXTRA * math.ceil(frame / TLS_RECORD)


SMALL = _number(1)  # id, round, attempt


def chunk_bytes(index: int, size: int) -> float:
    """Return the bytes of a State with so many bytes of elements."""
    return _on_the_wire(3 * SMALL + _octets(HASH) + _number(index) + 1 + _varint(size) + size)


def packed(count: int, bits: int) -> int:
    return (count * bits + 7) // 8


def vector_bytes(elements: int, bits: int) -> float:
    """Return the bytes of a vector on the wire: its chunks, each in a frame, cut into TLS records."""
    whole, rest = divmod(elements, CHUNK)
    last = chunk_bytes(whole, packed(rest, bits)) if rest else 0
    return last + (whole * chunk_bytes(whole - 1, packed(CHUNK, bits)) if whole else 0)


def points_of(p: int) -> int:
    """Return the points at which vectors are compared."""
    points, x = 0, 1 << 6
    while x >> 66 == 0:
        x = x * p // 2
        points += 1
    return points


def records_bytes(neighbours: float, floats: int, p: int) -> tuple[float, float, float, float]:
    """Return the bytes of a link state with as many candidates as neighbours, a Ready, a challenge, and checksums of the masked states of
    all neighbours."""
    count = min(neighbours, LEARNERS_MOST)
    candidates = sum(_varint(learner) for learner in range(1, int(count) + 1))
    state = 4 * SMALL + 3 * _octets(HASH) + _number(LEARNERS_MOST) + _number(floats) + 9 + SMALL + _octets(candidates) + _octets(SIGNATURE, 2)
    ready = 4 * SMALL + 5 * _octets(HASH) + _octets(SIGNATURE)
    challenge = 3 * SMALL + 2 * _octets(HASH)
    values = int(count + 1) * packed(points_of(p), p.bit_length())
    checksums = 3 * SMALL + 2 * _octets(HASH) + _octets(values) + _octets(SIGNATURE)
    return _on_the_wire(state), _on_the_wire(ready), _on_the_wire(challenge), _on_the_wire(checksums)


def key_bytes(holders: int) -> tuple[float, float]:
    """Return the bytes of a key share with its path, and of the deposit key."""
    path = (holders - 1).bit_length()
    return chunk_bytes(0, KEY_SHARE + path * HASH), _on_the_wire(3 * SMALL + 3 * _octets(HASH))


# ---- engines (ROUND.md §8 Engines) ----

class Costs(NamedTuple):
    """Of each engine on a graph."""

    k: int  # exchanges of metropolis; more than K_MOST: it cannot run
    degree: int  # of r, the exchanges of exact; 0: it cannot run
    depth: int  # of the deepest tree of the forest
    trees: int
    load: int  # edges of a learner, summed over the trees, at most
    busiest: int  # neighbours of a learner, at most
    elements: int
    bits: int  # of an element of Z_p

    def exchanges(self, engine: str) -> int:
        """Return 0 where it cannot run."""
        return {"exact": self.degree, "metropolis": self.k if self.k <= K_MOST else 0, "forest": 2 * self.depth}[engine]

    def state_bits(self, engine: str) -> int:
        return STATE_BITS if engine == "metropolis" else self.bits

    def vector(self, engine: str) -> int:
        return packed(self.elements, self.state_bits(engine))

    def forest_chunk(self) -> int:
        """Return the bytes of a chunk of a forest: no tree has many more chunks than another."""
        chunks = -(-self.elements // CHUNK)
        chunks = -(-chunks // self.trees) * self.trees
        return packed(-(-self.elements // (8 * chunks)) * 8, self.bits)

    def window(self, engine: str) -> int:
        """Return the chunks of a neighbour that are under way at a time."""
        if engine != "forest":
            return WINDOW
        least = WINDOW + 2 * (self.trees - 1) + 2 * self.depth
        return min(max(least, -(-WINDOW_BYTES // self.forest_chunk())), WINDOW_MOST)

    def price(self, engine: str) -> int:
        """Return the bytes that the busiest learner sends, and those that it could send during the hops."""
        exchanges, vector, check = self.exchanges(engine), self.vector(engine), 4 * self.depth
        if engine == "forest":
            return (vector * self.load // self.trees + vector + exchanges * self.forest_chunk() + (2 * self.depth + check) * HOP_BYTES)
        return exchanges * self.busiest * vector + (self.degree - 1 + check if self.degree >= 2 else 0) * HOP_BYTES

    def automatic(self) -> str:
        """Return the engine of `mixing: auto`."""
        return "exact" if self.degree and self.price("exact") <= self.price("forest") else "forest"

    def vectors(self, engine: str, links: int, forest: float) -> float:
        """Return the vectors that learners with so many neighbours send, deposits included; `forest`: those they send by forest."""
        return forest if engine == "forest" else self.exchanges(engine) * links

    def states(self, engine: str, links: int) -> int:
        """Return those of them that have elements of `state_bits`: all but the deposits, and sums by forest."""
        return 0 if engine == "forest" else (self.exchanges(engine) - 1) * links


def trees_most(elements: int) -> int:
    return min(-(-elements // TREE_ELEMENTS), TREES_MOST)


def iterations(p: int, n: int, mu: float) -> float:
    """Return the smallest K with 2 p n^1.5 mu^K < 1."""
    if mu >= 1:
        return math.inf
    return max(1, math.floor(math.log(2 * float(p) * n * math.sqrt(n)) / -math.log(mu)) + 1) if mu > 0 else 1


def p_bits_most(figures: Figures) -> int:
    """Return the bits of the largest p with which metropolis can mix: rounding has to stay small."""
    if figures.mu >= 1:
        return 0
    need = 8 * float(figures.learners) * math.sqrt(2 * figures.degree_max * figures.edges) / (1 - figures.mu)
    if need >= 2.0 ** 62:
        return 0
    fraction, exponent = math.frexp(max(need, 1))
    return min(62 - (exponent if fraction > 0.5 else exponent - 1), METROPOLIS_BITS)


# ---- a round ----

class Round:
    """A round of learners on a graph, with n floats in Z_p."""

    def __init__(self, figures: Figures, floats: int, p: int) -> None:
        self.figures, self.floats, self.p, self.bits = figures, floats, p, p.bit_length()
        self.k, self.bits_most = iterations(p, figures.learners, figures.mu), p_bits_most(figures)
        trees = min(figures.trees, trees_most(floats + 1))
        self.costs = Costs(K_MOST + 1 if self.too_slow() or self.too_wide() else int(self.k), figures.deg_r, figures.depth, trees,
                           math.ceil(figures.load * trees / figures.trees), int(figures.degree_max), floats + 1, self.bits)
        records = sum(records_bytes(figures.degree_mean, floats, p))
        n = figures.learners
        # Every record goes over every link, and back but for the direction from which a learner first heard it.
        self.flood_bytes = float(n) * max(0, 2 * figures.edges - n + 1) * records

    def share_bytes(self, sharing: str) -> float:
        """Return the bytes that each neighbour gets: a share, a key share with its path, and the deposit key."""
        share = chunk_bytes(0, HASH) if sharing == "seeded" else vector_bytes(self.floats + 1, self.bits)
        key_share, key = key_bytes(int(max(1, self.figures.degree_mean)))
        return share + key_share + key

    def _lanes(self, engine: str) -> float:
        """Return the elements of chunks under way at a time, of all neighbours: in a forest, of those in a tree."""
        edges = self.costs.load / self.costs.trees if engine == "forest" else self.figures.degree_max
        return edges * min(self.costs.window(engine) * CHUNK, self.floats + 1)

    def _slots(self, engine: str) -> float:
        """Return the bytes of the deposits that stay in memory: the own one, and those kept."""
        slot = self.costs.elements * self.bits / 8
        return (1 + (1 if engine == "forest" else self.costs.busiest)) * slot if slot < SLOT_BYTES else 0

    def memory(self, engine: str) -> float:
        """Return the bytes of a learner, at most: models, state, the second vector of some engines (common/compute), and the chunks under
        way."""
        second = engine == "metropolis" or (engine == "exact" and self.costs.degree > 1)
        elements = float(self.floats + 1)
        state = elements * self.bits / 8 + (elements * 8 if second else 0)
        return (PROCESS_BYTES + MODELS_BYTES * elements + state + self._slots(engine)
                + self._lanes(engine) * self.costs.state_bits(engine) / 8)

    def cost(self, engine: str, sharing: str) -> Optional[dict]:
        """Return the cost of an engine with a sharing; None: it cannot run."""
        f, c, share = self.figures, self.costs, self.share_bytes(sharing)
        exchanges, n, links = c.exchanges(engine), f.learners, round(2 * f.edges)
        if exchanges == 0:
            return None
        vector = vector_bytes(self.floats + 1, self.bits)
        wider = vector_bytes(self.floats + 1, c.state_bits(engine)) - vector  # a later state than a deposit
        most, everyone = c.vectors(engine, c.busiest, c.load / c.trees + 1), c.vectors(engine, links, 3 * n - 2)
        flood = self.flood_bytes / n
        mean = f.degree_mean * share + everyone / n * vector + flood + c.states(engine, links) / n * wider
        return {"engine": engine, "sharing": sharing, "exchanges": exchanges, "bytes_mean": mean,
                "bytes_most": f.degree_max * share + most * vector + flood + c.states(engine, c.busiest) * wider,
                "bytes_all": n * mean, "memory_bytes": self.memory(engine)}

    def too_slow(self) -> Optional[str]:
        """Return why metropolis cannot run, if it takes too many exchanges."""
        return f"more than {K_MOST} exchanges" if self.k > K_MOST else None

    def too_wide(self) -> Optional[str]:
        """Return why metropolis cannot run, if p leaves it no room."""
        return f"p has {self.bits} bits, and rounding leaves room for {self.bits_most}" if self.bits > self.bits_most else None

    def notes(self) -> list[str]:
        """Return what is not possible, in words."""
        notes = []
        if self.costs.exchanges("metropolis") == 0:
            notes.append(f"metropolis cannot run: {self.too_slow() or self.too_wide()}")
        if self.costs.degree == 0:
            notes.append("exact cannot run: r(1) = 0 mod p")
        if self.figures.learners > LEARNERS_MOST:
            notes.append(f"this version runs up to {LEARNERS_MOST} learners; larger numbers are calculated only")
        return notes

    def document(self) -> dict:
        """Return the estimate, as --json prints it."""
        g = self.figures
        graph = {"learners": g.learners, "edges": float(g.edges), "degree_mean": float(g.degree_mean), "degree_max": float(g.degree_max),
                 "mu": float(g.mu), "mu_is": g.mu_is, "deg_r": g.deg_r, "deg_r_is": g.deg_r_is, "depth": g.depth, "depth_is": g.depth_is,
                 "trees": g.trees, "forest_vectors": g.load / g.trees, "forest_bound": float(g.bound)}
        costs = [self.cost(engine, sharing) for engine in ENGINES for sharing in SHARINGS]
        return {"version": 1, "graph": graph, "n": self.floats, "p": self.p, "flood_bytes": self.flood_bytes, "auto": self.costs.automatic(),
                "costs": [cost for cost in costs if cost is not None], "notes": self.notes()}
