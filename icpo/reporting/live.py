"""One question as it is solved, for a terminal: each stage when it is done, each round when it is whole."""

from collections.abc import Callable, Sequence

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from icpo.types import (
    AnswerKind,
    Batches,
    Candidate,
    Lookahead,
    Purpose,
    Question,
    QuestionResult,
    Round,
    SampleRequest,
    Solving,
    Toolkit,
    Votes,
)

BAR_WIDTH = 20


def narrated(
    solving: Solving, tools: Toolkit, kind: AnswerKind, show: Callable[[RenderableType], None]
) -> Solving:
    """The same generator, telling `show` what each batch of requests brought as soon as it is there."""
    requests = next(solving)
    num_rounds, previous = 0, None
    while True:
        batches = yield requests
        purpose = requests[0].purpose if requests else None
        num_rounds += purpose is Purpose.CANDIDATE and previous is not Purpose.CANDIDATE
        if requests:
            show(stage_view(requests, batches, tools, kind, num_rounds))
        previous = purpose
        try:
            requests = solving.send(batches)
        except StopIteration as stop:
            result: QuestionResult = stop.value
            return result


def question_view(question: Question) -> RenderableType:
    """The question in a frame."""
    return Panel(Text(question.text), title=Text(question.question_id), title_align="left")


def stage_view(
    requests: Sequence[SampleRequest], batches: Batches, tools: Toolkit, kind: AnswerKind, num_round: int
) -> RenderableType:
    """One line per batch: what was drawn, and the votes where answers were."""
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
            said: RenderableType = Text(" ".join(completions[0].text.split()))
        else:
            votes = tools.votes(tools.candidates(completions, kind), kind)
            is_priced = purpose is Purpose.LOOKAHEAD  # what the selector sees prices silence
            said = votes_view(votes, Lookahead(i, votes).entropy_bits if is_priced else votes.entropy_bits)
        lines.append(_beside(Text(name, style="bold"), said))
    return Group(*lines)


def round_view(round_: Round, number: int) -> RenderableType:
    """A whole round: each attempt with answer, reward, entropy after it, and which was kept."""
    entropy_bits = {ahead.attempt: ahead.entropy_bits for ahead in round_.lookaheads}
    table = Table(title=Text(f"round {number}"), title_justify="left")
    for column in ("", "answer", "votes", "reward", "entropy (bits)", "summary"):
        table.add_column(column)
    counts = dict(round_.votes.counts)
    for i, attempt in enumerate(round_.attempts):
        label = round_.votes.labels[round_.eligible[i]] if round_.votes.labels else attempt.candidate.answer
        kept = i in round_.kept
        table.add_row(
            "kept" if kept else "",
            Text(attempt.candidate.answer or ""),
            str(counts.get(label or "", "")),
            "" if attempt.reward is None else str(attempt.reward),
            f"{entropy_bits[i]:.2f}" if i in entropy_bits else "",
            Text(" ".join(attempt.summary.split())),
            style="green" if kept else "",
        )
    if not round_.kept:
        return Group(table, Text("nothing was kept", style="yellow"))
    return table


def result_view(result: QuestionResult) -> RenderableType:
    """All rounds, then the finals by answer."""
    rounds = [round_view(step, t) for t, step in enumerate(result.trace, start=1) if isinstance(step, Round)]
    finals = [
        _beside(Text(f"finals after {done} rounds", style="bold"), _answers_view(candidates))
        for done, candidates in result.finals
    ]
    return Group(*rounds, *finals)


def votes_view(votes: Votes, entropy_bits: float) -> RenderableType:
    """Bars of the answers given, most frequent first; abstentions last, then the entropy."""
    counts = [*votes.counts, ("no answer", votes.num_abstained)]
    total = max(1, votes.num_answered + votes.num_abstained)
    bars = [f"{answer} {'█' * max(1, round(BAR_WIDTH * n / total))} {n}" for answer, n in counts if n]
    return Text("  ".join(bars) + f"  {entropy_bits:.2f} bits")


def _answers_view(candidates: Sequence[Candidate]) -> RenderableType:
    """The finals' answers as they were read; the page of the question shows their classes."""
    return Text(", ".join(candidate.answer or "no answer" for candidate in candidates))


def _beside(name: Text, said: RenderableType) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_row(name, said)
    return grid
