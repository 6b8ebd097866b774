"""What a lake table is: its columns, its partitions, its folder, as its files say it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omd.programs.terminal.text import row_dict
from omd.rooms.lake.rows import LakeTablesRow

if TYPE_CHECKING:
    from omd.doors.control import Control
    from omd.tables.run import LakeTable


def described(control: Control, table: str) -> dict[str, Any]:
    """Return what a table is, and its newest commit.

    Raises:
        CallerError: there is no such table.
    """
    from omd.tables.run import LakeRun  # the extra lake is needed

    entry = control.calls.omd_lake.find_table(table, table_format_code="DELTA")
    rows = control.report(LakeTablesRow, table_code=entry.table_code)
    values = _of_delta(entry.location) if rows and _is_delta(rows[0]) else None
    if values is None:
        entry = control.calls.omd_lake.find_table(table, table_format_code="ICEBERG")
        values = _of_iceberg(LakeRun.open(entry))
    return values | (row_dict(rows[0]) if rows else {})


def _is_delta(row: LakeTablesRow) -> bool:
    return row.table_format_code == "DELTA" and row.metadata_location is None


def _of_delta(location: str | None) -> dict[str, Any] | None:
    from omd.tables.delta import Delta

    table = None if location is None else Delta.find(location)
    if table is None:
        return None
    return {
        "location": table.location,
        "columns": [
            f"{field['name']} {_type_name(field['type'])}" for field in table.spark_schema["fields"]
        ],
        "partitioned_by": table.partition_by,
        "version": table.version,
    }


def _type_name(type_: Any) -> str:
    return type_ if isinstance(type_, str) else str(type_["type"])


def _of_iceberg(table: LakeTable) -> dict[str, Any]:
    metadata = table.metadata
    schema = metadata.schema
    return {
        "location": metadata.location,
        "columns": [
            f"{field.name} {field.field_type}{' NOT NULL' if field.required else ''}"
            for field in schema.fields
        ],
        "partitioned_by": [
            f"{field.transform}({schema.find_column_name(field.source_id)})"
            for field in metadata.spec.fields
        ],
        "snapshots": len(metadata.document["snapshots"]),
    }
