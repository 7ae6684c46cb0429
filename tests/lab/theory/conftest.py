"""The theory's tests write their tensors in double precision, as the theory does; all others do not."""

import pytest
import torch


@pytest.fixture(autouse=True, scope="module")
def double_precision():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)
