"""Damage to a cell's files: `verify` finds all that would change a result or a score."""

import shutil
from collections import Counter
from itertools import permutations
from random import Random

import pytest

from icpo.store.health import verify
from tests.reliability import report_row
from tests.store.damage import (
    DAMAGES,
    damaged_in_turn,
    files_of,
    flip,
    noticed,
    stored_cells,
    what_it_says,
)

NUM_FLIPS = 420  # of each kind of cell
ANOTHER = "another cell's"


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    return stored_cells(tmp_path_factory.mktemp("damage"))


def flips(cells, kind, times, seed):
    assert verify(cells[kind]).verdict == "sound", verify(cells[kind])
    counts = damaged_in_turn(cells[kind], flip, times, Random(seed))
    names = ", ".join(path.name for path in files_of(cells[kind]))
    report_row(
        f"one bit flipped in a {kind} cell" + (f", seed {seed}" if seed else ""),
        f"{times} random flips in {names}",
        f"`verify` found {counts['found']}; missed {times - counts['found']}",
    )
    assert counts == {"found": times}


@pytest.mark.parametrize("kind", ["finished", "half-finished"])
def test_verify_finds_every_flipped_bit(cells, kind):
    flips(cells, kind, NUM_FLIPS, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("kind", ["finished", "half-finished"])
def test_verify_finds_every_flipped_bit_whatever_the_seed(cells, kind, seed):
    flips(cells, kind, 2000, seed)


@pytest.mark.parametrize("name", DAMAGES)
def test_no_damage_to_a_file_changes_what_a_sound_cell_says(cells, name):
    """A piece that was appended without a line end is a torn end, which is reported and dropped."""
    counts = Counter()
    for kind in cells:
        counts += damaged_in_turn(cells[kind], DAMAGES[name], 30, Random(name))
    report_row(
        f"files of 3 cells with {name}",
        f"{counts.total()} times",
        f"`verify` found {counts['found']}, and {counts['torn']} as a torn end; missed {counts['missed']}",
    )
    assert not counts["missed"] and not counts["harmless"]


def test_files_that_are_gone_or_another_cells_are_found(cells):
    """A status of a cell as far, or a journal that holds all that this one held, changes nothing."""
    counts = Counter()
    for here, there in permutations(cells.values(), 2):
        right = what_it_says(here)
        for path in files_of(here):
            whole, other = path.read_bytes(), there / path.name
            path.unlink()
            counts["gone", noticed(here, right)] += 1
            for how in (shutil.copyfile, lambda source, target: target.symlink_to(source)):
                if other.exists():
                    how(other, path)
                    counts[ANOTHER, noticed(here, right)] += 1
                    path.unlink()
            path.write_bytes(whole)
    report_row(
        "files of 3 cells deleted, or replaced by another cell's or a link to it",
        f"{counts.total()} times",
        f"`verify` found {counts['gone', 'found'] + counts[ANOTHER, 'found']}; {counts[ANOTHER, 'harmless']} "
        f"changed nothing; missed {counts['gone', 'missed'] + counts[ANOTHER, 'missed']}",
    )
    assert {how for what, how in counts if what == "gone"} == {"found"}, counts
    assert {how for what, how in counts if what == ANOTHER} == {"found", "harmless"}, counts


@pytest.mark.parametrize("to", ["itself", "nowhere", "the same content"])
def test_a_link_is_what_it_leads_to(cells, tmp_path, to):
    cell = shutil.copytree(cells["finished"], tmp_path / "run" / cells["finished"].name)
    right = what_it_says(cell)
    for path in files_of(cell):
        kept = tmp_path / path.name
        path.rename(kept)
        path.symlink_to({"itself": path, "nowhere": tmp_path / "absent", "the same content": kept}[to])
        assert noticed(cell, right) == ("harmless" if to == "the same content" else "found")
        path.unlink()
        kept.rename(path)
