import numpy as np

from icpo.seeding import derive_seed


def test_seeds_are_the_same_on_every_machine():
    assert derive_seed(0) == 2619430722548289310
    assert derive_seed(7, "q1", 3, "lookahead", 2) == derive_seed(7, "q1", 3, "lookahead", 2)


def test_parts_are_kept_apart():
    seeds = [
        derive_seed(0, "ab", "c"),
        derive_seed(0, "a", "bc"),
        derive_seed(0, "abc"),
        derive_seed(0, 1),
        derive_seed(0, "1"),
    ]
    assert len(set(seeds)) == 5


def test_seeds_spread_over_62_bits():
    seeds = np.array([derive_seed(0, i) for i in range(4000)], dtype=object)
    assert all(0 <= seed < 2**62 for seed in seeds)
    ones = [sum((seed >> bit) & 1 for seed in seeds) for bit in range(62)]
    assert min(ones) > 1800 and max(ones) < 2200
