"""What the paper's numbers say about one another, worked out from icpo/report/paper_numbers.csv."""

import sys
from collections.abc import Callable, Iterator, Mapping
from math import log
from statistics import median
from typing import Any

from icpo.metrics import PER_QUESTION
from icpo.report.paper import paper_numbers

Numbers = Mapping[str, Any]
MODELS = {
    "qwen7b": "qwen2.5-math-7b",
    "qwen1_5b": "qwen2.5-math-1.5b",
    "r1_llama8b": "deepseek-r1-distill-llama-8b",
    "llama8b": "llama-3.1-8b-instruct",
    "qwen3_4b": "qwen3-4b-instruct",
    "gemini_pro": "gemini-2.5-pro",
    "gemini_flash": "gemini-2.5-flash",
}
ARMS = {"direct": "base"}
K = 16
SIZES = {
    "aime2024": 30,
    "amc": 83,
    "math_l1": 43,
    "math_l2": 90,
    "math_l3": 105,
    "math_l4": 128,
    "math_l5": 134,
}
LEVELS = [name for name in SIZES if name.startswith("math")]
HALF_UNIT = 0.005 + 1e-9  # half of the last digit that the tables print


def main() -> None:
    """Prints every statement with the numbers it rests on."""
    numbers = read_numbers()
    for number, statement in enumerate(STATEMENTS, start=1):
        sys.stdout.write(f"{number}. {statement(numbers)}\n")


def read_numbers() -> dict[str, Any]:
    """The printed numbers in percent, table by table as the statements read them."""
    rows = paper_numbers().to_dict("records")
    numbers: dict[str, Any] = {
        "main": {},
        "ablation": {},
        "harder": {},
        "figure": {},
        "costs": {},
        "math_avg": 0.0,
    }
    for row in rows:
        model, arm, metric = MODELS[row["backbone"]], ARMS.get(row["method"], row["method"]), row["metric"]
        value = row["value"] if metric not in PER_QUESTION else round(100 * row["value"], 4)
        source, benchmark = row["source"], row["benchmark"]
        if source == "tab:main":
            cell = {"mean": value, "std": round(100 * row["std"], 4)}
            models = numbers["main"].setdefault(metric, {})
            models.setdefault(model, {}).setdefault(arm, {})[benchmark] = cell
        elif source == "tab:ablation" and (row["reward"], row["selector"]) == ("majority", "random"):
            numbers["ablation"][metric] = value
        elif source in ("tab:harder-7b", "tab:harder-flash") and metric == "mean_at_k":
            numbers["harder"].setdefault((model, benchmark), []).append(value)
        elif source == "fig:icpo-cmp":
            numbers["figure"].setdefault(model, {})[arm, metric] = value
        elif source == "tab:cost-mean" and arm == "me_icpo" and benchmark == "math_avg":
            numbers["math_avg"] = value
        elif source == "tab:emp_cost_meicrl":
            size = int(row["num_rounds"]), int(row["num_candidates"])
            numbers["costs"].setdefault(size, {})[metric] = value
    return numbers


def on_grid(percent: float, num_answers: int) -> bool:
    """Whether some number of right answers out of so many rounds to the printed percentage."""
    nearest = round(percent / 100 * num_answers)
    return any(abs(100 * i / num_answers - percent) <= HALF_UNIT for i in (nearest - 1, nearest, nearest + 1))


def chance_on_grid(num_answers: int) -> float:
    """The share of two-digit percentages that so many answers can give."""
    return sum(on_grid(i / 100, num_answers) for i in range(10_001)) / 10_001


def cells(numbers: Numbers, metric: str) -> Iterator[tuple[str, str, str, float, float]]:
    """(model, method, benchmark, mean, std) of the main table."""
    for model, methods in numbers["main"][metric].items():
        for method, benchmarks in methods.items():
            for benchmark, cell in benchmarks.items():
                yield model, method, benchmark, cell["mean"], cell["std"]


def means_lie_on_a_single_run_s_grid(numbers: Numbers) -> str:
    """A mean of 5 seeds is on i/(80 N), finer than two digits show; a single run's is on i/(16 N)."""
    found = list(cells(numbers, "mean_at_k"))
    hits = sum(on_grid(mean, K * SIZES[benchmark]) for _, _, benchmark, mean, _ in found)
    chances = [chance_on_grid(K * SIZES[benchmark]) for _, _, benchmark, _, _ in found]
    return (
        f"{hits} of the {len(found)} Mean@16 cells of the main table are on the grid i/(16 N) of a single "
        f"run; by chance {sum(chances):.1f} would, and so many or more with probability "
        f"{tail_probability(chances, hits):.0e}."
    )


def tail_probability(chances: list[float], at_least: int) -> float:
    """Probability that at least so many of independent events happen."""
    counts = [1.0]
    for p in chances:
        counts = [a * (1 - p) + b * p for a, b in zip([*counts, 0.0], [0.0, *counts], strict=True)]
    return sum(counts[at_least:])


def math_average_is_unweighted(numbers: Numbers) -> str:
    """The cost table's MATH(Avg)."""
    levels = numbers["main"]["mean_at_k"]["qwen2.5-math-7b"]["me_icpo"]
    plain = sum(levels[name]["mean"] for name in LEVELS) / len(LEVELS)
    weighted = sum(levels[name]["mean"] * SIZES[name] for name in LEVELS) / sum(
        SIZES[name] for name in LEVELS
    )
    printed = numbers["math_avg"]
    return (
        f"MATH(Avg) {printed:.2f} of the cost table is the unweighted mean of the five levels ({plain:.2f}); "
        f"weighted by their sizes it is {weighted:.2f}."
    )


def accuracy_and_mean_disagree_on_math(numbers: Numbers) -> str:
    """Both estimate the same probability."""
    means = {(m, method, b): mean for m, method, b, mean, _ in cells(numbers, "mean_at_k")}
    gaps = [(b, acc - means[m, method, b]) for m, method, b, acc, _ in cells(numbers, "accuracy")]
    on_math = [gap for b, gap in gaps if b in LEVELS]
    elsewhere = [abs(gap) for b, gap in gaps if b not in LEVELS]
    return (
        "Accuracy and Mean@16 have the same expectation. On AIME and AMC they agree within "
        f"{max(elsewhere):.2f} points; on MATH Accuracy is lower in {sum(gap < 0 for gap in on_math)} of "
        f"{len(on_math)} cells, by {-max(on_math):.1f} to {-min(on_math):.1f} points: the two were not "
        "measured alike."
    )


def spreads_differ_by_two_rather_than_four(numbers: Numbers) -> str:
    """The base's attempts are independent: a mean of 16 has a quarter of one attempt's standard deviation."""
    spreads = {(m, b): std for m, method, b, _, std in cells(numbers, "mean_at_k") if method == "base"}
    ratios = sorted(
        std / spreads[m, b] for m, method, b, _, std in cells(numbers, "accuracy") if method == "base"
    )
    return (
        "If Accuracy is one attempt per question and seed, the base's deviates 4 times as much as its "
        f"Mean@16. The {len(ratios)} printed ratios have the median {median(ratios):.2f} and the maximum "
        f"{ratios[-1]:.2f}."
    )


def majority_voting_is_not_passed_by_the_7b_model(numbers: Numbers) -> str:
    """The figure of backbones; its bars are read off to about a point."""
    models = numbers["figure"]
    parts = [
        f"{model} {bars['me_icpo', 'mean_at_k']:g} against {bars['base', 'majority_at_k']:g}"
        for model, bars in models.items()
    ]
    passed = sum(bars["me_icpo", "mean_at_k"] > bars["base", "majority_at_k"] for bars in models.values())
    return (
        f"ME-ICPO's Mean@16 passes the base's Maj@16 for {passed} of {len(models)} models of the figure: "
        f"{', '.join(parts)}."
    )


def harder_tables_fit_sizes(numbers: Numbers) -> str:
    """Which number of questions puts both cells of a table on the grid of a single run."""
    parts = []
    for (model, benchmark), values in numbers["harder"].items():
        sizes = [n for n in range(20, 61) if all(on_grid(v, K * n) for v in values)]
        parts.append(f"{benchmark} of {model} {sizes or 'none'}")
    fits = "; ".join(parts)
    return f"Numbers of questions (20 to 60) for which both Mean@16 are on a single run's grid: {fits}."


def random_selection_does_worse_than_no_context(numbers: Numbers) -> str:
    """The ablation beside the base of the main table."""
    base = numbers["main"]["mean_at_k"]["qwen2.5-math-7b"]["base"]["aime2024"]["mean"]
    return (
        f"Without entropy selection Mean@16 is {numbers['ablation']['mean_at_k']}, below the "
        f"base's {base}: in the paper a random attempt in the context does harm."
    )


def costs_grow_slower_than_linearly(numbers: Numbers) -> str:
    """The paper describes them as superlinear and close to n^3."""
    grid = numbers["costs"]

    def exponents(cost: str) -> str:
        found = [log(grid[7, k][cost] / grid[1, k][cost]) / log(7) for k in (4, 8, 16, 32)]
        return f"{min(found):.2f} to {max(found):.2f}"

    return (
        "From n = 1 to 7 the seconds of the cost table grow like n^p with p from "
        f"{exponents('seconds_per_question')}, the tokens with p from "
        f"{exponents('tokens_per_question')}: slower than linearly, and not near n^3."
    )


def token_counts_are_those_of_full_look_aheads(numbers: Numbers) -> str:
    """Tokens a sequence, with and without the look-aheads among the sequences."""
    parts = []
    for (n, k), row in numbers["costs"].items():
        if n == 5:
            answers, drawn = n * k + K, n * k * K
            tokens = row["tokens_per_question"]
            parts.append(f"k={k}: {tokens / (answers + drawn):.0f} ({tokens / answers:.0f})")
    return (
        "Tokens per answer at n = 5 and m = 16, if look-aheads are answers sampled in full (in brackets: if "
        f"they take no tokens, as the time theorem prices them): {', '.join(parts)}. The context is 4,096."
    )


def gpu_hours_at_the_paper_s_speed(numbers: Numbers) -> str:
    """30 questions, 5 seeds, two GPUs; a run of 7 rounds serves every smaller n."""
    seconds = {size: row["seconds_per_question"] for size, row in numbers["costs"].items()}

    def gpu_hours(cells: list[tuple[int, int]]) -> float:
        return sum(seconds[cell] for cell in cells) * 30 * 5 * 2 / 3600

    longest = [cell for cell in seconds if cell[0] == 7]
    return (
        "At the seconds of the cost table (two L40S), ME-ICPO on AIME 2024 with n = 5, k = 16 and 5 seeds "
        f"takes {gpu_hours([(5, 16)]):.0f} GPU hours, the {len(seconds)} cells of the grid "
        f"{gpu_hours(list(seconds)):.0f}, and the {len(longest)} of n = 7 alone {gpu_hours(longest):.0f}; "
        f"all {sum(SIZES.values())} questions of the main table, if each cost as much as AIME's, "
        f"{gpu_hours([(5, 16)]) * sum(SIZES.values()) / 30:.0f} per model."
    )


STATEMENTS: tuple[Callable[[Numbers], str], ...] = (
    means_lie_on_a_single_run_s_grid,
    math_average_is_unweighted,
    accuracy_and_mean_disagree_on_math,
    spreads_differ_by_two_rather_than_four,
    majority_voting_is_not_passed_by_the_7b_model,
    harder_tables_fit_sizes,
    random_selection_does_worse_than_no_context,
    costs_grow_slower_than_linearly,
    token_counts_are_those_of_full_look_aheads,
    gpu_hours_at_the_paper_s_speed,
)

if __name__ == "__main__":
    main()
