import pytest

from icpo.tracking.reach import has_credentials


def test_nothing_there_is_no_credentials(tmp_path):
    assert not has_credentials({}, tmp_path)


@pytest.mark.parametrize("name", ["WANDB_API_KEY", "WANDB_IDENTITY_TOKEN_FILE"])
def test_environment_counts_unless_empty(tmp_path, name):
    assert has_credentials({name: "x"}, tmp_path)
    assert not has_credentials({name: ""}, tmp_path)


def test_login_counts_for_its_own_server_alone(tmp_path):
    (tmp_path / ".netrc").write_text("machine api.wandb.ai\n  login user\n  password x\n")
    assert has_credentials({}, tmp_path)
    assert not has_credentials({"WANDB_BASE_URL": "https://wandb.example.org:8080"}, tmp_path)


def test_netrc_elsewhere_and_broken(tmp_path):
    (tmp_path / "mine").write_text("machine api.wandb.ai login user password x")
    assert has_credentials({"NETRC": str(tmp_path / "mine")}, tmp_path / "none")
    (tmp_path / ".netrc").write_text("this is no netrc")
    assert not has_credentials({}, tmp_path)
