"""The records of all links as one DataFrame, from PostgreSQL and from DataFrames alike."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from omd.rooms.decision.rules import odd_character
from omd.spark.decision.keys import family_of, json_of, named, sort_key
from omd.spark.decision.shape import Buffers, LinkShape

if TYPE_CHECKING:
    from omd.rooms.decision.block import StageRun

_BLOCKS_PER_PARTITION = 2048  # 16 MB
_MAX_PARTITIONS = 8  # each needs a connection

_WORDS = {
    "arrival": ("integer",),
    "wave": ("integer", "text", "date"),
    "window": ("timestamptz",),
    "keys": ("boolean", "integer", "text", "date", "timestamp", "timestamptz", "uuid"),
}


@dataclass(frozen=True)
class _Source:
    """A link, and where its records come from."""

    shape: LinkShape
    is_buffer: bool
    frame: DataFrame
    families: Mapping[str, str]


class Links:
    """The links of a run.

    Args:
        run: the open run.
    """

    def __init__(self, run: StageRun, spark: SparkSession) -> None:
        self.run = run
        self.definition = definition = run.definition
        self.is_key = definition["mode"] == "KEY"
        self._wave: str | None = definition.get("wave")
        self._keys: list[tuple[str, str]] = [
            (key["column"], key["direction"]) for key in definition.get("keys", [])
        ]
        for name in run.links.keys() - {link["name"] for link in definition["links"]}:
            run.refuse("OM289", link=name, problem="the stage has no such link")
        self._sources = [
            self._source(spark, number, link)
            for number, link in enumerate(definition["links"], start=1)
        ]
        self._require_one_type()

    @property
    def shapes(self) -> tuple[LinkShape, ...]:
        """The links that are no buffer links."""
        return tuple(source.shape for source in self._sources if not source.is_buffer)

    def records(self, size: int) -> DataFrame:
        """Return the records of all links that are no buffer links, as the operator takes them.

        Args:
            size: the batch size that is used.
        """
        frames = [self._frame(source) for source in self._sources if not source.is_buffer]
        records = reduce(lambda one, other: one.union(other), frames)
        if self.is_key:
            return records
        # A batch is the key: the position of a record in its wave and link, by the batch size.
        batch: Column = F.lit(0)
        if size:
            order = Window.partitionBy("wave_key", "link").orderBy("arrival")
            batch = F.floor((F.dense_rank().over(order) - 1) / F.lit(size))
        digits = F.lower(F.lpad(F.hex(batch.cast("long")), 16, "0"))
        return records.withColumn("sort_key", F.concat("wave_key", digits))

    def buffers(self, most: int) -> tuple[Buffers, dict[tuple[int, str | None], list[Any]]]:
        """Read the buffer links: what they give to calls, and their records, in order.

        A wave with more than `most` records of a link is an error, and its records are not read.
        """
        sources = [source for source in self._sources if source.is_buffer]
        texts: dict[tuple[int, str | None], str] = {}
        errors: dict[tuple[int, str | None], tuple[str, dict[str, Any]]] = {}
        by_place: dict[tuple[int, str | None], list[Any]] = {}
        for source in sources:
            link = source.shape
            order = Window.partitionBy("wave_key").orderBy("arrival")
            counted = self._frame(source).select(
                "wave_key",
                "arrival",
                "record",
                F.row_number().over(order).alias("place"),
            )
            rows = counted.where(F.col("place") <= most + 1).collect()
            for row in sorted(rows, key=lambda row: row.place):
                by_place.setdefault((link.number, row.wave_key), []).append(
                    (row.arrival, row.record)
                )
        for place, records in by_place.items():
            link = next(s.shape for s in sources if s.shape.number == place[0])
            arrivals = [arrival for arrival, _ in records]
            twice = next((a for a, b in itertools.pairwise(arrivals) if a == b), None)
            characters = filter(None, (odd_character(record) for _, record in records))
            if None in arrivals:
                errors[place] = ("OM289", {"problem": "a record has no arrival"})
            elif character := next(characters, None):
                errors[place] = ("OM289", {"problem": f"a text has {character}"})
            elif twice is not None:
                errors[place] = ("OM290", {"arrival": twice})
            elif len(records) > most:
                errors[place] = ("OM291", {"rows": len(records), "max_array_rows": most})
            elif link.is_array:
                texts[place] = f"[{', '.join(record for _, record in records)}]"
            else:
                texts[place] = records[0][1]
        return Buffers(tuple(source.shape for source in sources), texts, errors), by_place

    def _source(self, spark: SparkSession, number: int, link: Mapping[str, Any]) -> _Source:
        shape = LinkShape(number, link["name"], link["parameter"], link["array"])
        given = self.run.links.get(link["name"])
        if given is not None:
            return self._given(shape, link, given)
        query = self.run.calls.link_query(self.run.instance_id, link["name"])
        parts = min(_MAX_PARTITIONS, -(-query.block_count // _BLOCKS_PER_PARTITION))
        ranges: dict[str, Any] = (
            {"partitionColumn": "arrival", "numPartitions": parts} if parts > 1 else {}
        )
        frame = self.run.read(spark, query=query.query, **ranges)
        return _Source(shape, link["buffer"], frame, query.families)

    def _given(self, shape: LinkShape, link: Mapping[str, Any], frame: DataFrame) -> _Source:
        """Return a DataFrame as a source whose columns still have their names."""
        if self.run._reads.block is not None:
            problem = "the window goes by changes, so no DataFrame stands for its source"
            self.run.refuse("OM289", link=shape.name, problem=problem)
        types = {field.name: field.dataType for field in frame.schema.fields}
        wanted = [("arrival", link["arrival"])]
        if self._wave and (not link["buffer"] or self._wave in types):
            wanted.append(("wave", self._wave))
        if not link["buffer"]:
            wanted += [("keys", name) for name, _ in self._keys]
            if "window" in self.definition:
                wanted.append(("window", self.definition["window"]["column"]))
        families: dict[str, str] = {}
        for use, name in wanted:
            family = family_of(types[name]) if name in types else None
            if name not in types:
                problem = f'its DataFrame has no column "{name}" ({use})'
            elif family not in _WORDS[use]:
                type_ = types[name].simpleString()
                problem = f'column "{name}" of its DataFrame ({use}) is {type_}'
            else:
                families |= {} if use in ("arrival", "window") else {name: str(family)}
                continue
            self.run.refuse("OM289", link=shape.name, problem=problem)
        if "window" in self.definition and not link["buffer"]:
            frame = self._within(frame, named(self.definition["window"]["column"]))
        record = json_of(types)
        columns = [named(name).alias(f"c{n}") for n, name in enumerate(families)]
        frame = frame.select(
            *columns,
            named(link["arrival"]).cast("long").alias("arrival"),
            record.alias("record"),
        )
        return _Source(shape, link["buffer"], frame, families)

    def _within(self, frame: DataFrame, moment: Column) -> DataFrame:
        start, end = self.run.window_of_run()
        if start is not None:
            frame = frame.where(moment > F.lit(start))
        return frame if end is None else frame.where(moment <= F.lit(end))

    def _require_one_type(self) -> None:
        """Refuse links whose columns differ in type; a UUID in Spark is a text."""
        seen: dict[str, tuple[str, str]] = {}
        for source in self._sources:
            for name, family in source.families.items():
                other, first = seen.setdefault(name, (source.shape.name, family))
                if {family, first} == {"text", "uuid"}:
                    seen[name] = (other, "uuid")
                elif family != first:
                    self.run.refuse(
                        "OM289",
                        link=source.shape.name,
                        problem=f'column "{name}" is {family}, that of link "{other}" is {first}',
                    )
        self._families = {name: family for name, (_, family) in seen.items()}

    def _frame(self, source: _Source) -> DataFrame:
        """Return the records of a link."""
        frame, number = source.frame, F.lit(source.shape.number).cast("int")
        if "sort_key" in frame.columns:
            return frame.select("wave_key", "sort_key", number.alias("link"), "arrival", "record")
        columns = {name: F.col(f"c{n}") for n, name in enumerate(source.families)}
        wave = F.lit(None).cast("string") if source.is_buffer else F.lit("")
        if self._wave in columns:
            wave = sort_key(columns[self._wave], self._families[self._wave], "ASC")
        keys = [
            sort_key(columns[name], self._families[name], direction)
            for name, direction in self._keys
            if name in columns
        ]
        return frame.select(
            wave.alias("wave_key"),
            F.concat(wave, *keys).alias("sort_key"),
            number.alias("link"),
            "arrival",
            "record",
        )
