import pytest

from tests.experiments.scripts import load


@pytest.mark.parametrize(
    ("name", "value", "flags"),
    [
        ("max_num_seqs", 512, ["--max-num-seqs", "512"]),
        ("enforce_eager", False, ["--no-enforce-eager"]),
        ("enable_prefix_caching", True, ["--enable-prefix-caching"]),
        ("compilation_config", {"sizes": [1, 2]}, ["--compilation-config", '{"sizes": [1, 2]}']),
    ],
)
def test_an_argument_is_a_flag_of_vllms_command_line(name, value, flags):
    assert list(load("throughput/serve").flags_of(name, value)) == flags
