"""The grading rules that a stored cell was graded by."""

from collections.abc import Callable
from dataclasses import fields
from logging import getLogger
from pathlib import Path

from icpo.errors import RecordsError
from icpo.grading import GradingRules
from icpo.store import read_manifest

_log = getLogger(__name__)


def stored_rules(cell: Path, say: Callable[[str], None] = _log.warning) -> GradingRules:
    """The rules of a cell's protocol; says which it lacks, being older, and what is taken for them.

    Raises RecordsError if the manifest is gone, or for a rule that is not known here.
    """
    manifest = read_manifest(cell)
    if manifest is None:
        raise RecordsError(f"{cell}: no manifest, which says how its answers are graded. Restore it.")
    given = {k: v for k, v in manifest["config"]["protocol"]["grading"].items() if k != "_target_"}
    defaults = {rule.name: rule.default for rule in fields(GradingRules)}
    if unknown := sorted(given.keys() - defaults):
        raise RecordsError(
            f"{cell}: protocol.grading has {', '.join(unknown)}, which this version does not know. "
            "Grade it with the version that the manifest names under `code`."
        )
    assumed = ", ".join(f"{name}={value!r}" for name, value in defaults.items() if name not in given)
    if assumed:
        say(f"{cell.name}: its protocol.grading lacks rules; assumed as in protocol=paper: {assumed}")
    return GradingRules(**given)
