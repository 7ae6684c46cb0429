import os
import signal
import time
from dataclasses import replace
from itertools import starmap
from threading import Barrier, Event

import pytest

from icpo.engines.local.decoding import decode_rows, decode_side_by_side
from icpo.engines.local.endings import Endings, Row
from icpo.engines.local.llama import Llama
from icpo.engines.local.transformers import TransformersEngine
from icpo.errors import EngineError
from icpo.methods import complete
from icpo.types import FinishReason, Prompt, Purpose, SampleRequest
from tests.engines.conftest import backbone_of, settings_of
from tests.sampling import sampling_of

GREEDY = sampling_of(temperature=0, top_p=1, max_tokens=40)
WARM = sampling_of(temperature=1, top_p=0.9, max_tokens=40)
PROMPTS = [
    "what is 1+1?",
    "what is 2+2? it is 4.",
    "what is 2+2? it is 5. is it?",
    "z",
    "a much longer prompt that begins unlike all the others " * 2,
]


def ask(text, sampling, num_samples=1, seed=7):
    return SampleRequest(Purpose.CANDIDATE, Prompt("", text), sampling, num_samples, seed)


@pytest.fixture(scope="module")
def engine(llama_folder):
    return settings_of().start(backbone_of(llama_folder), max_context_tokens=256)


def reference(folder, text, **options):
    """What transformers' own generate gives, one prompt at a time."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    prompt = tokenizer(text, return_tensors="pt")
    out = model.generate(**prompt, do_sample=False, max_new_tokens=40, pad_token_id=0, **options)
    return tokenizer.decode(out[0, prompt["input_ids"].shape[1] :], skip_special_tokens=True)


@pytest.mark.parametrize("folder_name", ["llama_folder", "gpt2_folder"])
@pytest.mark.parametrize("penalty", [1.0, 1.3])
def test_greedy_completions_are_those_of_generate(folder_name, penalty, request):
    folder = request.getfixturevalue(folder_name)
    engine = settings_of().start(backbone_of(folder), max_context_tokens=256)
    sampling = replace(GREEDY, repetition_penalty=penalty)
    answers = complete(engine, [ask(text, sampling, num_samples=2) for text in PROMPTS])
    wanted = [reference(folder, text, repetition_penalty=penalty) for text in PROMPTS]
    assert [[c.text for c in answer] for answer in answers] == [[text] * 2 for text in wanted]


def test_the_same_requests_give_the_same_bits_whatever_ran_before_and_on_however_many_threads(llama_folder):
    import torch

    requests = [ask(text, WARM, num_samples=5, seed=i) for i, text in enumerate(PROMPTS)]
    first = settings_of(dtype="bfloat16").start(backbone_of(llama_folder), max_context_tokens=256)
    wanted = complete(first, requests)
    complete(first, [ask("something else", WARM, 3)])
    assert complete(first, requests) == wanted
    threads = torch.get_num_threads()
    torch.set_num_threads(1 if threads > 1 else 2)
    try:
        again = settings_of(dtype="bfloat16").start(backbone_of(llama_folder), max_context_tokens=256)
        assert complete(again, requests) == wanted
        assert again.identity == first.identity
    finally:
        torch.set_num_threads(threads)


def test_samples_differ_by_index_and_by_seed_and_not_by_their_neighbours(engine):
    [alone] = complete(engine, [ask(PROMPTS[0], WARM, num_samples=4, seed=1)])
    assert len({c.text for c in alone}) == 4
    other, among = complete(engine, [ask(PROMPTS[0], WARM, 4, seed=9), ask(PROMPTS[0], WARM, 4, seed=1)])
    assert [c.text for c in among] == [c.text for c in alone]
    assert not {c.text for c in other} & {c.text for c in alone}


def test_samples_asked_for_in_instalments_are_those_asked_for_at_once(engine):
    [whole] = complete(engine, [ask(PROMPTS[0], WARM, num_samples=4, seed=1)])
    parts = [complete(engine, [ask(PROMPTS[0], WARM, num_samples=2, seed=seed)])[0] for seed in (1, 3)]
    assert parts[0] + parts[1] == whole


def test_more_rows_than_a_batch_holds_come_back_in_order(engine):
    requests = [ask(text, GREEDY, num_samples=9) for text in PROMPTS]
    together = complete(engine, requests)
    assert together == [complete(engine, [request])[0] for request in requests]


def test_a_completion_ends_at_the_limit_the_end_token_or_a_stop_string(engine, llama_folder):
    texts = [c.text for c in complete(engine, [ask(PROMPTS[0], WARM, num_samples=16)])[0]]
    capped = complete(engine, [ask(PROMPTS[0], replace(WARM, max_tokens=3), num_samples=16)])[0]
    for completion, text in zip(capped, texts, strict=True):
        assert completion.text == text[:3]
        is_short = len(text) < 3
        assert completion.finish_reason is (FinishReason.STOP if is_short else FinishReason.LENGTH)
        assert completion.num_completion_tokens == min(len(text) + 1, 3)
    longest = max(texts, key=len)
    stop = longest[5:7]
    stopped = complete(engine, [ask(PROMPTS[0], replace(WARM, stop=(stop,)), num_samples=16)])[0]
    assert [c.text for c in stopped] == [text.split(stop)[0] for text in texts]
    is_late = replace(WARM, stop=(stop,), min_tokens=30)
    late = complete(engine, [ask(PROMPTS[0], is_late, num_samples=16)])[0]
    assert all(c.num_completion_tokens >= 30 for c in late)


def test_min_tokens_bars_the_end_token(engine):
    [free] = complete(engine, [ask(PROMPTS[0], WARM, num_samples=64)])
    assert min(c.num_completion_tokens for c in free) < 20
    [held] = complete(engine, [ask(PROMPTS[0], replace(WARM, min_tokens=20), num_samples=64)])
    assert all(c.num_completion_tokens >= 20 for c in held)


def test_a_prompt_without_room_is_answered_so_and_a_tight_one_is_clipped(llama_folder):
    engine = settings_of().start(backbone_of(llama_folder), max_context_tokens=20)
    sampling = replace(WARM, min_room_tokens=5, min_tokens=30)
    full, tight = complete(engine, [ask("x" * 16, sampling, 2), ask("x" * 15, sampling, 2)])
    assert [(c.text, c.finish_reason, c.num_prompt_tokens) for c in full] == [
        ("", FinishReason.PROMPT_TOO_LONG, 16)
    ] * 2
    assert [(c.num_completion_tokens, c.finish_reason) for c in tight] == [(5, FinishReason.LENGTH)] * 2


def test_the_identity_names_what_changes_bits(llama_folder):
    def identity(max_context_tokens=64, **changes):
        return (
            settings_of(**changes)
            .start(backbone_of(llama_folder), max_context_tokens=max_context_tokens)
            .identity
        )

    changed = starmap(
        lambda key, value: identity(**{key: value}),
        [("dtype", "bfloat16"), ("block_questions", 3), ("max_batch_rows", 8), ("max_context_tokens", 65)],
    )
    assert len({identity(), *changed}) == 5


def test_errors_name_the_way_out(tmp_path, llama_folder):
    with pytest.raises(EngineError, match=r"backbone\.model_id=FOLDER"):
        settings_of().start(backbone_of(tmp_path / "absent"), max_context_tokens=64)
    for name in ("config.json", "tokenizer.json"):
        (tmp_path / name).write_text("{")
    with pytest.raises(EngineError, match=r"backbone=.*tokenizer"):
        settings_of().start(backbone_of(tmp_path), max_context_tokens=64)
    with pytest.raises(EngineError, match=r"256.*257.*max_context_tokens"):
        settings_of().start(backbone_of(llama_folder), max_context_tokens=257)
    with pytest.raises(ValueError, match="device"):
        settings_of(device="tpu")


def test_memory_that_runs_out_names_the_way_out():
    import torch

    class Full:
        def begin(self, prompts, num_samples):
            raise torch.OutOfMemoryError(
                "CUDA out of memory. Tried to allocate 28.49 GiB. GPU 0 has a total of 79 GiB."
            )

    small = TransformersEngine(
        Full(), None, lambda prompt: (1, 2), lambda text: (1,), identity="full", block_questions=1,
        max_batch_rows=3, max_context_tokens=256,
    )  # fmt: skip
    with pytest.raises(EngineError, match=r"28\.49 GiB.*max_batch_rows") as raised:
        complete(small, [ask(PROMPTS[0], GREEDY)])
    assert raised.value.__context__ is None, "a kept error would keep the tensors of its frames"


def test_a_missing_chat_template_is_refused(llama_folder):
    with pytest.raises(EngineError, match="chat_template=none"):
        settings_of().start(backbone_of(llama_folder, chat_template="own"), max_context_tokens=64)


@pytest.mark.parametrize("folder_name", ["llama_folder", "gpt2_folder"])
def test_scored_texts_have_the_models_own_log_probabilities(folder_name, request):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = request.getfixturevalue(folder_name)
    engine = settings_of(max_batch_rows=2).start(backbone_of(folder), max_context_tokens=256)
    texts = ("it is 4.", "is", "what is 5. is")
    scoring = [replace(ask(p, WARM, 3), scored=texts, score_after=" it") for p in PROMPTS[:2]]
    answers = complete(engine, [*scoring, ask(PROMPTS[0], GREEDY)])
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    for prompt, scored in zip(PROMPTS[:2], answers[:2], strict=True):
        for text, completion in zip(texts, scored, strict=True):
            before, after = (tokenizer(x, add_special_tokens=False)["input_ids"] for x in (" it", text))
            ids = tokenizer(prompt)["input_ids"] + before + after
            log_p = model(torch.tensor([ids])).logits[0].detach().log_softmax(-1)
            start = len(ids) - len(after)
            wanted = sum(float(log_p[i - 1, ids[i]]) for i in range(start, len(ids)))
            assert completion.text == text and completion.log_probability == pytest.approx(wanted, abs=1e-3)
    assert answers[2][0].log_probability is None


@pytest.mark.parametrize("num_threads", [1, 3])
def test_batches_side_by_side_give_the_bits_of_one_after_the_other(llama_folder, num_threads, threads):
    import torch
    from transformers import AutoModelForCausalLM

    model = Llama(AutoModelForCausalLM.from_pretrained(llama_folder).eval())
    endings = Endings([0], str, len(model.head))
    batches = [[Row((2, 3, 4 + i), WARM, 3 * i + j, i, j) for j in range(3)] for i in range(4)]
    with torch.inference_mode():
        in_turn = [decode_rows(model, batch, endings) for batch in batches]
    threads(num_threads)
    assert list(decode_side_by_side(model, batches, endings)) == in_turn


def test_small_batches_run_at_once_on_one_thread_each_and_an_error_ends_all(threads):
    import torch

    both_are_here, seen = Barrier(2, timeout=10), []

    class Meets:
        def begin(self, prompts, num_samples):
            seen.append(torch.get_num_threads())
            both_are_here.wait()
            raise torch.OutOfMemoryError("full")

    threads(2)
    small = TransformersEngine(
        Meets(), None, lambda prompt: (1, 2), lambda text: (1,), identity="small", block_questions=1,
        max_batch_rows=1, max_context_tokens=256, is_small=True,
    )  # fmt: skip
    with pytest.raises(EngineError, match="full"):
        complete(small, [ask(PROMPTS[0], GREEDY, num_samples=2)])
    assert seen == [1, 1] and torch.get_num_threads() == 2


class Slow:
    """One batch fails, or a signal comes, while the other has a minute to go."""

    def __init__(self, at_first):
        self.at_first, self.num_steps, self.is_under_way = at_first, 0, Event()

    def begin(self, prompts, num_samples):
        if prompts[0][0] == 1:
            assert self.is_under_way.wait(60)
            self.at_first()
        return self

    @property
    def logits(self):
        import torch

        return torch.zeros(1, 5)

    def step(self, tokens):
        self.num_steps += 1
        self.is_under_way.set()
        time.sleep(0.01)


def fail():
    raise ValueError("a fault")


@pytest.mark.parametrize(
    ("at_first", "raised"),
    [(fail, ValueError), (lambda: os.kill(os.getpid(), signal.SIGINT), KeyboardInterrupt)],
)
def test_an_error_or_a_signal_ends_the_batch_beside_it_at_its_next_token(
    at_first, raised, threads, heeds_signals
):
    threads(2)
    never = Endings([], lambda ids: "", 5)
    long = sampling_of(temperature=1, top_p=1, max_tokens=6000)
    slow = Slow(at_first)
    with pytest.raises(raised):
        list(decode_side_by_side(slow, [[Row((first, 2), long, 0, 0, 0)] for first in (1, 2)], never))
    assert 0 < slow.num_steps < 3000


@pytest.fixture
def heeds_signals():
    """SIGINT raises KeyboardInterrupt, also where a shell started the tests in its background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def threads():
    """Sets torch's threads; afterwards they are what they were."""
    import torch

    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)
