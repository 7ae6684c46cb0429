"""Whether W&B credentials are there."""

from collections.abc import Mapping
from netrc import NetrcParseError, netrc
from pathlib import Path
from urllib.parse import urlparse


def has_credentials(environment: Mapping[str, str], home: Path) -> bool:
    """Whether a W&B key, identity token or login (a netrc entry for the server) is there."""
    if environment.get("WANDB_API_KEY") or environment.get("WANDB_IDENTITY_TOKEN_FILE"):
        return True
    host = urlparse(environment.get("WANDB_BASE_URL", "https://api.wandb.ai")).hostname or ""
    named = environment.get("NETRC")
    return any(
        _knows(path, host) for path in ([Path(named)] if named else [home / ".netrc", home / "_netrc"])
    )


def _knows(path: Path, host: str) -> bool:
    try:
        return host in netrc(path).hosts
    except (OSError, NetrcParseError):  # an unreadable netrc is no login
        return False
