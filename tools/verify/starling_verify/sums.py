"""Sums of integers and of floats without error, and the numbers nearest to their quotients. numpy's int64 and doubles are taken where they are
known to suffice; elsewhere Python's integers."""
from __future__ import annotations

import numpy as np

FITS = 1 << 63  # magnitudes below it are an int64
LIMB = 32  # bits
SURE = 2.0 ** -40  # of a difference of doubles: more than its rounding error


def largest(values: np.ndarray) -> int:
    """Return the largest magnitude of integers."""
    return max(int(values.max()), -int(values.min())) if values.size else 0


class Sum:
    """Sums of integers times weights, element by element."""

    def __init__(self, count: int) -> None:
        self.values = np.zeros(count, np.int64)
        self.bound = 0  # no sum is larger

    def add(self, terms: np.ndarray, weight: int) -> None:
        self.bound += largest(terms) * weight
        if self.bound >= FITS:
            self.values = self.values.astype(object)
        if weight < FITS:
            self.values += terms.astype(self.values.dtype) * weight
        elif self.bound > 0:
            self.values = self.values.astype(object) + terms.astype(object) * weight


def nearest_integers(tops: np.ndarray, bottom: int) -> np.ndarray:
    """Return the integers nearest to tops / bottom, halves to even."""
    if bottom >= FITS:
        tops = tops.astype(object)
    whole, rest = tops // bottom, tops % bottom
    other = bottom - rest
    return whole + ((rest > other) | ((rest == other) & (whole % 2 == 1)))


def _split(values: np.ndarray) -> tuple:
    """Return two halves of doubles, of 26 bits each."""
    product = values * 134217729.0
    high = product - (product - values)
    return high, values - high


def _product_error(a: np.ndarray, b: np.ndarray, product: np.ndarray) -> np.ndarray:
    """Return a * b - product, exactly: product is a * b in doubles (Dekker)."""
    (a1, a2), (b1, b2) = _split(a), _split(b)
    return ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


def quotients(high: np.ndarray, low: np.ndarray, bottom: int) -> tuple:
    """Return the doubles nearest to (high + low) / bottom, and where that is certain. high + low is the top but for 2^-100 of it."""
    divisor = np.float64(bottom)
    first = high / divisor
    product = first * divisor
    step = ((high - product) - _product_error(first, divisor, product) + low) / divisor
    slack = np.abs(step) * SURE + np.abs(first) * 2.0 ** -90
    nearest = first + step
    return nearest, (first + (step - slack) == first + (step + slack)) if bottom < 1 << 53 else np.zeros(nearest.shape, bool)


def nearest_doubles(tops: np.ndarray, bottom: int) -> np.ndarray:
    """Return the doubles nearest to tops / bottom, halves to even."""
    if tops.dtype == object or largest(tops) >= 1 << 62:
        return np.array([int(top) / bottom for top in tops], np.float64)
    high = tops.astype(np.float64)
    nearest, certain = quotients(high, (tops - high.astype(np.int64)).astype(np.float64), bottom)
    for i in np.flatnonzero(~certain):
        nearest[i] = int(tops[i]) / bottom
    return nearest


def _carry(limbs: list) -> list:
    """Return limbs from 0 to 2^32 - 1, and one more above them, with the sign of all."""
    carried, carry = [], np.int64(0)
    for limb in limbs:
        limb = limb + carry
        carried.append(limb & ((1 << LIMB) - 1))
        carry = limb >> LIMB
    return [*carried, carry]


class FloatSum:
    """Sums of floats times weights, element by element: each float is rounded to the nearest multiple of 2^bottom, halves to even, and is
    below 2^(bits + bottom). A sum is kept in limbs, the lowest first."""

    def __init__(self, count: int, bits: int, bottom: int) -> None:
        self.limbs = [Sum(count) for _ in range(bits // LIMB)]
        self.bottom = bottom

    def add(self, values: np.ndarray, weight: int) -> None:
        units = np.rint(np.ldexp(values, -self.bottom))
        for limb in self.limbs:
            above = np.trunc(units * 2.0 ** -LIMB)
            limb.add((units - above * 2.0 ** LIMB).astype(np.int64), weight)
            units = above
            if not units.any():
                break

    def _exact(self, i: int) -> int:
        return sum(int(limb.values[i]) << (LIMB * j) for j, limb in enumerate(self.limbs))

    def means(self, weight: int) -> np.ndarray:
        """Return the doubles nearest to the sums divided by the total weight, halves to even."""
        bottom = weight << -self.bottom
        if weight >= 1 << 31 or max(limb.bound for limb in self.limbs) >= FITS // 2:
            return np.array([self._exact(i) / bottom for i in range(self.limbs[0].values.size)], np.float64)
        limbs = [limb.values for limb in self.limbs]
        sign = np.where(_carry(limbs)[-1] < 0, -1, 1)
        high, low = np.zeros(sign.shape), np.zeros(sign.shape)
        for j, limb in reversed(list(enumerate(_carry([limb * sign for limb in limbs])))):
            term = limb.astype(np.float64) * 2.0 ** (LIMB * j)
            total = high + term
            low += term - (total - high)  # high is 0, or larger than term
            high = total
        nearest, certain = quotients(high, low, weight)
        nearest = np.ldexp(sign * nearest, self.bottom)
        for i in np.flatnonzero(~certain):
            nearest[i] = self._exact(i) / bottom
        return nearest
