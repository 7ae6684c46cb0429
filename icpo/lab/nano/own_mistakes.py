"""The model's own mistakes, read from its samples and carried over to fresh problems.

Its samples on the same few thousand problems again and again would be learned by heart. So what is kept is
how single steps went wrong (by how much, how often); later in training this happens to new problems.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from icpo.benchmarks.arithmetic import LEVELS, Problem, Rules, Split, Step, draw_problem
from icpo.benchmarks.arithmetic.stories import TRAIN_WORLDS
from icpo.lab.nano.examples import PromptSet, as_question
from icpo.lab.nano.mistakes import Outcomes, careful_result, step_class
from icpo.lab.nano.sampling import Sampler
from icpo.lab.nano.solutions import Solution, read_solution
from icpo.seeding import derive_seed

MIN_STEP_SAMPLES = 8
Offsets = tuple[tuple[int, ...], tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class OwnMistakes:
    """By class of steps, what came out of single steps: offsets from the right result, and their shares."""

    misreading_rate: float
    offsets: Mapping[str, Sequence[Offsets]]

    def outcomes(self, rng: Random, value: int, step: Step) -> Outcomes:
        """The outcomes of one sampled step of this class and as many digits, moved to this result."""
        right = careful_result(value, step)
        key = _key(step, right)
        known = self.offsets.get(key) or self.offsets[step_class(step)]
        offsets, shares = rng.choice(known)
        return [right, *(abs(right + offset) for offset in offsets[1:])], list(shares)

    def write(self, path: Path) -> None:
        """As JSON."""
        text = json.dumps({"misreading_rate": self.misreading_rate, "offsets": self.offsets})
        path.write_text(text + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "OwnMistakes":
        """What `write` wrote."""
        saved = json.loads(path.read_text(encoding="utf-8"))
        offsets = {key: [(tuple(o), tuple(s)) for o, s in rows] for key, rows in saved["offsets"].items()}
        return cls(saved["misreading_rate"], offsets)

    @classmethod
    def of(cls, pools: Iterable[tuple[Problem, Sequence[Solution]]]) -> "OwnMistakes":
        """What pools of samples show; a step counts where eight samples or more took it from one value."""
        offsets: dict[str, list[Offsets]] = defaultdict(list)
        num_misread = num_solutions = 0
        for problem, solutions in pools:
            results: dict[tuple[int, Step], list[int]] = defaultdict(list)
            for solution in solutions:
                taken = tuple(Step(line.operation, line.operand) for line in solution.lines)
                num_misread += taken != problem.steps
                num_solutions += 1
                for line, step in zip(solution.lines, taken, strict=True):
                    if line.operand:
                        results[line.before, step].append(line.after)
            for (value, step), afters in results.items():
                if len(afters) >= MIN_STEP_SAMPLES:
                    right = careful_result(value, step)
                    found = _offsets(right, afters)
                    offsets[_key(step, right)].append(found)
                    offsets[step_class(step)].append(found)
        return cls(num_misread / max(1, num_solutions), dict(offsets))


def _key(step: Step, right: int) -> str:
    return f"{step_class(step)}/{len(str(right))}"


def _offsets(right: int, afters: Sequence[int]) -> Offsets:
    counts = Counter(after - right for after in afters)
    num_right = counts.pop(0, 0)
    rows = [(0, num_right), *counts.most_common()]
    return tuple(o for o, _ in rows), tuple(n / len(afters) for _, n in rows)


def sample_pools(
    sampler: Sampler, prompts: PromptSet, rules: Rules, num_problems: int, pool_size: int, seed: int
) -> list[tuple[Problem, tuple[Solution, ...]]]:
    """The readable ones among `pool_size` direct attempts at each of so many fresh training problems."""
    rng = Random(derive_seed(seed, "own problems"))
    problems = [
        draw_problem(rng, 1 + i % len(LEVELS), Split.TRAIN, rules, TRAIN_WORLDS) for i in range(num_problems)
    ]
    asked = [rng.choice((prompts.tagged, prompts.untagged)).solve(as_question(p), ()).raw for p in problems]
    texts = sampler.sample(asked, pool_size, seed=derive_seed(seed, "own samples"))
    return [
        (p, tuple(w for w in map(read_solution, row) if w)) for p, row in zip(problems, texts, strict=True)
    ]
