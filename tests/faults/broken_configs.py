"""Random ways to break a configuration from the command line, as a hypothesis strategy of override lists."""

from functools import cache
from pathlib import Path

from hydra import compose, initialize_config_dir
from hypothesis import strategies as st
from omegaconf import DictConfig, OmegaConf

from icpo.config import choices as config_choices
from icpo.config import config_source, presets

CONF = Path(config_source())
GROUPS = sorted(path.name for path in CONF.iterdir() if path.is_dir() and path.name not in ("exp", "hydra"))
CONTRADICTIONS = [
    ["backbone.max_context_tokens=100"],
    ["protocol.max_context_tokens=10"],
    ["budget.num_lookaheads=0", "selector=entropy"],
    ["protocol.sampling.candidate.min_tokens=5000"],
    ["protocol.sampling.candidate.min_room_tokens=100000"],
    ["benchmark=questions_file", "reward=oracle"],
    ["engine=openai", "engine.base_url=null"],
    ["engine=vllm", "backbone.tensor_parallel=0"],
    ["seeds=[0,0]"],
    ["~tracking"],
    ["~job"],
    ["~run_name"],
    ["~output_root"],
    ["~cell"],
    ["seeds=[]"],
    ["hydra.mode=RUN", "hydra.sweeper.params=null", "job=null"],
    ["budget.num_candidates=0"],
    ["benchmark.limit=0"],
    ["max_in_flight=0"],
    ["tracking._target_=icpo.store.storage.replace_file"],
    ["engine._target_=os.system"],
    ["method._target_=icpo.store.lock.Path"],
]
RAW = [
    "[",
    "{a: 1",
    "${nope}",
    "${oc.env:NOT_SET_ANYWHERE}",
    "'",
    "\\",
    "${oc.decode:1}",
    "a,b",
    "???",
    "glob(*)",
    "range(3)",
]
numbers = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([-(10**9), 2**31, 10**30, 0.5, -0.5, 1e300, 1e-300, "nan", "inf", "-inf", "1e999"]),
)
texts = st.text(st.characters(codec="utf-8"), max_size=12).map(
    lambda text: "'" + text.replace("'", "\\'") + "'"
)
values = st.one_of(
    numbers.map(str),
    texts,
    st.sampled_from(["null", "true", "false", "[]", "{}", "[[1]]", "{a: 1}", "[null]", "x", *RAW]),
)


@cache
def composed(*overrides: str) -> DictConfig:
    with initialize_config_dir(config_dir=str(CONF), version_base="1.3"):
        return compose("config", overrides=list(overrides))


@cache
def leaves(preset: str) -> list[str]:
    """The dotted keys of all values that a preset has."""
    container = OmegaConf.to_container(composed(f"+exp={preset}"), resolve=False)

    def walk(node, prefix):
        if isinstance(node, dict) and node:
            return [leaf for key, child in node.items() for leaf in walk(child, f"{prefix}.{key}")]
        return [prefix.lstrip(".")]

    return walk(container, "")


@cache
def choices(group: str) -> list[str]:
    return sorted(config_choices()[group])


@st.composite
def breakages(draw: st.DrawFn) -> list[str]:
    """A preset and one to three things that may be wrong with it."""
    preset = draw(st.sampled_from(presets()))
    overrides = [f"+exp={preset}"]
    for _ in range(draw(st.integers(1, 3))):
        overrides += draw(st.one_of(_value(preset), _value(preset), _group(), _key(preset), _contradiction()))
    return overrides


def _value(preset: str) -> st.SearchStrategy[list[str]]:
    """A value of the wrong type, out of range, or of a syntax of its own."""
    return st.builds(lambda key, value: [f"{key}={value}"], st.sampled_from(leaves(preset)), values)


def _group() -> st.SearchStrategy[list[str]]:
    """Another choice of a group, or none, or one that is not there."""
    return st.sampled_from(GROUPS).flatmap(
        lambda group: st.builds(
            lambda choice, sign: [f"{sign}{group}={choice}"],
            st.sampled_from([*choices(group), "null", "nope", "../exp/solve", ""]),
            st.sampled_from(["", "", "+", "~"]),
        )
    )


def _key(preset: str) -> st.SearchStrategy[list[str]]:
    """A misspelt, added or deleted key."""
    return st.builds(
        lambda key, change: [change.format(key=key)],
        st.sampled_from(leaves(preset)),
        st.sampled_from(["{key}x=1", "+{key}x=1", "~{key}", "{key}.deeper=1", "+{key}=1", "{key}", "={key}"]),
    )


def _contradiction() -> st.SearchStrategy[list[str]]:
    return st.sampled_from(CONTRADICTIONS)
