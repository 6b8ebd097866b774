"""The failure of a task: a text on the executor, which the driver turns into an error of OMD.

Spark passes only the printed traceback of an exception in a Python worker on. The text of
`TaskFailed` has a form that `failure_in` can read back.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection
from typing import Any

import adbc_driver_manager
import psycopg

from omd._core.errors import ConfigurationError, OmdError, WriteFailed
from omd._core.lookups import with_code

_ROLLED_BACK = "Start the Module again: its begin rolls back what this run wrote."
_WAYS_OUT = {
    "22001": "Shorten the text, or widen the column.",
    "22003": "Filter such rows out, or widen the column.",
    "22021": "Remove such characters first: translate(…, '\\u0000', '').",
    "22P05": "Remove such characters first: translate(…, '\\u0000', '').",
    "23502": "Fill it, for example with coalesce(), or filter such rows out.",
    "23503": "Load the rows that are referred to first, or filter such rows out.",
    "23505": "Remove the duplicates, and the rows whose key is in the table already.",
    "23514": "Filter such rows out, or change the constraint.",
    "42501": "Grant the role INSERT on the table; to overwrite it, TRUNCATE too.",
    "42703": "The table was changed meanwhile. Start the Module again.",
    "42P01": "The table was dropped meanwhile. Create it, and start the Module again.",
    "55P03": "Another session uses the table. If this job reads the table that it overwrites,"
    " persist() the DataFrame first.",
    "57014": "Raise statement_timeout for the role that writes.",
}
_GONE = frozenset({"57P01", "57P02", "57P03"})
_TELLING = frozenset({"22003", "23503", "23505"})  # the detail of the others shows whole rows
NEEDED = ("omd", "psycopg", "adbc_driver_postgresql", "pyarrow")
"""What no worker can do without; docs/how-to/spark/set-up.md says what some need beside it."""
_LACKS = re.compile(
    r"ModuleNotFoundError: No module named"
    rf" '({'|'.join((*NEEDED, 'pyspark', 'pandas', 'msgspec'))})\b"
)
_PRINTED = re.compile(r"TaskFailed: (.+)\nHINT: (.*)\nSQLSTATE: (\w+)$", re.MULTILINE)


class TaskFailed(Exception):  # noqa: N818 - named like the errors of OMD
    """The reason why a task failed; its text is for people, and for `failure_in`."""

    def __init__(self, message: str, hint: str | None = None, sqlstate: str | None = None) -> None:
        parts = (" ".join(text.split()) for text in (message, hint or "none", sqlstate or "none"))
        super().__init__("{}\nHINT: {}\nSQLSTATE: {}".format(*parts))


def own_failure(error: OmdError) -> TaskFailed:
    """Return the failure of a task that has raised an error of OMD by itself."""
    return TaskFailed(error.message, error.hint, error.sqlstate)


def server_failure(error: Exception, table: str, given: Collection[str]) -> TaskFailed:
    """Return the failure of a write that the server or the connection has reported.

    Args:
        error: the exception of psycopg or of the ADBC driver.
        given: the columns that the write fills.
    """
    said = _diagnostics(error)
    sqlstate = said.get("SQLSTATE")
    message = said.get("MESSAGE_PRIMARY") or str(error)
    if _is_connection_lost(error, sqlstate):
        return TaskFailed(f"{table}: the connection was lost: {message}", _ROLLED_BACK, sqlstate)
    if sqlstate is None:
        return TaskFailed(f"{table}: {message}", _ROLLED_BACK)
    if sqlstate.startswith("OM"):
        return TaskFailed(message, said.get("MESSAGE_HINT"), sqlstate)
    column = said.get("COLUMN_NAME")
    if column is None:
        place = re.search(r"line \d+, column (.+?)(?:: |$)", said.get("CONTEXT", ""))
        column = place and place[1]
    hint = _WAYS_OUT.get(sqlstate, _ROLLED_BACK)
    if sqlstate == "23502" and column not in given:
        hint = "The rows lack this column: add it to them, or give it a default."
    where = f'column "{column}" of {table}' if column else table
    detail = said.get("MESSAGE_DETAIL") if sqlstate in _TELLING else None
    return TaskFailed(f"{where}: {message}{f' ({detail})' if detail else ''}", hint, sqlstate)


def failure_in(error: BaseException) -> OmdError | None:
    """Return the error of OMD inside an exception of Spark; None where the job itself failed."""
    text = str(error)
    if lacks := _LACKS.search(text):
        return lacking("their Python", f"it lacks {lacks[1]}")
    if "PYTHON_VERSION_MISMATCH" in text:
        return lacking("their Python", "it is another version than that of this program")
    printed = _PRINTED.search(text)
    if printed is None:
        return None
    message, hint, sqlstate = (None if text == "none" else text for text in printed.groups())
    if sqlstate and sqlstate.startswith("OM"):
        return with_code(sqlstate, message, hint=hint)
    failure = WriteFailed(message, hint=hint)
    failure.sqlstate = sqlstate
    return failure


def lacking(program: str, why: str) -> ConfigurationError:
    """Return the error that the Python of the workers is not one for OMD.

    Args:
        program: what they run.
        why: what it lacks.
    """
    return ConfigurationError(
        f"the Python workers of this Spark session can't run OMD by {program}: {why}",
        hint="Set PYSPARK_PYTHON to a Python that has OMD before the session is made (here:"
        f" export PYSPARK_PYTHON={sys.executable}; on a cluster a path of the executors)."
        " spark.pyspark.python counts for spark-submit only. Then start again; a delivery goes on"
        " with: omd deliver --resume ID.",
    )


def _is_connection_lost(error: Exception, sqlstate: str | None) -> bool:
    if sqlstate is None:
        return isinstance(error, (psycopg.OperationalError, adbc_driver_manager.OperationalError))
    return sqlstate in _GONE or sqlstate.startswith("08")


def _diagnostics(error: Exception) -> dict[str, str]:
    """Return the fields of the server's answer, under libpq's names without PG_DIAG_."""
    if isinstance(error, psycopg.Error):
        names = ("sqlstate", "message_primary", "message_detail", "message_hint", "column_name")
        said = {name.upper(): getattr(error.diag, name) for name in (*names, "context")}
    else:
        details: list[tuple[str | bytes, Any]] = getattr(error, "details", None) or []
        said = {_text(name).removeprefix("PG_DIAG_"): _text(value) for name, value in details} or {
            "SQLSTATE": getattr(error, "sqlstate", None)
        }
    return {name: value for name, value in said.items() if value}


def _text(value: str | bytes) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
