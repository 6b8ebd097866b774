"""A load in a process of its own, which the story kills between its files and its commit."""

from __future__ import annotations

import sys
import threading
from datetime import timedelta
from pathlib import Path

import omd
from omd.programs.demo.files import Source
from omd.programs.demo.lake.jobs import JOBS, Month, batch_of, module_of
from omd.spark import session

LEASE = timedelta(seconds=5)  # the default of five minutes would make the reader wait


def main(namespace: str, folder: str, number: str) -> None:
    """Write the flights of a month, tell the run, and wait before the commit.

    The database is that of OMD_DSN.
    """
    spark = session("local[1]")
    month = Month(spark, Source(Path(), Path(folder), ()), namespace, int(number))
    with (
        omd.connect(lease=LEASE, application_name="omd demo") as control,
        control.batch(batch_of(namespace)) as batch,
        batch.module(module_of(namespace, "flights"), spark=spark) as run,
    ):
        JOBS["flights"](run, month)
        print(run.instance_id, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
