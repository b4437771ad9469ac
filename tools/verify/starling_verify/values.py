"""The integers that stand for the elements of a model in a round with decimals (ROUND.md §4.2 Encoding, §4.4 Weights and clipping)."""
from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

MOST = 1 << 62  # magnitudes from here on are too large


def nearest(top: int, bottom: int) -> int:
    """Return the integer nearest to top / bottom, halves to even."""
    whole, rest = divmod(top, bottom)
    return whole + (2 * rest > bottom or (2 * rest == bottom and whole % 2 == 1))


class Decimals:
    """The scale 10^decimals of a round. learners: N of `paper`; 0: weighted. clip: with `clipping: clamp`, the range; 0: nothing is clamped."""

    def __init__(self, decimals: int, learners: int = 0, clip: float = 0) -> None:
        self.scale = 10 ** decimals
        self.learners = learners
        self.clip = clip
        # A float32 has 24 bits, and 10^decimals those of 5^decimals: the product of both is a double.
        self.single_is_exact = 5 ** decimals < 1 << 29

    def limit(self, dtype: np.dtype) -> float:
        """Return the largest number of a dtype of floats that is not above the range."""
        value = dtype.type(self.clip)
        return float(value if float(value) <= self.clip else np.nextafter(value, dtype.type(0)))

    def exact(self, value: float) -> int:
        """Return the integer for a float, in exact rationals."""
        top, bottom = value.as_integer_ratio()
        if self.learners == 0:
            return nearest(top * self.scale, bottom)
        whole = abs(top) * self.scale // (bottom * self.learners)
        return whole if top >= 0 else -whole

    def of_integers(self, values: np.ndarray) -> np.ndarray:
        """Return the integers for int64: themselves."""
        if self.clip == 0:
            return values
        most = min(math.floor(Fraction(self.clip) * self.scale), (1 << 63) - 1)
        return np.clip(values, -most, most)

    def of_floats(self, values: np.ndarray) -> tuple:
        """Return the integers for floats, and where a float is no number or too large. Doubles decide where their rounding cannot."""
        wide = values.astype(np.float64)
        wrong = ~np.isfinite(wide)
        if self.clip > 0:
            limit = self.limit(values.dtype)
            wide = np.clip(wide, -limit, limit)
        product = wide * float(self.scale)
        wrong |= ~(np.abs(product) < MOST)
        product[wrong] = wide[wrong] = 0
        if self.learners > 0:
            product /= self.learners
            whole = np.trunc(product)
            unsure = np.abs(product - np.rint(product)) <= np.abs(product) * 2.0 ** -50
            unsure &= wide != 0
        else:
            whole = np.rint(product)
            unsure = np.abs(np.abs(product - np.trunc(product)) - 0.5) <= np.abs(product) * 2.0 ** -51
            if values.dtype.itemsize == 4 and self.single_is_exact:
                unsure[:] = False
        integers = whole.astype(np.int64)
        for i in np.flatnonzero(unsure):
            integers[i] = self.exact(float(wide[i]))
        return integers, wrong
