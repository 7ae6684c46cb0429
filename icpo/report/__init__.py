"""Reporting: stored results to tables, figures and pages."""

from icpo.report.frame import question_frame, write_questions
from icpo.report.report import Report, write_report
from icpo.report.terminal import print_report

__all__ = ["Report", "print_report", "question_frame", "write_questions", "write_report"]
