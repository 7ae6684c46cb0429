"""Arms: named lists of overrides; cells are arms times axes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override

from icpo.config.messages import did_you_mean
from icpo.errors import ConfigError

NAMING = ("method", "reward", "selector")  # groups whose overrides make arms, in the order of their names
APART = ("run_name", "output_root")  # cells of different runs have folders apart
NAME = re.compile(r"[a-z0-9_]+")


@dataclass(frozen=True, slots=True)
class Arm:
    """One thing that an experiment compares; `title` is what tables call it."""

    name: str
    title: str | None = None
    overrides: tuple[str, ...] = ()

    @property
    def all_overrides(self) -> list[str]:
        """What makes it, its name and its title among them."""
        title = [] if self.title is None else ["title='{}'".format(self.title.replace("'", r"\'"))]
        return [*self.overrides, f"arm={self.name}", *title]


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """A cell of a sweep: its overrides and its name's addition."""

    overrides: tuple[str, ...]
    suffix: str


def arms_of(preset: Mapping[str, Any]) -> dict[str, Arm]:
    """The arms of a preset. Raises ConfigError for a malformed one."""
    arms = {}
    for name, given in preset.items():
        values = given or {}
        if not NAME.fullmatch(str(name)):
            raise ConfigError(f"arms: {name!r} is no name of an arm; use lower-case letters, digits and _.")
        if not isinstance(values, Mapping) or not set(values) <= {"title", "set"}:
            raise ConfigError(f"arms.{name} may have title and set, got {values!r}.")
        overrides = _flat(values.get("set") or [])
        if not all(isinstance(one, str) for one in overrides):
            raise ConfigError(
                f"arms.{name}.set must be a list of overrides, as [method=direct], got {overrides!r}."
            )
        if not isinstance(values.get("title"), str | None):
            raise ConfigError(f"arms.{name}.title must be text in quotes, got {values['title']!r}.")
        arms[str(name)] = Arm(str(name), values.get("title"), tuple(overrides))
    return arms


def _flat(overrides: Any) -> list[Any]:
    """A list of overrides, lists in it (shared by YAML anchors) opened."""
    if not isinstance(overrides, list):
        return [overrides]
    return [inner for one in overrides for inner in _flat(one)]


def plan_cells(
    preset_arms: Mapping[str, Any],
    axes: Mapping[str, str],
    arguments: Sequence[str],
    choices: Mapping[str, str],
    parser: OverridesParser,
) -> list[PlannedCell]:
    """All cells of a sweep, in the order axes x arms.

    `axes` and `arguments` are those of the preset and of the command line, `choices` what each group is where
    neither says otherwise. Raises ConfigError where they contradict each other or name unknown arms.
    """
    arms = arms_of(preset_arms)
    given = {one.get_key_element(): one for one in parser.parse_overrides(list(arguments))}
    swept = {
        one.get_key_element(): one for one in parser.parse_overrides([f"{k}={v}" for k, v in axes.items()])
    }
    overrides = swept | given
    if empty := [str(one.input_line) for one in overrides.values() if not _values(one)]:
        raise ConfigError(
            f"{empty[0]} names no value, so that nothing would run. See --help for what there is."
        )
    by_arms = parser.parse_overrides([one for arm in arms.values() for one in arm.all_overrides])
    set_by_arms = {one.key_or_group for one in by_arms}
    groups = [*NAMING, *sorted(key for key in set_by_arms if key in choices and key not in NAMING)]
    replacing = {key: overrides.pop(key) for key in groups if key in overrides}
    chosen = _chosen(arms, replacing, overrides.pop("arm", None), choices, parser)
    in_name = _in_name(given)
    added = [
        key
        for key, one in given.items()
        if key in overrides
        and key not in (*swept, *APART)
        and key.lstrip("+") not in in_name
        and (_is_sweep(one) or (key == "protocol" and _values(one) != [choices.get(key)]))
    ]
    [combinations] = BasicSweeper.split_arguments(list(overrides.values()), None)
    return [
        PlannedCell(
            (*arm.all_overrides, *combination), _suffix(added, dict(zip(overrides, combination, strict=True)))
        )
        for combination in combinations
        for arm in chosen
    ]


def _chosen(
    arms: Mapping[str, Arm],
    replacing: Mapping[str, Override],
    narrowed: Override | None,
    choices: Mapping[str, str],
    parser: OverridesParser,
) -> list[Arm]:
    """The arms that are to run: the preset's, those of them that are named, or those that overrides make."""
    if narrowed is not None:
        names = _values(narrowed)
        if unknown := [name for name in names if name not in arms and (arms or len(names) > 1)]:
            there = f"it has {', '.join(arms)}" if arms else "it has none: a name alone makes no difference"
            raise ConfigError(
                f"The preset has no arm {unknown[0]!r}; {there}.{did_you_mean(unknown[0], arms)}"
            )
        if replacing:
            others = ", ".join(str(one.input_line) for one in replacing.values())
            raise ConfigError(
                f"arm={','.join(names)} and {others} both say what is compared. Leave one of them out."
            )
        return [arms.get(name, Arm(name)) for name in names]
    if not replacing:
        return list(arms.values()) or [Arm("default")]
    made = []
    for combination in product(*map(_values, replacing.values())):
        values = dict(zip(replacing, combination, strict=True))
        overrides = tuple(f"{key}={value}" for key, value in values.items())
        same = [
            arm for arm in arms.values() if _settings(arm.overrides, choices, parser) == {**choices, **values}
        ]
        name = "_".join(re.sub(r"[^a-z0-9]+", "_", value.lower()).strip("_") for value in combination)
        made.append(Arm(same[0].name, same[0].title, overrides) if same else Arm(name, None, overrides))
    return made


def _settings(
    overrides: Iterable[str], choices: Mapping[str, str], parser: OverridesParser
) -> dict[str, str]:
    """The groups' choices with an arm's overrides, and its other settings."""
    parsed = parser.parse_overrides(list(overrides))
    return {**choices, **{one.get_key_element(): one.get_value_element_as_str() for one in parsed}}


def _values(override: Override) -> list[str]:
    """The values that an override gives, as text."""
    return (
        list(override.sweep_string_iterator())
        if _is_sweep(override)
        else [override.get_value_element_as_str()]
    )


def _is_sweep(override: Override) -> bool:
    return bool(override.is_sweep_override())


def _in_name(given: Mapping[str, Override]) -> set[str]:
    """The settings that `cell=` on the command line refers to; a group by its name."""
    named = next(
        (one for key, one in given.items() if key.lstrip("+") == "cell" and not _is_sweep(one)), None
    )
    found = [] if named is None else re.findall(r"\{([\w.]+)", named.get_value_element_as_str())
    return {*found, *(name.removesuffix(".name") for name in found)}


def _suffix(added: Sequence[str], combination: Mapping[str, str]) -> str:
    """What a cell's name gets for settings that are swept though they are no axes: `-temperature_0.6`."""
    last = [key.rpartition(".")[2] for key in added]
    parts = []
    for key, short in zip(added, last, strict=True):
        name = short if last.count(short) == 1 else key
        value = combination[key].partition("=")[2]
        text = value if key == "protocol" else f"{name.lstrip('+')}_{value}"
        parts.append("-" + re.sub(r"[^\w.+-]+", "_", text).strip("_"))
    return "".join(parts)
