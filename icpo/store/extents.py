"""A cell's extents: the seeds, questions and final samples that were asked for, each time they changed."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from icpo.store.json_files import replace_json
from icpo.store.manifest import MANIFEST_NAME, code_version


@dataclass(frozen=True, slots=True)
class Extent:
    """What a cell covers: every question under every seed, and how many final samples each has."""

    seeds: tuple[int, ...]
    question_ids: tuple[str, ...]
    num_finals: int


def extents_of(manifest: Mapping[str, Any]) -> tuple[Extent, ...]:
    """The extents of a cell, the first one first; the last one holds."""
    return tuple(
        Extent(tuple(one["seeds"]), tuple(one["question_ids"]), one["num_finals"])
        for one in manifest.get("extents", ())
    )


def covered_keys(manifest: Mapping[str, Any]) -> frozenset[tuple[str, int]] | None:
    """Each (question_id, seed) that a cell was ever to cover; None where the manifest names no extent."""
    extents = extents_of(manifest)
    keys = ((name, seed) for one in extents for name in one.question_ids for seed in one.seeds)
    return frozenset(keys) if extents else None


def note_extent(folder: Path, manifest: Mapping[str, Any], extent: Extent) -> dict[str, Any]:
    """The manifest with an extent added, stored; as it was where one that covers the same holds already."""
    if any(_covered(held) == _covered(extent) for held in extents_of(manifest)[-1:]):
        return dict(manifest)
    entry = {"since": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "code": code_version(), **asdict(extent)}
    changed = {**manifest, "extents": [*manifest.get("extents", ()), entry]}
    replace_json(folder / MANIFEST_NAME, changed)
    return changed


def _covered(extent: Extent) -> tuple[object, ...]:
    return set(extent.seeds), set(extent.question_ids), extent.num_finals
