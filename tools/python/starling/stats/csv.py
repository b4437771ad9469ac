"""The data of the own site: columns of a file of separated values, or of arrays."""
from __future__ import annotations

import gzip
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from starling.stats.sums import InputError

MISSING = ("", "NA", "N/A", "#N/A", "<NA>", "nan", "null", ".")  # words for a missing value, in upper or lower case
SEPARATORS = ",;\t"
DECIMALS = {".": "a point", ",": "a comma", "?": "a point or a comma"}
SHOWN = 3  # rows of a preview
LARGEST = 1e15  # the squares of so many rows as there may be stay in the range of a private sum
LOOKED_AT = 100  # records that tell the separator
SPACES = " \u00a0\u202f"  # between thousands
LINE_END = r"\r\n|\r|\n"
WORKBOOKS = (b"PK\3\4", b"\xd0\xcf\x11\xe0")  # how files of spreadsheets begin: .xlsx, .ods; .xls


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _decode(data: bytes, encoding: str | None, name: str) -> tuple[str, str]:
    """Return the text of `data` and the name of its encoding."""
    if data.startswith(WORKBOOKS):
        raise InputError(f"{name} is a workbook of a spreadsheet program: save its table as CSV there")
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as flaw:
            raise InputError(f"{name} cannot be unpacked: {flaw}") from None
    if encoding is None:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            encoding = "utf-16"
        elif data[1:2] == b"\0" or data[:1] == b"\0":
            encoding = "utf-16-le" if data[1:2] == b"\0" else "utf-16-be"
        else:
            encoding = next(guess for guess in ("utf-8", "windows-1252", "latin-1") if _decodes(data, guess))
    try:
        return data.decode(encoding).removeprefix("\ufeff"), encoding
    except (UnicodeError, LookupError) as flaw:
        raise InputError(f"{name} is not text in {encoding}: {flaw}") from None


def _records(text: str, separator: str) -> Iterable[tuple[int, list[str]]]:
    """Yield (first line, fields without blanks around them) of each record that is not empty.

    A field may be in quotes, in which a doubled quote stands for one; it may then have separators and line ends. A quote within a
    field is a letter like others. InputError: nothing, or more than blanks, follows a quoted field; the text begins with the line."""
    between, blanks = re.escape(separator), "[ \t]*" if separator != "\t" else " *"
    field = re.compile(rf'(?:{blanks}"([^"]*(?:""[^"]*)*)"{blanks}|([^{between}\r\n]*))({between}|{LINE_END}|\Z)')
    record, filled, line, first, at = [], False, 1, 1, 0
    while at < len(text) or record:
        found = field.match(text, at)
        assert found is not None  # a field may have any other letters, or none
        quoted, plain, end = found.groups()
        if quoted is None:
            plain = plain.strip()
            if plain[:1] == '"':
                closed = re.compile(r'\s*"[^"]*(""[^"]*)*"').match(text, at)
                raise InputError(f"line {line}: " + ("text after the quotes of a field" if closed else "a quoted field has no end"))
            record.append(plain)
            filled = filled or plain != ""
        else:
            record.append(quoted.replace('""', '"').strip())
            filled, line = True, line + len(re.findall(LINE_END, quoted))
        at = found.end()
        if end == separator:
            continue
        if filled:
            yield first, record
        record, filled, line = [], False, line + 1
        first = line


def _separator(text: str) -> str:
    """Return the separator with which the first records have most fields, the same number in each; else of the first.

    Where no separator stands in the first record, all have one field: the separator is one that no record has."""
    best = (0, 0, SEPARATORS[0])
    for separator in SEPARATORS:
        widths = []
        try:
            for (_, record), _ in zip(_records(text, separator), range(LOOKED_AT)):
                widths.append(len(record))
        except InputError:
            widths.append(0)
        same = len(set(widths)) == 1
        rank = 0 if not widths or widths[0] == 0 else (3 if same else 2) if widths[0] > 1 else int(same)
        best = max(best, (rank, widths[0] if widths else 0, separator), key=lambda found: found[:2])
    return best[2]


def _decimal(cells: Iterable[str], separator: str) -> str:
    """Return "." or ",", as the cells show; "?" if they show both, or if each number with a comma may be one with thousands, or each with a
    point between semicolons, which stand where decimals follow a comma."""
    found, unclear = set(), False
    for cell in cells:
        cell = re.sub(rf"(?<=\d)[{SPACES}'](?=\d{{3}})", "", cell)
        if re.fullmatch(r"[+-]?\d{1,3}(\.\d{3})+,\d+|[+-]?\d+,(\d{1,2}|\d{4,})|[+-]?(\d{4,}|0),\d+", cell):
            found.add(",")
        elif re.fullmatch(r"[+-]?[\d,]*\d\.\d*", cell) and not re.fullmatch(r"[+-]?[1-9]\d{0,2}(\.\d{3})+", cell):
            found.add(".")
        elif re.fullmatch(r"[+-]?\d{1,3}(,\d{3}){2,}", cell):
            found.add(".")
        else:
            unclear |= re.fullmatch(r"[+-]?\d{1,3}[,.]\d{3}" if separator == ";" else r"[+-]?\d{1,3},\d{3}", cell) is not None
    return found.pop() if len(found) == 1 else "?" if found or unclear else "."


class Numbers:
    """How numbers are written: decimals follow `decimal`, "." or ","; `thousands` stands between groups of three digits ("": nothing
    does; None: a blank, an apostrophe, or whichever of "." and "," is not `decimal`). With "?" the file does not show it."""

    def __init__(self, decimal: str = ".", thousands: str | None = None) -> None:
        self._decimal = decimal
        groups = thousands if thousands is not None else SPACES + "'" + ("" if decimal == "?" else ",.".replace(decimal, ""))
        point = re.escape("." if decimal == "?" else decimal)
        between = f"[{re.escape(groups)}]" if groups else "(?!)"
        self._number = re.compile(rf"[+-]?((\d{{1,3}}({between}\d{{3}})+|\d+)({point}\d*)?|{point}\d+)([eE][+-]?\d+)?", re.ASCII)
        self._groups = re.compile(between)

    def plain(self, word: str) -> str | None:
        """Return the number of `word` as Python writes it; None: it is no number. InputError: it may be one of two."""
        if self._decimal == "?" and re.fullmatch(r"[+-]?\d{1,3}[.,]\d{3}", word):
            raise InputError("the file does not show whether decimals or thousands follow; give --decimal , or --decimal .")
        return None if self._number.fullmatch(word) is None else self._groups.sub("", word).replace(self._decimal, ".")


class Columns:
    """Columns by name; a cell is a word of a file or a value of an array.

    decimal, thousands: of words, see Numbers. lines: where each row begins in a file. doubled: names that two columns of it have."""

    def __init__(self, columns: Mapping[str, Sequence[Any]], source: str = "the data", missing: Sequence[str] = MISSING,
                 decimal: str = ".", thousands: str | None = None, lines: Sequence[int] = (), doubled: Sequence[str] = ()) -> None:
        self.source, self.described, self._doubled = source, f"{source}: {len(columns)} columns", doubled
        self._columns = {str(name): columns[name] for name in columns}
        self._missing = {word.strip().lower() for word in missing}
        self._numbers, self._lines = Numbers(decimal, thousands), lines
        for name, column in self._columns.items():
            if isinstance(column, (str, bytes)) or not hasattr(column, "__len__") or getattr(column, "ndim", 1) != 1:
                raise InputError(f"{source}: {name} is no column: give a list, or an array of one dimension")
        sizes = {len(column) for column in self._columns.values()}
        if len(sizes) > 1:
            raise InputError(f"{source}: the columns have different lengths: {sorted(sizes)}")
        self.rows, self.names = sizes.pop() if sizes else 0, list(self._columns)

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def _cells(self, name: str) -> Sequence[Any]:
        if name not in self._columns:
            more = ", ..." if len(self.names) > 12 else " only; --separator names another separator" if len(self.names) == 1 else ""
            shown = ", ".join(one if len(one) <= 80 else f"{one[:77]}..." for one in self.names[:12])
            raise InputError(f"{self.source} has no column {name!r}: it has {shown}{more}")
        if name in self._doubled:
            raise InputError(f"{self.source} has two columns {name!r}: rename one of them")
        return self._columns[name]

    def _is_missing(self, cell: Any) -> bool:
        if isinstance(cell, str):
            return cell.strip().lower() in self._missing
        # a comparison with pandas.NA is neither true nor false
        return cell is None or type(cell).__name__ in ("NAType", "NaTType") or cell != cell

    def at(self, row: int) -> str:
        """Return where the row is, for an error: "data.csv, line 7"."""
        return f"{self.source}, " + (f"line {self._lines[row]}" if len(self._lines) else f"row {row + 1}")

    def _plain(self, name: str, row: int, cell: str, remedy: str) -> str:
        """Return the number of a word as Python writes it. InputError: it is none."""
        word = cell.strip()
        try:
            plain = self._numbers.plain(word)
        except InputError as unclear:
            raise InputError(f"{self.at(row)}: {name} is {word!r}: {unclear}") from None
        if plain is None:
            raise InputError(f"{self.at(row)}: {name} is {word!r}, which is no number; {remedy}")
        return plain

    def _parse(self, name: str, row: int, cell: Any) -> float:
        if self._is_missing(cell):
            return np.nan
        if isinstance(cell, str):
            return float(self._plain(name, row, cell, f"name the categories of a column of words (--levels {name}=A,B), or the word "
                                     "as missing (--missing)"))
        try:
            return float(cell if not isinstance(cell, np.complexfloating) else complex(cell))
        except (TypeError, ValueError):
            raise InputError(f"{self.at(row)}: {name} is {cell!r}, which is no number") from None

    def digits(self, name: str) -> list[str | None]:
        """Return the numbers of a column of a file, all digits, as Python writes them; None where one is missing. InputError as
        `numbers`."""
        remedy = "name the word as missing (--missing), or count words with 'starling count'"
        return [None if self._is_missing(cell) else self._plain(name, row, cell, remedy) for row, cell in enumerate(self._cells(name))]

    def numbers(self, name: str) -> np.ndarray:
        """Return the column as float64 of shape [rows], NaN where a value is missing. InputError names a cell that is no number."""
        cells = self._cells(name)
        values = np.array([self._parse(name, row, cell) for row, cell in enumerate(cells)], dtype=np.float64)
        if (np.abs(values) > LARGEST).any():
            raise InputError(f"{self.source}: {name} has a value beyond {LARGEST:g}: use a larger unit")
        return values

    def codes(self, name: str, levels: Sequence[Any]) -> np.ndarray:
        """Return the places of the cells in `levels` as float64 of shape [rows], NaN where a value is missing.

        Levels and cells that are numbers are compared as numbers. InputError names a cell that is no level."""
        places = {self._key(level): place for place, level in enumerate(levels)}
        if len(places) < 2 or len(places) < len(levels):
            raise InputError(f"the levels of {name} must be at least two different words, not {', '.join(map(str, levels))}")
        codes = np.full(self.rows, np.nan)
        for row, cell in enumerate(self._cells(name)):
            place = places.get(self._key(cell))  # a word for missing values may be a level
            if place is None and not self._is_missing(cell):
                raise InputError(f"{self.at(row)}: {name} is {str(cell).strip()!r}, which is not among its levels "
                                 f"{', '.join(map(str, levels))}")
            codes[row] = np.nan if place is None else place
        return codes

    def _key(self, cell: Any) -> Any:
        word = str(cell).strip()
        try:
            return float(word)
        except ValueError:
            return word

    def words(self, name: str, kept: Sequence[str] = ()) -> np.ndarray:
        """Return the column as it is, an array of objects of shape [rows]; None where a value is missing.

        kept: words that are not missing, although others of the file take them for it."""
        cells = np.empty(self.rows, dtype=object)
        for row, cell in enumerate(self._cells(name)):
            word = cell.strip() if isinstance(cell, str) else cell
            cells[row] = None if self._is_missing(cell) and not (isinstance(word, str) and word in kept) else word
        return cells

    def preview(self, names: Sequence[str]) -> str:
        """Return how the file is understood, and its first rows in the columns `names`."""
        kept = [name for name in dict.fromkeys(names) if name in self._columns]
        rows = [kept] + [["missing" if self._is_missing(self._columns[name][row]) else str(self._columns[name][row]).strip()
                          for name in kept] for row in range(min(SHOWN, self.rows))]
        return "\n".join([f"{self.described}, {self.rows} rows"] + ["  " + " | ".join(row) for row in rows])


def _misfit(record: list[str], names: list[str], separator: str, all_longer: bool) -> str:
    """Return what is wrong with a record of another number of fields, and the remedy. `all_longer`: each has one more than names."""
    counts = f"{len(record)} field{'s' if len(record) > 1 else ''}, and the first line has {len(names)}"
    if len(record) < len(names):
        return f"{counts}: a field is missing; between separators a missing value is an empty field, as in 1{separator}{separator}3"
    if all_longer:
        return (f"{counts}, as in all lines: name the first column, too (R: write.table(..., col.names=NA)), or delete "
                f"{separator!r} at the ends of the lines")
    return f"{counts}: put quotes around a field with {separator!r} in it, or name another separator (--separator)"


def read(path: str | os.PathLike[str], separator: str | None = None, decimal: str | None = None, thousands: str | None = None,
         encoding: str | None = None, missing: Sequence[str] = MISSING, empty: bool = False) -> Columns:
    """Read a file of separated values, plain or .gz, whose first record has the names.

    What is not given is found: the separator among comma, semicolon and tab; UTF-8, UTF-16, Windows-1252 or Latin-1; whether
    decimals follow a point or a comma. Fields may be quoted and then have several lines. `empty`: the file may have names and no rows.
    InputError: the file cannot be read, is empty, or a record has another number of fields."""
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as flaw:
        raise InputError(f"{name}: {flaw.strerror}") from None
    text, encoding = _decode(data, encoding, name)
    if "\0" in text:
        raise InputError(f"{name}, line {text[:text.index(chr(0))].count(chr(10)) + 1}: a zero byte: this is no text, or of another "
                         "encoding (--encoding)")
    if text[:4].lower() == "sep=" and separator is None:  # as spreadsheets write it
        separator, text = text[4:5], text.partition("\n")[2]
    separator = separator or _separator(text)
    if len(separator) != 1 or separator in '"\r\n':
        raise InputError(f"a separator is one letter, such as ';', not {separator!r}")
    try:
        records = list(_records(text, separator))
    except InputError as flaw:
        raise InputError(f"{name}, {flaw}") from None
    if len(records) < (1 if empty else 2):
        raise InputError(f"{name} is empty" if not records else f"{name} has names and no rows")
    names = records[0][1]
    for line, record in records:
        if len(record) != len(names):
            all_longer = all(len(other) == len(names) + 1 for _, other in records[1:])
            raise InputError(f"{name}, line {line}: {_misfit(record, names, separator, all_longer)}")
    found = decimal or _decimal((field for _, record in records[1:] for field in record), separator)
    columns = Columns({field: [record[place] for _, record in records[1:]] for place, field in enumerate(names)}, name, missing,
                      found, thousands, [line for line, _ in records[1:]], [field for field, count in Counter(names).items() if count > 1])
    shown = {",": "comma", ";": "semicolon", "\t": "tab"}.get(separator, separator)
    columns.described = (f"{name}: {encoding}, separator {shown}, decimals after {DECIMALS[found]}, "
                         f"{len(names)} column{'s' if len(names) > 1 else ''}")
    return columns


def columns_of(data: Any) -> Columns:
    """Return `data`, a Columns, the path of a file, a pandas DataFrame or a dict of arrays, as Columns."""
    if isinstance(data, Columns):
        return data
    if isinstance(data, (str, os.PathLike)):
        return read(data)
    if not hasattr(data, "keys"):
        raise InputError(f"the data are the path of a file, a DataFrame or a dict of columns, not a {type(data).__name__}")
    return Columns({name: data[name] for name in data})
