"""Defaults in code, for those who build values in Python, beside the YAML files of the command line."""

from collections import defaultdict
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path

import yaml

from icpo.config import config_source
from icpo.config.targets import own_class

CONF = Path(config_source())


def nodes(node):
    """All mappings of a file that are built into something of the project's."""
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
    own = [node] if isinstance(node, dict) and own_class(str(node.get("_target_"))) else []
    return own + [found for child in children for found in nodes(child)]


def default_of(field):
    """Its default as YAML would write it; MISSING where it has none."""
    made = field.default if field.default_factory is MISSING else field.default_factory()
    return list(made) if isinstance(made, tuple) else made


def test_a_default_in_code_is_what_a_yaml_file_says():
    """Python and the command line agree: a default that no file of the class has would be a second choice.

    The theory and the lab are left out: what they build is made in code as well.
    """
    said = defaultdict(list)
    for path in CONF.rglob("*.yaml"):
        for node in nodes(yaml.safe_load(path.read_text("utf-8"))):
            kind = own_class(node["_target_"])
            is_ours = is_dataclass(kind) and not kind.__module__.startswith(("icpo.theory.", "icpo.lab."))
            for field in fields(kind) if is_ours else ():
                value = node.get(field.name, "${}")
                if default_of(field) is not MISSING and not (isinstance(value, str) and "${" in value):
                    said[kind, field.name].append(value)
    other = [
        (kind.__qualname__, field.name, default_of(field), values)
        for (kind, name), values in said.items()
        for field in fields(kind)
        if field.name == name and default_of(field) not in values
    ]
    assert said and other == []
