"""How the class of an error is found by its SQLSTATE, also of one that this version lacks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from psycopg.errors import error_from_result
from psycopg.pq import DiagnosticField

from omd._core import error_codes as _error_codes  # noqa: F401 - it makes the classes
from omd._core.errors import MADE as MADE
from omd._core.errors import CallerError, ConfigurationError, OmdError, StateError

if TYPE_CHECKING:
    import psycopg
    from psycopg.pq.abc import PGresult

_FAMILIES: dict[str, type[OmdError]] = {
    "OM0": CallerError,
    "OM1": StateError,
    "OM2": ConfigurationError,
}
_CODE = re.compile("OM[0-9]{3}")


def lookup(sqlstate: str) -> type[OmdError]:
    """Return the class of the errors that have an SQLSTATE of OMD, as psycopg's `lookup` does.

    ``except omd.errors.lookup("OM112")`` catches what a call raises, and what psycopg raises. Of a
    code that this version does not know it is the class of its first three characters.

    Args:
        sqlstate: the code, such as OM112.

    Raises:
        KeyError: it is no code of OMD.
    """
    code = sqlstate.upper()
    if not _CODE.fullmatch(code):
        raise KeyError(sqlstate)
    return MADE.get(code) or _FAMILIES.get(code[:3], OmdError)


def with_code(code: str, *arguments: Any, hint: str | None = None) -> OmdError:
    """Return an error of OMD that has this SQLSTATE, also where this version does not know it."""
    error = lookup(code)(*arguments, hint=hint)
    if error.sqlstate is None:
        error.sqlstate = code
    return error


def answered(result: PGresult) -> psycopg.Error:
    """Return the error that the server has answered, as psycopg does; ours is an `OmdError`."""
    error = error_from_result(result)
    code = (result.error_field(DiagnosticField.SQLSTATE) or b"").decode(errors="replace")
    if isinstance(error, OmdError) or not _CODE.fullmatch(code):
        return error
    return lookup(code)(*error.args, info=result)


def _reduced(error: OmdError) -> tuple[Any, ...]:
    """Return how an error is pickled: its class is looked up, in another version too."""
    kind = type(error)
    if kind not in _OWN:  # a user's subclass has a name of its own
        return OmdError.__reduce__(error)  # type: ignore[return-value]
    reduced = _OWN[kind](error)
    assert not isinstance(reduced, str)  # noqa: S101 - no exception has a name instead
    _, arguments, *state = reduced
    return (with_code, (kind.sqlstate, *arguments), *state)


# As a method, since libraries that pickle tracebacks take the place of what copyreg has.
_OWN = {kind: kind.__reduce__ for kind in MADE.values()}
for _kind in _OWN:
    _kind.__reduce__ = _reduced  # type: ignore[assignment]
