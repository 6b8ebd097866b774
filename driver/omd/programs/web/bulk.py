"""An action on many objects at once: all that match a filter, or those that were picked.

The database makes the texts and counts. What matches a filter is done in parts, each a commit of
its own, and all of them together take no more than was counted. Of what was picked, each object
has its own statement and answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import psycopg
from psycopg import ClientCursor
from psycopg.rows import tuple_row
from psycopg.types.json import Jsonb

from omd.programs.web import sending
from omd.programs.web.dialog import UnknownActionError, as_field

if TYPE_CHECKING:
    from omd.programs.web.doing import Work
    from omd.programs.web.opening import Connection

Row = dict[str, Any]

MOST_PICKED = 200
PART = 10_000

_LISTS = ("statuses", "task_types", "codes")
_IDS = ("task_ids", "batch_instance_ids")
_NOT_OF_THE_FILTER = ("key", "reason", "part")

ACTION = """\
SELECT a.object_kind, a.runs_user_sql, k.title AS kind_title, a.title
FROM omd_web.action AS a JOIN omd_web.object_kind AS k USING (object_kind)
WHERE a.action_code = %s"""
BULK = "SELECT * FROM omd_web.bulk(%s, %s, %s, %s, %s, %s, %s)"
OFFERS = """\
SELECT o.is_permitted, o.why_not, o.asks FROM omd_web.actions(%s, %s) AS o WHERE action_code = %s"""
STATEMENT = "SELECT omd_web.statement(%s, %s, %s, %s) AS text"


@dataclass(frozen=True)
class Wish:
    """What a person wants to do to many objects.

    Attributes:
        code: of the action.
        filter: as a JSON object; None: the objects were picked.
        keys: of the objects that were picked.
        arguments: what was typed, by parameter; what was left empty is not there.
        reason: why; None: not said.
    """

    code: str
    filter: Mapping[str, Any] | None
    keys: Sequence[str] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)
    reason: str | None = None

    @classmethod
    def of(cls, code: str, given: Mapping[str, Sequence[str]]) -> Wish:
        """Return the wish that a URL holds.

        A list is the same name repeated; one that holds nothing stays an empty list, which the
        database refuses: it would mean everything.
        """
        about = dict[str, Any]()
        for name, values in given.items():
            if name in _LISTS:
                about[name] = [value for value in values if value]
            elif name in _IDS:
                about[name] = [_number(value) for value in values if value]
            elif not (name.startswith("p_") or name in _NOT_OF_THE_FILTER) and values[-1]:
                about[name] = _value(name, values[-1])
        keys = tuple(dict.fromkeys(key for key in given.get("key", ()) if key))
        return cls(code, None if "key" in given else about, keys).typed(given)

    def typed(self, given: Mapping[str, Sequence[str]]) -> Wish:
        """Return the same with the arguments and the reason that a URL or a form holds."""
        typed = {
            name: as_field(values[-1])
            for name, values in given.items()
            if (name.startswith("p_") and values[-1]) or (name == "reason" and values[-1].strip())
        }
        reason = typed.pop("reason", None)
        return replace(self, arguments=typed, reason=reason)

    def query(self) -> str:
        """Return what a URL holds of what it is about."""
        if self.filter is None:
            return urlencode([("key", key) for key in self.keys])
        return urlencode(
            [
                (name, item if isinstance(item, str) else json.dumps(item))
                for name, value in self.filter.items()
                for item in ((value or [""]) if isinstance(value, list) else [value])
            ]
        )


def _number(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else text


def _value(name: str, text: str) -> Any:
    if name == "suspension_id":
        return _number(text)
    if name == "criteria":
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


@dataclass(frozen=True)
class Dialog:
    """What the database answers about a wish.

    Attributes:
        wish: what is asked.
        title: of the action.
        kind: of the objects.
        kind_title: what the objects are.
        asks: by parameter its label, its type, and whether it is required.
        is_permitted: whether the person may do it.
        why_not: the role that is missing.
        runs_user_sql: whether SQL of users runs in it.
        texts: what is sent first, or each statement of what was picked; empty: not all is given.
        problems: why a statement can't be made.
        count_text: the statement that counts; None: what was picked is counted.
        counted_at: when it was counted.
        count: of the objects; None: they were not counted yet.
    """

    wish: Wish
    title: str
    kind: str
    kind_title: str
    asks: Mapping[str, Mapping[str, Any]]
    is_permitted: bool
    why_not: str | None
    runs_user_sql: bool
    texts: Sequence[str] = ()
    problems: Sequence[tuple[str, psycopg.Error]] = ()
    count_text: str | None = None
    counted_at: Any = None
    count: int | None = None

    @property
    def text(self) -> str:
        """What is shown."""
        return "\n".join(self.texts)


class TooManyError(Exception):
    """More objects were picked than are done one by one."""


def look(connection: Connection, wish: Wish, *, counts: bool) -> Dialog:
    """Ask the database about a wish, and count what it is about.

    Raises:
        UnknownActionError: there is no such action.
        TooManyError: more was picked than may be.
        psycopg.Error: the filter is refused, or what the person may not read.
    """
    with connection.transaction(force_rollback=True):
        connection.execute("SET LOCAL statement_timeout = '5s'")
        action = connection.execute(ACTION, (wish.code,)).fetchone()
        if action is None:
            raise UnknownActionError(wish.code)
        if wish.filter is None:
            return _picked(connection, wish, action)
        return _counted(connection, wish, action, counts=counts)


def _common(action: Row, offer: Row) -> Row:
    return {
        "title": action["title"],
        "kind": action["object_kind"],
        "kind_title": action["kind_title"],
        "runs_user_sql": action["runs_user_sql"],
        "asks": offer["asks"] or {},
        "is_permitted": offer["is_permitted"],
        "why_not": offer["why_not"],
    }


def _counted(connection: Connection, wish: Wish, action: Row, *, counts: bool) -> Dialog:
    now = connection.execute("SELECT clock_timestamp() AS at").fetchone() or {}
    offer = _bulk(connection, wish, now["at"], PART, None)
    count = None
    if counts:
        with ClientCursor(connection, row_factory=tuple_row) as cursor:
            [count] = cursor.execute(offer["count_statement"].encode()).fetchone() or (0,)
        offer = _bulk(connection, wish, now["at"], max(min(count, PART), 1), None)
    return Dialog(
        wish,
        **_common(action, offer),
        texts=(offer["statement"],),
        count_text=offer["count_statement"],
        counted_at=now["at"],
        count=count,
    )


def _bulk(connection: Connection, wish: Wish, at: Any, limit: int, after: int | None) -> Row:
    asked = (
        wish.code, Jsonb(wish.filter), at, Jsonb(dict(wish.arguments)), wish.reason, limit, after,
    )  # fmt: skip
    return connection.execute(BULK, asked).fetchone() or {}


def _picked(connection: Connection, wish: Wish, action: Row) -> Dialog:
    if len(wish.keys) > MOST_PICKED:
        raise TooManyError
    offer: Row = {"asks": {}, "is_permitted": True, "why_not": None}
    texts: list[str] = []
    problems: list[tuple[str, psycopg.Error]] = []
    for key in wish.keys:
        try:
            with connection.transaction():
                if not offer["asks"] and not texts:
                    asked = (action["object_kind"], key, wish.code)
                    offer = connection.execute(OFFERS, asked).fetchone() or offer
                made = (wish.code, key, Jsonb(dict(wish.arguments)), wish.reason)
                texts.append((connection.execute(STATEMENT, made).fetchone() or {})["text"])
        except psycopg.OperationalError:
            raise
        except psycopg.Error as error:
            problems.append((key, error))
    if offer["is_permitted"]:
        offer = {**offer, "why_not": None}  # each object has a state of its own
    return Dialog(
        wish, **_common(action, offer), texts=texts, problems=problems, count=len(wish.keys)
    )


# What is done ------------------------------------------------------------------------------------


def do_parts(work: Work, connection: Connection, wish: Wish, dialog: Dialog) -> None:
    """Do it part by part: the first one as it was shown, each other one after the last id."""
    count = dialog.count or 0
    text, changed, passed = dialog.text, 0, 0
    work.report(0, count, f"0 of {count:,}")
    while not work.is_stopped:
        sending.send(work, connection, text, wish.code)
        answer = work.answers[-1]
        del work.answers[:-1]
        changed += answer["p_changed"]
        passed += answer["p_passed"]
        words = f"{changed:,} of {count:,}"
        if passed:
            words += f"; {passed:,} were passed over, since each alone would be refused"
        left = count - changed - passed
        if not answer["p_more"] and left:
            words += f"; {left:,} are left: others hold them, or they have changed"
        work.report(changed, count, words)
        if not answer["p_more"] or left <= 0:
            break
        last = answer.get("p_last_task_id", answer.get("p_last_instance_id"))
        text = _bulk(connection, wish, dialog.counted_at, min(left, PART), last)["statement"]


def do_each(work: Work, connection: Connection, dialog: Dialog) -> None:
    """Do what was picked, one statement after the other; each has its own answer."""
    total = len(dialog.texts)
    failed = {key for key, _ in dialog.problems}
    keys = [key for key in dialog.wish.keys if key not in failed]
    done = 0
    for key, text in zip(keys, dialog.texts, strict=True):
        if work.is_stopped:
            return
        answers = len(work.answers)
        try:
            sending.send(work, connection, text, dialog.wish.code)
            done += 1
            row = {} if len(work.answers) == answers else dict(work.answers.pop())
            work.answers.append({"key": key, **row, "outcome": "done"})
        except psycopg.Error as error:
            if connection.closed or connection.broken or work.is_stopped:
                raise
            work.problems.append((key, error))
        work.report(done, total, f"{done:,} of {total:,}")
