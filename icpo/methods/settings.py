"""Checks that the methods' settings share."""


def require_at_least(least: int, **settings: int) -> None:
    """Raises ValueError naming the first of `settings` that is below `least`."""
    for name, value in settings.items():
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
