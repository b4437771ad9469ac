"""Values of records and documents: fields of the type that is expected, times, JSON as Starling writes it."""
from __future__ import annotations

import calendar
import json
import math
import time
from functools import lru_cache
from typing import Any, Optional

NAN = math.nan
WHOLE_MOST = (1 << 63) - 1


def whole(record: dict, name: str) -> int:
    """Return a whole number from 0 on, or 0: there is none."""
    value = record.get(name)
    return value if type(value) is int and 0 < value <= WHOLE_MOST else 0


def real(record: dict, name: str) -> float:
    """Return a number, or NaN: there is none."""
    value = record.get(name)
    return float(value) if type(value) is float or (type(value) is int and abs(value) <= WHOLE_MOST) else NAN


def text(record: dict, name: str) -> str:
    """Return a text, or "": there is none."""
    value = record.get(name)
    return value if type(value) is str else ""


def items(record: dict, name: str) -> list:
    """Return an array, or []: there is none."""
    value = record.get(name)
    return value if type(value) is list else []


@lru_cache(maxsize=1 << 14)
def _seconds(date: str) -> float:
    try:
        return float(calendar.timegm(time.strptime(date, "%Y-%m-%dT%H:%M:%S")))
    except (ValueError, OverflowError):
        return NAN


def moment(value: Any) -> float:
    """Return a time of a record, "2026-11-23T10:00:00.123Z", in seconds since 1970; NaN: it is none."""
    if type(value) is not str:
        return NAN
    try:
        fraction = float(value[19:].rstrip("Z")) if value[19:20] == "." else 0
    except ValueError:
        return NAN
    return _seconds(value[:19]) + fraction if 0 <= fraction < 1 else NAN


def date(s: float) -> str:
    """Return seconds since 1970 as in a record."""
    seconds, ms = divmod(math.floor(s * 1000 + 0.5), 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{ms:03d}Z"


def rounded(value: Any, digits: int) -> Any:
    """Return a JSON value whose real numbers have so many digits at most."""
    if type(value) is float:
        return float(f"{value:.{digits}g}")
    if type(value) is dict:
        return {key: rounded(one, digits) for key, one in value.items()}
    return [rounded(one, digits) for one in value] if type(value) is list else value


def dumps(value: Any, digits: int = 15) -> str:
    """Return compact JSON; its real numbers have so many digits at most."""
    return json.dumps(rounded(value, digits), ensure_ascii=False, separators=(",", ":"))


def _finite(number: str) -> float:
    """Return the value of a number, which NaN, Infinity and 1e999 are not: no page could read them."""
    value = float(number)
    if not math.isfinite(value):
        raise ValueError
    return value


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)  # json.loads would make one for each line


def parse(line: bytes) -> Optional[dict]:
    """Return the object that stands in a line, or None."""
    try:
        record = _DECODER.decode(line.decode())
    except (ValueError, RecursionError):
        return None
    return record if type(record) is dict else None
