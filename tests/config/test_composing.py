"""Cells that are composed together are those that Hydra composes one by one."""

from functools import cached_property

import omegaconf.base
import pytest
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import ConfigCompositionException
from hydra.types import RunMode
from omegaconf import OmegaConf, open_dict

from icpo.config import config_digest, config_source, resolved
from icpo.config.arms import plan_cells
from icpo.config.composing import CellComposer

SWEEPS = {
    "limits": ["+exp=quickstart", "benchmark.limit=1,2"],
    "settings of every kind": [
        "+exp=quickstart",
        "seeds=[0,1]",
        "+note.of={one: 1}",
        "~benchmark.limit",
        "++budget.num_rounds=2,3",
        "tracking=none",
    ],
    "choices": ["+exp=ablation", "backbone=nano,qwen7b", "protocol.sampling.candidate.temperature=0.5,0.7"],
    "an engine": ["+exp=baselines", "backbone=nano", "budget=small", "engine=openai", "engine.max_n=4"],
    "no arms": ["+exp=bandit_regret", "fit=adam,lbfgs"],
    "a setting of Hydra's": ["+exp=quickstart", "hydra.job.name=mine", "hydra.verbose=true"],
}


class Sweep:
    """A sweep before its cells are composed."""

    def __init__(self, *arguments):
        self.arguments = arguments

    def loader(self):
        """Hydra's loader, made anew."""
        with initialize_config_dir(config_source(), version_base="1.3"):
            return GlobalHydra.instance().config_loader()

    @cached_property
    def master(self):
        return self.loader().load_configuration("config", list(self.arguments), RunMode.MULTIRUN)

    def cells(self, at_most=12):
        """The overrides of some of its cells."""
        arms = OmegaConf.to_container(self.master.get("arms") or OmegaConf.create({}))
        axes = OmegaConf.to_container(self.master.hydra.sweeper.get("params") or OmegaConf.create({}))
        given = list(self.master.hydra.overrides.task)
        parser = CellComposer(self.loader(), self.master).parser
        planned = plan_cells(arms, axes, given, dict(self.master.hydra.runtime.choices), parser)
        return [list(cell.overrides) for cell in planned[:: -(-len(planned) // at_most)]]


def nodes(node, key=""):
    """All that a configuration holds: keys, values, kinds of nodes and flags."""
    kinds = node._metadata.ref_type, node._metadata.object_type, node._metadata.flags
    if OmegaConf.is_config(node) and not (node._is_none() or node._is_missing() or node._is_interpolation()):
        content = node._content
        items = content.items() if isinstance(content, dict) else enumerate(content)
        return [
            (key, type(node), kinds),
            *(one for name, inner in items for one in nodes(inner, f"{key}.{name}")),
        ]
    return [(key, type(node), kinds, node._value())]


@pytest.mark.parametrize("at_most", [4, pytest.param(24, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SWEEPS)
def test_cells_are_those_that_hydra_composes_one_by_one(name, at_most):
    sweep = Sweep(*SWEEPS[name])
    cells = sweep.cells(at_most)
    assert len(cells) > 1
    composer = CellComposer(sweep.loader(), sweep.master)
    composed = [composer.compose(cell) for cell in cells]
    plain = sweep.loader()
    for overrides, config in zip(cells, composed, strict=True):
        wanted = plain.load_sweep_config(sweep.master, overrides)
        assert nodes(config) == nodes(wanted)
        assert OmegaConf.to_yaml(config) == OmegaConf.to_yaml(wanted)
        for one in (config, wanted):
            with open_dict(one):
                del one["hydra"]
        assert resolved(config) == resolved(wanted)
        assert config_digest(resolved(config)) == config_digest(resolved(wanted))


def test_cells_share_no_node():
    sweep = Sweep("+exp=quickstart", "benchmark.limit=1,2")
    composer = CellComposer(sweep.loader(), sweep.master)
    first, again = composer.compose(sweep.cells()[0]), composer.compose(sweep.cells()[0])
    first.benchmark.limit = 7
    first.hydra.job.name = "mine"
    assert again.benchmark.limit == 1 and again.hydra.job.name != "mine"
    assert composer.compose(sweep.cells()[0]) == again


@pytest.mark.parametrize(
    "override", ["benchmark.limits=3", "benchmark.limit=1,2", "~nowhere", "+method=direct"]
)
def test_what_cannot_be_set_is_refused_as_by_hydra(override):
    sweep = Sweep("+exp=quickstart")
    wrong = [*sweep.cells()[0], override]
    with pytest.raises(ConfigCompositionException) as by_hydra:
        sweep.loader().load_sweep_config(sweep.master, wrong)
    with pytest.raises(ConfigCompositionException) as refused:
        CellComposer(sweep.loader(), sweep.master).compose(wrong)
    assert str(refused.value) == str(by_hydra.value)
    assert str(refused.value.__cause__) == str(by_hydra.value.__cause__)


def test_choices_of_files_are_composed_once(monkeypatch):
    sweep = Sweep("+exp=quickstart", "benchmark.limit=1,2", "benchmark=arith_l1", "seeds=[0],[1]")
    cells = sweep.cells()
    composer, calls = CellComposer(sweep.loader(), sweep.master), []
    compose = type(composer._loader).load_sweep_config
    monkeypatch.setattr(
        type(composer._loader), "load_sweep_config", lambda *given: calls.append(given) or compose(*given)
    )
    for cell in cells:
        composer.compose(cell)
    choices = {
        tuple(one for one in cell if one.partition("=")[0] in ("method", "benchmark")) for cell in cells
    }
    assert len(calls) == len(choices) < len(cells)


def test_a_reference_is_parsed_once():
    before = omegaconf.base.parse.cache_info()
    config = OmegaConf.create({"a": 1, **{f"b{i}": "${a}" for i in range(100)}})
    assert OmegaConf.to_container(config, resolve=True)["b7"] == 1
    assert omegaconf.base.parse.cache_info().misses <= before.misses + 1
