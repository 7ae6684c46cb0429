"""Vega-Lite specifications of the dashboard's charts, as plain dictionaries."""

from collections.abc import Mapping, Sequence
from typing import Any

Spec = dict[str, Any]
Rows = Sequence[Mapping[str, Any]]
Shades = Mapping[str, str]  # the colour of each line


def bars(rows: Rows, benchmarks: Sequence[str], shades: Shades) -> Spec:
    """Bars of scores with intervals, by benchmark and arm."""
    place = {
        "x": _x("benchmark", "nominal", None, sort=list(benchmarks)),
        "xOffset": {"field": "line", "sort": _lines(rows)},
    }
    y = {"field": "value", "type": "quantitative", "title": "%", "scale": {"domain": [0, 100]}}
    bar = {"mark": "bar", "encoding": {"y": y, "color": colour(rows, shades), "tooltip": _tooltip()}}
    return {"data": _data(rows), "height": 220, "encoding": place, "layer": [bar, _whiskers("%")]}


def lines(rows: Rows, x: str, y: str, shades: Shades, dash: str | None = None) -> Spec:
    """Lines with points, and intervals where rows have `low` and `high`."""
    shared: Spec = {"x": _x("x", "ordinal", x), "color": colour(rows, shades)}
    shared["y"] = {"field": "value", "type": "quantitative", "title": y}
    dashes: Spec = {}
    if dash:
        legend = {"title": dash, "symbolStrokeColor": "#888", "symbolStrokeWidth": 2, "symbolSize": 400}
        domain = list(dict.fromkeys(row[dash] for row in rows))
        scale = {"domain": domain, "range": [[1, 0], [5, 4]][: len(domain)]}
        dashes = {"strokeDash": {"field": dash, "type": "nominal", "legend": legend, "scale": scale}}
    line = {"mark": "line", "encoding": {**shared, **dashes}}
    detail = {"tooltip": _tooltip(x, *([dash] if dash else []))}
    point = {
        "mark": {"type": "point", "filled": True, "size": 45, "opacity": 1},
        "encoding": {**shared, **detail},
    }
    spans = [{**_whiskers(y, shared), "transform": [{"filter": "isValid(datum.low)"}]}]
    layers = [*(spans if any("low" in row for row in rows) else []), line, point]
    return {"data": _data(rows), "height": 240, "layer": layers}


def points(rows: Rows, x: str, y: str, shades: Shades) -> Spec:
    """Points with intervals over a logarithmic axis."""
    place = {"field": "x", "type": "quantitative", "scale": {"type": "log"}, "title": f"{x} (log scale)"}
    value = {"field": "value", "type": "quantitative", "title": y}
    point = {
        "mark": {"type": "point", "filled": True, "size": 90},
        "encoding": {"y": value, "tooltip": _tooltip(x)},
    }
    encoding = {"x": place, "color": colour(rows, shades)}
    return {"data": _data(rows), "height": 240, "encoding": encoding, "layer": [_whiskers(y, {}), point]}


def heat_map(rows: Rows, title: str) -> Spec:
    """A value for each number of rounds (`n`) and candidates (`k`)."""
    place = {
        "x": _x("k", "ordinal", "candidates k"),
        "y": {"field": "n", "type": "ordinal", "title": "rounds n", "sort": "descending"},
    }
    scale = {"scheme": "blues"}
    shade = {
        "field": "value",
        "type": "quantitative",
        "title": title,
        "scale": scale,
        "legend": {"orient": "right"},
    }
    text = {"text": {"field": "shown", "type": "nominal"}, "color": {"value": "#111"}}
    layers = [
        {"mark": "rect", "encoding": {"color": shade}},
        {"mark": {"type": "text", "fontWeight": 600}, "encoding": text},
    ]
    height = 46 * len({row["n"] for row in rows})
    return {"data": _data(rows), "height": height, "encoding": place, "layer": layers}


def ranked(rows: Rows, y: str) -> Spec:
    """Differences of questions, from the largest gain to the largest loss."""
    hidden = {"labels": False, "ticks": False}
    encoding = {
        "x": {"field": "rank", "type": "ordinal", "title": "questions, by difference", "axis": hidden},
        "y": {"field": "value", "type": "quantitative", "title": y},
        "color": {"condition": {"test": "datum.value < 0", "value": "#d05050"}, "value": "#43a563"},
        "tooltip": [{"field": "question"}, {"field": "shown", "title": y}],
    }
    return {"data": _data(rows), "height": 180, "mark": "bar", "encoding": encoding}


def stacked(rows: Rows, field: str, x: str) -> Spec:
    """Horizontal bars of `value`, stacked by `field`, a bar for each line."""
    names = _lines(rows)
    parts = list(dict.fromkeys(row[field] for row in rows))
    encoding = {
        "y": {"field": "line", "type": "nominal", "title": None, "axis": {"labelLimit": 420}, "sort": names},
        "x": {"field": "value", "type": "quantitative", "title": x, "stack": True},
        "color": {
            "field": field,
            "type": "nominal",
            "title": field,
            "scale": {"domain": parts, "scheme": "set2"},
        },
        "tooltip": [{"field": "line", "title": "arm"}, {"field": field}, {"field": "shown", "title": x}],
    }
    return {"data": _data(rows), "height": 30 * len(names), "mark": "bar", "encoding": encoding}


def colour(rows: Rows, shades: Shades) -> Spec:
    """The colour of each line, the same in every chart."""
    names = _lines(rows)
    scale = {"domain": names, "range": [shades[name] for name in names]}
    return {"field": "line", "type": "nominal", "title": None, "scale": scale}


def _whiskers(y: str, shared: Spec | None = None) -> Spec:
    ends = {"y": {"field": "low", "type": "quantitative", "title": y}, "y2": {"field": "high"}}
    mark: Spec = {"type": "rule", "strokeWidth": 1.5}
    if shared is None:
        return {"mark": {**mark, "color": "#888"}, "encoding": ends}
    own = {name: value for name, value in shared.items() if name != "strokeDash"}
    return {"mark": mark, "encoding": {**own, **ends}}


def _x(field: str, kind: str, title: str | None, **more: Any) -> Spec:
    return {"field": field, "type": kind, "title": title, "axis": {"labelAngle": 0}, **more}


def _tooltip(*fields: str) -> list[Spec]:
    named = [{"field": "x" if i == 0 else name, "title": name} for i, name in enumerate(fields)]
    return [{"field": "line", "title": "arm"}, *named, {"field": "shown", "title": "value"}]


def _lines(rows: Rows) -> list[str]:
    return list(dict.fromkeys(row["line"] for row in rows))


def _data(rows: Rows) -> Spec:
    return {"values": list(rows)}
