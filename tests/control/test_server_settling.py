"""After a failover, a move or a restored dump no ID is given twice, and nobody waits for long.

What a server has forgotten is simulated by what is noted about it; tests/faults has real ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

MILLION = 1_000_000
INSTANCES = "omd.module_instance_module_instance_id_seq"
FAILOVER = "UPDATE omd.installation SET timeline_id = timeline_id - 1"
RESTART = "UPDATE omd.installation SET server_start = server_start - interval '1 day'"
MOVED = (
    "UPDATE omd.installation SET system_identifier = system_identifier - 1,"
    " server_start = server_start - interval '1 day'"
)
RESTORED = "UPDATE omd.installation SET table_oid = 1"
COPIED = "UPDATE omd.installation SET database_oid = 1"


def forget(flow: Flow, what: str) -> None:
    flow.owner(what)


def settle(flow: Flow) -> str | None:
    kind: str | None = flow.call("settle_server")["kind"]
    return kind


def last(flow: Flow, sequence: str = INSTANCES) -> int:
    value: int = flow.one("SELECT coalesce(pg_sequence_last_value(%s::regclass), 0)", sequence)
    return value


def changes(flow: Flow) -> list[tuple[Any, ...]]:
    rows = flow.rows(
        "SELECT kind, ids_skipped, confirmed_as FROM omd_report.server_changes"
        " ORDER BY server_change_id"
    )
    return [tuple(row.values()) for row in rows]


@pytest.mark.parametrize("change", [FAILOVER, MOVED, RESTORED])
def test_the_next_begin_passes_over_a_million(flow: Flow, change: str) -> None:
    flow.module()
    before = flow.run_module()
    forget(flow, change)
    assert flow.run_module() == before + MILLION + 1
    assert flow.run_module() == before + MILLION + 2
    ((kind, skipped, confirmed),) = changes(flow)
    assert kind == ("MOVED" if change == MOVED else "FAILOVER")
    assert (skipped, confirmed) == (MILLION, None)
    (text,) = flow.rows(
        "SELECT event_detail FROM omd.event_log WHERE event_return_code_details = 'SERVER'"
    )
    assert kind in text["event_detail"]


def test_all_sequences_of_omd_pass_over_a_million(flow: Flow) -> None:
    """Also bare ones, those in schemas that OMD generates, and those of definitions."""
    flow.conn.execute("GRANT ALL ON SCHEMA dwh TO omd_owner")
    flow.owner("CREATE TABLE dwh.made (id bigint GENERATED ALWAYS AS IDENTITY, v text)")
    flow.owner("INSERT INTO dwh.made (v) VALUES ('a'), ('b')")
    sequences = flow.rows(
        "SELECT s.seqrelid::regclass::text AS name,"
        " coalesce(pg_sequence_last_value(s.seqrelid), 0) AS before"
        " FROM pg_sequence AS s JOIN pg_class AS c ON c.oid = s.seqrelid"
        " WHERE c.relowner = 'omd_owner'::regrole"
        " AND c.oid <> 'omd.settled_server'::regclass"
    )
    assert {
        "dwh.made_id_seq",
        "omd.module_module_id_seq",
        "omd.write_number",
        "omd_dispatch.claim_token",
    } < {row["name"] for row in sequences}
    forget(flow, FAILOVER)
    settle(flow)
    for row in sequences:
        assert last(flow, row["name"]) >= row["before"] + MILLION, row


def test_a_sequence_that_is_behind_its_rows_goes_on_after_them(flow: Flow) -> None:
    """Logical replication copies rows and no sequences."""
    flow.module()
    stored = flow.run_module()
    flow.call("skip_ids", count=500)
    stored = flow.run_module()
    flow.conn.execute(f"SELECT setval('{INSTANCES}', 1)".encode())
    forget(flow, MOVED)
    assert flow.run_module() == stored + MILLION + 1


def test_the_order_of_successes_and_the_numbers_of_writes_go_on_after_their_rows(
    flow: Flow,
) -> None:
    flow.module()
    run = flow.begin_module().id
    number = flow.one("SELECT omd.next_write_number() + 7000")
    flow.owner("SELECT setval('omd.write_number', %s)", number)
    flow.call("record_write", module_instance_id=run, write_number=number, partition_number=0,
              table_code="dwh.m", row_count=1)  # fmt: skip
    flow.end_module(run, "S")
    order = flow.one("SELECT max(success_order) FROM omd.module_instance")
    for sequence in ("omd.write_number", "omd.success_order"):
        flow.owner(f"SELECT setval('{sequence}', 1)")
    forget(flow, MOVED)
    settle(flow)
    assert last(flow, "omd.write_number") == number + MILLION
    assert last(flow, "omd.success_order") == order + MILLION


def test_numbers_that_are_stored_nowhere_are_passed_over_too(flow: Flow) -> None:
    """Rows were purged, or a second failover has lost those that the first one had settled."""
    flow.module()
    flow.run_module()
    flow.call("skip_ids", count=5 * MILLION)
    given = last(flow)
    for _ in range(2):
        forget(flow, FAILOVER)
        assert settle(flow) == "FAILOVER"
        assert last(flow) == given + MILLION
        given = last(flow)


# What survives a rollback, and what a cancel leaves -------------------------------------------


def test_a_settlement_that_is_rolled_back_passes_over_no_more(flow: Flow) -> None:
    flow.module()
    before = flow.run_module()
    forget(flow, FAILOVER)
    for attempt in range(3):
        with flow.conn.transaction(force_rollback=True):
            assert flow.begin_module().id == before + MILLION + 1 + attempt
        assert changes(flow) == []
    assert settle(flow) == "FAILOVER"
    assert last(flow) == before + MILLION + 3
    assert settle(flow) is None
    assert changes(flow) == [("FAILOVER", MILLION, None)]


def test_a_settlement_in_the_middle_of_which_somebody_cancels_is_done_again(flow: Flow) -> None:
    flow.module()
    before = flow.run_module()
    forget(flow, FAILOVER)
    # The rooms are called after some sequences have moved.
    flow.owner(
        "CREATE FUNCTION omd._stop_here(bigint) RETURNS void LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'query_canceled'; END $$"
    )
    flow.owner(
        "INSERT INTO omd.room_hook (hook, room, routine)"
        " VALUES ('SKIP_COUNTERS', 'omd', 'omd._stop_here')"
    )
    try:
        for _ in range(2):
            with pytest.raises(psycopg.errors.QueryCanceled):
                settle(flow)
    finally:
        flow.owner("DELETE FROM omd.room_hook WHERE routine = 'omd._stop_here'")
        flow.owner("DROP FUNCTION omd._stop_here")
    assert changes(flow) == []
    assert flow.begin_module().id == before + MILLION + 1


# Several sessions -----------------------------------------------------------------------------


def test_of_two_sessions_one_settles_and_the_other_waits(
    flow: Flow,
    another: Callable[..., Flow],
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Flow, Future[Any]], None],
) -> None:
    flow.module()
    before = flow.run_module()
    forget(flow, FAILOVER)
    other = another()
    with flow.conn.transaction():
        assert settle(flow) == "FAILOVER"
        begin = background(other.begin_module)
        until_settled(other, begin)
        assert not begin.done()
        flow.conn.execute("SELECT 1")
    assert begin.result(timeout=10).id == before + MILLION + 1
    assert changes(flow) == [("FAILOVER", MILLION, None)]


def test_who_waits_for_a_settlement_that_is_rolled_back_settles_itself(
    flow: Flow,
    another: Callable[..., Flow],
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Flow, Future[Any]], None],
) -> None:
    flow.module()
    flow.module("n")
    before = flow.run_module()
    forget(flow, FAILOVER)
    other = another()
    with flow.conn.transaction(force_rollback=True):
        given = flow.begin_module("n").id
        begin = background(other.begin_module)
        until_settled(other, begin)
        assert not begin.done()
    assert given == before + MILLION + 1
    assert begin.result(timeout=10).id == given + 1
    assert changes(flow) == [("FAILOVER", MILLION, None)]


def test_many_sessions_that_begin_at_once_settle_once(
    flow: Flow, another: Callable[..., Flow], background: Callable[..., Future[Any]]
) -> None:
    for n in range(8):
        flow.module(f"m{n}")
    before = flow.run_module("m0")
    forget(flow, FAILOVER)
    sessions = [another() for _ in range(8)]
    begun = [background(s.begin_module, f"m{n}") for n, s in enumerate(sessions)]
    ids = sorted(b.result(timeout=20).id for b in begun)
    assert ids == list(range(before + MILLION + 1, before + MILLION + 9))
    assert changes(flow) == [("FAILOVER", MILLION, None)]


def test_a_restart_is_noted_and_nobody_waits_for_it(
    flow: Flow, another: Callable[..., Flow]
) -> None:
    """The first begin after it may be inside of a long transaction."""
    flow.module()
    flow.module("n")
    before = flow.run_module()
    forget(flow, RESTART)
    other = another()
    other.conn.execute("SET lock_timeout = '1s'")
    with flow.conn.transaction():
        assert flow.begin_module().id == before + 1
        assert other.begin_module("n").id == before + 2
        assert settle(other) == "RESTART"
    assert settle(flow) is None
    assert changes(flow) == []
    assert flow.one("SELECT server_start = pg_postmaster_start_time() FROM omd.installation")


def test_a_row_that_a_session_holds_stops_no_settlement(
    flow: Flow, another: Callable[..., Flow]
) -> None:
    """It would be a deadlock with a session that begins something afterwards."""
    flow.module()
    run = flow.begin_module().id
    flow.owner("UPDATE omd.module_instance SET backend_pid = 1, is_session_bound = TRUE"
               " WHERE module_instance_id = %s", run)  # fmt: skip
    forget(flow, FAILOVER)
    other = another()
    other.conn.execute("SET lock_timeout = '1s'")
    with flow.conn.transaction():
        flow.conn.execute(
            "SELECT FROM omd.module_instance WHERE module_instance_id = %s FOR UPDATE", [run]
        )
        assert settle(other) == "FAILOVER"


# What means something on one server only ------------------------------------------------------


def test_what_means_something_on_one_server_is_cleared(flow: Flow) -> None:
    flow.module()
    done = flow.run_module()
    open_ = flow.begin_module().id
    flow.owner("UPDATE omd.module_instance SET backend_pid = 42")
    flow.owner(
        "INSERT INTO omd.undone_run (module_instance_id, undone_by, undone_datetime,"
        " transaction_id) VALUES (%s, %s, now(), pg_current_xact_id())",
        done,
        done,
    )
    flow.owner(
        "INSERT INTO omd_event.gap (subject_type, first_id, last_id, bound)"
        " VALUES ('MODULE', 1, 1, pg_current_xact_id())"
    )
    forget(flow, MOVED)
    settle(flow)
    pids = {
        row["id"]: row["pid"]
        for row in flow.rows(
            "SELECT module_instance_id AS id, backend_pid AS pid FROM omd.module_instance"
            " WHERE module_instance_id > 0"
        )
    }
    assert pids == {done: 42, open_: None}
    assert flow.one("SELECT bound FROM omd_event.gap") is None
    assert flow.one("SELECT transaction_id FROM omd.undone_run") is None
    # A begin looks at it as before: the transaction is none of this server.
    flow.module("n")
    flow.run_module("n")
    assert flow.one("SELECT undone_upto FROM omd.undone_run") > done


def test_events_go_on_after_a_million_and_a_sink_that_has_all_is_not_behind(flow: Flow) -> None:
    flow.module()
    flow.run_module()
    while flow.call("omd_event.publish")["published"]:
        pass
    newest = flow.one("SELECT event_number FROM omd_event.setting")
    assert newest == 2
    flow.call("omd_event.register_sink", sink_code="s", sink_kind="PULL")
    flow.call("omd_event.register_sink", sink_code="late", sink_kind="PULL", **{"from": 0})
    forget(flow, FAILOVER)
    flow.run_module()
    while flow.call("omd_event.publish")["published"]:
        pass
    numbers = [row["event_number"] for row in flow.rows("SELECT * FROM omd_report.events")]
    assert sorted(numbers) == [1, 2, newest + MILLION + 1, newest + MILLION + 2]
    assert flow.one("SELECT behind FROM omd_report.event_sinks WHERE sink_code = 's'") == 2
    taken = flow.rows("SELECT event_number FROM omd_event.take_events('late', 'h')")
    assert len(taken) == 4


def test_publishing_alone_settles_too(flow: Flow) -> None:
    flow.module()
    flow.run_module()
    while flow.call("omd_event.publish")["published"]:
        pass
    flow.run_module()
    forget(flow, FAILOVER)
    assert flow.call("omd_event.publish")["event_number"] == 2 + MILLION + 2


# What gives an ID -----------------------------------------------------------------------------


def test_each_call_that_gives_an_id_settles(flow: Flow) -> None:
    flow.module()
    flow.batch("b", "m")

    def settles(call: Callable[[], object]) -> None:
        forget(flow, FAILOVER)
        before = len(changes(flow))
        call()
        assert len(changes(flow)) == before + 1, call

    settles(lambda: flow.begin_module())
    settles(lambda: flow.create_module())
    settles(lambda: flow.begin_batch())
    settles(lambda: flow.create_batch())
    settles(lambda: flow.call("run_module", module_code="m", executable="SELECT 1"))
    settles(lambda: flow.call("record_failure", module_code="m", event_detail="it failed"))
    settles(lambda: flow.one("SELECT omd.next_write_number()"))
    settles(lambda: flow.call("omd_dispatch.register_backend", backend_type="G", backend_id="w"))
    settles(lambda: flow.rows("SELECT * FROM omd_dispatch.claim_tasks('w')"))
    settles(lambda: flow.call("omd_event.register_sink", sink_code="s", sink_kind="PULL"))


def test_an_id_that_was_given_is_on_the_disk(flow: Flow) -> None:
    """Else a crash gives it again."""
    flow.module()
    shown = "SELECT current_setting('synchronous_commit')"
    for given, then in (("off", "on"), ("local", "local"), ("on", "on")):
        flow.conn.execute(f"SET synchronous_commit = {given}".encode())
        with flow.conn.transaction():
            run = flow.begin_module().id
            assert flow.one(shown) == then
        assert flow.one(shown) == given
        with flow.conn.transaction():
            flow.end_module(run, "S")
            assert flow.one(shown) == given


# skip_ids -------------------------------------------------------------------------------------


def test_skip_ids_passes_over_as_many_as_it_is_told(flow: Flow) -> None:
    flow.module()
    before = flow.run_module()
    assert flow.call("skip_ids", count=7)["next_module_instance_id"] == before + 8
    assert flow.run_module() == before + 8
    assert flow.call("skip_ids")["next_module_instance_id"] == before + 8 + MILLION + 1
    forget(flow, FAILOVER)
    assert flow.call("skip_ids", count=1)["next_module_instance_id"] == before + 10 + 2 * MILLION


def test_skip_ids_refuses_what_is_no_such_count(flow: Flow) -> None:
    before = last(flow)
    flow.refused("OM005", "skip_ids", count=None)
    for wrong in (0, -1, 10**12 + 1, -(2**63), 2**63 - 1):
        flow.refused("OM013", "skip_ids", count=wrong)
    assert last(flow) == before
    flow.call("skip_ids", count=10**12)
    assert last(flow) == before + 10**12


def test_a_sequence_of_integers_is_not_used_up(flow: Flow) -> None:
    """It takes a million at most, and stays where it is when there is no room."""
    flow.conn.execute("GRANT ALL ON SCHEMA dwh TO omd_owner")
    flow.owner("CREATE TABLE dwh.made (id integer GENERATED ALWAYS AS IDENTITY)")
    modules, made = "omd.module_module_id_seq", "dwh.made_id_seq"
    before = last(flow, modules)
    flow.call("skip_ids", count=10**12)
    assert last(flow, modules) == before + MILLION
    full = 2147483647 - MILLION + 1
    flow.owner(f"SELECT setval('{made}', {full})")
    flow.call("skip_ids")
    assert last(flow, made) == full
    flow.owner("INSERT INTO dwh.made DEFAULT VALUES")


def test_who_may_do_what(flow: Flow, another: Callable[..., Flow]) -> None:
    reader, runner, admin = (another(role=f"omd_{role}") for role in ("reader", "runner", "admin"))
    for session in (reader, runner, admin):
        assert session.one("SELECT omd.version()")
        assert session.one("SELECT omd.server_is_known()")
        session.conn.execute("SELECT omd.require_known_server()")
        assert len(session.rows("SELECT * FROM omd_report.server")) == 1
        assert session.rows("SELECT * FROM omd_report.server_changes") == []
        assert session.rows("SELECT * FROM omd_report.footprint")
    assert settle(runner) is None
    assert settle(admin) is None
    for session, call in (
        (reader, "settle_server"),
        (reader, "skip_ids"),
        (runner, "skip_ids"),
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.call(call)
    admin.call("skip_ids", count=1)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        runner.conn.execute("UPDATE omd.installation SET on_failover = 'ASK'")
    admin.conn.execute("UPDATE omd.installation SET on_failover = 'ASK'")


def test_a_begin_of_a_runner_settles(flow: Flow, another: Callable[..., Flow]) -> None:
    flow.module()
    before = flow.run_module()
    forget(flow, FAILOVER)
    runner = another(role="omd_runner")
    runner.conn.execute("SET search_path = ''")
    assert runner.begin_module().id == before + MILLION + 1


def test_the_version_is_that_of_the_package(flow: Flow) -> None:
    import omd.programs.install

    assert flow.one("SELECT omd.version()") == omd.programs.install.product_version()
