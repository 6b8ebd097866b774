"""The story of the demo: it loads month after month, and shows the cases that OMD is made for."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
from pyspark.sql import SparkSession

import omd
from omd import Status
from omd.programs.demo import files
from omd.programs.demo.control import proof
from omd.programs.demo.control.jobs import MODULES, Month
from omd.programs.demo.files import YEAR
from omd.programs.demo.stage import (
    Screen,
    connect,
    execute_file,
    flights_of_2013,
    install_omd,
    start_spark,
)
from omd.programs.terminal.text import short
from omd.rooms.control.codes import NextRunIndicator
from omd.rooms.control.rows import (
    BatchExecutionLogRow,
    CurrentProcessingRow,
    DirectivesRow,
    ModuleExecutionLogRow,
)

BATCH = "b_flights"
YEAR_LONG, QUICK = range(1, 13), range(1, 4)
SECOND_START, SKIP, BREAK = 1, 2, 3  # the months in which something happens

_HERE = Path(__file__).parent


def play(
    dsn: str, folder: Path, screen: Screen, *, months: range = YEAR_LONG, master: str | None = None
) -> bool:
    """Play the demo in a database.

    Raises:
        OmdError: another demo is running here.
        psycopg.errors.DuplicateSchema: a schema stg, hstg, int or pres is not the demo's.
    """
    with connect(dsn) as connection:
        install_omd(connection, screen)
        with omd.connect(dsn, lease=timedelta(minutes=1), application_name="omd demo") as control:
            _settle(control, screen)
            for name in ("schema", "register"):
                execute_file(connection, screen, _HERE / f"{name}.sql", _ABOUT[name])
            source = flights_of_2013(folder, screen)
            spark = start_spark(folder, master, screen)
            _tell_gaps(source, screen)
            before = _last_batch_instance(control)
            story = _Story(control, connection, spark, source, screen)
            for number in months:
                story.month(number)
            _tell_instances(control, before, screen)
            return _tell_proof(connection, source, months, screen)


_ABOUT = {
    "schema": "target tables in stg, hstg, int and pres",
    "register": f"the Batch {BATCH} with {len(MODULES)} Modules",
}


def _settle(control: omd.Control, screen: Screen) -> None:
    """Clean up what an interrupted demo has left, as an administrator would."""
    control.calls.omd.reap_expired_instances()
    running = control.report(CurrentProcessingRow, instance_type="BATCH", code=BATCH)
    if running:
        raise omd.errors.OmdError(
            f"Batch Instance {running[0].instance_id} of {BATCH} is running.",
            hint="Wait for it; if its process has died, its lease expires within a minute.",
        )
    for left in control.report(DirectivesRow):
        if left.code == BATCH or left.code in MODULES:
            kind = "batch" if left.instance_type == "BATCH" else "module"
            given: dict[str, Any] = {f"{kind}_instance_id": left.instance_id}
            if left.next_run_indicator == NextRunIndicator.CANCEL:
                control.calls.omd.set_next_run_indicator(NextRunIndicator.PROCEED, **given)
    last = control.report(
        BatchExecutionLogRow, order_by=["batch_instance_id"], descending=True, batch_code=BATCH
    )
    real = next((row for row in last if row.execution_status_code in ("S", "F")), None)
    if real is not None and real.execution_status_code == "F":
        control.calls.omd.set_next_run_indicator(
            NextRunIndicator.ROLLBACK, batch_instance_id=real.batch_instance_id
        )
        screen.say(
            f"  Batch Instance {real.batch_instance_id} of an earlier demo failed; it is undone."
        )


@dataclass(frozen=True)
class _Story:
    control: omd.Control
    connection: psycopg.Connection[dict[str, Any]]
    spark: SparkSession
    source: files.Source
    screen: Screen

    def month(self, number: int) -> None:
        """Load a month, with the incident that belongs to it."""
        self.screen.title(f"{YEAR}-{number:02}")
        if number == SKIP:
            self._skip_once(number)
        if number == BREAK:
            self._break(number)
        self._load(Month(self.spark, self.source, number))

    def _load(self, month: Month) -> None:
        """Run the Batch once. This is all that a job needs of OMD."""
        with self.control.batch(BATCH, context={"month": f"{YEAR}-{month.number:02}"}) as batch:
            for code, job in MODULES.items():
                with self.screen.step(code) as step:
                    try:
                        with batch.module(code, spark=self.spark) as run:
                            job(run, month)
                    except omd.errors.Skipped as skipped:
                        step.done(f"skipped: {skipped.reason}", mark="-")
                        continue
                    step.done(self._written(run))
                if month.number == SECOND_START and code == "m_hstg_flights":
                    self._start_a_second_time()

    def _written(self, run: omd.Run) -> str:
        row = self._row(run.instance_id)
        text = f"{row.rows_inserted:>9,} rows"
        if row.rows_updated:
            text += f", {row.rows_updated:,} ended"
        if run.instance_array:
            text += f" after the rollback of {', '.join(map(str, run.instance_array))}"
        return text

    def _row(self, module_instance_id: int) -> ModuleExecutionLogRow:
        return self.control.report(ModuleExecutionLogRow, module_instance_id=module_instance_id)[0]

    def _start_a_second_time(self) -> None:
        """Start the same Batch on another connection while it runs."""
        try:
            with omd.connect(self.control._dsn) as other, other.batch(BATCH):
                raise AssertionError("two instances of a Batch run at once")
        except omd.errors.Aborted as aborted:
            self.screen.say(
                f"  ! Somebody starts {BATCH} again, on another connection:"
                f" Batch Instance {aborted.instance_id} is aborted, {aborted.reason}."
            )

    def _skip_once(self, number: int) -> None:
        """Let the next run be skipped, as an administrator would."""
        last = _last_batch_instance(self.control, Status.SUCCEEDED)
        update = (
            "UPDATE omd.batch_instance SET next_run_indicator = 'C' WHERE batch_instance_id = %s"
        )
        with self.connection.transaction():
            self.connection.execute("SET LOCAL ROLE omd_admin")
            self.connection.execute(update, [last])
        self.screen.say(f"  ! An administrator, in psql: {update % last};")
        try:
            self._load(Month(self.spark, self.source, number))
        except omd.errors.Skipped as skipped:
            self.screen.say(
                f"    Batch Instance {skipped.instance_id} is skipped, {skipped.reason}."
                " The one after it runs:"
            )

    def _break(self, number: int) -> None:
        """Let a Module fail half-way through its write."""
        with contextlib.suppress(_Broken):
            try:
                self._load(Month(self.spark, self.source, number, breaks=True))
            except Exception as error:
                if "demo:" not in str(error):
                    raise
                raise _Broken from error
        failed = self.control.report(
            ModuleExecutionLogRow,
            module_code="m_hstg_flights",
            order_by=["module_instance_id"],
            descending=True,
            limit=1,
        )[0]
        staged, written = self._half_written(failed.module_instance_id)
        self.screen.say(
            f"  ! Module Instance {failed.module_instance_id} failed inside its Spark job:"
            f" {written:,} of {staged:,} rows are in hstg.flights. {BATCH} is started again:"
        )

    def _half_written(self, module_instance_id: int) -> tuple[int, int]:
        """Return how many rows were to be written, and how many were."""
        [counts] = self.connection.execute(
            "SELECT count(*) AS written, (SELECT count(*) FROM stg.flights) AS staged"
            " FROM hstg.flights WHERE omd_insert_module_instance_id = %s",
            [module_instance_id],
        ).fetchall()
        return counts["staged"], counts["written"]


class _Broken(Exception):  # noqa: N818
    """Return the failure that the demo has caused."""


def _last_batch_instance(control: omd.Control, status: Status | None = None) -> int:
    rows = control.report(
        BatchExecutionLogRow,
        order_by=["batch_instance_id"],
        descending=True,
        limit=1,
        execution_status_code=status,
    )
    return rows[0].batch_instance_id if rows else 0


def _tell_gaps(source: files.Source, screen: Screen) -> None:
    screen.say("  The data have gaps. What the files call NA is NULL from here on:")
    for table in dict.fromkeys(gap.table for gap in source.gaps):
        gaps = [gap for gap in source.gaps if gap.table == table]
        columns = ", ".join(f"{gap.column} {gap.missing:,}" for gap in gaps)
        screen.say(f"    {table} ({gaps[0].rows:,} rows): {columns}")


def _tell_instances(control: omd.Control, before: int, screen: Screen) -> None:
    since = {"batch_instance_id": before}
    batches = control.report(
        BatchExecutionLogRow, order_by=["batch_instance_id"], after=since, batch_code=BATCH
    )
    modules = control.report(
        ModuleExecutionLogRow, order_by=["module_instance_id"], after=since, batch_code=BATCH
    )
    screen.title("Batch Instances")
    screen.table([_batch_line(row, modules) for row in batches])
    shown = {row.batch_instance_id for row in batches if row.execution_status_code == "F"}
    shown |= {row.batch_instance_id for row in modules if row.execution_status_code == "C"}
    screen.title("Module Instances of the failed run and of its rerun")
    screen.table([_module_line(row) for row in modules if row.batch_instance_id in shown])
    rest = sum(row.batch_instance_id not in shown for row in modules)
    screen.say(
        f"The other {rest} have all succeeded; each was let proceed, and asks nothing of the next."
    )


def _batch_line(
    row: BatchExecutionLogRow, modules: Sequence[ModuleExecutionLogRow]
) -> dict[str, Any]:
    mine = [m for m in modules if m.batch_instance_id == row.batch_instance_id]
    counts = Counter(m.execution_status_code.word for m in mine)
    return {
        "id": row.batch_instance_id,
        "month": (row.execution_context or {}).get("month"),
        **_codes(row),
        "modules": ", ".join(f"{n} {word}" for word, n in sorted(counts.items(), reverse=True)),
        "rows": sum(m.rows_inserted for m in mine),
        "took": row.duration,
    }


def _module_line(row: ModuleExecutionLogRow) -> dict[str, Any]:
    return {
        "batch": row.batch_instance_id,
        "id": row.module_instance_id,
        "module": row.module_code,
        **_codes(row),
        "rows": row.rows_inserted,
        "rolled back": row.rollback_instance_array or None,
        "rolled back by": row.rolled_back_by_module_instance_id,
    }


def _codes(row: BatchExecutionLogRow | ModuleExecutionLogRow) -> dict[str, Any]:
    return {
        "status": short(row.execution_status_code),
        "answer": short(row.processing_indicator),
        "next": short(row.next_run_indicator),
        "reason": row.reason_code,
    }


def _tell_proof(
    connection: psycopg.Connection[Any], source: files.Source, months: range, screen: Screen
) -> bool:
    screen.title("The proof: the source files beside the target tables")
    with screen.step("checksums of every row") as step:
        checks = proof.prove(connection, source, months)
        step.done("from the CSV files, and by SQL")
    flights = next(c.found.rows for c in checks if c.found.table_code == "hstg.flights")
    return proof.tell_checks(
        screen,
        checks,
        f"Each of {flights:,} flights is there exactly once, unchanged, under a run that"
        " succeeded.",
    )
