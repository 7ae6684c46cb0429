"""A run's table.csv beside the paper's numbers of one experiment (its expected.csv)."""

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icpo.errors import RecordsError
from icpo.report.cells import BASE
from icpo.report.command_line import ends_in_a_line, run_parser
from icpo.report.labels import base_label, rules_name
from icpo.report.latex import tabular
from icpo.report.markdown import VERDICT_NOTE
from icpo.report.markdown import table as markdown_table
from icpo.report.report import write_report
from icpo.report.sections import metric_name
from icpo.store import read_metrics, run_cells

if TYPE_CHECKING:
    import pandas as pd

KEY = ["backbone", "method", "reward", "selector", "num_rounds", "num_candidates", "benchmark", "metric", "k"]
METRICS = ("mean_at_k", "accuracy")
TEXTS = ["backbone", "arm", "benchmark", "metric", "protocol"]
SHOWN = [*TEXTS, "questions x seeds", "paper", "ours [95% interval]", "difference", "verdict"]
NOTE = "In percent. " + VERDICT_NOTE + " `not run`: this run has no such number."
COLUMNS = [*KEY, "protocol", "paper_value", "paper_std", "value", "low", "high", "difference", "verdict"]
SIZED = ("backbone", "method", "reward", "selector", "num_candidates", "benchmark", "protocol")


@ends_in_a_line
def main(experiment: Path) -> None:
    """Command line of experiments/NAME/make_table.py: [RUN_NAME] [--outputs FOLDER]."""
    args = run_parser(f"The paper's numbers of {experiment.name} beside ours.", experiment.name).parse_args()
    write_report(args.outputs, args.run_name)
    table, paths = write_comparison(args.outputs / args.run_name, experiment)
    print(table, *map(str, paths), sep="\n")


def write_comparison(run: Path, experiment: Path) -> tuple[str, list[Path]]:
    """Writes RUN/report/EXPERIMENT_vs_paper.{md,csv,tex}; returns the Markdown and the paths.

    Raises RecordsError where the run has no table yet.
    """
    compared = compare(read_table(run), experiment / "expected.csv")
    sizes = _sizes(run)
    rows = [_shown(row, sizes) for row in compared.to_dict("records")]
    texts = {
        "md": f"{NOTE}\n\n{markdown_table(SHOWN, rows, num_texts=len(TEXTS))}\n",
        "tex": tabular(SHOWN, rows),
        "csv": compared.to_csv(index=False, lineterminator="\n"),
    }
    paths = []
    for suffix, text in texts.items():
        paths.append(run / "report" / f"{experiment.name}_vs_paper.{suffix}")
        paths[-1].write_text(text, encoding="utf-8")
    return texts["md"], paths


def read_table(run: Path) -> "pd.DataFrame":
    """The run's table.csv, its key columns as text ("" where a method has no such setting)."""
    import pandas as pd

    path = run / "report" / "table.csv"
    if not path.is_file():
        raise RecordsError(f"There is no {path}. Make it with python -m icpo.report {run.name}.")
    table = pd.read_csv(path, dtype=dict.fromkeys([*KEY, "protocol"], str), keep_default_na=False)
    for name in ("value", "low", "high"):
        table[name] = pd.to_numeric(table[name])
    base = table["method"].str.startswith("direct")
    table.loc[base, ["reward", "selector", "num_rounds", "num_candidates"]] = ""
    return table[~table["method"].str.contains("-")]


def compare(table: "pd.DataFrame", expected: Path) -> "pd.DataFrame":
    """Every number of the paper in its order, beside ours; then ours that the paper has none for.

    The verdict is `within` where the paper's value (give or take its `tolerance`) meets our 95% interval,
    else `above` or `below` (ours is), `not run` where we have no such number, and empty where the paper has
    none.
    """
    import pandas as pd

    paper = pd.read_csv(expected, dtype=dict.fromkeys(KEY, str), keep_default_na=False)
    for name in ("paper_value", "paper_std", "tolerance"):
        paper[name] = pd.to_numeric(paper[name])
    wanted = table[table["metric"].isin({*METRICS, *paper["metric"]})]
    ours = wanted[[*KEY, "protocol", "value", "low", "high"]]
    beside = paper.merge(ours, on=KEY, how="left", sort=False)
    alone = ours.merge(paper[KEY], on=KEY, how="left", indicator=True).query("_merge == 'left_only'")
    both = pd.concat([beside, alone.drop(columns="_merge")], ignore_index=True)
    both["difference"] = both["value"] - both["paper_value"]
    both["verdict"] = "within"
    both.loc[both["low"] > both["paper_value"] + both["tolerance"], "verdict"] = "above"
    both.loc[both["high"] < both["paper_value"] - both["tolerance"], "verdict"] = "below"
    both.loc[both["value"].isna(), "verdict"] = "not run"
    both.loc[both["paper_value"].isna(), "verdict"] = ""
    return both[COLUMNS]


def _sizes(run: Path) -> dict[tuple[str, ...], str]:
    """`30 x 5`, questions and seeds, by what names a cell."""
    found = (
        metrics for cell in run_cells(run.parent, run.name) if "k" in (metrics := read_metrics(cell) or {})
    )
    return {
        tuple(
            str(metrics[name] or "") for name in SIZED
        ): f"{metrics['num_questions']} x {len(metrics['seeds'])}"
        for metrics in found
    }


def _shown(row: Mapping[Hashable, Any], sizes: Mapping[tuple[str, ...], str]) -> list[str]:
    """A row for readers, in the order of SHOWN, in percent."""
    ours = f"{100 * row['value']:.2f} [{100 * row['low']:.2f}, {100 * row['high']:.2f}]"
    is_run = row["value"] == row["value"]
    has_paper = row["paper_value"] == row["paper_value"]
    spread = f" ±{100 * row['paper_std']:.2f}" if row["paper_std"] == row["paper_std"] else ""
    return [
        row["backbone"],
        _arm_name(row),
        row["benchmark"],
        metric_name(row["metric"], int(row["k"])),
        row["protocol"] if is_run else "",
        sizes.get(tuple(str(row[name]) for name in SIZED), "") if is_run else "",
        f"{100 * row['paper_value']:.2f}{spread}" if has_paper else "",
        ours if is_run else "",
        f"{100 * row['difference']:+.2f}" if is_run and has_paper else "",
        row["verdict"],
    ]


def _arm_name(row: Mapping[Hashable, Any]) -> str:
    """`base`, `ME-ICPO (full), n=5, k=16`, or another method's name."""
    if row["method"].startswith(BASE):
        return base_label(row["method"])
    if row["method"] != "me_icpo":
        return str(row["method"])
    rules = rules_name(row["reward"], row["selector"])
    return f"ME-ICPO ({rules}), n={row['num_rounds']}, k={row['num_candidates']}"
