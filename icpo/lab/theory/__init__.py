"""Experiments that test the theorems of the paper."""
