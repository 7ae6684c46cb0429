"""Masked secrets and escaped control characters.

The one list of names of secrets, used for settings, files, trackers and messages.
"""

import logging
import re
from collections.abc import Iterator, Mapping
from typing import Any

HIDDEN = "(hidden)"

_NAME = re.compile(
    r"(?i)((api|access|private|secret)_?key|secret|passw(or)?d|passphrase|credentials?|(^|[^a-z])auth(orization)?)$"
    r"|(^|[^a-z])key$"
    r"|(^|[^a-z])((hf|hub|wandb|access|auth|api|bearer|refresh|session|id|identity)_?)?(?<!eos_)(?<!bos_)(?<!pad_)"
    r"(?<!unk_)(?<!sep_)(?<!cls_)(?<!mask_)(?<!stop_)token$"
)
_USER = re.compile(r"(?<=://)[^/?#@\s'\"(][^/?#@\s'\"]*@")  # user:password@ of an address
_PARAMETER = re.compile(r"([?&;])([\w.-]+)=([^&;#\s'\"(][^&;#\s'\"]*)")  # ?name=value of an address
_ASSIGNED = re.compile(r"\b((?:[A-Z0-9_]+_)?(?:(?<=_)KEY|TOKEN|SECRET|PASSWORD))=(?![$(])([^\s'\"]+)")
_REFERENCE = re.compile(
    r"(?:(?<=://)[^/?#@\s'\":]*:)?\$\{[^{}]*\}"
)  # ${oc.env:NAME}, with the user before a password
_SIGNATURES = ("sig", "signature")
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def names_a_secret(name: str) -> bool:
    """Whether a setting of that name holds a secret."""
    return _NAME.search(name) is not None


def masked_text(text: str) -> str:
    """The text, with user names and secrets of addresses hidden."""
    text = _USER.sub(f"{HIDDEN}@", text)

    def shown(found: re.Match[str]) -> str:
        before, name, value = found.groups()
        return f"{before}{name}={HIDDEN if names_a_secret(name) or name.lower() in _SIGNATURES else value}"

    text = _PARAMETER.sub(shown, text)
    return _ASSIGNED.sub(rf"\1={HIDDEN}", text)


def masked(value: Any, name: str = "") -> Any:
    """Settings with their secrets hidden, by name and within texts.

    Numbers and flags under such a name stay: they are no secrets.
    """
    if isinstance(value, Mapping):
        return {str(key): masked(inner, str(key)) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [masked(inner, name) for inner in value]
    if not isinstance(value, str):
        return value
    return HIDDEN if value and names_a_secret(name) else masked_text(value)


def has_plain_secret(text: str) -> bool:
    """Whether an address in the text holds a secret word for word."""
    text = _REFERENCE.sub(HIDDEN, text)
    return masked_text(text) != text


def plain_secrets(value: Any, path: str = "") -> Iterator[str]:
    """The keys of settings that hold a secret word for word."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from plain_secrets(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from plain_secrets(inner, path)
    elif isinstance(value, str):
        is_named = value not in ("", HIDDEN) and "${" not in value and names_a_secret(path.rpartition(".")[2])
        if is_named or has_plain_secret(value):
            yield path


def escaped(text: str) -> str:
    """The text with control characters escaped, except line ends and tabs."""
    return _CONTROL.sub(lambda m: m[0].encode("unicode_escape").decode(), text)


def escaped_values(value: Any) -> Any:
    """Stored values whose texts are escaped, keys included."""
    if isinstance(value, Mapping):
        return {escaped(str(key)): escaped_values(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [escaped_values(inner) for inner in value]
    return escaped(value) if isinstance(value, str) else value


def shortened(text: str, limit: int) -> str:
    """The text, cut to `limit` characters."""
    return text if len(text) <= limit else f"{text[:limit]}..."


class SafeFormatter(logging.Formatter):
    """Log lines with secrets masked and control characters escaped."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        return escaped(masked_text(super().format(record)))


def log_to_terminal(level: int = logging.INFO) -> None:
    """Send log messages to standard error as plain lines."""
    handler = logging.StreamHandler()
    handler.setFormatter(SafeFormatter("%(message)s"))
    logging.basicConfig(level=level, handlers=[handler])
