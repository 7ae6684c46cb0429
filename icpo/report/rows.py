"""Rows of a frame: choosing them, and reading them as dictionaries."""

from typing import Any

import pandas as pd


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as dictionaries; None for what is missing."""
    gone = frame.isna().to_numpy().T.tolist()
    columns = {
        str(name): [None if missing else value for value, missing in zip(values, column, strict=True)]
        for (name, values), column in zip(frame.to_dict("list").items(), gone, strict=True)
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def pick(frame: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """The rows with these values."""
    for column, value in values.items():
        frame = frame[frame[column] == value]
    return frame
