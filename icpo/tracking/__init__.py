"""Tracking: where a cell's progress and metrics are shown while it runs."""

from icpo.tracking.report_run import log_report, tracker_of
from icpo.tracking.tracker import NoTracker, Tracker, TrackerRun
from icpo.tracking.wandb_tracker import WandbMode, WandbTracker

__all__ = ["NoTracker", "Tracker", "TrackerRun", "WandbMode", "WandbTracker", "log_report", "tracker_of"]
