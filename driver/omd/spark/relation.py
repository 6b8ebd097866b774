"""What the server says about a table or a query, and the two kinds of connection to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import adbc_driver_postgresql.dbapi as adbc
import psycopg
from psycopg import sql
from pyspark.sql.types import StructField, StructType

from omd._link import resolve_conninfo
from omd.errors import CallerError, TargetNotFound
from omd.spark.types import ColumnType, column_type

if TYPE_CHECKING:
    from psycopg import Column

__all__ = ["Relation", "catalogue", "mover"]


def catalogue(url: str) -> psycopg.Connection[Any]:
    """A connection for questions about tables; never moves data."""
    return psycopg.connect(resolve_conninfo(url), application_name="omd spark")


def mover(url: str) -> Any:
    """A connection that moves Arrow batches, in a transaction from its first statement."""
    return adbc.connect(resolve_conninfo(url) or "postgresql://")


@dataclass(frozen=True)
class Relation:
    """A table or a query with its columns.

    Attributes:
        source: as SQL: a quoted table name, or a query in brackets.
        schema_name: of a table.
        table_name: of a table; None for a query.
        blocks: size of a table in blocks; 0 where blocks can't be read one by one.
        columns: its columns by name, in order.
    """

    source: sql.Composable
    schema_name: str | None
    table_name: str | None
    blocks: int
    columns: dict[str, ColumnType]

    def __str__(self) -> str:
        return f"{self.schema_name}.{self.table_name}" if self.table_name else "the query"

    @classmethod
    def describe(cls, url: str, table: str | None, query: str | None) -> Relation:
        """Ask the server.

        Raises:
            TargetNotFound: there is no such table.
            UnsupportedType: a column has a type that Spark can't take.
        """
        with catalogue(url) as connection:
            source: sql.Composable
            if table is not None:
                schema_name, table_name, blocks = _find(connection, table)
                source = sql.Identifier(schema_name, table_name)
            elif query is not None:
                schema_name, table_name, blocks = None, None, 0
                source = sql.Composed([sql.SQL("(\n"), _text(query), sql.SQL("\n)")])
            else:
                raise CallerError("neither a table nor a query")
            described = connection.execute(sql.SQL("SELECT * FROM {} AS q LIMIT 0").format(source))
            columns = {
                column.name: column_type(column, _type_name(connection, column))
                for column in described.description or ()
            }
        return cls(source, schema_name, table_name, blocks, columns)

    def schema(self) -> StructType:
        """The columns as Spark types; any may be NULL, since a query's columns tell nothing."""
        return StructType([StructField(name, type_.spark) for name, type_ in self.columns.items()])


def _text(query: str) -> sql.SQL:
    return sql.SQL(query.strip().rstrip(";"))  # the caller's own SQL


def _type_name(connection: psycopg.Connection[Any], column: Column) -> str | None:
    info = connection.adapters.types.get(column.type_code)
    if info is None:
        return None
    return f"{info.name}[]" if column.type_code == info.array_oid else info.name


def _find(connection: psycopg.Connection[Any], table: str) -> tuple[str, str, int]:
    row = connection.execute(
        """
        SELECT n.nspname, c.relname,
               CASE WHEN c.relkind IN ('r', 'm')
                    THEN pg_relation_size(c.oid) / current_setting('block_size')::bigint
                    ELSE 0 END
          FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
         WHERE c.oid = to_regclass(%s)
        """,
        [table],
    ).fetchone()
    if row is None:
        raise TargetNotFound(
            f"there is no table {table}", hint="Create it, or name it schema.table."
        )
    return row[0], row[1], int(row[2])
