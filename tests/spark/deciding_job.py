"""The job of a fault test: it runs the stage s of each database that it reads from stdin."""

from __future__ import annotations

import sys
from datetime import timedelta

from faulty_job import SETTINGS

import omd
import omd.spark


def main(master: str) -> None:
    spark = omd.spark.session(master, SETTINGS)
    print("ready", flush=True)
    for line in sys.stdin:
        with omd.connect(line.strip(), lease=timedelta(seconds=20)) as control:
            outcome = control.decision.run("s", spark=spark, parallelism=2)
            print(outcome.status.value, outcome.instance_id, flush=True)
            if outcome.error is not None:
                print(f"{type(outcome.error).__name__}: {outcome.error}"[:2000], file=sys.stderr)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
