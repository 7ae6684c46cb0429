"""Reporting: one frame of stored results, tables, figures and pages."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icpo.report.frame import run_frame
    from icpo.report.questions import question_frame, write_questions
    from icpo.report.report import Report, read_report, write_report
    from icpo.report.terminal import print_report

__all__ = [
    "Report",
    "print_report",
    "question_frame",
    "read_report",
    "run_frame",
    "write_questions",
    "write_report",
]
_HOMES = {
    "run_frame": "frame",
    "question_frame": "questions",
    "write_questions": "questions",
    "print_report": "terminal",
}


def __getattr__(name: str) -> Any:
    """What the package offers, imported when it is asked for: pandas takes a second to import."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"icpo.report.{_HOMES.get(name, 'report')}"), name)
