"""Staging: what was handed over, as one DataFrame per entity, and nothing lost on the way.

A staged row is `_raw`, a struct of the staged columns. They stay in it, because a tenant names its
columns as it likes. Text is read line by line, so that a big file is split among tasks, and the
reader is held to what it would pass over: another number of fields, a quote that is never closed,
bytes of another encoding, something behind the object of a line.
"""

from __future__ import annotations

import functools
import os
import re
import secrets
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from omd._core.errors import InvalidModel
from omd.delivery.errors import DeliveryArgumentInvalid
from omd.spark.delivery import regular
from omd.spark.delivery.files import Files, StagingChanged, in_folder, literal, names_in
from omd.spark.delivery.frames import plain
from omd.spark.delivery.permitted import require_expression, require_query
from omd.spark.delivery.records import LINE_ENDS, Records
from omd.spark.hadoop import absolute
from omd.spark.names import quote
from omd.spark.sessions import cloned, in_session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import Column

    from omd.spark.delivery.plan import EntityPlan, Plan

__all__ = ["Staged", "StagingChanged", "names_in", "stage", "unmarked", "working_session"]

RAW, FROM, BAD, TORN, PLACE = "_raw", "_from", "_bad", "_torn", "_place"
HEAD = "_head"
ABOUT = (FROM, BAD, TORN, HEAD, PLACE)  # what is told about a staged row

_SETTINGS = {
    # One method for all expressions of a row is too big for the JIT compiler.
    "spark.sql.codegen.wholeStage": "false",
    # What is kept are hashes and keys, which compression makes hardly smaller, but slower.
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    # The meaning of a model must not depend on the session in which it is checked.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.mapKeyDedupPolicy": "EXCEPTION",
    "spark.sql.variable.substitute": "false",
    # What can't be read fails the attempt.
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    # Files of any code page; bytes that it does not have become U+FFFD, which is looked for.
    "spark.sql.legacy.javaCharsets": "true",
    "spark.sql.legacy.codingErrorAction": "true",
}
_WORKING = "spark.omd.delivery"
_MIN_PARTS = "spark.sql.files.minPartitionNum"
_WHOLE_FILES = {
    "spark.sql.files.maxPartitionBytes": str(2**60),
    "spark.sql.files.openCostInBytes": str(2**60),
}
_HEADS = (1 << 14, 1 << 20)  # how much of a file is read to find its header
_FEW_BYTES = 1 << 25  # of less text, to start Python costs more than it saves
_ROW_BYTES = 200
_MOST_COLUMNS = 10_000
_UNFIT = "\ufffd"
# The next number of a line of JSON that is not within a string, and what is before it.
_NUMBER = (
    r'(?s)\G((?:[^"0-9-]++|"(?:[^"\\]++|\\.)*+")*+)'
    r"(-?+(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?+[0-9]++)?+)(?![0-9.eE+-])"
)
# Each escape of a text but for half a surrogate pair, which is no character.
_ESCAPED = (
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|u(?![dD][89a-fA-F])|[^u])"
)
_MARK = secrets.token_hex(4)  # it stands behind each record while it is parsed; no file can know it


def working_session(spark: SparkSession) -> SparkSession:
    """Return a session with the views and functions of this one, and settings of its own.

    A session that this function has returned is returned as it is.

    Raises:
        DeliveryArgumentInvalid: it is a session of Spark Connect.
    """
    if spark.conf.get(_WORKING, None) == "true":
        return spark
    if not hasattr(spark, "_jsparkSession"):
        raise DeliveryArgumentInvalid(
            "a delivery can't run over Spark Connect",
            hint="Run it where the driver of Spark is: spark-submit, or a local master.",
        )
    # Files are cut in the same way in each scan, however many executors come and go.
    parts = (
        spark.conf.get(_MIN_PARTS, None)
        or spark.conf.get("spark.sql.leafNodeDefaultParallelism", None)
        or str(spark.sparkContext.defaultParallelism)
    )
    return cloned(spark, _SETTINGS | {_MIN_PARTS: parts, _WORKING: "true"})


def _jvm(spark: SparkSession) -> Any:
    return spark._jvm


@dataclass(frozen=True)
class Staged:
    """The staged rows of an entity.

    ``frame`` has ``_raw`` (a struct of the staged columns), ``_from`` (file or table), ``_bad``
    (the row can't be read, or has another number of fields), ``_torn`` (it is a part of a record
    that goes on in the next line), ``_head`` (it is written as the header of its file, and is bad)
    and ``_place``, the number of its line, the same in each scan. Where a row is torn, or where not
    just ``headers`` rows are written as headers, ``whole`` stages it again, by records. ``at``
    returns the frame of the rows at some places, of which each task has all; lines of other places
    are not parsed. It is None, and places are NULL, where rows are no lines. ``size`` is how many
    bytes of text it has at most; None where that is not known before it is read.

    ``values`` is the same rows in less time: ``_from`` is NULL, and the values of a regular line
    are not in ``_raw``, but in the columns of `regular.read`. It is ``frame`` where there is no
    such way.
    """

    entity: str
    frame: DataFrame
    values: DataFrame
    columns: tuple[str, ...]
    findings: Mapping[str, int] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    headers: int = 0
    unchanged: Callable[[], None] = lambda: None
    whole: Callable[[], Staged] | None = None
    at: Callable[[DataFrame], DataFrame] | None = None
    size: int | None = None

    def in_one_task(self) -> Staged:
        """Return it in one partition."""
        whole = self.whole
        frame = self.frame.coalesce(1)
        return replace(
            self,
            frame=frame,
            values=frame,
            whole=None if whole is None else lambda: whole().in_one_task(),
            at=None,
        )


def stage(
    spark: SparkSession,
    plan: Plan,
    given: Any,
    table: Callable[[str], DataFrame] | None = None,
) -> dict[str, Staged]:
    """Return the staged rows of the entities of the plan.

    Args:
        spark: the session, best one of `working_session`; the frames are of such a one.
        plan: the plan of stage 1.
        given: DataFrames or paths by entity; the path of a folder with ``<entity>.csv``, ``.json``
            or ``.parquet``, which may be folders; or ``"postgres"``.
        table: for ``"postgres"``: returns a table of the database, always of the same moment.

    Raises:
        DeliveryArgumentInvalid: what was given is not what is delivered, or can't be read.
        InvalidModel: the query of a derived entity can't be compiled.
    """
    spark = working_session(spark)
    delivered = {e.entity: e for e in plan.entities.values() if e.load is not None}
    sources = _sources(spark, plan, given)
    unexpected = sorted(set(sources) - {n for n, e in delivered.items() if e.derived is None})
    if unexpected:
        raise DeliveryArgumentInvalid(
            f"{', '.join(unexpected)} was handed over, but the delivery does not have it",
            hint="Name the entity when the delivery is created.",
        )
    staged: dict[str, Staged] = {}
    for name, entity in delivered.items():
        if entity.derived is None:
            if name not in sources:
                raise DeliveryArgumentInvalid(
                    f"nothing was handed over for {name}",
                    hint="Hand it over, or do not name it when the delivery is created.",
                )
            staged[name] = _stage_one(spark, plan, entity, sources[name], table)
    feeding = {s for e in delivered.values() if e.derived for s in e.derived.sources}
    for name in feeding & set(staged):
        staged[name] = _mended(staged[name])
    for name, entity in delivered.items():
        if entity.derived is not None:
            staged[name] = _derive(spark, plan, entity, staged)
        for attribute in entity.attributes:
            if attribute.computed is not None:
                place = f"{name}.{attribute.name}"
                require_expression(spark, attribute.computed, place, staged[name].columns)
    return {name: staged[name] for name in delivered}


def _sources(spark: SparkSession, plan: Plan, given: Any) -> dict[str, Any]:
    own = [e.entity for e in plan.entities.values() if e.load is not None and e.derived is None]
    if isinstance(given, str) and given == "postgres":
        return {name: f'"{plan.staging_schema}"."{name}"' for name in own}
    if isinstance(given, (str, os.PathLike)):
        return in_folder(spark, absolute(spark, given), own, plan.options)
    sources: dict[str, Any] = {}
    for name, source in dict(given).items():
        sources[name] = source
        if isinstance(source, (str, os.PathLike)):
            sources[name] = Files.at(spark, absolute(spark, source), plan.options)
    return sources


def _stage_one(
    spark: SparkSession,
    plan: Plan,
    entity: EntityPlan,
    source: Any,
    table: Callable[[str], DataFrame] | None,
) -> Staged:
    if isinstance(source, Files):
        if source.format == "parquet":
            return _Parquet(spark, entity, source, _users(plan, entity)).staged()
        if source.format == "json":
            return _Json(spark, entity, source, _users(plan, entity)).staged()
        return _Csv(spark, entity, source, _users(plan, entity)).staged()
    origin = "DataFrame"
    if isinstance(source, str):
        if table is None:
            raise DeliveryArgumentInvalid("staging tables can't be read without a database")
        source, origin = table(source), source.replace('"', "")
    frame = in_session(spark, source)
    return _typed(entity, frame, F.lit(origin), _users(plan, entity), size=_size(frame))


def _size(frame: DataFrame) -> int | None:
    """Return about how many bytes a DataFrame has at most, where Spark knows how many rows."""
    rows = frame._jdf.queryExecution().optimizedPlan().maxRows()
    return int(rows.get()) * _ROW_BYTES if rows.isDefined() else None


def _users(plan: Plan, entity: EntityPlan) -> str:
    """Return the texts in the model that may name more staged columns of an entity."""
    texts = [a.computed for a in entity.attributes if a.computed]
    texts += [
        other.derived.query
        for other in plan.entities.values()
        if other.derived and entity.entity in other.derived.sources
    ]
    return "\n".join(texts)


def _staged(
    entity: EntityPlan, frame: DataFrame, columns: Sequence[str], used: str, **more: Any
) -> Staged:
    """Return staged rows with what is missing, and what is unknown."""
    mapped = [a.source for a in entity.attributes if a.source is not None]
    known = {*mapped, entity.indicator_column}
    unknown = [c for c in columns if c not in known and c not in used]
    lacking = dict.fromkeys(c for c in mapped if c not in set(columns))
    more.setdefault("missing", tuple(lacking))
    return Staged(
        entity.entity,
        frame,
        more.pop("values", frame),
        tuple(columns),
        findings={"UNKNOWN_COLUMN": len(unknown)} if unknown else {},
        **more,
    )


def _typed(entity: EntityPlan, frame: DataFrame, origin: Column, used: str, **more: Any) -> Staged:
    columns = frame.columns
    twice = sorted({c for c in columns if columns.count(c) > 1})
    if twice:
        raise DeliveryArgumentInvalid(f"{entity.entity} has several columns {', '.join(twice)}")
    rows = frame.select(
        F.struct(*(F.col(quote(c)) for c in columns)).alias(RAW),
        origin.alias(FROM),
        F.lit(False).alias(BAD),
        F.lit(False).alias(TORN),
        F.lit(False).alias(HEAD),
        F.lit(None).cast("bigint").alias(PLACE),
    )
    return _staged(entity, rows, columns, used, **more)


def flat(staged: Staged) -> DataFrame:
    """Return the staged columns by their names, as expressions of the model see them."""
    return staged.frame.select(
        RAW, *(F.col(RAW).getField(c).alias(c) for c in staged.columns), *ABOUT
    )


def _mended(staged: Staged) -> Staged:
    """Return staged rows of which none is torn, and none is taken for a header."""
    if staged.whole is None:
        return staged
    told = staged.frame.agg(F.max(TORN), F.count_if(HEAD)).first()
    assert told is not None  # noqa: S101 - it is an aggregate
    return staged.whole() if told[0] or told[1] != staged.headers else staged


def _derive(
    spark: SparkSession, plan: Plan, entity: EntityPlan, staged: Mapping[str, Staged]
) -> Staged:
    derived = entity.derived
    assert derived is not None  # noqa: S101 - so said the caller
    lacking = False
    for name in derived.sources:
        source, of = staged[name], plan.entities[name]
        lacking = lacking or bool(source.missing)
        more = [c for c in (*source.missing, of.indicator_column) if c not in source.columns]
        columns = [F.col(RAW).getField(c).alias(c) for c in source.columns]
        nothing = [F.lit(None).cast("string").alias(c) for c in dict.fromkeys(more)]
        rows = source.frame.where(~F.col(BAD)).select(*columns, *nothing)
        rows.createOrReplaceTempView(quote(name))
    place = f"the query of {entity.entity}"
    try:
        require_query(spark, derived.query, place, derived.sources)
        frame = spark.sql(derived.query)
    except AnalysisException as error:
        if lacking:
            none = spark.createDataFrame([], "nothing string").select()
            return _typed(entity, none, F.lit("derived"), "")
        raise InvalidModel(f"{place} can't be compiled: {_first_line(error)}") from error
    sizes = [staged[name].size for name in derived.sources]
    return _typed(
        entity,
        frame,
        F.lit(f"derived from {', '.join(derived.sources)}"),
        "",
        size=None if None in sizes else sum(n or 0 for n in sizes),
    )


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


# Files


def unmarked(text: str) -> str | None:
    """Return a staged text as it was staged, without the mark that follows its record.

    It is in the place of a field that lacks, or within a quote that is left open.
    """
    at = text.rfind(_MARK)
    if at < 0:
        return text
    return text[: at - 1] if at else None


def _uri(frame: DataFrame) -> Column:
    """Return the file of a row as Spark writes it."""
    return frame.metadataColumn("_metadata").getField("file_path")


def _path(uri: Column) -> Column:
    return F.url_decode(F.replace(uri, F.lit("+"), F.lit("%2B")))


class _Reader:
    """Reads the files of an entity; one class for each format."""

    def __init__(self, spark: SparkSession, entity: EntityPlan, files: Files, used: str) -> None:
        self.spark, self.entity, self.files, self.used = spark, entity, files, used

    def text(self, spark: SparkSession, paths: Sequence[str], **options: str) -> DataFrame:
        """Return the lines of files as ``value``, and ``_from`` as a URI."""
        frame = spark.read.options(**options).text(literal(paths))
        # The column of Spark with the file of a row would be read even where nobody asks for it.
        return frame.select("value", F.input_file_name().alias(FROM))

    def numbered(
        self, lines: DataFrame, rows: Callable[[DataFrame, Column], DataFrame]
    ) -> tuple[DataFrame, Callable[[DataFrame], DataFrame]]:
        """Return the rows that are made of lines, and what makes those of the lines at places.

        Args:
            lines: the lines; each is a row.
            rows: makes rows of lines, and puts the number of a line next to what is made of it.
        """
        number = F.monotonically_increasing_id()

        def made(some: DataFrame, place: Column) -> DataFrame:
            return rows(some, place.alias(PLACE)).withColumn(FROM, _path(F.col(FROM)))

        def at(places: DataFrame) -> DataFrame:
            numbered = lines.withColumn(PLACE, number)
            # As a plan, it would have filters pushed below it, which parse every line.
            there = plain(numbered.join(F.broadcast(places), PLACE, "left_semi"))
            return made(there, F.col(PLACE))

        return made(lines, number), at


class _Parquet(_Reader):
    def staged(self) -> Staged:
        paths = [file.path for file in self.files.found]
        if not paths:
            return _typed(
                self.entity,
                self.spark.createDataFrame([], "nothing string").select(),
                F.lit(self.files.root),
                self.used,
                unchanged=self.files.unchanged,
            )
        frame = self.spark.read.options(mergeSchema="true").parquet(*literal(paths))
        return _typed(
            self.entity, frame, _path(_uri(frame)), self.used, unchanged=self.files.unchanged
        )


class _Json(_Reader):
    """JSON lines: an object per line, whose values are exact, since a variant keeps decimals."""

    def staged(self) -> Staged:
        paths = [file.path for file in self.files.found if file.size > 0]
        lines = self.text(self.spark, paths) if paths else _no_lines(self.spark)
        lines = lines.where(F.trim("value") != "")
        keys = self.objects(lines).select(F.explode(F.map_keys("_map")).alias("key")).distinct()
        seen = {row[0] for row in keys.limit(_MOST_COLUMNS).collect()}
        mapped = [a.source for a in self.entity.attributes if a.source is not None]
        first = [c for c in dict.fromkeys([*mapped, self.entity.indicator_column]) if c in seen]
        columns = first + sorted(seen - set(first))
        raw = F.struct(*(self.value(c).alias(c) for c in columns)).alias(RAW)
        is_bad = F.col("_map").isNull().alias(BAD)
        rows, at = self.numbered(
            lines,
            lambda some, place: self.objects(some).select(
                raw, FROM, is_bad, F.lit(False).alias(TORN), F.lit(False).alias(HEAD), place
            ),
        )
        # Without an object there is nothing that could lack a column.
        more = {} if seen else {"missing": ()}
        return _staged(
            self.entity,
            rows,
            columns,
            self.used,
            unchanged=self.files.unchanged,
            at=at,
            size=self.files.size,
            **more,
        )

    def objects(self, lines: DataFrame) -> DataFrame:
        """Return the objects of lines as ``_map``, which is NULL where there is none.

        A number is parsed as a list of a text with a mark, since the parser would round it; and a
        list can't be taken for a name. The mark behind the line is found only where the line is one
        value: what stands behind a value could else end the list, and nobody would see the rest.
        """
        line = F.col("value")
        texts = F.regexp_replace(line, _NUMBER, rf'$1["{_MARK}$2"]')
        parsed = F.try_parse_json(F.concat(F.lit("["), texts, F.lit(f',"{_MARK}"]')))
        is_one = F.try_variant_get("_all", "$[1]", "string") == _MARK
        others = F.contains(F.regexp_replace(line, _ESCAPED, ""), F.lit("\\"))
        is_text = F.is_valid_utf8(line) & ~(F.contains(line, F.lit("\\u")) & others)
        found = F.try_variant_get("_all", "$[0]", "map<string,string>")
        return lines.withColumn("_all", parsed).withColumn("_map", F.when(is_one & is_text, found))

    def value(self, column: str) -> Column:
        """Return the text of a value of an object, with its numbers as they are written."""
        found = F.col("_map")[column]
        numbers = F.regexp_replace(found, rf'\["{_MARK}([^"]*)"\]', "$1")
        return F.when(F.contains(found, F.lit(_MARK)), numbers).otherwise(found)


class _Csv(_Reader):
    """CSV, in lines; or in records, where a line ends within quotes."""

    def __init__(self, spark: SparkSession, entity: EntityPlan, files: Files, used: str) -> None:
        super().__init__(spark, entity, files, used)
        said = files.csv
        self.field = _unescaped(said.get("field_terminator"), ",")
        self.row = _unescaped(said.get("row_terminator"), "\n")
        self.quote = str(said.get("quote", '"') or "")
        self.has_header = str(said.get("first_row_is_header", True)).lower() == "true"
        self.charset = _charset(said)
        self.written = Records(self.field, self.quote, self.row, self.has_header)
        if len(self.quote) > 1 or not self.field or not self.row:
            raise DeliveryArgumentInvalid(
                f"CSV can't be read with the field terminator {self.field!r}, the row terminator"
                f" {self.row!r} and the quote {self.quote!r}"
            )

    def staged(self, by_record: bool = False) -> Staged:
        """Return the staged rows of all files; those with the same header are read at once."""
        layouts: dict[tuple[str, ...], list[str]] = {}
        headers: dict[tuple[str, ...], set[str]] = {}
        missing: dict[str, None] = {}
        mapped = [a.source for a in self.entity.attributes if a.source is not None]
        for path, size, *_ in self.files.found:
            header = self.head(path) if self.has_header and size > 0 else ""
            if self.has_header:
                names = tuple(self.split(header)) if header else ()
                # Where the line of a header can't be told by its text, it is told by its place.
                by_record = by_record or bool(re.search(rf"{self.line_end}|{_UNFIT}", header))
            else:
                names = tuple(dict.fromkeys(mapped))
                if self.entity.load == "DELTA" and self.entity.indicator_column not in names:
                    names += (self.entity.indicator_column,)
            if names:  # an empty file beside others is no problem
                missing |= dict.fromkeys(c for c in mapped if names.count(c) != 1)
                layouts.setdefault(names, []).append(path)
                headers.setdefault(names, set()).add(header)
        columns = list(dict.fromkeys(c for names in layouts for c in names))
        wanted = self.wanted(max(map(len, layouts), default=0))
        frames, values = [], []
        at = None
        for names, paths in layouts.items():
            lines = self.records(paths) if by_record else self.lines(self.spark, paths)
            # A line of blanks that can't be read is no row.
            fields = F.size(F.split("value", re.escape(self.field)))
            lines = lines.where((F.trim("value") != "") | (fields == len(names)))
            lines = lines.where(F.col("value") != "")
            make = functools.partial(
                self.rows,
                names=names,
                columns=columns,
                headers=() if by_record else sorted(headers[names]),
            )
            rows, at = self.numbered(lines, make)
            frames.append(rows)
            if wanted:
                values.append(self.numbered(lines, functools.partial(make, wanted=wanted))[0])
        if not frames:
            place = F.lit(0).cast("bigint").alias(PLACE)
            frames = [self.rows(_no_lines(self.spark), place, ("nothing",), ["nothing"], ())]
            missing |= dict.fromkeys(mapped)
        frame = functools.reduce(DataFrame.unionAll, frames)
        return _staged(
            self.entity,
            frame,
            columns,
            self.used,
            values=functools.reduce(DataFrame.unionAll, values) if values else frame,
            missing=tuple(missing),
            unchanged=self.files.unchanged,
            whole=None if by_record else lambda: self.staged(by_record=True),
            headers=sum(map(len, layouts.values())) if self.has_header and not by_record else 0,
            at=at if len(layouts) == 1 else None,  # the lines of each layout have the same numbers
            size=self.files.size,
        )

    def wanted(self, number: int) -> dict[str, regular.Form]:
        """Return the forms of the staged columns in regular lines; of none where they do not pay.

        Expressions of the model see all columns as texts, so such entities have no regular lines.

        Args:
            number: how many fields a line has at most.
        """
        size = self.files.size
        are_few = size is not None and size < _FEW_BYTES
        if are_few or self.used or not regular.can_read(number, self.field, self.quote):
            return {}
        return regular.forms(self.entity.attributes, [self.entity.indicator_column])

    def head(self, path: str) -> str:
        """Return the first record of a file."""
        jvm = _jvm(self.spark)
        hadoop = jvm.org.apache.hadoop
        conf = self.spark._jsc.hadoopConfiguration()
        where = hadoop.fs.Path(path)
        codec = hadoop.io.compress.CompressionCodecFactory(conf).getCodec(where)
        for most in _HEADS:
            stream = where.getFileSystem(conf).open(where)
            try:
                unpacked = stream if codec is None else codec.createInputStream(stream)
                data = bytes(unpacked.readNBytes(most))
            finally:
                stream.close()
            text = str(jvm.java.lang.String(data, self.charset))
            header, has_end = self.written.header(text.removeprefix("\ufeff"))
            if has_end or len(data) < most:
                return header
        raise DeliveryArgumentInvalid(
            f"the first record of {path} has no end within {_HEADS[-1]} bytes"
        )

    @property
    def line_end(self) -> str:
        return "\r\n|\n|\r" if self.row in LINE_ENDS else re.escape(self.row)

    def split(self, record: str) -> list[str]:
        """Return the fields of a record."""
        if not self.quote:
            return record.split(self.field)
        q, f = re.escape(self.quote), re.escape(self.field)
        fields, at = [], 0
        one = re.compile(f"(?:{q}((?:[^{q}]|{q}{q})*){q} *(?={f}|\\Z))|((?:(?!{f}).)*)", re.DOTALL)
        while True:
            found = one.match(record, at)
            assert found is not None  # noqa: S101 - the second form takes anything
            quoted, bare = found[1], found[2]
            fields.append(bare if quoted is None else quoted.replace(self.quote * 2, self.quote))
            at = found.end() + len(self.field)
            if found.end() >= len(record):
                return fields

    def lines(self, spark: SparkSession, paths: Sequence[str], row: str | None = None) -> DataFrame:
        """Return the lines of files, decoded; or what is between a text, where one is given."""
        if self.charset.startswith("UTF-16"):
            # Bytes that look like a line end may be a part of a character.
            files = spark.read.format("binaryFile").load(literal(paths))
            files = files.select("content", _uri(files).alias(FROM))
            text = F.regexp_replace(F.decode("content", self.charset), "\\A\ufeff", "")
            if row in LINE_ENDS:  # which are all looked for
                return files.select(text.alias("value"), FROM)
            return files.select(F.explode(F.split(text, self.line_end)).alias("value"), FROM)
        if row is None and self.row not in LINE_ENDS:
            row = self.row
        lines = self.text(spark, paths, **({} if row is None else {"lineSep": row}))
        if self.charset == "UTF-8":
            return lines
        return lines.withColumn("value", F.decode(F.col("value").cast("binary"), self.charset))

    def records(self, paths: Sequence[str]) -> DataFrame:
        """Return the records of files, without headers; a line may end within quotes of one."""
        # A file must be one partition, in order. Reading is planned by the settings of the session.
        spark = cloned(self.spark, _WHOLE_FILES)
        pieces = self.lines(spark, paths, self.written.between)
        records = pieces.mapInArrow(self.written.joined, f"value string, {FROM} string")
        return in_session(self.spark, records)

    def rows(
        self,
        lines: DataFrame,
        place: Column,
        names: Sequence[str],
        columns: Sequence[str],
        headers: Sequence[str],
        wanted: Mapping[str, regular.Form] | None = None,
    ) -> DataFrame:
        """Return the rows of records that have these fields.

        Args:
            lines: the records.
            place: the number of a record.
            names: the fields of a record.
            columns: the staged columns.
            headers: the records that are headers, the first time in each file.
            wanted: says that regular lines are read by Arrow, and no row tells its file.
        """
        line = F.col("value")
        is_header = line.isin(*headers) if headers else F.lit(False)
        records = lines.select("value", FROM, place, is_header.alias(HEAD))
        fields, is_corrupt, is_open = self.parsed(line, len(names))
        is_torn = F.when(is_corrupt | is_open, self.may_go_on(line)).otherwise(False)
        fits = (
            F.is_valid_utf8(line) if self.charset == "UTF-8" else ~F.contains(line, F.lit(_UNFIT))
        )
        is_bad = is_corrupt | is_torn | ~fits
        columns_of = {c: F.col("_s").getField(f"c{n}") for n, c in reversed([*enumerate(names)])}
        nothing = F.lit(None).cast("string")
        raw = F.struct(*(columns_of.get(c, nothing).alias(c) for c in columns)).alias(RAW)
        if wanted:
            records = regular.read(records.drop(FROM), names, wanted, self.field, self.quote)
            records = records.withColumn(FROM, nothing)
            is_torn, is_bad = line.isNotNull() & is_torn, line.isNotNull() & is_bad
        kept = [quote(name) for name in records.columns if name != "value"]
        return records.withColumn("_s", fields).select(
            raw, (is_bad | F.col(HEAD)).alias(BAD), is_torn.alias(TORN), *kept
        )

    def may_go_on(self, line: Column) -> Column:
        """Return whether a line that does not fit may end within quotes; then records must tell."""
        if not self.quote:
            return F.lit(False)
        if len(self.field) > 1:  # which may begin within another one
            return F.contains(line, F.lit(self.quote))
        q, f = re.escape(self.quote), re.escape(self.field)
        # Without all fields in quotes: the next one that has a quote there is not closed.
        closed = rf"(?:\A|{f}){q}[^{q}]*+(?:{q}{q}[^{q}]*+)*+{q}(?!{q})"
        rest = F.regexp_replace(line, closed, "")
        return F.startswith(rest, F.lit(self.quote)) | F.contains(
            rest, F.lit(self.field + self.quote)
        )

    def parsed(self, line: Column, number: int) -> tuple[Column, Column, Column]:
        """Return the fields of a record as a struct; and two facts about it when it is ``_s``.

        They are whether it has another number of fields, and whether its last field lacks its
        closing quote, which may be said of others too.
        """
        fields = "".join(f"c{n} string, " for n in range(number))
        said = {
            "mode": "PERMISSIVE",
            "sep": self.field,
            "quote": self.quote,
            "escape": self.quote,
            "maxColumns": "200000",
        }
        if len(self.field) == 1:
            # Whether a mark is the next field tells both, and costs less than a column of Spark for
            # what it can't read. Behind it the text ends where Spark finds it out in the best way.
            ended = F.concat(line, F.lit(self.field + _MARK + self.field))
            mark = F.col("_s").getField("mark")
            parsed = F.from_csv(ended, f"{fields}mark string, rest string", said)
            return parsed, ~mark.eqNullSafe(_MARK), F.lit(False)
        # A value may end as a longer terminator begins, and a mark would be taken for its rest.
        said["columnNameOfCorruptRecord"] = "bad"
        last = F.coalesce(F.col("_s").getField(f"c{number - 1}"), F.lit(""))
        plain = last if number == 1 else F.concat(F.lit(self.field), last)
        is_open = F.when(line.endswith(self.quote), last.endswith(self.quote)).otherwise(
            ~line.endswith(plain)
        )
        parsed = F.from_csv(line, f"{fields}bad string", said)
        return parsed, F.col("_s").getField("bad").isNotNull(), is_open


def _no_lines(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([], f"value string, {FROM} string")


_ESCAPES = {"\\n": "\n", "\\r": "\r", "\\t": "\t", "\\0": "\0", "\\\\": "\\"}


def _unescaped(said: Any, default: str) -> str:
    r"""Return a terminator, which may be written as bulk loaders do: \t, \r\n, 0x1e."""
    if said is None or said == "":
        return default
    text = str(said)
    if re.fullmatch(r"0[xX](?:[0-9a-fA-F]{2})+", text):
        return bytes.fromhex(text[2:]).decode("latin-1")
    return re.sub(r"\\[nrt0\\]", lambda found: _ESCAPES[found[0]], text)


def _charset(csv: Mapping[str, Any]) -> str:
    """Return the name that Java has for the code page of files."""
    kind = str(csv.get("datafile_type") or "char").lower()
    page = str(csv.get("code_page") or "65001").strip().upper().removeprefix("CP")
    if kind == "widechar":
        page = "1200"
    known = {
        "65001": "UTF-8",
        "UTF-8": "UTF-8",
        "RAW": "UTF-8",
        "1200": "UTF-16LE",
        "1201": "UTF-16BE",
        "20127": "US-ASCII",
        "ACP": "windows-1252",
        "OEM": "IBM437",
        "874": "x-windows-874",
        "932": "windows-31j",
        "936": "x-mswin-936",
        "949": "x-windows-949",
        "950": "x-windows-950",
        "54936": "GB18030",
        "20866": "KOI8-R",
        "21866": "KOI8-U",
    }
    for number in range(1250, 1259):
        known[str(number)] = f"windows-{number}"
    for number in (*range(1, 10), 13, 15):
        known[str(28590 + number)] = f"ISO-8859-{number}"
    for number in (437, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 864, 865, 866, 869):
        known[str(number)] = f"IBM{number:03}"
    if page not in known or kind not in ("char", "widechar"):
        raise DeliveryArgumentInvalid(
            f"CSV of the data file type {kind} and the code page {page} can't be read",
            hint="Use char with a code page such as 65001 or 1252, or widechar.",
        )
    return known[page]
