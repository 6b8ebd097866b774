"""The errors of OMD: eleven classes, and `lookup`, which finds the class of each SQLSTATE.

    except omd.errors.lookup("OM112"):      # as psycopg.errors.lookup has it
    except omd.errors.StateError:           # OM112, and all others of OM1

docs/reference/errors.md has a line for each code.
"""

from typing import TYPE_CHECKING

from omd._core.errors import (
    Aborted,
    CallerError,
    ConfigurationError,
    ConnectionFailed,
    LeaseLost,
    NotInstalled,
    NotStarted,
    OmdError,
    Skipped,
    StateError,
    WriteFailed,
)
from omd._core.lookups import lookup

__all__ = [
    "Aborted",
    "CallerError",
    "ConfigurationError",
    "ConnectionFailed",
    "LeaseLost",
    "NotInstalled",
    "NotStarted",
    "OmdError",
    "Skipped",
    "StateError",
    "WriteFailed",
    "lookup",
]

# With a path the import of a name that is not here asks the finders, so that `Former` can answer.
__path__: list[str] = []


if not TYPE_CHECKING:  # for mypy the names are those above

    def __getattr__(name: str) -> object:
        from omd._core.former import refusal

        full = f"{__name__}.{name}"
        said = None if name.startswith("_") else refusal(full)
        raise AttributeError(said or f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
