"""A worker without a queue of its own: it runs whatever is ready, until it is killed.

It prints each answer, and each error, as a line of JSON.
"""

from __future__ import annotations

import json
import random
import sys
import time
from typing import Any

import psycopg

READY = "SELECT code FROM omd_report.ready_work WHERE engine_code = 'POSTGRES'"
# Modules of SQL are never ready; somebody runs them as long as the scene is open.
OWN = "SELECT module_code FROM app.production WHERE is_open"


def say(**what: Any) -> None:
    print(json.dumps(what), flush=True)


def turn(conn: psycopg.Connection[Any], chance: random.Random) -> bool:
    """Run something that is ready; return whether anything was."""
    codes = [code for (code,) in conn.execute(READY)]
    if chance.random() < 0.1:
        codes += [code for (code,) in conn.execute(OWN)]
    if not codes:
        return False
    code = chance.choice(codes)
    answer = conn.execute(
        "CALL omd.run_module(%s, p_until_done => %s)", [code, chance.random() < 0.5]
    ).fetchone()
    assert answer
    say(code=code, status=answer[1], detail=answer[2])
    return True


def main(dsn: str, seed: int) -> None:
    chance = random.Random(seed)
    while True:
        try:
            with psycopg.connect(
                dsn,
                autocommit=True,
                options="-c role=omd_runner",
                application_name="flow_worker",
            ) as conn:
                while True:
                    try:
                        if not turn(conn, chance):
                            time.sleep(0.02)
                    except psycopg.Error as error:
                        say(sqlstate=error.sqlstate, error=str(error))
                        if conn.closed:
                            break
        except psycopg.OperationalError as error:
            say(sqlstate=error.sqlstate, error=str(error))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
