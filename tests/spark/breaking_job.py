"""The job of the test of the end of the input: it writes what a data source reads that fails.

For each line of stdin, which is JSON, it writes the rows to the target of m_t by one run. The
second partition breaks after BEFORE rows of SECOND in its first attempts.
"""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

import omd
import omd.spark

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql.types import StructType

FIRST = 2_000  # rows of the first partition
SECOND = 100_000
BEFORE = 48_000
BATCH = 4_000
SETTINGS = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.log.level": "OFF",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH),
}


class Breaking(DataSource):
    """Numbers, of which the first attempts read less than half."""

    @classmethod
    def name(cls) -> str:
        return "breaking"

    def schema(self) -> str:
        return "id bigint"

    def reader(self, schema: StructType) -> BreakingReader:
        return BreakingReader(int(self.options["attempts"]))


class BreakingReader(DataSourceReader):
    def __init__(self, attempts: int) -> None:
        self.attempts = attempts

    def partitions(self) -> Sequence[InputPartition]:
        return [InputPartition(range(FIRST)), InputPartition(range(FIRST, FIRST + SECOND))]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        context = TaskContext.get()
        assert context is not None
        for start in range(partition.value.start, partition.value.stop, BATCH):
            stop = min(start + BATCH, partition.value.stop)
            yield pa.RecordBatch.from_pydict({"id": pa.array(range(start, stop), pa.int64())})
            is_broken = context.attemptNumber() < self.attempts
            if is_broken and stop == FIRST + BEFORE:
                raise ValueError("the source broke off")


def main(master: str) -> None:
    spark = omd.spark.session(master, SETTINGS)
    spark.dataSource.register(Breaking)
    print("ready", flush=True)
    for line in sys.stdin:
        given = json.loads(line)
        rows = spark.read.format("breaking").option("attempts", given["attempts"]).load()
        mode = given["mode"]
        with omd.connect(given["dsn"], lease=timedelta(minutes=5), spark=spark) as control:
            outcome = control.run(
                "m_t", lambda run, rows=rows, mode=mode: run.write(rows, mode=mode)
            )
            told = [outcome.status.value, outcome.value, type(outcome.error).__name__]
            print(json.dumps([*told, str(outcome.error)]), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
