"""Seeds derived from what a sample is for.

So results depend neither on batching nor on a resume.
"""

import hashlib

SeedPart = int | str


def derive_seed(seed: int, *parts: SeedPart) -> int:
    """A 62-bit seed for one named sample under `seed`.

    Adding a sample index stays within 63 bits. The same parts give the same seed on every machine; any other
    part gives an independent one. Parts are length-prefixed, so ("ab", "c") and ("a", "bc") differ, and
    typed, so 1 and "1" differ.
    """
    digest = hashlib.blake2b(digest_size=8)
    for part in (seed, *parts):
        text = f"{type(part).__name__}:{part}".encode("utf-8", "surrogatepass")
        digest.update(len(text).to_bytes(4, "big") + text)
    return int.from_bytes(digest.digest(), "big") >> 2
