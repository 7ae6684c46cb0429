"""Tokens of a text, where a server does not count them."""

import logging
from functools import cached_property
from typing import Any

from icpo.backbones import Backbone
from icpo.engines.sources import absence, locate
from icpo.engines.tokenizers import load_tokenizer
from icpo.errors import EngineError

log = logging.getLogger(__name__)
BYTES_PER_TOKEN = 4  # of English text


class TokenCounter:
    """Counts tokens by the backbone's tokenizer, else estimates from bytes."""

    def __init__(self, backbone: Backbone) -> None:
        self._backbone = backbone

    def count(self, text: str) -> int:
        """How many tokens a text has."""
        if self._tokenizer is None:
            return len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN
        return len(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    @property
    def method(self) -> str:
        """How tokens are counted, for the account."""
        return "estimated from bytes" if self._tokenizer is None else "counted by the backbone's tokenizer"

    @cached_property
    def _tokenizer(self) -> Any:
        if absence(self._backbone) is not None:
            return None
        try:
            return load_tokenizer(locate(self._backbone), self._backbone)
        except (EngineError, ImportError) as error:
            log.warning("tokens are estimated from bytes: %s", error)
            return None
