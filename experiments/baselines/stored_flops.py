"""FLOPs of stored costs, and who wins at equal FLOPs: python experiments/baselines/stored_flops.py.

Reads results.csv beside it, which holds no scores of questions and no numbers of requests. So FLOPs are
those of the parameters alone, 2 N a token, and differences are of means, without intervals. Writes flops.csv,
flops.md and accuracy_against_cost.png.
"""

import sys
from pathlib import Path
from typing import Any

import pandas as pd
from make_curve import draw
from make_matched import ME_ICPO
from make_table import NUM_ANSWERS, SHARED_SEARCH

from icpo.lab.cost_model.sizes import model_size
from icpo.report.text import markdown_table

HERE = Path(__file__).parent
FLOPS = {"flops_per_answer": "one answer", "flops_all_answers": f"{NUM_ANSWERS} answers"}


def main() -> None:
    """Writes the tables and the figure, and prints the tables."""
    costs = with_flops(pd.read_csv(HERE / "results.csv"))
    costs.to_csv(HERE / "flops.csv", index=False, lineterminator="\n")
    text = f"{cost_table(costs)}\n" + "\n".join(matched_tables(costs))
    (HERE / "flops.md").write_text(text, encoding="utf-8")
    draw(costs).savefig(HERE / "accuracy_against_cost.png", dpi=110)
    sys.stdout.write(text)


def with_flops(costs: pd.DataFrame) -> pd.DataFrame:
    """The costs with FLOPs of nano's parameters for one answer and for all; none for TTRL, which trains."""
    size = model_size("icpo:nano")
    if size is None:
        raise SystemExit("icpo/backbones/nano/config.json is missing.")
    prompts, is_shared = (
        costs["prompt_tokens_per_question"],
        costs["method"].isin([*SHARED_SEARCH, "me_icpo_racing"]),
    )
    each = (prompts / costs["k"]).where(~is_shared)
    found = costs.assign(prompt_per_generated=prompts / costs["tokens_per_question"])
    for name, tokens, answers in (
        ("flops_per_answer", "tokens_per_answer", 1),
        ("flops_all_answers", "tokens_all_answers", NUM_ANSWERS),
    ):
        read = (each * answers).fillna(prompts)
        found[name] = (2 * size.num_parameters * (read + costs[tokens])).where(costs["method"] != "ttrl")
    return found


def pooled(costs: pd.DataFrame, benchmarks: tuple[str, ...]) -> pd.DataFrame:
    """Means over these benchmarks of the arms that have all of them."""
    own = costs[costs["benchmark"].isin(benchmarks)]
    grouped = own.groupby(["method", "label"], sort=False)
    numbers = ["mean", "tokens_per_answer", "tokens_all_answers", "prompt_per_generated", *FLOPS]
    means = grouped[numbers].mean()
    return means[grouped.size() == len(benchmarks)].reset_index()


def cost_table(costs: pd.DataFrame) -> str:
    """Every arm over the three levels, cheapest first."""
    levels = tuple(sorted(costs["benchmark"].unique()))
    rows = pooled(costs, levels).sort_values("flops_per_answer").to_dict("records")
    header = ["arm", "Mean@k (%)", "tokens, one answer", "prompt per generated", "GFLOPs, one answer",
              f"GFLOPs, {NUM_ANSWERS} answers"]  # fmt: skip
    body = [
        [
            str(row["label"]),
            f"{100 * row['mean']:.1f}",
            f"{row['tokens_per_answer']:,.0f}",
            f"{row['prompt_per_generated']:.2f}",
            *("" if pd.isna(row[name]) else f"{row[name] / 1e9:,.2f}" for name in FLOPS),
        ]
        for row in rows
    ]
    return f"### {' + '.join(levels)}\n\n{markdown_table(header, body)}\n"


def matched_tables(costs: pd.DataFrame) -> list[str]:
    """ME-ICPO minus the best arm of each other method at no more FLOPs, on the levels that its arm has."""
    ours = costs[costs["method"].isin([ME_ICPO, "me_icpo_racing"])]
    scopes = {label: tuple(sorted(names)) for label, names in ours.groupby("label")["benchmark"]}
    texts = []
    for counted, title in FLOPS.items():
        rows = [row for label, scope in scopes.items() for row in _matched(costs, label, scope, counted)]
        table = pd.DataFrame(rows).pivot(index="baseline", columns="arm", values="text")
        body = [
            [str(baseline), *map(str, cells)]
            for baseline, cells in zip(table.index, table.values, strict=True)
        ]
        header = ["baseline", *map(str, table.columns)]
        texts.append(
            f"### Minus the best at no more FLOPs (points), {title}\n\n{markdown_table(header, body)}\n"
        )
    return texts


def _matched(costs: pd.DataFrame, label: str, scope: tuple[str, ...], counted: str) -> list[dict[str, Any]]:
    arms = pooled(costs, scope)
    own = arms[arms["label"] == label].iloc[0]
    baselines = arms[~arms["method"].str.startswith(ME_ICPO) & (arms["method"] != "ttrl")]
    rows = []
    for baseline, part in baselines.groupby("method"):
        within = part[part[counted] <= own[counted]]
        text = "costs more"
        if len(within):
            best = within.loc[within["mean"].idxmax()]
            text = f"{100 * (own['mean'] - best['mean']):+.1f} ({best['label']}, {best[counted] / 1e9:,.2f})"
        name = f"{label} ({' '.join(scope).replace('arith_', '')}; {own[counted] / 1e9:,.2f} GFLOPs)"
        rows.append({"baseline": baseline, "arm": name, "text": text})
    return rows


if __name__ == "__main__":
    main()
