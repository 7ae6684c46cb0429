"""Shifts of each condition from the base, by question and kind."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import expm1, log

from icpo.lab.probe.conditions import BASE, PLAIN
from icpo.types import AnswerKind, QuestionResult, Step, Votes

Tally = Callable[[Sequence[str | None], AnswerKind], Votes]


@dataclass(frozen=True, slots=True)
class Count:
    """Counts of samples: `total`, `parsed`, `hits` of the attempt, `right`."""

    total: int
    parsed: int
    hits: int
    right: int

    @property
    def share(self) -> float:
        """The attempt's answer among the answers; nan where there are none."""
        return self.hits / self.parsed if self.parsed else float("nan")

    @property
    def logit(self) -> float:
        """Log-odds of the attempt's answer, half a sample added to each side."""
        return log((self.hits + 0.5) / (self.parsed - self.hits + 0.5))


@dataclass(frozen=True, slots=True)
class Shift:
    """One condition of one question, beside the base's half B.

    `kind` is that of the (first) attempt; `scored` and `base_scored` are log-odds of its answer by exact
    log-probability, `others` the change of the log-odds between the two other answers that were scored first;
    None where nothing was scored.
    """

    question_id: str
    seed: int
    condition: str
    kind: str
    base: Count
    count: Count
    base_scored: float | None = None
    scored: float | None = None
    others: float | None = None

    @property
    def change(self) -> float:
        """Change of the probability of the attempt's answer, among answers."""
        return self.count.share - self.base.share


def shifts_of(results: Iterable[QuestionResult], golds: Mapping[str, str], tally: Tally) -> list[Shift]:
    """The shifts of all conditions, estimated on half B."""
    return [shift for result in results for shift in _of_question(result, golds, tally)]


def _of_question(result: QuestionResult, golds: Mapping[str, str], tally: Tally) -> list[Shift]:
    steps = {step.name: step for step in result.trace if isinstance(step, Step)}
    shown = {name.removeprefix("shown "): steps[name] for name in steps if name.startswith("shown ")}
    sampled = {
        name: step for name, step in steps.items() if not name.startswith(("shown ", "scores ", f"{BASE} A"))
    }
    gold = golds.get(result.question.question_id)
    named = [("gold", gold), *((kind, step.candidates[0].answer) for kind, step in shown.items())]
    given = [answer for _, answer in named]
    given += [candidate.answer for step in sampled.values() for candidate in step.candidates]
    label = _labels([answer for _, answer in named], given, result.question.kind, tally)
    classes = {name: label.get(answer or "") for name, answer in named}
    found = {name: [label.get(c.answer or "") for c in step.candidates] for name, step in sampled.items()}
    shifts = []
    for name, labels_found in found.items():
        kind = name.partition("/")[0].partition("+")[0]
        if name == f"{BASE} B" or (kind not in classes and name != PLAIN):
            continue
        own, right = classes.get(kind), classes["gold"]
        scored, base_scored, others = _scored(steps, name, shown.get(kind))
        shifts.append(
            Shift(
                result.question.question_id,
                result.seed,
                name,
                kind,
                _count(found[f"{BASE} B"], own, right),
                _count(labels_found, own, right),
                base_scored,
                scored,
                others,
            )
        )
    return shifts


def _labels(
    named: Sequence[str | None], given: Sequence[str | None], kind: AnswerKind, tally: Tally
) -> dict[str, str | None]:
    """The class of each answer. Whole numbers that nobody named need no comparison, which can be slow."""
    needed = {answer for answer in named if answer is not None}
    distinct = list(dict.fromkeys(answer for answer in (*named, *given) if answer is not None))
    compared = [answer for answer in distinct if answer in needed or not answer.isdecimal()]
    labels = dict(zip(compared, tally(compared, kind).labels, strict=True))
    return {answer: labels.get(answer, answer) for answer in distinct}


def _count(labels: Sequence[str | None], own: str | None, right: str | None) -> Count:
    parsed = [label for label in labels if label is not None]
    return Count(len(labels), len(parsed), parsed.count(own or ""), parsed.count(right or ""))


def _scored(
    steps: Mapping[str, Step], name: str, shown: Step | None
) -> tuple[float | None, float | None, float | None]:
    """Log-odds of the shown answer under a condition and in the base, and how much the others moved."""
    here, base = steps.get(f"scores {name}"), steps.get(f"scores {BASE}")
    if here is None or base is None or shown is None:
        return None, None, None
    by_answer = {
        candidate.answer: (now, before)
        for candidate, now, before in zip(here.candidates, here.verdicts, base.verdicts, strict=True)
        if now is not None and before is not None
    }
    own = by_answer.get(shown.candidates[0].answer)
    rest = [pair for answer, pair in by_answer.items() if answer != shown.candidates[0].answer][:2]
    others = None if len(rest) < 2 else (rest[0][0] - rest[1][0]) - (rest[0][1] - rest[1][1])
    return (None, None, others) if own is None else (_log_odds(own[0]), _log_odds(own[1]), others)


def _log_odds(log_p: float) -> float:
    """Log-odds of a log-probability in nats; those of 1 are cut at about 28."""
    log_p = min(log_p, -1e-12)
    return log_p - log(-expm1(log_p))
