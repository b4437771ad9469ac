"""Ed25519 signatures are checked (RFC 8032) without a library; by the package `cryptography`, some fifty times as fast, where it is installed."""
from __future__ import annotations

import hashlib
from typing import Optional

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
except ImportError:
    Ed25519PublicKey = None

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT = pow(2, (P - 1) // 4, P)  # of -1
Point = tuple[int, int, int, int]  # x, y, z and t of the extended coordinates: x/z, y/z, t = xy/z


def _add(a: Point, b: Point) -> Point:
    low, high = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    t, z = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = high - low, z - t, z + t, high + low
    return e * f % P, g * h % P, f * g % P, e * h % P


def _point(packed: bytes) -> Optional[Point]:
    """Return the point of 32 bytes; None: there is none."""
    number = int.from_bytes(packed, "little")
    y, odd = number & (1 << 255) - 1, number >> 255
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * ROOT % P
    if (x * x - square) % P != 0 or (x == 0 and odd):
        return None
    x = P - x if x & 1 != odd else x
    return x, y, 1, x * y % P


NEUTRAL: Point = (0, 1, 1, 0)
BASE = _point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def _combine(s: int, h: int, a: Point) -> Point:
    """Return s times the base point minus h times `a`."""
    assert BASE is not None
    minus = (P - a[0], a[1], a[2], P - a[3])
    table, total = (NEUTRAL, BASE, minus, _add(BASE, minus)), NEUTRAL
    for bit in range(max(s, h).bit_length() - 1, -1, -1):
        total = _add(total, total)
        which = (s >> bit & 1) + 2 * (h >> bit & 1)
        total = _add(total, table[which]) if which else total
    return total


def verify_plainly(key: bytes, message: bytes, signature: bytes) -> bool:
    a, s = _point(key), int.from_bytes(signature[32:], "little")
    if a is None or s >= ORDER or len(signature) != 64:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    x, y, z, _ = _combine(s, h, a)
    inverse = pow(z, -1, P)
    found = y * inverse % P | (x * inverse % P & 1) << 255
    return found.to_bytes(32, "little") == signature[:32]


def verify(key: bytes, message: bytes, signature: bytes) -> bool:
    """Return true if the owner of `key` has signed `message`."""
    if Ed25519PublicKey is None:
        return verify_plainly(key, message, signature)
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
