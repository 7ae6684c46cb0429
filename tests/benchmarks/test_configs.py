"""Every file of conf/benchmark builds, with the counts that the benchmarks are known by."""

import pytest
from hydra.utils import instantiate

from icpo.config import build as build_checked
from icpo.config import choices
from icpo.errors import BenchmarkError, ConfigError
from tests.composing import composed
from tests.public_files import FILES, needs_files

NAMES = sorted(choices()["benchmark"])
MATH_LEVELS = {"math_l1": 43, "math_l2": 90, "math_l3": 105, "math_l4": 128, "math_l5": 134}
COUNTS = {
    "aime2024": 30,
    "amc": 83,
    "math500": 500,
    "hmmt": 30,
    "gsm8k": 1319,
    "aime2025": 30,
    "brumo2025": 30,
    "cmimc2025": 40,
    "apex": 49,
    "gpqa": 198,
    **MATH_LEVELS,
}
WORDS = {"words_l1": 200, "words_l2": 200, "words_l3": 200}


def node(*overrides):
    return composed("+exp=quickstart", "+question_file=-", "benchmark.limit=null", *overrides).benchmark


def build(*overrides):
    return instantiate(node(*overrides), _convert_="all")


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_builds_under_its_own_name(name):
    benchmark = build(f"benchmark={name}")
    assert benchmark.name == name or (name == "questions_file" and benchmark.name.startswith("question_"))
    assert benchmark.expected_count == (COUNTS | WORDS).get(name, 1 if name == "questions_file" else 300)
    assert benchmark.path is None and benchmark.limit is None


def test_math_levels_add_up_to_math500():
    assert sum(MATH_LEVELS.values()) == COUNTS["math500"]
    assert [build(f"benchmark={name}").level for name in MATH_LEVELS] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("arith")])
def test_arithmetic_loads_as_many_as_it_claims(name):
    loaded = build(f"benchmark={name}").load()
    assert len(loaded.questions) == len(loaded.golds) == 300
    assert loaded.digest == build(f"benchmark={name}").digest


@pytest.mark.parametrize("name", WORDS)
def test_everyday_word_problems_are_the_same_everywhere(name):
    loaded = build(f"benchmark={name}").load()
    assert len(loaded.questions) == len(loaded.golds) == 200
    assert loaded.digest == build(f"benchmark={name}").digest


OWN = ("benchmark=_file", "benchmark.name=own", "benchmark.kind=number")


def test_an_own_file_needs_a_name_a_kind_and_a_path(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("id,question,answer\na,What is 2+2?,4\nb,What is 3+3?,6\n")
    own = build(*OWN, f"benchmark.path={path}")
    assert own.load().golds == {"a": "4", "b": "6"} and own.name == "own"
    path.write_text("id,mine,answer\na,What is 2+2?,4\n")
    own = build(*OWN, f"benchmark.path={path}", "benchmark.source.columns.text=mine")
    assert [question.text for question in own.load().questions] == ["What is 2+2?"]
    with pytest.raises(ConfigError, match="path"):
        build_checked(node(*OWN))


def test_an_own_yaml_file_says_no_more_than_that_and_the_columns_that_differ(tmp_path):
    (tmp_path / "conf/benchmark").mkdir(parents=True)
    (tmp_path / "own.jsonl").write_text('{"frage": "2+2?", "answer": "A", "falsch": "5"}')
    (tmp_path / "conf/benchmark/mine.yaml").write_text(
        "defaults: [_file, _self_]\nname: mine\nkind: choice\n"
        f"path: {tmp_path}/own.jsonl\nsource: {{columns: {{text: frage, wrong_answers: [falsch]}}}}\n"
    )
    loaded = build("benchmark=mine", f"hydra.searchpath=[file://{tmp_path}/conf]").load()
    assert loaded.questions[0].question_id == "mine/0" and "2+2?" in loaded.questions[0].text
    assert set(loaded.golds.values()) < {"A", "B"}


@needs_files
@pytest.mark.parametrize(
    ("name", "file"),
    [("aime2024", "aime2024"), ("amc", "amc"), ("math500", "math500"), ("gpqa", "gpqa_diamond")]
    + [(name, "math500") for name in MATH_LEVELS],
)
def test_files_of_public_questions_pass_as_they_are(name, file):
    path = FILES / f"{file}.jsonl"
    assert len(build(f"benchmark={name}", f"benchmark.path={path}").load().golds) == COUNTS[name]
    limited = build(f"benchmark={name}", f"benchmark.path={path}", "benchmark.limit=2").load()
    assert len(limited.questions) == 2


@needs_files
def test_the_wrong_file_is_noticed():
    with pytest.raises(BenchmarkError, match=r"aime2024 .*30 .*83"):
        build("benchmark=aime2024", f"benchmark.path={FILES / 'amc.jsonl'}").load()
