"""The page of curves: scores by round, tokens, n and k."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from icpo.report.cells import Cell
from icpo.report.dashboard import charts
from icpo.report.dashboard.blocks import Block, chart, choice, heading, note
from icpo.report.dashboard.results import Shown, scaled
from icpo.report.text import metric_name, percent

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Curve:
    """A cell, its curve's name and its arms' rows."""

    name: str
    cell: Cell
    rows: Sequence[Row]

    def scores(self, metric: str) -> list[Row]:
        """The rows of one metric."""
        return [row for row in self.rows if row["metric"] == metric]


def curves_of(shown: Shown, paths: Sequence[str]) -> list[Curve]:
    """Curves of cells, each named as the tables name its last arm."""
    cells = {path: cell for path, cell, _ in shown.cells}
    return [Curve(str(shown.scores[path][-1]["line"]), cells[path], shown.scores[path]) for path in paths]


def curves_page(shown: Shown) -> list[Block]:
    """All charts, one group of backbone, benchmark and protocol at a time."""
    groups: dict[str, list[str]] = {}
    for path, cell, _ in shown.cells:
        if cell.arms:
            key = cell.last.key
            groups.setdefault(f"{key.backbone}, {key.benchmark}, {key.protocol}", []).append(path)
    if not groups:
        return [heading("No cell has scores yet.", 1)]
    options = [(name, name, _group(curves_of(shown, groups[name]), shown.shades)) for name in sorted(groups)]
    return [heading("Curves", 1), choice("of", "backbone, benchmark, protocol", options)]


def _group(curves: Sequence[Curve], shades: Mapping[str, str]) -> list[Block]:
    mean = [row for curve in curves for row in _mean_rows(curve)]
    entropy = [row for curve in curves for row in _entropy_rows(curve)]
    cost = [row for curve in curves for row in _cost_rows(curve)]
    name = metric_name("mean_at_k", curves[0].cell.last.key.k)
    blocks = [
        heading(f"{name} by rounds done"),
        note(
            "With a 95% interval: final samples after so many rounds. Without: candidates of the next round."
        ),
        chart(charts.lines(mean, "rounds done", f"{name} (%)", shades), "mean-by-round"),
    ]
    if entropy:
        spec = charts.lines(entropy, "round", "entropy (bits)", shades, dash="attempts")
        blocks += [
            heading("Look-ahead entropy by round"),
            note("Mean over questions and seeds, in bits: of all attempts, and of those that were kept."),
            chart(spec, "entropy-by-round"),
        ]
    if cost:
        spec = charts.points(cost, "generated tokens per question", "Accuracy (%)", shades)
        blocks += [heading("Accuracy against tokens"), chart(spec, "accuracy-by-tokens")]
    return blocks + _heat_maps(curves)


def _heat_maps(curves: Sequence[Curve]) -> list[Block]:
    """A map for each method, reward and selector, where both n and k vary; a place shows all of its cells."""
    grids: dict[str, dict[tuple[int, int], list[float]]] = {}
    for row in (row for curve in curves for row in curve.scores("mean_at_k")):
        if not row["is_base"] and row["num_candidates"]:
            rules = ", ".join(str(row[name]) for name in ("method", "reward", "selector"))
            place = row["num_rounds"], row["num_candidates"]
            grids.setdefault(rules, {}).setdefault(place, []).append(row["value"])
    blocks: list[Block] = []
    for rules, grid in grids.items():
        if all(len({place[i] for place in grid}) > 1 for i in (0, 1)):
            cells = [
                {
                    "n": n,
                    "k": k,
                    "value": round(100 * fmean(values), 1),
                    "shown": " / ".join(map(percent, values)),
                }
                for (n, k), values in grid.items()
            ]
            blocks += [heading("Mean@k by rounds and candidates"), note(rules)]
            if any(len(values) > 1 for values in grid.values()):
                blocks.append(note("Where cells differ in a third setting, a place has the values of all."))
            blocks += [chart(charts.heat_map(cells, "Mean@k (%)"), "heat-map")]
    return blocks


def _mean_rows(curve: Curve) -> Iterator[Row]:
    """Scores after so many rounds, and the candidates of the next round where there are none."""
    scores = {row["num_rounds"] or 0: row for row in curve.scores("mean_at_k")}
    candidates = {row["round"] - 1: row["mean_at_k"] for row in curve.cell.metrics.get("by_round", [])}
    for done in sorted({*scores, *candidates}):
        if row := scores.get(done):
            yield {"line": curve.name, "x": done, "shown": percent(row["value"]), **scaled(row)}
        else:
            value = round(100 * candidates[done], 1)
            yield {"line": curve.name, "x": done, "value": value, "shown": percent(candidates[done])}


def _entropy_rows(curve: Curve) -> Iterator[Row]:
    for row in curve.cell.metrics.get("by_round", []):
        for kind, name in (("kept", "kept_entropy_bits"), ("all", "entropy_bits")):
            if row[name] is not None:
                place = {"line": curve.name, "x": row["round"], "attempts": kind}
                yield place | {"value": round(row[name], 3), "shown": f"{row[name]:.2f}"}


def _cost_rows(curve: Curve) -> Iterator[Row]:
    last = curve.cell.last
    tokens = last.tokens.get("tokens_per_question")
    for row in curve.scores("accuracy"):
        if tokens and row["num_rounds"] == last.key.num_rounds:
            yield {"line": curve.name, "x": round(tokens), "shown": percent(row["value"]), **scaled(row)}
