"""The errors of OMD: eleven classes that users name, and the bases of all others.

Every SQLSTATE of class ``OM`` has a private class in ``error_codes``, which is generated from
``omd.error_catalogue``; psycopg raises that class itself, since making it registers its code.
`lookup` in ``lookups`` finds them.

    OM0nn  CallerError         the call was wrong
    OM1nn  StateError          the state of the instance does not allow the call
    OM2nn  ConfigurationError  something has to be registered or created first
    OM9nn  OmdError            the installation, or a broken invariant
"""
# ruff: noqa: N818 - the names say what happened; a suffix Error would add nothing

from __future__ import annotations

import json
from typing import Any, TypeVar, cast

import psycopg

_E = TypeVar("_E", bound="OmdError")


class OmdError(psycopg.DatabaseError):
    """An error of OMD: it has `sqlstate`, `message`, `detail` and `hint`, the next command."""

    def __init__(
        self,
        *args: Any,
        hint: str | None = None,
        detail: dict[str, Any] | None = None,
        **psycopg_arguments: Any,
    ) -> None:
        super().__init__(*args, **psycopg_arguments)
        self._hint = hint
        self._detail = detail

    def __str__(self) -> str:
        return f"{self.message}\nHint: {self.hint}" if self.hint else self.message

    @property
    def message(self) -> str:
        """The problem, in one sentence."""
        return self.diag.message_primary or super().__str__()

    @property
    def detail(self) -> dict[str, Any]:
        """The values involved, by name; empty when there are none."""
        if self._detail is not None:
            return self._detail
        try:
            detail = json.loads(self.diag.message_detail or "{}")
        except ValueError:
            return {"detail": self.diag.message_detail}
        return detail if isinstance(detail, dict) else {"detail": detail}

    @property
    def hint(self) -> str | None:
        """The command to run next."""
        return self._hint or self.diag.message_hint


class CallerError(OmdError):
    """The caller made a mistake: a code is unknown, or a value is missing or impossible."""


class StateError(OmdError):
    """The instance is not in a state that allows the call."""


class ConfigurationError(OmdError):
    """Something the run needs is not registered or does not exist."""


class ConnectionFailed(OmdError):
    """The database can't be reached, or the connection broke under a call."""


class NotInstalled(OmdError):
    """The database has no OMD, or an older version: ``omd install`` repairs that."""


class LeaseLost(OmdError):
    """The run outlived its lease: it was declared dead, or the database was not reached in time.

    The next begin rolls its rows back (rule P12). If the job itself raised an exception, that is
    the ``__cause__``.
    """


class WriteFailed(OmdError):
    """A write to the target failed, and the run with it; the next begin rolls it back.

    `sqlstate` is that of the server, if the server refused the write. The exception of Spark is the
    ``__cause__``.
    """


class NotStarted(Exception):
    """The evaluation decided against this run (rules P4 and P5); it is no error.

    The instance is closed already. `code` is that of the Module, Batch, topic or delivery, and
    `reason` is the reason code: RUNNING, DIRECTIVE, FREQUENCY, …. With UNKNOWN_INDICATOR a newer
    database has answered what this client does not know, so the client has ended the instance;
    `detail` names the indicator.

    Args:
        code: what was to run.
        instance_id: the instance; 0: there is none.
        reason: why it does not run.
        detail: more about that.
        kind: what has this code, for the message.
    """

    _verdict = "not started"

    def __init__(
        self,
        code: str,
        instance_id: int,
        reason: str | None,
        detail: str | None = None,
        *,
        kind: str = "run",
    ) -> None:
        super().__init__(code, instance_id, reason)
        self.code = code
        self.instance_id = instance_id
        self.reason = reason
        self.detail = detail
        self._kind = kind

    def __str__(self) -> str:
        instance = f"instance {self.instance_id}" if self.instance_id else None
        about = "; ".join(part for part in (self.detail, instance) if part is not None)
        said = f"{self._kind} {self.code} was {self._verdict}: {self.reason}"
        return f"{said} ({about})" if about else said


class Skipped(NotStarted):
    """Indicator C: there is no need to run now."""

    _verdict = "skipped"


class Aborted(NotStarted):
    """Indicator A: it must not run now, or could not begin in time."""

    _verdict = "aborted"


for _public in (OmdError, *OmdError.__subclasses__(), NotStarted, *NotStarted.__subclasses__()):
    _public.__module__ = "omd.errors"  # the name that users import, and the event log shows


# Private from here -------------------------------------------------------------------------------


class AnswerLost(ConnectionFailed):
    """The connection broke while a call that may not be repeated was on its way.

    Whether the database executed it is unknown, which is PostgreSQL's `sqlstate` 08007.
    """

    sqlstate = "08007"


class ServerIsStandby(OmdError, psycopg.errors.ReadOnlySqlTransaction):
    """The call writes, and the server is a standby; the hint names its primary.

    Its `sqlstate` is PostgreSQL's, 25006.
    """


class RightMissing(OmdError, psycopg.errors.InsufficientPrivilege):
    """A right is missing; the hint names the role that has it, and who grants that.

    Its `sqlstate` is PostgreSQL's, 42501.
    """


class InstallError(OmdError, code="OM909"):
    """The installer can't continue; ``hint`` says what to do about it."""


MADE: dict[str, type[OmdError]] = {"OM909": InstallError}
"""The classes of the catalogue, by their SQLSTATE."""


def made(base: type[_E], code: str, name: str, when: str) -> type[_E]:
    """Return a new class of the catalogue, which psycopg raises from now on.

    Args:
        base: the class that users may name instead.
        code: its SQLSTATE.
        name: its name in the catalogue.
        when: when it is raised.
    """
    MADE[code] = new = cast("type[_E]", type(name, (base,), {"__doc__": when}, code=code))
    new.__module__ = "omd._core.error_codes"
    return new


def name_in_events(kind: type[BaseException]) -> str:
    """Return the name of a type of exceptions as the event log shows it."""
    if kind.__module__ == "builtins":
        return kind.__qualname__
    # The private classes of ours have no place that anybody knows, only their name.
    is_ours = issubclass(kind, (OmdError, NotStarted))
    home = OmdError.__module__ if is_ours else kind.__module__
    return f"{home}.{kind.__qualname__}"


def one_line(error: BaseException) -> str:
    """Return the type of an exception and its message."""
    message = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    return " ".join(f"{type(error).__name__}: {message or error}".split())


def recorded_instance(error: psycopg.Error) -> int | None:
    """Return the instance of a run that was cancelled and whose failure is recorded."""
    try:
        instance = json.loads(error.diag.message_detail or "{}").get("module_instance_id")
    except (ValueError, AttributeError):
        return None
    return instance if isinstance(instance, int) else None
