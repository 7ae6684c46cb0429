"""A run beside the paper's numbers of one experiment: what experiments/NAME/make_table.py writes."""

from pathlib import Path

import pandas as pd

from icpo.lab.scripts.command_line import ends_in_a_line, run_parser
from icpo.report.frame import run_frame
from icpo.report.paper import KEY, beside_paper, numbers_of, paper_keys
from icpo.report.report import write_report
from icpo.report.tables import VERDICT_NOTE, paper_table
from icpo.report.text import markdown_table, tabular

SHOWN = ("mean_at_k", "accuracy")


@ends_in_a_line
def main(experiment: Path) -> None:
    """Command line of experiments/NAME/make_table.py: [RUN_NAME] [--outputs FOLDER]."""
    args = run_parser(f"The paper's numbers of {experiment.name} beside ours.", experiment.name).parse_args()
    write_report(args.outputs, args.run_name)
    frame = run_frame(args.outputs, args.run_name)
    table, paths = write_comparison(frame, experiment.name, args.outputs / args.run_name / "report")
    print(table, *map(str, paths), sep="\n")


def write_comparison(frame: pd.DataFrame, experiment: str, folder: Path) -> tuple[str, list[Path]]:
    """Writes FOLDER/EXPERIMENT_vs_paper.{md,csv,tex}; returns the Markdown and the paths.

    The paper's numbers of the experiment come first, then ours that the paper has none for.
    """
    numbers = numbers_of(experiment)
    beside = beside_paper(frame, numbers)
    wanted = frame[
        ~frame["is_difference"] & ~frame["is_pool"] & frame["metric"].isin([*SHOWN, *numbers["metric"]])
    ]
    known = set(map(tuple, numbers[KEY].to_numpy()))
    alone = [tuple(key) not in known for key in paper_keys(wanted).to_numpy()]
    rest = wanted[alone].drop(columns="paper_value").assign(verdict="")
    both = pd.concat([beside, rest], ignore_index=True) if len(rest) else beside
    table = paper_table(both)
    columns = [*KEY, "protocol", "paper_value", "paper_std", "value", "low", "high", "difference", "verdict"]
    texts = {
        "md": f"In percent. {VERDICT_NOTE}\n\n{markdown_table(table.header, table.rows, num_texts=5)}\n",
        "tex": tabular(table.header, table.rows),
        "csv": both[columns].to_csv(index=False, lineterminator="\n"),
    }
    paths = [folder / f"{experiment}_vs_paper.{suffix}" for suffix in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text, encoding="utf-8")
    return texts["md"], paths
