"""What each arm costs, and gains or loses against uniform m = 16 or another arm.

python experiments/racing/make_table.py [RUN_NAME] [--reference LABEL] [--outputs FOLDER]

Reads stored cells only; writes RUN/report/racing.{md,csv}. Differences are paired by question and seed, with
95% intervals clustered by question. Where few or no pairs differ an interval says too little: with
none of n questions differing, up to 3/n of all may (95%). "Another idea kept" counts pairs: in a round that
both went through, the ideas (summary, answer, reward) kept were others.
"""

import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from icpo.lab.cost_model.flops import sampling_flops
from icpo.lab.cost_model.sizes import cell_size
from icpo.lab.scripts.command_line import ends_in_a_line, run_parser
from icpo.metrics import estimate, mean_at_k, paired_difference
from icpo.metrics.compare import values_of
from icpo.report.cells import arm_name
from icpo.report.text import markdown_table
from icpo.store import job_settings, load_results, load_scores, read_manifest, read_metrics, run_cells
from icpo.types import QuestionResult, Round, Usage

POOL = "all levels"
UNIFORM = 16  # look-aheads of the reference
SHOWN = {
    "benchmark": "benchmark",
    "arm": "arm",
    "pairs": "pairs",
    "tokens": "tokens/question",
    "lookahead_tokens": "of look-aheads",
    "prompt_per_generated": "prompt tokens per generated",
    "flops": "GFLOPs/question",
    "flops_share": "share of reference's GFLOPs",
    "share": "share of reference's look-ahead tokens",
    "lookaheads": "look-aheads/question",
    "mean": "Mean@k (%)",
    "difference": "minus reference (points)",
    "kept_other": "another idea kept",
    "differ": "Mean@k differs",
    "holds": "third, within 2 points",
}
USAGE = ("num_requests", "num_sequences", "prompt_tokens", "cached_prompt_tokens", "generated_tokens")
Key = tuple[Hashable, int]
Values = dict[Key, float]
Kept = tuple[tuple[tuple[str, Any, str], ...], ...]
"""Round by round, the ideas that were kept."""


@dataclass(frozen=True, slots=True)
class Costs:
    """One arm on one benchmark, by (question, seed): Mean@k, tokens, look-aheads and their tokens, ideas.

    `flops` is empty where the size of the model is not known.
    """

    benchmark: str
    arm: str
    is_uniform: bool
    mean: Values
    tokens: Values
    prompt_tokens: Values
    flops: Values
    lookahead_tokens: Values
    lookaheads: Values
    kept: dict[Key, Kept]


@ends_in_a_line
def main() -> None:
    """Command line."""
    parser = run_parser(__doc__, "racing")
    parser.add_argument("--reference", help="label of the arm to compare with, if not uniform m = 16")
    args = parser.parse_args()
    run = args.outputs / args.run_name
    arms = [arm for cell in run_cells(args.outputs, args.run_name) if (arm := costs_of(cell)) is not None]
    if not arms:
        raise SystemExit(f"No measured cell under {run}. Run python -m icpo.run +exp=racing first.")
    rows = list(rows_of([*arms, *pooled(arms)], args.reference))
    report = run / "report"
    report.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(report / "racing.csv", index=False, lineterminator="\n")
    text = markdown_table(list(SHOWN.values()), [list(shown(row).values()) for row in rows]) + "\n"
    (report / "racing.md").write_text(text, encoding="utf-8")
    sys.stdout.write(f"{text}\n{report / 'racing.csv'}\n{report / 'racing.md'}\n")


def costs_of(cell: Path) -> Costs | None:
    """What a finished cell of ME-ICPO took by question and seed; None for any other cell."""
    metrics = read_metrics(cell) or {}
    if metrics.get("method") != "me_icpo" or "mean_at_k" not in metrics:
        return None
    name = str(metrics["benchmark"])
    scores, size = load_scores(cell), cell_size(cell)
    results = {((name, one.question.question_id), one.seed): one for one in load_results(cell)}
    return Costs(
        benchmark=name,
        arm=arm_name(metrics),
        is_uniform=(metrics["selector"], metrics["num_lookaheads"]) == ("entropy", UNIFORM)
        and not forces_answers(cell),
        mean=values_of(scores, mean_at_k, name),
        tokens={key: float(one.usage.generated_tokens) for key, one in results.items()},
        prompt_tokens={key: float(one.usage.prompt_tokens) for key, one in results.items()},
        flops={key: sampling_flops(size, **_counts(one.usage)) for key, one in results.items()}
        if size
        else {},
        lookahead_tokens={
            key: float(one.usage.generated_by_purpose.get("lookahead", 0)) for key, one in results.items()
        },
        lookaheads={key: float(num_lookaheads(one)) for key, one in results.items()},
        kept={key: tuple(map(kept_ideas, one.rounds)) for key, one in results.items()},
    )


def forces_answers(cell: Path) -> bool:
    """Whether look-aheads sample the answer alone."""
    job = job_settings((read_manifest(cell) or {}).get("config") or {})
    rules = job.get("protocol", {}).get("lookahead", {})
    return rules.get("forced_answer") is not None


def _counts(usage: Usage) -> dict[str, float]:
    return {name: getattr(usage, name) for name in USAGE}


def kept_ideas(round_: Round) -> tuple[tuple[str, int | None, str | None], ...]:
    """What a round added to the history, as a prompt shows it."""
    ideas = (round_.attempts[i] for i in round_.kept)
    return tuple((one.summary, one.reward, one.candidate.answer) for one in ideas)


def num_lookaheads(result: QuestionResult) -> int:
    """Look-aheads sampled for a question, all rounds."""
    return sum(len(x.votes.labels) for round_ in result.rounds for x in round_.lookaheads)


def pooled(arms: Sequence[Costs]) -> Iterator[Costs]:
    """Each arm that was run on all benchmarks, over all of them, every question weighing the same."""
    num_benchmarks = len({arm.benchmark for arm in arms})
    for label in dict.fromkeys(arm.arm for arm in arms):
        own = [arm for arm in arms if arm.arm == label]
        if not 1 < num_benchmarks == len(own):
            continue
        fields = ("mean", "tokens", "prompt_tokens", "flops", "lookahead_tokens", "lookaheads", "kept")
        yield Costs(
            POOL,
            label,
            own[0].is_uniform,
            *({k: v for arm in own for k, v in getattr(arm, f).items()} for f in fields),
        )


def rows_of(arms: Sequence[Costs], reference: str | None = None) -> Iterator[dict[str, Any]]:
    """One row an arm and benchmark, most look-ahead tokens first; compared with uniform m = 16 or a label."""
    for benchmark in dict.fromkeys(arm.benchmark for arm in arms):
        own = [arm for arm in arms if arm.benchmark == benchmark]
        full = next((arm for arm in own if _is_reference(arm, reference)), None)
        for arm in sorted(
            own, key=lambda arm: -sum(arm.lookahead_tokens.values()) / len(arm.lookahead_tokens)
        ):
            yield _row(arm, full)


def _is_reference(arm: Costs, reference: str | None) -> bool:
    return arm.arm == reference if reference else arm.is_uniform


def _row(arm: Costs, full: Costs | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "benchmark": arm.benchmark,
        "arm": arm.arm,
        "pairs": len(arm.mean),
        "tokens": _average(arm.tokens),
        "lookahead_tokens": _average(arm.lookahead_tokens),
        "prompt_per_generated": sum(arm.prompt_tokens.values()) / max(sum(arm.tokens.values()), 1.0),
        "flops": _average(arm.flops) if arm.flops else None,
        "lookaheads": _average(arm.lookaheads),
    }
    row |= _interval("mean", estimate(arm.mean))
    if full is not None and full is not arm and arm.mean.keys() & full.mean.keys():
        shared = arm.tokens.keys() & full.tokens.keys()
        own, whole = (sum(costs.lookahead_tokens[key] for key in shared) for costs in (arm, full))
        row["share"] = own / whole if whole else float("nan")
        if arm.flops and full.flops:
            row["flops_share"] = sum(arm.flops[key] for key in shared) / sum(
                full.flops[key] for key in shared
            )
        row |= _interval("difference", paired_difference(arm.mean, full.mean))
        row["kept_other"] = sum(
            any(own != other for own, other in zip(arm.kept[key], full.kept[key], strict=False))
            for key in shared
        )
        row["differ"] = sum(arm.mean[key] != full.mean[key] for key in arm.mean.keys() & full.mean.keys())
        row["holds"] = (
            row["share"] <= 1 / 3 and -0.02 <= row["difference_low"] <= row["difference_high"] <= 0.02
        )
    return row


def _interval(name: str, value: Any) -> dict[str, float]:
    return {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}


def _average(values: Mapping[Any, float]) -> float:
    return sum(values.values()) / len(values)


def shown(row: Mapping[str, Any]) -> dict[str, str]:
    """A row for readers, in the order of SHOWN; comparisons are empty for the reference and without one."""
    texts = {name: "" for name in SHOWN} | {name: str(row[name]) for name in ("benchmark", "arm", "pairs")}
    texts |= {name: f"{row[name]:,.0f}" for name in ("tokens", "lookahead_tokens", "lookaheads")}
    texts["mean"] = f"{100 * row['mean']:.2f} [{100 * row['mean_low']:.2f}, {100 * row['mean_high']:.2f}]"
    texts["prompt_per_generated"] = f"{row['prompt_per_generated']:.2f}"
    texts["flops"] = "" if row["flops"] is None else f"{row['flops'] / 1e9:,.1f}"
    if "flops_share" in row:
        texts["flops_share"] = f"{100 * row['flops_share']:.0f}%"
    if "difference" in row:
        low, high = 100 * row["difference_low"], 100 * row["difference_high"]
        texts["share"] = f"{100 * row['share']:.0f}%"
        texts["difference"] = f"{100 * row['difference']:+.2f} [{low:+.2f}, {high:+.2f}]"
        texts |= {name: str(row[name]) for name in ("kept_other", "differ")}
        texts["holds"] = "yes" if row["holds"] else "no"
    return {name: texts[name] for name in SHOWN}


if __name__ == "__main__":
    main()
