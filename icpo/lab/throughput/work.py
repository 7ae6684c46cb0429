"""Work of fixed size: ME-ICPO's requests with chosen lengths."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from icpo.types import (
    AnswerKind,
    AskLookahead,
    Attempt,
    Candidate,
    Completion,
    FinishReason,
    Lookahead,
    Looking,
    Prompt,
    Purpose,
    Question,
    QuestionResult,
    SampleRequest,
    Sampling,
    Selector,
    Solving,
    Votes,
)

SHARED = 0.8  # share of a look-ahead's prompt that all look-aheads of its round have in common
READ = tuple(f"Adding up gives {n}, so the answer is \\boxed{{{n}}}." for n in (204, 25, 104, 204, 70))

LEAST_AGREEING, NUM_OTHERS = 0.3, 8
NOTHING = Candidate(Completion("", 0, 0, FinishReason.STOP), None)

Reading = Callable[[Sequence[str]], object]


@dataclass(frozen=True, slots=True)
class Lengths:
    """Lengths of answers: fixed, or log-normal with `sigma` above 0."""

    name: str
    mean_tokens: int
    sigma: float
    cap_tokens: int

    def draw(self, source: random.Random) -> int:
        """One length, at least 1 and at most the cap."""
        if self.sigma == 0:
            return self.mean_tokens
        stretch = source.lognormvariate(-(self.sigma**2) / 2, self.sigma)
        return min(max(round(self.mean_tokens * stretch), 1), self.cap_tokens)


@dataclass(frozen=True, slots=True)
class Work:
    """One question's numbers of requests, and their sizes in tokens.

    A prompt has `prompt_tokens`, and `history_tokens` more for each round before it. The selector asks for
    look-aheads as it does in a run, and is given invented answers: of an attempt's look-aheads a share,
    uniform between LEAST_AGREEING and 1, agrees; the others give one of NUM_OTHERS.
    """

    selector: Selector
    num_rounds: int
    num_candidates: int
    num_lookaheads: int
    num_finals: int
    prompt_tokens: int
    history_tokens: int
    summary_tokens: int
    temperature: float
    top_p: float

    def solve(self, words: "Words", lengths: Lengths, seed: int, read: Reading) -> Solving:
        """One question's requests, in the stages of Algorithm 1.

        `read` is done to texts in place of answers. Random weights write no answers, so what is read is fixed
        text, as often as there are completions.
        """
        source = random.Random(seed)
        for t in range(self.num_rounds):
            prompt_tokens = self.prompt_tokens + t * self.history_tokens
            candidates = yield self._answers(
                Purpose.CANDIDATE,
                words.text(prompt_tokens, source),
                self.num_candidates,
                lengths,
                source,
            )
            read(_texts(candidates))
            own_tokens = max(round((1 - SHARED) * self.prompt_tokens), 1)
            stem = words.text(prompt_tokens + self.history_tokens - own_tokens, source)
            yield [
                self._request(
                    Purpose.SUMMARY, stem + words.text(own_tokens, source), 1, self.summary_tokens, 0.0
                )
                for _ in range(self.num_candidates)
            ]
            texts = [stem + words.text(own_tokens, source) for _ in range(self.num_candidates)]
            ask = self._look_ahead(texts, lengths, f"{seed}/{t}", read)
            attempts = [Attempt(NOTHING, None, text) for text in texts]
            yield from self.selector.select(attempts, ask, num_lookaheads=self.num_lookaheads, seed=seed)
        finals = yield self._answers(
            Purpose.FINAL,
            words.text(self.prompt_tokens + self.num_rounds * self.history_tokens, source),
            self.num_finals,
            lengths,
            source,
        )
        read(_texts(finals))
        question = Question(str(seed), "", AnswerKind.NUMBER)
        answers = tuple(Candidate(completion, None) for batch in finals for completion in batch)
        return QuestionResult(question, seed, (), ((self.num_rounds, answers),))

    def _look_ahead(self, texts: Sequence[str], lengths: Lengths, scope: str, read: Reading) -> AskLookahead:
        """Look-aheads of prompts; the i-th of a prompt is the same however they are asked for."""
        sizes = [random.Random(f"{scope}/{i}/length") for i in range(len(texts))]
        answers = [random.Random(f"{scope}/{i}/answer") for i in range(len(texts))]
        agreeing = [source.uniform(LEAST_AGREEING, 1) for source in answers]
        counts: dict[int, Counter[str]] = defaultdict(Counter)

        def ask(wanted: Mapping[int, int]) -> Looking:
            looked = yield [
                request
                for i, size in wanted.items()
                for request in self._answers(Purpose.LOOKAHEAD, texts[i], size, lengths, sizes[i])
            ]
            read(_texts(looked))
            for i, size in wanted.items():
                source, share = answers[i], agreeing[i]
                counts[i].update(
                    "0" if source.random() < share else str(source.randint(1, NUM_OTHERS))
                    for _ in range(size)
                )
            return [Lookahead(i, Votes(tuple(counts[i].most_common()), 0)) for i in wanted]

        return ask

    def _answers(
        self, purpose: Purpose, text: str, num_samples: int, lengths: Lengths, source: random.Random
    ) -> list[SampleRequest]:
        """Requests for answers of one prompt: one for all where they are equally long, else one for each."""
        if lengths.sigma == 0:
            return [self._request(purpose, text, num_samples, lengths.mean_tokens, source.random())]
        return [
            self._request(purpose, text, 1, lengths.draw(source), source.random()) for _ in range(num_samples)
        ]

    def _request(
        self, purpose: Purpose, text: str, num_samples: int, num_tokens: int, chance: float
    ) -> SampleRequest:
        """A request of exactly `num_tokens` a sample."""
        temperature = 0.0 if purpose is Purpose.SUMMARY else self.temperature
        sampling = sampling_of(temperature, self.top_p, num_tokens)
        return SampleRequest(purpose, Prompt("", text), sampling, num_samples, int(chance * 2**62))


@dataclass(frozen=True, slots=True)
class Words:
    """Words of one token each, to make texts of known length."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, tokenizer: Any, wanted: int = 500) -> "Words":
        """The first such words of a tokenizer's vocabulary."""

        def single() -> Iterator[str]:
            for token in range(len(tokenizer)):
                word = tokenizer.decode([token]).strip()
                if word.isascii() and word.isalnum() and len(tokenizer(f" {word}")["input_ids"]) == 1:
                    yield word

        found = single()
        return cls(tuple(word for word, _ in zip(found, range(wanted), strict=False)))

    def text(self, num_tokens: int, source: random.Random) -> str:
        """A text of so many tokens, also when texts are joined."""
        return "".join(f" {source.choice(self.words)}" for _ in range(num_tokens))


def _texts(batches: Sequence[Sequence[Completion]]) -> list[str]:
    """One fixed text for each completion that ran to its end."""
    completions = [
        c for batch in batches for c in batch if c.finish_reason is not FinishReason.PROMPT_TOO_LONG
    ]
    return [READ[i % len(READ)] for i in range(len(completions))]


def sampling_of(temperature: float, top_p: float, num_tokens: int) -> Sampling:
    """Samples of exactly `num_tokens` tokens."""
    return Sampling(
        temperature=temperature,
        top_p=top_p,
        max_tokens=num_tokens,
        min_tokens=num_tokens,
        repetition_penalty=1.0,
        stop=(),
        min_room_tokens=1,
        top_k=None,
        min_p=None,
    )
