"""How a routine is called: named arguments with casts, one way for every room.

The class of calls of each room is generated on `Calls`. psycopg is imported on the first call only,
so that the command line can read the signatures of a room without waiting for it.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, make_dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from omd._core.names import operator, qualified
from omd._core.texts import storable

if TYPE_CHECKING:
    from psycopg import sql

    from omd._core.errors import StateError
    from omd._core.link import Link

T = TypeVar("T")

AS_TEXT = "as text"
"""In the metadata of a field: the column is read as text."""


def _plain(value: object) -> object:
    """Return a value for which JSON has no type as one of those that it has."""
    return dict(value) if isinstance(value, Mapping) else str(value)


# By these a job is begun, written and ended. A client that is a minor version newer than its
# database runs jobs, so what an answer of theirs lacks is NULL.
JOBS = frozenset(
    "omd." + name
    for name in (
        "batch_abort",
        "batch_failure",
        "batch_skip",
        "batch_success",
        "begin_batch",
        "begin_module",
        "begin_write",
        "confirm_rollback",
        "create_load_window",
        "fence",
        "heartbeat",
        "heartbeat_batch",
        "module_abort",
        "module_definition",
        "module_failure",
        "module_skip",
        "module_success",
        "next_write_number",
        "record_input",
        "record_query",
        "record_write",
        "recorded_write",
        "rollback_module",
        "rollback_steps",
        "run_batch",
        "run_module",
    )
) | frozenset(
    "omd_dispatch." + name
    for name in (
        "claim_tasks",
        "complete_tasks",
        "leave_backend",
        "register_backend",
        "release_tasks",
        "renew_backend",
    )
)

CONTEXT = "p_execution_context"
_LOCAL = "p_is_local"

_ANSWERED = b"""\
SELECT pg_catalog.unnest(p.proargnames)
FROM pg_catalog.pg_proc AS p
WHERE p.pronamespace OPERATOR(pg_catalog.=) (
        SELECT n.oid FROM pg_catalog.pg_namespace AS n WHERE n.nspname OPERATOR(pg_catalog.=) $1
    )
    AND p.proname OPERATOR(pg_catalog.=) $2"""

_dumps = json.JSONEncoder(default=_plain).encode


@dataclass(frozen=True, slots=True)
class Repeat:
    """That a call is made again when its answer was lost."""

    # Of the error with which the second call is refused when the first one was executed; None: it
    # does the same once more.
    sqlstate: str | None = None
    name: str = ""  # what of the DETAIL of that error says so,
    value: str = ""  # and its value

    def is_done(self, refusal: StateError) -> bool:
        """Whether the refusal of a call made again shows that the first one was executed."""
        return refusal.sqlstate == self.sqlstate and refusal.detail.get(self.name) == self.value


@dataclass(frozen=True, slots=True, eq=False)  # compared by identity: its statements are kept
class Routine:
    """A routine of the database, as the catalog has it."""

    name: str  # with its schema
    # Those that take a value, in order, and their types.
    parameters: Mapping[str, str] = field(default_factory=dict)
    required: int = 0  # so many of them, the first ones, have no default
    # Whether and how it is called again when the answer was lost; None: it is not.
    repeat: Repeat | None = None
    is_function: bool = False  # SELECT calls it, not CALL
    answer: str | None = None  # the one value that a procedure answers
    is_alone: bool = False  # it ends transactions itself, so that it can't be a part of one
    is_long: bool = False  # a user's call of it has a connection of its own
    sets_session: bool = False  # what it sets stays in the session, unless it is local


class Apart(Protocol):
    """What gives a call a connection of its own."""

    def __call__(
        self,
        routine: Routine,
        values: Sequence[Any],
        call: Callable[[Link, Sequence[Any]], list[T]],
        /,
    ) -> list[T]:
        """Return the rows of a routine.

        Args:
            routine: the routine.
            values: its arguments.
            call: calls it over a connection, with these or other arguments.
        """
        ...


@dataclass(frozen=True, slots=True)
class _Nothing:
    """The answer of a procedure without INOUT parameters."""


class Reports:
    """What reads the views of omd_report."""

    _link: Link

    @overload
    def report(
        self,
        view: type[T],
        *,
        order_by: Sequence[str] = (),
        descending: bool = False,
        limit: int | None = None,
        after: Mapping[str, Any] | None = None,
        **equal: Any,
    ) -> list[T]: ...

    @overload
    def report(
        self,
        view: str,
        *,
        order_by: Sequence[str] = (),
        descending: bool = False,
        limit: int | None = None,
        after: Mapping[str, Any] | None = None,
        **equal: Any,
    ) -> list[Any]: ...

    def report(
        self,
        view: type[Any] | str,
        *,
        order_by: Sequence[str] = (),
        descending: bool = False,
        limit: int | None = None,
        after: Mapping[str, Any] | None = None,
        **equal: Any,
    ) -> list[Any]:
        """Rows of a view of omd_report.

        Args:
            view: its name; the rows have its columns as attributes.
            order_by: columns.
            descending: last first.
            limit: at most so many rows.
            after: columns that must be greater than a value.
            equal: columns that must equal a value, or one of a list; None is no condition.
        """
        from psycopg import sql

        values: list[Any] = []
        conditions = []
        for symbol, wanted in (("=", equal), (">", after or {})):
            for name, value in wanted.items():
                if value is not None:
                    is_list = isinstance(value, (list, tuple))
                    values.append(value)
                    conditions.append(
                        sql.SQL("{} {} ANY({})" if is_list else "{} {} {}").format(
                            sql.Identifier(name),
                            sql.SQL(operator(symbol)),
                            sql.SQL(f"${len(values)}"),
                        )
                    )
        if isinstance(view, str):
            query = sql.SQL("SELECT v.* FROM {} AS v").format(sql.Identifier("omd_report", view))
        else:
            query = sql.SQL("SELECT {} FROM {}").format(
                columns_of(view), sql.Identifier(*view.view.split("."))
            )
        if conditions:
            query += sql.SQL(" WHERE ") + sql.SQL(" AND ").join(conditions)
        if order_by:
            direction = sql.SQL(" DESC" if descending else "")
            query += sql.SQL(" ORDER BY ") + sql.SQL(", ").join(
                sql.Identifier(name) + direction for name in order_by
            )
        if limit is not None:
            query += sql.SQL(" LIMIT {}").format(limit)
        return self._link.execute(
            query.as_bytes(None), values, view, repeatable=True, is_interpreted=True
        )


class Calls(Reports):
    """What the generated calls of a room are made of.

    Args:
        link: the connection that they use.
        apart: for calls of users: how one that may take long gets a connection of its own. Without
            it every call uses the link, as it is.
    """

    def __init__(self, link: Link, apart: Apart | None = None) -> None:
        self._link = link
        self._apart = apart

    def _do(self, routine: Routine, *values: Any) -> None:
        """Call a procedure that answers nothing."""
        self._send(routine, _Nothing, values)

    def _value(self, routine: Routine, *values: Any) -> Any:
        """Call a routine that answers one value."""
        if routine.answer is not None:  # a newer database may answer more
            row = _row_of(routine.answer)
            return getattr(
                self._one(routine, row, self._send(routine, row, values)), routine.answer
            )
        (value,) = self._one(routine, tuple, self._send(routine, tuple, values)) or (None,)
        return value

    def _answer(self, routine: Routine, row: type[T], *values: Any) -> T:
        """Call a routine that answers one row."""
        return self._one(routine, row, self._send(routine, row, values))

    def _rows(self, routine: Routine, row: type[T], *values: Any) -> list[T]:
        """Call a function that answers rows."""
        return self._send(routine, row, values)

    def _tuples(self, routine: Routine, columns: type, *values: Any) -> list[tuple[Any, ...]]:
        """Call a function that answers rows, as tuples: many, of which something else is made.

        Args:
            routine: the function.
            columns: has its columns as fields.
            values: the arguments.
        """
        rows: list[Any] = self._send(routine, columns, values, made=tuple)
        return rows

    def _row_or_none(self, routine: Routine, row: type[T], *values: Any) -> T | None:
        """Call a function that answers a row, or none."""
        rows = self._send(routine, row, values)
        return rows[0] if rows else None

    def _with_context(self, routine: Routine, values: Sequence[Any]) -> Sequence[Any]:
        """Return the arguments with what else a setting would say, where a call has no settings."""
        if CONTEXT not in routine.parameters or not self._link.is_pooled:
            return values
        setting = self._link.settings.get("omd.execution_context")
        place = list(routine.parameters).index(CONTEXT)
        given = values[place]
        if not setting or not (given is None or isinstance(given, Mapping)):
            return values
        both = {**(given or {}), **json.loads(setting)}
        return [*values[:place], both, *values[place + 1 :]]

    def _answered(self, routine: Routine) -> tuple[str, ...]:
        """Return the columns that a function answers in this database, which may be older."""
        schema, _, name = routine.name.partition(".")
        rows = self._link.execute(_ANSWERED, [schema, name], tuple, repeatable=True)
        return tuple(row[0] for row in rows)

    @staticmethod
    def _one(routine: Routine, row: type[T], rows: list[T]) -> T:
        from omd._core.errors import OmdError

        if not rows:
            raise OmdError(f"{routine.name} answered nothing where a {row.__name__} was expected")
        return rows[0]

    def _local(self, routine: Routine, values: Sequence[Any]) -> Sequence[Any]:
        """Set for the transaction what a pooler would leave to the next client of the session.

        Raises:
            NeedsSession: there is such a pooler, and no transaction.
        """
        if not self._link.is_pooled:
            return values
        if not self._link.is_in_transaction:
            from omd._core.pooling import needs_session

            raise needs_session(f"{routine.name} outside of control.transaction()")
        place = list(routine.parameters).index(_LOCAL)
        return [*values[:place], True, *values[place + 1 :]]

    def _send(
        self, routine: Routine, row: type[T], values: Sequence[Any], *, made: type | None = None
    ) -> list[T]:
        """Call a routine, of a user over a connection of its own where it may take long.

        Inside a transaction there is no other connection: it would wait for the locks of its own
        caller. One that ends transactions itself is refused there by the database.
        """
        if self._apart is not None:
            if routine.sets_session:
                values = self._local(routine, values)
            if routine.is_long and not self._link.is_in_transaction:
                return self._apart(
                    routine,
                    values,
                    lambda link, given: Calls(link)._send_once(routine, row, given, made=made),
                )
        return self._send_once(routine, row, values, made=made)

    def _send_once(
        self, routine: Routine, row: type[T], values: Sequence[Any], *, made: type | None = None
    ) -> list[T]:
        """Call a routine; where that may not be done twice, say so when the answer was lost.

        When the answer of a begin is lost, the instance may or may not exist. A second begin would
        not be wrong, only useless: if the first one exists, the second finds it running and aborts.
        So the caller gets to know, and the lease frees the Module or Batch.
        """
        from omd._core.errors import AnswerLost, NotInstalled

        if routine.is_alone:
            values = self._with_context(routine, values)
        given = {
            name: _adapted(name, type_, value)
            for number, ((name, type_), value) in enumerate(
                zip(routine.parameters.items(), values, strict=True)
            )
            if value is not None or number < routine.required
        }
        repeat = routine.repeat

        def execute(statement: bytes) -> list[Any]:
            return self._link.execute(
                statement,
                list(given.values()),
                made or row,
                repeatable=repeat is not None,
                settled=None if repeat is None else repeat.is_done,
                is_alone=routine.is_alone,
                may_lack=routine.name in JOBS,
            )

        try:
            try:
                return execute(_statement(routine, row, tuple(given)))  # type: ignore[arg-type, unused-ignore]
            except NotInstalled as error:
                if not _lacks_column(error) or routine.name not in JOBS or made is not None:
                    raise
                return execute(
                    _statement(routine, row, tuple(given), self._answered(routine))  # type: ignore[arg-type, unused-ignore]
                )
        except AnswerLost as error:
            if repeat is not None:
                raise
            lease = given.get("p_lease")
            name = routine.name.partition(".")[2]
            raise AnswerLost(
                f"{error.message}; whether {name} was executed is unknown, so it is not repeated",
                hint=f"If it was, its lease of {lease} frees it; then start again."
                if lease
                else "See what runs with: omd status",
            ) from error


@functools.cache
def _row_of(name: str) -> type:
    """Return the class of an answer of one value."""
    return make_dataclass("Answer", [(name, Any)], frozen=True, slots=True)


def _lacks_column(error: Exception) -> bool:
    import psycopg

    return isinstance(error.__cause__, psycopg.errors.UndefinedColumn)


@functools.cache
def _statement(
    routine: Routine, row: type, given: tuple[str, ...], there: tuple[str, ...] | None = None
) -> bytes:
    """``p_x => $1::type`` for every argument given; of the answer all columns, or what is there."""
    from psycopg import sql

    call = sql.SQL("{}({})").format(
        sql.Identifier(*routine.name.split(".")),
        sql.SQL(", ").join(
            sql.SQL("{} => {}::{}").format(
                sql.Identifier(name),
                sql.SQL(f"${number}"),
                sql.SQL(qualified(routine.parameters[name])),
            )
            for number, name in enumerate(given, 1)
        ),
    )
    if not routine.is_function:
        statement = sql.SQL("CALL {}").format(call)
    elif row is tuple:
        statement = sql.SQL("SELECT {}").format(call)
    else:
        statement = sql.SQL("SELECT {} FROM {}").format(columns_of(row, there), call)
    return statement.as_bytes(None)


def columns_of(row: type, there: tuple[str, ...] | None = None) -> sql.Composed:
    """The columns that a row class takes; JSON is text where its field says `AS_TEXT`.

    Args:
        row: the class.
        there: only these; None: all.
    """
    from psycopg import sql

    return sql.SQL(", ").join(
        sql.Identifier(field.name)
        + sql.SQL("::pg_catalog.text" if AS_TEXT in field.metadata else "")
        for field in fields(row)
        if there is None or field.name in there
    )


def _adapted(name: str, type_: str, value: Any) -> Any:
    """A value as psycopg takes it for a parameter of this type."""
    if value is None:
        return None
    if isinstance(value, Mapping) or (type_ == "jsonb" and not isinstance(value, str)):
        return _json_of(name, value)
    if isinstance(value, datetime) and value.tzinfo is None:
        from omd._core.errors import CallerError

        raise CallerError(
            f"{name.removeprefix('p_')} {value} has no time zone",
            hint="Say which instant is meant: datetime(…, tzinfo=timezone.utc).",
        )
    if isinstance(value, str):
        if type_ == "jsonb" and ("\\u0000" in value or "\\ud" in value.lower()):
            with suppress(ValueError):  # what is no JSON the database tells
                _json_of(name, json.loads(value))
        return storable(str(value)) if name.endswith(("detail", "details")) else str(value)
    if type_.endswith("[]") and isinstance(value, Sequence):
        return list(value)
    return value


def _json_of(name: str, value: Any) -> str:
    """A value as JSON, if PostgreSQL takes it: a document, whose error is that of documents."""
    from omd._core.documents import TOO_DEEP, problem_of
    from omd._core.error_codes import InvalidModel

    try:
        text = _dumps(value)
        # Two such escapes may be one character.
        problem = problem_of(value) if "\\u0000" in text or "\\ud" in text else None
    except RecursionError:
        problem = problem_of(value) or ("", TOO_DEEP)
    except ValueError:
        problem = problem_of(value)
        if problem is None:  # a number of thousands of digits
            raise
    if problem is None:
        return text
    path, why = problem
    raise InvalidModel(
        ": ".join(part for part in (name.removeprefix("p_"), storable(path), why) if part),
        hint="Mend the document.",
        detail={
            "path": storable(path),
            "problem": why,
            "problem_count": 1,
            "problems": [{"path": storable(path), "problem": why}],
        },
    )
