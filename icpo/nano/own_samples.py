"""The model's own samples on training problems: the pools of the second stage of training."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from icpo.arithmetic import LEVELS, Chain, Operation, Problem, Rules, Split, Step, draw_problem
from icpo.arithmetic.stories import TRAIN_WORLDS
from icpo.nano.examples import PromptSet, Source, as_question
from icpo.nano.sampling import Sampler
from icpo.nano.workings import Working, read_working
from icpo.seeding import derive_seed

MIN_POOL_SIZE = 4


@dataclass(frozen=True, slots=True)
class OwnPools:
    """Training problems, each with workings that the model itself sampled."""

    pools: tuple[tuple[Problem, tuple[Working, ...]], ...]

    def draw(self, rng: Random) -> Source:
        """One problem; attempts at it are drawn from its pool with replacement."""
        problem, workings = rng.choice(self.pools)
        return Source(problem, lambda: rng.choice(workings))

    def write(self, path: Path) -> None:
        """One JSON line a problem."""
        rows = (
            json.dumps(
                [
                    problem.text,
                    problem.chain.start,
                    [[s.operation.value, s.operand] for s in problem.steps],
                    [w.text for w in workings],
                ]
            )
            for problem, workings in self.pools
        )
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "OwnPools":
        """What `write` wrote."""
        pools = []
        for row in path.read_text(encoding="utf-8").splitlines():
            text, start, steps, texts = json.loads(row)
            chain = Chain(start, tuple(Step(Operation(sign), operand) for sign, operand in steps))
            workings = tuple(w for w in map(read_working, texts) if w)
            pools.append((Problem(f"{chain.digest:016x}", text, chain), workings))
        return cls(tuple(pools))


def sample_pools(
    sampler: Sampler, prompts: PromptSet, rules: Rules, num_problems: int, pool_size: int, seed: int
) -> OwnPools:
    """Samples direct attempts at fresh training problems; a problem with fewer than four readable ones is left out."""
    rng = Random(derive_seed(seed, "own problems"))
    problems = [
        draw_problem(rng, 1 + i % len(LEVELS), Split.TRAIN, rules, TRAIN_WORLDS) for i in range(num_problems)
    ]
    asked = [rng.choice((prompts.tagged, prompts.untagged)).solve(as_question(p), ()).raw for p in problems]
    texts = sampler.sample(asked, pool_size, seed=derive_seed(seed, "own samples"))
    pools = tuple((p, _readable(t)) for p, t in zip(problems, texts, strict=True))
    return OwnPools(tuple((p, w) for p, w in pools if len(w) >= MIN_POOL_SIZE))


def _readable(texts: Sequence[str]) -> tuple[Working, ...]:
    return tuple(w for w in map(read_working, texts) if w)
