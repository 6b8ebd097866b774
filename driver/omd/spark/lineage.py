"""The transforms of a topic on Spark (docs/explanation/lineage.md, rule L8).

The database decides which block is read and how the step ends; this module only moves rows.
"""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from omd._core.error_codes import TransformUnfit
from omd._core.errors import CallerError, ConnectionFailed, NotStarted
from omd._core.names import parts
from omd.rooms.control.codes import Status
from omd.rooms.control.connection import Connection
from omd.rooms.control.outcome import Outcome
from omd.rooms.lineage.step import KIND, StepRun, failed
from omd.spark.names import quote
from omd.spark.relation import Relation
from omd.spark.sessions import session
from omd.spark.writer import INSERT_DATETIME, RECORD_SOURCE

if TYPE_CHECKING:
    from omd.rooms.lineage.rows import TopicDefinitionRow

BLOCK = "block"

_FUNCTION = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*")  # module:function

# A view is a name in the session, so two steps of one session would read each other's views.
_one_at_a_time = threading.Lock()


def step(connection: Connection, definition: TopicDefinitionRow, **options: Any) -> Outcome[None]:
    """Perform a step of a topic, and return its outcome; the options are those of `StepRun`.

    The failure of a job is recorded, and returned as data.
    """
    topic = definition.topic
    run = StepRun(connection, definition, **options)
    try:
        with run:
            transform(run)
    except NotStarted:
        begun = run.begun
        assert begun is not None  # noqa: S101 - only begin_step raises this
        return Outcome(
            KIND,
            topic,
            begun.module_instance_id,
            begun.execution_status_code,
            str(begun.outcome),
            begun.detail or begun.reason,
        )
    except ConnectionFailed:
        raise
    except Exception as error:
        if not run._began:
            raise
        return failed(topic, run.instance_id, error)
    block = run.begun
    assert block is not None  # noqa: S101 - the step has begun
    return Outcome(
        KIND,
        topic,
        run.instance_id,
        Status.SUCCEEDED,
        facts={
            "rows": run._rows.get("rows_inserted", 0),
            "start": (block.start_pos, block.start_id),
            "end": (block.end_pos, block.end_id),
        },
    )


def transform(run: StepRun) -> None:
    """Run the transforms of a step and write their rows to its destination.

    A transform is a Spark SQL text, or ``module:function``, which is called as
    ``function(run, spark)`` and returns a DataFrame. It finds the block of the base table in the
    view ``block``, which is also named ``<schema>_<table>``, and the other tables that the topic
    depends on, as a whole, in views ``<schema>_<table>``. All of them are of one moment. A RELOAD
    finds the whole base table.

    Args:
        run: the open step.

    Raises:
        TransformUnfit: a transform can't be found, or returns no DataFrame.
    """
    spark = run._reads.spark
    if spark is None:
        spark = run._reads.spark = session()
        run.attach(spark)
    topic = run.definition
    with _one_at_a_time, _views(run, spark):
        for statement in topic.before_sql:
            spark.sql(statement)
        if topic.processor == "RELOAD":
            frames = [_rows_of(run, spark, text) for text in topic.transforms]
            whole = functools.reduce(
                lambda one, other: one.unionByName(other, allowMissingColumns=True), frames
            )
            _write(run, whole, mode="overwrite")
        else:
            for text in topic.transforms:
                _write(run, _rows_of(run, spark, text))
        for statement in topic.after_sql:
            spark.sql(statement)


def view_name(table: str) -> str:
    """Return the name under which a transform finds a table: ``stg.ticket`` is ``stg_ticket``."""
    return "_".join(parts(table))


@contextmanager
def _views(run: StepRun, spark: SparkSession) -> Iterator[None]:
    topic = run.definition
    assert topic.base_table is not None  # noqa: S101 - a topic with a processor has one
    # Where the position is the id alone, the name of the other column is empty.
    window = None if topic.processor == "RELOAD" else (topic.pos_column or None, topic.id_column)
    table = topic.base_table
    if topic.block_view is not None:  # it has the rows of the block and no others
        window = None
        table = table if topic.processor == "RELOAD" else topic.block_view
    base = run.read(spark, table, window=window)
    views: dict[str, DataFrame] = {BLOCK: base, view_name(table): base}
    for table in topic.tables:
        name = view_name(table)
        if name in views:
            raise CallerError(
                f"topic {run.topic} depends on two tables that would both be the view {name}",
                hint="Let a transform module:function read one of them: run.read(spark, table).",
            )
        views[name] = run.read(spark, table)
    try:
        for name, rows in views.items():
            rows.createOrReplaceTempView(quote(name))
        yield
    finally:
        for name in views:
            spark.catalog.dropTempView(name)


def _rows_of(run: StepRun, spark: SparkSession, text: str) -> DataFrame:
    if _FUNCTION.fullmatch(text.strip()) is None:
        return spark.sql(text)
    try:
        function = run._control._permitted.imported(text.strip())
    except (ImportError, AttributeError) as error:
        raise TransformUnfit(
            f"the transform {text} of topic {run.topic} can't be found: {error}",
            hint="Install it where the step runs, or put its folder into PYTHONPATH.",
        ) from error
    rows = function(run, spark)
    if not hasattr(rows, "sparkSession"):  # a DataFrame of Spark Connect is of another class
        raise TransformUnfit(
            f"the transform {text} of topic {run.topic} returned a {type(rows).__name__},"
            " not a DataFrame"
        )
    frame: DataFrame = rows
    return frame


def _write(run: StepRun, rows: DataFrame, **options: Any) -> None:
    """Write rows, and count the NULLs of each column while they are written.

    The stamp of the step wins over columns that the rows bring along, as it does in PostgreSQL. Of
    a check the rows for which it is false are counted, and it is not written.
    """
    rows = rows.drop(run._module.insert_instance_column, INSERT_DATETIME, RECORD_SOURCE)
    checks = _checks_of(run, rows)
    counted = Observation()
    counts = [
        F.count_if(~column if name in checks else column.isNull()).alias(f"n{i}")
        for i, name in enumerate(rows.columns)
        for column in [F.col(quote(name))]
    ]
    written = run.write(rows.observe(counted, *counts).drop(*checks), **options)
    if not written:
        return  # Spark may know before that there are no rows, and then it counts nothing
    numbers = counted.get
    for i, name in enumerate(rows.columns):
        nulls = int(numbers.get(f"n{i}") or 0)
        if nulls:
            run.nulls[name] = run.nulls.get(name, 0) + nulls


def _checks_of(run: StepRun, rows: DataFrame) -> list[str]:
    """Return the columns that are checks, by the rule of `omd_lineage._checks_of`."""
    named = [name for name, kind in rows.dtypes if kind == "boolean" and name.startswith("check_")]
    if not named:
        return []
    table = Relation.describe(run.dsn, run._module.table_code, None)
    return [name for name in named if name not in table.columns]
