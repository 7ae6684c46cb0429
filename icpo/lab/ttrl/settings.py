"""Settings of TTRL: GRPO, reward by vote, and cost."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from random import Random
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveFloat, PositiveInt

from icpo.errors import ConfigError
from icpo.methods.contracts import rewarded
from icpo.seeding import derive_seed
from icpo.types import Completion, FinishReason, Question, RewardSource, Toolkit, validated

Curve = list[dict[str, float]]
"""What was logged at each step of a training: `step` and its values."""


@validated
class Grpo:
    """GRPO by trl, step by step.

    A step samples `num_votes` completions of each of `questions_per_step` questions. The optimiser makes
    `updates_per_step` updates on a step's completions, each on an equal share of them in random order;
    `sequences_per_pass` go through the model at once. `device` is cpu or cuda; `weights_dtype` is what the
    weights are trained in. `use_vllm` samples by vLLM in the same process, with `vllm_memory_share` of the
    GPU. `optimizer` and `schedule` are transformers' names.
    """

    num_steps: PositiveInt
    questions_per_step: PositiveInt
    num_votes: Annotated[int, Field(ge=2)]
    updates_per_step: PositiveInt
    learning_rate: PositiveFloat
    schedule: str
    warmup_steps: int
    optimizer: str
    temperature: float
    top_p: float
    max_tokens: PositiveInt
    kl_weight: float
    sequences_per_pass: PositiveInt
    save_every_steps: PositiveInt
    device: Literal["cpu", "cuda"]
    weights_dtype: str
    gradient_checkpointing: bool
    use_vllm: bool
    vllm_memory_share: float

    def __post_init__(self) -> None:
        if self.sequences_per_step % (self.sequences_per_pass * self.updates_per_step):
            raise ValueError(
                f"sequences_per_pass={self.sequences_per_pass} times "
                f"updates_per_step={self.updates_per_step} must divide questions_per_step x num_votes = "
                f"{self.sequences_per_step}"
            )
        if self.use_vllm and self.device == "cpu":
            raise ValueError("use_vllm=true needs device=cuda; use_vllm=false generates by transformers")

    @property
    def sequences_per_step(self) -> int:
        """Completions sampled a step."""
        return self.questions_per_step * self.num_votes


def training_order(question_ids: Sequence[str], grpo: Grpo, seed: int) -> list[str]:
    """The questions of all steps in a row.

    `questions_per_step` different ones a step. Each pass takes the questions in an order of its own and
    leaves out the few that fill no step. Raises ConfigError where there are fewer questions than a step
    takes.
    """
    if len(question_ids) < grpo.questions_per_step:
        raise ConfigError(
            f"A step trains on questions_per_step={grpo.questions_per_step} questions, but there are "
            f"{len(question_ids)}. Set job.grpo.questions_per_step to at most that."
        )
    rng = Random(derive_seed(seed, "order"))
    num_a_pass = len(question_ids) - len(question_ids) % grpo.questions_per_step
    order: list[str] = []
    while len(order) < grpo.num_steps * grpo.questions_per_step:
        order += rng.sample(question_ids, num_a_pass)
    return order[: grpo.num_steps * grpo.questions_per_step]


@dataclass(frozen=True, slots=True)
class VoteReward:
    """Rewards completions by the vote on their question."""

    reward: RewardSource
    tools: Toolkit
    questions: Sequence[Question]
    seed: int

    def __call__(self, texts: Sequence[str], question_ids: Sequence[str], step: int) -> list[float]:
        """1.0 for a completion whose answer is its question's majority, else 0.0; `step` breaks ties."""
        known = {question.question_id: question for question in self.questions}
        places = defaultdict(list)
        for i, question_id in enumerate(question_ids):
            places[question_id].append(i)
        rewards = [0.0] * len(texts)
        for question_id, members in places.items():
            question = known[question_id]
            sampled = [Completion(texts[i], 0, 0, FinishReason.STOP) for i in members]
            candidates = self.tools.candidates(sampled, question.kind)
            votes = self.tools.votes(candidates, question.kind)
            seed = derive_seed(self.seed, "vote", question_id, step)
            tags = rewarded(self.reward, question, candidates, votes, seed=seed).tags
            for i, tag in zip(members, tags, strict=True):
                rewards[i] = float(tag or 0)
        return rewards


@dataclass(frozen=True, slots=True)
class TrainingCost:
    """The cost of training; a prompt counts per question and step.

    `processed_tokens` went through the model forward and backward: each completion with its own prompt.
    """

    num_steps: int
    num_requests: int
    num_sequences: int
    generated_tokens: int
    prompt_tokens: int
    processed_tokens: int
    seconds: float

    @classmethod
    def of(cls, curve: Sequence[Mapping[str, float]], grpo: Grpo) -> "TrainingCost":
        """The cost of a curve, from its `generated_tokens`, `processed_tokens` and `seconds`."""
        generated = round(sum(line["generated_tokens"] for line in curve))
        processed = round(sum(line["processed_tokens"] for line in curve))
        return cls(
            num_steps=len(curve),
            num_requests=len(curve) * grpo.questions_per_step,
            num_sequences=len(curve) * grpo.sequences_per_step,
            generated_tokens=generated,
            prompt_tokens=(processed - generated) // grpo.num_votes,
            processed_tokens=processed,
            seconds=sum(line["seconds"] for line in curve),
        )

    def to_json(self) -> dict[str, Any]:
        """As metrics.json holds it."""
        return asdict(self)
