"""From which columns of which tables those of a view come, as sqlglot reads its text.

What it can't trace to a table is left unsaid: then nothing is known of the view.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, build_scope

_DIALECT = "postgres"
_RANK = {"IDENTITY": 0, "TRANSFORMATION": 1, "AGGREGATION": 2}


class _Untraceable(Exception):  # noqa: N818 - it ends the look, and is no error
    """A column does not lead to a table."""


# A column of a table, and how a value of it becomes one of the view.
_Sources = dict[tuple[str, str], str]


def fields_of(
    text: str, tables: Mapping[str, Sequence[str]] | None
) -> dict[str, list[dict[str, str]]] | None:
    """Return of each column of a view those that it comes from; None: it can't be traced.

    Args:
        text: the query, as PostgreSQL prints it.
        tables: the tables and views that it names, as OMD spells them, each with its columns.
    """
    try:
        query = sqlglot.parse_one(text, read=_DIALECT)
        spelled = {_key(exp.to_table(code, dialect=_DIALECT)): code for code in tables or {}}
        query = qualify(
            query,
            dialect=_DIALECT,
            schema=_schema(tables or {}),
            quote_identifiers=False,
            validate_qualify_columns=True,
        )
        scope = build_scope(query)
        if scope is None:
            return None
        columns = _columns(scope, spelled)
    except (SqlglotError, _Untraceable, RecursionError):
        return None
    return {
        name: [
            {"table": table, "column": column, "subtype": subtype}
            for (table, column), subtype in sorted(sources.items())
        ]
        for name, sources in columns.items()
    }


def _schema(tables: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for code, columns in tables.items():
        table = exp.to_table(code, dialect=_DIALECT)
        # The types say nothing about where a column comes from.
        quoted = {exp.to_identifier(c, quoted=True).sql(_DIALECT): "text" for c in columns}
        schema.setdefault(table.args["db"].sql(_DIALECT), {})[table.this.sql(_DIALECT)] = quoted
    return schema


def _key(table: exp.Table) -> tuple[str, str]:
    return (table.db, table.name)


def _columns(scope: Scope, spelled: Mapping[tuple[str, str], str]) -> dict[str, _Sources]:
    """Return the columns that a query puts out, each with its sources."""
    if scope.set_operation_scopes:  # UNION and its like: the names are those of the first query
        first, *others = [list(_columns(s, spelled).items()) for s in scope.set_operation_scopes]
        if any(len(other) != len(first) for other in others):
            raise _Untraceable
        return {
            name: _merged([sources, *(other[place][1] for other in others)])
            for place, (name, sources) in enumerate(first)
        }
    if not isinstance(scope.expression, exp.Select):
        raise _Untraceable
    made: dict[str, _Sources] = {}
    for selected in scope.expression.selects:
        made[selected.alias_or_name] = _sources(selected.unalias(), scope, spelled)
    return made


def _sources(value: exp.Expr, scope: Scope, spelled: Mapping[tuple[str, str], str]) -> _Sources:
    """Return the columns of tables that a value is made of."""
    if isinstance(value, exp.Column):
        how = "IDENTITY"
    elif value.find(exp.AggFunc):
        how = "AGGREGATION"
    else:
        how = "TRANSFORMATION"
    inner = {id(s.expression): s for s in scope.subquery_scopes}
    below: list[_Sources] = []

    def walk(node: exp.Expr) -> None:
        if isinstance(node, exp.Query) and id(node) in inner:
            below.extend(_columns(inner[id(node)], spelled).values())
            return
        if isinstance(node, exp.Column):
            below.append(_of_column(node, scope, spelled))
            return
        for child in node.iter_expressions():
            walk(child)

    walk(value)
    return {
        source: max(subtype, how, key=_RANK.__getitem__)
        for source, subtype in _merged(below).items()
    }


def _of_column(
    column: exp.Column, scope: Scope, spelled: Mapping[tuple[str, str], str]
) -> _Sources:
    at: Scope | None = scope
    while at is not None:  # a subquery may name what is outside of it
        source = at.sources.get(column.table)
        if source is not None:
            break
        at = at.parent
    else:
        raise _Untraceable
    if isinstance(source, exp.Table):
        code = spelled.get(_key(source))
        if code is None:
            raise _Untraceable
        return {(code, column.name): "IDENTITY"}
    below = _columns(source, spelled)
    if column.name not in below:
        raise _Untraceable
    return below[column.name]


def _merged(all_sources: Sequence[_Sources]) -> _Sources:
    made: _Sources = {}
    for sources in all_sources:
        for source, subtype in sources.items():
            made[source] = max(subtype, made.get(source, subtype), key=_RANK.__getitem__)
    return made
