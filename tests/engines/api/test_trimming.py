"""What a server leaves in a text beside the answer is taken away, and counted."""

from dataclasses import replace

import pytest

pytest.importorskip("openai")

from icpo.engines.api.trimming import without_prompt
from tests.engines.api.conftest import ask, collect
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
