"""The public questions, which are not shipped: where their files lie, and a mark for tests that need them."""

import os
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
FILES = Path(os.environ.get("ICPO_BENCHMARKS", CHECKOUT.parent / "shared/benchmarks"))
needs_files = pytest.mark.skipif(
    not FILES.is_dir(),
    reason=f"the public questions are not shipped: no folder {FILES}; ICPO_BENCHMARKS may name another",
)
