"""Where the public questions and the paper's source lie, which are not shipped, and marks for their tests.

ICPO_BENCHMARKS names a folder of benchmark files and ICPO_PAPER one that holds icpo.tex; by default they are
looked for in a folder beside the checkout.
"""

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).resolve().parents[2] / "shared"
FILES = Path(os.environ.get("ICPO_BENCHMARKS", BESIDE / "benchmarks"))
PAPER = Path(os.environ.get("ICPO_PAPER", BESIDE / "paper")) / "icpo.tex"
needs_files = pytest.mark.skipif(
    not FILES.is_dir(),
    reason=f"the public questions are not shipped: no folder {FILES}; ICPO_BENCHMARKS may name another",
)
needs_paper = pytest.mark.skipif(
    not PAPER.is_file(),
    reason=f"the paper's source is not shipped: no {PAPER}; ICPO_PAPER may name its folder",
)
