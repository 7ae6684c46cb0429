"""Tensors in double precision, as in the tests of the equations."""

from tests.theory.conftest import double_precision

__all__ = ["double_precision"]
