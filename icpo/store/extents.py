"""A cell's extents: requested seeds, questions and final samples."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from icpo.store.json_files import replace_json
from icpo.store.manifest import MANIFEST_NAME, code_version
from icpo.store.storage import now_text


@dataclass(frozen=True, slots=True)
class Extent:
    """What a cell covers: questions, seeds and number of final samples."""

    seeds: tuple[int, ...]
    question_ids: tuple[str, ...]
    num_finals: int

    def missing(self, asked: "Extent") -> str:
        """What it lacks of another extent, in words; "" if it covers it."""
        seeds = [seed for seed in asked.seeds if seed not in self.seeds]
        num_questions = len(set(asked.question_ids) - set(self.question_ids))
        lacks_finals = asked.num_finals > self.num_finals
        parts = (
            f"seeds {seeds}" if seeds else "",
            f"{num_questions} questions" if num_questions else "",
            f"{asked.num_finals} final samples instead of {self.num_finals}" if lacks_finals else "",
        )
        return ", ".join(filter(None, parts))


def extents_of(manifest: Mapping[str, Any]) -> tuple[Extent, ...]:
    """The extents of a cell in order; the last one holds."""
    return tuple(
        Extent(tuple(one["seeds"]), tuple(one["question_ids"]), one["num_finals"])
        for one in manifest.get("extents", ())
    )


def covered_keys(manifest: Mapping[str, Any]) -> frozenset[tuple[str, int]] | None:
    """Each (question_id, seed) to cover; None without any extent."""
    extents = extents_of(manifest)
    keys = ((name, seed) for one in extents for name in one.question_ids for seed in one.seeds)
    return frozenset(keys) if extents else None


def note_extent(folder: Path, manifest: Mapping[str, Any], extent: Extent) -> dict[str, Any]:
    """The stored manifest, with the extent unless it is covered."""
    if any(_covered(held) == _covered(extent) for held in extents_of(manifest)[-1:]):
        return dict(manifest)
    entry = {"since": now_text(), "code": code_version(), **asdict(extent)}
    changed = {**manifest, "extents": [*manifest.get("extents", ()), entry]}
    replace_json(folder / MANIFEST_NAME, changed)
    return changed


def _covered(extent: Extent) -> tuple[object, ...]:
    return set(extent.seeds), set(extent.question_ids), extent.num_finals
