"""What a cell makes of its server and of its weights: blocked questions, addresses, other weights."""

from dataclasses import dataclass

import pytest

from icpo.backbones import Backbone
from icpo.errors import EngineError, OtherResults
from icpo.evaluation.engine_pool import require_weights
from icpo.store import CellRecords, read_manifest, read_metrics
from icpo.types import Completion, FinishReason
from tests.end_to_end.fakes import Continuous, questions_file, reply, run
from tests.engines.conftest import backbone_of, settings_of


@dataclass(slots=True)
class Filtering(Continuous):
    """Refuses whatever speaks of 2 apples."""

    addresses: tuple = ("one/v1",)

    def answer(self, request):
        if "2 apples" not in request.prompt.user:
            return reply(request)
        return [Completion("", 0, 0, FinishReason.CONTENT_FILTER)] * request.num_samples


def test_a_question_refused_by_a_filter_is_counted(tmp_path):
    cell, _ = run(
        tmp_path, questions_file(tmp_path), "method=direct", "max_failed_share=0.5", engine=Filtering()
    )
    metrics = read_metrics(cell)
    assert (metrics["num_blocked"], metrics["num_questions"]) == (1, 3)


def test_a_cell_in_which_too_many_are_refused_fails_and_goes_on_when_more_may_be(tmp_path):
    source = questions_file(tmp_path)
    with pytest.raises(EngineError, match=r"1 of 3.*max_failed_share=0\.1"):
        run(tmp_path, source, "method=direct", engine=Filtering())
    run(tmp_path, source, "method=direct", "max_failed_share=0.4", engine=Filtering())


@dataclass(slots=True)
class Narrow(Continuous):
    """Has no room for prompts, but for one of those that speak of apples where `but` names it."""

    but: str = "none"

    def answer(self, request):
        if self.but in request.prompt.user:
            return reply(request)
        return [Completion("", 900, 0, FinishReason.PROMPT_TOO_LONG)] * request.num_samples


def test_a_cell_in_which_no_prompt_fits_fails_and_stays_failed(tmp_path):
    source = questions_file(tmp_path)
    for _ in range(2):
        with pytest.raises(EngineError, match="max_context_tokens"):
            run(tmp_path, source, "method=direct", engine=Narrow())


def test_a_cell_in_which_some_prompts_do_not_fit_is_done(tmp_path):
    cell, _ = run(tmp_path, questions_file(tmp_path), "method=direct", engine=Narrow(but="2 apples"))
    metrics = read_metrics(cell)
    assert metrics["num_questions"] == 3
    assert metrics["num_truncated"] == metrics["num_answers"] * 2 / 3


def test_the_addresses_of_a_server_are_in_the_manifest_and_may_change(tmp_path):
    source = questions_file(tmp_path)
    more = ("method=direct", "max_failed_share=1.0")
    with pytest.raises(EngineError):
        run(tmp_path, source, "method=direct", "max_failed_share=0.0", engine=Filtering())
    cell, _ = run(tmp_path, source, *more, engine=Filtering(addresses=("two/v1", "three/v1")))
    assert {"served at one/v1", "served at two/v1", "served at three/v1"} <= read_manifest(cell)[
        "resolved"
    ].keys()


def test_a_finished_cell_knows_its_weights(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (folder / name).write_text("{}")

    def look(cell: str, backbone: Backbone, engine) -> None:
        with CellRecords(tmp_path / cell, config={}, config_digest="d") as records:
            require_weights(records, engine, backbone)

    look("run/cell", backbone_of(folder), settings_of())
    look("run/cell", backbone_of(folder), settings_of())
    with CellRecords(tmp_path / "run/older", config={}, config_digest="d") as records:
        records.resolve({"engine_identity": f"transformers llama sha256:{'0' * 64} context=256"})
    with pytest.raises(OtherResults, match="other weights"):
        look("run/older", backbone_of(folder), settings_of())
    (folder / "model.safetensors").write_text("others")
    with pytest.raises(OtherResults, match="holds results with weights"):
        look("run/cell", backbone_of(folder), settings_of())
    look("run/cell", backbone_of(folder), engine=None)
