"""Rows of a frame as dictionaries."""

import pandas as pd

from icpo.report.rows import records


def test_rows_have_plain_values_and_none_for_what_is_missing():
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, float("nan")], "c": ["x", None], "d": [True, False]})
    rows = records(frame)
    assert rows == [{"a": 1, "b": 0.5, "c": "x", "d": True}, {"a": 2, "b": None, "c": None, "d": False}]
    assert [type(value) for value in rows[0].values()] == [int, float, str, bool]
    assert records(frame.iloc[:0]) == records(pd.DataFrame()) == []
