"""A run of a stage on Spark: records → calls and rejects → codes → judged → written.

The rules are in docs/explanation/decision.md, above all C10. Spark forms the cycles and calls the
rules. What may be rejected, and what fits an output, is the database's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa
from psycopg import sql
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from omd._core.engines import SPARK
from omd._core.errors import one_line
from omd.rooms.control.connection import Connection
from omd.rooms.control.outcome import Outcome
from omd.rooms.control.run import call_job
from omd.rooms.decision.block import StageRun
from omd.rooms.decision.rows import DecisionRunLogRow
from omd.rooms.decision.rules import require_allowed
from omd.rooms.decision.run import ended as outcome
from omd.spark.arrow import spark_schema
from omd.spark.decision import operator as op
from omd.spark.decision.links import Links
from omd.spark.decision.operator import CLUSTERED, RESULTS
from omd.spark.decision.rules import Rules
from omd.spark.decision.shape import Shape
from omd.spark.job import write_table
from omd.spark.relation import Relation
from omd.spark.sessions import register
from omd.spark.types import Described, column_type

_PARTITIONS = "spark.sql.shuffle.partitions"
_ROWS_PER_PARTITION = 10_000  # of a write

# The columns of the temporary table that omd_decision.write_calls reads.
_CALLED = {
    "wave": "text",
    "key": "jsonb",
    "cycle_no": "int8",
    "invocation_no": "int8",
    "link": "text",
    "arrival": "int8",
    "code": "text",
    "cause_link": "text",
    "inputs": "jsonb",
    "params": "jsonb",
    "result": "jsonb",
    "trace": "jsonb",
}


def run(connection: Connection, stage: str, **options: Any) -> Outcome[None]:
    """Run a stage, and return what became of it; the options are those of `StageRun`."""
    ended = call_job(StageRun(connection, stage, **options), decide)
    error = ended.error
    return outcome(
        stage,
        ended.instance_id,
        ended.status,
        SPARK,
        reason=ended.reason,
        detail=ended.reason if error is None else one_line(error),
        error=error,
    )


def decide(run: StageRun) -> None:
    """Run the stage of an open run; its success commits the counts.

    Args:
        run: the open run.
    """
    spark = run._reads.spark
    assert spark is not None  # noqa: S101 - the block has started one
    register(spark, run.dsn)
    run.attach(spark)
    _Job(run).work()


def operator_of(
    shape: Shape, rules: Rules
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function of ``mapInArrow`` that runs the operator over a partition."""

    def work(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            yield from op.decided(shape, rules, batches)
        finally:
            rules.close()

    return work


def results_of(
    records: DataFrame, shape: Shape, rules: Rules, parallelism: int | None = None
) -> DataFrame:
    """Return what becomes of records, as rows of `RESULTS`.

    Args:
        records: in the columns of `RECORDS`.
        rules: the ruleset.
        parallelism: into how many partitions they are cut; by default as many as the session has
            for a shuffle, since the rules may cost more than the bytes tell.
    """
    # A batch that crosses keys needs all of its wave.
    crosses_keys = shape.is_key and shape.size > 1
    number = parallelism or int(records.sparkSession.conf.get(_PARTITIONS) or 1)
    records = records.repartition(number, "wave_key" if crosses_keys else "sort_key")
    if crosses_keys or shape.wave is not None:
        records = records.sortWithinPartitions("sort_key", "link", "arrival")
    else:
        records = _clustered(records, shape.link_bits)
    return records.mapInArrow(operator_of(shape, rules), spark_schema(RESULTS))


def _clustered(records: DataFrame, link_bits: int) -> DataFrame:
    """Return records of one wave, partition by partition, as `CLUSTERED` says.

    Spark sorts by the first eight bytes of the first column, and looks at a record only where these
    are alike. Those of sort keys are alike, as keys are. Here they say all: the cluster, which is a
    hash of the sort key, the link, and the arrival, if it is from 0 to 2^32 - 1.
    """
    order = (
        F.shiftleft(F.xxhash64("sort_key"), 32 + link_bits)
        .bitwiseOR(F.shiftleft(F.col("link").cast("long"), 32))
        .bitwiseOR(F.greatest(F.lit(0), F.least("arrival", F.lit(2**32 - 1))))
    )
    return (
        records.withColumn("order", order)
        .sortWithinPartitions("order", "sort_key", "link", "arrival")
        .withColumn("place", F.shiftright("order", 32).cast("int"))
        .select(*CLUSTERED.names)
    )


class _Job:
    def __init__(self, run: StageRun) -> None:
        self.run = run
        spark = run._reads.spark
        assert spark is not None  # noqa: S101 - the block has started one
        self.spark = spark
        self.definition = run.definition
        self.links = Links(run, spark)
        [log] = run.calls.report(DecisionRunLogRow, module_instance_id=run.instance_id)
        self.most = int(self.definition["max_array_rows"])
        self.buffers, self.buffered = self.links.buffers(self.most)
        self.shape = Shape(
            stage=run.stage,
            ruleset=run.ruleset["ruleset"],
            is_key=self.links.is_key,
            size=int(log.batch_size),
            most=self.most,
            wave=self.definition.get("wave"),
            keys=tuple(key["column"] for key in self.definition.get("keys", [])),
            links=self.links.shapes,
            keeps_inputs=self.definition["keep"] != "NONE",
            params=self._kept_params(),
            buffers=self.buffers,
        )

    def work(self) -> None:
        run = self.run
        kind = run.ruleset["kind"]
        # Executors have another environment, so it is decided here.
        require_allowed(kind, run.ruleset["content"])
        rules = Rules(
            kind,
            json.dumps(run.ruleset["content"]),
            with_trace=self.definition["keep"] == "TRACE",
            url=run._control._executor_dsn,
            snapshot=run.snapshot() if kind == "FUNCTION" else None,
        )
        results = results_of(
            self.links.records(self.shape.size), self.shape, rules, run.parallelism
        ).persist(StorageLevel.DISK_ONLY)
        try:
            self._write(results)
        finally:
            results.unpersist()

    def _write(self, results: DataFrame) -> None:
        run = self.run
        counts = self._counted(results)
        rejects = self._rejects(results) if counts["rejects"] else None
        more, read = self._buffer_rejects(results)
        if more:
            buffered = self.spark.createDataFrame(
                more, "wave string, link string, arrival long, params string"
            ).select("*", F.lit(op.LEFTOVER).alias("code"), F.lit("").alias("sort_key"))
            rejects = buffered if rejects is None else rejects.unionByName(buffered, True)
        summary = [] if rejects is None else _summary(rejects)
        run.check()
        run.calls.judge_rejects(run.instance_id, summary)
        called = results.where(F.col("kind") == op.CALL)
        if rejects is not None:
            called = called.unionByName(rejects, True)
        rows = 0
        rejected = sum(item["count"] for item in summary)
        if many := counts["invocations"] + rejected:
            # A partition costs a connection and a commit, whatever it has.
            called = called.coalesce(-(-many // _ROWS_PER_PARTITION))
            rows = self._put(called.select(*_CALLED))
        run.counts = {
            "waves": counts["waves"],
            "attempts": counts["attempts"],
            "cycles": counts["cycles"],
            "invocations": counts["invocations"],
            "rows_input": counts["rows"] + read,
            "rows_inserted": rows,
            "rows_rejected": rejected,
            "rejects": summary,
        }

    def _kept_params(self) -> frozenset[str] | None:
        """Return of which parameters the database needs the records; None: of all."""
        if self.definition["keep"] == "TRACE":
            return None
        parameters = {link["name"]: link["parameter"] for link in self.definition["links"]}
        return frozenset(
            parameters[output["propagate"]["link"]]
            for output in self.definition["outputs"]
            if "propagate" in output
        )

    def _counted(self, results: DataFrame) -> dict[str, int]:
        """Return the counts of all waves; an error of the operator is raised."""
        kind = F.col("kind")
        failure = F.struct("sort_key", "code", "params")
        names = ("rows", "attempts", "cycles", "invocations", "rejects")
        waves: Column = F.count_if(kind == op.WAVE).cast("boolean").cast("long")
        if self.shape.wave is not None:
            waves = F.count_distinct(F.when(kind == op.WAVE, F.col("wave_key")))
        row = results.agg(
            F.min(F.when(kind == op.ERROR, failure)).alias("failure"),
            waves.alias("waves"),
            *(F.sum(name).alias(name) for name in names),
        ).first()
        assert row is not None  # noqa: S101 - an aggregate has a row
        if row["failure"] is not None:
            self.run.refuse(row["failure"]["code"], **json.loads(row["failure"]["params"]))
        return {name: row[name] or 0 for name in (*names, "waves")}

    def _rejects(self, results: DataFrame) -> DataFrame:
        """Return the rejects with their codes, which the bounds of all partitions decide."""
        rejects = results.where(F.col("kind") == op.REJECT)
        if not self.shape.is_key:
            return rejects
        place = ["wave_key", "bound_link", "bound"]
        bounds = (
            results.where(F.col("kind") == op.BOUND)
            .groupBy(*place)
            .agg(F.max("sort_key").alias("greatest"))
        )
        code: Column = F.when(F.col("bound_key") < F.col("greatest"), op.KEY_MISMATCH)
        return rejects.join(bounds, place, "left").withColumn(
            "code", F.coalesce("code", code, F.lit(op.LEFTOVER))
        )

    def _buffer_rejects(self, results: DataFrame) -> tuple[list[tuple[Any, ...]], int]:
        """Return what buffer links have beyond their first record, and how many they have."""
        if not self.buffers.links:
            return [], 0
        waves = (
            results.where(F.col("kind") == op.WAVE).select("wave", "wave_key").distinct().collect()
        )
        read = 0
        more = []
        for link in self.buffers.links:
            for wave, wave_key in waves:
                place = (link.number, wave_key)
                records = self.buffered.get(place) or self.buffered.get((link.number, None), [])
                read += len(records)
                if not link.is_array:
                    more += [(wave, link.name, *record) for record in records[1:]]
        return more, read

    def _put(self, called: DataFrame) -> int:
        """Write calls and rejects; return how many records the outputs have got."""
        run = self.run
        described = tuple(
            Described(name, type_, False, None, None) for name, type_ in _CALLED.items()
        )
        relation = Relation(
            sql.Identifier("pg_temp", "omd_called"),
            "pg_temp",
            "omd_called",
            0,
            {column.name: column_type(column) for column in described},
            described,
        )
        return write_table(
            run._control,
            run.instance_id,
            called,
            self.definition["outputs"][0]["table"],
            through=(relation, f"CALL omd_decision.write_calls({run.instance_id})"),
        )


def _summary(rejects: DataFrame) -> list[dict[str, Any]]:
    """Return how many records each link rejects with each code, and the first of them."""
    columns = {name: F.col(name) for name in ("sort_key", "arrival", "wave")}
    key = F.col("key") if "key" in rejects.columns else F.lit(None).cast("string")
    rows = (
        rejects.groupBy("link", "code")
        .agg(
            F.count(F.lit(1)).alias("count"),
            F.min(F.struct(*columns.values(), key.alias("key"))).alias("first"),
        )
        .collect()
    )
    return [
        {
            "link": row["link"],
            "code": row["code"],
            "count": row["count"],
            **row["first"].asDict(),
            "key": None if row["first"]["key"] is None else json.loads(row["first"]["key"]),
        }
        for row in rows
    ]
