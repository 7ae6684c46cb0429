"""Progress of a cell, or of preparing cells: a bar, or a log line a minute."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from glob import escape
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from icpo.errors import IcpoError
from icpo.report.cells import BASE, PLAIN
from icpo.store import read_metrics

SECONDS_BETWEEN_LINES = 60.0
SECONDS_BEFORE_BAR = 2.0  # of counting cells

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pace:
    """A moment of a cell; questions are counted once per seed.

    `resumed` of `done` were there before this session, which has lasted `seconds` and sampled `tokens`.
    `mean_at_k` is the running score of the cell, `base_mean_at_k` that of the base on the same benchmark;
    None if not known.
    """

    total: int
    done: int
    resumed: int
    seconds: float
    tokens: int
    mean_at_k: float | None
    base_mean_at_k: float | None

    @property
    def tokens_per_second(self) -> float:
        """Generated tokens per second of this session."""
        return self.tokens / self.seconds if self.seconds > 0 else 0.0

    @property
    def eta_seconds(self) -> float | None:
        """Seconds until the end at this session's pace, or None."""
        fresh = self.done - self.resumed
        return None if fresh < 1 else self.seconds / fresh * (self.total - self.done)

    def line(self) -> str:
        """`12/30 questions, Mean@k 41.2% (base 33.0%), 4,012 tokens/s, ETA 0:42`."""
        parts = [f"{self.done}/{self.total} questions"]
        if self.mean_at_k is not None:
            base = "" if self.base_mean_at_k is None else f" (base {100 * self.base_mean_at_k:.1f}%)"
            parts.append(f"Mean@k {100 * self.mean_at_k:.1f}%{base}")
        parts.append(f"{self.tokens_per_second:,.0f} tokens/s")
        parts.append(f"ETA {clock_text(self.eta_seconds)}")
        return ", ".join(parts)


class CellProgress:
    """Shows the progress of one cell until it is closed.

    Use as a context manager and call `update` as often as wished: a terminal is redrawn a few times a
    second, a log gets a line a minute and one at the end.
    """

    def __init__(
        self,
        cell: str,
        *,
        total: int,
        resumed: int,
        base_mean_at_k: float | None = None,
        console: Console | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begins at `resumed` of `total` questions."""
        self._cell, self._now = cell, now
        self._began = self._said = now()
        self.pace = Pace(total, resumed, resumed, 0.0, 0, None, base_mean_at_k)
        console = console or Console(stderr=True)
        self._bar = _bar(console) if console.is_terminal else None
        self._task = (
            None if self._bar is None else self._bar.add_task(cell, total=total, completed=resumed, line="")
        )

    def update(self, *, done: int, tokens: int, mean_at_k: float | None = None) -> None:
        """Show `done` questions in all and `tokens` sampled in this session."""
        score = self.pace.mean_at_k if mean_at_k is None else mean_at_k
        seconds = self._now() - self._began
        self.pace = replace(self.pace, done=done, seconds=seconds, tokens=tokens, mean_at_k=score)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, line=self.pace.line())
        elif self._now() - self._said >= SECONDS_BETWEEN_LINES:
            self._say()

    def __enter__(self) -> "CellProgress":
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        else:
            self._say()

    def _say(self) -> None:
        self._said = self._now()
        logger.info("%s: %s", self._cell, self.pace.line())


@contextmanager
def counting(
    doing: str,
    num_cells: int,
    *,
    console: Console | None = None,
    now: Callable[[], float] = time.monotonic,
) -> Iterator[Callable[[], None]]:
    """Within, a call per cell shows `composing 120 of 1000 cells`.

    A terminal has a bar after two seconds, a log gets a line a minute.
    """
    console = console or Console(stderr=True)
    began = said = now()
    num_done, bar = 0, None

    def count() -> None:
        nonlocal num_done, said, bar
        num_done += 1
        line = f"{doing} {num_done} of {num_cells} cells"
        if console.is_terminal and now() - began >= SECONDS_BEFORE_BAR:
            if bar is None:
                bar = closing.enter_context(_bar(console, transient=True))
                bar.add_task("", total=num_cells, line="")
            bar.update(bar.task_ids[0], completed=num_done, line=line)
        elif not console.is_terminal and now() - said >= SECONDS_BETWEEN_LINES:
            said = now()
            logger.info(line)

    with ExitStack() as closing:
        yield count


def clock_text(seconds: float | None) -> str:
    """`0:42`, `1:02:05`; `-:--` for None."""
    if seconds is None:
        return "-:--"
    hours, rest = divmod(round(seconds), 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def stored_base_mean(run_folder: Path, *, backbone: str, benchmark: str, protocol: str) -> float | None:
    """Mean@k of the base on that benchmark, if it was measured.

    Only cells that are named after the benchmark are looked at; one that cannot be read does not count.
    """
    wanted = {"method": BASE, "backbone": backbone, "benchmark": benchmark, "protocol": protocol}
    for folder in sorted(run_folder.glob(f"{escape(backbone)}-{escape(benchmark)}-*")):
        with suppress(IcpoError):
            found = read_metrics(folder) or {}
            if wanted.items() <= found.items() and found.get("prompt") in (None, PLAIN):
                return float(found["mean_at_k"]["value"])
    return None


def _bar(console: Console, *, transient: bool = False) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[line]}"))
    return Progress(*columns, console=console, transient=transient)
