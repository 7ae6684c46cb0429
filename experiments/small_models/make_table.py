"""Tables of the small pretrained model: scores with the answer's form kept apart from its content.

python experiments/small_models/make_table.py [RUN_NAME] [--outputs FOLDER] [--to FOLDER]
"""

import math
from collections.abc import Iterable
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from icpo.config import compose
from icpo.errors import RecordsError
from icpo.lab.scripts.command_line import ends_in_a_line, run_parser
from icpo.lab.scripts.one_cell import one_each
from icpo.metrics import paired_difference
from icpo.metrics.compare import values_of
from icpo.metrics.estimates import Estimate, estimate, estimate_ratio
from icpo.metrics.per_question import majority_at_k, mean_at_k
from icpo.store import load_results, load_scores, read_metrics, run_cells
from icpo.types import Outcome, QuestionResult, QuestionScore

Setting = tuple[str, str]  # protocol and benchmark
ME_ICPO = {name: ("me_icpo", "majority", name) for name in ("entropy", "random")}
PROMPTS = {"small": "the paper's prompt", "worked_example": "worked examples"}  # by protocol
NO_ANSWER = (Outcome.UNPARSED, Outcome.TRUNCATED)
COLUMNS = (
    "Mean@16",
    "minus base",
    "Maj@16",
    "beyond the base's Maj@16",
    "parsed",
    "right among parsed",
    "copied",
    "tags right",
)
MARGINS = ((0.0, 0.25), (0.25, 0.5), (0.5, 1.001))
TAG_SHARES = ((0.0, 0.25), (0.25, 0.75), (0.75, 1.001))
SHARES = ((0.0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 1.001))


@ends_in_a_line
def main() -> None:
    """Write form.md, majority.md, ideas.md and form_and_content.png."""
    parser = run_parser(__doc__, "small_models")
    parser.add_argument("--to", type=Path, help="where the files go (the run's report folder)")
    args = parser.parse_args()
    cells, facts = stored(args.outputs, args.run_name)
    folder = args.to or args.outputs / args.run_name / "report"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (
        ("form.md", "".join(section(one, found, facts) for one, found in cells.items())),
        ("majority.md", "".join(majority(one, found, facts) for one, found in cells.items())),
        ("ideas.md", "".join(ideas(one, facts) for one in cells)),
    ):
        (folder / name).write_text(text, encoding="utf-8")
        print(folder / name)
    draw(cells, folder / "form_and_content.png")
    print(folder / "form_and_content.png")


def stored(outputs: Path, run_name: str) -> tuple[dict[Setting, dict[str, list[QuestionScore]]], dict]:
    """Scores by prompt, benchmark and title, and each one's metrics.

    Raises RecordsError where there are none, two cells are of one kind, several models are mixed, or a base
    is missing.
    """
    found = [(cell, metrics) for cell in run_cells(outputs, run_name) if (metrics := read_metrics(cell))]
    found = [(cell, metrics) for cell, metrics in found if "mean_at_k" in metrics]
    if not found:
        raise RecordsError(f"{outputs / run_name} holds no measured cells.")
    if len(models := {metrics["backbone"] for _, metrics in found}) > 1:
        raise RecordsError(f"{run_name} holds cells of {', '.join(sorted(models))}. Give each a run_name.")
    arms = list(compose(["+exp=small_models"]).arms)
    cells: dict[Setting, dict[str, list[QuestionScore]]] = {}
    facts: dict[tuple[str, str, str], dict] = {}
    ordered = sorted(found, key=lambda one: place(one[1], arms))
    one_each((key_of(metrics), cell) for cell, metrics in ordered)
    for cell, metrics in ordered:
        protocol, benchmark, label = key_of(metrics)
        facts[protocol, benchmark, label] = {**metrics, "folder": cell}
        cells.setdefault((protocol, benchmark), {})[label] = list(load_scores(cell))
    for setting, own in cells.items():
        if not any(facts[(*setting, label)]["method"] == "direct" for label in own):
            raise RecordsError(
                f"{run_name} holds no base for {place_of(setting)}. Run arm=base or chat_base."
            )
    return cells, facts


def key_of(metrics: dict) -> tuple[str, str, str]:
    """What a cell is known by: prompt, benchmark and the name of its line."""
    return metrics["protocol"], metrics["benchmark"], metrics.get("title") or metrics["label"]


def place(metrics: dict, arms: list[str]) -> tuple[str, str, int]:
    """What cells are sorted by: benchmark, prompt, and the arm's place in the preset."""
    arm = metrics["arm"]
    return metrics["benchmark"], metrics["protocol"], arms.index(arm) if arm in arms else len(arms)


def place_of(setting: tuple[str, str]) -> str:
    """A prompt and a benchmark in words, such as `worked examples, words_l1`."""
    protocol, benchmark = setting
    return f"{PROMPTS.get(protocol, protocol)}, {benchmark}"


def section(setting: tuple[str, str], cells: dict, facts: dict) -> str:
    """One row per method: scores, the share of parsed answers, the accuracy among these, differences."""
    base = base_of(setting, cells, facts)
    lines = [f"## {place_of(setting)}\n", f"| | {' | '.join(COLUMNS)} |", "|---|" + "---:|" * len(COLUMNS)]
    for label, scores in cells.items():
        mean, parsed = values_of(scores, mean_at_k), values_of(scores, parsed_share)
        same = facts[(*setting, label)]["method"] == "direct"
        row = [
            shown(estimate(mean)),
            "" if same else shown(paired_difference(mean, values_of(base, mean_at_k)), sign=True),
            shown(estimate(values_of(scores, majority_at_k))),
            "" if same else shown(paired_difference(mean, values_of(base, majority_at_k)), sign=True),
            shown(estimate(parsed)),
            shown(estimate_ratio(mean, parsed)),
            percent(facts[(*setting, label)].get("copy_rate")),
            percent(facts[(*setting, label)].get("tag_accuracy")),
        ]
        lines.append(f"| {label} | {' | '.join(row)} |")
    entropy, random = (
        next(
            (s for label, s in cells.items() if rules_of(facts[(*setting, label)]) == ME_ICPO[name]),
            None,
        )
        for name in ME_ICPO
    )
    if entropy and random:
        gain = paired_difference(values_of(entropy, mean_at_k), values_of(random, mean_at_k))
        read = paired_difference(values_of(entropy, parsed_share), values_of(random, parsed_share))
        half = (gain.high - gain.low) / 2
        p = math.erfc(abs(gain.value) / half * 1.96 / math.sqrt(2))
        lines.append(
            f"\nLeast entropy minus a random choice: {shown(gain, sign=True)}, p = {p:.3f}; a difference of "
            f"{100 * 2.8 / 1.96 * half:.1f} has 80% power. Of what can be read: {shown(read, sign=True)}."
        )
    return "\n".join(lines) + "\n\n"


def base_of(setting: tuple[str, str], cells: dict, facts: dict) -> list[QuestionScore]:
    """The scores of the base."""
    return next(scores for label, scores in cells.items() if facts[(*setting, label)]["method"] == "direct")


def rules_of(metrics: dict) -> tuple[str | None, ...]:
    """A cell's method, reward and selector."""
    return tuple(metrics.get(name) for name in ("method", "reward", "selector"))


def majority(setting: tuple[str, str], cells: dict, facts: dict) -> str:
    """Gains by the base's margin of the majority, and how often a vote share is right."""
    base = base_of(setting, cells, facts)
    shares = {s.key: vote_shares(s) for s in base}
    lines = [
        f"## {place_of(setting)}\n",
        "| base's margin | questions x seeds | " + " | ".join(cells) + " |",
    ]
    lines.append("|---|" + "---:|" * (1 + len(cells)))
    for low, high in MARGINS:
        inside = {key for key, (first, second, _) in shares.items() if low <= first - second < high}
        row = []
        for scores in cells.values():
            kept = [s for s in scores if s.key in inside]
            row.append(percent(np.mean([mean_at_k(s.last) for s in kept])) if kept else "-")
        lines.append(f"| {low:.2f} to {min(high, 1):.2f} | {len(inside)} | {' | '.join(row)} |")
    lines += tag_lines(setting, cells, facts)
    lines += ["\n| vote share of the winner | questions x seeds | right |", "|---|---:|---:|"]
    for low, high in SHARES:
        right = [is_right for first, _, is_right in shares.values() if low <= first < high]
        share = percent(np.mean(right)) if right else "-"
        lines.append(f"| {low:.1f} to {min(high, 1):.1f} | {len(right)} | {share} |")
    return "\n".join(lines) + "\n\n"


def tag_lines(setting: tuple[str, str], cells: dict, facts: dict) -> list[str]:
    """Scores by the share of right tags in ME-ICPO's first round, of what all three arms have."""
    arms = {ME_ICPO["entropy"]: "ME-ICPO", ME_ICPO["random"]: "w/o entropy"}
    found = {arms[rule]: label for label in cells if (rule := rules_of(facts[(*setting, label)])) in arms}
    if len(found) < len(arms):
        return []
    base = {s.key: s for s in base_of(setting, cells, facts)}
    entropy, random = ({s.key: s for s in cells[found[name]]} for name in arms.values())
    accuracy = tag_accuracy(load_results(facts[(*setting, found["ME-ICPO"])]["folder"]), entropy)
    lines = [
        "\n| tags right in ME-ICPO's first round | questions x seeds | base | ME-ICPO | w/o entropy |",
        "|---|" + "---:|" * 4,
    ]
    for low, high in TAG_SHARES:
        keys = [k for k in base.keys() & random.keys() & accuracy.keys() if low <= accuracy[k] < high]
        means = [
            percent(np.mean([mean_at_k(arm[k].last) for k in keys])) if keys else "-"
            for arm in (base, entropy, random)
        ]
        lines.append(f"| {low:.2f} to {min(high, 1):.2f} | {len(keys)} | {' | '.join(means)} |")
    return lines


def tag_accuracy(results: Iterable[QuestionResult], scores: dict) -> dict[tuple[str, int], float]:
    """The share of right tags in each question's first round, which no selector has influenced."""
    found = {}
    for result in results:
        tags, correct = result.rounds[0].rewards.tags, scores[result.key].rounds[0].correct
        hits = [tag == right for tag, right in zip(tags, correct, strict=True) if None not in (tag, right)]
        if hits:
            found[result.key] = sum(hits) / len(hits)
    return found


def ideas(setting: tuple[str, str], facts: dict) -> str:
    """What the summaries of ME-ICPO's kept attempts are: how many texts, and the commonest of each round."""
    cells = [facts[key] for key in facts if key[:2] == setting and rules_of(facts[key]) == ME_ICPO["entropy"]]
    if not cells:
        return ""
    results = load_results(cells[0]["folder"])
    lines = [
        f"## {place_of(setting)}\n",
        "| round | attempts | different summaries | kept ones that serve several questions "
        "| the commonest kept summary | questions that it serves |",
        "|---:|---:|---:|---:|---|---:|",
    ]
    for number in range(len(results[0].rounds)):
        rounds = [(result.question.question_id, result.rounds[number]) for result in results]
        made = [attempt.summary for _, one in rounds for attempt in one.attempts]
        served: dict[str, list[str]] = {}
        for question, one in rounds:
            for place in one.kept:
                served.setdefault(one.attempts[place].summary, []).append(question)
        several = sum(len(by) for by in served.values() if len(set(by)) > 1) / sum(map(len, served.values()))
        commonest = max(served, key=lambda text: len(set(served[text])))
        begin = " ".join(commonest.split())[:100].replace("|", "/")
        lines.append(
            f"| {number + 1} | {len(made):,} | {len(set(made)):,} | {percent(several)} | {begin} | "
            f"{len(set(served[commonest]))} |"
        )
    return "\n".join(lines) + "\n\n"


def parsed_share(finals) -> float:
    """Share of answers that could be read."""
    return sum(outcome not in NO_ANSWER for outcome in finals.outcomes) / len(finals.outcomes)


def vote_shares(score: QuestionScore) -> tuple[float, float, float]:
    """Shares of the winner and the runner-up among all answers, and how probably the vote is right."""
    counts = sorted((score.last.labels.count(x) for x in set(score.last.labels) - {None}), reverse=True)
    first, second = (*counts, 0, 0)[:2]
    total = len(score.last.labels)
    return first / total, second / total, majority_at_k(score.last)


def shown(found: Estimate, sign: bool = False) -> str:
    """Percent with the 95% interval."""
    style = "+.1f" if sign else ".1f"
    return f"{100 * found.value:{style}} [{100 * found.low:{style}}, {100 * found.high:{style}}]"


def draw(cells: dict, path: Path) -> None:
    """Bars of right, wrong and unread answers, a panel for each prompt and benchmark."""
    figure, axes = plt.subplots(
        len(cells),
        1,
        figsize=(7, 1 + 0.32 * sum(map(len, cells.values()))),
        height_ratios=[len(found) for found in cells.values()],
        sharex=True,
    )
    for axis, (setting, found) in zip(np.atleast_1d(axes), cells.items(), strict=True):
        labels = list(found)[::-1]
        right = [100 * estimate(values_of(found[label], mean_at_k)).value for label in labels]
        parsed = [100 * estimate(values_of(found[label], parsed_share)).value for label in labels]
        axis.barh(labels, right, color="#1f77b4", label="right")
        axis.barh(labels, np.subtract(parsed, right), left=right, color="#bbbbbb", label="read, but wrong")
        axis.set_title(place_of(setting), fontsize=9)
        axis.tick_params(labelsize=8)
    np.atleast_1d(axes)[-1].set_xlabel("share of the answers (%); the rest could not be read")
    handles = np.atleast_1d(axes)[0].get_legend_handles_labels()
    figure.legend(*handles, fontsize=8, loc="lower left", frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def percent(value: float | None) -> str:
    """Percent, or a dash."""
    return "-" if value is None else f"{100 * value:.1f}"


if __name__ == "__main__":
    main()
