"""Log-probabilities of given texts, fed to the model as tokens.

Shapes: B rows, V vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from icpo.engines.local.decoding import Model
from icpo.engines.local.prefixes import Tokens


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """`text` is scored after the tokens `before`; completion `index` of request `request`."""

    before: Tokens
    text: Tokens
    request: int
    index: int


def score_rows(model: Model, rows: Sequence[ScoredRow]) -> list[float]:
    """Log-probability in nats of each row's text, for sorted rows."""
    firsts = [i for i, row in enumerate(rows) if i == 0 or row.before != rows[i - 1].before]
    batch = model.begin([rows[i].before for i in firsts], np.diff([*firsts, len(rows)]).tolist())
    lengths = np.array([len(row.text) for row in rows])
    tokens = np.zeros((len(rows), max(lengths.max(), 1)), dtype=np.int64)
    for padded, row in zip(tokens, rows, strict=True):
        padded[: len(row.text)] = row.text
    total_B = np.zeros(len(rows))
    for step in range(lengths.max()):
        tokens_B = torch.from_numpy(tokens[:, step]).to(batch.logits.device)
        log_p_BV = batch.logits.float().log_softmax(dim=-1)
        step_B = log_p_BV.gather(1, tokens_B[:, None])[:, 0].cpu().numpy()
        total_B += np.where(step < lengths, step_B, 0.0)
        if step + 1 < lengths.max():
            batch.step(tokens_B)
    return [float(total) for total in total_B]
