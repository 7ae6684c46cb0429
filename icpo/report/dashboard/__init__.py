"""The dashboard: a folder of static pages about stored runs."""

from icpo.report.dashboard.folder import write_dashboard
from icpo.report.dashboard.watched import write_watched

__all__ = ["write_dashboard", "write_watched"]
