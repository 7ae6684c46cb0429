"""What was swept in a run: settings in which the cells of one arm differ."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

SAMPLED = ("backbone", "protocol")  # what every arm's answers come from
LOCATION = ("backbone.model_id", "backbone.revision")  # another place of equal weights is no other model
MINOR = (  # settings that distinguish cells where no other does
    "engine", "seeds", "watch", "question_tokens", "rates", "max_failed_share", "max_in_flight",
    "benchmark", "backbone.tensor_parallel", "backbone.gpu_memory_gb",
)  # fmt: skip
NAMES = (  # and copies of other settings
    "run_name", "cell", "output_root", "arm", "title", "tracking", "dry_run", "method.label", "method.budget",
    "prompts",
)  # fmt: skip
LONGEST = 40  # characters of a value in a name


@dataclass(frozen=True, slots=True)
class StoredCell:
    """A cell's folder name, its metrics, its settings by dotted key, and the digest of its weights."""

    name: str
    metrics: Mapping[str, Any]
    settings: Mapping[str, Any]
    weights: str | None

    @property
    def place(self) -> tuple[object, ...]:
        """Cells of one table."""
        return tuple(self.metrics[name] for name in ("backbone", "protocol", "k"))

    @property
    def line(self) -> tuple[object, ...]:
        """Cells of one arm and benchmark, which what was swept alone tells apart."""
        return self.metrics["benchmark"], self.metrics["arm"]


def swept_texts(cells: Sequence[StoredCell]) -> dict[str, tuple[str, str]]:
    """What tables call a cell's swept settings, and those among them that its base must share, by cell.

    Such as `temperature_0.3`; "" where nothing was swept. It is what the folder's name holds after the arm,
    where that tells the cells apart. Where it does not, as after `cell=` on the command line, it is made from
    the stored settings.
    """
    places: dict[tuple[object, ...], list[StoredCell]] = {}
    for cell in cells:
        if cell.metrics.get("arm"):
            places.setdefault(cell.place, []).append(cell)
    return {name: texts for own in places.values() for name, texts in _of_a_place(own).items()}


def is_minor(key: str) -> bool:
    """Whether a setting leaves results what they are, or says which questions and seeds there are."""
    return is_under(key, MINOR)


def is_under(key: str, groups: Iterable[str]) -> bool:
    """Whether a dotted key is one of `groups`, or within one."""
    return any(key == group or key.startswith(f"{group}.") for group in groups)


def locations(weights: Iterable[str | None]) -> tuple[str, ...]:
    """The settings that say where a model lies, where all have equal weights; else none."""
    found = set(weights)
    return LOCATION if len(found) == 1 and None not in found else ()


def _of_a_place(cells: list[StoredCell]) -> dict[str, tuple[str, str]]:
    groups: dict[tuple[object, ...], list[StoredCell]] = {}
    for cell in cells:
        groups.setdefault(cell.line, []).append(cell)
    at = locations(cell.weights for cell in cells)
    varied = {line: [key for key in _varied(own) if not is_under(key, NAMES)] for line, own in groups.items()}
    major = {
        line: [key for key in keys if not is_minor(key) and key not in at] for line, keys in varied.items()
    }
    shared = {key for keys in major.values() for key in keys if is_under(key, SAMPLED)}
    sampled = _texts(cells, dict.fromkeys((cell.name for cell in cells), shared))
    by_name = {cell.name: _in_name(cell) for cell in cells}
    ways = [
        *([by_name] if _is_faithful(cells, by_name, sampled) else []),
        *(
            _texts(cells, {cell.name: shared | _of_arm(cell, own) for cell in cells})
            for own in (major, varied)
        ),
        by_name,
    ]
    told_apart = (
        way
        for way in ways
        if all(len({way[cell.name] for cell in own}) == len(own) for own in groups.values())
    )
    texts = next(told_apart, ways[0])
    return {cell.name: (texts[cell.name], sampled[cell.name]) for cell in cells}


def _of_arm(cell: StoredCell, keys: Mapping[tuple[object, ...], list[str]]) -> set[str]:
    """The keys of all benchmarks of the cell's arm."""
    return {key for (_, arm), own in keys.items() if arm == cell.metrics["arm"] for key in own}


def _varied(cells: Sequence[StoredCell]) -> list[str]:
    """The settings in which cells differ."""
    keys = dict.fromkeys(key for cell in cells for key in cell.settings)
    return [key for key in keys if len({repr(cell.settings.get(key)) for cell in cells}) > 1]


def _texts(cells: Sequence[StoredCell], chosen: Mapping[str, set[str]]) -> dict[str, str]:
    """`temperature_0.3-top_p_0.9` of each cell's chosen settings; of those that go together one alone."""
    keys = set().union(*chosen.values())
    wanted = [key for key in dict.fromkeys(key for cell in cells for key in cell.settings) if key in keys]
    values = {key: tuple(repr(cell.settings.get(key)) for cell in cells) for key in wanted}
    first: dict[tuple[str, ...], str] = {}
    for key in sorted(wanted, key=lambda key: not key.endswith(".name")):  # a group's name says the rest
        first.setdefault(values[key], key)
    kept = {key: first[values[key]] for key in wanted}
    last = [_short(key) for key in dict.fromkeys(kept.values())]
    names = {key: _short(key) if last.count(_short(key)) == 1 else key for key in kept.values()}
    return {
        cell.name: "-".join(
            _part(names[key], cell.settings.get(key))
            for key in dict.fromkeys(kept[own] for own in wanted if own in chosen[cell.name])
        )
        for cell in cells
    }


def _short(key: str) -> str:
    return key.removesuffix(".name").rpartition(".")[2]


def _part(name: str, value: Any) -> str:
    text = _plain(f"{name}_{value}")
    return text if len(text) <= LONGEST + len(name) else f"{text[:LONGEST]}_{crc32(text.encode()):08x}"


def _plain(text: str) -> str:
    """A text as the sweeper writes it into a folder's name."""
    return re.sub(r"[^\w.+-]+", "_", text).strip("_")


def _in_name(cell: StoredCell) -> str:
    """What a cell's name holds after backbone, benchmark and arm, without the protocol."""
    name = "{backbone}-{benchmark}-{arm}-".format_map(cell.metrics)
    if not cell.name.startswith(name):
        return ""
    protocol = re.escape(str(cell.metrics["protocol"]))
    return re.sub(f"-{protocol}(?=-|$)", "", f"-{cell.name.removeprefix(name)}", count=1).removeprefix("-")


def _is_faithful(cells: Sequence[StoredCell], texts: Mapping[str, str], sampled: Mapping[str, str]) -> bool:
    """Whether names hold no value with the protocol's name in it, and equal texts are equal settings."""
    meant: dict[str, str] = {}
    for cell in cells:
        if meant.setdefault(texts[cell.name], sampled[cell.name]) != sampled[cell.name]:
            return False
        if any(
            f"-{cell.metrics['protocol']}" in (text := _plain(value)) and text in cell.name
            for key, value in cell.settings.items()
            if isinstance(value, str) and not is_under(key, NAMES)
        ):
            return False
    return True
