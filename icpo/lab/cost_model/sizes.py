"""Sizes of stored cells' models, for their FLOPs."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import icpo.backbones
from icpo.backbones.backbone import PACKAGED
from icpo.lab.cost_model.flops import ModelSize, gated_decoder
from icpo.store import job_settings, read_manifest


def cell_size(cell: Path) -> ModelSize | None:
    """The size of a cell's model; None without its config.json."""
    backbone = job_settings((read_manifest(cell) or {}).get("config") or {}).get("backbone") or {}
    return model_size(str(backbone.get("model_id") or ""), backbone.get("revision"))


def model_size(model_id: str, revision: str | None = None) -> ModelSize | None:
    """The size of a packaged, local or cached model."""
    path = _config_path(model_id, revision) if model_id else None
    if path is None:
        return None
    config: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return gated_decoder(config)


def _config_path(model_id: str, revision: str | None) -> Path | None:
    packaged = model_id.startswith(PACKAGED)
    home = Path(icpo.backbones.__file__).parent if packaged else Path()
    local = home / model_id.removeprefix(PACKAGED) / "config.json"
    if local.is_file():
        return local
    from huggingface_hub import try_to_load_from_cache

    try:
        found = try_to_load_from_cache(model_id, "config.json", revision=revision)
    except ValueError:  # neither a folder here nor a name that a hub could have
        return None
    return Path(found) if isinstance(found, str) else None
