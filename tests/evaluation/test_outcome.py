"""A cell's results are alike in their finals; one that is not ends the cell before a table tells of it."""

from dataclasses import dataclass

import pytest

from icpo.errors import ContractError
from icpo.store import read_metrics
from icpo.types import Purpose, QuestionResult
from tests.end_to_end.fakes import questions_file, run
from tests.stored import read_results


@dataclass(frozen=True, slots=True)
class Varying:
    """Draws finals once; of the third question they are `pairs`, of the others after 0 and 2 rounds."""

    pairs: tuple
    name: str = "varying"
    label: str = "varying"

    def solve(self, question, tools, *, seed):
        [sampled] = yield [tools.ask(Purpose.FINAL, tools.prompts.plain(question), 4, seed)]
        answers = tools.candidates(sampled, question.kind)
        pairs = self.pairs if "2 apples" in question.text else ((0, 2), (2, 2))
        return QuestionResult(question, seed, (), tuple((n, answers[:k]) for n, k in pairs))


def run_varying(folder, *pairs):
    own = "method={_target_:tests.evaluation.test_outcome.Varying,name:varying,label:varying,pairs:%s}"
    told = "[" + ",".join(f"[{n},{k}]" for n, k in pairs) + "]"
    return run(folder, questions_file(folder), "~method", f"+{own % told}")


@pytest.mark.parametrize("pairs", [[(0, 2), (2, 3)], [(0, 2), (1, 2)], [(2, 2)]])
def test_finals_unlike_those_of_the_first_question_are_refused(tmp_path, pairs):
    with pytest.raises(ContractError) as error:
        run_varying(tmp_path, *pairs)
    assert f"were [(0, 2), (2, 2)] for the first and are {pairs} for " in str(error.value)
    [cell] = [path.parent for path in tmp_path.glob("*/results.jsonl")]
    assert len(list(read_results(cell))) == 2 and not read_metrics(cell)


def test_finals_after_several_rounds_that_are_sampled_at_once_are_measured(tmp_path):
    cell, _ = run_varying(tmp_path, (0, 2), (2, 2))
    metrics = read_metrics(cell)
    assert set(metrics["by_num_rounds"]) == {"0", "2"} and metrics["k"] == 2
