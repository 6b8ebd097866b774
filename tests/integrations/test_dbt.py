"""Models of dbt as Modules: real runs of dbt, with the package omd, on real PostgreSQL."""

from __future__ import annotations

import json
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import ZipFile

import pytest
from psycopg.conninfo import conninfo_to_dict

import omd
from omd.integrations.dbt import modules_of, package_path, register
from omd.rooms.lineage.manifest import read_manifest
from support.emptied import conn, dsn
from support.wheel import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

    import psycopg

    from support.environments import Environment

    Connection = psycopg.Connection[dict[str, Any]]
    Command = Callable[..., subprocess.CompletedProcess[str]]

__all__ = ["conn", "dsn"]

HERE = Path(__file__).parent
OTHERS = 'raw."Words of others"'
WORDS = "it's \\ $omd$ $$ \"x\" {}\nE'"  # the Module that models.yml names


class Done(NamedTuple):
    success: bool
    exception: str | None
    results: dict[str, tuple[str, str]]  # status and message

    def of(self, name: str) -> tuple[str, str]:
        (found,) = [r for unique_id, r in self.results.items() if unique_id.endswith(f".{name}")]
        return found[0], found[1]


class Project:
    """A copy of the project, and a process that runs dbt in it."""

    def __init__(self, folder: Path, tools: Environment) -> None:
        self.folder = folder
        self.process = tools.start(
            "python", HERE / "session_of_dbt.py", cwd=folder, stdin=subprocess.PIPE
        )
        self.background = ThreadPoolExecutor(1)

    def __call__(self, *arguments: str, **env: str) -> Done:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        asked = {"arguments": ["--quiet", *arguments], "env": env}
        print(json.dumps(asked), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        assert answer, (self.folder / "dbt.out").read_text()
        return Done(**json.loads(answer))

    def start(self, *arguments: str, **env: str) -> Future[Done]:
        return self.background.submit(self, *arguments, **env)

    @property
    def manifest(self) -> Path:
        return self.folder / "target" / "manifest.json"


@pytest.fixture(scope="session")
def project(
    tools_environment: Environment, control_dsn: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Project]:
    """The project, parsed, in the database that is emptied before each test."""
    folder = tmp_path_factory.mktemp("dbt") / "shop"
    shutil.copytree(HERE / "dbt_project", folder)
    write_profile(folder, "shop", control_dsn)
    packages = {"packages": [{"local": str(package_path())}]}
    (folder / "packages.yml").write_text(json.dumps(packages))
    project = Project(folder, tools_environment)
    try:
        assert project("deps").success
        assert project("parse").success
        yield project
    finally:
        project.background.shutdown()
        project.process.communicate()


def write_profile(folder: Path, name: str, dsn: str) -> None:
    given = conninfo_to_dict(dsn)
    target = {
        "type": "postgres",
        "host": given["host"],
        "port": int(given["port"] or 5432),
        "user": given["user"],
        "password": given.get("password") or "none",
        "dbname": given["dbname"],
        "schema": "dwh",
        "threads": 2,
    }
    profile = {name: {"target": "test", "outputs": {"test": target}}}
    (folder / "profiles.yml").write_text(json.dumps(profile))


@pytest.fixture
def shop(project: Project, conn: Connection, dsn: str) -> Project:
    """The project with its sources filled and its Modules registered."""
    conn.execute(
        f"""
        CREATE SCHEMA raw;
        CREATE TABLE raw.orders (nbr integer, amount integer, divisor integer,
            written_at timestamptz DEFAULT clock_timestamp());
        INSERT INTO raw.orders VALUES (1, 5, 1), (2, 7, 1);
        CREATE TABLE {OTHERS} (word text);
        """
    )
    manifest = read_manifest(project.manifest)
    with omd.connect(dsn) as control, control.transaction() as connection:
        register(control, connection, manifest, modules_of(manifest)[0])
    return project


def runs(conn: Connection, code: str) -> list[dict[str, Any]]:
    return conn.execute(
        "SELECT i.* FROM omd.module_instance AS i JOIN omd.module AS m USING (module_id)"
        " WHERE m.module_code = %s ORDER BY i.module_instance_id",
        (code,),
    ).fetchall()


def one(conn: Connection, query: str, *values: object) -> Any:
    (found,) = conn.execute(query.encode(), values).fetchall()
    (value,) = found.values()
    return value


# Begin, rows and success ------------------------------------------------------------------------


def test_rows_are_stamped_with_the_run_that_has_succeeded(shop: Project, conn: Connection) -> None:
    done = shop("run", "-s", "orders", "v_orders", "totals", "doubled")
    assert done.success, done
    (run,) = runs(conn, "dbt.shop.orders")
    assert (run["execution_status_code"], run["rows_inserted"]) == ("S", 2)
    assert run["execution_context"]["dbt"]["unique_id"] == "model.shop.orders"
    assert len(run["execution_context"]["dbt"]["invocation_id"]) == 36
    rows = conn.execute(
        "SELECT DISTINCT omd_insert_module_instance_id AS id, lock_timeout FROM dwh.orders"
    ).fetchall()
    assert rows == [{"id": run["module_instance_id"], "lock_timeout": "0"}]
    # What an ephemeral model stamps has the run that reads it.
    (reader,) = runs(conn, "dbt.shop.doubled")
    stamp = one(conn, "SELECT DISTINCT omd_insert_module_instance_id FROM dwh.doubled")
    assert stamp == reader["module_instance_id"]
    assert one(conn, "SELECT count(*) FROM omd.module_instance WHERE xmin::text <> ''") == 5


def test_an_incremental_run_undoes_a_run_that_was_taken_back(
    shop: Project, conn: Connection
) -> None:
    assert shop("run", "-s", "orders").success
    (first,) = runs(conn, "dbt.shop.orders")
    conn.execute("CALL omd.set_next_run_indicator('R', NULL, %s)", (first["module_instance_id"],))
    conn.execute("DELETE FROM raw.orders WHERE nbr = 1")
    assert shop("run", "-s", "orders").success
    assert one(conn, "SELECT array_agg(nbr) FROM dwh.orders") == [2]


def test_a_seed_and_a_snapshot_are_modules_too(shop: Project, conn: Connection) -> None:
    assert shop("build", "-s", "rates", "orders_then", "--exclude-resource-type", "test").success
    assert [run["execution_status_code"] for run in runs(conn, "dbt.shop.rates")] == ["S"]
    (snapshot,) = runs(conn, "dbt.shop.orders_then")
    assert (snapshot["execution_status_code"], snapshot["rows_inserted"]) == ("S", 2)


def test_a_unit_test_needs_no_run(shop: Project, conn: Connection) -> None:
    assert shop("run", "-s", "orders", "v_orders").success
    assert shop("test", "-s", "totals_are_added").success
    assert runs(conn, "dbt.shop.totals") == []


# Failures ---------------------------------------------------------------------------------------


def test_a_model_that_fails_leaves_nothing_but_a_failure(shop: Project, conn: Connection) -> None:
    conn.execute("UPDATE raw.orders SET divisor = 0")
    before = one(conn, "SELECT clock_timestamp()")
    done = shop("run", "-s", "orders", "v_orders", "totals")
    assert not done.success
    assert done.of("shop-on-run-end-0")[0] == "success"
    (run,) = runs(conn, "dbt.shop.totals")
    assert run["execution_status_code"] == "F"
    assert run["rolled_back_by_module_instance_id"] == run["module_instance_id"]
    assert run["execution_context"]["dbt"]["unique_id"] == "model.shop.totals"
    assert before < run["start_datetime"] <= run["end_datetime"]
    event = one(
        conn,
        "SELECT event_detail FROM omd.event_log WHERE module_instance_id = %s",
        run["module_instance_id"],
    )
    assert "division by zero" in event
    assert one(conn, "SELECT to_regclass('dwh.totals')") is None
    assert [r["execution_status_code"] for r in runs(conn, "dbt.shop.orders")] == ["S"]
    # There is nothing to undo.
    conn.execute("UPDATE raw.orders SET divisor = 1")
    assert shop("run", "-s", "orders", "totals").success
    assert [r["execution_status_code"] for r in runs(conn, "dbt.shop.totals")] == ["F", "S"]


def test_a_model_whose_session_is_killed_is_a_failure(shop: Project, conn: Connection) -> None:
    with conn.transaction():
        conn.execute("SELECT pg_advisory_xact_lock(38)")
        running = shop.start("run", "-s", "slow")
        pid = waiter(conn, "advisory", running)
        assert runs(conn, "dbt.shop.slow") == []
        assert one(conn, "SELECT pg_terminate_backend(%s, 10000)", pid)
        assert running.result(60).of("slow")[0] == "error"
    assert [r["execution_status_code"] for r in runs(conn, "dbt.shop.slow")] == ["F"]


def waiter(conn: Connection, kind: str, running: Future[Done]) -> int:
    """Return the backend that waits for a lock of this kind, as soon as one does."""
    while not running.done():
        found = conn.execute(
            "SELECT l.pid FROM pg_locks AS l WHERE NOT l.granted AND l.locktype = %s", (kind,)
        ).fetchall()
        if found:
            return int(found[0]["pid"])
        wait([running], timeout=0.05)
    raise AssertionError(running.result())


def test_hostile_codes_and_messages_are_texts(shop: Project, conn: Connection) -> None:
    word = "o'x \\' $omd$ $$ %s {{ 1 }}\n'; DROP TABLE raw.orders; --"
    conn.execute(f"INSERT INTO {OTHERS} VALUES (%s)", (word,))
    assert shop("run", "-s", "words").of("words")[0] == "error"
    (run,) = runs(conn, WORDS)
    assert run["execution_status_code"] == "F"
    event = one(conn, "SELECT event_detail FROM omd.event_log WHERE module_instance_id > 0")
    assert "$omd$ $$ %s {{ 1 }}" in event
    conn.execute(f"UPDATE {OTHERS} SET word = '7'")
    assert shop("run", "-s", "words").success
    assert [r["execution_status_code"] for r in runs(conn, WORDS)] == ["F", "S"]


def test_a_failure_that_can_t_be_recorded_stops_no_other(shop: Project, conn: Connection) -> None:
    conn.execute("UPDATE raw.orders SET divisor = 0")
    conn.execute("CALL omd.rename_module('dbt.shop.orders', 'dbt.shop.former')")
    assert shop("run", "-s", "v_orders").of("v_orders")[0] == "error"  # its table is not there
    assert [r["execution_status_code"] for r in runs(conn, "dbt.shop.v_orders")] == ["F"]
    done = shop("run", "-s", "orders")
    assert 'Module "dbt.shop.orders" is not registered' in done.of("orders")[1]
    status, message = done.of("shop-on-run-end-0")
    assert status == "error"
    assert "a failure could not be recorded" in message


# A and C ----------------------------------------------------------------------------------------


def test_a_module_that_need_not_run_stops_its_model_and_is_no_failure(
    shop: Project, conn: Connection
) -> None:
    conn.execute("CALL omd.register_module('dbt.shop.orders', p_inactive_indicator => 'Y')")
    done = shop("run", "-s", "orders")
    status, message = done.of("orders")
    assert status == "error"
    assert message.split("\n")[1].strip().startswith("OMD C INACTIVE: ")
    assert "inactive" in message
    assert runs(conn, "dbt.shop.orders") == []


def test_a_module_that_must_not_run_stops_its_model_and_is_no_failure(
    shop: Project, conn: Connection
) -> None:
    conn.execute("CALL omd.begin_module('dbt.shop.orders')")
    message = shop("run", "-s", "orders").of("orders")[1]
    assert message.split("\n")[1].strip().startswith("OMD A RUNNING: ")
    (run,) = runs(conn, "dbt.shop.orders")
    assert run["execution_status_code"] == "E"
    assert "Another instance of the same Batch or Module executes." in message


def test_a_model_does_not_wait_for_another_that_runs_the_same_module(
    shop: Project, conn: Connection
) -> None:
    """D10: the other one holds the row of the Module until it commits."""
    with conn.transaction():
        conn.execute("CALL omd.begin_module('dbt.shop.orders')")
        message = shop("run", "-s", "orders").of("orders")[1]
    assert message.split("\n")[1].strip().startswith("OMD A RUNNING: ")
    assert [r["execution_status_code"] for r in runs(conn, "dbt.shop.orders")] == ["E"]


def test_a_model_waits_a_moment_for_the_row_of_its_module(shop: Project, conn: Connection) -> None:
    with conn.transaction(force_rollback=True):
        conn.execute("CALL omd.begin_module('dbt.shop.orders')")
        running = shop.start("run", "-s", "orders")
        waiter(conn, "transactionid", running)
    assert running.result(60).success


# Batches ----------------------------------------------------------------------------------------


def test_a_run_and_a_failure_belong_to_the_batch_that_calls(
    shop: Project, conn: Connection
) -> None:
    conn.execute("CALL omd.register_batch('b', 'Adhoc')")
    for sequence, model in enumerate(("orders", "v_orders", "totals")):
        conn.execute("CALL omd.add_module_to_batch('b', %s, %s)", (f"dbt.shop.{model}", sequence))
    conn.execute("UPDATE raw.orders SET divisor = 0")
    begun = conn.execute("CALL omd.begin_batch('b')").fetchone()
    assert begun is not None
    instance = begun["p_batch_instance_id"]
    parent = "airflow/load.dbt/019ac000-0000-7000-8000-000000000000"
    done = shop(
        *("run", "-s", "orders", "v_orders", "totals"),
        OMD_BATCH_INSTANCE_ID=str(instance),
        OPENLINEAGE_PARENT_ID=parent,
    )
    assert done.of("orders")[0] == "success"
    for code, status in (("orders", "S"), ("totals", "F")):
        (run,) = runs(conn, f"dbt.shop.{code}")
        assert (run["batch_instance_id"], run["execution_status_code"]) == (instance, status)
        assert run["execution_context"]["openlineage_parent_id"] == parent
    refused = shop("run", "-s", "orders", OMD_BATCH_INSTANCE_ID="1; x")
    assert "1; x is no id of a Batch Instance" in str(refused.exception)


# Registration and import ------------------------------------------------------------------------


def test_models_are_registered_with_what_they_read(
    shop: Project, conn: Connection, dsn: str, omd_command: Command
) -> None:
    read = "SELECT array_agg(i.table_code ORDER BY 1) FROM omd.module_input AS i"
    read += " JOIN omd.module AS m USING (module_id) WHERE m.module_code = %s"
    assert one(conn, read, "dbt.shop.orders") == ["raw.orders"]
    # Through a view and an ephemeral model; the table is not there yet.
    assert one(conn, read, "dbt.shop.doubled") == ["dwh.orders"]
    assert one(conn, read, WORDS) == [OTHERS]
    modules = conn.execute("SELECT * FROM omd.module ORDER BY module_code").fetchall()
    codes = {row["module_code"]: row for row in modules}
    assert codes["dbt.shop.orders"]["module_description"] == "One row per order"
    assert (codes[WORDS]["area_code"], codes[WORDS]["table_code"]) == ("HSTG", "dwh.words")
    assert "dbt.shop.e_orders" not in codes
    # A second time it changes nothing, and keeps what was changed by hand.
    conn.execute("CALL omd.register_module('dbt.shop.totals', p_area_code => 'HELPER')")
    before = conn.execute("SELECT * FROM omd.module ORDER BY module_code").fetchall()
    done = omd_command("apply", "--from", "dbt", str(shop.manifest), dsn=dsn)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert one(conn, read, "dbt.shop.totals") == ["dwh.orders"]
    assert "can't be undone after they have succeeded" in done.stderr
    assert conn.execute("SELECT * FROM omd.module ORDER BY module_code").fetchall() == before


def test_models_become_topics(
    shop: Project, conn: Connection, dsn: str, omd_command: Command, tmp_path: Path
) -> None:
    done = omd_command(
        "diff", str(shop.manifest), "--from", "dbt", "--select", "orders", "--output", "yaml"
    )
    assert done.stdout.partition("topics:\n")[2] == TOPICS
    topics = tmp_path / "topics.yaml"
    whole = omd_command("diff", str(shop.manifest), "--from", "dbt", "--output", "yaml")
    topics.write_text(whole.stdout)
    assert "# DECIDE: snapshot.shop.orders_then is a snapshot" in whole.stdout
    applied = omd_command("apply", str(topics), dsn=dsn)
    assert applied.returncode == 0, applied.stderr
    found = conn.execute(
        "SELECT topic, processor, depends_on, merge_key FROM omd_report.lineage_topics"
        " WHERE topic IN ('dwh.orders', 'dwh.doubled') ORDER BY topic"
    ).fetchall()
    assert [tuple(row.values()) for row in found] == [
        ("dwh.doubled", "RELOAD", ["dwh.orders"], None),
        ("dwh.orders", "STEP", ["raw.orders"], ["nbr"]),
    ]


TOPICS = """\
  raw.orders:
    # In dbt it is a source.
    pos_column: written_at
    # DECIDE: id_column, which orders the rows of one instant.
    # DECIDE: source_offset, by what it is known how far it is: PROBE, CLOCK, TRIGGER, …
    max_age: 6 hours
  dwh.orders:
    processor: STEP
    depends_on: [raw.orders]
    transforms: [dwh.orders_transform]
    # DECIDE: create the view dwh.orders_transform of models/orders.sql.
    merge_key: [nbr]
    comment: "One row per order"
"""


def test_the_package_is_in_the_wheel(wheel: Path) -> None:
    files = {name for name in ZipFile(wheel).namelist() if name.startswith("omd/_dbt/")}
    folder = CHECKOUT / "integrations" / "dbt"
    assert files == {
        f"omd/_dbt/{path.relative_to(folder)}"
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".md"
    }
    assert "omd/_dbt/macros/begin.sql" in files


# What is refused --------------------------------------------------------------------------------


def test_what_is_no_run_of_one_transaction_is_refused(shop: Project, conn: Connection) -> None:
    done = shop("run", "-s", "batches", "stamped_view")
    assert done.of("batches")[0] == "error"
    assert [r["execution_status_code"] for r in runs(conn, "dbt.shop.batches")] == ["F"]
    assert "stamp the rows of tables" in done.of("stamped_view")[1]


def test_a_success_without_a_begin_is_refused(shop: Project, conn: Connection) -> None:
    macro = "{% macro nothing() %}{% do run_query(omd.success()) %}{% endmacro %}"
    (shop.folder / "macros").mkdir(exist_ok=True)
    (shop.folder / "macros" / "nothing.sql").write_text(macro)
    try:
        done = shop("run-operation", "nothing")
    finally:
        (shop.folder / "macros" / "nothing.sql").unlink()
    assert not done.success
    printed = (shop.folder / "dbt.out").read_text()
    assert "omd.success() finds no run in its transaction" in printed
