"""What commits late is not missed, and holds up only itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from support.events import after, publish, published
from support.flow import Flow


def gaps(flow: Flow) -> list[tuple[str, int, int]]:
    rows = flow.rows(
        "SELECT subject_type, first_id, last_id FROM omd_event.gap ORDER BY subject_type, first_id"
    )
    return [(row["subject_type"], row["first_id"], row["last_id"]) for row in rows]


@pytest.fixture
def late(flow: Flow, another: Callable[..., Flow]) -> Flow:
    """A session that keeps its transaction open."""
    for code in "mnopq":
        flow.module(code)
    flow.batch("b")
    flow.batch("c")
    return another(autocommit=False)


def test_a_begin_that_commits_late_makes_its_event_then(flow: Flow, late: Flow) -> None:
    first = late.begin_module("m")
    run = flow.run_module("n")
    assert published(flow) == [("RUN_BEGAN", run), ("RUN_SUCCEEDED", run)]
    assert gaps(flow) == [("MODULE", first.id, first.id)]
    for _ in range(3):
        assert published(flow) == []
    late.conn.commit()
    assert published(flow) == [("RUN_BEGAN", first.id)]
    assert gaps(flow) == []


def test_a_batch_that_commits_late_makes_its_event_then(flow: Flow, late: Flow) -> None:
    first = late.begin_batch("b")
    second = flow.begin_batch("c")
    assert published(flow) == [("BATCH_BEGAN", second.id)]
    late.conn.commit()
    assert published(flow) == [("BATCH_BEGAN", first.id)]


def test_an_id_that_never_comes_is_dropped_when_nobody_can_bring_it(flow: Flow, late: Flow) -> None:
    first = late.begin_module("m")
    flow.run_module("n")
    published(flow)
    late.conn.rollback()
    assert published(flow) == []  # in this round it gets its bound, and is settled
    assert gaps(flow) == []
    assert flow.rows("SELECT FROM omd_event.event WHERE subject_id = %s", first.id) == []


def test_a_long_transaction_holds_up_only_itself(
    flow: Flow, late: Flow, another: Callable[..., Flow]
) -> None:
    """Ids that were rolled back stay gaps meanwhile, as ranges, and each late one is found."""
    old = late.begin_module("m")
    other = another(autocommit=False)
    for _ in range(3):
        other.begin_module("n")
        other.conn.rollback()
    middle = other.begin_module("o")
    third = another(autocommit=False)
    third.begin_module("p")
    third.conn.rollback()
    last = flow.begin_module("q")
    assert published(flow) == [("RUN_BEGAN", last.id)]
    assert gaps(flow) == [("MODULE", old.id, last.id - 1)]
    published(flow)
    other.conn.commit()
    assert published(flow) == [("RUN_BEGAN", middle.id)]
    assert gaps(flow) == [
        ("MODULE", old.id, middle.id - 1),
        ("MODULE", middle.id + 1, last.id - 1),
    ]
    late.conn.commit()
    assert published(flow) == [("RUN_BEGAN", old.id)]
    assert gaps(flow) == []


def test_the_bound_is_no_transaction_that_is_older_than_the_begin(
    flow: Flow, late: Flow, another: Callable[..., Flow]
) -> None:
    """The publisher has written before the late begin got its transaction."""
    publisher = another(autocommit=False)
    publisher.conn.execute("CREATE TABLE dwh.written ()")
    first = late.begin_module("m")
    flow.run_module("n")
    assert publish(flow) == 2
    assert gaps(flow) == [("MODULE", first.id, first.id)]
    assert publish(publisher) == 0
    publisher.conn.commit()
    assert gaps(flow) == [("MODULE", first.id, first.id)]
    assert flow.one("SELECT bound FROM omd_event.gap") is None
    late.conn.commit()
    assert published(flow) == [("RUN_BEGAN", first.id)]


def test_the_bound_is_not_the_newest_transaction_of_the_snapshot(flow: Flow, late: Flow) -> None:
    """No transaction ends between the late begin and the round, so the snapshot ends below it."""
    flow.begin_module("o")
    first = late.begin_module("m")
    at_work = flow.one("SELECT pg_current_snapshot()::text")
    xid = late.one("SELECT pg_current_xact_id()::text")
    assert int(xid) >= int(at_work.split(":")[1])
    flow.run_module("n")
    for _ in range(3):
        publish(flow)
    assert gaps(flow) == [("MODULE", first.id, first.id)]
    bound = flow.one("SELECT bound::text FROM omd_event.gap")
    assert int(bound) > int(xid)
    late.conn.commit()
    assert ("RUN_BEGAN", first.id) in published(flow)


def test_a_gap_noticed_in_the_same_transaction_gets_no_bound(
    flow: Flow, late: Flow, another: Callable[..., Flow]
) -> None:
    publisher = another(autocommit=False)
    assert publish(publisher) == 0
    first = late.begin_module("m")
    flow.run_module("n")
    assert publish(publisher) == 2
    assert publish(publisher) == 0
    publisher.conn.commit()
    assert gaps(flow) == [("MODULE", first.id, first.id)]
    late.conn.commit()
    assert published(flow) == [("RUN_BEGAN", first.id)]


def test_a_begin_in_a_savepoint_is_found(flow: Flow, late: Flow) -> None:
    late.conn.execute("SELECT 1")
    with late.conn.transaction():
        first = late.begin_module("m")
    flow.run_module("n")
    for _ in range(3):
        publish(flow)
    late.conn.commit()
    assert published(flow) == [("RUN_BEGAN", first.id)]


def test_a_prepared_begin_is_found(flow: Flow, late: Flow) -> None:
    if flow.one("SELECT current_setting('max_prepared_transactions')") == "0":
        first = late.begin_module("m")
        flow.run_module("n")
        published(flow)
        late.conn.commit()
    else:
        first = late.begin_module("m")
        flow.run_module("n")
        late.conn.execute("PREPARE TRANSACTION 'late'")
        for _ in range(3):
            publish(flow)
        flow.conn.execute("COMMIT PREPARED 'late'")
    assert published(flow) == [("RUN_BEGAN", first.id)]


def test_who_reads_by_number_misses_no_late_commit(flow: Flow, late: Flow) -> None:
    read = 0
    seen = []
    first = late.begin_module("m")
    for code in "nop":
        flow.run_module(code)
        publish(flow)
        for row in flow.rows("SELECT * FROM omd_event.events_after(%s)", read):
            read = row["event_number"]
            seen.append((row["event_type"], row["subject_id"]))
    late.conn.commit()
    publish(flow)
    seen += after(flow, read)
    assert seen.count(("RUN_BEGAN", first.id)) == 1
    assert len(seen) == 7
