"""Reads the rows of a data file (.jsonl, .csv, .parquet); what its columns mean is decided elsewhere."""

import json
from pathlib import Path
from typing import Any

from icpo.errors import BenchmarkError

Row = dict[str, Any]
SUFFIXES = (".jsonl", ".csv", ".parquet")
ONE_A_LINE = "Write one JSON object a line, without brackets around them and commas between them."


def read_rows(path: Path) -> list[Row]:
    """All rows of one file, in its order. Raises BenchmarkError when it is not what its name says."""
    if path.suffix not in SUFFIXES:
        raise BenchmarkError(
            f"{path} must end in one of {', '.join(SUFFIXES)} to be read as questions. Save "
            "a .json list as .jsonl, one object a line, and a .tsv table as .csv, with commas."
        )
    if not path.is_file():
        raise BenchmarkError(f"There is no file {path.absolute()}. Give benchmark.path an existing file.")
    try:
        return _read_jsonl(path) if path.suffix == ".jsonl" else _read_table(path)
    except (OSError, UnicodeDecodeError) as error:
        raise BenchmarkError(
            f"{path} cannot be read: {error}. It must be UTF-8 text that you may read."
        ) from None


def _read_jsonl(path: Path) -> list[Row]:
    rows = []
    with path.open(encoding="utf-8-sig", newline="\n") as lines:  # other newlines may stand inside a question
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                way_out = ONE_A_LINE if line.lstrip().startswith("[") else "Mend or drop it."
                raise BenchmarkError(f"{path}, line {number} is not JSON ({error.msg}). {way_out}") from None
            if not isinstance(row, dict):
                raise BenchmarkError(
                    f"{path}, line {number} must be a JSON object, got {type(row).__name__}. {ONE_A_LINE}"
                )
            rows.append(row)
    return rows


def _read_table(path: Path) -> list[Row]:
    import pandas as pd

    try:
        if path.suffix == ".csv":
            frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        else:
            frame = pd.read_parquet(path)
    except ImportError:
        raise BenchmarkError(
            f"{path} needs pyarrow. Install it with pip install 'icpo[hub]', or give a .jsonl or .csv file."
        ) from None
    except ValueError as error:  # pandas' and pyarrow's parse errors are ValueErrors
        raise BenchmarkError(f"{path} is not a {path.suffix} file: {error}.") from None
    return [{str(k): v for k, v in row.items()} for row in frame.to_dict("records")]
