"""Settings in which two arms differ that an arm's name does not say."""

from icpo.report.cells import Arm
from icpo.report.swept import SAMPLED, is_minor, is_under, locations

IDEAS = tuple(  # what a base does not read, and arms set
    f"protocol.{name}"
    for name in (
        "idea_form", "answered_only", "kept_answered_only", "skip_single", "empty_headings", "lookahead",
        "sampling.summary", "sampling.lookahead",
    )
)  # fmt: skip


def differing(arm: Arm, other: Arm) -> list[str]:
    """The settings of model and protocol in which two arms differ; of those that go together the first.

    None of cells that store none, and none that leave results what they are.
    """
    if not arm.settings or not other.settings:
        return []
    unread = IDEAS if arm.key.is_base or other.key.is_base else ()
    unread += locations((arm.weights, other.weights))
    found: dict[tuple[str, ...], str] = {}
    for key in {**arm.settings, **other.settings}:
        mine, theirs = (repr(one.settings.get(key)) for one in (arm, other))
        if mine != theirs and is_under(key, SAMPLED) and not is_minor(key) and not is_under(key, unread):
            found.setdefault((key.rpartition(".")[2], mine, theirs), key)
    return [*found.values()]
