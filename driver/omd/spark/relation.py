"""The description of a table or a query by the server, and the two kinds of connection to it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import adbc_driver_manager
import adbc_driver_postgresql
import adbc_driver_postgresql.dbapi as adbc
import psycopg
from psycopg import Column, sql
from pyspark.sql.types import StructField, StructType

from omd._core.conninfo import resolve_conninfo
from omd._core.error_codes import TableRewritten, TargetNotFound
from omd._core.errors import CallerError, OmdError
from omd._core.snapshots import taking_over
from omd.spark.snapshots import showing, snapshot_error
from omd.spark.types import ColumnType, Described, column_type


@contextmanager
def catalogue(
    url: str, snapshot: str | None = None, block: str | None = None
) -> Iterator[psycopg.Connection[Any]]:
    """Open a connection for queries about tables, as of the snapshot; it never moves data.

    The block is one of changes that views show, as omd._core.snapshots has it.
    """
    conninfo = resolve_conninfo(url)
    with psycopg.connect(
        conninfo, application_name="omd spark", prepare_threshold=None
    ) as connection:
        if snapshot is not None:
            _take_over(connection, snapshot, block)
        yield connection


def mover(url: str, snapshot: str | None = None, block: str | None = None) -> Any:
    """Open a connection that moves Arrow batches, in a transaction from its first statement."""
    database = _database(resolve_conninfo(url) or "postgresql://")
    connection: Any = adbc.Connection(_Kept(), adbc_driver_manager.AdbcConnection(database))
    if snapshot is not None:
        try:
            with connection.cursor() as cursor:
                _take_over(cursor, snapshot, block)
        except BaseException:
            connection.close()
            raise
    return connection


@lru_cache(maxsize=8)
def _database(url: str) -> adbc_driver_manager.AdbcDatabase:
    """Return a database, which is cached: it reads all types, which is slower than a small write.

    It holds no connection. The types that we move are built in, so they can't change meanwhile.
    """
    database: adbc_driver_manager.AdbcDatabase = adbc_driver_postgresql.connect(url)
    return database


class _Kept:
    """Stands in for the database, because a connection that is closed would close it too."""

    def close(self) -> None:
        pass


def _take_over(session: Any, snapshot: str, block: str | None) -> None:
    try:
        for statement in taking_over(snapshot):
            session.execute(statement)
        if block is not None:
            session.execute(showing(block))
    except (psycopg.Error, adbc.Error) as error:
        raise snapshot_error(error) from error


@dataclass(frozen=True)
class Relation:
    """A table or a query with its columns."""

    source: sql.Composable  # the SQL text: a quoted table name, or a query in brackets
    schema_name: str | None  # the schema of a table; None for a query
    table_name: str | None  # the name of a table; None for a query
    blocks: int  # the size of a table in blocks; 0 where blocks can't be read one by one
    columns: dict[str, ColumnType]  # the columns by name, in order
    described: tuple[Described, ...] = ()  # the columns as the server has described them
    selected: tuple[str, ...] | None = None  # the columns that a read returns; None for all

    def __str__(self) -> str:
        return f"{self.schema_name}.{self.table_name}" if self.table_name else "the query"

    @classmethod
    def describe(
        cls,
        url: str,
        table: str | None,
        query: str | None,
        snapshot: str | None = None,
        block: str | None = None,
    ) -> Relation:
        """Ask the server for the description.

        Raises:
            TargetNotFound: there is no such table.
            SnapshotGone: the snapshot is not held any more.
            TableRewritten: the table's rows as of the snapshot are lost.
            UnsupportedType: a column has a type that Spark does not support.
        """
        with catalogue(url, snapshot, block) as connection:
            source: sql.Composable
            if table is not None:
                schema_name, table_name, blocks = _find(connection, table)
                source = sql.Identifier(schema_name, table_name)
            elif query is not None:
                schema_name, table_name, blocks = None, None, 0
                source = sql.Composed([sql.SQL("(\n"), _text(query), sql.SQL("\n)")])
            else:
                raise CallerError("neither a table nor a query is given")
            result = connection.execute(sql.SQL("SELECT * FROM {} AS q LIMIT 0").format(source))
            described = tuple(
                Described(
                    column.name, *_type_name(connection, column), column.precision, column.scale
                )
                for column in result.description or ()
            )
            columns = {column.name: column_type(column) for column in described}
            if len(columns) < len(described):
                raise CallerError("two columns of the query have the same name")
            for name in _loosely_equal(connection, result):
                columns[name] = replace(columns[name], filterable=False)
            relation = cls(source, schema_name, table_name, blocks, columns, described)
            check = relation.rewritten if snapshot is not None else None
            if check is not None and connection.execute(check).fetchone() != (False,):
                raise relation.rewritten_error()
        return relation

    def plan(self) -> str:
        """Return what a write must know about a table, so that a task need not query it."""
        return json.dumps([self.schema_name, self.table_name, self.described])

    @classmethod
    def planned(cls, plan: str) -> Relation:
        """Return the table of a `plan`, without a query to the server."""
        schema_name, table_name, described = json.loads(plan)
        columns = [Described(*column) for column in described]
        return cls(
            sql.Identifier(schema_name, table_name),
            schema_name,
            table_name,
            0,
            {column.name: column_type(column) for column in columns},
        )

    @property
    def rewritten(self) -> sql.Composed | None:
        """The query whether a table was rewritten since the snapshot of the transaction.

        It is None for a query. Execute it after the transaction has read from the table, which then
        can't be rewritten any more. pg_class has the files as of the snapshot, pg_relation_filenode
        those of now.
        """
        if self.table_name is None:
            return None
        return sql.SQL(
            "SELECT coalesce(pg_catalog.bool_or(c.relfilenode"
            "  OPERATOR(pg_catalog.<>) pg_catalog.pg_relation_filenode(c.oid)), false)"
            " FROM pg_catalog.pg_class AS c"
            " WHERE c.relkind OPERATOR(pg_catalog.=) ANY ('{{r,m}}')"
            " AND (c.oid OPERATOR(pg_catalog.=) {0}::pg_catalog.regclass"
            "  OR c.oid OPERATOR(pg_catalog.=) ANY (SELECT t.relid"
            "   FROM pg_catalog.pg_partition_tree({0}::pg_catalog.regclass) AS t))"
        ).format(sql.Literal(self.source.as_string(None)))

    def rewritten_error(self) -> OmdError:
        """Return the error for a table that was rewritten."""
        return TableRewritten(
            f"{self} was emptied or rewritten (TRUNCATE, VACUUM FULL, CLUSTER, ALTER TABLE) after"
            " the snapshot of this read was taken: its rows of that moment are lost",
            hint="Start the run again.",
        )

    def only(self, schema: StructType) -> Relation:
        """Return the relation for a read with its own schema, which may omit columns."""
        only = self.selecting(schema.names)
        for field in schema:
            known = self.columns[field.name].spark
            if known != field.dataType:
                raise CallerError(
                    f'column "{field.name}" of {self} is read as {known.simpleString()},'
                    f" not as {field.dataType.simpleString()}",
                    hint="Cast it in Spark.",
                )
        return only

    def selecting(self, names: Iterable[str]) -> Relation:
        """Return the relation for a read of just these columns."""
        selected = tuple(names)
        for name in selected:
            if name not in self.columns:
                raise CallerError(
                    f'{self} has no column "{name}"',
                    hint=f"Its columns are {', '.join(self.columns)}.",
                )
        return replace(self, selected=selected)

    def schema(self) -> StructType:
        """Return the columns as Spark types; any may be NULL, as a query does not tell."""
        return StructType(
            [StructField(name, type_.spark) for name, type_ in self.read_columns.items()]
        )

    @property
    def read_columns(self) -> dict[str, ColumnType]:
        """The columns that a read returns."""
        names = self.columns if self.selected is None else self.selected
        return {name: self.columns[name] for name in names}


def _text(query: str) -> sql.SQL:
    return sql.SQL(query.strip().rstrip(";"))  # the caller's own SQL


def _type_name(connection: psycopg.Connection[Any], column: Column) -> tuple[str, bool]:
    """Return a column's type as in pg_type, with [] for an array, and whether it is an enum."""
    info = connection.adapters.types.get(column.type_code)
    if info is not None:
        return (f"{info.name}[]" if column.type_code == info.array_oid else info.name), False
    row = connection.execute(
        "SELECT pg_catalog.format_type(t.oid, NULL), t.typtype OPERATOR(pg_catalog.=) 'e'"
        " FROM pg_catalog.pg_type AS t WHERE t.oid OPERATOR(pg_catalog.=) %s",
        [column.type_code],
    ).fetchone()
    return row or (column.type_display, False)


def _loosely_equal(
    connection: psycopg.Connection[Any], described: psycopg.Cursor[Any]
) -> list[str]:
    """Return the columns whose collation treats different texts as equal; Spark does not."""
    result = described.pgresult
    assert result is not None  # noqa: S101 - a query has one
    names = [column.name for column in described.description or ()]
    places = range(len(names))
    rows = connection.execute(
        """
        SELECT o.name
          FROM ROWS FROM (
                   pg_catalog.unnest(%s::pg_catalog.text[]),
                   pg_catalog.unnest(%s::pg_catalog.oid[]),
                   pg_catalog.unnest(%s::pg_catalog.int2[])
               ) AS o (name, attrelid, attnum)
          JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) o.attrelid
           AND a.attnum OPERATOR(pg_catalog.=) o.attnum
          JOIN pg_catalog.pg_collation AS c ON c.oid OPERATOR(pg_catalog.=) a.attcollation
           AND NOT c.collisdeterministic
        """,
        [names, [result.ftable(i) for i in places], [result.ftablecol(i) for i in places]],
    )
    return [row[0] for row in rows]


def _find(connection: psycopg.Connection[Any], table: str) -> tuple[str, str, int]:
    row = connection.execute(
        """
        SELECT n.nspname, c.relname,
               CASE WHEN c.relkind OPERATOR(pg_catalog.=) ANY ('{r,m}')
                    THEN pg_catalog.pg_relation_size(c.oid)
                         OPERATOR(pg_catalog./) pg_catalog.current_setting('block_size')::bigint
                    ELSE 0 END
          FROM pg_catalog.pg_class AS c
          JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
         WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(%s)
        """,
        [table],
    ).fetchone()
    if row is None:
        raise TargetNotFound(
            f"there is no table {table}", hint="Create it, or name it as schema.table."
        )
    return row[0], row[1], int(row[2])
