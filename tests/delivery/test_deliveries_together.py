"""Two sessions at one interface: the second waits, or is told, and sees what the first has done."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from delivery.runs import SHOP, Run

if TYPE_CHECKING:
    from collections.abc import Callable

    from delivery.runs import Shop

    Call = Callable[[Shop], Any]


def told(shop: Shop, call: Call) -> Any:
    """Return the answer of a call, or the SQLSTATE of its refusal."""
    try:
        return call(shop)
    except psycopg.Error as error:
        return error.sqlstate


@pytest.fixture
def together(shop: Shop, shops: Callable[..., Shop]) -> Callable[[Call, Call], tuple[Any, Any]]:
    """A function: the second call begins before the first has committed; it returns both answers.

    The first one commits as soon as the second has answered or waits for it.
    """
    one, two = shops(), shops()

    def run(first: Call, second: Call) -> tuple[Any, Any]:
        with ThreadPoolExecutor(1) as pool:
            with one.conn.transaction():
                answer = first(one)
                later = pool.submit(told, two, second)
                while not later.done() and not shop.one(
                    "SELECT %s = ANY(pg_blocking_pids(%s))",
                    one.conn.info.backend_pid,
                    two.conn.info.backend_pid,
                ):
                    pass
            return answer, later.result(30)

    return run


def calls(routine: str, answer: str = "delivery_status", /, **arguments: Any) -> Call:
    return lambda shop: shop.call(routine, **arguments).get(answer)


def selects(function: str, /, *arguments: Any) -> Call:
    marks = ", ".join(["%s"] * len(arguments))
    return lambda shop: shop.one(f"SELECT omd_delivery.{function}({marks})::text", *arguments)


def ready(shop: Shop, day: int, status: str) -> Run:
    """Bring a run of a new delivery to where this status is next."""
    run = shop.run(day)
    run.measure(1)
    if status != "LOADED":
        run.verdict(1)
        run.measure(2)
    if status in ("ACCEPTED", "REVERTED"):
        run.verdict(2)
        run.write("customer", ("N", day, "x"))
    if status == "REVERTED":
        run.apply()
    return run


def test_of_two_calls_the_second_sees_what_the_first_has_done(
    shop: Shop, together: Callable[[Call, Call], tuple[Any, Any]]
) -> None:
    shop.deploy()
    create = calls("create_delivery", agreement_code="a")
    # Where the first status is; the calls; the answer of the second; the status after both.
    for day, (status, first, second, answer, after) in enumerate(
        (
            ("LOADED", "verdict1", "verdict1", "LOADED", "LOADED"),
            ("LOADED", "reject", "verdict1", "OM130", "REJECTED"),
            ("LOADED", "fail", "verdict1", "OM132", "LOADED"),
            ("VALIDATED", "verdict2", "verdict2", "VALIDATED", "VALIDATED"),
            ("VALIDATED", "verdict2", "reject", "OM130", "VALIDATED"),
            ("VALIDATED", "verdict2", "create", "OM131", "VALIDATED"),
            ("ACCEPTED", "apply", "apply", "ACCEPTED", "ACCEPTED"),
            ("ACCEPTED", "apply", "cancel", "OM130", "ACCEPTED"),
            ("ACCEPTED", "apply", "deploy", 2, "ACCEPTED"),
            ("ACCEPTED", "cancel", "apply", "OM130", "CANCELLED"),
            ("ACCEPTED", "cancel", "create", "RECEIVED", "CANCELLED"),
            ("ACCEPTED", "fail", "apply", "OM132", "VALIDATED"),
            ("REVERTED", "revert", "revert", "OM130", "REVERTED"),
            ("REVERTED", "revert", "start", "OM135", "REVERTED"),
            ("REVERTED", "start", "revert", "OM133", "ACCEPTED"),
        ),
        1,
    ):
        run = ready(shop, day, status)
        queue_id = shop.one("SELECT max(queue_id) FROM omd_delivery.delta_queue")
        fenced = {"delivery_id": run.id, "attempt": run.attempt}
        ended = {"delivery_id": run.id, "reason": "enough"}
        made: dict[str, Call] = {
            "create": create,
            "verdict1": calls("stage_verdict", stage=1, **fenced),
            "verdict2": calls("stage_verdict", stage=2, **fenced),
            "apply": calls("apply_delta", **fenced),
            "fail": calls("fail_delivery", **fenced),
            "reject": calls("reject_delivery", **ended),
            "cancel": calls("cancel_delivery", **ended),
            "revert": calls("revert_delivery", **ended),
            "start": selects("start_queue_item", queue_id, 1),
            "deploy": calls("deploy_model", "model_version", model={**SHOP, "facts": {"day": day}}),
        }
        _, second_answer = together(made[first], made[second])
        assert (second_answer, shop.status(run.id)) == (answer, after), (first, second)
        for row in shop.rows("SELECT delivery_id FROM omd_report.delivery_state"):
            if shop.status(row["delivery_id"]) != "ACCEPTED":
                shop.call("cancel_delivery", delivery_id=row["delivery_id"], reason="enough")
        for row in shop.rows(
            "SELECT queue_id FROM omd_delivery.delta_queue WHERE queue_status <> 'PERSISTED'"
        ):
            shop.persist(row["queue_id"])


def test_an_item_is_not_put_back_while_the_next_one_is_taken(
    shop: Shop, together: Callable[[Call, Call], tuple[Any, Any]]
) -> None:
    shop.deploy()
    for day in (1, 2):
        shop.accept(day, {"customer": [("N", day, "x")]})
    shop.persist(1)
    back, taken = selects("requeue_alone", 1), selects("start_queue_item", 2, 7)
    assert together(back, taken)[1] == "OM135"
    shop.persist(1)
    assert together(taken, back)[1] == "OM135"
    queue = "SELECT queue_status FROM omd_report.delivery_queue ORDER BY queue_id"
    assert [r["queue_status"] for r in shop.rows(queue)] == [
        "PERSISTED",
        "LOADING",
    ]


def test_a_mark_that_is_raised_meanwhile_is_not_lowered(
    shop: Shop, together: Callable[[Call, Call], tuple[Any, Any]]
) -> None:
    shop.deploy()
    run = ready(shop, 1, "ACCEPTED")
    entity_id = shop.one("SELECT entity_id FROM omd_delivery.entity WHERE entity_code = 'customer'")
    raised = selects("raise_high_water_mark", entity_id, "2020-02-01Z")
    apply = calls("apply_delta", delivery_id=run.id, attempt=1)
    assert together(raised, apply)[1] == "OM037"
    mark = (
        "SELECT snapshot_datetime::date::text FROM omd_report.delivery_marks"
        " WHERE entity_code = 'customer'"
    )
    assert shop.one(mark) == "2020-02-01"
    shop.owner("DELETE FROM omd_delivery.high_water_mark")
    assert together(apply, raised)[0] == "ACCEPTED"
    assert shop.one(mark) == "2020-02-01"


def test_a_purge_leaves_a_locked_interface_for_the_next_call(
    shop: Shop, shops: Callable[..., Shop]
) -> None:
    """A rollback and a physical delete, which delete deltas too, hold the lock."""
    shop.deploy()
    shop.call("deploy_model", model={**SHOP, "interface": "other"})
    shop.agree("b", interface_code="other")
    for code in ("a", "b"):
        shop.call("reject_delivery", delivery_id=shop.create(1, code), reason="enough")
    holder = shops()
    with holder.conn.transaction():
        holder.conn.execute(
            "SELECT FROM omd_delivery.interface WHERE interface_code = 'shop' FOR NO KEY UPDATE"
        )
        assert shop.call("omd.purge", keep="0", room="omd_delivery")["deleted"] == {
            "omd_delivery.delivery": 1
        }
    assert shop.call("omd.purge", keep="0", room="omd_delivery")["deleted"] == {
        "omd_delivery.delivery": 1
    }
    with shop.conn.transaction():
        shop.refused("OM018", "omd.purge", keep="0")


def test_nobody_waits_for_a_tenant_who_stages_rows(shop: Shop, shops: Callable[..., Shop]) -> None:
    shop.deploy()
    tenant = shops()
    shop.conn.execute("SET lock_timeout = '5s'")
    with tenant.conn.transaction():
        tenant.conn.execute("INSERT INTO stg_a.customer (nbr) VALUES ('1')")
        shop.agree("a", inactive_indicator="Y")
        shop.agree("b")
        shop.call("deploy_model", model={**SHOP, "facts": {"x": 1}})
