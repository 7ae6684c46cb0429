"""Errors that a user can fix.

Each message names the thing, the value found and the fix. Every kind takes one message, so that an error
survives pickling between a SLURM job and its launcher.
"""

from typing import ClassVar


class IcpoError(Exception):
    """Base of all errors that a user can fix.

    `ends_run` is set where every other cell would meet the same error.
    """

    ends_run: ClassVar[bool] = False

    def __init__(self, message: str) -> None:
        super().__init__(message)


class ConfigError(IcpoError):
    """A configuration that cannot run: a missing, wrong or contradictory value."""


class ContractError(IcpoError):
    """A method, selector or reward that breaks its protocol."""


class BenchmarkError(IcpoError):
    """Questions that cannot be loaded, or that are not the ones expected."""


class EngineError(IcpoError):
    """An engine that cannot start, or that died."""


class RecordsError(IcpoError):
    """Stored results that cannot be read, written or continued."""


class HeldByAnother(RecordsError):
    """A folder that a living process works on."""


class OtherResults(RecordsError):
    """A folder whose results come from something else; it is left untouched."""


class Interrupted(IcpoError):
    """A run that a signal stopped; what was finished is kept."""


class BudgetError(IcpoError):
    """A budget of requests, tokens or cost is used up.

    What was finished is kept.
    """
