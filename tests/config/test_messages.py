"""What Hydra, OmegaConf and YAML refuse is told in one line, with advice that helps."""

import pytest
from hydra.errors import HydraException

from icpo.config import HYDRA_ERRORS, build, check_config, one_line, resolved
from icpo.errors import ConfigError


def refusal(own, *overrides):
    """The line that a command line ends in."""
    with pytest.raises((ConfigError, *HYDRA_ERRORS)) as caught:
        config = own.compose(*overrides)
        check_config(config)
        resolved(config)
    line = one_line(caught.value)
    assert "\n" not in line
    return line


@pytest.mark.parametrize("sign", ["", "+", "++"])
def test_a_misspelt_group_is_refused_with_the_right_name_and_never_with_a_plus(own, sign):
    line = refusal(own, f"{sign}selctor=random")
    assert "'selctor'" in line and line.endswith("Did you mean selector?") and "+" not in line


def test_a_misspelt_key_is_refused_with_the_right_name(own):
    assert refusal(own, "budget.num_round=3").endswith("'budget.num_round'. Did you mean num_rounds?")


def test_a_key_that_is_like_no_other_is_refused_with_those_that_there_are(own):
    line = refusal(own, "method.look=3")
    assert line.startswith("Could not override 'method.look'. There, it can be ") and "early_stop" in line
    follower = refusal(own, "protocol.sampling.final.top_p=1")
    assert "protocol.sampling.final has no keys of its own" in follower
    assert refusal(own, "zzz=3").endswith("'zzz'. Append --cfg job to see all settings of the run.")


def test_a_value_that_a_class_refuses_is_told_in_its_words_with_the_key(own):
    config = own.compose("selector=random")
    config.job.selector = {
        "_target_": "icpo.lab.nano.histories.Update",
        "step_size": -1.0,
        "error_weight": 0.0,
    }
    with pytest.raises(ConfigError) as caught:
        build(config.job.selector)
    assert str(caught.value) == "step_size must not be negative, got -1.0; full_key: job.selector"


def test_a_group_that_a_run_does_not_have_is_not_to_be_added(own):
    assert refusal(own, "fit=adam") == "Could not override 'fit'. No match in the defaults list."


def test_what_no_file_sets_is_to_be_added(own):
    assert refusal(own, "allow_targets=[a]").endswith("use +allow_targets=[a]")
    added = "Could not override 'exp'.\nTo append to your default list use +exp=solve"
    assert one_line(HydraException(added)).endswith("use +exp=solve")


def test_a_key_of_ones_own_is_for_others_to_refer_to(own):
    own.write("conf/selector/fitted.yaml", own.node("icpo.selectors.Entropy", largest="${is_largest}"))
    check_config(own.compose("+is_largest=true", "selector=fitted"))


def test_a_key_that_is_referred_to_with_a_value_to_fall_back_on_is_read(own, caplog):
    own.write("conf/selector/fitted.yaml", own.node("icpo.selectors.Entropy", largest="${oc.select:hint,1}"))
    check_config(own.compose("+hint=3", "selector=fitted"))
    assert not caplog.messages


def test_a_key_that_nothing_reads_is_refused_only_where_it_looks_like_one_that_is_read(own, caplog):
    check_config(own.compose("+note=hello"))
    assert caplog.messages == ["Nothing reads 'note': it changes nothing."]
    line = refusal(own, "+runname=mine")
    assert line.endswith("Nothing reads 'runname': it would change nothing. Did you mean run_name?")


def test_the_name_of_a_resolver_is_no_key(own, caplog):
    check_config(own.compose("+oc=1", "+note=${oc.env:HOME}"))
    assert "Nothing reads 'oc': it changes nothing." in caplog.messages


def test_a_yaml_error_is_told_with_file_line_and_column(own):
    own.write("conf/selector/broken.yaml", "_target_: x\nname: [a\nweight: 1\n")
    line = refusal(own, "selector=broken")
    assert line.startswith(f"{own.folder}/conf/selector/broken.yaml, line 3, column 7: expected ',' or ']'")


def test_a_value_that_others_refer_to_is_named(own):
    own.write("conf/reward/bare.yaml", "_target_: icpo.rewards.Majority\ntagged: true\n")
    assert refusal(own, "reward=bare").startswith("Interpolation key 'reward.name' not found")


def test_errors_of_other_kinds_keep_their_words():
    assert one_line(HydraException("one\n  two\n")) == "one; two"
