"""The transformers engine: whole batches on a CPU or GPU."""

import importlib.util
import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import PositiveInt

from icpo.engines.sources import Source, locate
from icpo.engines.tokenizers import end_tokens, load_tokenizer, tokenize, tokenize_text
from icpo.errors import EngineError
from icpo.types import Batches, Completion, FinishReason, Prompt, SampleRequest, validated

if TYPE_CHECKING:
    from icpo.backbones import Backbone
    from icpo.engines.local.decoding import Model
    from icpo.engines.local.endings import Ended, Endings, Row
    from icpo.engines.local.prefixes import Tokens
    from icpo.engines.local.scoring import ScoredRow

log = logging.getLogger(__name__)

# nano has 2.6 million. One batch of a larger model has work for all cores, and several need too much memory.
SMALL_MODEL_PARAMETERS = 2**23
# To be raised when the forward pass rounds differently: the samples of a cell come from one version of it.
FORWARD = 2


@validated
class Transformers:
    """Settings of the transformers engine.

    `device` auto takes a GPU if there is one. `dtype` auto takes bfloat16 where it is fast in hardware,
    float32 elsewhere; `backbone` takes what the backbone names. A stage of `block_questions` questions is one
    batch, sampled at most `max_batch_rows` samples at a time.
    """

    name: str
    device: Literal["auto", "cpu", "cuda"]
    dtype: Literal["auto", "backbone", "float32", "bfloat16"]
    block_questions: PositiveInt
    max_batch_rows: PositiveInt
    loads_weights: ClassVar[bool] = True
    """A backbone's folder is read: a cell then belongs to its contents."""

    def preflight(self) -> None:
        """Raises EngineError if what the engine needs is missing."""
        missing = [p for p in ("torch", "transformers") if importlib.util.find_spec(p) is None]
        if missing:
            raise EngineError(
                f"engine={self.name} needs {' and '.join(missing)}. Install with pip install icpo, "
                "or choose engine=openai."
            )

    def start(self, backbone: "Backbone", *, max_context_tokens: int) -> "TransformersEngine":
        """Loads the backbone; prompt and completion together have at most `max_context_tokens`."""
        self.preflight()
        source = locate(backbone)
        tokenizer = load_tokenizer(source, backbone)
        model, endings, described, is_small = _load(self, backbone, source, tokenizer, max_context_tokens)
        identity = (
            f"transformers {described} {source.revision} context={max_context_tokens} "
            f"template={backbone.chat_template.value}{dict(backbone.template_options) or ''}"
            f"{backbone.without_system_role} "
            f"block={self.block_questions} rows={self.max_batch_rows}"
        )
        log.info("engine started: %s", identity)
        return TransformersEngine(
            model,
            endings,
            partial(tokenize, tokenizer, backbone),
            partial(tokenize_text, tokenizer),
            identity=identity,
            block_questions=self.block_questions,
            max_batch_rows=self.max_batch_rows,
            max_context_tokens=max_context_tokens,
            is_small=is_small,
        )


class TransformersEngine:
    """Completes in batches; a completion depends on its batch alone."""

    can_score = True

    def __init__(
        self,
        model: "Model",
        endings: "Endings",
        encode: "Callable[[Prompt], Tokens]",
        encode_text: "Callable[[str], Tokens]",
        *,
        identity: str,
        block_questions: int,
        max_batch_rows: int,
        max_context_tokens: int,
        is_small: bool = False,
    ) -> None:
        """`encode` makes a prompt the model's tokens, `encode_text` what is scored after it.

        Batches of a model that `is_small` are decoded side by side, each by one thread.
        """
        self.identity, self.block_questions = identity, block_questions
        self._model, self._endings = model, endings
        self._encode, self._encode_text = encode, encode_text
        self._max_batch_rows, self._max_context_tokens = max_batch_rows, max_context_tokens
        self._is_small = is_small
        self._waiting: dict[int, SampleRequest] = {}

    def submit(self, ticket: int, request: SampleRequest) -> None:
        """Queues a request for the next batch."""
        self._waiting[ticket] = request

    def cancel(self, ticket: int) -> None:
        """Drops a request from the next batch."""
        self._waiting.pop(ticket, None)

    def finished(self) -> list[tuple[int, list[Completion]]]:
        """All that is queued, completed as one batch.

        A prompt that leaves less than `min_room_tokens` gets `prompt_too_long` and no text. Raises
        EngineError if nothing is queued or the GPU's memory runs out.
        """
        if not self._waiting:
            raise EngineError("The engine was asked for completions, but nothing is in flight.")
        batches = self._batch(list(self._waiting.values()))
        tickets, self._waiting = list(self._waiting), {}
        return list(zip(tickets, batches, strict=True))

    def close(self) -> None:
        """Drops the weights."""
        import torch

        del self._model
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _batch(self, requests: Sequence[SampleRequest]) -> Batches:
        """The completions of each request, in order."""
        import torch

        from icpo.engines.local.scoring import score_rows

        prompts = [self._encode(request.prompt) for request in requests]
        rows = [row for i, request in enumerate(requests) for row in self._rows(i, request, prompts[i])]
        scored = [row for i, request in enumerate(requests) for row in self._texts(i, request, prompts[i])]
        scored.sort(key=lambda row: (row.before, row.request, row.index))
        refused = FinishReason.PROMPT_TOO_LONG
        answers: Batches = [
            [Completion("", len(prompt), 0, refused)] * request.num_samples
            for request, prompt in zip(requests, prompts, strict=True)
        ]
        try:
            with torch.inference_mode():
                row_batches = list(batches(rows, self._max_batch_rows))
                for batch, ends in zip(row_batches, self._decode(row_batches), strict=True):
                    for row, ended in zip(batch, ends, strict=True):
                        answers[row.request][row.index] = Completion(
                            ended.text, len(row.prompt), ended.num_tokens, ended.finish_reason
                        )
                for start in range(0, len(scored), self._max_batch_rows):
                    texts = scored[start : start + self._max_batch_rows]
                    for one, log_p in zip(texts, score_rows(self._model, texts), strict=True):
                        text = requests[one.request].scored[one.index]
                        answers[one.request][one.index] = Completion(
                            text, len(one.before), 0, FinishReason.STOP, log_probability=log_p
                        )
        except torch.OutOfMemoryError as error:
            wanted = str(error).removeprefix("CUDA out of memory. ").split(". ")[0]
        else:
            return answers
        # Raised here, the error does not keep what was on the GPU from the cells that follow.
        raise EngineError(
            f"The GPU's memory ran out ({wanted}). With fewer processes on the card the same command goes on "
            f"from here; else lower engine.max_batch_rows (now {self._max_batch_rows}) or "
            f"engine.block_questions (now {self.block_questions}), and choose another run_name."
        )

    def _decode(self, row_batches: "Sequence[Sequence[Row]]") -> "Iterator[list[Ended]]":
        """Each batch decoded, in order."""
        from icpo.engines.local.decoding import decode_rows, decode_side_by_side

        if self._is_small:
            return decode_side_by_side(self._model, row_batches, self._endings)
        return (decode_rows(self._model, batch, self._endings) for batch in row_batches)

    def _rows(self, index: int, request: SampleRequest, prompt: tuple[int, ...]) -> "list[Row]":
        """One row per sample; none if the prompt leaves too little room."""
        from icpo.engines.local.endings import Row

        sampling = request.sampling
        room = self._max_context_tokens - len(prompt)
        if request.scored or room < sampling.min_room_tokens:
            return []
        sampling = sampling.limited(room)
        return [Row(prompt, sampling, request.seed + i, index, i) for i in range(request.num_samples)]

    def _texts(self, index: int, request: SampleRequest, prompt: tuple[int, ...]) -> "list[ScoredRow]":
        """One row per text to score, tokenised apart from what precedes; none if one does not fit."""
        from icpo.engines.local.scoring import ScoredRow

        before = prompt + self._encode_text(request.score_after)
        texts = list(map(self._encode_text, request.scored))
        if any(len(before) + len(text) > self._max_context_tokens for text in texts):
            return []
        return [ScoredRow(before, text, index, i) for i, text in enumerate(texts)]


def batches(rows: "Sequence[Row]", max_rows: int) -> "Iterator[list[Row]]":
    """Splits rows into batches by length limit and shared prefix."""
    ordered = sorted(rows, key=lambda row: (row.sampling.max_tokens, row.prompt, row.request, row.index))
    for start in range(0, len(ordered), max_rows):
        yield sorted(ordered[start : start + max_rows], key=lambda row: (row.prompt, row.request, row.index))


def _load(
    settings: Transformers, backbone: "Backbone", source: Source, tokenizer: Any, max_context_tokens: int
) -> "tuple[Any, Endings, str, bool]":
    """The model, what ends its completions, a description, and whether it is a small one on a CPU."""
    import torch
    import transformers

    from icpo.engines.local.any_model import AnyModel
    from icpo.engines.local.endings import Endings
    from icpo.engines.local.llama import Llama, is_supported

    device = settings.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise EngineError("engine.device=cuda, but torch sees no GPU here. Set engine.device=cpu or auto.")
    dtype = backbone.dtype if settings.dtype == "backbone" else settings.dtype
    if dtype == "auto":
        dtype = "bfloat16" if device == "cuda" or torch.cpu._is_avx512_bf16_supported() else "float32"
    try:
        model = transformers.AutoModelForCausalLM.from_pretrained(source.folder, dtype=getattr(torch, dtype))
    except (OSError, ValueError) as error:
        raise EngineError(
            f"backbone={backbone.name}: transformers {transformers.__version__} cannot load {source.folder}: "
            f"{error}"
        ) from error
    made_for = getattr(model.config, "max_position_embeddings", None)
    if made_for is not None and made_for < max_context_tokens:
        raise EngineError(
            f"backbone={backbone.name} was made for {made_for} tokens, not {max_context_tokens}. "
            "Lower backbone.max_context_tokens or protocol.max_context_tokens."
        )
    model = model.eval().to(device)
    end_ids = end_tokens(tokenizer, backbone, model.generation_config.eos_token_id)
    decode = partial(tokenizer.decode, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    endings = Endings(end_ids, decode, model.config.vocab_size)
    if is_supported(model.config):
        is_small = device == "cpu" and model.num_parameters() < SMALL_MODEL_PARAMETERS
        return Llama(model), endings, f"llama forward={FORWARD} {device} {dtype}", is_small
    log.warning("%s: no fast forward for model_type=%s", backbone.name, model.config.model_type)
    return AnyModel(model), endings, f"transformers-{transformers.__version__} {device} {dtype}", False
