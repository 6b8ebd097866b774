"""The story of the demo: it goes on where that of deliveries ends, and stores what was accepted."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql
from psycopg.rows import tuple_row

import omd
from omd._core.error_codes import ChildrenExist
from omd.programs.demo.delivery import story as delivery
from omd.programs.demo.delivery.story import QUICK, YEAR_LONG  # noqa: F401 - the command asks for both
from omd.programs.demo.facts import proof
from omd.programs.demo.facts.proof import Moment
from omd.programs.demo.stage import (
    Screen,
    Story,
    as_role,
    connect,
    install_omd,
    start_spark,
    tell_verdict,
)
from omd.rooms.delivery.rows import DeliveryQueueRow
from omd.rooms.facts.rows import (
    FactsLoadsRow,
    FactsMapRow,
    FactsRemovalsRow,
    FactsStateRow,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_LOW = 2**64 - 1
_PERSON = ("ZZZ", "John Doe, +1 555 0100")


def play(
    dsn: str,
    folder: Path,
    screen: Screen,
    *,
    months: tuple[int, int] = YEAR_LONG,
    master: str | None = None,
) -> bool:
    """Play the demo of facts.

    Where that of deliveries was not played in the database, it is played first.
    """
    with connect(dsn) as connection:
        install_omd(connection, screen)
        with omd.connect(dsn, application_name="omd demo") as control:
            interface = _queued(control)
        if interface is None:
            screen.say("  Nothing is queued for the facts, so deliveries are made first.")
            if not delivery.play(dsn, folder, screen, months=months, master=master):
                return False
            with omd.connect(dsn, application_name="omd demo") as control:
                interface = _queued(control)
            assert interface is not None  # noqa: S101 - what is accepted is queued
        with (
            omd.connect(as_role("omd_admin", dsn), application_name="omd demo") as admin,
            omd.connect(as_role("omd_runner", dsn), application_name="omd demo") as loader,
            omd.connect(as_role("omd_data_writer", dsn), application_name="omd demo") as writer,
        ):
            spark = start_spark(folder, master, screen)
            lake = str(folder / "lake")
            story = _Story(dsn, connection, screen, interface, admin, loader, writer, spark, lake)
            for act in (
                story.deploy,
                story.load,
                story.remember,
                story.undo,
                story.export,
                story.write,
                story.export_changes,
                story.erase,
            ):
                act()
            return story.prove()


def _queued(control: omd.Control) -> str | None:
    """Return the newest interface of the demo of which nothing was loaded yet."""
    items = control.report(
        DeliveryQueueRow, queue_status="QUEUED", order_by=["queue_id"], descending=True
    )
    loaded = {row.interface_code for row in control.report(FactsStateRow)}
    codes = (row.interface_code for row in items if row.interface_code.startswith("nyc"))
    return next((code for code in codes if code not in loaded), None)


@dataclass
class _Story(Story):
    interface: str
    admin: omd.Control
    loader: omd.Control
    writer: omd.Control
    spark: SparkSession
    lake: str
    moments: list[Moment] = field(default_factory=list)
    seen: set[tuple[Any, int]] = field(default_factory=set)

    # The acts -----------------------------------------------------------------------------------

    def deploy(self) -> None:
        """Make the tables and views of the model."""
        self.screen.title("The model becomes tables, with history")
        with self.screen.step(f"omd_facts.deploy {self.interface}") as step:
            answer = self.admin.calls.omd_facts.deploy(self.interface)
            step.done(f"{answer.statements} statements")
        rows = self.loader.report(
            FactsMapRow, interface_code=self.interface, order_by=["anchor_table", "context_code"]
        )
        self.screen.table(
            [
                {
                    "entity": row.entity_code,
                    "keys in": row.anchor_table.partition(".")[2],
                    "history in": row.context_table.partition(".")[2],
                    "attributes": ", ".join(row.attribute_codes),
                }
                for row in rows
            ]
        )

    def load(self) -> None:
        """Load every delivery, while somebody reads."""
        self.screen.title("Each accepted delivery is one commit, and readers never wait")
        with self._reader() as asked:
            outcome = "PERSISTED"
            while outcome == "PERSISTED":
                outcome = self._load()
        self.screen.say(
            f"  Somebody has read meanwhile, {len(asked):,} times, and saw {len(self.seen)} states:"
            f" each as it was after a\n  whole delivery."
        )

    def remember(self) -> None:
        """Show the history of a row, and the past of a table."""
        self.screen.title("Nothing is forgotten")
        self.screen.say("  One of the arrivals that United has corrected:")
        flight = self._row(
            "SELECT carrier, flight, departs FROM {history}.flights"
            " WHERE acm_record_ind = 'A' ORDER BY departs, flight LIMIT 1"
        )
        self._tell_history("carrier, flight, arr_delay", flight)
        self.screen.say("  Flights of March, as they were known:")
        self.screen.table(
            [
                {
                    "as of": f"{moment.at:%Y-%m-%d}",
                    **self._row(
                        "SELECT count(*) AS flights, sum(arr_delay) AS minutes_late"
                        " FROM {asof}.flights(%s) WHERE month = '2013-03-01'",
                        moment.at,
                    ),
                }
                for moment in self.moments[1:4]
            ]
        )

    def undo(self) -> None:
        """Undo the newest load, and load it again."""
        self.screen.title("A load is taken back, and done again")
        [newest] = self.loader.report(
            FactsLoadsRow,
            interface_code=self.interface,
            order_by=["module_instance_id"],
            descending=True,
            limit=1,
        )
        with self.screen.step(
            f"omd_facts.undo {self.interface} {newest.module_instance_id}"
        ) as step:
            undone = self.admin.calls.omd_facts.undo(self.interface, newest.module_instance_id)
            now = self.loader.calls.omd_facts.traveling_now(self.interface)
            assert now is not None  # noqa: S101 - others are loaded
            step.done(f"{len(undone)} load undone, the facts are as of {now:%Y-%m-%d}")
        last = self.moments.pop()
        self._load()
        if self.moments[-1] != last:
            self.screen.say("  What is loaded now differs from what was loaded before.")
            self.moments.append(last)  # the proof fails

    def export(self) -> None:
        """Hand all facts out as files."""
        self.screen.title("Facts are exported as Parquet, as of one moment")
        self._export("FULL")

    def export_changes(self) -> None:
        """Export what has changed since."""
        self.screen.title("The next export has only what has changed since")
        self._export("CHANGES")

    def write(self) -> None:
        """Write rows through the views."""
        self.screen.title("A desk corrects facts by plain SQL")
        agreement = self._desk()
        flight = self._row(
            "SELECT carrier, flight, departs FROM {gdal}.flights"
            " WHERE dep_delay IS NULL ORDER BY departs, flight LIMIT 1"
        )
        with self.writer.facts.delivery(agreement) as desk:
            with self.screen.step("UPDATE flights") as step:
                desk.connection.execute(
                    self._query("UPDATE {gdal}.flights SET dep_delay = 7 WHERE {one_flight}"),
                    list(flight.values()),
                )
                step.done("a flight had no delay, the desk knows it")
            with self.screen.step("DELETE a carrier") as step:
                try:
                    desk.connection.execute(
                        self._query("DELETE FROM {gdal}.carriers WHERE carrier = 'UA'")
                    )
                except ChildrenExist as error:
                    step.done(f"{error.sqlstate}: it has flights", mark="✗")
            with self.screen.step("INSERT an airport") as step:
                desk.connection.execute(
                    self._query("INSERT INTO {gdal}.airports (faa, name) VALUES (%s, %s)"),
                    _PERSON,
                )
                step.done("by mistake it holds a name and a number")
        self._tell_history("carrier, flight, dep_delay", flight)

    def erase(self) -> None:
        """Delete a key physically, with a proof."""
        self.screen.title("What must not be kept is erased, with a proof")
        with (
            self.writer.facts.delivery(self._desk(), physical_delete_allowed=True) as desk,
            self.screen.step("DELETE the airport") as step,
        ):
            desk.connection.execute("SET omd_facts.delete_type = 'PHYSICAL'")
            desk.connection.execute(
                self._query("DELETE FROM {gdal}.airports WHERE faa = %s"), _PERSON[:1]
            )
            step.done("its history is gone too")
        proofs = self.loader.report(FactsRemovalsRow, delivery_id=desk._delivery_id)
        self.screen.table(
            [
                {
                    "delivery": row.delivery_id,
                    "layer": row.layer,
                    "table": row.table_name,
                    "keys": row.key_count,
                    "rows": row.row_count,
                }
                for row in proofs
            ]
        )

    def prove(self) -> bool:
        """Ask about every moment again."""
        self.screen.title(
            "The proof: what was current after each load is what is read about it now"
        )
        with self.screen.step("checksums of every row") as step:
            moments = proof.prove(self.connection, self.interface, self.moments)
            step.done(f"{len(moments)} moments, by SQL")
        self.screen.table(
            [
                {
                    "as of": f"{moment.at:%Y-%m-%d}",
                    "flights then": moment.current["flights"][0],
                    "read now": (moment.as_of or {}).get("flights", (0, 0))[0],
                    "checksum then": f"{int(moment.current['flights'][1]) & _LOW:016x}",
                    "checksum now": f"{int((moment.as_of or {})['flights'][1]) & _LOW:016x}",
                    "": "✓" if moment.holds else "✗",
                }
                for moment in moments
            ]
        )
        broken = self.admin.calls.omd_facts.verify(self.interface)
        states = {(moment.at, moment.current["flights"][0]) for moment in moments} | {(None, 0)}
        strange = self.seen - states
        holds = all(moment.holds for moment in moments) and not broken and not strange
        for problem in broken:
            self.screen.say(f"  {problem.entity_code}: {problem.rule}, {problem.violations} times")
        for at, rows in strange:
            self.screen.say(f"  The reader saw {rows} flights as of {at}.")
        return tell_verdict(
            self.screen,
            holds,
            f"{len(moments)} moments of the past are as they were, and no interval overlaps.",
        )

    # What they do -------------------------------------------------------------------------------

    def _load(self) -> str:
        """Load the next delivery, and remember what is current then."""
        with self.screen.step(f"omd run facts.{self.interface}") as step:
            answer = self.loader.calls.omd_facts.load(self.interface)
            if answer.outcome != "PERSISTED":
                step.done("the queue is empty" if answer.outcome == "NOTHING" else answer.outcome)
                return answer.outcome
            [load] = self.loader.report(FactsLoadsRow, module_instance_id=answer.module_instance_id)
            at = load.transaction_datetime
            self.moments.append(
                Moment(at, proof.contents(self.connection, f"gdal_{self.interface}"))
            )
            step.done(
                f"delivery {answer.delivery_id} of {at:%Y-%m-%d}: {_counted(load.row_counts)}"
            )
        return answer.outcome

    @contextmanager
    def _reader(self) -> Iterator[list[None]]:
        """Read on a connection of its own all the time."""
        asked: list[None] = []
        is_over = threading.Event()
        query = self._query("SELECT omd_facts.traveling_now(%s), count(*) FROM {gdal}.flights")

        def read() -> None:
            with psycopg.connect(
                as_role("omd_data_reader", self.dsn), autocommit=True, row_factory=tuple_row
            ) as connection:
                while not is_over.is_set():
                    row = connection.execute(query, [self.interface]).fetchone()
                    assert row is not None  # noqa: S101
                    self.seen.add((row[0], row[1]))
                    asked.append(None)

        thread = threading.Thread(target=read)
        thread.start()
        try:
            yield asked
        finally:
            is_over.set()
            thread.join()

    def _export(self, mode: str) -> None:
        """Export all entities. This is all that a job needs of OMD."""
        agreement = self._agreement("lake", "EXPORT")
        with self.screen.step(f"omd export {mode}") as step:
            exported = self.loader.facts.export(agreement, self.lake, mode=mode, spark=self.spark)
            exported.result()
            entities = exported.facts["manifest"]["entities"]
            files = sum(len(entity["files"]) for entity in entities)
            counted = ", ".join(f"{e['rows']:,} {e['entity_code']}" for e in entities if e["rows"])
            step.done(f"{counted}, in {files} files")

    def _desk(self) -> str:
        """Return an agreement under which people write."""
        return self._agreement("desk", "GDAL")

    def _agreement(self, name: str, layer: str) -> str:
        code = f"{self.interface}_{name}"
        self.admin.calls.omd_delivery.register_agreement(
            code, tenant_code="nyc", interface_code=self.interface, layer_code=layer
        )
        return code

    def _query(self, text: str) -> sql.Composed:
        """Return a statement; {gdal}, {asof} and {history} are the schemas of the interface."""
        schemas = {
            name: sql.Identifier(f"{name}_{self.interface}") for name in ("gdal", "asof", "history")
        }
        one_flight = sql.SQL("carrier = %s AND flight = %s AND departs = %s")
        return sql.SQL(text).format(**schemas, one_flight=one_flight)  # type: ignore[arg-type, unused-ignore]

    def _row(self, query: str, *values: Any) -> dict[str, Any]:
        [row] = self.connection.execute(self._query(query), values).fetchall()
        return row

    def _tell_history(self, columns: str, key: dict[str, Any]) -> None:
        rows = self.connection.execute(
            self._query("SELECT * FROM {history}.flights WHERE {one_flight} ORDER BY acm_start_dt"),
            list(key.values()),
        ).fetchall()
        self.screen.table(
            [
                {
                    **{name: row[name] for name in columns.split(", ")},
                    "": row["acm_record_ind"],
                    "from": _day(row["acm_start_dt"]),
                    "until": _day(row["acm_end_dt"]),
                }
                for row in rows
            ]
        )


def _day(at: datetime) -> str:
    return "" if at.year > 9998 else f"{at:%Y-%m-%d}"


def _counted(counts: dict[str, Any]) -> str:
    """Return how many context rows a load has written, on one line."""
    total = {
        word: sum(entity.get(mark, 0) for entity in counts.values())
        for mark, word in (("n", "new"), ("a", "changed"), ("r", "deleted"))
    }
    return ", ".join(f"{count:,} {word}" for word, count in total.items() if count)
