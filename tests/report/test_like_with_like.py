"""Reports compare cells only with what they may be compared with."""

import pytest

from icpo.report import write_report
from icpo.report.dashboard import write_dashboard
from icpo.store.health import verify
from tests.report.stored_runs import MadeUpCell, me_icpo
from tests.store.editing import rewrite_json


def test_a_copied_or_renamed_cell_does_not_pass_as_another(tmp_path, monkeypatch):
    name = "nano-arith_l1-base-t_1"
    made = MadeUpCell(extra={"arm": "base"}, config={"cell": name}).write(tmp_path, "run")
    cell = made.rename(tmp_path / "run" / name)
    monkeypatch.chdir(cell)
    assert verify(cell).is_sound and verify(cell / "../." / name).is_sound
    assert write_report(tmp_path, "run").cells[0].state == "done"
    cell.rename(cell.with_name("nano-arith_l1-base"))
    [fault] = verify(cell.with_name("nano-arith_l1-base")).faults
    assert f"is the folder of cell '{name}'" in fault
    report = write_report(tmp_path, "run")
    assert report.cells[0].reason == fault and report.frame.empty
    assert fault in (tmp_path / "run/report/table.md").read_text()


def stored(outputs, name, cell, weights=None, **settings):
    """Stores a cell under a name, with settings of its configuration."""
    cell.config = {"cell": name, **settings}
    folder = cell.write(outputs, "run").rename(outputs / "run" / name)
    if weights:
        rewrite_json(folder / "manifest.json", lambda own: own | {"resolved": {"weights": weights}})
    return folder


def sampled_at(temperature):
    purposes = ("candidate", "lookahead", "final")
    return {"sampling": {purpose: {"temperature": temperature} for purpose in purposes}}


def base(level="arith_l1", **more):
    return MadeUpCell(level, extra={"arm": "base", "title": "base"}, **more)


def vote(level="arith_l1", **more):
    return me_icpo(level, extra={"arm": "vote", "title": "vote"}, **more)


def gains(report):
    found = report.frame.query("metric == 'mean_at_k' and is_difference")
    return set(zip(found["benchmark"], found["line"], found["base_line"], strict=True))


PAIRS = {(f"vote, temperature_{t}", f"base, temperature_{t}") for t in (0.1, 1.2)}


def test_what_was_swept_is_read_from_the_settings_where_names_do_not_tell(tmp_path):
    for level in ("arith_l3", "arith_l4"):
        for t in (0.1, 1.2):
            protocol = {"protocol": sampled_at(t), "max_in_flight": 10 * t, "output_root": f"there_{t}"}
            stored(tmp_path, f"nano-{level}-t{t}-base", base(level), **protocol)
            stored(tmp_path, f"nano-{level}-t{t}-vote", vote(level), **protocol)
    report = write_report(tmp_path, "run")
    assert not report.notes
    assert gains(report) == {(b, *pair) for b in ("arith_l3", "arith_l4", "arith_l3-l4") for pair in PAIRS}
    shown = (tmp_path / "run/report/table.md").read_text()
    assert all(name in shown for pair in PAIRS for name in pair)


def test_an_arm_is_paired_with_the_base_of_its_settings_whatever_their_names(tmp_path):
    for t in (0.1, 1.2):
        stored(tmp_path, f"nano-arith_l1-base-temperature_{t}", base(), protocol=sampled_at(t))
    stored(tmp_path, "nano-arith_l1-vote", vote(), protocol=sampled_at(1.2))
    assert gains(write_report(tmp_path, "run")) == {("arith_l1", "vote", "base, temperature_1.2")}


def test_a_swept_value_with_the_protocol_in_it_stays_whole(tmp_path):
    for model in ("ckpt", "ckpt-quick"):
        settings = {"backbone": {"model_id": f"/tmp/{model}"}}
        for arm, cell in (("base", base()), ("vote", vote())):
            stored(tmp_path, f"nano-arith_l1-{arm}-model_id__tmp_{model}", cell, **settings)
    names = [f"model_id_{name}" for name in ("_tmp_ckpt", "_tmp_ckpt-quick")]
    assert gains(write_report(tmp_path, "run")) == {
        ("arith_l1", f"vote, {name}", f"base, {name}") for name in names
    }


def test_a_name_that_the_protocol_cuts_short_is_not_taken(tmp_path):
    model = {"backbone": {"model_id": "/tmp/ckpt-quick"}}
    stored(tmp_path, "nano-arith_l1-base-model_id__tmp_ckpt-quick", base(), **model)
    assert set(write_report(tmp_path, "run").frame["line"]) == {"base"}


def test_equal_names_of_other_settings_are_not_taken(tmp_path):
    stored(tmp_path, "nano-arith_l1-base", base(), protocol=sampled_at(0.1))
    stored(tmp_path, "nano-arith_l1-vote", vote(), protocol=sampled_at(0.6))
    stored(tmp_path, "nano-arith_l1-vote-temperature_1.2", vote(), protocol=sampled_at(1.2))
    lines = set(write_report(tmp_path, "run").frame["line"])
    assert lines == {"base, temperature_0.1", "vote, temperature_0.6", "vote, temperature_1.2"}


def test_cells_that_nothing_tells_apart_are_compared_with_nothing_and_it_is_said(tmp_path):
    for name in ("one", "two"):
        stored(tmp_path, name, base(), protocol=sampled_at(0.6))
    stored(tmp_path, "nano-arith_l1-vote", vote(), protocol=sampled_at(0.6))
    report = write_report(tmp_path, "run")
    assert not gains(report) and "one and two are one line of the tables" in report.notes[0]


def test_settings_that_leave_results_alone_make_no_lines_of_their_own(tmp_path):
    for t, where in ((0.1, "a"), (1.2, "b")):
        settings = {
            "protocol": sampled_at(t), "backbone": {"model_id": where, "tensor_parallel": 10 * t},
            "engine": {"rows": t}, "seeds": [t],
        }  # fmt: skip
        stored(tmp_path, f"base_{where}", base(), weights="w", **settings)
    lines = set(write_report(tmp_path, "run").frame["line"])
    assert lines == {"base, temperature_0.1", "base, temperature_1.2"}


@pytest.mark.parametrize("other", ["one", "another", None])
def test_differences_of_other_weights_are_refused_and_said(tmp_path, other):
    for level in ("arith_l3", "arith_l4"):
        stored(tmp_path, f"nano-{level}-base", base(level), weights="one", backbone={"model_id": "a"})
        stored(tmp_path, f"nano-{level}-vote", vote(level), weights=other, backbone={"model_id": "b"})
    report = write_report(tmp_path, "run")
    assert bool(gains(report)) == (other != "another")
    said = {
        "one": [],
        None: ["nano-arith_l3-vote and nano-arith_l3-base differ in backbone.model_id"],
        "another": ["nano-arith_l3-vote and nano-arith_l3-base are not compared: the weights of their models "
                    "are not the same (`weights` in manifest.json)"],
    }  # fmt: skip
    assert list(report.notes[:1]) == said[other]


def test_a_pool_of_several_models_is_refused_and_one_of_other_settings_said(tmp_path):
    for level, weights, t in (("arith_l3", "one", 0.1), ("arith_l4", "another", 1.2)):
        stored(tmp_path, f"nano-{level}-base", base(level), weights=weights, protocol=sampled_at(t))
        stored(tmp_path, f"nano-{level}-vote", vote(level), protocol=sampled_at(t))
    report = write_report(tmp_path, "run")
    assert report.notes == (
        "base on arith_l3-l4 is not pooled: the weights of its levels are not the same",
        "the levels of vote on arith_l3-l4 differ in protocol.sampling.candidate.temperature",
    )
    pooled = report.frame.query("benchmark == 'arith_l3-l4'")
    assert set(pooled["line"]) == {"vote"} and not pooled["is_difference"].any()


def test_a_difference_between_settings_is_said(tmp_path):
    stored(tmp_path, "nano-arith_l1-base", base(), protocol=sampled_at(0.6), backbone={"tensor_parallel": 2})
    other = sampled_at(0.1) | {"idea_form": "full"}  # which a base does not read
    stored(tmp_path, "nano-arith_l1-vote", vote(), protocol=other, seeds=[1], backbone={"tensor_parallel": 1})
    report = write_report(tmp_path, "run")
    [note] = report.notes
    assert note.startswith("nano-arith_l1-vote and nano-arith_l1-base differ in")
    assert note.endswith("differ in protocol.sampling.candidate.temperature")
    assert note in (tmp_path / "run/report/table.md").read_text() and gains(report)


@pytest.mark.parametrize("seeds", [(0, 1), (2, 3)])
def test_seeds_that_a_pool_leaves_out_are_named(tmp_path, seeds):
    base("arith_l3", seeds=(0,)).write(tmp_path, "run")
    base("arith_l4", seeds=seeds).write(tmp_path, "run")
    [note] = write_report(tmp_path, "run").notes
    does = "pooled over seeds 0 alone" if 0 in seeds else "not pooled"
    had = f"arith_l3 has 0; arith_l4 has {seeds[0]}, {seeds[1]}"
    assert note == f"base on arith_l3-l4 is {does}, since its levels have different seeds ({had})"


def test_settings_of_a_job_without_groups_beside_it_are_read(tmp_path):
    for t in (0.1, 1.2):
        for arm, cell in (("base", base()), ("vote", vote())):
            cell.job = {"protocol": sampled_at(t)}
            stored(tmp_path, f"{arm}_{t}", cell)
    assert gains(write_report(tmp_path, "run")) == {("arith_l1", *pair) for pair in PAIRS}


@pytest.mark.parametrize(("backbone", "has_pair"), [("nano", False), ("another", True)])
def test_a_dashboard_has_pairs_of_models_with_names_of_their_own(tmp_path, backbone, has_pair):
    stored(tmp_path, "one", base(), weights="one")
    stored(tmp_path, "two", vote(backbone=backbone), weights="another")
    index = write_dashboard(tmp_path, ["run"], max_questions=9)
    assert bool(list(index.parent.rglob("pairs/*"))) == has_pair
