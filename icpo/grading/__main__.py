"""Explain why an answer is right or wrong, or group answers."""

import argparse
import json
import sys
from collections.abc import Sequence

from icpo.grading.grader import Grader
from icpo.grading.rules import GradingRules
from icpo.types import AnswerKind

_FLAGS = ("--kind", "--votes", "--json", "--timeout", "--help", "-h", "--")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print extraction, normal form, verdict and rule, or the votes."""
    options = _parser().parse_args(_shielded(sys.argv[1:] if arguments is None else arguments))
    if options.votes is not None and options.prediction is not None:
        _parser().error("give PREDICTION and GOLD, or --votes A B C ...; not both")
    with Grader(GradingRules(), options.timeout) as grader:
        if options.votes is not None:
            kind = AnswerKind(options.kind or "expression")
            report = _votes(grader, options.votes, kind)
        else:
            if options.prediction is None or options.gold is None:
                _parser().error('give PREDICTION and GOLD, or --votes A B C ...; an abstention is ""')
            report = _verdict(
                grader, options.prediction, options.gold, AnswerKind(options.kind or _kind_of(options.gold))
            )
    if options.json:
        print(json.dumps(report))
    else:
        print("\n".join(f"{name + ':':15}{_shown(value)}" for name, value in report.items()))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m icpo.grading", description=__doc__, allow_abbrev=False)
    parser.add_argument("prediction", nargs="?", help="a completion, or an answer by itself")
    parser.add_argument("gold", nargs="?", help="the gold answer")
    parser.add_argument(
        "--kind", choices=[kind.value for kind in AnswerKind], help="default: what the gold looks like"
    )
    parser.add_argument("--votes", nargs="+", metavar="ANSWER", help='group answers; "" is an abstention')
    parser.add_argument(
        "--timeout", type=_seconds, default=3.0, help="seconds for one question to math-verify"
    )
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    return parser


def _shielded(arguments: Sequence[str]) -> list[str]:
    """Answers such as "-2,1" with a space in front, so that they are not taken for options."""
    return [a if not a.startswith("-") or a.partition("=")[0] in _FLAGS else f" {a}" for a in arguments]


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, got {text.strip()}")
    return seconds


def _kind_of(gold: str) -> str:
    return "choice" if gold.strip() in tuple("ABCDEFGHIJ") else "expression"


def _verdict(grader: Grader, prediction: str, gold: str, kind: AnswerKind) -> dict[str, object]:
    answer = grader.extract(prediction, kind)
    verdict = grader.judge(answer, gold, kind)
    return {
        "extracted": answer,
        "normal_form": None if answer is None else grader.normal_form(answer, kind),
        "verdict": verdict.correct,
        "rule": verdict.rule,
    }


def _votes(grader: Grader, answers: Sequence[str], kind: AnswerKind) -> dict[str, object]:
    votes = grader.tally(answers, kind)
    return {
        "winners": list(votes.winners),
        "counts": [list(count) for count in votes.counts],
        "num_abstained": votes.num_abstained,
    }


def _shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "correct" if value else "wrong"
    return str(value)


if __name__ == "__main__":
    main()
