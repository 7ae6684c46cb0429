"""One value in one place: what a YAML file says is no default in code besides."""

from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path

import yaml

from icpo.config import config_source
from icpo.config.targets import own_class

CONF = Path(config_source())


FOR_PYTHON = ("icpo.theory.", "icpo.methods.", "icpo.types.Budget")


def nodes(node):
    """All mappings of a file that are built into something of the project's."""
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
    own = [node] if isinstance(node, dict) and own_class(str(node.get("_target_"))) else []
    return own + [found for child in children for found in nodes(child)]


def default_of(field):
    made = field.default if field.default_factory is MISSING else field.default_factory()
    return list(made) if isinstance(made, tuple) else made


def test_no_default_in_code_repeats_a_value_of_a_yaml_file():
    """Left out is what users build in Python, too: methods, their budgets, bandits and teachers."""
    repeated = [
        (path.relative_to(CONF).as_posix(), node["_target_"], field.name)
        for path in CONF.rglob("*.yaml")
        for node in nodes(yaml.safe_load(path.read_text("utf-8")))
        if not node["_target_"].startswith(FOR_PYTHON) and is_dataclass(own_class(node["_target_"]))
        for field in fields(own_class(node["_target_"]))
        if field.name in node and default_of(field) == node[field.name]
    ]
    assert repeated == []
