"""TTRL (Zuo et al. 2025): training on majority answers."""
