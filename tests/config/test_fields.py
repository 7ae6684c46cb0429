"""Nodes are held to the class that they build: its fields and their kinds, also outside the project."""

import pytest

from icpo.config import build
from icpo.errors import ConfigError
from tests.config.conftest import PACKAGE, SELECTOR

POSTPONED = "from __future__ import annotations"
ALLOWED = f"+allow_targets=[{PACKAGE}]"


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["selector.weight=heavy"], "weight .*'heavy'; full_key: job.selector"),
        (["+selector.wieght=2"], r"selector has no 'wieght'; it has name, weight. Did you mean weight\?"),
        (["~selector.weight"], "selector lacks weight; full_key: job.selector"),
        (["~selector._target_"], "selector.*{'name': 'weighed'.*`_target_`"),
    ],
)
def test_an_own_dataclass_is_checked_like_the_projects(own, overrides, message):
    with pytest.raises(ConfigError, match=message):
        build(own.compose("selector=weighed", ALLOWED, *overrides).job)


@pytest.mark.parametrize("annotation", ["Nothing", "sys.Nope", "3 + None", "no annotation"])
def test_an_annotation_that_cannot_be_evaluated_is_not_checked_and_a_function_builds_too(own, annotation):
    code = SELECTOR.replace("what: Nothing", f"what: '{annotation}'").replace(POSTPONED, "import sys")
    own.write(f"{PACKAGE}/selectors.py", code)
    config = own.compose("selector=weighed", ALLOWED)
    for target, values in (("Unclear", {"what": 3}), ("made", {}), ("Unclear", {"what": None})):
        config.selector = {"_target_": f"{PACKAGE}.selectors.{target}", "name": "n", **values}
        assert build(config.selector).name == "n"


def test_positional_arguments_of_any_number_may_be_left_out(own):
    own.write(
        f"{PACKAGE}/listed.py",
        "class Listed:\n    def __init__(self, *items, name):\n        self.name = name\n",
    )
    config = own.compose(ALLOWED)
    config.selector = {"_target_": f"{PACKAGE}.listed.Listed", "name": "n"}
    assert build(config.selector).name == "n"


@pytest.mark.parametrize("annotation", ["Literal['a', None]", "Literal['a', None] | int"])
def test_null_is_kept_from_fields_that_do_not_list_it(own, annotation):
    imports = "from dataclasses import dataclass\nfrom typing import Literal\n"
    for name, kind in (("Listed", annotation), ("Unlisted", annotation.replace("None", "2"))):
        own.write(f"{PACKAGE}/{name}.py", f"{imports}@dataclass\nclass {name}:\n    what: {kind}\n")
    config = own.compose(ALLOWED)
    config.selector = {"_target_": f"{PACKAGE}.Listed.Listed", "what": None}
    assert build(config.selector).what is None
    config.selector._target_ = f"{PACKAGE}.Unlisted.Unlisted"
    with pytest.raises(ConfigError, match=r"what.*None"):
        build(config.selector)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            ["+backbone.model=3"],
            r"backbone has no 'model'; it has name, .*Did you mean model_id\?.*job.backbone",
        ),
        (["~backbone.dtype"], "backbone lacks dtype; full_key: job.backbone"),
        (
            ["~benchmark._target_"],
            "benchmark .*.*`_target_`; full_key: job$",
        ),
        (["~rates._target_"], "rates.*`_target_`"),
        (["~job._target_"], "job needs a `_target_` that names its class"),
    ],
)
def test_what_a_node_lacks_or_has_too_much_is_named(own, overrides, message):
    with pytest.raises(ConfigError, match=message):
        build(own.compose(*overrides).job)
