"""Whether W&B credentials are there, and what of a configuration is none of a tracker's business."""

import re
from collections.abc import Mapping
from netrc import NetrcParseError, netrc
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

HIDDEN = "(hidden)"
_SECRET_KEY = re.compile(r"(^|_)(key|token|secret|password|passphrase|credentials?)$", re.IGNORECASE)


def has_credentials(environment: Mapping[str, str], home: Path) -> bool:
    """Whether a W&B key, identity token or login (a netrc entry for the server) is there."""
    if environment.get("WANDB_API_KEY") or environment.get("WANDB_IDENTITY_TOKEN_FILE"):
        return True
    host = urlparse(environment.get("WANDB_BASE_URL", "https://api.wandb.ai")).hostname or ""
    named = environment.get("NETRC")
    return any(
        _knows(path, host) for path in ([Path(named)] if named else [home / ".netrc", home / "_netrc"])
    )


def without_secrets(config: Any) -> Any:
    """`config` with every text under a key that names a secret replaced; numbers (max_tokens) stay."""
    if isinstance(config, Mapping):
        return {
            key: HIDDEN if isinstance(value, str) and _SECRET_KEY.search(str(key)) else without_secrets(value)
            for key, value in config.items()
        }
    if isinstance(config, list | tuple):
        return [without_secrets(value) for value in config]
    return config


def _knows(path: Path, host: str) -> bool:
    try:
        return host in netrc(path).hosts
    except (OSError, NetrcParseError):  # an unreadable netrc is no login
        return False
