"""Whether W&B is reachable; once it failed, no more."""

import logging
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from netrc import NetrcParseError, netrc
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import getproxies

log = logging.getLogger(__name__)

CONNECT_SECONDS = 5.0
SHOWN_CHARACTERS = 200
DEFAULT_URL = "https://api.wandb.ai"
_answers: dict[str, bool] = {}  # by address; filled by this process alone


def server_url(environment: Mapping[str, str] = os.environ) -> str:
    """The address of the W&B server."""
    return environment.get("WANDB_BASE_URL") or DEFAULT_URL


def has_credentials(environment: Mapping[str, str], home: Path) -> bool:
    """Whether there is a W&B key, identity token or login."""
    if environment.get("WANDB_API_KEY") or environment.get("WANDB_IDENTITY_TOKEN_FILE"):
        return True
    host = urlparse(server_url(environment)).hostname or ""
    named = environment.get("NETRC")
    for path in [Path(named)] if named else [home / ".netrc", home / "_netrc"]:
        with suppress(OSError, NetrcParseError):  # an unreadable netrc is no login
            if host in netrc(path).hosts:
                return True
    return False


def is_reachable(url: str) -> bool:
    """Whether something accepts connections there, or at a proxy."""
    if url not in _answers:
        _answers[url] = bool(getproxies().get(urlparse(url).scheme)) or _accepts(url)
        if not _answers[url]:
            log.warning("W&B at %s cannot be reached: this process tracks offline", url)
    return _answers[url]


def give_up(url: str, reason: object) -> None:
    """Count a server as out of reach for this process."""
    if _answers.get(url, True):
        shown = " ".join(str(reason).split())[:SHOWN_CHARACTERS]
        log.warning("W&B cannot be used (%s): this process tracks offline from here on", shown)
    _answers[url] = False


def forget() -> None:
    """Forgets what was found out, as a new process would."""
    _answers.clear()


def _accepts(url: str) -> bool:
    parts = urlparse(url)
    port = parts.port or (80 if parts.scheme == "http" else 443)
    try:
        with socket.create_connection((parts.hostname or "", port), timeout=CONNECT_SECONDS):
            return True
    except OSError:
        return False
