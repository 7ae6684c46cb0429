"""What a request costs."""

from icpo.methods.metering import add_usage
from icpo.types import Completion, FinishReason, Purpose, Usage
from tests.methods.hand import QUESTION, toolkit


def test_a_prompt_counts_once_however_many_samples_it_has():
    tools = toolkit()
    request = tools.ask(Purpose.FINAL, tools.prompts.plain(QUESTION), 3, 0)
    usage = add_usage(Usage(), request, [Completion("x", 7, n, FinishReason.STOP) for n in (1, 2, 3)])
    assert (usage.num_requests, usage.num_sequences) == (1, 3)
    assert (usage.prompt_tokens, usage.generated_tokens) == (7, 6)
