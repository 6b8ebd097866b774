"""The base of all errors of OMD, and the errors that belong to no room.

Every SQLSTATE of class ``OM`` has a class, here or in the ``errors`` of its room, and psycopg
raises that class itself: a subclass that names its ``code`` registers it with psycopg. Those of the
rooms are generated from ``omd.error_catalogue``; its error names are the names of the classes.

    OM0nn  CallerError         the call was wrong
    OM1nn  StateError          the state of the instance does not allow the call
    OM2nn  ConfigurationError  something has to be registered or created first
    OM9nn  InternalError       a broken invariant
"""
# ruff: noqa: N818 - the names say what happened; a suffix Error would add nothing

from __future__ import annotations

import json
from typing import Any

import psycopg


class OmdError(psycopg.DatabaseError):
    """An error of OMD: it has `sqlstate`, `message`, `detail` and `hint`, the next command."""

    __module__ = "omd.errors"

    def __init_subclass__(cls, **psycopg_arguments: Any) -> None:
        super().__init_subclass__(**psycopg_arguments)
        if cls.__module__.startswith("omd.") and cls.__module__.endswith("errors"):
            cls.__module__ = "omd.errors"  # the name that users import, and the event log shows

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


class InternalError(OmdError, code="OM902"):
    """An invariant of OMD itself is broken."""


class MissingArgument(CallerError, code="OM005"):
    """A value that the call can't do without is NULL."""


class InvalidModel(CallerError, code="OM030"):
    """A document is wrong; the detail lists every problem with its path."""


class MigrationChanged(InternalError, code="OM901"):
    """A released migration was edited."""


class NewerInstalled(InternalError, code="OM903"):
    """The database has a newer version of OMD than the one that would be installed."""


class InstallationHeld(InternalError, code="OM904"):
    """Another session holds the lock of the first installation."""


class ForeignSchema(InternalError, code="OM905"):
    """The schema omd belongs to somebody else."""


class InstallerLacksRight(InternalError, code="OM906"):
    """Whoever installs or removes OMD is no superuser, and lacks a right that it takes."""


class StateDiffers(InternalError, code="OM907"):
    """A script of the installer was made for another state of OMD than the database has."""


class OlderInstalled(InternalError, code="OM908"):
    """The database has OMD from before 1.0, which is not upgraded."""


class ConnectionFailed(OmdError):
    """The database can't be reached."""


class AnswerLost(ConnectionFailed):
    """The connection broke while a call that may not be repeated was on its way.

    Whether the database executed it is unknown.
    """


class ServerIsStandby(OmdError, psycopg.errors.ReadOnlySqlTransaction):
    """The call writes, and the server is a standby; the hint names its primary.

    Its `sqlstate` is PostgreSQL's, 25006.
    """


class RightMissing(OmdError, psycopg.errors.InsufficientPrivilege):
    """A right is missing; the hint names the role that has it, and who grants that.

    Its `sqlstate` is PostgreSQL's, 42501.
    """


class NeedsSession(OmdError):
    """The call needs a session, and a pooler in transaction mode gives none; nothing was sent."""


class NotInstalled(OmdError):
    """The database has no OMD, or an older version: ``omd install`` repairs that."""


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
