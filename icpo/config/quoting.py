"""Overrides that Hydra cannot parse, and how to quote them."""

import re
import shlex
from collections.abc import Sequence

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException

from icpo.errors import ConfigError


def check_override(argument: str) -> None:
    """Raises ConfigError for an unreadable override, with the fix to paste."""
    key, equals, value = argument.partition("=")
    if key.lstrip("+") == "question" and "${" in value:
        raise ConfigError(
            "The question holds ${, which Hydra replaces by a setting. Put its text into a file, and pass "
            "question_file=FILE."
        )
    if not equals or argument.startswith("-") or _parses(argument):
        return
    quoted = f"{key}={_quoted(value)}"
    if not _parses(quoted):
        raise ConfigError(f"Hydra cannot read {argument}. Settings are KEY=VALUE, as in seeds=[0,1].")
    raise ConfigError(
        f"{argument} holds characters that Hydra takes as its own. If they are a part of the value, pass "
        f"{shlex.quote(quoted)}"
    )


def with_quoted_question(arguments: Sequence[str]) -> list[str]:
    """Arguments with the text of `question=` in quotes, for Hydra."""

    def quoted(argument: str) -> str:
        key, equals, text = argument.partition("=")
        is_bare = key.lstrip("+") == "question" and equals and text[:1] not in ("'", '"')
        return f"{key}={_in_quotes(text)}" if is_bare else argument

    return list(map(quoted, arguments))


def _parses(argument: str) -> bool:
    try:
        OverridesParser.create().parse_override(argument)
    except HydraException:
        return False
    return True


def _quoted(value: str) -> str:
    """A value in the double quotes of Hydra's grammar; of a list, each part that needs them."""
    if value.startswith("[") and value.endswith("]"):
        parts = (part if _parses(f"k={part}") else _quoted(part) for part in value[1:-1].split(","))
        return f"[{','.join(parts)}]"
    return _in_quotes(value)


def _in_quotes(value: str) -> str:
    escaped = re.sub(r'(\\*)"', r'\1\1\\"', value)
    backslashes = len(escaped) - len(escaped.rstrip("\\"))
    return f'"{escaped}{chr(92) * backslashes}"'
