"""The story of the demo: the year of flights into Iceberg tables, with a kill and a failure."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
from pyspark.sql import DataFrame, SparkSession

import omd
from omd import Status
from omd._core import packages
from omd._core.error_codes import UnknownNamespace
from omd.programs.demo import files
from omd.programs.demo.control.proof import Check
from omd.programs.demo.files import YEAR
from omd.programs.demo.lake import proof
from omd.programs.demo.lake.jobs import JOBS, Month, batch_of, module_of, register
from omd.programs.demo.lake.killed import LEASE
from omd.programs.demo.reader import Reader
from omd.programs.demo.stage import (
    Process,
    Screen,
    as_role,
    connect,
    first_free,
    flights_of_2013,
    install_omd,
    start_spark,
    tell_verdict,
    wait_for,
)
from omd.programs.terminal.text import short
from omd.rooms.control.rows import BatchExecutionLogRow, ModuleExecutionLogRow
from omd.rooms.lake.rows import LakeCommitsRow, LakeFoldersRow

NAMESPACE = "nyc_lake"
YEAR_LONG, QUICK = range(1, 13), range(1, 4)
KILL, BREAK = 2, 3  # the months in which something happens


def play(
    dsn: str,
    folder: Path,
    screen: Screen,
    lake: Path,
    *,
    months: range = YEAR_LONG,
    master: str | None = None,
) -> bool:
    """Play the demo of lake tables, with three months at least.

    The tables stay in the folder ``lake``, to which executors write.
    """
    with connect(dsn) as connection:
        install_omd(connection, screen)
    reader = Reader()
    with screen.step("the namespace") as step:
        namespace = _register(as_role("omd_admin", dsn), lake)
        step.done(f"{namespace}, {len(JOBS)} Modules of format ICEBERG")
    source = flights_of_2013(folder, screen)
    spark = start_spark(folder, master, screen, ", without a jar")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    screen.say(f"  The tables lie in {lake / namespace}; {reader.name} reads them too.")
    if reader.problem is not None:
        screen.say(f"  It stands in for DuckDB, whose extension can't be loaded: {reader.problem}")
        screen.say(f"  To install it: {packages.install('demo')}")
    runner = as_role("omd_runner", dsn)
    with (
        omd.connect(runner, spark=spark, application_name="omd demo") as control,
        psycopg.connect(as_role("omd_reader", dsn), autocommit=True) as catalogue,
    ):
        story = _Story(control, runner, catalogue, spark, source, reader, screen, namespace)
        for number in months:
            story.month(number)
        story.tell_commits()
        return story.tell_proof(months)


def _register(dsn: str, lake: Path) -> str:
    """Register under the first name that is free here, and return it."""
    with omd.connect(dsn, application_name="omd demo") as control:
        namespace = first_free(
            NAMESPACE, lambda name: (lake / name).exists() or _is_registered(control, name)
        )
        register(control, namespace, str(lake / namespace))
    return namespace


def _is_registered(control: omd.Control, namespace: str) -> bool:
    try:
        control.calls.omd_lake.find_table(f"{namespace}.flights", table_format_code="ICEBERG")
    except UnknownNamespace:
        return False
    return True


@dataclass
class _Story:
    control: omd.Control
    runner: str
    catalogue: psycopg.Connection[Any]
    spark: SparkSession
    source: files.Source
    reader: Reader
    screen: Screen
    namespace: str
    february: datetime = field(init=False)

    @property
    def flights(self) -> str:
        """The table of the flights."""
        return f"{self.namespace}.flights"

    @property
    def _log(self) -> Path:
        return self.source.folder / "killed.log"

    def month(self, number: int) -> None:
        """Load a month, with the incident that belongs to it."""
        self.screen.title(f"{YEAR}-{number:02}")
        if number == KILL:
            self._kill(number)
        if number == BREAK:
            self.february = self.control.report(
                LakeCommitsRow, order_by=["commit_id"], descending=True, limit=1
            )[0].commit_datetime
            self._break(number)
        self._load(number)
        if number <= BREAK:
            self._look()

    def _load(self, number: int, *, breaks: bool = False) -> None:
        """Run the Batch once. This is all that a job needs of OMD."""
        month = Month(self.spark, self.source, self.namespace, number, breaks)
        context = {"month": f"{YEAR}-{number:02}"}
        with self.control.batch(batch_of(self.namespace), context=context) as batch:
            for table, job in JOBS.items():
                with self.screen.step(table) as step:
                    with batch.module(module_of(self.namespace, table)) as run:
                        job(run, month)
                    step.done(self._written(run))

    def _written(self, run: omd.Run) -> str:
        commits = self._commits(module_instance_id=run.instance_id)
        text = f"{self._run(run.instance_id).rows_inserted:>9,} rows"
        if any(row.operation == "UNDO" for row in commits):
            text += f" after the UNDO of {', '.join(map(str, run.instance_array))}"
        elif run.instance_array:
            text += f"; the folder of {', '.join(map(str, run.instance_array))} is removed"
        return text

    def _run(self, module_instance_id: int) -> ModuleExecutionLogRow:
        return self.control.report(ModuleExecutionLogRow, module_instance_id=module_instance_id)[0]

    def _commits(self, **filters: Any) -> list[LakeCommitsRow]:
        return self.control.report(LakeCommitsRow, order_by=["commit_id"], **filters)

    # What goes wrong ----------------------------------------------------------------------------

    def _kill(self, number: int) -> None:
        """Kill a process when its files are written and not committed."""
        with self.screen.step("flights") as step:
            arguments = [self.namespace, str(self.source.folder), str(number)]
            with (
                self._log.open("w") as log,
                Process(
                    [sys.executable, "-m", "omd.programs.demo.lake.killed", *arguments],
                    self.runner,
                    stdout=subprocess.PIPE,
                    stderr=log,
                ) as process,
            ):
                killed = self._await_files(process)
                process.cut()
            step.done(f"kill -KILL {process.pid}", mark="!")
        [write] = self.control.report(LakeFoldersRow, module_instance_id=killed)
        assert write.folder is not None  # noqa: S101 - it was announced
        written = list(Path(write.folder).rglob("*.parquet"))
        self.screen.say(
            f"  Module Instance {killed} had written {len(written)} file and not committed. Nobody"
            " sees a row of it:"
        )
        self._look()
        self._await_death(killed)
        self.screen.say(
            f"  Its lease of {LEASE.seconds} seconds is over: it is declared dead. The Batch is"
            " started again:"
        )

    def _await_files(self, process: subprocess.Popen[str]) -> int:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        number = process.stdout.readline().strip()
        if not number.isdigit():
            process.wait()
            why = (self._log.read_text(encoding="utf-8").splitlines() or ["no log"])[-1]
            raise omd.errors.OmdError(
                f"The load in the other process has ended before its commit: {why}"
            )
        return int(number)

    def _await_death(self, module_instance_id: int) -> None:
        """Wait until the lease is over, as a scheduler that calls the reaper from time to time."""
        batch = self._run(module_instance_id).batch_instance_id

        def look() -> BatchExecutionLogRow | None:
            self.control.calls.omd.reap_expired_instances()
            [row] = self.control.report(BatchExecutionLogRow, batch_instance_id=batch)
            return row if row.execution_status_code == Status.FAILED else None

        wait_for("the death of the killed process to be declared", look)

    def _break(self, number: int) -> None:
        """Let the job of the flights show its rows, and fail after that."""
        try:
            self._load(number, breaks=True)
        except RuntimeError as error:
            if "demo:" not in str(error):
                raise
        last = self._commits(table_code=self.flights)[-1]
        self.screen.say(
            f"  ! Module Instance {last.module_instance_id} showed its rows early, by run.commit(),"
            " and failed after that.\n    Everybody sees them:"
        )
        self._look()
        self.screen.say(
            "  The Batch is started again. What the run did is one snapshot, so the metadata is all"
            " that changes:"
        )

    # What others see ----------------------------------------------------------------------------

    def _metadata(self) -> dict[str, str]:
        """Ask the catalogue for the tables, as any engine does."""
        return dict(
            self.catalogue.execute(
                "SELECT table_name, metadata_location FROM omd_lake.iceberg_tables"
                " WHERE catalog_name = 'omd' AND table_namespace = %s",
                [self.namespace],
            ).fetchall()
        )

    def _look(self) -> None:
        """Say what the independent reader sees."""
        seen = self.reader.rows(proof.BY_MONTH, {"flights": self._metadata()["flights"]})
        counts = ", ".join(f"{YEAR}-{month:02} {count:,}" for month, count in seen)
        self.screen.say(f"    {self.reader.name} sees flights of {counts}")

    def tell_commits(self) -> None:
        """Show what the catalogue has recorded until the table was whole again."""
        self.screen.title(f"The commits of {self.flights}, up to March")
        lines = []
        for row in self._commits(table_code=self.flights):
            lines.append(
                {
                    "commit": row.commit_id,
                    "operation": row.operation,
                    "run": row.module_instance_id,
                    "status": short(row.execution_status_code),
                    "undone by": row.rolled_back_by_module_instance_id,
                    "+files": row.added_files,
                    "+rows": row.added_rows,
                    "-files": row.removed_files,
                    "-rows": row.removed_rows,
                    "rows": row.total_rows,
                }
            )
            undone = any(line["operation"] == "UNDO" for line in lines)
            if undone and row.operation == "APPEND":
                break
        self.screen.table(lines)

    # The proof ----------------------------------------------------------------------------------

    def tell_proof(self, months: range) -> bool:
        """Compare what Spark and the other reader see with the source files."""
        wanted = proof.expected(self.source, months)
        in_source = proof.months_of(self.source, months)
        runs = self._succeeded()
        with self.control.module(module_of(self.namespace, "proof")) as run:
            self.screen.title(f"As of {self.february:%H:%M:%S}, when February was loaded")
            then = self._as_of(run, self.february)
            self.screen.table(then)
            self.screen.title(f"The proof: the source files beside Spark and {self.reader.name}")
            with self.screen.step("checksums of every row") as step:
                by_spark, months_by_spark = self._by_spark(run, wanted, runs)
                by_reader, months_by_reader = self._by_reader(wanted, runs)
                run.write(self._proof(by_spark, by_reader))
                step.done(f"from the CSV files, by Spark and by {self.reader.name}")
        self.screen.table(
            [
                {
                    "month": f"{YEAR}-{month:02}",
                    "flights in source": count,
                    "Spark": months_by_spark.get(month, 0),
                    self.reader.name: months_by_reader.get(month, 0),
                }
                for month, count in in_source.items()
            ]
        )
        self.screen.table([self._line(*checks) for checks in zip(by_spark, by_reader, strict=True)])
        february = sum(count for month, count in in_source.items() if month <= KILL)
        holds = (
            all(check.holds for check in (*by_spark, *by_reader))
            and in_source == months_by_spark == months_by_reader
            and {then[0]["Spark"], then[0][self.reader.name]} == {february}
        )
        return tell_verdict(
            self.screen,
            holds,
            f"Each month was loaded once: {sum(in_source.values()):,} flights, each of them there"
            " exactly once, unchanged,\nunder a run that succeeded. Both see the same.",
        )

    def _proof(self, by_spark: list[Check], by_reader: list[Check]) -> DataFrame:
        rows = [
            (spark.expected.table_code, spark.expected.rows, spark.found.rows, other.found.rows)
            for spark, other in zip(by_spark, by_reader, strict=True)
        ]
        columns = "table_code string, rows_in_source long, rows_by_spark long, rows_by_reader long"
        return self.spark.createDataFrame(rows, columns)

    def _line(self, by_spark: Check, by_reader: Check) -> dict[str, Any]:
        def checksum(number: int) -> str:
            return f"{number % 2**64:016x}"

        return {
            "table": by_spark.expected.table_code,
            "rows in source": by_spark.expected.rows,
            "Spark": by_spark.found.rows,
            self.reader.name: by_reader.found.rows,
            "source's checksum": checksum(by_spark.expected.checksum),
            "Spark's": checksum(by_spark.found.checksum),
            f"{self.reader.name}'s": checksum(by_reader.found.checksum),
            "": by_spark.problem or by_reader.problem or "✓",
        }

    def _succeeded(self) -> list[tuple[str, int]]:
        return [
            (table, row.module_instance_id)
            for table in JOBS
            for row in self.control.report(
                ModuleExecutionLogRow,
                module_code=module_of(self.namespace, table),
                execution_status_code=Status.SUCCEEDED,
            )
        ]

    def _as_of(self, run: omd.Run, moment: datetime) -> list[dict[str, Any]]:
        lines = []
        for table in JOBS:
            code = f"{self.namespace}.{table}"
            then = self.control.calls.omd_lake.commit_as_of(code, moment).metadata_location
            assert then is not None  # noqa: S101 - an Iceberg table has one
            count = "SELECT count(*) FROM then_"
            now = self.reader.rows(count, {"then_": self._metadata()[table]})
            lines.append(
                {
                    "table": table,
                    "rows now": now[0][0],
                    "Spark": run.read(self.spark, code, as_of=moment).count(),
                    self.reader.name: self.reader.rows(count, {"then_": then})[0][0],
                }
            )
        return lines

    def _by_spark(
        self, run: omd.Run, wanted: Any, runs: list[tuple[str, int]]
    ) -> tuple[list[Check], dict[int, int]]:
        for table in JOBS:
            rows = run.read(self.spark, f"{self.namespace}.{table}")
            rows.createOrReplaceTempView(table)
        self.spark.sql(proof.succeeded(runs))
        by_month = {row[0]: row[1] for row in self.spark.sql(proof.BY_MONTH).collect()}
        return proof.compare(
            wanted, lambda sql: map(tuple, self.spark.sql(sql).collect())
        ), by_month

    def _by_reader(
        self, wanted: Any, runs: list[tuple[str, int]]
    ) -> tuple[list[Check], dict[int, int]]:
        self.reader.rows(proof.succeeded(runs), {})
        tables = self._metadata()
        by_month = dict(self.reader.rows(proof.BY_MONTH, tables))
        return proof.compare(wanted, lambda sql: self.reader.rows(sql, tables)), by_month
