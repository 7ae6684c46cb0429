"""What a completion says: its own turn, without its reasoning."""

import re

REASONING_TAGS = ("think", "thinking", "thought", "thoughts", "reasoning", "seed:think")
_NAMES = "|".join(REASONING_TAGS)
# An opening or a closing mark; those that close have a slash, "end" or "final".
_REASONING = re.compile(
    rf"</?(?:{_NAMES})>|\[/?think\]|◁/?think▷|<\|(?:begin|end)_of_thought\|>|<\|(?:start|end)_thinking\|>"
    r"|<\|channel\|>[^<>|]{1,80}<\|message\|>"
    r"|<\|end\|>\s*<\|start\|>\s*assistant(?:<\|channel\|>\s*final\s*<\|message\|>)?",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"/|\bend|channel\|>\s*final", re.IGNORECASE)
_TURN = re.compile(
    r"<\|(?:im_end|im_start|eot_id|eom_id|start_header_id|end_of_text|endoftext|end_of_turn|return|user|system)\|>"
    r"|<\|end\|>(?!\s*<\|start\|>\s*assistant)|</?(?:start|end)_of_turn>"
    r"|<\uff5c(?:User|end\u2581of\u2581sentence)\uff5c>|</s>(?=\s*(?:$|<s>|<\||\[INST\]))|\[INST\]"
)


def without_reasoning(text: str) -> str | None:
    """The first turn of a text outside its reasoning; None if it ends inside."""
    text = _first_turn(text)
    spoken: list[str] = []
    is_inside, num_closed, start = False, 0, 0
    for tag in _REASONING.finditer(text):
        if not _CLOSING.search(tag[0]):
            spoken.extend([] if is_inside else [text[start : tag.start()]])
            is_inside = True
        else:
            spoken = spoken if is_inside else []
            is_inside, num_closed = False, num_closed + 1
        start = tag.end()
    if is_inside and not num_closed:
        return None
    return "".join(spoken if is_inside else [*spoken, text[start:]])


def _first_turn(text: str) -> str:
    """The text before the first mark of a turn's end that follows anything."""
    start = len(text) - len(text.lstrip())
    for mark in _TURN.finditer(text):
        if text[start : mark.start()].strip():
            return text[: mark.start()]
        start = mark.end()
    return text
