"""Stored cells, ways to damage their files, and whether `verify` notices."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

from icpo.errors import IcpoError, Interrupted
from icpo.store import load_results, load_scores, read_metrics
from icpo.store.health import verify
from tests.end_to_end import fakes
from tests.stored import read_texts

NAMES = ("manifest.json", "journal.bin", "results.jsonl", "scores.jsonl", "metrics.json", "status.json")
SETTINGS = ("budget.num_rounds=2", "budget.num_candidates=3")


class Dies(fakes.Continuous):
    """An engine that is interrupted when half of the questions are done."""

    def submit(self, ticket, request):
        if len(self.requests) >= 24:
            raise Interrupted("Stopped by the test.")
        fakes.Continuous.submit(self, ticket, request)


def stored_cells(folder: Path) -> dict[str, Path]:
    """Two finished cells of one run, and one of another run that was interrupted in the middle."""
    questions = fakes.questions_file(folder)
    finished, _ = fakes.run(folder / "run", questions, *SETTINGS)
    other, _ = fakes.run(folder / "run", questions, *SETTINGS, "method=direct")
    with suppress(Interrupted):
        fakes.run(folder / "half", questions, *SETTINGS, "max_in_flight=1", engine=Dies())
    [half] = (path.parent for path in (folder / "half").glob("*/manifest.json"))
    assert read_metrics(finished) and not read_metrics(half) and load_results(half)
    return {"finished": finished, "other": other, "half-finished": half}


def files_of(cell: Path) -> list[Path]:
    """The files of a cell that hold something."""
    return [cell / name for name in NAMES if (cell / name).exists() and (cell / name).stat().st_size]


def what_it_says(cell: Path) -> object:
    """All results, scores and metrics of a cell, with the texts that results rest on; None if unreadable."""
    try:
        results, scores = load_results(cell), load_scores(cell)
        samples = [c.completion.draw for r in results for _, finals in r.finals for c in finals]
        return results, scores, read_metrics(cell), read_texts(cell, samples)
    except IcpoError:
        return None


def noticed(cell: Path, right: object) -> str:
    """`found`, `torn` (reported as an end cut short), `harmless` or `missed`."""
    health = verify(cell)
    if not health.is_sound:
        return "found"
    if what_it_says(cell) != right:
        return "missed"
    return "torn" if health.num_torn_bytes else "harmless"


def flip(content: bytes, chance: Random) -> bytes:
    """One bit is another."""
    at = chance.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << chance.randrange(8))]) + content[at + 1 :]


def zero(content: bytes, chance: Random) -> bytes:
    """A block of zeros, as a disk leaves behind."""
    at, size = chance.randrange(len(content)), chance.choice([1, 16, 512, 4096])
    return content[:at] + bytes(len(content[at : at + size])) + content[at + size :]


def repeat_line(content: bytes, chance: Random) -> bytes:
    """A line stands there twice."""
    lines = content.splitlines(keepends=True)
    at = chance.randrange(len(lines))
    return b"".join([*lines[: at + 1], *lines[at:]])


def drop_line(content: bytes, chance: Random) -> bytes:
    """A line is gone."""
    lines = content.splitlines(keepends=True)
    at = chance.randrange(len(lines))
    return b"".join([*lines[:at], *lines[at + 1 :]])


Damage = Callable[[bytes, Random], bytes]
DAMAGES: dict[str, Damage] = {
    "a cut at any byte": lambda content, chance: content[: chance.randrange(len(content))],
    "zeros": zero,
    "a line twice": repeat_line,
    "a line gone": drop_line,
    "line ends of Windows": lambda content, _: content.replace(b"\n", b"\r\n"),
    "a byte order mark": lambda content, _: b"\xef\xbb\xbf" + content,
    "zeros appended": lambda content, chance: content + bytes(chance.choice([1, 100, 4096])),
    "noise appended": lambda content, chance: content + chance.randbytes(30),
    "a line end appended": lambda content, _: content + b"\n",
}


def damaged_in_turn(cell: Path, damage: Damage, times: int, chance: Random) -> Counter[str]:
    """How often each damage to one file of a cell was noticed; the cell is whole again afterwards."""
    right, counts, files = what_it_says(cell), Counter[str](), files_of(cell)
    for i in range(times):
        path = files[i % len(files)]
        whole = path.read_bytes()
        path.write_bytes(damage(whole, chance))
        if path.read_bytes() != whole:
            counts[how := noticed(cell, right)] += 1
            if how == "missed":
                print(f"missed: {path.name} of {cell.name}")
        path.write_bytes(whole)
    return counts
