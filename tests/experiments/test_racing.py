"""The racing scripts: simulation on invented rounds, the cost table and the agreement on stored ones."""

import subprocess
import sys
from dataclasses import asdict, replace

import numpy as np
import pytest

from icpo.grading import GradingRules
from icpo.store import load_results
from icpo.types import (
    Attempt,
    Candidate,
    Completion,
    FinishReason,
    Lookahead,
    Rewards,
    Round,
    Votes,
)
from tests.experiments.scripts import EXPERIMENTS, load
from tests.report.stored_runs import GOLD, me_icpo


@pytest.fixture
def simulation(monkeypatch):
    monkeypatch.syspath_prepend(str(EXPERIMENTS / "racing"))
    monkeypatch.delitem(sys.modules, "races", raising=False)
    return load("racing/simulate")


def race_of(simulation, *shares):
    """A race of different ideas, whose answer of index 0 is right."""
    attempts = tuple(simulation.made_up_races(1)[0].attempts[: len(shares)])
    return simulation.Race("q", 0, 0, attempts, np.array(shares), np.array([own[0] for own in shares]))


def test_the_truth_is_entropy_and_the_price_of_silence(simulation):
    race = race_of(simulation, [0.5, 0.5, 0.0], [0.75, 0.0, 0.25], [0.0, 0.0, 1.0])
    assert race.bits_A() == pytest.approx([1.0, 0.25 * 4, 5 * 4])


def test_identical_ideas_have_one_distribution(simulation):
    """Attempts 0 and 2 are one idea: their 2 + 2 look-aheads are its four."""

    def looked(attempt, *counts, silent=0):
        return Lookahead(attempt, Votes(counts, silent))

    [attempt, *_] = simulation.made_up_races(1)[0].attempts
    attempts = tuple(replace(attempt, reward=1, summary=summary) for summary in "aba")
    lookaheads = (looked(0, ("7", 2)), looked(1, ("7", 1), silent=1), looked(2, ("8", 1), ("7", 1)))
    candidates = tuple(one.candidate for one in attempts)
    round_ = Round(candidates, Votes((), 0), Rewards((1,) * 3), (0, 1, 2), attempts, lookaheads, ())
    race = sys.modules["races"].race_of(("q", 0, 0), round_, {"7", "9"})
    assert race.shares_AC.tolist() == [[0.75, 0.25, 0.0], [0.5, 0.0, 0.5], [0.75, 0.25, 0.0]]
    assert race.accuracy_A.tolist() == [0.75, 0.5, 0.75]


def test_stored_rounds_know_what_is_right(simulation, tmp_path):
    """An attempt's accuracy is the share of its look-aheads that equal the gold answer."""
    protocol = {"lookahead": {"forced_answer": None}, "grading": asdict(GradingRules())}
    cell = me_icpo(config={"protocol": protocol}).write(tmp_path, "reference")
    races = simulation.stored_races(tmp_path / "reference")
    results = {result.key: result for result in load_results(cell)}
    shown = sys.modules["races"].idea_of
    assert races and {race.round for race in races} == {0, 1}
    for race in races:
        round_ = results[race.question, race.seed].rounds[race.round]
        for i, accuracy in enumerate(race.accuracy_A):
            labels = [
                label
                for x in round_.lookaheads
                if shown(round_.attempts[x.attempt]) == shown(round_.attempts[i])
                for label in x.votes.labels
            ]
            assert accuracy == pytest.approx(labels.count(GOLD) / len(labels))


def test_samples_follow_the_shares(simulation):
    shares_AC = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])
    sampled_AM = simulation.sample_answers(shares_AC, 20_000, np.random.default_rng(0))
    assert np.bincount(sampled_AM[0]) / 20_000 == pytest.approx([0.2, 0.5, 0.3], abs=0.02)
    assert set(sampled_AM[1]) == {0}


def test_a_race_is_charged_for_what_it_drew_and_blamed_for_what_it_missed(simulation):
    """Four look-aheads that agree by luck make an attempt of 1 bit as good as one of 0 bits."""
    race = race_of(simulation, [1.0, 0.0, 0.0], [0.5, 0.5, 0.0])
    [uniform] = [s for s in simulation.settings() if (s.rule, s.name) == ("uniform", "m=4")]
    fair = np.tile(np.array([[0], [0]]), 32)
    fair[1, 1] = 1
    outcome = simulation.run_race(race, fair, uniform, race.bits_A())
    sure = {"samples": 8, "stages": 1, "accuracy": 1, "regret_bits": 0, "missed": 0, "optimism_bits": 0}
    assert outcome == sure
    swapped = race_of(simulation, [0.5, 0.5, 0.0], [1.0, 0.0, 0.0])
    outcome = simulation.run_race(swapped, np.zeros((2, 32), dtype=int), uniform, swapped.bits_A())
    assert (outcome["regret_bits"], outcome["missed"], outcome["optimism_bits"]) == (1.0, 1.0, 1.0)
    assert outcome["accuracy"] == 0.5


def test_what_a_setting_gains_is_paired_with_uniform_16(simulation):
    """Both choose on the same samples, so only races where m = 4 is misled count."""
    race = race_of(simulation, [0.6, 0.4, 0.0], [0.9, 0.1, 0.0])
    chosen = [s for s in simulation.settings() if s.name in ("m=16", "m=4")]
    results = simulation.simulate([race], chosen, repetitions=200).set_index("setting")
    assert results.loc["m=16", "gained"] == 0
    least = results.loc["m=4"]
    assert least["gained"] == pytest.approx(least["accuracy"] - results.loc["m=16", "accuracy"])
    assert -0.1 < least["gained"] < -0.01


def test_exact_elimination_chooses_as_uniform_does_in_every_race(simulation):
    chosen = [s for s in simulation.settings() if s.rule == "exact" or s.name in ("m=16", "m=4")]
    results = simulation.simulate(simulation.made_up_races(4), chosen, repetitions=3)
    exact = results[results["rule"] == "exact"]
    assert (exact["more_than_uniform_bits"] == 0).all() and (exact["share"] <= 1).all()
    assert results.set_index("setting").loc["m=4", "samples"] == 4 * 16


def test_defaults_are_the_least_regret_within_a_third_of_the_samples(simulation):
    import pandas as pd

    rows = [
        ("halving", "dear", 90, 0.5, 0.0),
        ("halving", "good", 80, 0.3, 0.1),
        ("halving", "same", 70, 0.2, 0.1),
        ("halving", "poor", 10, 0.1, 0.9),
        ("uniform", "m=4", 64, 0.25, 0.0),
    ]
    results = pd.DataFrame(rows, columns=["rule", "setting", "samples", "share", "regret_bits"])
    assert simulation.best_within_target(results)["halving"]["setting"] == "same"


def test_a_default_keeps_within_a_third_on_every_set(simulation, monkeypatch):
    """`cheap` is best on one set and too dear on the other; of the rest `even` has the least mean regret."""
    import pandas as pd

    columns = ["rule", "setting", "samples", "share", "regret_bits"]
    one = [
        ("halving", "cheap", 20, 0.1, 0.0),
        ("halving", "even", 80, 0.3, 0.1),
        ("halving", "odd", 80, 0.3, 0.0),
    ]
    two = [
        ("halving", "cheap", 90, 0.8, 0.0),
        ("halving", "even", 80, 0.3, 0.1),
        ("halving", "odd", 80, 0.3, 0.3),
    ]
    monkeypatch.setitem(sys.modules, "simulate", simulation)
    joint = load("racing/defaults").joint([pd.DataFrame(rows, columns=columns) for rows in (one, two)])
    best = simulation.best_within_target(joint)["halving"]
    assert (best["setting"], best["regret_bits"]) == ("even", pytest.approx(0.1))


def test_the_cost_table_compares_each_arm_with_uniform_16(tmp_path):
    label = "me_icpo-majority-entropy-n2-k4-m16"
    me_icpo(skill=0.7, extra={"label": label, "num_lookaheads": 16}).write(tmp_path, "racing")
    me_icpo(skill=0.7, selector="racing", extra={"label": "me_icpo-halving-m16"}).write(tmp_path, "racing")
    script = load("racing/make_table")
    arms = [script.costs_of(cell) for cell in script.run_cells(tmp_path, "racing")]
    rows = {row["arm"]: row for row in script.rows_of(arms)}
    assert set(rows) == {label, "me_icpo-halving-m16"}
    assert "difference" not in rows[label]
    row = rows["me_icpo-halving-m16"]
    assert row["pairs"] == 12 and row["tokens"] == 40 * 4 + 30 * 4 * 2
    means = [arm.mean for arm in arms]
    assert row["differ"] == sum(means[0][key] != means[1][key] for key in means[0])
    other = {row["arm"]: row for row in script.rows_of(arms, "me_icpo-halving-m16")}
    assert other[label]["difference"] == -row["difference"]
    assert "difference" not in other["me_icpo-halving-m16"]
    assert row["difference_low"] <= row["difference"] <= row["difference_high"]
    own, full = (np.mean(list(arm.mean.values())) for arm in sorted(arms, key=lambda arm: arm.arm == label))
    assert row["difference"] == pytest.approx(own - full)


def test_uniform_16_with_forced_answers_is_no_reference(tmp_path):
    job = {"protocol": {"lookahead": {"forced_answer": "boxed{"}}}
    forced = me_icpo(extra={"label": "forced", "num_lookaheads": 16}, job=job).write(tmp_path, "racing")
    assert not load("racing/make_table").costs_of(forced).is_uniform


LABEL = {"label": "ours"}


def test_prompts_count_in_flops(tmp_path):
    script = load("racing/make_table")
    [unknown] = script.rows_of([script.costs_of(me_icpo(extra=LABEL).write(tmp_path, "unknown"))])
    assert unknown["flops"] is None and unknown["prompt_per_generated"] > 0
    job = {"backbone": {"model_id": "icpo:nano", "revision": None}}
    [row] = script.rows_of([script.costs_of(me_icpo(extra=LABEL, job=job).write(tmp_path, "racing"))])
    tokens = row["tokens"] * (1 + row["prompt_per_generated"])
    assert row["flops"] > 2 * 2_644_992 * tokens > 0
    assert script.shown(row)["flops"] == f"{row['flops'] / 1e9:,.1f}"


def test_another_idea_counts_whatever_the_index_and_whether_or_not_answers_move():
    script = load("racing/make_table")
    candidates = tuple(Candidate(Completion("", 1, 1, FinishReason.STOP), answer) for answer in "778")
    attempts = tuple(Attempt(c, r, s) for c, r, s in zip(candidates, (1, 1, 0), "aab", strict=True))

    def arm(name, *kept):
        rounds = [
            Round(candidates, Votes((), 0), Rewards((1, 1, 0)), (0, 1, 2), attempts, (), (i,)) for i in kept
        ]
        values = {("q", 0): 1.0}
        return script.Costs(
            "l1",
            name,
            name == "me_icpo-majority-entropy-n2-k3-m16",
            *[values] * 6,
            {("q", 0): tuple(map(script.kept_ideas, rounds))},
        )

    full = arm("me_icpo-majority-entropy-n2-k3-m16", 0, 0)
    arms = [full, arm("same", 1, 0), arm("other", 0, 2), arm("stopped", 0)]
    rows = {row["arm"]: row for row in script.rows_of(arms)}
    assert [rows[name]["kept_other"] for name in ("same", "other", "stopped")] == [0, 1, 0]
    assert rows["other"]["differ"] == 0


def test_only_arms_of_all_levels_are_pooled(tmp_path):
    for level in ("arith_l1", "arith_l2"):
        extra = {"label": "me_icpo-majority-entropy-n2-k4-m16"}
        me_icpo(benchmark=level, extra=extra).write(tmp_path, "racing")
    extra = {"label": "me_icpo-halving-m16"}
    me_icpo(benchmark="arith_l2", selector="racing", extra=extra).write(tmp_path, "racing")
    script = load("racing/make_table")
    arms = [script.costs_of(cell) for cell in script.run_cells(tmp_path, "racing")]
    [everywhere] = script.pooled(arms)
    assert everywhere.arm.endswith("-m16") and len(everywhere.mean) == 24


def test_ideas_that_both_runs_have_are_compared(simulation, monkeypatch):
    """The forced run lacks the second idea and has the others in another order."""
    script = load("racing/agreement")
    whole = race_of(simulation, [1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.75, 0.25, 0.0])
    other = race_of(simulation, [0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0])
    forced = replace(
        other, attempts=(whole.attempts[2], *simulation.made_up_races(1)[0].attempts[8:9], whole.attempts[0])
    )
    [(race, own, bits)] = script.shared_rounds([whole, replace(whole, round=1)], [forced])
    assert race is whole and own == [0, 2] and bits.tolist() == [0.0, 1.0]


def test_rank_correlation_is_undefined_where_nothing_varies(simulation):
    script = load("racing/agreement")
    rising = np.array([0.0, 0.5, 1.0])
    assert script.rank_correlation(rising, rising**2) == pytest.approx(1)
    assert script.rank_correlation(rising, -rising) == pytest.approx(-1)
    assert np.isnan(script.rank_correlation(rising, np.zeros(3)))


def test_the_commands_of_one_preset_are_a_part_of_all():
    script = EXPERIMENTS / "nano/commands.sh"

    def lines(*arguments):
        return subprocess.run(["bash", script, *arguments], capture_output=True, text=True, check=True).stdout

    racing = lines("racing").splitlines()
    assert racing and set(racing) < set(lines().splitlines())
    assert all("+exp=racing " in line and "engine.max_batch_rows=4096" in line for line in racing)
    assert "racing_uniform_m16," in racing[0]
    assert lines("racing", "benchmark.limit=2") == "".join(
        f"{line.rstrip()} benchmark.limit=2\n" for line in racing
    )
