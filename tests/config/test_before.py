"""Command lines that are refused leave nothing behind, and say in one line what is wrong."""

import pytest

from tests.command_lines import run_lines

ARMS = ["+exp=quickstart", "benchmark=arith_l1"]
QUICK = [*ARMS, "arm=me_icpo"]
SERVER = ["engine=openai", "engine.api_key_env=null", "backbone.model_id=some/model"]
NAMELESS = ["+exp=quickstart", "arm=me_icpo", "benchmark=_file"]
FILE = [*NAMELESS, "benchmark.name=mine"]
REFUSED = [
    ([*QUICK, "run_name=../evil"], "run_name names a folder below output_root"),
    (["+exp=convergence", "run_name=../evil"], "run_name names a folder below output_root"),
    (["+exp=convergence", "run_name="], "run_name names a folder below output_root"),
    ([*QUICK, "benchmark.limit=none"], "limit must be a whole number, got 'none'"),
    ([*QUICK, "benchmark.limit=-1"], "limit"),
    ([*QUICK, "benchmark.start=100000"], "leaves none"),
    ([*QUICK, "benchmark.ids=[nobody]"], "no question 'nobody'"),
    ([*QUICK, "seeds=[]"], "seeds"),
    ([*QUICK, "method.num_rounds=3"], "pass budget.num_rounds=3"),
    ([*ARMS, "method.finals_after=[1]"], "pass arm=me_icpo"),
    ([*QUICK, "backbone.model_id=./nowhere"], "there is no folder"),
    ([*QUICK, "dry_run=perhaps"], "dry_run must be true or false"),
    ([*FILE, "benchmark.kind=number", "benchmark.path=nowhere.csv"], "There is no file"),
    ([*FILE, "benchmark.kind=number", "benchmark.path=good.txt"], "must end in one of"),
    ([*FILE, "benchmark.kind=number", "benchmark.path=columns.csv"], "column"),
    ([*FILE, "benchmark.kind=number", "benchmark.path=words.csv"], "asks for answers of kind number"),
    ([*FILE, "benchmark.kind=numbers", "benchmark.path=good.csv"], "kind"),
    (["+exp=solve", "question_file=good.txt", "reward=oracle"], "needs gold answers"),
    ([*FILE, "benchmark.kind=number"], "path"),
    ([*FILE, "benchmark.path=good.csv"], "No value for benchmark.kind. Pass benchmark.kind="),
    ([*NAMELESS, "benchmark.path=good.csv"], "No value for benchmark.name"),
    (["+exp=solve"], "question='TEXT', or question_file=FILE"),
    (["+exp=solve", r"question=How much is ${1 \over 2}$?"], "pass question_file=FILE"),
    (["+exp=solve", "question_file=nowhere.txt"], "nowhere.txt"),
    (["+exp=solve", "question_file=empty.txt"], "is empty"),
    ([*QUICK, "engine=openai", "backbone=nano"], "api_key_env"),
    ([*ARMS, "arm=base", "+seed=0,1,2"], "'seed': it would change nothing. Did you mean seeds?"),
    ([*ARMS, "arm=base", "++seed=1"], "Did you mean seeds?"),
    ([*QUICK, "hydra.mode=RUN", "~arms", "+seed=1"], "Did you mean seeds?"),
    ([*QUICK, "+device=cuda"], "Nothing reads 'device': it would change nothing. Leave it out."),
    ([*QUICK, "+question=hello"], "Nothing reads 'question'"),
    ([*QUICK, "+rivals=3"], "Nothing reads 'rivals'"),
    ([*QUICK, "+rivals.depth=3"], "Nothing reads 'rivals'"),
    ([*QUICK, "+note=hello"], "Nothing reads 'note'"),
    ([*QUICK, "backbone.dtype=float16,float32"], "engine.dtype=auto. Pass engine.dtype=backbone."),
    ([*QUICK, "backbone.dtype=float32", "engine.dtype=bfloat16"], "engine.dtype=bfloat16. Pass"),
    ([*QUICK, "backbone.tensor_parallel=2"], "engine=transformers uses one device. Pass engine=vllm"),
    ([*QUICK, *SERVER, "backbone.dtype=float16"], "with engine=openai the server decides"),
]  # fmt: skip


@pytest.fixture(scope="module")
def refused(tmp_path_factory):
    """The status and the words of every refusal, and the folder in which all were tried."""
    folder = tmp_path_factory.mktemp("refused")
    (folder / "good.csv").write_text("problem,answer\nHow many?,3\n")
    (folder / "good.txt").write_text("How many?")
    (folder / "columns.csv").write_text("colour,size\nred,3\n")
    (folder / "words.csv").write_text("problem,answer\nHow many?,several\n")
    (folder / "empty.txt").write_text(" \n")
    before = sorted(folder.rglob("*"))
    lines = [(folder, [*arguments, "output_root=there/outputs"]) for arguments, _ in REFUSED]
    return {"folder": folder, "before": before, "done": run_lines(lines, OPENAI_API_KEY="")}


@pytest.mark.parametrize("number", range(len(REFUSED)), ids=lambda n: " ".join(REFUSED[n][0][1:]))
def test_a_refused_command_line_is_one_line_and_status_2(refused, number):
    done = refused["done"][number]
    assert done.returncode == 2 and len(done.lines) == 1, done
    assert done.lines[0].startswith("icpo: ") and REFUSED[number][1] in done.lines[0]


def test_refused_command_lines_write_nothing(refused):
    assert sorted(refused["folder"].rglob("*")) == refused["before"]
    assert not (refused["folder"].parent / "evil").exists()
