"""Which classes from outside are let in, what is told where there is none, and what code they have."""

import re

import pytest

from icpo.config import build, check_config, config_digest, resolved, sources
from icpo.errors import ConfigError
from tests.config.conftest import PACKAGE


@pytest.mark.parametrize("allowed", [f"{PACKAGE}.selectors.Weighed", f"{PACKAGE}.selectors", PACKAGE])
def test_a_class_a_module_or_a_package_can_be_allowed(own, allowed):
    check_config(own.compose("selector=weighed", f"+allow_targets=[{allowed}]"))


@pytest.mark.parametrize("allowed", ["own", f"{PACKAGE}.select", f"{PACKAGE}.selectors.Weighe", "os"])
def test_a_part_of_a_name_allows_nothing(own, allowed):
    with pytest.raises(ConfigError, match=rf"\+\+allow_targets=\[.*'{PACKAGE}'\]"):
        check_config(own.compose("selector=weighed", f"+allow_targets=[{allowed}]"))


def test_the_advice_keeps_what_is_allowed_already(own):
    with pytest.raises(ConfigError) as caught:
        check_config(own.compose("selector=weighed", "+allow_targets=[other_ext]"))
    *_, advised = re.findall(r"\S*allow_targets=\S+", str(caught.value))
    assert advised == f"++allow_targets=['other_ext','{PACKAGE}']"
    check_config(own.compose("selector=weighed", "+allow_targets=[other_ext]", advised))


@pytest.mark.parametrize("allowed", [f"{PACKAGE}.selectors.Weighed.more", "3", "{a: b}", "[1]"])
def test_what_is_allowed_is_a_list_of_names(own, allowed):
    with pytest.raises(ConfigError, match="allow_targets"):
        check_config(own.compose("selector=weighed", f"+allow_targets={allowed}"))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("selectors.Weihed", rf"{PACKAGE}.selectors has no Weihed. Did you mean Weighed\?"),
        ("selctors.Weighed", rf"{PACKAGE} has no selctors. Did you mean selectors\?"),
        ("misspelt.Weighed", r"own_things/misspelt.py, line 2: expected ':'"),
        (
            "lacking.Weighed",
            "own_things/lacking.py, line 3: ModuleNotFoundError: No module named 'not_there'",
        ),
        ("failing.Weighed", "own_things/failing.py, line 2: ZeroDivisionError: division by zero"),
        ("selectors.Weighed.Inner", "type object 'Weighed' has no attribute 'Inner'"),
    ],
)
def test_the_cause_is_told_where_a_class_cannot_be_had(own, name, message):
    own.write(f"{PACKAGE}/misspelt.py", "x = 1\ndef f()\n")
    own.write(f"{PACKAGE}/lacking.py", "\n\nimport not_there\n")
    own.write(f"{PACKAGE}/failing.py", "def f(): return\n1 / 0\n")
    config = own.compose(f"selector._target_={PACKAGE}.{name}", f"+allow_targets=[{PACKAGE}]")
    check_config(config)
    with pytest.raises(ConfigError, match=message) as caught:
        build(config.job)
    assert f"_target_ '{PACKAGE}.{name}'" in str(caught.value) and "\n" not in str(caught.value)


def test_a_package_that_is_not_on_the_path_is_named_with_the_way_out(own):
    config = own.compose("selector._target_=gone_things.X", "+allow_targets=[gone_things]")
    with pytest.raises(ConfigError, match=r"gone_things.*PYTHONPATH"):
        build(config.job)


def sources_of(own):
    own.forget()
    values = resolved(own.compose("selector=weighed", f"+allow_targets=[{PACKAGE}]"))
    return sources(values), config_digest(values)


def test_each_change_of_a_packages_python_files_changes_the_digest_of_its_classes_and_of_no_settings(own):
    found, settings = sources_of(own)
    assert list(found) == [f"{PACKAGE}.selectors.Weighed"]
    own.write(f"{PACKAGE}/notes.txt", "no code")
    own.write(f"{PACKAGE}/.ipynb_checkpoints/selectors-checkpoint.py", "no = 'code'\n")
    (own.folder / PACKAGE / ".#selectors.py").symlink_to("somebody@somewhere.1234")  # an editor's lock
    (own.folder / PACKAGE / "gone.py").symlink_to("no_such_file.py")
    assert sources_of(own) == (found, settings)
    path = own.folder / PACKAGE / "selectors.py"
    path.write_text("# A remark.\n\n" + path.read_text().replace("\n", "  # another\n", 1))
    assert sources_of(own) == (found, settings), "a comment"
    seen = [found]
    for path, text in (
        (f"{PACKAGE}/inner/more.py", "x = 1\n"),
        (f"{PACKAGE}/inner/more.py", "x = 2\n"),
        (f"{PACKAGE}/__init__.py", "y = 1\n"),
    ):
        own.write(path, text)
        changed, same = sources_of(own)
        assert changed not in seen and same == settings
        seen.append(changed)


def test_a_module_that_is_one_file_has_a_digest_and_cells_of_the_projects_classes_have_none(own):
    own.write(f"{PACKAGE}_one.py", "")
    values = {"job": {"selector": {"_target_": f"{PACKAGE}_one.X"}}}
    [before] = sources(values).values()
    own.write(f"{PACKAGE}_one.py", "x = 1\n")
    own.forget()
    [after] = sources(values).values()
    assert re.fullmatch("[0-9a-f]{24}", before) and before != after
    assert sources(resolved(own.compose())) == {}


def test_code_outside_the_job_has_no_digest_as_it_determines_no_result(own):
    own.write("conf/tracking/mine.yaml", own.node(f"{PACKAGE}.selectors.Weighed", weight=1.5))
    assert sources(resolved(own.compose("tracking=mine", f"+allow_targets=[{PACKAGE}]"))) == {}
