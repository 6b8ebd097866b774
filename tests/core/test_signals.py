"""SIGTERM and Ctrl-C, sent to real processes."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading
from typing import TYPE_CHECKING, Any

import pytest

import omd

if TYPE_CHECKING:
    from collections.abc import Callable

    Row = Callable[[int], dict[str, Any]]
    Events = Callable[..., list[dict[str, Any]]]


def start(dsn: str, body: str) -> subprocess.Popen[str]:
    """A process that runs a driver program; it prints a line when a signal may be sent."""
    program = (
        "import omd, signal, sys, threading, time\n"
        f"with omd.connect({dsn!r}) as control:\n" + textwrap.indent(textwrap.dedent(body), "    ")
    )
    return subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


JOB = """
with control.batch("b") as batch:
    with batch.module("m_1") as run:
        print(batch.instance_id, run.instance_id, flush=True)
        time.sleep(60)
"""


@pytest.mark.parametrize(
    ("number", "name", "code"),
    [
        (signal.SIGTERM, "omd.Terminated", 143),
        (signal.SIGINT, "KeyboardInterrupt", -signal.SIGINT),
    ],
)
def test_a_signal_fails_module_and_batch(
    control: omd.Control,
    dsn: str,
    module_row: Row,
    batch_row: Row,
    events: Events,
    number: int,
    name: str,
    code: int,
) -> None:
    process = start(dsn, JOB)
    assert process.stdout is not None
    batch, module = map(int, process.stdout.readline().split())
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == code, said
    assert module_row(module)["execution_status_code"] == "F"
    assert batch_row(batch)["execution_status_code"] == "F"
    [event] = events(module=module)
    assert event["event_return_code_details"] == name


@pytest.mark.kill
def test_a_killed_driver_leaves_nothing_to_clean_up_by_hand(
    control: omd.Control, dsn: str, module_row: Row
) -> None:
    process = start(
        dsn,
        """
        from datetime import timedelta
        with control.module("m_alone", lease=timedelta(seconds=1)) as run:
            print(run.instance_id, flush=True)
            time.sleep(60)
        """,
    )
    assert process.stdout is not None
    module = int(process.stdout.readline())
    process.kill()
    process.communicate(timeout=60)
    while control.calls.omd.reap_expired_instances().reaped != [module]:
        pass
    with control.module("m_alone") as run:
        assert run.instance_array == [module]


def test_a_sigterm_during_the_begin_is_not_lost(
    control: omd.Control, dsn: str, connect: Any, conn: Any, module_row: Row
) -> None:
    blocker = connect(autocommit=False)
    blocker.execute("SELECT FROM omd.module WHERE module_code = 'm_alone' FOR UPDATE")
    process = start(
        dsn,
        """
        print("ready", flush=True)
        with control.module("m_alone") as run:
            print("entered", flush=True)
        """,
    )
    assert process.stdout is not None
    process.stdout.readline()
    waiting = (
        "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'begin_module'"
    )
    while conn.execute(waiting).rowcount == 0:
        pass
    process.send_signal(signal.SIGTERM)
    blocker.rollback()
    said, _ = process.communicate(timeout=60)
    assert "entered" not in said
    assert process.returncode == 143
    [row] = conn.execute("SELECT * FROM omd_report.module_execution_log").fetchall()
    assert row["execution_status_code"] == "F"


def test_run_does_not_turn_sigterm_into_an_outcome(control: omd.Control, dsn: str) -> None:
    process = start(
        dsn,
        """
        def job(run):
            print("ready", flush=True)
            try:
                time.sleep(60)
            except Exception:
                print("caught", flush=True)
        control.run("m_alone", job)
        print("went on", flush=True)
        """,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=60)
    assert (said, process.returncode) == ("", 143)


def test_the_previous_handler_is_restored(control: omd.Control) -> None:
    def mine(_signal: int, _frame: object) -> None: ...

    before = signal.signal(signal.SIGTERM, mine)
    try:
        with control.batch("b") as batch:
            inside = signal.getsignal(signal.SIGTERM)
            assert inside is not mine
            with batch.module("m_1"):
                pass
            assert signal.getsignal(signal.SIGTERM) is inside
        assert signal.getsignal(signal.SIGTERM) is mine
        with pytest.raises(omd.errors.OmdError), control.module("nowhere"):
            pass
        assert signal.getsignal(signal.SIGTERM) is mine
        with pytest.raises(SystemExit) as ended, control.module("m_alone"):
            signal.raise_signal(signal.SIGTERM)
        assert ended.value.code == 143
        assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, before)


def test_an_ignored_sigterm_stays_ignored(control: omd.Control) -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with control.module("m_alone"):
            signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def test_blocks_in_other_threads_leave_the_signal_alone(control: omd.Control) -> None:
    before = signal.getsignal(signal.SIGTERM)
    found: list[Any] = []

    def job(run: omd.Run) -> None:
        found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=control.run, args=("m_alone", job))
    thread.start()
    thread.join()
    assert found == [before]
