"""What `--help` and a list of presets show."""

from icpo.config import choices, help_text, presets, presets_by_kind
from tests.composing import composed


def test_every_preset_is_of_one_kind_and_has_a_line():
    kinds = presets_by_kind()
    assert sorted(name for names in kinds.values() for name in names) == presets()
    assert (
        "main_table" in kinds["paper"] and "quickstart" in kinds["nano"] and "kl_sandwich" in kinds["theory"]
    )
    assert all(line for names in kinds.values() for line in names.values())


def test_a_preset_s_kind_follows_its_backbone():
    found = {kind: {backbone_of(name) for name in names} for kind, names in presets_by_kind().items()}
    assert found["paper"] == {"qwen7b"} and "qwen7b" not in found["other"]
    assert found["nano"] == {"nano", None} and found["theory"] == {None}  # None: it trains nano
    nanos = [name for names in presets_by_kind().values() for name in names if backbone_of(name) == "nano"]
    assert {*nanos} - {*presets_by_kind()["nano"]} == {"solve"}


def backbone_of(preset):
    return composed(f"+exp={preset}").get("backbone", {}).get("name")


def test_choices_of_files_and_of_tables_have_a_line_and_bases_are_not_shown():
    found = choices()
    assert {"math_l1", "aime2024", "arith_l5"} <= found["benchmark"].keys()
    assert all(line for names in found.values() for line in names.values())
    assert not any(name.startswith("_") for names in found.values() for name in names)


def test_help_shows_choices_of_ones_own(tmp_path):
    (tmp_path / "selector").mkdir()
    (tmp_path / "selector/mine.yaml").write_text("# Keeps what I like.\n_target_: mine.Selector\n")
    assert "Keeps what I like." in help_text([tmp_path]) and "Keeps what I like." not in help_text()
