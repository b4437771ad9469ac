"""The figures of a graph on which the cost of each engine depends (ROUND.md §8 Engines), by the formulas of its family for any number N of
learners, with d the degree, W = I - L_w the Metropolis-Hastings matrix, w_ij = 1 / (max(d_i, d_j) + 1):

  family        mu
  complete      0
  ring          1 - 2(1 - cos(2 pi / N)) / 3, or 1/3 if that is more
  line          1 - 2(1 - cos(pi / N)) / 3
  star          1 - 1/N
  nearest:k     max_j |sin((k+1) pi j/N) / sin(pi j/N)| / (k+1)
  neighbours:k  max_j |1 + k cos(2 pi j/s)| / (k+1), s = 2N/k
  grid a x b    <= 1 - 2(1 - cos(pi / max(a, b))) / 5
  regular:d     ~ (2 sqrt(d - 1) + 1) / (d + 1)
  geometric:r   ~ 1 - (pi r)^2 / 8

  family        deg r                          depth
  complete      1                              1
  ring          floor(N/2)                     floor(N/2)
  line          N - 1                          floor(N/2)
  star          2                              1
  nearest:k     <= floor(N/2)                  ceil(floor(N/2) / (k/2))
  neighbours:k  floor(s/2), +1 unless 4 | s    floor(s/2), 2 at least
  grid a x b    <= N - 1                       floor(a/2) + floor(b/2)
  regular:d     <= N - 1                       ~ 1 + log_(d-1) (N ln(N / ln N) / d)
  geometric:r   <= N - 1                       ~ 1.1 / (r sqrt 2)

Formulas without a sign are exact (deg r but for primes that divide a difference of eigenvalues, about N^2/p of all); "<=" is a bound; "~" an
estimate: by Friedman's theorem, and of a step of variance r^2/4 in the square. A grid's bound holds because no weight is below 1/5; where
its last row is short, bound and depth are estimates."""
from __future__ import annotations

from math import ceil, cos, e, floor, log, pi, sin, sqrt
from typing import NamedTuple

from starling_timeline.command import CommandError

TREES_MOST = 64  # of a forest
EXACT, BOUND, ESTIMATE = "exact", "bound", "estimate"


class Figures(NamedTuple):
    """Of a graph that is connected."""

    learners: int
    edges: float
    degree_mean: float
    degree_max: float
    mu: float
    deg_r: int  # exchanges of `exact`; 0: it cannot run
    depth: int  # of the deepest tree: `forest` takes 2 depth steps
    trees: int  # of the forest, for a large vector
    load: float  # edges of the busiest learner in all trees
    bound: float  # vectors that the busiest learner sends with any trees, at least
    mu_is: str = EXACT
    deg_r_is: str = EXACT
    depth_is: str = EXACT


def _mean_load(n: int) -> float:
    """Return the mean degree in spanning trees of n vertices."""
    return 2 * (n - 1) / n


def _figures(n: int, degree: tuple[float, float], mu: tuple[float, str], deg_r: tuple[int, str], depth: tuple[int, str],
             forest: tuple[int, float]) -> Figures:
    """`degree`: mean and largest. `forest`: trees, and vectors that the busiest learner sends, without its deposit."""
    trees = min(forest[0], TREES_MOST)
    return Figures(n, degree[0] * n / 2, *degree, mu[0], deg_r[0], depth[0], trees, ceil(forest[1] * trees - 1e-6),
                   forest[1] if forest[0] == 1 else _mean_load(n), mu[1], deg_r[1], depth[1])


def _complete(n: int, _k: float) -> Figures:
    return _figures(n, (n - 1, n - 1), (0, EXACT), (1, EXACT), (1, EXACT), (n if n > 2 else 1, _mean_load(n)))


def _ring(n: int, _k: float) -> Figures:
    mu = max(1 - 2 * (1 - cos(2 * pi / n)) / 3, 1 / 3 if n % 2 == 0 else -(1 + 2 * cos(pi * (n - 1) / n)) / 3)
    return _figures(n, (2, 2), (mu, EXACT), (n // 2, EXACT), (n // 2, EXACT), (n, 2 if n > 3 else _mean_load(n)))  # or a little less


def _line(n: int, _k: float) -> Figures:
    mu = 1 - 2 * (1 - cos(pi / n)) / 3 if n > 2 else 0
    most = 2 if n > 2 else 1
    return _figures(n, (2 * (n - 1) / n, most), (mu, EXACT), (n - 1, EXACT), (n // 2, EXACT), (1, most))


def _star(n: int, _k: float) -> Figures:
    mu, deg_r = (1 - 1 / n, 2) if n > 2 else (0, 1)
    return _figures(n, (2 * (n - 1) / n, n - 1), (mu, EXACT), (deg_r, EXACT), (1, EXACT), (1, n - 1))


def _nearest(n: int, k: float) -> Figures:
    """Circulant: lambda_j = sin((k+1) pi j/N) / ((k+1) sin(pi j/N))."""
    most = max(abs(sin((k + 1) * pi * j / n) / sin(pi * j / n)) for j in range(1, n // 2 + 1))
    return _figures(n, (k, k), (most / (k + 1), EXACT), (n // 2, BOUND), (ceil(n // 2 / (k / 2)), ESTIMATE), (n, 1.1 * _mean_load(n)))


def _neighbours(n: int, k: float) -> Figures:
    """A ring of s classes of k/2 learners, each linked to both classes beside its own and not to its own. Vectors that sum to 0 in every
    class: lambda = 1 / (k + 1)."""
    s = round(2 * n / k)
    most = max(1, *(abs(1 + k * cos(2 * pi * j / s)) for j in range(1, s // 2 + 1)))
    deg_r = s // 2 + (k > 2 and s % 4 != 0)
    return _figures(n, (k, k), (most / (k + 1), EXACT), (deg_r, EXACT), (max(2, s // 2), ESTIMATE), (n, 1.1 * _mean_load(n)))


def _grid(n: int, _k: float) -> Figures:
    columns = ceil(sqrt(n))
    rows = ceil(n / columns)
    mu = max(1 - 2 * (1 - cos(pi / max(columns, rows))) / 5, 0.6)
    return _figures(n, (2 * (2 * n - columns - rows) / n, 4 if n > 8 else 3 if n > 5 else 2), (mu, ESTIMATE if columns * rows > n else BOUND),
                    (n - 1, BOUND), (ceil(1.9 * (columns // 2 + rows // 2)), ESTIMATE), (n, 1.1 * _mean_load(n)))


def _spreading(n: int, d: float) -> float:
    """Return the depth of the tree in a random regular graph: of N learners, about N exp(-d (d-1)^(t-1) / N) are more than t steps from one;
    the centre is the luckiest of N, so that this has to come down to ln N."""
    wanted = n * log(max(e, n / log(n)))
    return max(1, ceil(1 + log(wanted / d) / log(d - 1)))


def _regular(n: int, d: float) -> Figures:
    if n == d + 1:
        return _complete(n, d)
    if d <= 2:
        return _ring(n, d)
    return _figures(n, (d, d), (min(1, (2 * sqrt(d - 1) + 1) / (d + 1)), ESTIMATE), (n - 1, BOUND), (ceil(1.8 * _spreading(n, d)), ESTIMATE),
                    (n, 1.1 * _mean_load(n)))


def _geometric(n: int, r: float) -> Figures:
    """The mean degree accounts for the borders of the square; the largest degree, for the spread of n draws."""
    least = sqrt(log(n) / (pi * n))  # below that, it is most likely not connected
    if r < least:
        raise CommandError(f"{n} learners with a radius of {r:g} are not connected: at least {ceil(1e5 * least) / 1e5:.5f} is needed")
    near = pi * r * r - 8 * r * r * r / 3 + r * r * r * r / 2 if r < 1 else 1
    inside = min(n - 1, (n - 1) * pi * r * r)
    degree = min(n - 1, (n - 1) * min(near, 1)), min(n - 1, inside + sqrt(2 * inside * log(n)))
    return _figures(n, degree, (max(0, 1 - pi * pi * r * r / 8), ESTIMATE), (n - 1, BOUND), (ceil(3 / (r * sqrt(2))), ESTIMATE),
                    (n, 1.1 * _mean_load(n)))


_FAMILIES = {"complete": _complete, "ring": _ring, "line": _line, "star": _star, "grid": _grid, "nearest": _nearest,
             "neighbours": _neighbours, "regular": _regular, "geometric": _geometric}


def figures(family: str, parameter: float, learners: int) -> Figures:
    """Return the figures of a family, for a number of learners that it exists for. CommandError: a geometric graph that is hardly ever
    connected."""
    return _FAMILIES[family](learners, parameter)
