"""Every preset composes and builds, every cell has its own folder, every mistake has one clear line."""

import re
from pathlib import Path

import pytest
import yaml
from hydra.errors import MissingConfigException
from omegaconf import OmegaConf

from icpo.config import (
    build,
    check_arguments,
    check_config,
    choices,
    config_digest,
    config_source,
    one_line,
    presets,
    resolved,
)
from icpo.errors import ConfigError
from icpo.grading import GradingRules
from tests.arms import arms_in, of_arm, planned
from tests.composing import composed, composed_with_hydra, drop_hydra

CONF = Path(config_source())
REQUIRED = {"solve": ["question_file=-"]}


def without_repeats(cells):
    """The cells that have a benchmark, or all their other choices, that none before them has."""
    seen = set()
    for cell in cells:
        benchmark = {one for one in cell.overrides if one.startswith("benchmark=")}
        parts = {frozenset(benchmark), frozenset({*cell.overrides} - benchmark)}
        if not parts <= seen:
            yield cell
        seen |= parts


@pytest.mark.parametrize("preset", presets())
def test_the_cells_of_a_preset_compose_build_and_have_their_own_folders(preset):
    """Each arm and each benchmark; that no two of all cells share a folder is checked by each sweep."""
    folders = set()
    cells = list(without_repeats(planned(preset, *REQUIRED.get(preset, []))))
    for cell in cells:
        config = composed_with_hydra(*cell.overrides)
        folder = OmegaConf.select(config, "hydra.sweep.subdir")
        assert "/" not in folder and len(folder) < 200
        folders.add(folder)
        drop_hydra(config)
        assert check_config(config)["run_name"] == preset
        build(config.job)
        build(config.tracking)
    assert len(folders) == len(cells)


@pytest.mark.parametrize(
    "group", ["backbone", "benchmark", "method", "reward", "selector", "protocol", "engine"]
)
def test_a_choice_is_called_what_its_file_is_called(group):
    for path in (CONF / group).glob("[!_]*.yaml"):
        name = yaml.safe_load(path.read_text()).get("name", path.stem)
        assert name == path.stem or name.startswith("${icpo.question_name:"), path


@pytest.mark.parametrize("group", ["backbone", "reward", "selector"])
def test_choices_that_share_a_file_have_names_of_their_own(group):
    names = {
        choice: node["name"]
        for choice, node in yaml.safe_load((CONF / group / "_choices.yaml").read_text()).items()
    }
    assert len({*names.values()}) == len(names)
    assert all(name == choice for choice, name in names.items() if not choice.startswith("_"))


def test_a_budget_s_former_name_chooses_the_same():
    runs = (composed("+exp=quickstart", f"budget={name}") for name in ("nano", "three_rounds", "small"))
    former, now, other = (build(run.job).method.budget for run in runs)
    assert former == now != other


def test_the_main_table_is_the_papers():
    config = composed("+exp=main_table", "backbone=qwen7b")
    job = build(config.job)
    assert (job.method.num_rounds, job.method.num_candidates, job.method.num_lookaheads) == (5, 16, 16)
    assert job.seeds == (0, 1, 2, 3, 4)
    sampling = job.protocol.sampling
    assert (sampling["candidate"].temperature, sampling["candidate"].top_p) == (0.6, 0.95)
    assert sampling["summary"].is_greedy and sampling["summary"].max_tokens == 500
    assert len(planned("main_table")) == 14


def test_the_ablation_has_the_base_among_its_arms_and_every_arm_is_another():
    methods = [build(composed(*cell.overrides).job).method for cell in planned("ablation")]
    assert [method.name for method in methods] == ["direct"] + ["me_icpo"] * 6
    assert {(method.reward.name, method.selector.name) for method in methods[1:]} == {
        ("majority", "entropy"), ("none", "entropy"), ("majority", "random"), ("none", "random"),
        ("majority", "none"), ("oracle", "entropy"),
    }  # fmt: skip
    assert arms_in("nano_ablation") == arms_in("ablation")


@pytest.mark.parametrize("backbone", sorted(choices()["backbone"]))
def test_the_ablation_composes_for_every_backbone(backbone):
    config = composed(
        "+exp=ablation", f"backbone={backbone}", "benchmark=aime2024", *of_arm("ablation", "without_both")
    )
    job = build(config.job)
    assert (job.backbone.name, job.method.name, len(job.seeds)) == (backbone, "me_icpo", 5)


def test_the_command_line_of_grading_has_the_rules_of_the_papers_protocol():
    assert build(composed("+exp=main_table").job).protocol.grading == GradingRules()


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["protocol.sampling.candidate.top_p=2"], "top_p .*2.*job.protocol"),
        (["budget.num_candidates=0"], "num_candidates .*0"),
        (["budget.num_lookaheads=0"], "selector=entropy .*num_lookaheads"),
        (
            ["+budget.num_round=3"],
            r"budget has no 'num_round'; it has .*Did you mean num_rounds\?; full_key: job.method.budget",
        ),
        (["seeds=[]"], "seeds"),
        (["seeds=[1,1]"], "seeds"),
        (["backbone.max_context_tokens=100"], "min_room_tokens=.*backbone.max_context_tokens=100"),
        (["backbone.dtype=int3"], "dtype"),
        (["benchmark.limit=0"], "limit"),
        (["benchmark.limit=abc"], "limit .*'abc'; full_key: job.benchmark"),
        (["seeds=0"], r"seeds .*0. Write seeds=\[0\]; full_key: job"),
        (["seeds=[0.5]"], r"seeds\[0\] .*0.5"),
        (["seeds=null"], "seeds .*None"),
        (["max_in_flight=2.5"], "max_in_flight .*2.5"),
        (["question_tokens=many"], "question_tokens .*'many'"),
        (["rates.num_gpus=one"], "num_gpus .*'one'; full_key: job.rates"),
        (["watch=maybe"], "watch .*'maybe'"),
        (
            ["method.finals_after=2"],
            r"finals_after.*Write finals_after=\[2\]",
        ),
        (["protocol.sampling.candidate.stop=x"], r"stop .*'x'. Write stop=\[x\]"),
        (["budget.num_rounds=1.5"], "num_rounds .*1.5"),
        (["method=direct", "budget.num_finals=true"], "num_finals .*True"),
        (["protocol.answer_line=5"], "answer_line .*5; full_key: job.prompts|job.protocol"),
        (["protocol.name=null"], "name .*None; full_key: job.protocol"),
        (["protocol.lookahead.forced_answer=5"], "forced_answer .*5"),
        (["protocol.grading=null"], "grading .*None; full_key: job.protocol"),
        (["rates=null"], "rates .*None; full_key: job"),
        (["rates.tokens_per_second=0"], "tokens_per_second .*0"),
        (["rates.prompt_price=-1"], "prompt_price .*-1"),
        (["question_tokens=0"], "question_tokens .*0"),
        (["backbone.max_answer_tokens=0"], "max_answer_tokens .*0"),
        (["backbone.max_answer_tokens=50"], "min_room_tokens .*160"),
        (["protocol.sampling.candidate.stop=['']"], r"stop\[0\] must be text of at least 1 char"),
    ],
)
def test_a_wrong_value_is_named(overrides, message):
    with pytest.raises(ConfigError, match=f"(?s){message}") as caught:
        build(composed("+exp=quickstart", *overrides).job)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("betas", "fault"),
    [
        ("0.9", "betas"),
        ("[0.9]", "betas[1]"),
        ("[0.9,0.98,1]", "[0.9, 0.98, 1]"),
        ("[0.9,x]", "betas[1]"),
        ("null", "betas"),
    ],
)
def test_a_list_of_a_given_length_has_it(betas, fault):
    config = composed("+exp=train_nano", f"job.training.optimisation.betas={betas}")
    with pytest.raises(ConfigError, match=re.escape(fault) + ".*job.training.optimisation"):
        build(config.job)


@pytest.mark.parametrize("switch", ["dry_run", "watch"])
def test_a_switch_is_true_or_false(switch):
    config = composed("+exp=quickstart", f"{switch}=maybe")
    with pytest.raises(ConfigError, match=f"{switch} .*'maybe'"):
        check_config(config)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("backbone.name=some/model", "'some/model-arith_l1"),
        ("cell=..", "cell '..'"),
        ("run_name=''", "run_name"),
        ("run_name=' '", "run_name"),
        ("run_name=../other", "run_name"),
        ("run_name=a/../../other", "run_name"),
        ("run_name=/elsewhere", "run_name"),
    ],
)
def test_a_cell_lies_where_reports_look_for_it(override, message):
    config = composed("+exp=quickstart", override)
    with pytest.raises(ConfigError, match=message):
        check_config(config)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["+exp=quickstrat"], r"'exp/quickstrat'. Did you mean quickstart\? There are ablation, "),
        (["+exp=quickstart", "selector=entropi"], r"mean entropy or .* are entropy, (?!.* _).*random\.$"),
        (["+exp=quickstart", "benchmark=mine.csv"], r"benchmark=_file benchmark\.path=mine\.csv"),
    ],
)
def test_a_choice_that_is_not_there_is_named_with_similar_ones(arguments, message):
    with pytest.raises(MissingConfigException) as refused:
        composed(*arguments)
    assert re.search(message, one_line(refused.value))


def test_a_missing_value_is_named():
    config = composed("+exp=quickstart", "backbone.revision=???")
    with pytest.raises(ConfigError, match=r"backbone\.revision=VALUE"):
        check_config(config)


def test_targets_outside_the_project_are_refused_unless_allowed_by_name():
    outside = ["+exp=quickstart", "method._target_=os.system"]
    for overrides, refused in ((outside, True), ([*outside, "+allow_targets=[os.system]"], False)):
        config = composed(*overrides)
        if refused:
            with pytest.raises(ConfigError, match=r"method._target_ is 'os.system'"):
                check_config(config)
        else:
            check_config(config)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "quickstart"),
        (["backbone=nano"], "exp=NAME"),
        (["+exp=quickstart,main_table"], "exp=quickstart,main_table"),
        (["+exp=quickstart", "seeds=[0],[1]"], r"seeds=\[0\]"),
    ],
)
def test_command_lines_that_hydra_would_misread_are_refused(arguments, message):
    with pytest.raises(ConfigError, match=message):
        check_arguments(arguments)


@pytest.mark.parametrize(
    "arguments", [["+exp=quickstart"], ["--help"], ["-m", "+exp=quickstart", "seeds=[0,1]"]]
)
def test_good_command_lines_pass(arguments):
    check_arguments(arguments)


def test_the_digest_leaves_out_what_does_not_change_results():
    base = config_digest(resolved_of("+exp=quickstart"))
    shown = ("tracking=none", "run_name=other", "output_root=elsewhere", "max_in_flight=3")
    for same in (*shown, "backbone.min_answer_tokens=9"):
        assert config_digest(resolved_of("+exp=quickstart", same)) == base, same
    for extent in (
        "seeds=[0,1]",
        "benchmark.limit=2",
        "benchmark.start=2",
        "benchmark.order_seed=3",
        "benchmark.ids=[a]",
        "budget.num_finals=32",
    ):
        assert config_digest(resolved_of("+exp=quickstart", extent)) == base, extent
    for other in ("budget.num_rounds=1", "protocol.sampling.candidate.temperature=0.7", "benchmark.level=2"):
        assert config_digest(resolved_of("+exp=quickstart", other)) != base, other


@pytest.mark.parametrize(
    ("cell", "same", "other"),
    [
        (["engine=openai"], "engine.max_requests=9", "engine.supports_seed=true"),
        (["engine=openai"], "engine.base_url=http://127.0.0.1/v1", "engine.supports_seed=true"),
        (["engine=vllm"], "engine.max_num_seqs=9", "engine.batch_invariant=true"),
    ],
)
def test_a_run_goes_on_at_another_pace_or_with_a_larger_budget(cell, same, other):
    base = config_digest(resolved_of("+exp=quickstart", *cell))
    assert config_digest(resolved_of("+exp=quickstart", *cell, same)) == base
    assert config_digest(resolved_of("+exp=quickstart", *cell, other)) != base


def test_a_job_inside_a_job_is_digested_alike():
    base = config_digest(resolved_of("+exp=ttrl"))
    assert config_digest(resolved_of("+exp=ttrl", "max_in_flight=3")) == base
    assert config_digest(resolved_of("+exp=ttrl", "seeds=[5]")) != base, "a job that cannot be extended"
    assert config_digest(resolved_of("+exp=ttrl", "method.prompt=empty_history")) != base


def resolved_of(*overrides):
    config = composed(*overrides)
    return resolved(config)


def test_secrets_do_not_stand_in_what_is_stored(monkeypatch):
    monkeypatch.setenv("SOME_KEY", "sk-very-secret")
    values = resolved_of("+exp=quickstart", "+engine.api_key=${oc.env:SOME_KEY}", "+password=hunter2")
    assert "sk-very-secret" not in str(values) and "hunter2" not in str(values)


@pytest.mark.parametrize(
    ("overrides", "tracker"),
    [
        (["+exp=quickstart"], "NoTracker"),
        (["+exp=solve", "question_file=-"], "NoTracker"),
        (["+exp=quickstart", "tracking=wandb"], "WandbTracker"),
        (["+exp=main_table"], "WandbTracker"),
    ],
)
def test_only_the_first_presets_leave_w_and_b_alone(overrides, tracker):
    assert composed(*overrides).tracking._target_ == f"icpo.tracking.{tracker}"
