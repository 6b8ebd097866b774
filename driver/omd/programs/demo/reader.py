"""An independent reader of Iceberg tables: DuckDB, which gets nothing but a metadata file."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_EXTENSIONS = ("avro", "iceberg")


class Reader:
    """Executes SQL over Iceberg tables, without Spark and without OMD.

    DuckDB reads them by its extension ``iceberg``. Where that can't be loaded, pyiceberg plans and
    reads the files, and DuckDB only executes the SQL.

    Attributes:
        name: what reads the tables.
        problem: why that is not DuckDB; None if it is.
    """

    problem: str | None = None

    def __init__(self) -> None:
        import duckdb  # what tests the demo is collected where DuckDB is not, too

        self._connection = duckdb.connect()
        self._connection.execute("SET TimeZone = 'UTC'")
        # This function of Spark is all of it that the SQL of the demo needs.
        self._connection.execute(
            "CREATE MACRO conv(digits, from_base, to_base) AS CAST('0x' || digits AS bigint)"
        )
        try:
            for extension in _EXTENSIONS:
                self._connection.load_extension(
                    str(_packaged(extension, duckdb.__version__) or extension)
                )
            self.name = "DuckDB"
        except duckdb.Error as error:
            self.name = "pyiceberg"
            self.problem = str(error).partition("\n")[0]

    def rows(self, statement: str, tables: Mapping[str, str]) -> list[tuple[Any, ...]]:
        """Return the rows of a SELECT.

        Args:
            statement: one or several statements; the last one returns the rows.
            tables: the metadata file of each table that is named.
        """
        for name, metadata in tables.items():
            if self.name == "DuckDB":
                quoted = metadata.replace("'", "''")
                scan = f"SELECT * FROM iceberg_scan('{quoted}')"  # noqa: S608 - quoted
                self._connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {scan}")
            else:
                from pyiceberg.table import StaticTable

                table = StaticTable.from_metadata(metadata).scan().to_arrow()
                self._connection.register(name, table)
        return self._connection.execute(statement).fetchall()


def _packaged(extension: str, version: str) -> Path | None:
    """Return the file of an extension that is a package for this version of DuckDB."""
    package = importlib.util.find_spec(f"duckdb_extension_{extension}")
    if package is None or package.origin is None:
        return None
    folder = Path(package.origin).parent / "extensions" / f"v{version}"
    file = folder / f"{extension}.duckdb_extension"
    return file if file.exists() else None
