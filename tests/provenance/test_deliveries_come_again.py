"""What a recall took back comes again in the order of T, from its files or by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from facts.store import T
from support.flow import checked

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from provenance.middle import Middle


def entry(
    middle: Middle, position: int, day: int, *, code: str = "a", recall: int = 7, **more: Any
) -> None:
    """Write what a recall wants to come again."""
    given = {"is_by_hand": False, "former_delivery_id": None, **more}
    middle.owner(
        "INSERT INTO omd.module_return (recall_id, position, module_id, is_by_hand,"
        " former_delivery_id, snapshot_datetime) SELECT %s, %s, module_id, %s, %s, %s"
        " FROM omd.module WHERE module_code = %s",
        recall,
        position,
        given["is_by_hand"],
        given["former_delivery_id"],
        T[day],
        f"delivery.{code}",
    )


def returns(middle: Middle) -> list[tuple[int, str]]:
    return [
        (r["position"], r["return_status"])
        for r in middle.rows("SELECT * FROM omd_report.recall_returns ORDER BY recall_id, position")
    ]


def redeliver(middle: Middle, recall: int = 7, **arguments: Any) -> dict[str, Any]:
    return middle.call("omd_provenance.redeliver", recall_id=recall, **arguments)


def work(middle: Middle, code: str = "a") -> tuple[str, str | None, str | None]:
    (row,) = middle.rows("SELECT * FROM omd_report.work WHERE code = %s", f"delivery.{code}")
    return row["state"], row["reason"], row["waits_for"]


def file(name: str = "stock.csv", **more: Any) -> dict[str, Any]:
    return {"uri": f"file:/drop/{name}", "bytes": 10, "modified": 1_577_836_800_123, **more}


def from_files(middle: Middle, day: int, **arguments: Any) -> int:
    """Deliver stock of a day from a file; return the delivery, which was taken back."""
    run = middle.run(day, entities={"stock": "FULL"}, **arguments)
    register(middle, run, file(f"{day}.csv"))
    middle.judge(run, {"stock": {(1,): (str(day),)}})
    taken = int(run.id)
    middle.take_back(*middle.runs(taken))
    assert middle.status(taken) == "REVERTED"
    return taken


def register(middle: Middle, run: Any, *files: dict[str, Any], entity: str = "stock") -> None:
    middle.call(
        "register_files",
        delivery_id=run.id,
        attempt=run.attempt,
        entity_code=entity,
        files=[*files],
    )


def accept(middle: Middle, delivery_id: int) -> None:
    if middle.status(delivery_id) == "RECEIVED":
        middle.call("report_loaded", delivery_id=delivery_id)
    middle.judge(middle.begin(delivery_id), {"stock": {}})


# The order of T ---------------------------------------------------------------------------------


def test_what_is_of_a_later_time_waits_until_the_entry_is_filled(middle: Middle) -> None:
    middle.agree("b")
    entry(middle, 1, 3, is_by_hand=True)
    entry(middle, 2, 5, is_by_hand=True)
    later = middle.load(6, code="b", entities=["stock"])
    answer = middle.ask(later)
    assert answer["outcome"] == "WAIT"
    assert answer["detail"].startswith("recall 7: the delivery of a at 2020-01-03")
    assert work(middle, "b")[:2] == ("WAITING", "RECALLED")
    state = "SELECT waits_for FROM omd_report.delivery_state WHERE delivery_id = %s"
    assert middle.one(state, later) == answer["detail"]
    assert "recall 7" in str(work(middle, "b")[2])
    assert work(middle)[:2] == ("WAITING", "RECALLED")
    assert returns(middle) == [(1, "BY_HAND"), (2, "BY_HAND")]
    before = middle.load(2, entities=["stock"])  # it is not beyond
    accept(middle, before)
    third = middle.load(3, entities=["stock"])
    assert returns(middle) == [(1, "RUNNING"), (2, "BY_HAND")]
    accept(middle, third)
    assert returns(middle) == [(1, "DONE"), (2, "BY_HAND")]
    assert "2020-01-05" in middle.ask(later)["detail"]
    middle.call("omd_provenance.drop_return", recall_id=7, position=2, reason="it was empty")
    assert returns(middle) == [(1, "DONE"), (2, "DROPPED")]
    accept(middle, later)


@pytest.mark.parametrize(
    ("end", "is_filled"),
    [
        ("ACCEPTED", True),
        ("REFUSED", False),
        ("REJECTED", False),
        ("CANCELLED", False),
        ("CHECKED", False),
        ("REVERTED", False),
    ],
)
@pytest.mark.parametrize("is_ours", [True, False])
def test_which_end_fills_an_entry(middle: Middle, end: str, is_filled: bool, is_ours: bool) -> None:
    if is_ours:
        former = from_files(middle, 3)
        entry(middle, 1, 3, former_delivery_id=former)
        if end == "CHECKED":
            return  # a redelivery is no dry run
        delivery_id = redeliver(middle)["delivery_id"]
        middle.call("report_loaded", delivery_id=delivery_id)
    else:
        entry(middle, 1, 3, is_by_hand=True)
        delivery_id = middle.load(3, entities=["stock"], dry_run=end == "CHECKED")
    if end in ("REJECTED", "CANCELLED"):
        name = {"REJECTED": "reject_delivery", "CANCELLED": "cancel_delivery"}[end]
        middle.call(name, delivery_id=delivery_id, reason="why")
    elif end == "REFUSED":
        run = middle.begin(delivery_id)
        run.measure(1, {"stock.row_format": 5})
        assert run.verdict(1)["delivery_status"] == "REFUSED"
    else:
        run = middle.begin(delivery_id)
        if end == "CHECKED":
            run.validate()
        else:
            middle.judge(run, {"stock": {}})
        if end == "REVERTED":
            assert returns(middle) == [(1, "DONE")]
            middle.call("revert_delivery", delivery_id=delivery_id, reason="why")
    assert middle.status(delivery_id) == end
    expected = "BY_HAND"
    if is_filled or (is_ours and end == "REFUSED"):
        expected = "DONE"
    elif is_ours and end != "REJECTED":
        expected = "DUE"
    assert returns(middle) == [(1, expected)]


def test_a_recall_of_what_filled_an_entry_leaves_the_entry_filled(middle: Middle) -> None:
    entry(middle, 1, 3, is_by_hand=True)
    third = middle.load(3, entities=["stock"])
    accept(middle, third)
    middle.take_back(*middle.runs(third))
    assert middle.status(third) == "REVERTED"
    assert returns(middle) == [(1, "DONE")]


# Redeliveries -----------------------------------------------------------------------------------


def test_a_redelivery_has_the_arguments_of_the_former_one(middle: Middle) -> None:
    former = from_files(
        middle, 3, message={"from": "t"}, include_existing=False, allow_deletes=["stock"]
    )
    entry(middle, 1, 3, former_delivery_id=former)
    assert work(middle)[:2] == ("READY", "RECALLED")
    ready = middle.rows("SELECT * FROM omd_report.ready_work")
    assert [(r["module_kind_code"], r["reason"]) for r in ready] == [("DELIVERY", "RECALLED")]
    answer = redeliver(middle)
    assert answer["outcome"] == "RUN"
    assert [(f["entity"], f["uri"], f["bytes"]) for f in answer["files"]] == [
        ("stock", "file:/drop/3.csv", 10)
    ]
    new = answer["delivery_id"]
    assert redeliver(middle) == answer == redeliver(middle, delivery_id=new)
    assert redeliver(middle, files=answer["files"]) == answer
    told = {
        "snapshot_datetime",
        "message",
        "include_existing",
        "delete_type",
        "context",
        "agreement_id",
    }
    old, made = middle.delivery(former), middle.delivery(new)
    assert {k: made[k] for k in told} == {k: old[k] for k in told}
    entities = (
        "SELECT entity_id, load_type, context_type, rows_announced, allows_deletes"
        " FROM omd_delivery.delivery_entity WHERE delivery_id = %s"
    )
    assert middle.rows(entities, new) == middle.rows(entities, former)
    assert middle.call("take_arrival", agreement_code="a") == {"delivery_id": new, "folder": None}
    middle.call("report_loaded", delivery_id=new)
    run = middle.begin(new)
    assert work(middle)[0] == "RUNNING"
    for wrong in (file("3.csv", bytes=11), file("4.csv"), file("3.csv", modified=1)):
        call = {"delivery_id": new, "attempt": 1, "entity_code": "stock", "files": [wrong]}
        assert middle.refused("OM139", "register_files", **call)["recall_id"] == 7
    register(middle, run, file("3.csv"))
    middle.judge(run, {"stock": {}})
    assert returns(middle) == [(1, "DONE")]
    assert redeliver(middle)["outcome"] == "NOTHING"


def test_a_due_redelivery_is_taken_before_all_else(middle: Middle) -> None:
    middle.agree(arrival={"location": "/drop", "every": "0 s"})
    former = from_files(middle, 3)
    seen = [
        {
            "folder": f"2020-01-0{day}",
            "kind": "FOLDER",
            "files": [{"path": p, "bytes": 0, "modified": 1} for p in ("stock.csv", "_SUCCESS")],
        }
        for day in (2, 4)
    ]
    middle.call("report_arrivals", agreement_code="a", seen=seen)
    entry(middle, 1, 3, former_delivery_id=former)
    # One of a later time was created by hand, and waits.
    waiting = middle.load(5, entities=["stock"])
    assert middle.ask(waiting)["outcome"] == "WAIT"
    answer = middle.call("take_arrival", agreement_code="a")
    assert answer["folder"] is None
    assert answer["delivery_id"] not in (None, waiting)
    assert returns(middle) == [(1, "RUNNING")]
    accept(middle, answer["delivery_id"])
    accept(middle, waiting)


def test_a_folder_of_a_later_time_is_not_taken_before_what_comes_again(middle: Middle) -> None:
    middle.agree(arrival={"location": "/drop", "every": "0 s"})
    files = [{"path": p, "bytes": 0, "modified": 1} for p in ("stock.csv", "_SUCCESS")]
    seen = {"folder": "2020-01-04", "kind": "FOLDER", "files": files}
    middle.call("report_arrivals", agreement_code="a", seen=[seen])
    entry(middle, 1, 3, is_by_hand=True)
    assert work(middle)[:2] == ("WAITING", "RECALLED")
    assert middle.call("take_arrival", agreement_code="a") == {"delivery_id": None, "folder": None}
    accept(middle, middle.load(3, entities=["stock"]))
    assert work(middle)[:2] == ("READY", "ARRIVED")
    assert middle.call("take_arrival", agreement_code="a")["folder"] == "2020-01-04"


def test_the_folder_of_what_was_taken_back_is_refused(middle: Middle) -> None:
    middle.agree(arrival={"location": "/drop", "every": "0 s"})
    files = [{"path": p, "bytes": 0, "modified": 1} for p in ("stock.csv", "_SUCCESS")]
    seen = {"folder": "2020-01-04", "kind": "FOLDER", "files": files}
    look = {"agreement_code": "a", "seen": [seen]}
    middle.call("report_arrivals", **look)
    taken = middle.call("take_arrival", agreement_code="a")["delivery_id"]
    accept(middle, taken)
    state = "SELECT arrival_status FROM omd_report.arrivals"
    assert middle.one(state) == "DONE"
    middle.take_back(*middle.runs(taken))
    middle.call("report_arrivals", **look)
    assert middle.one(state) == "REFUSED"
    assert middle.call("take_arrival", agreement_code="a")["delivery_id"] is None
    # A sender corrects by another content.
    seen["files"] = [{**file, "bytes": 9} for file in files]
    middle.call("report_arrivals", **look)
    assert middle.one(state) == "FOUND"


def test_files_that_are_gone_or_changed_make_it_one_by_hand(middle: Middle) -> None:
    former = from_files(middle, 3)
    for position, seen in enumerate(
        (
            [],
            [{**file("3.csv", bytes=1), "entity": "stock"}],
            [{**file("9.csv"), "entity": "stock"}],
        ),
        1,
    ):
        entry(middle, position, 3, former_delivery_id=former, recall=position)
        answer = redeliver(middle, position, files=seen)
        assert (answer["outcome"], answer["delivery_id"]) == ("BY_HAND", None)
        (row,) = middle.rows(
            "SELECT * FROM omd_report.recall_returns WHERE recall_id = %s", position
        )
        assert row["return_status"] == "BY_HAND"
        assert "3.csv" in row["problem"]
        assert redeliver(middle, position)["outcome"] == "BY_HAND"
        middle.call(
            "omd_provenance.drop_return", recall_id=position, position=position, reason="gone"
        )
    cancelled = middle.rows(
        "SELECT * FROM omd_delivery.delivery WHERE delivery_status = 'CANCELLED'"
    )
    assert len(cancelled) == 3


def test_what_came_as_rows_or_before_an_erasure_comes_by_hand(middle: Middle) -> None:
    frames = middle.deliver(2, {"stock": {(1,): ("x",)}})
    (effect,) = middle.effects(middle.runs(frames))
    assert (effect["action"], effect["comes_again"]) == ("BY_HAND", "HAND")
    assert effect["problem"] == "no files are recorded of stock"
    run = middle.run(3, entities=["stock"])
    register(middle, run, file())
    middle.judge(run, {"stock": {(1,): ("y",)}})
    (effect,) = middle.effects(middle.runs(run.id))
    assert (effect["action"], effect["comes_again"], effect["problem"]) == (
        "REDELIVER",
        "FILES",
        None,
    )
    middle.rows(
        "SELECT omd_delivery.erase_keys(jsonb_build_object('interface', i.interface_code,"
        """ 'entity', 'stock', 'keys', '[{"nbr": 99}]'::jsonb,"""
        """ 'targets', '[{"entity": "stock", "columns": ["nbr"]}]'::jsonb))"""
        " FROM omd_delivery.interface AS i JOIN omd_delivery.entity AS e USING (interface_id)"
        " WHERE e.entity_code = 'stock'"
    )
    (effect,) = middle.effects(middle.runs(run.id))
    assert effect["action"] == "BY_HAND"
    assert "erased" in effect["problem"]
    # An entry that was from files before is by hand too.
    middle.take_back(*middle.runs(run.id))
    entry(middle, 1, 3, former_delivery_id=run.id)
    assert redeliver(middle)["outcome"] == "BY_HAND"
    assert returns(middle) == [(1, "BY_HAND")]


def test_a_delivery_in_the_way_is_withdrawn_and_its_folder_found_again(middle: Middle) -> None:
    middle.agree(arrival={"location": "/drop", "every": "0 s"})
    bad = middle.deliver(3, {"stock": {(1,): ("x",)}})
    files = [{"path": p, "bytes": 0, "modified": 1} for p in ("stock.csv", "_SUCCESS")]
    look = {
        "agreement_code": "a",
        "seen": [{"folder": "2020-01-05", "kind": "FOLDER", "files": files}],
    }
    middle.call("report_arrivals", **look)
    behind = middle.call("take_arrival", agreement_code="a")["delivery_id"]
    middle.call("report_loaded", delivery_id=behind)
    run = middle.begin(behind)
    runs = middle.runs(bad)
    assert middle.rows("SELECT * FROM omd_delivery.recall_withdrawals(%s)", runs) == [
        {"delivery_id": behind, "because_of": runs[0], "comes_again": "FILES"}
    ]
    middle.take_back(*runs)
    middle.one("SELECT omd_delivery.withdraw(%s, 7, 'why')", behind)
    entry(middle, 1, 3, former_delivery_id=bad, is_by_hand=True)
    entry(middle, 2, 5, former_delivery_id=behind)
    assert middle.status(behind) == "CANCELLED"
    middle.refused("OM130", "stage_verdict", delivery_id=behind, attempt=run.attempt, stage=1)

    def arrival() -> str:
        middle.call("report_arrivals", **look)
        return str(middle.one("SELECT arrival_status FROM omd_report.arrivals"))

    assert arrival() == "REFUSED"
    assert returns(middle) == [(1, "BY_HAND"), (2, "WAITING")]
    accept(middle, middle.load(3, entities=["stock"]))
    assert arrival() == "FOUND"
    assert returns(middle) == [(1, "DONE"), (2, "DUE")]
    answer = middle.call("take_arrival", agreement_code="a")
    assert answer["folder"] == "2020-01-05"
    assert returns(middle) == [(1, "DONE"), (2, "RUNNING")]
    accept(middle, answer["delivery_id"])
    assert arrival() == "DONE"
    assert returns(middle) == [(1, "DONE"), (2, "DONE")]


def test_a_redelivery_that_is_withdrawn_fills_both_entries_when_it_comes(middle: Middle) -> None:
    """A second recall finds the redelivery of a first one unfinished, behind what it takes back."""
    bad = middle.deliver(2, {"stock": {(9,): ("x",)}})
    former = from_files(middle, 3)
    entry(middle, 1, 3, former_delivery_id=former)
    redelivery = redeliver(middle)["delivery_id"]
    runs = middle.runs(bad)
    assert middle.rows("SELECT * FROM omd_delivery.recall_withdrawals(%s)", runs) == [
        {"delivery_id": redelivery, "because_of": runs[0], "comes_again": "FILES"}
    ]
    middle.take_back(*runs)
    middle.one("SELECT omd_delivery.withdraw(%s, 8, 'why')", redelivery)
    entry(middle, 1, 2, former_delivery_id=bad, is_by_hand=True, recall=8)
    entry(middle, 2, 3, former_delivery_id=redelivery, recall=8)
    assert returns(middle) == [(1, "WAITING"), (1, "BY_HAND"), (2, "WAITING")]
    assert redeliver(middle)["outcome"] == "WAITING"
    accept(middle, middle.load(2, entities=["stock"]))
    assert returns(middle) == [(1, "DUE"), (1, "DONE"), (2, "WAITING")]
    answer = redeliver(middle)
    assert [f["uri"] for f in answer["files"]] == ["file:/drop/3.csv"]
    accept(middle, answer["delivery_id"])
    assert returns(middle) == [(1, "DONE"), (1, "DONE"), (2, "DONE")]


def test_an_unfinished_delivery_without_files_is_withdrawn_by_hand(middle: Middle) -> None:
    bad = middle.deliver(3, {"stock": {(1,): ("x",)}})
    middle.agree("b")
    middle.create(4, code="b", entities=["stock"])  # another agreement waits, and keeps nobody away
    behind = middle.create(5, entities=["stock"])
    runs = middle.runs(bad)
    assert middle.rows("SELECT * FROM omd_delivery.recall_withdrawals(%s)", runs) == [
        {"delivery_id": behind, "because_of": runs[0], "comes_again": "HAND"}
    ]


def test_two_workers_create_one_redelivery(
    middle: Middle,
    middles: Callable[..., Middle],
    background: Callable[..., Future[Any]],
    until_settled: Callable[..., None],
) -> None:
    former = from_files(middle, 3)
    entry(middle, 1, 3, former_delivery_id=former)
    other = middles()
    with middle.conn.transaction():
        first = redeliver(middle)
        second = background(redeliver, other)
        until_settled(other, second)
    assert second.result(60) == first
    assert first["outcome"] == "RUN"


def test_a_begin_that_waits_for_the_recall_sees_its_entries(
    middle: Middle, middles: Callable[..., Middle]
) -> None:
    later = middle.load(6, entities=["stock"])
    other = middles()
    with middle.conn.transaction():
        middle.one("SELECT omd_delivery.hold_interface('shop')")
        entry(middle, 1, 3, is_by_hand=True)
        # It never blocks: the interface is held.
        assert other.ask(later)["outcome"] == "WAIT"
    assert "recall 7" in other.ask(later)["detail"]


def test_drops_say_why_not(middle: Middle) -> None:
    entry(middle, 1, 3, is_by_hand=True)
    drop = "omd_provenance.drop_return"
    middle.refused("OM090", drop, recall_id=7, position=2, reason="why")
    middle.refused("OM005", drop, recall_id=7, position=1, reason=None)
    middle.refused("OM090", "omd_provenance.redeliver", recall_id=8)
    middle.refused("OM005", "omd_provenance.redeliver", recall_id=None)
    running = middle.load(3, entities=["stock"])
    assert middle.refused("OM193", drop, recall_id=7, position=1, reason="why")["status"] == (
        "RUNNING"
    )
    middle.call("cancel_delivery", delivery_id=running, reason="why")
    middle.call(drop, recall_id=7, position=1, reason="why")
    assert middle.refused("OM193", drop, recall_id=7, position=1, reason="why")["status"] == (
        "DROPPED"
    )
    with pytest.raises(psycopg.Error) as refused:
        middle.call("begin_delivery", delivery_id=running)
    checked(refused.value, "OM130")
