"""Delta tables: the log, which is read and extended by delta-rs.

A commit is a file in the log, so it is visible before the run has succeeded. What a run did is
found in the log itself: the bounds of its files, and the instance in the commit info.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.parquet as pq
from deltalake import (
    CommitProperties,
    DeltaTable,
    PostCommitHookProperties,
    Schema,
    Transaction,
)
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.transaction import AddAction, RemoveAction
from pyiceberg.types import PrimitiveType

from omd._core.error_codes import LakeConflict, LakeFilesUnfit, LakeTableUnreadable, NothingKept
from omd._core.errors import CallerError
from omd.tables.files import file_io, storage_options
from omd.tables.footers import Column, read_footers, require_plain
from omd.tables.schema import UnknownType, iceberg_type, require_distinct
from omd.tables.undo import INSTANCE, OPERATION, UNDONE

NUMBER = "omd.write-number"

_TEXT = 32  # of a text, a bound has no more characters
_READABLE = frozenset({"timestampNtz", "v2Checkpoint", "vacuumProtocolCheck", "invariants"})
# Each hundredth version gets a checkpoint. The files of the log stay until maintenance has removed
# what only old versions need.
_HOOKS = PostCommitHookProperties(create_checkpoint=True, cleanup_expired_logs=False)
_INTERVAL = re.compile(r"(interval )?(?P<number>\d+) (?P<unit>second|minute|hour|day|week)s?")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True, slots=True)
class DeltaFile:
    """A file of a table."""

    path: str  # relative to the table
    size: int  # in bytes
    rows: int  # how many it holds
    partition: Mapping[str, str | None]  # its values, as the log writes them
    low: Mapping[str, Any]  # for the columns with bounds, the least value
    high: Mapping[str, Any]  # the greatest value
    nulls: Mapping[str, int]  # for the columns where it is known, how many NULLs

    @property
    def record_count(self) -> int:
        """How many rows it holds."""
        return self.rows

    @property
    def file_size_in_bytes(self) -> int:
        """Its size."""
        return self.size

    def share(self, column: str, instances: Collection[int]) -> str:
        """Return which rows carry one of these instances: NONE, SOME or ALL."""
        if self.rows and self.nulls.get(column) == self.rows:
            return "NONE"
        low, high = self.low.get(column), self.high.get(column)
        if low is None or high is None:
            return "SOME"
        within = sum(low <= instance <= high for instance in set(instances))
        if not within:
            return "NONE"
        return "ALL" if self.nulls.get(column) == 0 and within == high - low + 1 else "SOME"

    def counted(self, column: str) -> tuple[Any, Any, int | None]:
        """Return the bounds of a column as numbers or texts, and how many NULLs it has."""
        low, high = self.low.get(column), self.high.get(column)
        if isinstance(high, datetime):
            high += timedelta(milliseconds=1)  # other writers cut off what is less
        return _number(low), _number(high), self.nulls.get(column)

    def added(self, has_other_rows: bool = True) -> AddAction:
        """Return the action that makes it live."""
        stats = {
            "numRecords": self.rows,
            "minValues": {name: _logged(value) for name, value in self.low.items()},
            "maxValues": {name: _logged(value, up=True) for name, value in self.high.items()},
            "nullCount": dict(self.nulls),
        }
        now = int(datetime.now(timezone.utc).timestamp() * 1000)
        values = dict(self.partition)
        return AddAction(self.path, self.size, values, now, has_other_rows, json.dumps(stats))

    def removed(self, has_other_rows: bool = True) -> RemoveAction:
        """Return the action that removes it."""
        now = int(datetime.now(timezone.utc).timestamp() * 1000)
        return RemoveAction(self.path, has_other_rows, now, self.size, dict(self.partition))


@dataclass(frozen=True, slots=True)
class DeltaChange:
    """What a commit does: OMD's operation, the files that come, and those that go."""

    operation: str
    added: Sequence[DeltaFile]
    removed: Sequence[DeltaFile]
    undone: Sequence[int] = ()

    @property
    def has_other_rows(self) -> bool:
        """Whether the table holds other rows after it."""
        return self.operation != "COMPACT"


class Delta:
    """A Delta table in a folder, as it was when this object was made.

    Args:
        version: one of its versions; by default the newest.
    """

    def __init__(self, location: str, version: int | None = None) -> None:
        self.location = location
        try:
            self._table = DeltaTable(location, version=version, storage_options=storage_options())
        except DeltaError as error:
            if version is None:
                raise
            raise NothingKept(
                f"nothing is kept of the version {version} of {location}: {error}",
                hint="omd_report.lake_commits shows its commits, with time and version.",
            ) from error

    @classmethod
    def find(cls, location: str) -> Delta | None:
        """Return the table; None if there is none."""
        try:
            return cls(location)
        except TableNotFoundError:
            return None

    @classmethod
    def create(cls, location: str, spark: dict[str, Any], partition_by: Sequence[str]) -> Delta:
        """Create an empty table, if there is none."""
        names = [field["name"] for field in spark["fields"]]
        require_distinct(names)
        for name in partition_by:
            if name not in names:
                raise CallerError(
                    f'the table has no column "{name}", by which it is to be partitioned',
                    hint=f"Its columns are {', '.join(names)}.",
                )
        fields = [{**field, "nullable": True, "metadata": {}} for field in spark["fields"]]
        DeltaTable.create(
            location,
            schema=Schema.from_json(json.dumps({"type": "struct", "fields": fields})),
            mode="ignore",
            partition_by=list(partition_by),
            storage_options=storage_options(),
        )
        return cls(location)

    @property
    def version(self) -> int:
        """The version."""
        version: int = self._table.version()
        return version

    @property
    def spark_schema(self) -> dict[str, Any]:
        """The columns, as Spark's JSON."""
        schema: dict[str, Any] = json.loads(self._table.schema().to_json())
        return schema

    @property
    def partition_by(self) -> list[str]:
        """The columns of the partitions."""
        return list(self._table.metadata().partition_columns)

    def require_readable(self) -> None:
        """Refuse a table of which plain Parquet readers would read wrong rows.

        Raises:
            LakeTableUnreadable: it has such a feature.
        """
        protocol = self._table.protocol()
        settings = self._table.metadata().configuration
        unknown = sorted(set(protocol.reader_features or ()) - _READABLE)
        mapping = settings.get("delta.columnMapping.mode", "none")
        reason = None
        if unknown:
            reason = f"the features {', '.join(unknown)}"
        elif mapping != "none" or protocol.min_reader_version == 2:
            reason = "a mapping of columns"
        elif self.partition_by and any("/data/omd/" not in f"/{f.path}" for f in self.files()):
            reason = "values of its partitions only in the paths of files"
        if reason is not None:
            raise LakeTableUnreadable(
                f"the table at {self.location} has {reason}",
                hint="Read it through the native jar of its format.",
            )

    @property
    def totals(self) -> dict[str, int]:
        """How many files and rows are live, as a commit tells them."""
        actions = pa.table(self._table.get_add_actions(flatten=False))
        rows = compute.sum(actions["num_records"]).as_py()
        return {"total_files": actions.num_rows, "total_rows": rows or 0}

    @property
    def retention(self) -> timedelta:
        """For how long the table promises its readers to keep old versions; none by default."""
        settings = self._table.metadata().configuration
        longest = timedelta(0)
        for name in ("delta.logRetentionDuration", "delta.deletedFileRetentionDuration"):
            match = _INTERVAL.fullmatch(settings.get(name, "").strip().lower())
            if match is not None:
                longest = max(longest, timedelta(**{f"{match['unit']}s": int(match["number"])}))
        return longest

    def files(self) -> list[DeltaFile]:
        """Return the live files."""
        files = []
        for row in pa.table(self._table.get_add_actions(flatten=False)).to_pylist():
            values = row.get("partition") or {}
            files.append(
                DeltaFile(
                    row["path"],
                    row["size_bytes"],
                    row["num_records"] or 0,
                    {name: _partition_text(value) for name, value in values.items()},
                    _known(row.get("min")),
                    _known(row.get("max")),
                    _known(row.get("null_count")),
                )
            )
        return files

    def path_of(self, file: DeltaFile) -> str:
        """Return where a file lies."""
        return f"{self.location}/{unquote(file.path)}"

    def landed(self, module_code: str, number: int) -> bool:
        """Return whether the commit with this greatest write number is in the log already."""
        version = self._table.transaction_version(module_code)
        return version is not None and version >= number

    def checkpoint(self) -> None:
        """Write the state of this version into the log, so that it is read without older ones."""
        self._table.create_checkpoint()

    def commit(self, change: DeltaChange, module_code: str, instance: int, number: int) -> Delta:
        """Append a commit to the log, and return the table with it.

        Raises:
            LakeConflict: other writers were first, again and again.
        """
        metadata = {
            INSTANCE: str(instance),
            "omd.module-code": module_code,
            OPERATION: change.operation,
            NUMBER: str(number),
        }
        if change.undone:
            metadata[UNDONE] = ",".join(map(str, change.undone))
        actions: list[AddAction | RemoveAction] = [
            *(file.added(change.has_other_rows) for file in change.added),
            *(file.removed(change.has_other_rows) for file in change.removed),
        ]
        try:
            self._table.create_write_transaction(
                actions,
                "append",
                self._table.schema(),
                self.partition_by,
                commit_properties=CommitProperties(
                    custom_metadata=metadata,
                    app_transactions=[Transaction(module_code, number)],
                    max_commit_retries=0,
                ),
                post_commithook_properties=_HOOKS,
            )
        except CommitFailedError as error:
            raise LakeConflict(
                f"{self.location} has moved on: {error}", hint="Start the Module again."
            ) from error
        return Delta(self.location)


# Files that Spark wrote ---------------------------------------------------------------------------


def delta_files(
    location: str, paths: Sequence[str], spark: dict[str, Any], partition_by: Sequence[str]
) -> list[DeltaFile]:
    """Return the files that hold rows, with their statistics.

    Args:
        location: of the table.
        paths: the files; their columns are those of the schema, in its order.
        spark: the schema, as Spark's JSON.
        partition_by: the columns of the partitions.

    Raises:
        LakeFilesUnfit: a file can't become part of the table.
    """
    return [
        _file(location, path, size, footer, spark, partition_by)
        for path, size, footer in read_footers(file_io(location), paths)
    ]


def _file(
    location: str,
    path: str,
    size: int,
    footer: pq.FileMetaData,
    spark: dict[str, Any],
    partition_by: Sequence[str],
) -> DeltaFile:
    require_plain(path, footer)
    places: dict[str, tuple[int, PrimitiveType]] = {}
    place = 0
    for field in spark["fields"]:
        if isinstance(field["type"], str):
            with suppress(UnknownType):
                places[field["name"]] = (place, iceberg_type(field["type"]))
        place += _leaves(field["type"])
    if place != footer.num_columns:
        raise LakeFilesUnfit(f"{path} has {footer.num_columns} columns, not {place}")
    columns = {name: Column() for name in places}
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        for name, (at, type_) in places.items():
            columns[name].add(group.column(at), type_)
    low, high = {}, {}
    for name, column in columns.items():
        if column.bounded and column.low is not None and not isinstance(column.low, (bytes, bool)):
            kind = str(places[name][1])
            low[name] = _bound(column.low, kind)
            if kind == "string":
                low[name] = low[name][:_TEXT]
            if kind != "string" or len(column.high) <= _TEXT:
                high[name] = _bound(column.high, kind)
            if isinstance(column.low, Decimal) and not (_is_exact(low[name], high[name])):
                del low[name], high[name]
    return DeltaFile(
        path.removeprefix(f"{location}/"),
        size,
        footer.num_rows,
        {name: _partition(path, name, columns, places) for name in partition_by},
        low,
        high,
        {name: column.nulls for name, column in columns.items() if column.nulls is not None},
    )


def _leaves(type_: Any) -> int:
    if isinstance(type_, str):
        return 1
    if type_["type"] == "struct":
        return sum(_leaves(field["type"]) for field in type_["fields"])
    if type_["type"] == "array":
        return _leaves(type_["elementType"])
    return _leaves(type_["keyType"]) + _leaves(type_["valueType"])


def _bound(value: Any, type_: str) -> Any:
    """Return a bound of a footer as Python's value."""
    if type_ == "date":
        return date(1970, 1, 1) + timedelta(days=value)
    if type_ in ("timestamp", "timestamptz"):
        instant = _EPOCH + timedelta(microseconds=value)
        return instant if type_ == "timestamptz" else instant.replace(tzinfo=None)
    return value


def _partition(
    path: str, name: str, columns: Mapping[str, Column], places: Mapping[str, Any]
) -> str | None:
    column = columns.get(name)
    if column is not None and column.nulls is not None and column.nulls == column.values:
        return None
    if column is None or not column.bounded or column.nulls != 0 or column.low != column.high:
        raise LakeFilesUnfit(
            f'{path} has rows of several partitions of "{name}", or of unknown ones'
        )
    if column.low == "":
        raise LakeFilesUnfit(f'{path} has an empty text in "{name}", which Delta reads as NULL')
    return _partition_text(_bound(column.low, str(places[name][1])))


def _partition_text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(" ", "microseconds")
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return str(value)


def _known(values: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what is known of the simple columns."""
    return {
        name: value
        for name, value in (values or {}).items()
        if value is not None and not isinstance(value, dict)
    }


def _number(value: Any) -> Any:
    """Return a bound as Spark counts it."""
    if isinstance(value, datetime):
        aware = value if value.tzinfo is not None else value.replace(tzinfo=timezone.utc)
        return (aware - _EPOCH) // timedelta(microseconds=1)
    return (value - _EPOCH.date()).days if isinstance(value, date) else value


def _is_exact(*values: Decimal) -> bool:
    """Return whether a number of JSON, as others read it, is still the same."""
    return all(Decimal(repr(float(value))) == value for value in values)


def _logged(value: Any, *, up: bool = False) -> Any:
    """Return a bound as the log writes it: times have milliseconds, rounded away from the rows."""
    if isinstance(value, datetime):
        cut = value.replace(microsecond=value.microsecond // 1000 * 1000)
        if up and cut != value:
            cut += timedelta(milliseconds=1)
        return cut.replace(tzinfo=None).isoformat(timespec="milliseconds") + (
            "" if value.tzinfo is None else "Z"
        )
    if isinstance(value, date):
        return value.isoformat()
    return float(value) if isinstance(value, Decimal) else value
