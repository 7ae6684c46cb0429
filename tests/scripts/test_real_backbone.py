"""A pretrained model from a package: its folder, and one run of ME-ICPO with a report."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
TEXT = "Tom has 12 apples,  and 3 pears.\n\nHow many? \\boxed{15} é"
RUN = (
    "+exp=quickstart backbone=smollm2_135m benchmark=words_l1 benchmark.limit=2 method=me_icpo "
    "budget.num_rounds=1 budget.num_candidates=4 budget.num_lookaheads=2 budget.num_finals=2 "
    "protocol.sampling.candidate.max_tokens=48 protocol.sampling.candidate.min_room_tokens=48 tracking=none"
)


def make(folder):
    return subprocess.run([SCRIPTS / "real_backbone.sh", folder], capture_output=True, text=True)


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    given = os.environ.get("ICPO_REAL_BACKBONE")
    folder = Path(given) if given else tmp_path_factory.mktemp("model") / "smollm2_135m"
    made = make(folder)
    assert made.returncode == 0, made.stderr
    return folder


def test_a_folder_without_a_model_is_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    made = make(tmp_path)
    assert made.returncode == 1 and "holds no config.json" in made.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.slow
def test_the_tokenizer_keeps_spaces_and_splits_numbers_into_digits(model):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    ids = tokenizer(TEXT)["input_ids"]
    assert tokenizer.decode(ids, clean_up_tokenization_spaces=False) == TEXT
    assert [token for token in tokenizer.convert_ids_to_tokens(ids) if token.isdigit()] == list("12315")
    chat = tokenizer.apply_chat_template(
        [{"role": "user", "content": "Hi"}], tokenize=False, add_generation_prompt=True
    )
    assert chat.endswith("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n")


@pytest.mark.slow
def test_the_model_speaks_sense(model):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    network = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    ids = tokenizer("The capital of France is", return_tensors="pt")
    out = network.generate(**ids, max_new_tokens=1, do_sample=False)
    assert tokenizer.decode(out[0, -1]) == " Paris"


@pytest.mark.slow
def test_me_icpo_runs_on_it_to_a_report(model, tmp_path):
    command = [sys.executable, "-m", "icpo.run", *RUN.split(), f"backbone.model_id={model}"]
    run = subprocess.run(
        [*command, f"output_root={tmp_path}", "run_name=real"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    [cell] = tmp_path.glob("real/smollm2_135m-words_l1-*/metrics.json")
    assert '"backbone": "smollm2_135m"' in cell.read_text()
    assert "smollm2_135m" in (tmp_path / "real/report/table.csv").read_text()
