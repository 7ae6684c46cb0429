"""Throughput of an engine: schedules, work and ceilings."""
