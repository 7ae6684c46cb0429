"""What is built without Hydra is what Hydra builds; all else is left to Hydra."""

import pytest
from hydra.utils import instantiate
from omegaconf import open_dict

from icpo.config import build, presets, values
from icpo.errors import ConfigError
from tests.composing import composed
from tests.config.conftest import PACKAGE

REQUIRED = {"solve": ["question_file=-"]}


@pytest.mark.parametrize("preset", presets())
def test_a_job_is_built_as_hydra_builds_it(preset):
    config = composed(f"+exp={preset}", *REQUIRED.get(preset, []))
    for node in (config.job, config.tracking):
        built, wanted = build(node), instantiate(node, _convert_="all")
        assert built == wanted and repr(built) == repr(wanted)


def through_hydra(monkeypatch):
    """The nodes that Hydra is given from now on."""
    given = []
    monkeypatch.setattr(
        values, "instantiate", lambda node, **more: given.append(node) or instantiate(node, **more)
    )
    return given


def test_classes_of_the_project_are_built_without_hydra(monkeypatch):
    given = through_hydra(monkeypatch)
    assert build(composed("+exp=quickstart").job).backbone.name == "nano" and not given


def test_classes_from_elsewhere_are_built_by_hydra(own, monkeypatch):
    given = through_hydra(monkeypatch)
    config = own.compose("selector=weighed", f"+allow_targets=[{PACKAGE}]")
    assert build(config.selector).weight == 1.5 and len(given) == 1


def test_what_says_how_it_is_built_is_built_by_hydra(monkeypatch):
    given = through_hydra(monkeypatch)
    config = composed("+exp=quickstart")
    with open_dict(config):
        config.selector._partial_ = True
    assert build(config.selector)() == build(composed("+exp=quickstart").selector) and len(given) == 1


@pytest.mark.parametrize("setting", ["backbone.max_context_tokens=0", "seeds=[0,0]", "max_in_flight=two"])
def test_what_a_class_refuses_is_said_in_the_words_of_hydra_s_way(setting, monkeypatch):
    config = composed("+exp=quickstart", setting)
    with pytest.raises(ConfigError) as refused:
        build(config.job)
    monkeypatch.setattr(values, "_is_own", lambda node: False)
    with pytest.raises(ConfigError) as by_hydra:
        build(config.job)
    assert str(refused.value) == str(by_hydra.value)
