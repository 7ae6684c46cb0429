"""Completions to compressed ASCII JSON and back."""

import bz2
import json
import lzma
import zlib

from icpo.types import Batches, Completion, FinishReason

_STRONG_PACKERS = (
    bz2.compress,
    lambda data: zlib.compress(data, 9),
    lambda data: lzma.compress(data, check=lzma.CHECK_NONE, preset=9 | lzma.PRESET_EXTREME),
)
_UNPACKERS = ((b"x", zlib.decompress), (b"BZh", bz2.decompress), (b"\xfd7zXZ", lzma.decompress))


def pack_batches(batches: Batches) -> bytes:
    """Completions as compressed JSON; their place (`draw`) is left out."""
    rows = [
        [
            [
                c.text,
                c.finish_reason.value,
                c.num_prompt_tokens,
                c.num_completion_tokens,
                c.num_cached_tokens,
                *([] if c.log_probability is None else [c.log_probability]),
            ]
            for c in batch
        ]
        for batch in batches
    ]
    return pack(json.dumps(rows, separators=(",", ":")).encode())


def unpack_batches(key: str, packed: bytes) -> Batches:
    """The completions of a record, each with its draw `key/i/j`."""
    return [
        [
            Completion(text, prompt, generated, FinishReason(reason), cached, f"{key}/{i}/{j}", *scored)
            for j, (text, reason, prompt, generated, cached, *scored) in enumerate(batch)
        ]
        for i, batch in enumerate(json.loads(unpack(packed)))
    ]


def pack(data: bytes, *, strong: bool = False) -> bytes:
    """`data` packed by zlib; if `strong`, by the tightest packer."""
    return min((packer(data) for packer in _STRONG_PACKERS), key=len) if strong else zlib.compress(data, 6)


def unpack(packed: bytes) -> bytes:
    """What `pack` packed; each packer's output begins in its own way."""
    return next(unpacker for magic, unpacker in _UNPACKERS if packed.startswith(magic))(packed)
