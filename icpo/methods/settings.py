"""Checks that the methods' settings share."""


def require_at_least(least: int, **settings: int) -> None:
    """Raises ValueError naming the first of `settings` that is no whole number, or below `least`."""
    for name, value in settings.items():
        if type(value) is not int:  # true and false are integers to Python
            raise ValueError(f"{name} must be a whole number, got {value!r}")
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
