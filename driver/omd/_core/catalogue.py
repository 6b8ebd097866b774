"""Routines and views that somebody names: what they take and answer, as the catalogue has it.

The generated calls know their routines; what is here knows none, and asks the database. What is not
public is not found. Values are parameters of a statement, of the types that the catalogue has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omd._core.names import operator

if TYPE_CHECKING:
    from omd._core.link import Link

# Whom a view is for: the first words of its COMMENT, as omd.comment_parts reads them.
_AUDIENCE = re.compile(r"For (programs|the driver|rooms): *")
_PUBLIC = (None, "programs")

_ROUTINES = b"""\
SELECT l.routine, l.comment
FROM omd_report.routine_list AS l
WHERE l.is_public
ORDER BY l.routine COLLATE pg_catalog."C" """

_ROUTINE = b"""\
SELECT
    l.comment,
    p.prokind OPERATOR(pg_catalog.=) 'f',
    p.proretset,
    p.prorettype OPERATOR(pg_catalog.=) 'pg_catalog.void'::pg_catalog.regtype::pg_catalog.oid,
    a.name,
    a.mode::pg_catalog.text,
    CASE WHEN t.oid IS NOT NULL THEN pg_catalog.format('%I.%I', s.nspname, t.typname) END,
    pg_catalog.format_type(t.oid, NULL),
    pg_catalog.pg_get_function_arg_default(p.oid, a.number::pg_catalog.int4) IS NOT NULL
FROM omd_report.routine_list AS l
INNER JOIN pg_catalog.pg_proc AS p ON l.routine_oid OPERATOR(pg_catalog.=) p.oid
LEFT JOIN LATERAL ROWS FROM (
    pg_catalog.unnest(p.proargnames),
    pg_catalog.unnest(
        coalesce(
            p.proargmodes,
            pg_catalog.array_fill(
                'i'::pg_catalog."char", ARRAY[p.pronargs::pg_catalog.int4]
            )
        )
    ),
    pg_catalog.unnest(coalesce(p.proallargtypes, p.proargtypes::pg_catalog.oid[]))
) WITH ORDINALITY AS a (name, mode, type, number) ON TRUE
LEFT JOIN pg_catalog.pg_type AS t ON a.type OPERATOR(pg_catalog.=) t.oid
LEFT JOIN pg_catalog.pg_namespace AS s ON t.typnamespace OPERATOR(pg_catalog.=) s.oid
WHERE l.is_public AND l.routine OPERATOR(pg_catalog.=) $1
ORDER BY a.number"""

_VIEWS = b"""\
SELECT c.relname, coalesce(pg_catalog.obj_description(c.oid, 'pg_class'), '')
FROM pg_catalog.pg_class AS c
INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace OPERATOR(pg_catalog.=) n.oid
WHERE n.nspname OPERATOR(pg_catalog.=) 'omd_report' AND c.relkind OPERATOR(pg_catalog.=) 'v'
ORDER BY c.relname COLLATE pg_catalog."C" """

_COLUMNS = b"""\
SELECT
    a.attname,
    pg_catalog.format('%I.%I', s.nspname, t.typname),
    pg_catalog.format_type(t.oid, NULL),
    coalesce(pg_catalog.col_description(a.attrelid, a.attnum), '')
FROM pg_catalog.pg_class AS c
INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace OPERATOR(pg_catalog.=) n.oid
INNER JOIN pg_catalog.pg_attribute AS a ON c.oid OPERATOR(pg_catalog.=) a.attrelid
INNER JOIN pg_catalog.pg_type AS t ON a.atttypid OPERATOR(pg_catalog.=) t.oid
INNER JOIN pg_catalog.pg_namespace AS s ON t.typnamespace OPERATOR(pg_catalog.=) s.oid
WHERE n.nspname OPERATOR(pg_catalog.=) 'omd_report' AND c.relname OPERATOR(pg_catalog.=) $1
    AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped
ORDER BY a.attnum"""

# The key of an entity in the model of its interface, and else the primary key.
_KEY = b"""\
SELECT t.attribute_code, 1, t.key_position
FROM pg_catalog.pg_class AS c
INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace OPERATOR(pg_catalog.=) n.oid
INNER JOIN omd_delivery.interface AS i ON n.nspname OPERATOR(pg_catalog.=) ANY (
    ARRAY[
        i.lvl_schema,
        pg_catalog.concat('gdal_', i.interface_code), pg_catalog.concat('asof_', i.interface_code),
        pg_catalog.concat('history_', i.interface_code),
        pg_catalog.concat('changes_', i.interface_code)
    ]
)
INNER JOIN omd_delivery.entity AS e
    ON i.interface_id OPERATOR(pg_catalog.=) e.interface_id
    AND c.relname OPERATOR(pg_catalog.=) e.entity_code
INNER JOIN omd_delivery.attribute AS t
    ON e.entity_id OPERATOR(pg_catalog.=) t.entity_id AND t.key_position IS NOT NULL
WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass($1)
UNION ALL
SELECT a.attname, 2, a.attnum
FROM pg_catalog.pg_index AS x
INNER JOIN pg_catalog.pg_attribute AS a
    ON x.indrelid OPERATOR(pg_catalog.=) a.attrelid
    AND a.attnum OPERATOR(pg_catalog.=) ANY (x.indkey)
WHERE x.indisprimary AND x.indrelid OPERATOR(pg_catalog.=) pg_catalog.to_regclass($1)
ORDER BY 2, 3"""


@dataclass(frozen=True, slots=True)
class Named:
    """A parameter or a column.

    Attributes:
        name: as SQL has it.
        type: its type, quoted and with its schema.
        shown: its type as people write it.
    """

    name: str
    type: str
    shown: str

    @property
    def short(self) -> str:
        """The name without ``p_``."""
        return self.name.removeprefix("p_")


@dataclass(frozen=True, slots=True)
class Parameter(Named):
    """A parameter of a routine."""

    mode: str  # as pg_proc has it: i, o, b (in and out), t (a column of the answer)
    has_default: bool

    @property
    def takes(self) -> bool:
        """Whether a call gives it; one that has a default and is answered is only answered."""
        return self.mode == "i" or (self.mode == "b" and not self.has_default)

    @property
    def answers(self) -> bool:
        """Whether the answer has it."""
        return self.mode in "bot"

    @property
    def is_needed(self) -> bool:
        """Whether a CALL must name it although it is answered."""
        return self.mode == "o" or (self.mode == "b" and not self.has_default)


@dataclass(frozen=True, slots=True)
class Signature:
    """A public routine."""

    routine: str  # with its schema
    comment: str
    is_function: bool
    is_set: bool  # it answers rows; else one
    is_void: bool
    parameters: Sequence[Parameter]

    @property
    def answer(self) -> list[str]:
        """The names of what it answers."""
        named = [parameter.short for parameter in self.parameters if parameter.answers]
        if named or not self.is_function or self.is_void:
            return named
        return [self.routine.partition(".")[2]]


@dataclass(frozen=True, slots=True)
class Condition:
    """What a column of a row must be; the value None is NULL."""

    column: Named
    symbol: str
    value: str | None


def routines(link: Link) -> dict[str, str]:
    """Return the COMMENT of each public routine, by its name with its schema."""
    rows: list[Any] = link.execute(_ROUTINES, (), tuple, repeatable=True)
    return dict(rows)


def signature(link: Link, routine: str) -> Signature | None:
    """Return a public routine of this name, which has its schema; None: there is none."""
    rows: list[Any] = link.execute(_ROUTINE, [routine], tuple, repeatable=True)
    if not rows:
        return None
    comment, is_function, is_set, is_void, *_ = rows[0]
    return Signature(
        routine,
        comment,
        is_function,
        is_set and not comment.startswith("One row"),
        is_void,
        [
            Parameter(name, type_, shown, mode, has_default)
            for *_, name, mode, type_, shown, has_default in rows
            if name is not None
        ],
    )


def call(
    link: Link, routine: Signature, given: Mapping[str, str | Sequence[str] | None]
) -> list[tuple[Any, ...]]:
    """Call a routine once, with these parameters; return what it answers.

    A procedure is called outside of a transaction, so that it may end its own.
    """
    from psycopg import sql

    passed: list[sql.Composable] = []
    values: list[Any] = []
    for parameter in routine.parameters:
        if parameter.name in given:
            values.append(given[parameter.name])
            value = sql.SQL(f"${len(values)}::{parameter.type}")
        elif parameter.is_needed and not routine.is_function:
            value = sql.SQL("NULL")
        else:
            continue
        passed.append(sql.SQL("{} => {}").format(sql.Identifier(parameter.name), value))
    called = sql.SQL("{}({})").format(
        sql.Identifier(*routine.routine.split(".")), sql.SQL(", ").join(passed)
    )
    if not routine.is_function:
        statement = sql.SQL("CALL {}").format(called)
    elif any(parameter.answers for parameter in routine.parameters):
        statement = sql.SQL("SELECT v.* FROM {} AS v").format(called)
    else:
        statement = sql.SQL("SELECT {}").format(called)
    return link.execute(
        statement.as_bytes(None),
        values,
        tuple,
        repeatable=False,
        is_alone=not routine.is_function,
    )


def views(link: Link) -> dict[str, str]:
    """Return the public views of omd_report, and what the COMMENT of each says."""
    rows: list[Any] = link.execute(_VIEWS, (), tuple, repeatable=True)
    public = {}
    for name, comment in rows:
        word = _AUDIENCE.match(comment)
        if (word[1] if word else None) in _PUBLIC:
            public[name] = comment[word.end() if word else 0 :]
    return public


def columns(link: Link, view: str) -> dict[str, tuple[Named, str]]:
    """Return the columns of a view of omd_report, each with its COMMENT."""
    rows: list[Any] = link.execute(_COLUMNS, [view], tuple, repeatable=True)
    return {name: (Named(name, type_, shown), comment) for name, type_, shown, comment in rows}


def key_of(link: Link, table: str) -> list[str]:
    """Return the columns that find a row of a table, or of a view of an entity."""
    rows: list[Any] = link.execute(_KEY, [table], tuple, repeatable=True)
    return [name for name, origin, _ in rows if origin == rows[0][1]]


def rows_of_view(
    link: Link,
    view: str,
    shown: Iterable[str],
    where: Sequence[Condition] = (),
    *,
    newest_by: str | None = None,
    limit: int | None = None,
) -> list[tuple[Any, ...]]:
    """Return rows of a view of omd_report that meet all conditions, as tuples of these columns."""
    from psycopg import sql

    def column(name: str) -> sql.Identifier:
        return sql.Identifier("v", name)

    values: list[str] = []
    query = sql.SQL("SELECT {} FROM {} AS v").format(
        sql.SQL(", ").join(map(column, shown)), sql.Identifier("omd_report", view)
    )
    for number, condition in enumerate(where):
        query += sql.SQL(" AND " if number else " WHERE ") + column(condition.column.name)
        if condition.value is None:
            query += sql.SQL(" IS NULL")
            continue
        values.append(condition.value)
        is_pattern = condition.symbol == "~"
        type_ = "pg_catalog.text" if is_pattern else condition.column.type
        if is_pattern:
            query += sql.SQL("::pg_catalog.text")
        query += sql.SQL(f" {operator(condition.symbol)} ${len(values)}::{type_}")
    if newest_by is not None:
        query += sql.SQL(" ORDER BY {} DESC NULLS LAST").format(column(newest_by))
    if limit is not None:
        query += sql.SQL(" LIMIT {}").format(limit)
    return link.execute(query.as_bytes(None), values, tuple, repeatable=True, is_interpreted=True)
