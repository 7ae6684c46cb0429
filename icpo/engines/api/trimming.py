"""What a server leaves in a text that is no part of the answer; pure functions of a call's fields."""

from icpo.engines.api.replies import Json

MIN_ECHO_CHARACTERS = 32  # of a chat message: a short question may well begin its own answer


def without_prompt(text: str, fields: Json) -> str:
    """The text without the prompt that it begins with; as it is where it does not.

    Of a chat, the prompt is the last message, unless it is so short that an answer may repeat it.
    """
    is_chat = "messages" in fields
    prompt = str(fields["messages"][-1]["content"] if is_chat else fields["prompt"]).strip()
    said = text.lstrip()
    is_echo = bool(prompt) and said.startswith(prompt) and not (is_chat and len(prompt) < MIN_ECHO_CHARACTERS)
    return said.removeprefix(prompt) if is_echo else text


def before_stop(text: str, fields: Json) -> str:
    """The text before the first of the call's stop strings.

    As it is where the call sets `min_tokens`, before which a server looks for no stop string.
    """
    if fields.get("min_tokens"):
        return text
    ends = [text.find(stop) for stop in fields.get("stop", ())]
    return text[: min((end for end in ends if end >= 0), default=len(text))]
