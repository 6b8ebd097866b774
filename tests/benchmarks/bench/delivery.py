"""An interface of one entity, its deliveries and their deltas."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone
from typing import Any

from bench.turns import Connection, Take, timed
from psycopg.types.json import Jsonb

COLUMNS = {"a": "text(30)", "b": "text(30)", "c": "text(30)", "x": "numeric(12,2)", "y": "date"}


class Interface:
    """An interface of one entity, ``line``, with the agreement of the same name."""

    def __init__(self, conn: Connection, code: str) -> None:
        self.conn, self.code = conn, code
        self.time = datetime(2020, 1, 1, tzinfo=timezone.utc)
        attributes = {"n": "bigint", **COLUMNS}
        model = {
            "interface": code,
            "entities": [
                {
                    "name": "line",
                    "key": ["n"],
                    "attributes": [{"name": n, "type": t} for n, t in attributes.items()],
                }
            ],
        }
        conn.execute("CALL omd_delivery.deploy_model(%s)", (Jsonb(model),))
        conn.execute("CALL omd_delivery.register_tenant('t')")
        conn.execute("CALL omd_delivery.register_agreement(%s, 't', %s)", (code, code))

    def answer(self, query: str, *parameters: Any) -> Any:
        row = self.conn.execute(query.encode(), parameters).fetchone()
        assert row is not None
        return row

    def load(self) -> int:
        """Create a delivery, and say that its data is there."""
        self.time += timedelta(days=1)
        delivery_id, _ = self.answer(
            """CALL omd_delivery.create_delivery(%s, %s, '{"line": "DELTA"}')""",
            self.code,
            self.time,
        )
        self.conn.execute("CALL omd_delivery.report_loaded(%s)", (delivery_id,))
        return int(delivery_id)

    def validate(self, delivery_id: int) -> int:
        """Begin a run and pass both stages; return the Module Instance."""
        begun = self.answer("CALL omd_delivery.begin_delivery(%s)", delivery_id)
        outcome, _, _, instances, *_ = begun  # later revisions answer more
        assert outcome == "RUN", outcome
        for stage in (1, 2):
            plan = self.answer("SELECT omd_delivery.validation_plan(%s, %s)", delivery_id, stage)[0]
            measures = {
                "rows_delivered": 1,
                "rows_skipped": 0,
                "violations": {
                    c["constraint"]: {"rows": 0} for c in plan["entities"][0]["constraints"]
                },
            }
            self.conn.execute(
                "CALL omd_delivery.register_violations(%s, 1, %s, 'line', %s)",
                (delivery_id, stage, Jsonb(measures)),
            )
            self.conn.execute("CALL omd_delivery.stage_verdict(%s, 1, %s)", (delivery_id, stage))
        return int(instances["line"])

    def write(self, select: str) -> int:
        """Write a delta: the query gives indicator and number of each row."""
        delivery_id = self.load()
        instance = self.validate(delivery_id)
        self.conn.execute(
            f"INSERT INTO wrk_{self.code}.delta_line"
            f" SELECT {delivery_id}, i, {instance}, n, 'alpha {delivery_id}', 'beta ' || n,"
            f" 'gamma', n / 7.0, DATE '2020-01-01' + (n % 1000)::integer, n, {delivery_id}"
            f" FROM ({select}) AS s (i, n)".encode()
        )
        self.conn.execute(f"ANALYZE wrk_{self.code}.delta_line".encode())
        return delivery_id

    def apply(self, delivery_id: int) -> float:
        """Apply the delta of a delivery; return the seconds that it took."""
        start = time.perf_counter()
        self.conn.execute("CALL omd_delivery.apply_delta(%s, 1)", (delivery_id,))
        return time.perf_counter() - start

    def fill(self, rows: int) -> None:
        self.apply(self.write(f"SELECT 'N', n FROM generate_series(1, {rows}) AS n"))
        self.settle()

    def settle(self) -> None:
        """Do what time does: the server's maintenance must not fall on one side alone."""
        self.conn.execute(f"VACUUM ANALYZE lvl_{self.code}.line".encode())
        self.conn.execute("CHECKPOINT")


def changes(rows: int, share: int, turn: int) -> str:
    """Return a delta of every share-th row: most change, some are new or go."""
    first = turn % share + 1
    some = f"SELECT n FROM generate_series({first}, {rows}, {share}) AS n"
    return (
        f"SELECT CASE n / {share} % 20 WHEN 0 THEN 'R' ELSE 'A' END, n FROM ({some}) AS c"
        f" UNION ALL SELECT 'N', {rows} + n + {rows} * {turn}::bigint FROM ({some}) AS c"
        f" WHERE n / {share} % 20 = 1"
    )


def interface(conn: Connection, rows: int) -> Interface:
    """Return the interface ``lines`` with so many rows."""
    line = Interface(conn, "lines")
    line.fill(rows)
    return line


def reads(conn: Connection, rows: int, query: str) -> Take:
    """Return the path of a query over facts with some history; ``n`` counts its calls."""
    line, numbers = interface(conn, rows), iter(range(1, 10**9))
    conn.execute("CALL omd_facts.deploy('lines')")
    conn.execute("CALL omd_facts.load('lines')")
    for turn in range(3):
        line.apply(line.write(changes(rows, 20, turn)))
        conn.execute("CALL omd_facts.load('lines')")
    conn.execute("VACUUM ANALYZE")
    return timed(lambda: conn.execute(query.encode(), {"n": next(numbers) % rows + 1}).fetchall())
