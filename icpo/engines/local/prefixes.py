"""Prompts that begin alike, to compute the shared part once."""

from collections.abc import Sequence

Tokens = tuple[int, ...]


def cluster(prompts: Sequence[Tokens]) -> list[tuple[int, int]]:
    """Split sorted prompts into runs that begin alike.

    Returns the number of prompts and of shared tokens of each run. A prompt joins the run before it while at
    least half of what that run shares stays shared. The shared part is always shorter than every prompt of
    its run, so that each has a token of its own to predict from.
    """
    runs: list[tuple[int, int]] = []
    for index, prompt in enumerate(prompts):
        if runs:
            size, shared = runs[-1]
            common = min(_num_common(prompts[index - 1], prompt), shared, len(prompt) - 1)
            if 0 < shared <= 2 * common:
                runs[-1] = (size + 1, common)
                continue
        runs.append((1, len(prompt) - 1))
    return runs


def _num_common(a: Tokens, b: Tokens) -> int:
    """Length of the longest common prefix."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
