"""The dashboard: stored runs to a folder of static pages that need neither network nor server."""

from icpo.report.dashboard.folder import write_dashboard
from icpo.report.dashboard.watched import write_watched

__all__ = ["write_dashboard", "write_watched"]
