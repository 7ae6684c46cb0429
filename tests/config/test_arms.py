"""Arms: what a preset compares, narrowed or replaced by the command line."""

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException

from icpo.config.arms import arms_of, plan_cells
from icpo.errors import ConfigError
from tests.arms import planned


def arms(*arguments, preset="ablation"):
    """The names, titles and overrides of the arms that a command line runs."""
    cells = planned(preset, *arguments)
    names = [
        next(one for one in cell.overrides if one.startswith("arm=")).removeprefix("arm=") for cell in cells
    ]
    return names, cells


def test_all_arms_of_a_preset_run_in_their_order():
    names, cells = arms()
    assert names == [
        "base",
        "full",
        "without_reward",
        "without_entropy",
        "without_both",
        "keep_all",
        "oracle",
    ]
    assert cells[4].overrides[:4] == (
        "reward=none",
        "selector=random",
        "arm=without_both",
        "title='w/o both'",
    )


def test_arms_times_axes_the_axes_outside():
    names, cells = arms("benchmark=amc,gpqa", "arm=base,full")
    assert names == ["base", "full"] * 2
    assert ["benchmark=amc" in cell.overrides for cell in cells] == [True, True, False, False]


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["arm=oracle"], ["oracle"]),
        (["method=mctsr"], ["mctsr"]),
        (["selector=entropy,max_entropy"], ["full", "max_entropy"]),
        (["method=direct,me_icpo"], ["base", "full"]),
        (["selector=random", "reward=none"], ["without_both"]),
        (["selector=max_entropy", "reward=shuffled"], ["shuffled_max_entropy"]),
    ],
)
def test_overrides_of_what_arms_set_replace_them_and_keep_the_names_of_equal_arms(arguments, names):
    assert arms(*arguments)[0] == names


def test_other_overrides_apply_to_every_arm():
    _, cells = arms("budget.num_rounds=3")
    assert len(cells) == 7 and all("budget.num_rounds=3" in cell.overrides for cell in cells)
    assert {cell.suffix for cell in cells} == {""}


@pytest.mark.parametrize(
    ("arguments", "suffixes"),
    [
        (["budget.num_rounds=1,3"], ["-num_rounds_1", "-num_rounds_3"]),
        (["protocol.sampling.candidate.temperature=0.6,1.0"], ["-temperature_0.6", "-temperature_1.0"]),
        (["protocol=quick"], ["-quick"]),
        (["protocol=paper"], [""]),
        (["benchmark=amc,gpqa"], ["", ""]),
        (["run_name=one,other"], ["", ""]),
        (["budget.num_rounds=1,3", r"cell=$\{arm\}-n$\{budget.num_rounds\}"], ["", ""]),
        (["budget.num_rounds=1,3", "cell=${arm}-n${budget.num_rounds}"], ["", ""]),
        (["budget.num_rounds=1,3", "cell=${arm}"], ["-num_rounds_1", "-num_rounds_3"]),
        (["++budget.num_rounds=1,3", "cell=${arm}-n${budget.num_rounds}"], ["", ""]),
        (["engine=vllm,transformers", "cell=${arm}-${engine.name}"], ["", ""]),
        (["engine=vllm,transformers", "cell=${arm}-on-engine"], ["-engine_vllm", "-engine_transformers"]),
        (["cell=a,b"], ["-cell_a", "-cell_b"]),
    ],
)
def test_what_is_swept_beside_the_axes_is_added_to_the_name(arguments, suffixes):
    assert [cell.suffix for cell in arms("arm=full", *arguments)[1]] == suffixes


def test_choices_of_a_preset_without_arms_name_them():
    assert arms("selector=entropy,random", preset="train_nano")[0] == ["entropy", "random"]
    assert arms(preset="train_nano")[0] == ["default"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["arm=ful"], ("ful", "Did you mean full", "without_both")),
        (["arm=full", "method=direct"], ("arm=full", "method=direct")),
        (["selector=range(3,3)"], ("selector=range(3,3) names no value",)),
        (["arm=range(3,3)"], ("arm=range(3,3) names no value",)),
        (["benchmark.limit=range(3,3)"], ("benchmark.limit=range(3,3) names no value",)),
    ],
)
def test_a_wrong_arm_is_refused(arguments, words):
    with pytest.raises(ConfigError) as caught:
        arms(*arguments)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(
    "preset", [{"Bad Name": {}}, {"a": {"titel": "x"}}, {"a": {"title": 5}}, {"a": {"set": [1]}}, {"a": "x"}]
)
def test_arms_that_are_none_are_refused(preset):
    with pytest.raises(ConfigError):
        arms_of(preset)


def test_lists_within_a_list_of_overrides_are_opened():
    assert arms_of({"a": {"set": [["x=1", "y=2"], "z=3"]}})["a"].overrides == ("x=1", "y=2", "z=3")


def test_an_override_of_an_arm_that_cannot_be_parsed_is_named():
    with pytest.raises(HydraException, match="override 'method'"):
        plan_cells({"a": {"set": ["method"]}}, {}, [], {}, OverridesParser.create())
