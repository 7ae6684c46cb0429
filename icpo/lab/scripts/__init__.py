"""Shared parts of the scripts in experiments/."""
