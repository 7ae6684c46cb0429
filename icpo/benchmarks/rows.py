"""Reads the rows of a data file (.jsonl, .csv, .parquet)."""

import csv
import json
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from icpo.errors import BenchmarkError

Row = dict[str, Any]
SUFFIXES = (".jsonl", ".csv", ".parquet")
MAX_DIGITS = 4000  # of a whole number: Python refuses to convert longer ones
MAX_FIELD_LETTERS = 2**31 - 1
MAX_SHOWN_LETTERS = 60
ONE_A_LINE = "Write one JSON object a line, without brackets around them and commas between them."


def read_rows(path: Path) -> list[Row]:
    """All rows of one file. Raises BenchmarkError for a malformed one."""
    if path.suffix not in SUFFIXES:
        raise BenchmarkError(
            f"{path} must end in one of {', '.join(SUFFIXES)} to be read as questions. Save "
            "a .json list as .jsonl, one object a line, and a .tsv table as .csv, with commas."
        )
    if not path.is_file():
        raise BenchmarkError(f"There is no file {path.absolute()}. Give benchmark.path an existing file.")
    try:
        return READERS[path.suffix](path)
    except (OSError, UnicodeDecodeError) as error:
        raise BenchmarkError(
            f"{path} cannot be read: {error}. It must be UTF-8 text that you may read."
        ) from None


def _read_jsonl(path: Path) -> list[Row]:
    rows = []
    with path.open(encoding="utf-8-sig", newline="\n") as lines:  # other newlines may be inside a question
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            row = _object(line, f"{path}, line {number}")
            if not isinstance(row, dict):
                raise BenchmarkError(
                    f"{path}, line {number} must be a JSON object, got {type(row).__name__}. {ONE_A_LINE}"
                )
            rows.append(row)
    return rows


def _object(line: str, where: str) -> Any:
    """The JSON value of a line; a key of an object may occur once."""
    try:
        return json.loads(line, object_pairs_hook=_unique, parse_int=_whole_number, parse_float=_fraction)
    except json.JSONDecodeError as error:
        way_out = ONE_A_LINE if line.lstrip().startswith("[") else "Correct or drop it."
        raise BenchmarkError(f"{where} is not JSON ({error.msg}). {way_out}") from None
    except RecursionError:
        raise BenchmarkError(f"{where} is nested too deeply. Correct or drop it.") from None
    except _Repeated as error:
        raise BenchmarkError(f"{where} has the key {str(error)!r} twice. Keep one of them.") from None


class _Repeated(Exception):
    """A key that an object has twice."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _Repeated(key)
        found[key] = value
    return found


def _whole_number(digits: str) -> int | str:
    """A number, or the text of one so long that Python would not convert it."""
    return int(digits) if len(digits) <= MAX_DIGITS else digits


def _fraction(digits: str) -> float | str:
    """A number, or the text of one that a float would round."""
    number = float(digits)
    try:
        return number if Decimal(digits) == Decimal(repr(number)) else digits
    except InvalidOperation:  # an exponent that no decimal number has
        return digits


def _read_csv(path: Path) -> list[Row]:
    csv.field_size_limit(MAX_FIELD_LETTERS)
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            header = next(reader, None)
            if header is None:
                raise BenchmarkError(f"{path} is not a .csv file: it is empty.")
            if repeated := [name for name in header if header.count(name) > 1]:
                raise BenchmarkError(f"{path} has the column {repeated[0]!r} twice. Keep one of them.")
            return [_fields(row, header, path, number) for number, row in enumerate(reader, start=1) if row]
        except csv.Error as error:
            raise BenchmarkError(
                f"{path} is not a .csv file: line {reader.line_num}: {error}. Correct or drop it."
            ) from None


def _fields(row: list[str], header: list[str], path: Path, number: int) -> Row:
    if len(row) != len(header):
        raise BenchmarkError(
            f"{path}, row {number} has {len(row)} fields, but the header names {len(header)} columns. Quote "
            f'a field that holds a comma ("1,000"): {", ".join(row)[:MAX_SHOWN_LETTERS]!r}'
        )
    return dict(zip(header, row, strict=True))


def _read_parquet(path: Path) -> list[Row]:
    import pandas as pd

    try:
        frame = pd.read_parquet(path)
    except ImportError:
        raise BenchmarkError(
            f"{path} needs pyarrow. Install it with pip install 'icpo[hub]', or give a .jsonl or .csv file."
        ) from None
    except ValueError as error:  # pyarrow's parse errors are ValueErrors
        raise BenchmarkError(f"{path} is not a .parquet file: {error}.") from None
    return [{str(k): v for k, v in row.items()} for row in frame.to_dict("records")]


READERS = {".jsonl": _read_jsonl, ".csv": _read_csv, ".parquet": _read_parquet}
