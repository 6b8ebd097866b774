"""Delivers what has arrived, by SQL alone, in the place of Spark: staging, both stages, the delta.

Run: ``python tests/faults/deliverer.py DSN AGREEMENT``, until it is killed. Any number of them may
run: each step is a call of the room, and whoever dies is followed by another one.
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])  # this folder has a platform.py

import psycopg
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

import omd
from omd.rooms.delivery.folders import LocalFolders

if TYPE_CHECKING:
    Connection = psycopg.Connection[dict[str, Any]]

UNFINISHED = ("RECEIVED", "LOADED", "VALIDATED")
LEASE = "3 seconds"
COLUMNS = {
    "carriers": "carrier text, name text",
    "flights": "carrier text, flight integer, departs timestamptz, day date, origin text,"
    " dest text, delay integer, distance integer",
}
DELTA = {
    # All of them are delivered each time.
    "carriers": """
        INSERT INTO wrk_{name}.delta_carriers (delivery_id, acm_record_ind, acm_audit_id,
            carrier, name)
        SELECT %(delivery)s, CASE WHEN l.carrier IS NULL THEN 'N' WHEN s.carrier IS NULL THEN 'R'
                ELSE 'A' END, %(run)s, coalesce(s.carrier, l.carrier), s.name
        FROM staged_carriers AS s
        FULL JOIN (
            SELECT * FROM lvl_{name}.carriers
            WHERE acm_end_dt = '9999-12-31 00:00:00+00' AND acm_record_ind <> 'R'
        ) AS l ON s.carrier = l.carrier
        WHERE s.name IS DISTINCT FROM l.name""",
    "flights": """
        INSERT INTO wrk_{name}.delta_flights (delivery_id, acm_record_ind, acm_audit_id,
            carrier, flight, departs, day, origin, dest, delay, distance)
        SELECT %(delivery)s, CASE WHEN l.carrier IS NULL THEN 'N' ELSE 'A' END, %(run)s, s.*
        FROM staged_flights AS s
        LEFT JOIN lvl_{name}.flights AS l
            ON (s.carrier, s.flight, s.departs) = (l.carrier, l.flight, l.departs)
            AND l.acm_end_dt = '9999-12-31 00:00:00+00' AND l.acm_record_ind <> 'R'
        WHERE (s.day, s.origin, s.dest, s.delay, s.distance)
            IS DISTINCT FROM (l.day, l.origin, l.dest, l.delay, l.distance)""",
}


class Deliverer:
    """Performs turns of an agreement over one connection."""

    def __init__(self, conn: Connection, name: str) -> None:
        self.conn, self.name = conn, name

    def call(self, routine: str, **arguments: Any) -> dict[str, Any]:
        values = {k: Jsonb(v) if isinstance(v, dict | list) else v for k, v in arguments.items()}
        given = ", ".join(f"p_{name} => %({name})s" for name in values)
        cursor = self.conn.execute(f"CALL omd_delivery.{routine}({given})".encode(), values)
        row = cursor.fetchone() if cursor.description else None
        return {name.removeprefix("p_"): value for name, value in (row or {}).items()}

    def turn(self) -> bool:
        """Deliver the oldest folder; return whether there was one."""
        taken = self.call("take_arrival", agreement_code=self.name)
        delivery = taken["delivery_id"]
        if delivery is None:
            return False
        if self.state(delivery)["delivery_status"] == "RECEIVED":
            self.call("report_loaded", delivery_id=delivery)
        begun = self.call("begin_delivery", delivery_id=delivery, lease=LEASE)
        if begun["outcome"] == "RUN":
            self.deliver(delivery, taken["folder"], begun)
        elif begun["outcome"] != "REFUSED":
            return False
        state = self.state(delivery)
        if state["arrival_status"] == "TAKEN" and state["delivery_status"] not in UNFINISHED:
            self.call("finish_arrival", delivery_id=delivery)
        return True

    def state(self, delivery: int) -> dict[str, Any]:
        query = (
            "SELECT arrival_status, delivery_status FROM omd_report.arrivals WHERE delivery_id = %s"
        )
        return self.conn.execute(query, [delivery]).fetchone() or {
            "arrival_status": "",
            "delivery_status": "",
        }

    def deliver(self, delivery: int, folder: str, begun: dict[str, Any]) -> None:
        attempt = begun["attempt"]
        try:
            self.attempt(delivery, attempt, folder, begun["instances"])
        except psycopg.OperationalError:
            raise
        except (OSError, ValueError, psycopg.Error) as error:
            print(f"delivery {delivery}: {type(error).__name__} {error}", file=sys.stderr)
            self.call("fail_delivery", delivery_id=delivery, attempt=attempt, event_detail="failed")
            time.sleep(0.5)

    def attempt(self, delivery: int, attempt: int, folder: str, instances: dict[str, int]) -> None:
        terms = self.conn.execute(
            "SELECT terms FROM omd_report.arrival_locations WHERE agreement_code = %s", [self.name]
        ).fetchone()
        assert terms is not None
        location = terms["terms"]["location"]
        staged = {entity: read(Path(location) / folder / f"{entity}.csv") for entity in COLUMNS}
        seen = LocalFolders(location, {**terms["terms"], "known": [folder]}).one(folder)
        if not self.call("check_arrival", delivery_id=delivery, seen=seen)["is_same"]:
            raise ValueError("it was changed")
        flights = staged["flights"]
        broken = {
            "flights.day.datatype": sum("/" in row[3] for row in flights),
            "flights.primary_key": len(flights) - len({tuple(row[:3]) for row in flights}),
        }
        for stage in (1, 2):
            self.measure(delivery, attempt, stage, staged, broken if stage == 1 else {})
            verdict = self.call("stage_verdict", delivery_id=delivery, attempt=attempt, stage=stage)
            if verdict["verdict"] == "REJECTED":
                return
        written = {}
        for entity, rows in staged.items():
            columns = COLUMNS[entity]
            self.conn.execute(f"DROP TABLE IF EXISTS pg_temp.staged_{entity}".encode())
            self.conn.execute(f"CREATE TEMP TABLE staged_{entity} ({columns})".encode())
            copy = f"COPY staged_{entity} FROM STDIN (NULL 'NA')".encode()
            with self.conn.cursor() as cursor, cursor.copy(copy) as lines:
                for row in rows:
                    lines.write_row(row)
            written[entity] = self.conn.execute(
                DELTA[entity].format(name=self.name).encode(),
                {"delivery": delivery, "run": instances[entity]},
            ).rowcount
        self.call("apply_delta", delivery_id=delivery, attempt=attempt, written=written)

    def measure(
        self,
        delivery: int,
        attempt: int,
        stage: int,
        staged: dict[str, list[list[str]]],
        broken: dict[str, int],
    ) -> None:
        found = self.conn.execute(
            "SELECT omd_delivery.validation_plan(%s, %s) AS plan", [delivery, stage]
        ).fetchone()
        assert found is not None
        for entity in found["plan"]["entities"]:
            counts: dict[str, Any] = {
                "violations": {
                    c["constraint"]: {"rows": broken.get(c["constraint"], 0)}
                    for c in entity["constraints"]
                    if c["type"] != "deletes"
                }
            }
            if entity["load"]:
                rows = len(staged[entity["entity"]])
                counts |= {"rows_delivered": rows, "rows_skipped": 0}
                if stage == 2:
                    counts |= {"rows_implicit_deletes": 0, "rows_in_scope": rows}
            self.call(
                "register_violations",
                delivery_id=delivery,
                attempt=attempt,
                stage=stage,
                entity_code=entity["entity"],
                measures=counts,
            )


def read(file: Path) -> list[list[str]]:
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.reader(lines))[1:]


def main(dsn: str, name: str) -> None:
    """Deliver until it is killed."""
    while True:
        try:
            with psycopg.connect(
                dsn, autocommit=True, row_factory=dict_row, application_name="deliverer"
            ) as conn:
                deliverer = Deliverer(conn, name)
                while True:
                    if not deliverer.turn():
                        time.sleep(0.1)
        except (psycopg.Error, omd.errors.OmdError) as error:
            print(f"{type(error).__name__} {error}", file=sys.stderr, flush=True)
            time.sleep(0.2)


if __name__ == "__main__":
    main(*sys.argv[1:])
