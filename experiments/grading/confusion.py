"""Confusion table of graders over perturbed gold answers: `python experiments/grading/confusion.py FOLDER`.

Prints one row for each kind of perturbation: how many there are, and how many each grader gets wrong.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import perturbations

from icpo.grading import Grader, GradingRules
from icpo.types import AnswerKind

_KINDS = {
    "aime2024": AnswerKind.NUMBER,
    "amc": AnswerKind.NUMBER,
    "math500": AnswerKind.EXPRESSION,
    "gpqa_diamond": AnswerKind.CHOICE,
}


def golds(folder: Path) -> Iterator[tuple[str, AnswerKind]]:
    """The gold answers of all questions, with their kinds."""
    for name, kind in _KINDS.items():
        for line in (folder / f"{name}.jsonl").read_text().strip().split("\n"):
            yield json.loads(line)["answer"], kind


def main() -> None:
    """Runs every perturbation of every gold answer, and checks that different golds differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="of benchmark files, as the README lists them")
    parser.add_argument("--with-math-verify", action="store_true", help="add math-verify alone as a column")
    options = parser.parse_args()
    questions = list(golds(options.folder))
    with Grader(GradingRules.paper()) as grader:
        table = []
        for perturb in perturbations.ALL:
            cases = [(gold, kind, *case) for gold, kind in questions for case in perturb(gold)]
            wrong = [case for case in cases if _verdict(grader, case) != case[3]]
            table.append((perturb.__name__, cases, wrong))
        _report(table, options.with_math_verify)
        pairs = list(equal_pairs(grader, questions))
        print(f"\n{len(questions)} golds; comparisons that left the process {grader.num_asked}, "
              f"beyond a limit {grader.num_timed_out}; different texts held equal: {len(pairs)}")  # fmt: skip
        for pair in pairs:
            print("  ", *pair, sep="  ")


def _verdict(grader: Grader, case: tuple[str, AnswerKind, str, bool]) -> bool:
    gold, kind, answer, _ = case
    extracted = grader.extract(rf"So the answer is \boxed{{{answer}}}.", kind)
    return grader.judge(extracted, gold, kind).correct is True


def equal_pairs(grader: Grader, questions: list[tuple[str, AnswerKind]]) -> Iterator[tuple[str, str]]:
    """Pairs of golds of one kind that are written differently and held equal."""
    for kind in AnswerKind:
        texts = sorted({gold for gold, its_kind in questions if its_kind is kind})
        for i, one in enumerate(texts):
            yield from ((one, other) for other in texts[i + 1 :] if grader.are_equal(one, other, kind))


def _report(table: list[tuple[str, list, list]], with_math_verify: bool) -> None:
    alone = _math_verify_alone if with_math_verify else None
    print(
        "| perturbation | equal | different | false yes | false no |"
        + (" math-verify false yes | false no |" if alone else "")
    )
    print("|---|---|---|---|---|" + ("---|---|" if alone else ""))
    for name, cases, wrong in table:
        cells = [name, *_counts(cases), *_errors(wrong)]
        if alone:
            cells += _errors([case for case in cases if alone(case) != case[3]])
        print("| " + " | ".join(map(str, cells)) + " |")
    total = [case for _, cases, _ in table for case in cases]
    print(f"\n{len(total)} perturbed golds")
    for name, _, wrong in table:
        for gold, kind, answer, expected in wrong:
            print(f"   {name}: {kind.value} {gold!r} -> {answer!r} should be {expected}", file=sys.stderr)


def _counts(cases: list) -> list[int]:
    num_equal = sum(expected for *_, expected in cases)
    return [num_equal, len(cases) - num_equal]


def _errors(wrong: list) -> list[int]:
    num_missed = sum(expected for *_, expected in wrong)
    return [len(wrong) - num_missed, num_missed]


def _math_verify_alone(case: tuple[str, AnswerKind, str, bool]) -> bool:
    from math_verify import parse, verify

    gold, _, answer, _ = case
    return bool(verify(parse(rf"\boxed{{{gold}}}"), parse(rf"So the answer is \boxed{{{answer}}}.")))


if __name__ == "__main__":
    main()
