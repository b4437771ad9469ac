"""Probabilities of the normal, t, chi-squared and F distributions: of scipy where it is installed, else computed here.

The own ones follow Press et al., Numerical Recipes, 3rd edition, sections 6.2 (incomplete gamma function, series and
continued fraction) and 6.4 (incomplete beta function, continued fraction by the modified Lentz method). Scalars only."""
from __future__ import annotations

import math
from collections.abc import Callable

TINY = 1e-300
EPSILON = 1e-15
TERMS = 100_000


def _lentz(terms: Callable[[int], tuple[float, float]], first: float) -> float:
    """Return the continued fraction first + a1 / (b1 + a2 / (b2 + ...)); terms(i) gives (ai, bi)."""
    f = c = first or TINY
    d = 0.0
    for i in range(1, TERMS):
        a, b = terms(i)
        d = 1 / ((b + a * d) or TINY)
        c = (b + a / c) or TINY
        f *= c * d
        if abs(c * d - 1) < EPSILON:
            break
    return f


def _gamma_upper(a: float, x: float) -> float:
    """Return the regularized upper incomplete gamma function Q(a, x)."""
    if x <= 0:
        return 1.0
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        n = a
        while term > total * EPSILON:
            n += 1
            term *= x / n
            total += term
        return 1 - front * total
    return front / _lentz(lambda i: (-i * (i - a), x + 2 * i + 1 - a), x + 1 - a)


def _beta(a: float, b: float, x: float) -> float:
    """Return the regularized incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(b, a, 1 - x)

    def terms(i: int) -> tuple[float, float]:
        m = i // 2
        if i % 2:
            return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), 1.0
        return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), 1.0

    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    return front / (a * _lentz(terms, 1.0))


def _quantile(survival: Callable[[float], float], upper: float) -> float:
    """Return x >= 0 with survival(x) = upper, 0 < upper <= 0.5, by bisection."""
    low, high = 0.0, 1.0
    while survival(high) > upper:
        low, high = high, 2 * high
    while high - low > 1e-15 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if survival(middle) > upper else (low, middle)
    return (low + high) / 2


def own_normal_sf(z: float) -> float:
    """Return P(Z > z) of the standard normal distribution."""
    return math.erfc(z / math.sqrt(2)) / 2


def own_t_sf(t: float, dof: float) -> float:
    """Return P(T > t) of the t distribution with `dof` degrees of freedom."""
    tail = _beta(dof / 2, 0.5, dof / (dof + t * t)) / 2
    return tail if t >= 0 else 1 - tail


def own_chi2_sf(x: float, dof: float) -> float:
    """Return P(X > x) of the chi-squared distribution."""
    return _gamma_upper(dof / 2, x / 2)


def own_f_sf(f: float, above: float, below: float) -> float:
    """Return P(F > f) of the F distribution with `above` and `below` degrees of freedom."""
    return _beta(below / 2, above / 2, below / (below + above * f)) if f > 0 else 1.0


try:
    from scipy import stats as _scipy
except ImportError:
    normal_sf, t_sf, chi2_sf, f_sf = own_normal_sf, own_t_sf, own_chi2_sf, own_f_sf
else:
    normal_sf, t_sf, chi2_sf, f_sf = _scipy.norm.sf, _scipy.t.sf, _scipy.chi2.sf, _scipy.f.sf


def normal_upper(upper: float) -> float:
    """Return z with P(Z > z) = `upper`, at most 0.5."""
    return _quantile(own_normal_sf, upper)


def t_upper(upper: float, dof: float) -> float:
    """Return t with P(T > t) = `upper`, at most 0.5. (scipy.stats.t.isf of scipy 1.10 has errors of up to 10^-9.)"""
    return _quantile(lambda t: own_t_sf(t, dof), upper)
