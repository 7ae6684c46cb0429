"""TTRL (Zuo et al. 2025): training at test time on the majority answer."""
