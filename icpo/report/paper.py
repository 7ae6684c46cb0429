"""The paper's printed numbers (paper_numbers.csv) and how ours compare.

Numbers are fractions; `std` is what is printed behind ±, `tolerance` what reading a bar off a figure adds.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import pandas as pd

from icpo.metrics import PER_QUESTION
from icpo.report.cells import ME_ICPO
from icpo.report.rows import records

KEY = ["backbone", "method", "reward", "selector", "num_rounds", "num_candidates", "benchmark", "metric", "k"]
LINE = ["backbone", "method", "reward", "selector"]
OF_ME_ICPO = ("reward", "selector", "num_rounds", "num_candidates")
NUM_LOOKAHEADS = 16


@cache
def paper_numbers() -> pd.DataFrame:
    """All numbers that the paper prints; keys are text."""
    with files("icpo.report").joinpath("paper_numbers.csv").open("r", encoding="utf-8") as file:
        numbers = pd.read_csv(file, dtype=dict.fromkeys(KEY, str), keep_default_na=False)
    return numbers.assign(**{name: pd.to_numeric(numbers[name]) for name in ("value", "std", "tolerance")})


def numbers_of(experiment: str) -> pd.DataFrame:
    """The numbers that an experiment reproduces, in the paper's order."""
    numbers = paper_numbers()
    return numbers[[experiment in names.split() for names in numbers["experiments"]]]


def paper_value(row: Mapping[str, Any]) -> float | None:
    """The printed score of an arm; None where there is none."""
    return _scores().get(paper_key(row)) if row["metric"] in PER_QUESTION else None


def paper_key(row: Mapping[str, Any]) -> tuple[str, ...]:
    """An arm's key among the paper's numbers; () if m differs."""
    is_ours = row["method"] == ME_ICPO
    if is_ours and row["num_lookaheads"] != NUM_LOOKAHEADS:
        return ()
    return tuple("" if name in OF_ME_ICPO and not is_ours else str(row[name]) for name in KEY)


@cache
def _scores() -> dict[tuple[str, ...], float]:
    known = paper_numbers().drop_duplicates(KEY)
    return {tuple(key): float(value) for *key, value in known[[*KEY, "value"]].to_numpy()}


def beside_paper(frame: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
    """The paper's `numbers` beside ours, with difference and verdict.

    Columns: those of KEY, paper_value, paper_std, ours, difference, verdict. Ours are `value`, `low`, `high`,
    `protocol`, `line`, `num_questions` and `num_pairs`, missing where this run has no such number (`not
    run`). The verdict is `within` where the paper's value, give or take its tolerance, meets our interval,
    else `above` or `below`.
    """
    scores = frame[~frame["is_difference"]]
    columns = ["value", "low", "high", "protocol", "line", "num_questions", "num_pairs"]
    ours = paper_keys(scores).join(scores[columns])
    paper = numbers.rename(columns={"value": "paper_value", "std": "paper_std"})
    both = paper.merge(ours, on=KEY, how="left", sort=False)
    both["difference"] = both["value"] - both["paper_value"]
    both["verdict"] = "within"
    both.loc[both["low"] > both["paper_value"] + both["tolerance"], "verdict"] = "above"
    both.loc[both["high"] < both["paper_value"] - both["tolerance"], "verdict"] = "below"
    both.loc[both["value"].isna(), "verdict"] = "not run"
    return both


def comparison(frame: pd.DataFrame) -> pd.DataFrame:
    """The paper's numbers for every line of the frame."""
    numbers = paper_numbers()
    beside = beside_paper(frame, numbers[numbers["metric"].isin(PER_QUESTION)])
    ran = beside.groupby(LINE)["value"].transform(lambda values: values.notna().any())
    return beside[ran]


def paper_keys(scores: pd.DataFrame) -> pd.DataFrame:
    """The columns of KEY as text, with the index of `scores`."""
    columns = [*KEY, "num_lookaheads"]
    keys = [paper_key(row) or ("",) * len(KEY) for row in records(scores[columns])]
    return pd.DataFrame(keys, columns=KEY, index=scores.index)
