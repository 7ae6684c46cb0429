"""Reporting: one frame of stored results, tables, figures and pages."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icpo.report.frame import run_frame
    from icpo.report.questions import question_frame, write_questions
    from icpo.report.report import Report, read_report, write_report
    from icpo.report.terminal import print_report

_HOMES = {
    **dict.fromkeys(("Report", "read_report", "write_report"), "report"),
    **dict.fromkeys(("question_frame", "write_questions"), "questions"),
    "run_frame": "frame",
    "print_report": "terminal",
}


def __getattr__(name: str) -> Any:
    """What the package offers, imported when it is asked for: pandas takes a second to import."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"icpo.report.{_HOMES[name]}"), name)
