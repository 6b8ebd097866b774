"""The job of a fault test: it runs each delivery that it reads from stdin."""

from __future__ import annotations

import json
import sys
from datetime import timedelta

from faulty_job import SETTINGS

import omd
import omd.spark


def main(master: str) -> None:
    spark = omd.spark.session(master, SETTINGS | {"spark.sql.shuffle.partitions": "2"})
    print("ready", flush=True)
    for line in sys.stdin:
        told = json.loads(line)
        with omd.connect(told["dsn"], lease=timedelta(seconds=3)) as control:
            receipt = control.delivery.deliver(
                delivery_id=told["delivery_id"],
                entities=told["entities"],
                spark=spark,
                wait=timedelta(minutes=2),
            )
            print(receipt.facts["delivery_status"], receipt.facts["attempt"], flush=True)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
