"""A purge takes nothing that was not published, and no event that is waited for."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from datetime import timedelta
from typing import Any

import pytest

from support.events import after, confirm, publish, published, take
from support.flow import Flow
from support.workers import until


def aged(flow: Flow, days: int, upto: int) -> None:
    """Let events be published so many days ago."""
    flow.owner(
        "UPDATE omd_event.event SET published_datetime = clock_timestamp() - %s * interval '1 day'"
        " WHERE event_number <= %s",
        days,
        upto,
    )


@pytest.fixture
def history(flow: Flow) -> Flow:
    """Runs of m, of a Batch too, that no evaluation needs, and nothing published."""
    flow.batch("b", "m")
    flow.run_batch("b", m="S")
    for _ in range(3):
        flow.run_module("m")
    flow.run_batch("b", m="S")
    return flow


def purge(flow: Flow) -> dict[str, int]:
    deleted: dict[str, int] = flow.call("purge", keep=timedelta(0), room="omd")["deleted"]
    return deleted


def purge_events(flow: Flow) -> int:
    """Events go by the setting of their room, whatever is asked."""
    deleted: dict[str, int] = flow.call("purge", keep="10 years", room="omd_event")["deleted"]
    return deleted["omd_event.event"]


# History ------------------------------------------------------------------------------------------


def test_a_purge_of_history_publishes_before_it_deletes(history: Flow) -> None:
    purged = purge(history)
    assert (purged["omd.module_instance"], purged["omd.batch_instance"]) == (4, 1)
    assert len(after(history)) == 14
    assert published(history) == []


def test_a_purge_waits_for_another_publisher(
    history: Flow,
    another: Callable[..., Flow],
    background: Callable[..., Future[Any]],
) -> None:
    publisher, purger = another(autocommit=False), another()
    assert publish(publisher) == 14
    call = background(purge, purger)
    pauses = "SELECT wait_event = 'PgSleep' FROM pg_stat_activity WHERE pid = %s"
    pid = purger.conn.info.backend_pid
    for _ in range(2):  # it has looked a second time, and goes on waiting
        until(lambda: call.done() or history.one(pauses, pid))
        until(lambda: call.done() or not history.one(pauses, pid))
    assert not call.done()
    assert history.one("SELECT count(*) FROM omd.module_instance") == 6
    publisher.conn.commit()
    assert call.result(timeout=60)["omd.module_instance"] == 4


def test_what_the_publisher_has_not_met_is_not_purged(
    history: Flow, another: Callable[..., Flow]
) -> None:
    """Above the mark, in a gap, and met but open: each stays, however old it is."""
    late = another(autocommit=False)
    late.module("n")
    late.conn.commit()
    in_gap = late.begin_module("n")
    history.run_module("m")
    published(history)
    assert history.one("SELECT count(*) FROM omd_event.gap") == 1
    late.end_module(in_gap.id, "A")
    late.conn.commit()
    met = history.begin_module("m")
    published_of = "SELECT omd_event._needed_instances('MODULE', ARRAY[1, %s, %s, 999]::bigint[])"
    assert sorted(history.one(published_of, in_gap.id, met.id)) == [in_gap.id, met.id, 999]
    publish(history)
    assert history.one(published_of, in_gap.id, met.id) == [met.id, 999]
    history.owner(
        "INSERT INTO omd_event.open_run (subject_type, instance_id) VALUES ('MODULE', 1),"
        " ('BATCH', 1)"
    )
    needed = history.one("SELECT omd._without_needed('MODULE', '{1,2}')")
    assert needed == [2]
    assert history.one("SELECT omd._without_needed('BATCH', '{1,2}')") == [2]
    assert history.one("SELECT omd._without_needed('BATCH', NULL)") is None


# Events -------------------------------------------------------------------------------------------


def test_old_events_go_that_no_active_sink_waits_for(history: Flow) -> None:
    history.call("omd_event.register_sink", sink_code="s", sink_kind="PULL")
    published(history)
    aged(history, 31, 10)
    assert purge_events(history) == 0
    take(history, limit=4)
    confirm(history, 4)
    assert purge_events(history) == 4
    assert take(history, limit=1) == [5]
    history.call("omd_event.register_sink", sink_code="s", inactive_indicator="Y")
    assert purge_events(history) == 6
    assert [row["event_number"] for row in history.rows("SELECT * FROM omd_report.events")] == [
        *range(11, 15)
    ]
    (row,) = history.rows("SELECT event_number, purged_unsent FROM omd_report.event_sinks")
    assert tuple(row.values()) == (10, 6)


def test_a_sink_whose_events_were_purged_goes_on_with_the_oldest_kept(history: Flow) -> None:
    history.call(
        "omd_event.register_sink", sink_code="s", sink_kind="PULL", event_types=["RUN_BEGAN"]
    )
    published(history)
    aged(history, 61, 6)
    assert purge_events(history) == 6
    wanted = history.one("SELECT purged_unsent FROM omd_report.event_sinks")
    assert wanted == 2
    assert min(take(history)) > 6
    history.call("omd_event.register_sink", sink_code="s")
    assert history.one("SELECT purged_unsent FROM omd_report.event_sinks") == 0


def test_a_purge_takes_many_events_in_steps_and_leaves_an_event(flow: Flow) -> None:
    flow.owner(
        "INSERT INTO omd_event.event SELECT n, 'TASK_DEAD', 'TASK', n, 'f/t', NULL,"
        " clock_timestamp(), clock_timestamp() - interval '40 days', gen_random_uuid(), '{}'"
        " FROM generate_series(1, 12000) AS n"
    )
    flow.owner("UPDATE omd_event.setting SET event_number = 12000")
    assert purge_events(flow) == 12000
    detail = flow.one(
        "SELECT event_detail FROM omd.event_log WHERE event_return_code_details = 'PURGE'"
        " ORDER BY event_id DESC LIMIT 1"
    )
    assert detail.endswith(": deleted 12000 of omd_event.event")
    flow.module()
    flow.run_module()
    assert publish(flow) == 2
    assert flow.one("SELECT max(event_number) FROM omd_report.events") == 12002
