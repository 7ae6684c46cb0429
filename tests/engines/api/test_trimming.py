"""What a server leaves in a text beside the answer is taken away, and counted."""

from dataclasses import replace

import pytest

pytest.importorskip("openai")

from icpo.engines.api.trimming import before_stop, without_prompt
from icpo.types import FinishReason
from tests.engines.api.conftest import SAMPLING, ask, collect
from tests.engines.api.playing import BACKBONE

EXAMPLE = "Question: 1+5\nAnswer: \\boxed{6}\n\nQuestion: 6*7\nAnswer:"
QUESTION = "How much is 6*7? Put the answer into \\boxed{}."


def chat(user):
    return {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": user}]}


@pytest.mark.parametrize(
    ("text", "fields", "left"),
    [
        (f"{EXAMPLE} \\boxed{{42}}", {"prompt": EXAMPLE}, " \\boxed{42}"),
        (f" {EXAMPLE}", {"prompt": f"{EXAMPLE}\n"}, ""),
        ("6*7=42", {"prompt": "6*7="}, "42"),
        (" \\boxed{42}", {"prompt": EXAMPLE}, " \\boxed{42}"),
        (f"So: {EXAMPLE}", {"prompt": EXAMPLE}, f"So: {EXAMPLE}"),
        (f"{QUESTION} \\boxed{{42}}", chat(QUESTION), " \\boxed{42}"),
        ("6*7=42", chat("6*7="), "6*7=42"),
        ("42", {"prompt": ""}, "42"),
    ],
)
def test_a_prompt_before_the_answer_is_taken_away(text, fields, left):
    assert without_prompt(text, fields) == left


def test_a_server_that_echoes_gives_answers_alone_and_is_counted(server, start):
    engine = start(replace(BACKBONE, chat_template="none"))
    [given] = collect(engine, [ask(EXAMPLE, n=2)]).values()
    assert sorted(one.text for one in given) == ["#0", "#1"], "the server begins with the prompt"
    assert engine.accounting()["echoed_prompts"] == 2


@pytest.mark.parametrize(
    ("text", "fields", "left"),
    [
        ("\\boxed{11}\n\nQuestion: 2+2 \\boxed{4}", {"stop": ["Question:", "\n\n"]}, "\\boxed{11}"),
        ("\\boxed{11}", {"stop": ["\n\n"]}, "\\boxed{11}"),
        ("\n\n11", {"stop": ["\n\n"]}, ""),
        ("11\n\n12", {}, "11\n\n12"),
        ("11\n\n12", {"stop": ["\n\n"], "min_tokens": 8}, "11\n\n12"),
        ("11\n\n12", {"stop": ["\n\n"], "min_tokens": 0}, "11"),
    ],
)
def test_what_follows_a_stop_string_is_cut_off(text, fields, left):
    assert before_stop(text, fields) == left


@pytest.mark.parametrize("reason", ["length", "stop", "banana"])
def test_a_server_that_ignores_stop_gives_answers_that_end_there_and_is_counted(server, start, reason):
    choice = {"index": 0, "finish_reason": reason, "message": {"content": "11 END 4"}}
    server.plan = lambda body: (
        lambda handler, _: handler.reply(200, handler.completion(body, 1) | {"choices": [choice]})
    )
    engine = start()
    [[given]] = collect(engine, [ask(sampling=replace(SAMPLING, stop=(" END",)))]).values()
    assert (given.text, given.finish_reason) == ("11", FinishReason.STOP)
    account = engine.accounting()
    assert account["ignored_stops"] == 1 and "unknown_finish_reasons" not in account
