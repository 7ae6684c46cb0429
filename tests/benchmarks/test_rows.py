import json

import pandas as pd
import pytest

from icpo.benchmarks import Columns
from icpo.benchmarks.rows import read_rows
from icpo.errors import BenchmarkError

ROWS = [
    {"problem": 'line one\nline two, "quoted"\u2028 and on', "answer": "025"},
    {"problem": "N/A? nan, \u202eright to left", "answer": "NA"},
]


def test_jsonl_keeps_texts_to_the_letter(tmp_path):
    path = tmp_path / "q.jsonl"
    lines = [json.dumps(ROWS[0], ensure_ascii=False), "", json.dumps(ROWS[1])]
    path.write_text("\ufeff" + "\n".join(lines), encoding="utf-8")
    assert read_rows(path) == ROWS


def test_csv_neither_drops_zeros_nor_reads_na_as_missing(tmp_path):
    path = tmp_path / "q.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    assert read_rows(path) == ROWS


def test_parquet_gives_plain_python_values(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "q.parquet"
    pd.DataFrame([{"problem": "p", "answer": 142.0}, {"problem": "q", "answer": None}]).to_parquet(path)
    first, second = read_rows(path)
    assert first == {"problem": "p", "answer": 142.0} and type(first["answer"]) is float
    assert second["answer"] != second["answer"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q.txt", b"", "must end in one of .jsonl"),
        ("q.json", b"[]", "Save a .json list as .jsonl, one object a line"),
        ("q.tsv", b"problem\tanswer", "a .tsv table as .csv, with commas"),
        ("q.jsonl", b'[\n  {"a": 1},\n  {"a": 2}\n]', "line 1 is not JSON .*Write one JSON object a line"),
        ("q.jsonl", b'{"a": 1}\n{"a": ', "line 2 "),
        ("q.jsonl", b"[1]\n", "line 1 .*list"),
        ("q.jsonl", b"\xff\xfe", "cannot be read"),
        ("q.jsonl", b'{"a": ' + b"[" * 100_000, "line 1 "),
        ("q.jsonl", b'{"problem": "p", "answer": 1, "answer": 2}\n', "line 1 .*'answer'"),
        ("q.csv", b"problem,answer,answer\np,1,2\n", "'answer'"),
        (
            "q.csv",
            b"problem,answer\np,1\nWhat is 1,000 plus 2?,1002\n",
            "row 2 .*3 .*2 ",
        ),
        ("q.csv", b"problem,answer\np\n", "row 1 "),
        ("q.csv", b"", "not a .csv file"),
        ("q.csv", b'a,b\n"1,2\n3', "not a .csv file"),
        ("q.parquet", b"PAR1 no", "not a .parquet file|needs pyarrow"),
    ],
)
def test_broken_files_are_named(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BenchmarkError, match=message) as caught:
        read_rows(path)
    assert name in str(caught.value)


def test_a_missing_file_is_named_with_its_folder(tmp_path):
    with pytest.raises(BenchmarkError, match=str(tmp_path / "none.jsonl")):
        read_rows(tmp_path / "none.jsonl")


def test_a_whole_number_of_any_length_is_read(tmp_path):
    path = tmp_path / "q.jsonl"
    digits = "9" * 6000
    path.write_text(f'{{"problem": "p", "answer": {digits}, "level": {digits}}}\n')
    [row] = read_rows(path)
    assert row["answer"] == "9" * 6000
    [item] = Columns("problem", "answer", None, "level", (), 0).items([row], "mine")
    assert (item.answer, item.level) == ("9" * 6000, None)


def test_a_number_that_a_float_would_round_is_read_as_it_is_written(tmp_path):
    path = tmp_path / "q.jsonl"
    written = ["12345678901234567890.5", "0.12345678901234567891", "1e400", "1e-99999999999999999999", "0.50"]
    path.write_text("".join(f'{{"answer": {digits}}}\n' for digits in written))
    assert [row["answer"] for row in read_rows(path)] == [*written[:4], 0.5]
