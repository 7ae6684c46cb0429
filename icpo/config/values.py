"""From configurations to values: what to build, store and digest."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from icpo.config.messages import one_line
from icpo.config.targets import HYDRA_KEYS, check_node, located, nodes, own_class
from icpo.errors import ConfigError
from icpo.safe_text import masked

NOT_IN_DIGEST = (
    "tracking", "output_root", "run_name", "max_in_flight", "max_failed_share", "dry_run", "watch", "rates",
    "question_tokens", "allow_targets", "accept_code_change", "arm", "title", "arms",
)  # fmt: skip
ENGINE_PACE = (  # how fast an engine goes and what it may spend: a run goes on when they are changed
    "max_num_seqs", "admission_burst", "max_num_batched_tokens", "gpu_memory_utilization", "max_concurrency",
    "timeout_seconds", "max_retries", "first_wait_seconds", "max_wait_seconds", "max_requests", "max_tokens",
    "max_cost", "prompt_price", "completion_price", "api_key_env", "base_url", "headers",
    "requests_per_minute", "max_n", "stream",
)  # fmt: skip
NEUTRAL = {  # by group, what determines no result
    **dict.fromkeys(("", "job", "evaluation"), NOT_IN_DIGEST),
    "engine": ENGINE_PACE,
    "backbone": ("min_answer_tokens",),
}
EXTENT = {
    **dict.fromkeys(("", "job"), ("seeds",)),
    "benchmark": ("limit", "start", "ids", "order_seed"),
    "budget": ("num_finals",),
}
EVALUATION = "icpo.evaluation.evaluation.Evaluation"  # the job whose cells can be extended


def build(node: Any) -> Any:
    """The value of a node's `_target_`. Raises ConfigError with its key.

    A class that refuses its values is called twice: constructors have no effects.
    """
    try:
        if not OmegaConf.is_config(node):
            return instantiate(node, _convert_="all")
        key, plain = node._get_full_key(None), OmegaConf.to_container(node, resolve=True)
        if isinstance(plain, Mapping) and "_target_" not in plain:
            raise ConfigError(f"{key} needs a `_target_` that names its class, got {plain!r}")
        for path, inner in nodes(plain, key):
            check_node(path, inner)
        if all(_is_own(inner) for _, inner in nodes(plain)):
            with suppress(Exception):  # of which Hydra says where it arose
                return _made(plain)
        return instantiate(node, _convert_="all")
    except (InstantiationException, OmegaConfBaseException) as error:
        raise ConfigError(one_line(error)) from None


def _is_own(node: Mapping[str, Any]) -> bool:
    """Whether a node names a class of this project, and nothing of how Hydra is to build it."""
    return own_class(str(node["_target_"])) is not None and set(HYDRA_KEYS) & set(node) == {"_target_"}


def _made(node: Any) -> Any:
    """The value of plain settings, as Hydra makes it with `_convert_="all"`, in a tenth of the time."""
    if isinstance(node, list):
        return list(map(_made, node))
    if not isinstance(node, Mapping):
        return node
    values = {key: _made(value) for key, value in node.items() if key != "_target_"}
    return located(str(node["_target_"]))(**values) if "_target_" in node else values


def resolved(config: DictConfig) -> dict[str, Any]:
    """What a cell stores of its configuration. Raises ConfigError for bad interpolations."""
    try:
        return stored(OmegaConf.to_container(config, resolve=True, throw_on_missing=True))  # type: ignore[arg-type]
    except OmegaConfBaseException as error:
        raise ConfigError(one_line(error)) from None


def stored(values: Mapping[str, Any]) -> dict[str, Any]:
    """What a cell stores of its settings: no secrets, and no arms, which are of the whole sweep."""
    return masked({key: value for key, value in values.items() if key != "arms"})  # type: ignore[no-any-return]


def without(config: DictConfig, *keys: str) -> DictConfig:
    """A copy of the configuration without some of its groups."""
    copy: DictConfig = OmegaConf.masked_copy(config, [str(key) for key in config if key not in keys])
    return copy


def config_digest(values: Mapping[str, Any]) -> str:
    """A digest of what determines a result.

    It leaves out tracking, paths, throughput and the extent of an evaluation. The extent says which results
    there are: seeds, the selection of questions, the number of final samples.
    """
    kept = _without_keys(values, NEUTRAL)
    if isinstance(job := kept.get("job"), Mapping) and job.get("_target_") == EVALUATION:
        kept = _without_keys(kept, EXTENT)
    return hashlib.blake2b(json.dumps(kept, sort_keys=True).encode(), digest_size=12).hexdigest()


def _without_keys(node: Any, keys: Mapping[str, Sequence[str]], group: str = "") -> Any:
    """A nested configuration without the keys of each group, wherever the group is."""
    if not isinstance(node, Mapping):
        return node
    return {
        key: _without_keys(value, keys, str(key))
        for key, value in node.items()
        if key not in keys.get(group, ())
    }
