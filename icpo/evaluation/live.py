"""One question as it is solved, shown in a terminal."""

from collections.abc import Callable, Sequence

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from icpo.safe_text import escaped
from icpo.types import (
    AnswerKind,
    Batches,
    Lookahead,
    Observer,
    Purpose,
    Question,
    SampleRequest,
    Toolkit,
    Votes,
)

BAR_WIDTH = 20


class Narrator(Observer):
    """Shows each stage of a question as it ends."""

    def __init__(self, question: Question, tools: Toolkit, show: Callable[[RenderableType], None]) -> None:
        self._kind, self._tools, self._show = question.kind, tools, show
        self._num_rounds, self._previous = 0, Purpose.FINAL
        show(question_view(question))

    def completed(self, requests: list[SampleRequest], batches: Batches) -> None:
        """Show a stage."""
        purpose = requests[0].purpose
        if purpose is Purpose.CANDIDATE and self._previous is not Purpose.CANDIDATE:
            self._num_rounds += 1
        self._show(stage_view(requests, batches, self._tools, self._kind, self._num_rounds))
        self._previous = purpose


def question_view(question: Question) -> RenderableType:
    """The question in a frame."""
    return Panel(
        Text(printable(question.text)), title=Text(printable(question.question_id)), title_align="left"
    )


def stage_view(
    requests: Sequence[SampleRequest], batches: Batches, tools: Toolkit, kind: AnswerKind, num_round: int
) -> RenderableType:
    """One line per batch: samples, and votes where there are answers."""
    purpose = requests[0].purpose
    lines: list[RenderableType] = []
    for i, completions in enumerate(batches):
        name = {
            Purpose.CANDIDATE: f"round {num_round}, {len(completions)} candidates",
            Purpose.LOOKAHEAD: f"  look-ahead of attempt {i + 1}",
            Purpose.SUMMARY: f"  summary {i + 1}",
            Purpose.FINAL: f"{len(completions)} finals",
        }.get(purpose, purpose.value)
        if purpose is Purpose.SUMMARY:
            said: RenderableType = Text(printable(" ".join(completions[0].text.split())))
        else:
            votes = tools.votes(tools.candidates(completions, kind), kind)
            is_priced = purpose is Purpose.LOOKAHEAD  # what the selector sees prices silence
            said = votes_view(votes, Lookahead(i, votes).entropy_bits if is_priced else votes.entropy_bits)
        lines.append(_beside(Text(name, style="bold"), said))
    return Group(*lines)


def votes_view(votes: Votes, entropy_bits: float) -> RenderableType:
    """Bars of the answers, most frequent first, then the entropy."""
    counts = [*votes.counts, ("no answer", votes.num_abstained)]
    total = max(1, votes.num_answered + votes.num_abstained)
    bars = [f"{answer} {'█' * max(1, round(BAR_WIDTH * n / total))} {n}" for answer, n in counts if n]
    return Text(printable("  ".join(bars)) + f"  {entropy_bits:.2f} bits")


def printable(text: str) -> str:
    """The text without control characters and half characters."""
    return escaped(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))


def _beside(name: Text, said: RenderableType) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_row(name, said)
    return grid
