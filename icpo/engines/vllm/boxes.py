"""Where a completion closes its first answer box."""

import re

OPENING = re.compile(r"boxed\s*\{")


def end_of_box(text: str) -> int | None:
    """The place after the first closed box, `boxed{...}` with balanced braces; None if none is closed yet.

    An echoed placeholder (`boxed{<number>}`) is no answer and is passed over.
    """
    for opening in OPENING.finditer(text):
        depth = 1
        for place in range(opening.end(), len(text)):
            depth += {"{": 1, "}": -1}.get(text[place], 0)
            if depth == 0:
                if not re.fullmatch(r"\s*<.*>\s*", text[opening.end() : place], re.DOTALL):
                    return place + 1
                break
    return None
