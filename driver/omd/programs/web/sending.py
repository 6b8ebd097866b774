"""A statement is sent to the letter as it was shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import ClientCursor
from psycopg.rows import dict_row

from omd._core.pooling import needs_session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from omd.programs.web.doing import Work
    from omd.programs.web.opening import Connection

# A quoted piece, in which a semicolon ends nothing, or the end of a statement.
_PIECE = re.compile(r"""\bE'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|;""", re.DOTALL)


def parts(text: str) -> list[str]:
    """Return what is sent at once: all, or each line where the routine commits itself.

    Several statements in one query are one transaction, so the call of such a routine stands alone.
    """
    if not text.startswith("SET "):
        return [text]
    ends = [piece.end() for piece in _PIECE.finditer(text) if piece.group() == ";"]
    lines = [
        text[start:end].removeprefix("\n") for start, end in zip([0, *ends], ends, strict=False)
    ]
    if "\n".join(lines) != text:
        raise ValueError("The lines of the statement are not what was shown.")
    return lines


_RUNS = "SELECT a.runs_user_sql AS runs FROM omd_web.action AS a WHERE a.action_code = %s"


def send(work: Work, connection: Connection, text: str, action_code: str) -> None:
    """Send what was shown, after what an earlier action may have left was undone.

    It means what it would mean in psql: names of users are found by the path of their login, and
    their code is called where the action does so. In a session that may become other persons
    neither holds.

    Raises:
        psycopg.errors.InsufficientPrivilege: the action runs SQL of users in such a session.
    """
    lines = parts(text)
    if connection.may_become_others:
        _require_ours(connection, action_code)
    if connection.is_pooled:
        if len(lines) > 1:
            raise needs_session("a reason for a routine that commits itself")
    else:
        if not connection.may_become_others:
            connection.execute("RESET omd.user_code")
        for before in ("RESET search_path", "ROLLBACK", "RESET omd.reason"):
            connection.execute(before.encode())
    for line in lines:
        work.answers.extend(_rows(connection, line))


def _require_ours(connection: Connection, action_code: str) -> None:
    row = connection.execute(_RUNS, (action_code,)).fetchone()
    if row is None or row["runs"]:
        raise psycopg.errors.InsufficientPrivilege(
            f"{action_code} runs SQL of users, which could act here as any person of this page;"
            " send it by psql"
        )


def _rows(connection: Connection, text: str) -> Iterator[dict[str, Any]]:
    """Send a simple query, and return the rows of its results."""
    with ClientCursor(connection, row_factory=dict_row) as cursor:
        cursor.execute(text.encode())
        while True:
            if cursor.description is not None:
                yield from cursor.fetchall()
            if not cursor.nextset():
                break
