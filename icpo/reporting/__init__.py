"""Reporting: stored results to tables, figures and pages."""

from icpo.reporting.frame import question_frame, write_questions
from icpo.reporting.report import Report, write_report
from icpo.reporting.terminal import print_report

__all__ = ["Report", "print_report", "question_frame", "write_questions", "write_report"]
