"""Reporting: stored results to tables, figures and pages."""

from icpo.reporting.report import Report, write_report
from icpo.reporting.terminal import print_report

__all__ = ["Report", "print_report", "write_report"]
