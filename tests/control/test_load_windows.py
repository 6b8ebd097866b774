"""Load windows: each starts at the end of the newest one that is not withdrawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.string import TextLoader

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.flow import Flow

LEAST = -(2**63)


@pytest.fixture
def flow(another: Callable[..., Flow]) -> Flow:
    flow = another()
    flow.conn.adapters.register_loader("timestamptz", TextLoader)  # Python knows no -infinity
    flow.conn.execute("SET timezone = 'UTC'")
    flow.batch("b", "m")
    return flow


def window(flow: Flow, id: int, **end: Any) -> Any:
    row = flow.call("create_load_window", module_instance_id=id, **end)
    return row["start_value"], row["start_id"]


def loaded(flow: Flow, status: str = "S", **end: Any) -> int:
    begun = flow.begin_module()
    assert begun.pi == "P"
    window(flow, begun.id, **end)
    return flow.end_module(begun.id, status)


def start(flow: Flow, **end: Any) -> Any:
    """Return the start of the next window, whose run stays open."""
    return window(flow, flow.begin_module().id, **end)


def test_the_very_first_starts_at_the_beginning_of_time(flow: Flow) -> None:
    assert start(flow, end_value="2013-01-31") == (None, None)


def test_the_very_first_by_id_starts_below_every_id(flow: Flow) -> None:
    assert start(flow, end_id=10) == (None, LEAST)
    flow.end_module(1, "S")
    assert start(flow, end_id=20)[1] == 10


def test_the_next_starts_where_the_last_ended(flow: Flow) -> None:
    loaded(flow, end_value="2013-01-31 12:00:00.123456+00", end_id=7)
    assert start(flow, end_value="2013-02-28", end_id=1) == ("2013-01-31 12:00:00.123456+00", 7)


def test_an_id_decides_between_equal_times(flow: Flow) -> None:
    loaded(flow, end_value="2013-01-31", end_id=7)
    id = flow.begin_module().id
    flow.refused(
        "OM010", "create_load_window", module_instance_id=id, end_value="2013-01-31", end_id=6
    )
    assert window(flow, id, end_value="2013-01-31", end_id=8)[1] == 7


def test_an_empty_window_is_a_window(flow: Flow) -> None:
    loaded(flow, end_value="2013-01-31", end_id=7)
    loaded(flow, end_value="2013-01-31", end_id=7)
    assert start(flow, end_value="2013-01-31", end_id=7) == ("2013-01-31 00:00:00+00", 7)


@pytest.mark.parametrize(
    "end",
    [
        {},
        {"end_value": "2012-12-31"},
        {"end_value": "-infinity"},
        {"end_value": "infinity"},
        {"end_value": "20000-01-01"},
        {"end_value": "0044-03-15 BC"},
    ],
)
def test_a_window_without_an_end_or_that_ends_before_it_starts_is_refused(
    flow: Flow, end: dict[str, Any]
) -> None:
    loaded(flow, end_value="2013-01-31")
    id = flow.begin_module().id
    flow.refused("OM010", "create_load_window", module_instance_id=id, **end)
    assert flow.one("SELECT count(*) FROM omd.source_control") == 1


def test_asking_again_repeats_the_answer(flow: Flow) -> None:
    loaded(flow, end_id=5)
    id = flow.begin_module().id
    assert window(flow, id, end_id=9) == window(flow, id, end_id=9)
    assert window(flow, id, end_id=9)[1] == 5
    flow.refused("OM105", "create_load_window", module_instance_id=id, end_id=10)
    assert flow.one("SELECT count(*) FROM omd.source_control") == 2


@pytest.mark.parametrize("platform", ["POSTGRES", "SPARK"])
def test_a_failed_run_gives_its_window_to_the_retry(flow: Flow, platform: str) -> None:
    loaded(flow, end_id=10)
    failed = loaded(flow, "F", end_id=20)
    if platform == "SPARK":
        flow.owner("UPDATE omd.module SET platform_code = 'SPARK'")
    begun = flow.begin_module()
    if platform == "SPARK":
        assert begun.pi == "R"
        flow.call("confirm_rollback", module_instance_id=begun.id)
    assert window(flow, begun.id, end_id=30)[1] == 10
    kept = "SELECT start_id, end_id, is_taken_back FROM omd.source_control"
    assert flow.rows(f"{kept} WHERE module_instance_id = %s", failed) == [
        {"start_id": 10, "end_id": 20, "is_taken_back": True}
    ]


@pytest.mark.parametrize("status", ["F", "A", "C"])
def test_only_the_window_of_a_run_that_succeeded_counts(flow: Flow, status: str) -> None:
    loaded(flow, end_id=10)
    loaded(flow, status, end_id=20)
    assert start(flow, end_id=30)[1] == 10


def test_runs_without_a_window_change_nothing(flow: Flow) -> None:
    loaded(flow, end_id=10)
    flow.run_module()
    assert start(flow, end_id=30)[1] == 10


def test_windows_belong_to_the_module_wherever_it_runs(flow: Flow) -> None:
    batch = flow.begin_batch().id
    inside = flow.begin_module("m", batch).id
    window(flow, inside, end_id=10)
    flow.end_module(inside, "S")
    flow.module("n")
    other = flow.begin_module("n").id
    window(flow, other, end_id=99)
    flow.end_module(other, "S")
    assert start(flow, end_id=20)[1] == 10


def test_a_marked_success_takes_every_later_one_with_it(flow: Flow) -> None:
    ids = [loaded(flow, end_id=end) for end in (10, 20, 30, 40)]
    flow.set_next("R", module=ids[1])
    begun = flow.begin_module()
    assert begun.array == ids[1:]
    assert window(flow, begun.id, end_id=50)[1] == 10
    flow.end_module(begun.id, "S")
    assert flow.begin_module().array == []


def test_a_marked_success_of_a_module_without_windows_goes_alone(flow: Flow) -> None:
    ids = [flow.run_module() for _ in range(3)]
    flow.set_next("R", module=ids[1])
    assert flow.begin_module().array == [ids[1]]


def test_a_marked_batch_takes_the_later_windows_with_it(flow: Flow) -> None:
    ids = []
    for end in (10, 20, 30):
        batch = flow.begin_batch().id
        ids.append(flow.begin_module("m", batch).id)
        window(flow, ids[-1], end_id=end)
        flow.end_module(ids[-1], "S")
        flow.end_batch(batch, "S")
    flow.set_next("R", batch=2)
    batch = flow.begin_batch().id
    begun = flow.begin_module("m", batch)
    assert begun.array == ids[1:]
    assert window(flow, begun.id, end_id=30)[1] == 10


def test_a_window_needs_an_instance_that_proceeds(flow: Flow) -> None:
    created = flow.create_module()
    flow.refused("OM102", "create_load_window", module_instance_id=created, end_id=1)
    flow.end_module(created, "A")
    flow.refused("OM101", "create_load_window", module_instance_id=created, end_id=1)


def test_a_first_window_ends_at_an_instant_too(flow: Flow) -> None:
    id = flow.begin_module().id
    for end in ("infinity", "-infinity"):
        detail = flow.refused("OM010", "create_load_window", module_instance_id=id, end_value=end)
        assert detail["start"] == "the very beginning"
    assert window(flow, id, end_value="9999-12-31 00:00:00+00") == (None, None)


KINDS = ({"end_value": "2013-01-31"}, {"end_id": 5}, {"end_value": "2013-01-31", "end_id": 5})


@pytest.mark.parametrize("before", KINDS, ids=["timestamp", "id", "both"])
@pytest.mark.parametrize("now", KINDS, ids=["timestamp", "id", "both"])
def test_a_window_is_of_the_kind_of_those_before(
    flow: Flow, before: dict[str, Any], now: dict[str, Any]
) -> None:
    loaded(flow, **before)
    id = flow.begin_module().id
    if before == now:
        window(flow, id, **now)
    else:
        flow.refused("OM019", "create_load_window", module_instance_id=id, **now)
    assert flow.one("SELECT count(*) FROM omd.source_control") == 1 + (before == now)


def test_a_kind_that_only_failed_binds_nobody(flow: Flow) -> None:
    loaded(flow, "F", end_id=5)
    loaded(flow, "F", end_value="2013-01-31", end_id=5)
    assert start(flow, end_value="2013-01-31") == (None, None)


def test_a_kind_counts_where_a_purge_took_the_first_windows(flow: Flow) -> None:
    loaded(flow, end_id=5)
    id = loaded(flow, "F", end_id=7)
    flow.owner("DELETE FROM omd.source_control WHERE module_instance_id <> %s", id)
    begun = flow.begin_module().id
    flow.refused("OM019", "create_load_window", module_instance_id=begun, end_value="2013-01-31")
    assert window(flow, begun, end_id=9) == (None, 5)


def test_a_window_from_before_has_an_open_start_too(flow: Flow) -> None:
    """Earlier versions, and lineage, write an open start as -infinity."""
    id = flow.begin_module().id
    window(flow, id, end_value="2013-01-31", end_id=3)
    flow.owner("UPDATE omd.source_control SET start_value = '-infinity'")
    assert window(flow, id, end_value="2013-01-31", end_id=3) == (None, LEAST)
    trace = flow.rows("SELECT window_start_value FROM omd_report.trace")
    assert trace == [{"window_start_value": None}]
    flow.end_module(id, "F")
    assert start(flow, end_value="2013-01-31", end_id=3) == (None, LEAST)
