from itertools import product

import pytest

from icpo.lab.cost_model.fit import TIME_TERMS, Measured, fit_costs, growth_exponent

GRID = list(product((1, 3, 5, 7), (4, 8, 16, 32)))


def costs(coefficients, lookahead_tokens=lambda n, k: 800.0):
    cells = []
    for n, k in GRID:
        ml = lookahead_tokens(n, k)
        cost = sum(c * TIME_TERMS[name](n, k, ml) for name, c in coefficients.items())
        cells.append(Measured(n, k, ml, cost))
    return cells


def test_known_coefficients_are_found_again():
    true = {"n^3": 0.5, "k n^2": 2.0, "n^2": 3.0, "k n": 7.0, "k m l n": 0.01}
    fit = fit_costs(costs(true, lambda n, k: 100.0 * n + 37 * k))
    assert fit.coefficients == pytest.approx(true, rel=1e-6)
    assert fit.relative_error < 1e-9 and fit.inseparable == ()


def test_terms_that_the_sweep_cannot_tell_apart_are_named_and_summed_into_the_others():
    fit = fit_costs(costs({"k n": 7.0, "k m l n": 0.01}))
    assert fit.inseparable == ("k m l n",)
    assert fit.coefficients["k n"] == pytest.approx(15.0)


def test_coefficients_are_never_negative():
    cells = [Measured(n, k, 800.0, 100.0 * k * n - 0.5 * n**3) for n, k in GRID]
    fit = fit_costs(cells)
    assert min(fit.coefficients.values()) >= 0
    assert fit.coefficients["k n"] > 0 and fit.relative_error > 0


def test_small_cells_count_as_much_as_large_ones():
    cells = [Measured(n, k, 800.0, 10.0 * k * n * (2 if (n, k) == (1, 4) else 1)) for n, k in GRID]
    assert fit_costs(cells).relative_error == pytest.approx((0.5**2 / 16) ** 0.5, rel=0.25)


def test_shares_add_up_and_follow_the_terms():
    fit = fit_costs(costs({"n^3": 1.0, "k n": 1.0}))
    shares = fit.shares(Measured(7, 4, 800.0, 1.0))
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["n^3"] == pytest.approx(343 / (343 + 28))


def test_too_few_cells_or_free_cells_are_refused():
    with pytest.raises(ValueError, match="positive"):
        fit_costs([Measured(1, 4, 0, 0.0)])


def test_one_cell_gives_one_term():
    fit = fit_costs([Measured(2, 4, 0, 16.0)])
    assert fit.coefficients == {"n^3": 2.0} and set(fit.inseparable) == set(TIME_TERMS) - {"n^3"}


def test_exponent_between_the_ends():
    assert growth_exponent({1: 2.0, 3: 9.0, 4: 32.0}) == pytest.approx(2.0)
    with pytest.raises(ValueError, match="two different n"):
        growth_exponent({5: 1.0})
