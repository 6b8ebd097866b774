"""The provider of Airflow, with Airflow itself: dag.test() runs DAGs, one loop many triggers."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row

from omd import __version__
from omd._core.conninfo import read_conninfo
from omd.programs.demo.pages import section
from support.workers import Process, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from support.environments import Environment

    Connection = psycopg.Connection[dict[str, Any]]
    Found = dict[str, dict[str, dict[str, Any]]]

HERE = Path(__file__).parent
DAGS = HERE / "airflow_dags"
PAGE = HERE.parents[1] / "docs" / "how-to" / "control" / "start-from-an-orchestrator.md"
WAYS = pytest.mark.parametrize("way", ["here", "deferred"])

REGISTERED = """
CREATE SCHEMA app;
CREATE TABLE app.t (v int, omd_insert_module_instance_id bigint);
CALL omd.register_module('m_done', 'HSTG', 'app.t', p_executable => 'SELECT 1');
CALL omd.register_module('m_seen', 'HSTG', 'app.t', p_executable => 'SELECT 1');
CALL omd.register_module('m_later', 'HSTG', 'app.t', p_executable => 'SELECT 1');
CALL omd.register_module('m_fails', 'HSTG', 'app.t', p_executable => 'SELECT 1 / 0');
CALL omd.register_module('m_inactive', 'HSTG', 'app.t', p_executable => 'SELECT 1');
CALL omd.register_module('m_busy', 'HSTG', 'app.t', p_executable => 'SELECT 1');
CALL omd.register_module('m_long', 'HSTG', 'app.t', p_executable => 'SELECT pg_sleep(120)');
CALL omd.register_module('m_slow', 'HSTG', 'app.t', p_executable => 'SELECT pg_sleep(120)');
CALL omd.register_module('m_unready', 'PRES', 'app.t', p_executable => 'SELECT 1');
UPDATE omd.module SET inactive_indicator = 'Y' WHERE module_code = 'm_inactive';
CALL omd.begin_module('m_busy');
CALL omd.begin_module('m_unready');
CALL omd.module_failure(2);
CALL omd.register_batch('b_done');
CALL omd.add_module_to_batch('b_done', 'm_seen');
CALL omd.register_batch('b_seen');
CALL omd.add_module_to_batch('b_seen', 'm_seen');
CREATE TABLE app.events (pos timestamptz, id bigint);
CREATE INDEX ON app.events (pos, id);
INSERT INTO app.events VALUES ('2026-01-01', 1), ('2026-01-02', 2);
CALL omd_lineage.register_topic('app.events', p_pos_column => 'pos', p_id_column => 'id');
CALL omd_lineage.probe_sources();
UPDATE omd_event.setting SET web_url = 'https://omd.example/';
"""


def example(kind: str) -> str:
    """Return a block of the how-to page."""
    text = section(PAGE.read_text(encoding="utf-8"), "from-airflow")
    (found,) = re.findall(rf"^```{kind}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return str(found)


class Airflow:
    """An Airflow with the DAGs of `airflow_dags`, and a connection to a database."""

    def __init__(self, environment: Environment, home: Path) -> None:
        self.environment = environment
        self.lineage = home / "lineage.json"
        self.answer = home / "answer.json"
        self.dags = home / "dags"
        shutil.copytree(DAGS, self.dags)
        (self.dags / "nightly.py").write_text(example("python nightly.py"))
        self.settings = {
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__CORE__DAGS_FOLDER": str(self.dags),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(
                {"type": "file", "log_file_path": str(self.lineage), "append": True}
            ),
        }
        environment.run("airflow", "db", "migrate", env=self.settings)

    def environment_of(self, dsn: str) -> dict[str, str]:
        """Return the environment with a connection to a database."""
        given = read_conninfo(dsn)
        names = {"host": "host", "port": "port", "user": "login", "password": "password"}
        connection = {"conn_type": "omd", "schema": given.pop("dbname")}
        connection |= {names[name]: value for name, value in given.items() if name in names}
        extra = {name: value for name, value in given.items() if name not in names}
        connection["extra"] = json.dumps({**extra, "options": "-c omd.test=yes"})
        return {**self.settings, "AIRFLOW_CONN_OMD_DEFAULT": json.dumps(connection)}

    def start(self, dsn: str, *dags: str) -> subprocess.Popen[str]:
        return self.environment.start(
            "python", self.dags / "dags.py", self.answer, *dags, env=self.environment_of(dsn)
        )

    def ends(self, process: subprocess.Popen[str]) -> Found:
        print(*self.environment.end(process, LONG))  # pytest shows it of a test that fails
        assert process.returncode == 0
        found: Found = json.loads(self.answer.read_text())
        self.answer.unlink()
        return found


@pytest.fixture(scope="module")
def airflow(airflow_environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Airflow:
    return Airflow(airflow_environment, tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def database(new_database: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    with new_database() as dsn:
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute(REGISTERED.encode())
            conn.execute(example("sql").encode())
            conn.execute("CALL omd.run_batch('b_seen')")
        yield dsn


@contextmanager
def worker(dsn: str) -> Iterator[None]:
    process = Process(dsn, "--workers", "2")
    try:
        yield
    finally:
        process.process.terminate()
        process.process.wait(timeout=60)


@pytest.fixture(scope="module")
def found(airflow: Airflow, database: str) -> Found:
    """What became of the tasks of all DAGs that end by themselves, run one after the other."""
    both = [f"{name}_{way}" for name in KINDS for way in ("here", "deferred")]
    with (
        worker(database),
        psycopg.connect(database, autocommit=True, row_factory=dict_row) as conn,
    ):
        process = airflow.start(database, "later", "nightly", "slow", *both)
        until(lambda: triggers(conn) or process.poll() is not None, LONG)
        conn.execute("CALL omd.run_module('m_later')")
        return airflow.ends(process)


LONG = 180  # seconds: Airflow takes ten to be imported, on a busy machine a minute
KINDS = ("done", "ends", "sensors")


@pytest.fixture
def conn(database: str) -> Iterator[Connection]:
    with psycopg.connect(database, autocommit=True, row_factory=dict_row) as conn:
        yield conn


def triggers(conn: Connection) -> int:
    """Return how many connections the triggers of a process have."""
    row = conn.execute(
        "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database()"
        " AND application_name = 'omd-airflow-trigger'"
    ).fetchone()
    assert row
    return int(row["n"])


def instances(conn: Connection, code: str) -> list[dict[str, Any]]:
    return conn.execute(
        "SELECT * FROM omd_report.module_execution_log WHERE module_code = %s"
        " ORDER BY module_instance_id",
        [code],
    ).fetchall()


# Runs


@WAYS
def test_a_run_that_succeeds_is_the_value_of_its_task(
    found: Found, conn: Connection, way: str
) -> None:
    tasks = found[f"done_{way}"]
    assert {task["state"] for task in tasks.values()} == {"success"}
    (run,) = [
        row
        for row in instances(conn, "m_done")
        if row["execution_context"]["airflow"]["dag_id"] == f"done_{way}"
    ]
    id = run["module_instance_id"]
    assert tasks["module"]["value"] == {"instance_id": id, "status": "S"}
    assert tasks["module"]["link"] == f"https://omd.example/run/module/{id}"
    batch = tasks["batch"]["value"]["instance_id"]
    assert tasks["batch"]["link"] == f"https://omd.example/run/batch/{batch}"


def test_the_example_of_the_how_to_runs(found: Found, conn: Connection) -> None:
    assert {task["state"] for task in found["nightly"].values()} == {"success"}
    (row,) = conn.execute("SELECT d.amount FROM sales.day AS d").fetchall()
    assert row["amount"] == 30


@WAYS
def test_a_run_knows_its_task_and_the_parent_that_openlineage_has_of_it(
    airflow: Airflow, found: Found, conn: Connection, way: str
) -> None:
    task = found[f"done_{way}"]["module"]
    contexts = [row["execution_context"] for row in instances(conn, "m_done")]
    (context,) = [each for each in contexts if each["airflow"]["dag_id"] == f"done_{way}"]
    assert context["airflow"] == {
        "dag_id": f"done_{way}",
        "task_id": "module",
        "run_id": task["run_id"],
        "map_index": -1,
        "try_number": 1,
    }
    assert context["for"] == f"done_{way}"
    events = [json.loads(line) for line in airflow.lineage.read_text().splitlines()]
    job = f"done_{way}.module"
    (run_id,) = {event["run"]["runId"] for event in events if event["job"]["name"] == job}
    assert context["openlineage_parent_id"] == f"default/{job}/{run_id}"
    assert context["openlineage_root_parent_id"].startswith(f"default/done_{way}/")
    assert ("claim_token" in context) == (way == "deferred")


@WAYS
@pytest.mark.parametrize(
    ("task", "state", "tries", "status"),
    [
        ("skipped", "skipped", 1, "C"),
        ("fails", "failed", 2, "F"),
        ("busy", "failed", 1, None),
        ("unknown", "failed", 1, None),
        ("unready", "failed", 1, None),
    ],
)
def test_the_status_of_a_run_says_what_becomes_of_its_task(
    found: Found, way: str, task: str, state: str, tries: int, status: str | None
) -> None:
    ended = found[f"ends_{way}"][task]
    assert (ended["state"], ended["tries"]) == (state, tries)
    if status is not None:
        assert ended["value"]["status"] == status


def test_a_try_of_airflow_is_one_attempt_of_dispatch(found: Found, conn: Connection) -> None:
    assert found["ends_deferred"]["fails"]["tries"] == 2
    rows = conn.execute(
        "SELECT status, attempt, outcome FROM omd_dispatch.task_data_run"
        " WHERE func_code = 'm_fails'"
    ).fetchall()
    assert rows == [{"status": "CANCELLED", "attempt": 1, "outcome": "F"}] * 2


def test_a_run_that_takes_too_long_is_cancelled(found: Found, conn: Connection) -> None:
    assert found["slow"]["long"]["state"] == "failed"
    (run,) = instances(conn, "m_slow")
    assert run["execution_status_code"] == "F"
    assert run["duration"] < timedelta(seconds=60)


@pytest.mark.kill
def test_a_task_that_is_killed_cancels_its_run(
    airflow: Airflow, database: str, conn: Connection
) -> None:
    process = airflow.start(database, "waits")
    until(
        lambda: (
            process.poll() is not None
            or conn.execute(
                "SELECT FROM pg_stat_activity WHERE application_name = 'omd-airflow-run'"
                " AND wait_event = 'PgSleep' AND datname = current_database()"
            ).fetchall()
        ),
        LONG,
    )
    process.send_signal(signal.SIGTERM)
    assert airflow.ends(process)["waits"]["long"]["state"] == "failed"
    (run,) = instances(conn, "m_long")
    assert run["execution_status_code"] == "F"
    (event,) = conn.execute(
        "SELECT event_return_code_details AS code FROM omd.event_log WHERE module_instance_id = %s",
        [run["module_instance_id"]],
    ).fetchall()
    assert event["code"] == "57014"


# Sensors and triggers


def said(process: subprocess.Popen[str]) -> Any:
    """Return the next line of a program that is JSON; Airflow logs between them."""
    assert process.stdout
    for line in process.stdout:
        if line.startswith(("{", "[{")):
            return json.loads(line)
    pytest.fail("it has ended without an answer")


@WAYS
def test_sensors_see_what_is_there(found: Found, conn: Connection, way: str) -> None:
    tasks = found[f"sensors_{way}"]
    newest = instances(conn, "m_seen")
    assert tasks["run"]["value"]["instance_id"] in {row["module_instance_id"] for row in newest}
    assert tasks["batch"]["value"] == {"instance_id": 1, "status": "S"}
    assert tasks["batch"]["link"] == "https://omd.example/run/batch/1"
    assert tasks["topic"]["value"] == {"topic": "app.events", "upto": "2026-01-02T00:00:00+00:00"}
    assert tasks["unknown"]["state"] == "failed"


def test_a_deferred_sensor_waits_for_what_comes(found: Found, conn: Connection) -> None:
    (run,) = instances(conn, "m_later")
    assert found["later"]["run"]["state"] == "success"
    assert found["later"]["run"]["value"]["instance_id"] == run["module_instance_id"]


def test_triggers_of_one_process_share_a_connection_which_may_break(
    airflow: Airflow, database: str, conn: Connection
) -> None:
    conn.execute(
        "DELETE FROM omd.module_instance WHERE module_id IN"
        " (SELECT module_id FROM omd.module WHERE module_code IN ('m_later', 'm_long'))"
    )
    with worker(database):
        (task,) = conn.execute(
            "CALL omd_dispatch.create_task('RUN', 'MODULE', '{\"CODE\": \"m_long\"}')"
        ).fetchall()
        process = airflow.environment.start(
            "python",
            HERE / "airflow_triggers.py",
            str(task["p_task_id"]),
            env=airflow.environment_of(database),
        )
        mistake = said(process)
        assert mistake["is_final"] is True
        assert "m_unknown" in mistake["error"]
        until(lambda: instances(conn, "m_long"), LONG)
        assert triggers(conn) == 1
        conn.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE application_name = 'omd-airflow-trigger' AND datname = current_database()"
        )
        conn.execute("CALL omd.run_module('m_later')")
        events = said(process)
        (run,) = instances(conn, "m_later")
        seen = {"instance_id": run["module_instance_id"], "status": "S"}
        assert events == [{"answer": seen}] * 20
        airflow.environment.end(process)
        assert process.returncode == 0
        # Its last act was to cancel the task.
        until(lambda: instances(conn, "m_long")[0]["execution_status_code"] != "E")
    assert instances(conn, "m_long")[0]["execution_status_code"] == "F"


# What Airflow knows of us


def test_airflow_finds_the_provider_by_the_distribution(airflow_environment: Environment) -> None:
    script = """
from airflow.providers_manager import ProvidersManager
manager = ProvidersManager()
print(manager.providers["pgomd"].version)
print(manager.hooks["omd"].hook_class_name)
print("omd.integrations.airflow.links.OmdRunLink" in manager.extra_links_class_names)
"""
    home = {"AIRFLOW_HOME": str(airflow_environment.home)}
    done = airflow_environment.run("python", "-c", script, env=home)
    hook = "omd.integrations.airflow.hooks.OmdHook"
    assert {__version__, hook, "True"} <= set(done.stdout.splitlines())
