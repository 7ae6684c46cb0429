"""Results and scores come back from their lines as they were, and what is no such line is refused."""

import json
from dataclasses import replace

import pytest

from icpo.errors import ContractError, RecordsError
from icpo.store import CellRecords, load_results
from icpo.store.codec import decode_result, decode_score, encode_result, encode_score
from icpo.types import Candidate, Lookahead, Round
from tests.store.values import HOSTILE, batches, result, score


def through_json(line):
    return json.loads(json.dumps(line))


def without_texts(stored):
    """The result as it is read back: texts and prompt tokens are in the journal alone."""

    def bare(candidate: Candidate) -> Candidate:
        completion = replace(candidate.completion, text="", num_prompt_tokens=0, num_cached_tokens=0)
        return replace(candidate, completion=completion)

    def bare_step(step):
        step = replace(step, candidates=tuple(map(bare, step.candidates)))
        if not isinstance(step, Round):
            return step
        return replace(step, attempts=tuple(replace(a, candidate=bare(a.candidate)) for a in step.attempts))

    finals = tuple((n, tuple(map(bare, candidates))) for n, candidates in stored.finals)
    return replace(stored, trace=tuple(map(bare_step, stored.trace)), finals=finals)


def test_a_result_comes_back_as_it_was_but_for_texts():
    made = result(samples=[[replace(c, draw=f"k/0/{i}") for i, c in enumerate(batches("so 7", "so 7")[0])]])
    read = decode_result(through_json(encode_result(made)))
    assert read == without_texts(made)
    assert encode_result(read) == encode_result(made)
    assert isinstance(read.rounds[0].lookaheads[0], Lookahead)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_comes_back(text):
    assert decode_result(through_json(encode_result(result(text, 1, text)))).question.text == text


def test_a_score_comes_back_as_it_was():
    assert decode_score(through_json(encode_score(score("a", 3)))) == score("a", 3)


def test_a_result_of_an_older_version_has_defaults_for_what_it_lacks():
    line = through_json(encode_result(result()))
    for name in ("usage_at_finals", "dropped_at_finals"):
        del line[name]
    del line["trace"][0]["num_dropped"], line["trace"][1]["verdicts"]
    read = decode_result(line)
    assert (read.usage_at_finals, read.rounds[0].num_dropped, read.trace[1].verdicts) == ((), 0, ())


def leaves(value, path=()):
    """The places of all fields of a line, by keys and indices."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from leaves(inner, (*path, key))


@pytest.mark.parametrize(
    ("decode", "line"), [(decode_result, encode_result(result())), (decode_score, encode_score(score()))]
)
@pytest.mark.parametrize("change", ["gone", "another type"])
def test_a_line_with_any_field_gone_or_of_another_type_is_refused_or_read_and_never_crashes(
    decode, line, change
):
    line = through_json(line)
    num_refused = 0
    for *path, last in list(leaves(line)):
        damaged = through_json(line)
        inner = damaged
        for key in path:
            inner = inner[key]
        if change == "gone":
            del inner[last]
        else:
            inner[last] = {"not": ["expected"]}
        try:
            decode(damaged)
        except ValueError:
            num_refused += 1
    assert num_refused > 10


def test_a_line_that_lacks_a_field_is_named_and_salvage_is_offered(cell, reopen):
    with reopen() as records:
        records.append(result("a"))
    path = cell / "results.jsonl"
    line = json.loads(path.read_bytes())
    del line["finals"]
    path.write_text(json.dumps(line) + "\n")
    with pytest.raises(RecordsError, match=r"results\.jsonl .*line 1\..*salvage"):
        load_results(cell)
    with pytest.raises(RecordsError, match="salvage"):
        CellRecords(cell, config={"method": {"num_rounds": 2}}, config_digest="d1")


def test_a_result_that_could_not_be_read_back_is_refused_before_it_is_stored(cell, reopen):
    made = result("a")
    odd = replace(made, trace=(replace(made.rounds[0], attempts=()),))
    with reopen() as records, pytest.raises(ContractError, match="'a'"):
        records.append(odd)
    assert load_results(cell) == ()
