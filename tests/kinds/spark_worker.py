"""A worker without a queue of its own, with a session of Spark that serves all that needs one.

It looks for what arrives, runs whatever is ready, of any kind, and prints each answer, and each
error, as a line of JSON. A worker of dispatch starts a session for each task.
"""

from __future__ import annotations

import json
import random
import sys
import time
from datetime import timedelta
from typing import Any

from psycopg.conninfo import make_conninfo

import omd
import omd.spark
from omd.doors import arrivals

SETTINGS = {
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "1",
    "spark.ui.enabled": "false",
}
LEASE = timedelta(seconds=4)


def say(**what: Any) -> None:
    print(json.dumps(what, default=str), flush=True)


def turn(control: omd.Control, spark: Any, chance: random.Random) -> bool:
    """Run something that is ready; return whether anything was."""
    for agreement in arrivals.due(control):
        arrivals.look(control, agreement)
    rows = control.report("ready_work")
    if not rows:
        return False
    done = control.run(chance.choice(rows).code, spark)
    say(code=done.code, status=done.status, detail=done.detail)
    return True


def main(dsn: str, seed: int) -> None:
    chance = random.Random(seed)
    spark = omd.spark.session("local[1]", SETTINGS)
    dsn = make_conninfo(dsn, options="-c role=omd_runner")
    while True:
        try:
            with omd.connect(
                dsn, application_name="flow_worker", lease=LEASE, patience=timedelta(0)
            ) as control:
                while True:
                    if not turn(control, spark, chance):
                        time.sleep(0.1)
        except Exception as error:  # noqa: BLE001 - it goes on, and says what it was
            code = getattr(error, "sqlstate", None)
            say(sqlstate=code, error=f"{type(error).__name__}: {error}"[:2000])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
