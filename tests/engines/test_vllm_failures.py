"""Errors of a vLLM that does not start or dies."""

import pytest

from icpo.engines.vllm.failures import died, failed_start
from icpo.engines.vllm.log import VllmLog
from icpo.engines.vllm.settings import Vllm
from icpo.errors import EngineError
from tests.engines.conftest import backbone_of

SETTINGS = "2026-11-28 03:14:31,043 1408 INFO Initializing with config: trust_remote_code=False"


def settings_of(**changes):
    values = {
        "name": "vllm",
        "max_num_seqs": 8,
        "admission_burst": 16,
        "max_num_batched_tokens": 8192,
        "gpu_memory_utilization": 0.9,
        "enforce_eager": True,
        "in_process": False,
        "batch_invariant": False,
        "trusted_code": (),
        "options": {},
    }
    return Vllm(**{**values, **changes})


@pytest.fixture
def log(tmp_path):
    """An empty log."""
    path = tmp_path / "vllm.log"
    path.touch()
    return VllmLog(path)


@pytest.mark.parametrize(
    ("logged", "wanted"),
    [
        (
            "ERROR torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB",
            "does not fit.*5 GB.*2 GiB",
        ),
        ("ERROR No available memory for the cache blocks.", "does not fit.*raise backbone.tensor_parallel"),
        ("ERROR Model architectures ['Foo'] are not supported for now.", "Upgrade vllm.*Foo"),
        ("ERROR pass trust_remote_code=True", r"engine\.trusted_code=\[.*model\]"),
        ("ERROR something else", r"did not start[\s\S]*init failed[\s\S]*something else"),
    ],
)
def test_a_failed_start_says_what_to_do(log, tmp_path, logged, wanted):
    log.path.write_text(f"{SETTINGS}\n{logged}\n{SETTINGS}\n")
    backbone = backbone_of(tmp_path / "model", gpu_memory_gb=5)
    error = failed_start(RuntimeError("engine core init failed"), backbone, 4096, log)
    with pytest.raises(EngineError, match=wanted):
        raise error


def test_a_death_shows_the_end_of_the_log(log):
    log.path.write_text("\n".join(f"line {i}" for i in range(40)))
    message = str(died(RuntimeError("gone"), log))
    assert "gone" in message
    assert "line 39" in message
    assert "line 24" not in message


def test_without_the_package_the_preflight_names_what_to_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(EngineError, match=r"pip install 'icpo\[vllm\]'.*engine=transformers"):
        settings_of().preflight()


def test_values_out_of_range_are_refused():
    with pytest.raises(ValueError, match="max_num_seqs"):
        settings_of(max_num_seqs=0)
    with pytest.raises(ValueError, match="gpu_memory_utilization"):
        settings_of(gpu_memory_utilization=1.5)


def test_the_identity_leaves_out_what_only_changes_speed(tmp_path):
    def identity(**changes):
        return settings_of(**changes).identity("1.0", "sha", backbone_of(tmp_path), 64)

    assert identity(max_num_seqs=16, options={"compilation_config": {}}) == identity()
    different = [{"batch_invariant": True}, {"options": {"kv_cache_dtype": "fp8"}}]
    assert len({identity(), *(identity(**changes) for changes in different)}) == 3
