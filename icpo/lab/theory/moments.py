"""The second moment by round, against the paper's lemma."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

import torch
from torch import Tensor

from icpo.lab.theory.artifacts import write_curve
from icpo.lab.theory.claims import Claim
from icpo.lab.theory.second_moment import MomentBounds

LEMMA = "Lemma (population second moment)"


def moment_claims(
    covered: MomentBounds, silent: MomentBounds, heavy: MomentBounds, heavy_penalty: float
) -> list[Claim]:
    """Claims on the lemma, which speaks of t >= 2."""
    share = (heavy.count_measured / heavy.count_floor)[1:].min().item()
    smallest = min(bounds.total_measured[1:].min().item() for bounds in (covered, silent, heavy))
    cross = silent.cross_measured[1:].max().item()
    simulation_error = 1e-3
    return [
        Claim(
            LEMMA,
            "the cross block Sigma_ng is at most C_b/t, so 0 without noise",
            cross <= simulation_error,
            f"without noise it reaches {cross:.3f}: the arms pulled depend on w, which the proof takes to be "
            "independent of them",
        ),
        Claim(
            LEMMA,
            "Sigma_nn on 1-perp is at least gamma/(K t), for any lambda",
            share >= 1 - simulation_error,
            f"with lambda = {heavy_penalty:g} it falls to {share:.2f} of that: a penalty on pulls correlates "
            "them "
            "negatively",
        ),
        Claim(
            LEMMA,
            "Sigma_t on S is positive definite for t >= 2",
            smallest > 0,
            f"smallest eigenvalue {smallest:.1e} over all settings and rounds",
        ),
    ]


def write_moments(cell: Path, settings: Mapping[str, MomentBounds]) -> None:
    """Write moments.csv: measured numbers and the lemma's, by round."""
    names = [name for name, b in settings.items() for _ in b.count_measured]
    columns: dict[str, Sequence[str] | Tensor] = {"setting": names}
    columns["t"] = torch.cat([torch.arange(1, len(b.count_measured) + 1) for b in settings.values()])
    for field in (field.name for field in fields(MomentBounds)):
        columns[field] = torch.cat([getattr(b, field).cpu() for b in settings.values()])
    write_curve(cell / "moments.csv", columns)
