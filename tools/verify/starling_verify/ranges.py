"""How tensors are sent without decimals, and the exponents that they have after a round (ROUND.md §4.3 Limbs and ranges)."""
from __future__ import annotations

import math
from collections import Counter

from starling_verify.checkpoint import Tensor

GROUPS = (-24, -20, -16, -13, -10, -8, -6, -5, -4, -3, -2, -1, 0, 2, 5)  # G of the magnitudes 1 to 15
LEAST, MOST = -960, 1020  # exponents


def always_exact(tensor: Tensor) -> bool:
    """Return true for the classes integer and metric, which are exact in ranged rounds, too."""
    return tensor.is_integer or tensor.metric


class Sizes:
    """What the class of a tensor takes from the sizes of all: n, and `small`, the elements up to which a tensor is small."""

    def __init__(self, tensors: list) -> None:
        counts = Counter(tensor.count for tensor in tensors)
        self.n = sum(size * number for size, number in counts.items())
        self.small, total = -1, 0
        for size, number in sorted(counts.items()):
            total += size * number
            if total > max(self.n // 192, 1024):
                break
            self.small = size


def limbs(sizes: Sizes, tensor: Tensor) -> int:
    """Return the number of limbs of an update of a tensor; 1 for those that are always exact."""
    if always_exact(tensor):
        return 1
    return 5 if tensor.count <= sizes.small else 3 if tensor.nonnegative else 1


def exact_bits(sizes: Sizes, tensor: Tensor) -> tuple:
    """Return the bits of exact values of a tensor, and log2 of their unit."""
    if tensor.is_integer:
        return 64, 0
    if tensor.metric or limbs(sizes, tensor) > 1 or sizes.n <= 1 << 16:
        return 256, -128
    return (128, -64) if sizes.n <= 1 << 24 else (64, -40)


def lower_bits(count: int, bits: int) -> int:
    """Return the bits of the limbs of an update below the first one, which has `bits`."""
    return (count - 1) * min(bits, (60 - bits) // (count - 1)) if count > 1 else 0


def _power(exponent: int) -> float:
    """Return 2^exponent, or infinity."""
    return math.ldexp(1, exponent) if exponent < 1024 else math.inf


def magnitude(change: float, exponent: int) -> int:
    """Return the magnitude of a tensor by its largest update."""
    if change == 0:
        return 0
    return next((m for m, group in enumerate(GROUPS, 1) if change <= _power(exponent + group)), len(GROUPS))


def ceil_log2(value: float) -> int:
    """Return the least e with value <= 2^e, of value > 0."""
    part, exponent = math.frexp(value)
    return exponent - 1 if part == 0.5 else exponent


def _within(exponent: int) -> int:
    return min(max(exponent, LEAST), MOST)


def next_exponent(exponent: int, bits: int, magnitudes: list, backed: int, most: int, weight: int) -> int:
    """Return the exponent of a tensor after a ranged round. magnitudes: of all participants; backed: c + 1; most: the largest sum of first
    limbs; weight: the total."""
    changed = sorted((m for m in magnitudes if m > 0), reverse=True)
    if not changed:
        return exponent
    enough = len(changed) >= backed
    reached = changed[backed - 1] if enough else changed[-1]
    growth = max(0, -(-most // weight) - 1).bit_length()  # least g >= 0 with most <= weight 2^g
    bound = max(exponent + (2 if enough else 0), exponent - bits + growth + ceil_log2(4 * len(magnitudes)))
    return _within(min(exponent + GROUPS[reached - 1] + 1, bound))


def first_exponent(largest: float, others: float, count: int, nonnegative: bool) -> int:
    """Return the exponent of a tensor after an exact round, by its largest value and that of all tensors; count: limbs of its updates."""
    zeros = largest == 0
    value = others if zeros else largest
    exponent = ceil_log2(value) + 8 if value > 0 else 0
    if count == 1:
        return _within(exponent)
    if zeros:
        return _within(exponent if nonnegative else exponent + 12)
    return _within(min(exponent + 30, max(exponent, 38)))
