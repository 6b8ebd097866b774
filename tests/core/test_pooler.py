"""PgBouncer in transaction mode: one server connection serves all clients, a transaction each."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import omd
from omd import errors
from omd._core.pooling import Pooler, pooler_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    Pooled = Callable[..., AbstractContextManager[str]]
    Connection = psycopg.Connection[dict[str, Any]]

PREPARED = "SELECT count(*) AS n FROM pg_prepared_statements"


@pytest.fixture
def through(control: omd.Control, pooled_dsn: str) -> Iterator[omd.Control]:
    """A control through the pooler, on the same database as ``control``."""
    with omd.connect(pooled_dsn, lease=None) as through:
        yield through


def test_a_pooler_is_noticed(dsn: str, pooled_dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with psycopg.connect(dsn) as direct, psycopg.connect(pooled_dsn) as through:
        assert (pooler_of(direct), pooler_of(through)) == (Pooler.NONE, Pooler.TRANSACTION)
        for told in ("none", "session", "transaction"):
            monkeypatch.setenv("OMD_POOLER", told)
            assert pooler_of(direct).value == pooler_of(through).value == told
    monkeypatch.setenv("OMD_POOLER", "pgpool")
    with pytest.raises(errors.CallerError, match="OMD_POOLER is 'pgpool'"):
        omd.connect(dsn)


def test_nothing_is_prepared_behind_a_pooler(through: omd.Control) -> None:
    for _ in range(5):
        begun = through.calls.omd.begin_module("m_alone")
        through.calls.omd.module_success(begun.module_instance_id)
    with through.transaction() as connection:
        assert connection.execute(PREPARED).fetchone() == (0,)


def test_many_clients_on_one_server_connection_get_their_own_answers(
    control: omd.Control, pooled_dsn: str, conn: Connection
) -> None:
    for n in range(8):
        control.calls.omd.register_module(
            f"m_{n}_of_many",
            area_code="INT",
            table_code="dwh.t",
            table_type_code="HUB",
            platform_code="POSTGRES",
        )
    problems: list[BaseException] = []

    def run(n: int) -> None:
        try:
            with omd.connect(pooled_dsn) as mine:
                for turn in range(8):
                    begun = mine.calls.omd.begin_module(f"m_{n}_of_many")
                    assert begun.processing_indicator.value in "PR"
                    if (turn + n) % 2:
                        mine.calls.omd.module_success(begun.module_instance_id, rows_inserted=n)
                    else:
                        mine.calls.omd.module_failure(begun.module_instance_id, event_detail=f"{n}")
        except BaseException as error:  # noqa: BLE001 - the test raises it
            problems.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    rows = conn.execute(
        "SELECT m.module_code, mi.execution_status_code AS status, count(*) AS n"
        " FROM omd.module_instance AS mi JOIN omd.module AS m USING (module_id)"
        " WHERE m.module_code LIKE 'm\\__\\_of\\_many' GROUP BY 1, 2 ORDER BY 1, 2"
    ).fetchall()
    assert [(row["module_code"], row["status"], row["n"]) for row in rows] == [
        (f"m_{n}_of_many", status, 4) for n in range(8) for status in "FS"
    ]


def test_clients_that_take_the_pooler_for_none_never_execute_the_statement_of_another(
    control: omd.Control, pooled_dsn: str, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen before: a failure that was reported was recorded as a success."""
    monkeypatch.setenv("OMD_POOLER", "none")
    with omd.connect(pooled_dsn, lease=None) as first, omd.connect(pooled_dsn, lease=None) as other:
        for _ in range(4):
            ended = first.calls.omd.begin_module("m_1").module_instance_id
            failed = other.calls.omd.begin_module("m_2").module_instance_id
            first.calls.omd.module_success(ended)
            other.calls.omd.module_failure(failed)
            found = conn.execute(
                "SELECT execution_status_code AS status FROM omd.module_instance"
                " WHERE module_instance_id = ANY(%s) ORDER BY module_instance_id",
                [[ended, failed]],
            ).fetchall()
            assert [row["status"] for row in found] == ["S", "F"]
    with psycopg.connect(pooled_dsn, autocommit=True, prepare_threshold=None) as through:
        row = through.execute(PREPARED).fetchone()
        assert row is not None
        assert row[0] >= 4  # so the names were in one session


def test_what_is_set_holds_for_each_call_and_reaches_nobody_else(
    through: omd.Control, pooled_dsn: str, module_row: Callable[[int], dict[str, Any]]
) -> None:
    with omd.connect(pooled_dsn, lease=None) as other:
        through._set(**{"omd.execution_context": '{"who": "through"}'}, work_mem="5MB")
        mine = through.calls.omd.begin_module("m_1").module_instance_id
        others = other.calls.omd.begin_module("m_2").module_instance_id
        assert module_row(mine)["execution_context"] == {"who": "through"}
        assert module_row(others)["execution_context"] is None
        with through.transaction() as connection:
            assert connection.execute("SHOW work_mem").fetchone() == ("5MB",)
            through._set(work_mem="6MB")
            assert connection.execute("SHOW work_mem").fetchone() == ("6MB",)
        with other.transaction() as connection:
            assert connection.execute("SHOW work_mem").fetchone() == ("4MB",)
        with pytest.raises(errors.lookup("OM002")):
            through.calls.omd.begin_module("nowhere")
        through.calls.omd.module_success(mine)
        through._set(default_transaction_isolation="serializable")
        with pytest.raises(errors.lookup("OM014")):
            through.calls.omd.begin_module("m_1")
        assert other.calls.omd.begin_module("m_1").processing_indicator.value == "P"


def test_a_batch_runs_in_the_database_through_a_pooler(
    through: omd.Control, conn: Connection, module_row: Callable[[int], dict[str, Any]]
) -> None:
    for code in ("m_1", "m_2"):
        through.calls.omd.register_module(
            code,
            area_code="INT",
            table_code="dwh.t",
            table_type_code="HUB",
            platform_code="POSTGRES",
            executable="INSERT INTO dwh.t SELECT"
            " nullif(current_setting('omd.module_instance_id'), '')::bigint",
        )
    through._set(**{"omd.execution_context": '{"task_id": 7}'})
    ran = through.calls.omd.run_batch("b", execution_context={"task_id": 1, "more": 2})
    assert ran.execution_status_code == "S"
    [batch] = conn.execute("SELECT execution_context FROM omd.batch_instance WHERE batch_id > 0")
    assert batch["execution_context"] | {"task_id": 7, "more": 2} == batch["execution_context"]
    module = through.calls.omd.run_module("m_1")
    assert module.execution_status_code == "S"
    assert module.module_instance_id is not None
    assert module_row(module.module_instance_id)["execution_context"]["task_id"] == 7
    assert conn.execute("SELECT count(*) AS n FROM dwh.t").fetchone() == {"n": 3}


def test_a_run_with_a_lease_lives_while_others_use_the_server_connection(
    control: omd.Control, pooled_dsn: str, module_row: Callable[[int], dict[str, Any]]
) -> None:
    with omd.connect(pooled_dsn, lease=timedelta(seconds=2)) as through:
        with through.module("m_alone") as run:
            deadline = time.monotonic() + 4
            while time.monotonic() < deadline:
                through.calls.omd.module_definition("m_alone")
                time.sleep(0.05)
            instance = run.instance_id
        assert module_row(instance)["execution_status_code"] == "S"


def test_who_listens_through_a_pooler_is_told_to_look(through: omd.Control) -> None:
    import select

    with through.facts._listen() as news:
        assert news.polls
        assert news.listens
        for _ in range(2):
            assert select.select([news], [], [], 20)[0]
            assert news.heard() == set()
        with through.transaction() as connection:
            assert connection.execute("SELECT pg_listening_channels()").fetchall() == []


@pytest.mark.parametrize("told", ["auto", "session"])
def test_a_pooler_in_session_mode_works(
    control: omd.Control, pooled: Pooled, monkeypatch: pytest.MonkeyPatch, told: str
) -> None:
    monkeypatch.setenv("OMD_POOLER", told)
    with pooled(mode="session", size=10) as dsn, omd.connect(dsn) as through:
        for _ in range(4):
            with through.module("m_alone"):
                pass
        with through.facts._listen() as news:
            assert news.polls is (told == "auto")
        with through.transaction() as connection:
            row = connection.execute(PREPARED).fetchone()
            assert row is not None
            assert (row[0] > 0) is (told == "session")
