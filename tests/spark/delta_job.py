"""A run that writes a history and dies when its Delta commit is in the log, before its success."""

from __future__ import annotations

import os
import sys

import omd
import omd.spark
from omd.rooms.lake.calls import LakeCalls


def die(*_: object) -> None:
    os._exit(9)


def main(dsn: str) -> None:
    spark = omd.spark.session(
        "local[1]", {"spark.log.level": "OFF", "spark.sql.shuffle.partitions": "1"}
    )
    LakeCalls.commit_tables = die  # type: ignore[assignment,method-assign]
    with omd.connect(dsn, lease=None) as control, control.module("m_h", spark=spark) as run:
        rows = spark.sql("SELECT 1L AS id, 'b' AS note, date'2021-01-01' AS omd_effective_date")
        run.write(rows, mode="history")


if __name__ == "__main__":
    main(*sys.argv[1:])
