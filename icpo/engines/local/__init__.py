"""Engines that run a model in this process with PyTorch."""
