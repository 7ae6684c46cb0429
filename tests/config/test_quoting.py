"""An override with characters of Hydra's own: the error shows it as it can be pasted."""

import shlex

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from icpo.config.quoting import check_override
from icpo.errors import ConfigError

VALUES = [
    "/tmp/ä.csv", "a#b", "it's", "~/x.csv", "a=b", "(1)", "[2].csv", "x[2].csv", 'say "hi"', "a;b", "a&b",
    "a!b", "/tmp/it's~x=(1)[2] #ä/\"q\".csv", '\\"', "ä\\", "a,ä",
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES)
def test_what_is_shown_works_when_it_is_pasted(value):
    with pytest.raises(ConfigError) as error:
        check_override(f"benchmark.path={value}")
    message = str(error.value)
    assert message.startswith(f"benchmark.path={value} ")
    [pasted] = shlex.split(message.partition("pass ")[2])
    override = OverridesParser.create().parse_override(pasted)
    assert not override.is_sweep_override() and override.value() == value


def test_of_a_list_only_the_parts_that_need_it_are_quoted():
    with pytest.raises(ConfigError, match=r'\[a,"b#1"\]'):
        check_override("benchmark.ids=[a,b#1]")


@pytest.mark.parametrize(
    "argument",
    ["a=b", "seeds=[0,1]", "+exp=x", "~tracking", "a=1,2", "a='x y'", "--config-dir=ä", "-m", "a="],
)
def test_overrides_that_hydra_reads_pass(argument):
    check_override(argument)
