"""The dialog of an action: what it would send, what that would change, and who would do it.

All of it the database answers, on the person's own connection: `omd_web.actions` says what can be
done and what is asked, `omd_web.statement` makes the text, `omd_web.preview` tries it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from omd.programs.web.opening import Connection

Row = dict[str, Any]

ACTION = """\
SELECT a.object_kind, a.runs_user_sql, k.title AS kind_title, k.path, a.title
FROM omd_web.action AS a JOIN omd_web.object_kind AS k USING (object_kind)
WHERE a.action_code = %s"""
OFFER = "SELECT * FROM omd_web.actions(%s, %s) WHERE action_code = %s"
STATEMENT = "SELECT omd_web.statement(%s, %s, %s, %s) AS text"
PREVIEW = "SELECT * FROM omd_web.preview(%s, %s, %s)"


class UnknownActionError(Exception):
    """There is no such action."""


@dataclass(frozen=True)
class Wish:
    """What a person wants to do: one action on one object.

    Attributes:
        code: of the action.
        key: of the object.
        arguments: what was typed, by parameter; what was left empty is not there.
        reason: why; None: not said.
    """

    code: str
    key: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    reason: str | None = None

    @classmethod
    def of(cls, code: str, key: str, given: Mapping[str, str]) -> Wish:
        """Return the wish that a URL or a form holds: ``p_…`` and ``reason``."""
        typed = {
            name: as_field(value)
            for name, value in given.items()
            if (name.startswith("p_") and value) or (name == "reason" and value.strip())
        }
        return cls(code, key, {n: v for n, v in typed.items() if n != "reason"},
                   typed.get("reason"))  # fmt: skip

    def as_query(self) -> dict[str, str]:
        """Return what a URL holds of it."""
        return {**self.arguments, **({"reason": self.reason} if self.reason else {})}


def as_field(value: str) -> str:
    """Return a text as a field of a form gives it back: HTML holds no other control characters."""
    lines = value.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(c if c >= " " or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in lines)


@dataclass(frozen=True)
class Dialog:
    """What the database answers about a wish.

    Attributes:
        wish: what is asked.
        title: of the action.
        kind_title: what the object is.
        path: of the object's screen, with {key}.
        offer: the row of the action in ``omd_web.actions``.
        runs_user_sql: whether SQL of users runs in it.
        text: what would be sent; with ``:name`` while something is asked.
        is_whole: whether the text can be sent.
        problem: why the text can't be made of what was typed.
        preview: the row of ``omd_web.preview``; None: it was not tried.
    """

    wish: Wish
    title: str
    kind_title: str
    path: str
    offer: Row
    runs_user_sql: bool
    text: str
    is_whole: bool
    problem: psycopg.Error | None
    preview: Row | None

    @property
    def asks(self) -> Mapping[str, Mapping[str, Any]]:
        """What is asked: by parameter its label, its type, and whether it is required."""
        return self.offer["asks"] or {}


def look(connection: Connection, wish: Wish, *, tries: bool) -> Dialog:
    """Ask the database about a wish, and let it try the call unless it can't be sent yet.

    Raises:
        UnknownActionError: there is no such action.
        psycopg.Error: the object is unknown, or what the person may not read.
    """
    # What the preview does is undone by itself; the end of this transaction leaves nothing either.
    with connection.transaction(force_rollback=True):
        connection.execute("SET LOCAL statement_timeout = '5s'")
        return _looked(connection, wish, tries=tries)


def _looked(connection: Connection, wish: Wish, *, tries: bool) -> Dialog:
    action = connection.execute(ACTION, (wish.code,)).fetchone()
    if action is None:
        raise UnknownActionError(wish.code)
    offer = connection.execute(OFFER, (action["object_kind"], wish.key, wish.code)).fetchone()
    if offer is None:
        raise UnknownActionError(wish.code)
    asks = offer["asks"] or {}
    wish = Wish(
        wish.code,
        wish.key,
        {name: value for name, value in wish.arguments.items() if name in asks},
        wish.reason,
    )
    missing = [n for n, ask in asks.items() if ask.get("required") and n not in wish.arguments]
    text, is_whole, problem = offer["statement"], False, None
    preview: Row | None = None
    asked = (wish.code, wish.key, Jsonb(dict(wish.arguments)))
    if not missing:
        try:
            row = connection.execute(STATEMENT, (*asked, wish.reason)).fetchone()
        except psycopg.OperationalError:
            raise
        except psycopg.Error as error:
            problem = error
        else:
            text, is_whole = (row or {})["text"], True
            if tries:
                preview = _tried(connection, asked)
    return Dialog(
        wish, action["title"], action["kind_title"], action["path"], offer,
        action["runs_user_sql"], text, is_whole, problem, preview,
    )  # fmt: skip


def _tried(connection: Connection, asked: tuple[Any, ...]) -> Row:
    """Let the database try a call; what the procedure warns of belongs to the answer."""
    said: list[str] = []

    def hear(diagnostic: psycopg.errors.Diagnostic) -> None:
        if diagnostic.severity_nonlocalized == "WARNING" and diagnostic.message_primary:
            said.append(diagnostic.message_primary)

    connection.execute("SET LOCAL statement_timeout = '3s'")
    connection.add_notice_handler(hear)
    try:
        row = connection.execute(PREVIEW, asked).fetchone() or {}
    finally:
        connection.remove_notice_handler(hear)
    return {**row, "warnings": [*(row["warnings"] or []), *said]}
