"""Errors of graders over rewritten gold answers: `python experiments/grading/confusion.py FOLDER`.

Prints a row for each kind of variant (equal by construction) and of perturbation (near misses among them):
false yes, false no and abstentions of icpo.grading and, in the same run, of math-verify alone.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import perturbations
import variants

from icpo.grading import Grader, GradingRules
from icpo.types import AnswerKind

_KINDS = {
    "aime2024": AnswerKind.NUMBER,
    "amc": AnswerKind.NUMBER,
    "math500": AnswerKind.EXPRESSION,
    "gpqa_diamond": AnswerKind.CHOICE,
}


@dataclass(frozen=True)
class Case:
    """A gold answer, an answer made from it, and whether they are equal."""

    gold: str
    kind: AnswerKind
    answer: str
    is_equal: bool

    @property
    def text(self) -> str:
        """A completion that gives the answer."""
        return rf"So the answer is \boxed{{{self.answer}}}."


Judge = Callable[[Case], bool | None]


def golds(folder: Path) -> list[tuple[str, AnswerKind]]:
    """The different gold answers of all questions, with their kinds."""
    found = {
        (json.loads(line)["answer"], kind): None
        for name, kind in _KINDS.items()
        for line in (folder / f"{name}.jsonl").read_text().strip().split("\n")
    }
    return list(found)


def cases(questions: Sequence[tuple[str, AnswerKind]]) -> dict[str, list[Case]]:
    """The cases by kind of rewriting; variants first."""
    made: dict[str, list[Case]] = {}
    for vary in variants.ALL:
        made[f"variant: {vary.__name__}"] = [
            Case(gold, kind, answer, True)
            for gold, kind in questions
            if kind is not AnswerKind.CHOICE
            for answer in vary(gold)
        ]
    for perturb in perturbations.ALL:
        made[perturb.__name__] = [
            Case(gold, kind, answer, is_equal)
            for gold, kind in questions
            for answer, is_equal in perturb(gold)
        ]
    return made


def main() -> None:
    """Judges every rewriting of every gold answer, and checks that different golds differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="of benchmark files, as the README lists them")
    parser.add_argument("--with-math-verify", action="store_true", help="add math-verify alone as columns")
    options = parser.parse_args()
    questions = golds(options.folder)
    with Grader(GradingRules()) as grader:
        judges: dict[str, Judge] = {"icpo": lambda case: _ours(grader, case)}
        if options.with_math_verify:
            judges["math-verify"] = _math_verify_alone
        _report(cases(questions), judges)
        pairs = list(equal_pairs(grader, questions))
        print(
            f"\n{len(questions)} golds; comparisons that left the process {grader.num_asked}, "
            f"beyond a limit {grader.num_timed_out}; different golds held equal: {len(pairs)}"
        )
        for pair in pairs:
            print("  ", *pair, sep="  ")


def _ours(grader: Grader, case: Case) -> bool | None:
    return grader.judge(grader.extract(case.text, case.kind), case.gold, case.kind).correct


def _math_verify_alone(case: Case) -> bool | None:
    from math_verify import parse, verify

    answer = parse(case.text)
    return bool(verify(parse(rf"\boxed{{{case.gold}}}"), answer)) if answer else None


def equal_pairs(grader: Grader, questions: list[tuple[str, AnswerKind]]) -> Iterator[tuple[str, str]]:
    """Pairs of golds of one kind that are written differently and held equal."""
    for kind in AnswerKind:
        texts = sorted({gold for gold, its_kind in questions if its_kind is kind})
        for i, one in enumerate(texts):
            yield from ((one, other) for other in texts[i + 1 :] if grader.are_equal(one, other, kind))


def _report(made: dict[str, list[Case]], judges: dict[str, Judge]) -> None:
    columns = [f"{name} {what}" for name in judges for what in ("false yes", "false no", "abstained")]
    print("| rewriting | equal | different | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 3) + "|")
    totals = {"all variants": [0] * (len(columns) + 2), "all perturbations": [0] * (len(columns) + 2)}
    for name, some in made.items():
        row = [sum(case.is_equal for case in some), sum(not case.is_equal for case in some)]
        for judge_name, judge in judges.items():
            verdicts = [(case, judge(case)) for case in some]
            row += [
                sum(verdict is True and not case.is_equal for case, verdict in verdicts),
                sum(verdict is False and case.is_equal for case, verdict in verdicts),
                sum(verdict is None and case.is_equal for case, verdict in verdicts),
            ]
            if judge_name == "icpo":
                _list_errors(name, verdicts)
        print(f"| {name} | " + " | ".join(map(str, row)) + " |", flush=True)
        total = "all variants" if name.startswith("variant") else "all perturbations"
        totals[total] = [a + b for a, b in zip(totals[total], row, strict=True)]
    for name, row in totals.items():
        print(f"| {name} | " + " | ".join(map(str, row)) + " |")


def _list_errors(name: str, verdicts: list[tuple[Case, bool | None]]) -> None:
    for case, verdict in verdicts:
        if (verdict is True) != case.is_equal:
            print(
                f"   {name}: {case.kind.value} {case.gold!r} -> {case.answer!r} is {verdict}", file=sys.stderr
            )


if __name__ == "__main__":
    main()
