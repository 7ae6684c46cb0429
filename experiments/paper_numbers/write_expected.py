"""Writes each experiment's expected.csv from reference_numbers.json; percentages become fractions."""

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
COLUMNS = [
    "backbone",
    "method",
    "reward",
    "selector",
    "num_rounds",
    "num_candidates",
    "benchmark",
    "metric",
    "k",
]
BACKBONES = {
    "qwen2.5-math-7b": "qwen7b",
    "qwen2.5-math-1.5b": "qwen1_5b",
    "deepseek-r1-distill-llama-8b": "r1_llama8b",
    "llama-3.1-8b-instruct": "llama8b",
    "qwen3-4b-instruct": "qwen3_4b",
    "gemini-2.5-pro": "gemini_pro",
    "gemini-2.5-flash": "gemini_flash",
}
ARMS = {
    "base": ("direct", "", "", "", ""),
    "me_icpo": ("me_icpo", "majority", "entropy", "5", "16"),
    "without_reward": ("me_icpo", "none", "entropy", "5", "16"),
    "without_entropy": ("me_icpo", "majority", "random", "5", "16"),
    "without_entropy_and_reward": ("me_icpo", "none", "random", "5", "16"),
    "me_icpo_oracle": ("me_icpo", "oracle", "entropy", "5", "16"),
}
METRICS = {"mean_at_16": "mean_at_k", "maj_at_16": "majority_at_k", "accuracy": "accuracy"}
DIGITS = 0.0  # tables are printed to two digits: no tolerance beyond our interval
READ_OFF = 0.01  # bars of a figure

Numbers = Mapping[str, Any]
Row = tuple[str, ...]


def main() -> None:
    """Writes the files of all experiments that have numbers in the paper, and gpqa's, which has none."""
    numbers = json.loads((HERE / "reference_numbers.json").read_text("utf-8"))
    tables = {
        "main_table": main_table(numbers),
        "ablation": ablation(numbers),
        "backbones": backbones(numbers),
        "frontier": frontier(numbers),
        "harder": harder(numbers),
        "gpqa": iter(()),
    }
    for name, rows in tables.items():
        write(name, [*COLUMNS, "paper_value", "paper_std", "tolerance"], rows)
    costs = ["num_rounds", "num_candidates", "seconds_per_question", "tokens_per_question", "peak_vram_gb"]
    write("nk_sweep", costs, nk_costs(numbers))


def write(name: str, columns: list[str], rows: Iterator[Row]) -> None:
    """One expected.csv."""
    with (HERE.parent / name / "expected.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def row(
    model: str, arm: str, benchmark: str, metric: str, percent: float, std: float | None, tolerance: float
) -> Row:
    """One number of the paper under this project's names."""
    values = (f"{percent / 100:.4f}", "" if std is None else f"{std / 100:.4f}", f"{tolerance:g}")
    return (BACKBONES[model], *ARMS[arm], benchmark, METRICS[metric], "16", *values)


def main_table(numbers: Numbers) -> Iterator[Row]:
    """Table "Performance comparison"."""
    for metric in ("mean_at_16", "accuracy"):
        for model, arms in numbers["table_main"][metric].items():
            for arm, benchmarks in arms.items():
                for benchmark, cell in benchmarks.items():
                    yield row(model, arm, benchmark, metric, cell["mean"], cell["std"], DIGITS)


def ablation(numbers: Numbers) -> Iterator[Row]:
    """Table "Ablation study", and the base that it is read against, from the main table."""
    model = "qwen2.5-math-7b"
    for metric in ("accuracy", "mean_at_16"):
        base = numbers["table_main"][metric][model]["base"]["aime2024"]
        yield row(model, "base", "aime2024", metric, base["mean"], base["std"], DIGITS)
    for arm, values in numbers[f"table_ablation_aime2024_{model}"].items():
        for metric, percent in values.items():
            yield row(model, arm, "aime2024", metric, percent, None, DIGITS)


def backbones(numbers: Numbers) -> Iterator[Row]:
    """Figure "Performance comparison of backbone models", read off its bars."""
    for model, bars in numbers["figure_backbones_aime2024_read_off_the_bars_plus_minus_1"].items():
        for name, percent in bars.items():
            arm = "base" if name.startswith("base_") else "me_icpo"
            yield row(model, arm, "aime2024", name.removeprefix(f"{arm}_"), percent, None, READ_OFF)


def frontier(numbers: Numbers) -> Iterator[Row]:
    """Table "Results on frontier/long-CoT models"."""
    for model, arms in numbers["table_frontier_aime2024"].items():
        for arm, values in arms.items():
            for metric, percent in values.items():
                yield row(model, arm, "aime2024", metric, percent, None, DIGITS)


def harder(numbers: Numbers) -> Iterator[Row]:
    """Tables "Results on Harder Benchmarks"."""
    for model in ("qwen2.5-math-7b", "gemini-2.5-flash"):
        for arm, benchmarks in numbers[f"table_harder_{model}"].items():
            for benchmark, values in benchmarks.items():
                for metric, percent in values.items():
                    yield row(model, arm, benchmark, metric, percent, None, DIGITS)


def nk_costs(numbers: Numbers) -> Iterator[Row]:
    """Table "Empirical cost", AIME 2024 on two L40S."""
    for cell in numbers["table_nk_cost_aime2024_qwen2.5-math-7b_2xL40S"]:
        tokens = f"{1000 * cell['kilo_tokens_per_question']:.0f}"
        yield (
            str(cell["n"]),
            str(cell["k"]),
            str(cell["seconds_per_question"]),
            tokens,
            str(cell["peak_vram_gb"]),
        )


if __name__ == "__main__":
    main()
