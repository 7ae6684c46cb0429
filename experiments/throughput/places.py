"""What a schedule could reach at most: steps and places are counted, nothing is computed.

    python experiments/throughput/places.py pipelined/fixed/16 pipelined/long_tailed/32 --reading-ms 10

Requests, driver and admission are those of a real run. A step takes `--least-ms` with one sample and
`--full-ms` with all places taken; one in which samples start takes `--reading-ms` more, and one more for each
`--tokens-per-ms` tokens that it reads. The ceiling is steps with all places taken.
"""

import argparse
import heapq
from collections import Counter, deque
from collections.abc import Sequence

from hydra import compose, initialize_config_dir

from icpo.config import build, config_source
from icpo.engines.vllm.admission import Admission
from icpo.lab.throughput.schedules import Schedule, run_schedule
from icpo.lab.throughput.work import SHARED, Lengths, Words, Work
from icpo.types import Completion, FinishReason, Purpose, SampleRequest

BLOCK_TOKENS = 8  # of a prompt that is cached otherwise: what does not fill a block of the cache
CACHE_TOKENS = 1_050_000  # of one H100 beside the weights of a 7B model


class CountedEngine:
    """A continuous engine whose samples end when their number of tokens has passed."""

    identity = "counted"

    def __init__(self, given: argparse.Namespace, prompt_tokens: int, burst: int) -> None:
        self._given, self._prompt_tokens, self._burst = given, prompt_tokens, min(burst, given.places)
        self._admission = Admission(CACHE_TOKENS, given.places)
        self._waiting: deque[tuple[int, SampleRequest]] = deque()
        self._queue: deque[tuple[int, int, int]] = deque()  # ticket, its tokens, prompt tokens to read
        self._running: list[tuple[int, int]] = []  # step of the end, ticket
        self._missing: Counter[int] = Counter()
        self._requests: dict[int, SampleRequest] = {}
        self._read: set[str] = set()
        self._step = self.num_reading_steps = self.num_steps = self.num_tokens = 0
        self.milliseconds = 0.0

    def submit(self, ticket: int, request: SampleRequest) -> None:
        """Queues a request."""
        self._waiting.append((ticket, request))
        self._requests[ticket] = request

    def cancel(self, ticket: int) -> None:
        """Nothing is cancelled here."""
        raise ValueError(f"request {ticket} cannot be cancelled")

    def close(self) -> None:
        """Holds nothing."""

    def finished(self) -> list[tuple[int, list[Completion]]]:
        """Goes from step to step until requests end."""
        while True:
            self._admit()
            num_read = self._start()
            self._step += 1
            self._pass_time(num_read)
            done = []
            while self._running and self._running[0][0] <= self._step:
                _, ticket = heapq.heappop(self._running)
                self._missing[ticket] -= 1
                if not self._missing[ticket]:
                    done.append((ticket, self._end(ticket)))
            if done:
                return done

    def _admit(self) -> None:
        while self._waiting:
            ticket, request = self._waiting[0]
            size, sampling = request.num_samples, request.sampling
            if not self._admission.admits(ticket, request.purpose, self._prompt_tokens, sampling, size):
                return
            self._waiting.popleft()
            self._missing[ticket] = size
            for _ in range(size):
                self._queue.append((ticket, sampling.max_tokens, self._unread(request)))

    def _unread(self, request: SampleRequest) -> int:
        """Tokens of a prompt that no earlier sample has read; look-aheads and summaries share a stem."""
        if request.prompt.user in self._read:
            return BLOCK_TOKENS
        self._read.add(request.prompt.user)
        has_stem = request.purpose in (Purpose.SUMMARY, Purpose.LOOKAHEAD)
        return round(self._prompt_tokens * (1 - SHARED)) if has_stem else self._prompt_tokens

    def _start(self) -> int:
        """Fills places from the queue, if enough are free; how many prompt tokens that reads."""
        free, num_read = self._given.places - len(self._running), 0
        if self._running and free < self._burst:
            return 0
        while self._queue and free and len(self._running) + num_read < self._given.budget_tokens:
            ticket, num_tokens, unread = self._queue.popleft()
            heapq.heappush(self._running, (self._step + num_tokens, ticket))
            self.num_tokens += num_tokens
            num_read, free = num_read + unread, free - 1
        return num_read

    def _pass_time(self, num_read: int) -> None:
        given, share = self._given, len(self._running) / self._given.places
        self.milliseconds += given.least_ms + share * (given.full_ms - given.least_ms)
        self.num_steps += 1
        if num_read:
            self.num_reading_steps += 1
            self.milliseconds += given.reading_ms + num_read / given.tokens_per_ms

    def _end(self, ticket: int) -> list[Completion]:
        request = self._requests.pop(ticket)
        num_tokens = request.sampling.max_tokens
        for _ in range(request.num_samples):
            self._admission.learn(request.purpose, num_tokens)
        self._admission.release(ticket)
        return [Completion("", self._prompt_tokens, num_tokens, FinishReason.LENGTH)] * request.num_samples


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line; times are those of one H100."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("measurements", nargs="+", help="SCHEDULE/LENGTHS/QUESTIONS")
    parser.add_argument("--rounds", nargs="+", type=int, default=[2])
    parser.add_argument("--selector", nargs="+", default=["entropy"], help="names of conf/selector")
    parser.add_argument("--burst", nargs="+", type=int, default=[1, 16])
    parser.add_argument("--places", type=int, default=512)
    parser.add_argument("--budget-tokens", type=int, default=8192)
    parser.add_argument("--least-ms", type=float, default=7.5)
    parser.add_argument("--full-ms", type=float, default=22.9)
    parser.add_argument("--reading-ms", type=float, default=0.0)
    parser.add_argument("--tokens-per-ms", type=float, default=46.0)
    return parser.parse_args(argv)


def main() -> None:
    """One line a combination."""
    given = arguments()
    for text in given.measurements:
        for num_rounds in given.rounds:
            for selector in given.selector:
                for burst in given.burst:
                    print(line(text, num_rounds, selector, burst, given), flush=True)


def work_of(num_rounds: int, selector: str) -> tuple[Work, dict[str, Lengths]]:
    """The work of +exp=throughput and the lengths of its answers, by name."""
    with initialize_config_dir(config_source(), version_base="1.3"):
        overrides = ["+exp=throughput", f"selector={selector}", f"job.work.num_rounds={num_rounds}"]
        job = compose("config", overrides=overrides).job
    return build(job.work), {lengths.name: lengths for lengths in build(job.lengths)}


def line(text: str, num_rounds: int, selector: str, burst: int, given: argparse.Namespace) -> str:
    """What one combination came to."""
    schedule, lengths, num_questions = text.split("/")
    work, known = work_of(num_rounds, selector)
    words = Words(tuple(map(str, range(500))))
    engine = CountedEngine(given, work.prompt_tokens, burst)
    solvings = [work.solve(words, known[lengths], seed, lambda _: None) for seed in range(int(num_questions))]
    run_schedule(Schedule(schedule), solvings, engine, 64)
    filled = engine.num_tokens / given.places
    return (
        f"{text} n={num_rounds} {selector} burst={burst}: "
        f"{engine.num_steps} steps, {engine.num_reading_steps} reading; "
        f"places filled {filled / engine.num_steps:.1%}, ceiling reached "
        f"{filled * given.full_ms / engine.milliseconds:.1%}, "
        f"{engine.milliseconds / 1000 / int(num_questions):.2f} s/question"
    )


if __name__ == "__main__":
    main()
