"""The connection of the calls: it is lost, found broken, or closed; the environment names it."""
# ruff: noqa: PT012 - the tests are about what happens in which block

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
import traceback
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

import omd
from omd import errors
from omd._core.conninfo import read_conninfo
from omd.rooms.control import rows as t

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.wire import Wire

    Connection = psycopg.Connection[dict[str, Any]]
    Row = Callable[[int], dict[str, Any]]


def pid_of(conn: Connection, application: str = "omd") -> int:
    row = conn.execute(
        "SELECT pid FROM pg_stat_activity WHERE application_name = %s"
        " AND datname = current_database()",
        [application],
    ).fetchone()
    assert row is not None
    return int(row["pid"])


def terminate(conn: Connection, pid: int) -> None:
    conn.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])


def test_a_server_that_vanished_is_noticed_within_a_minute(control: omd.Control, dsn: str) -> None:
    settings = conninfo_to_dict(control._dsn)
    idle, interval, count = (
        int(str(settings[f"keepalives_{name}"])) for name in ("idle", "interval", "count")
    )
    assert idle + interval * count <= 60
    assert settings["tcp_user_timeout"] == "60000"
    with omd.connect(make_conninfo(dsn, tcp_user_timeout="5000"), lease=None) as impatient:
        assert conninfo_to_dict(impatient._dsn)["tcp_user_timeout"] == "5000"


def test_errors_leave_the_connection_usable(control: omd.Control) -> None:
    for _ in range(10):  # beyond the point where psycopg prepares statements
        with pytest.raises(errors.lookup("OM002")):
            control.calls.omd.begin_module("nowhere")
    assert control.report(t.BatchListRow, batch_code="b")


def test_registration_in_one_transaction(control: omd.Control) -> None:
    with pytest.raises(errors.lookup("OM002")), control.transaction():
        control.calls.omd.register_batch("b_new", frequency_code="Daily")
        control.calls.omd.add_module_to_batch("b_new", "nowhere", sequence=1)
    assert control.report(t.BatchListRow, batch_code="b_new") == []


def test_a_connection_found_broken_is_replaced_before_a_begin(
    control: omd.Control, conn: Connection
) -> None:
    terminate(conn, pid_of(conn))
    assert control.calls.omd.begin_module("m_alone").processing_indicator.value == "P"


def test_a_begin_whose_answer_is_lost_is_not_repeated(
    control: omd.Control, conn: Connection, connect: Callable[..., Connection]
) -> None:
    blocker = connect(autocommit=False)
    blocker.execute("SELECT FROM omd.module WHERE module_code = 'm_alone' FOR UPDATE")
    caught: list[Exception] = []

    def begin() -> None:
        try:
            control.calls.omd.begin_module("m_alone", lease=timedelta(minutes=3))
        except Exception as error:  # noqa: BLE001
            caught.append(error)

    thread = threading.Thread(target=begin)
    thread.start()
    pid = pid_of(conn)
    while not conn.execute("SELECT pg_blocking_pids(%s) <> '{}' AS yes", [pid]).fetchone()["yes"]:
        time.sleep(0.01)
    terminate(conn, pid)
    thread.join()
    blocker.rollback()
    [error] = caught
    assert isinstance(error, errors.ConnectionFailed)
    assert "begin_module" in str(error)
    assert error.hint is not None
    assert "0:03:00" in error.hint
    # The control continues with a new connection.
    assert control.calls.omd.begin_module("m_alone").processing_indicator.value == "P"


@pytest.mark.parametrize("close", ["module_success", "module_failure"])
def test_an_end_whose_answer_is_lost_is_done(
    wired: omd.Control, wire: Wire, module_row: Row, close: str
) -> None:
    begun = wired.calls.omd.begin_module("m_alone")
    wire.swallow_answer_to = close.encode()
    getattr(wired.calls.omd, close)(begun.module_instance_id)
    assert wire.swallow_answer_to is None  # it did happen
    assert module_row(begun.module_instance_id)["execution_status_code"] == close[7].upper()


def test_an_end_sent_again_is_refused_when_the_instance_ended_otherwise(
    wired: omd.Control, wire: Wire, control: omd.Control
) -> None:
    begun = wired.calls.omd.begin_module("m_alone")
    control.calls.omd.module_failure(begun.module_instance_id)
    wire.swallow_answer_to = b"module_success"
    with pytest.raises(errors.lookup("OM101")):
        wired.calls.omd.module_success(begun.module_instance_id)


def test_a_second_success_is_refused_without_a_lost_connection(control: omd.Control) -> None:
    begun = control.calls.omd.begin_module("m_alone")
    control.calls.omd.module_success(begun.module_instance_id)
    with pytest.raises(errors.lookup("OM101")):
        control.calls.omd.module_success(begun.module_instance_id)


def test_it_comes_back_when_the_server_does(wired: omd.Control, wire: Wire) -> None:
    wire.refusing = True
    threading.Timer(0.5, setattr, [wire, "refusing", False]).start()
    assert wired.report(t.BatchListRow, batch_code="b")


def test_it_gives_up_when_its_patience_ends(control: omd.Control, wire: Wire) -> None:
    with omd.connect(wire.dsn, patience=timedelta(milliseconds=300)) as impatient:
        wire.refusing = True
        with pytest.raises(errors.ConnectionFailed):
            impatient.report(t.BatchListRow)


def test_no_server_is_told_at_once() -> None:
    with pytest.raises(errors.ConnectionFailed) as caught:
        omd.connect("host=/nowhere")
    assert caught.value.hint


def test_a_malformed_connection_string_is_told() -> None:
    with pytest.raises(errors.ConnectionFailed):
        omd.connect("what is this")


def test_a_database_without_omd_is_told(empty_dsn: str) -> None:
    with omd.connect(empty_dsn) as control:
        with pytest.raises(errors.NotInstalled) as caught:
            control.calls.omd.begin_module("m")
        assert (caught.value.hint or "").startswith("Is it the right database? Then: omd install.")
        with pytest.raises(errors.NotInstalled):
            control.report(t.BatchListRow)


def test_the_connection_string_comes_from_the_environment(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", dsn)
    omd.connect().close()
    monkeypatch.setenv("OMD_DSN", "host=/nowhere")
    with pytest.raises(errors.ConnectionFailed):
        omd.connect()
    omd.connect(dsn).close()


def test_the_dsn_is_complete_without_libpqs_environment(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(dsn) as conn:
        info = conn.info
        for name, value in (
            ("PGHOST", info.host),
            ("PGPORT", str(info.port)),
            ("PGUSER", info.user),
            ("PGDATABASE", info.dbname),
            ("PGPASSWORD", info.password or "secret"),
        ):
            monkeypatch.setenv(name, value)
    with omd.connect() as control:
        told = control._dsn
    for name in ("PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGPASSWORD"):
        monkeypatch.delenv(name)
    omd.connect(told).close()


def test_notices_of_the_server_are_logged(
    control: omd.Control, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "omd.server"), control.transaction() as connection:
        connection.execute("DO $$BEGIN RAISE NOTICE 'hello'; RAISE WARNING 'careful'; END$$")
    told = {(record.levelname, record.message) for record in caplog.records}
    assert told >= {("INFO", "hello"), ("WARNING", "careful")}


def test_threads_share_a_control(control: omd.Control) -> None:
    results: list[Any] = []
    threads = [
        threading.Thread(target=lambda: results.append(control.calls.omd.begin_module("m_alone")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(r.processing_indicator.value for r in results) == ["A"] * 7 + ["P"]


def test_importing_omd_does_not_import_spark() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import omd, sys; sys.exit('pyspark' in sys.modules)"], check=False
    )
    assert done.returncode == 0


SECRET = "s3cr3t"
MALFORMED = (
    "postgres//u:{}@h/db",
    "postgresql:/u:{}@h/db",
    "postgre://u:{}@h/db?sslmode=require",
    "postgresql://u:{}@[h/db",
    "postgresql://u:{}%zz@h/db",
    "postgresql://u:x@{}@localhost/db",
    "postgresql://u:x/{}@localhost/db",
    "postgresql://u:x?@{}@localhost/db",
    "postgresql://u:{}",
    "postgresql://u:x@localhost:{}/db",
    "host=localhost password=two {}",
    "host=localhost password='{}",
    "host=localhost {}=x",
    "host=localhost port={}",
    "{}",
    "host=localhost password={}\0",
    "host=localhost password={}\udc80",
)


@pytest.mark.parametrize("conninfo", [told.format(SECRET) for told in MALFORMED])
def test_a_malformed_connection_string_is_never_shown(
    conninfo: str, omd_here: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    with pytest.raises(errors.ConnectionFailed, match="this is no connection string") as caught:
        omd.connect(conninfo)
    told = "".join(traceback.format_exception(caught.value))
    assert SECRET not in told.replace(repr(conninfo), "")
    assert "PGPASSWORD" in str(caught.value)
    if conninfo.isprintable():
        for command in ("status", "doctor", "report", "call version", "install"):
            done = omd_here("--debug", *command.split(), "--dsn", conninfo)
            assert done.returncode == 2
            assert SECRET not in done.stdout + done.stderr


def test_a_connection_string_with_odd_characters_is_read() -> None:
    for told, password in (
        ("postgresql://u:p%40%3A%2F%3Fx@h:5432,i:5433/db?application_name=a@b", "p@:/?x"),
        ("postgresql://u:x?y=@localhost/db", "x?y="),
        ("postgresql:///db?host=/var/run&password=x@y/z", "x@y/z"),
        ("host=h password='two words@/'", "two words@/"),
        ("", None),
    ):
        assert read_conninfo(told).get("password") == password
