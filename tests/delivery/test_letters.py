"""The letter of each outcome of a delivery, as its routines say it (jobs.md, rule J11)."""

from __future__ import annotations

from typing import Any

import pytest

from delivery.runs import SHOP, Run, Shop

REJECTS = {"orders.positive": {"rows": 9}}


@pytest.fixture
def shop(shop: Shop) -> Shop:
    shop.deploy({**SHOP, "settings": {"orders.positive": {"threshold": 1}}})
    return shop


def letter(answer: dict[str, Any]) -> tuple[str, str]:
    return str(answer["outcome"]), str(answer["execution_status_code"])


def test_a_delivery_that_goes_on_is_executing_until_it_is_accepted(shop: Shop) -> None:
    delivery = shop.load(1)
    begun = shop.ask(delivery)
    assert letter(begun) == ("RUN", "E")
    run = Run(shop, delivery, begun)
    run.measure(1)
    for _ in range(2):  # a second call answers the same
        assert run.verdict(1)["execution_status_code"] == "E"
    run.measure(2)
    for _ in range(2):
        assert run.verdict(2)["execution_status_code"] == "E"
    for _ in range(2):
        applied = run.apply()
        assert (applied["delivery_status"], applied["execution_status_code"]) == ("ACCEPTED", "S")


def test_a_rejection_is_a_failure(shop: Shop) -> None:
    run = shop.run(1)
    run.measure(1, REJECTS)
    for _ in range(2):
        answer = run.verdict(1)
        assert (answer["delivery_status"], answer["execution_status_code"]) == ("REFUSED", "F")


def test_a_dry_run_has_the_letter_of_its_verdict(shop: Shop) -> None:
    answer = shop.run(1, dry_run=True).validate()
    assert (answer["delivery_status"], answer["execution_status_code"]) == ("CHECKED", "S")
    bad = shop.run(2, dry_run=True)
    bad.measure(1, REJECTS)
    answer = bad.verdict(1)
    assert (answer["delivery_status"], answer["execution_status_code"]) == ("CHECKED", "F")


def test_who_comes_too_late_is_rejected(shop: Shop) -> None:
    late = shop.load(1, entities=["orders"])
    shop.agree("b")
    shop.accept(2, {"orders": []}, code="b")
    assert letter(shop.ask(late)) == ("REFUSED", "F")


def test_who_waits_is_aborted(shop: Shop) -> None:
    shop.agree("b")
    run = shop.run(1)
    assert letter(shop.ask(run.id)) == ("RUNNING", "A")
    other = shop.load(1, code="b")
    assert letter(shop.ask(other)) == ("WAIT", "A")
    shop.call("cancel_delivery", delivery_id=run.id, reason="it is in the way")
    shop.call("omd.begin_module", module_code="lvl.shop.orders")
    assert letter(shop.ask(other)) == ("ABORTED", "A")


def test_what_is_not_wanted_is_skipped(shop: Shop) -> None:
    delivery = shop.load(1)
    shop.call("omd.register_module", module_code="lvl.shop.orders", inactive_indicator="Y")
    assert letter(shop.ask(delivery)) == ("SKIPPED", "C")


def test_the_log_has_the_letter_of_each_status(shop: Shop) -> None:
    taken, _ = shop.accept(1, rows={"customer": [("N", 1, "a")]})
    shop.call("revert_delivery", delivery_id=taken.id, reason="wrong")
    letters = [("REVERTED", "C")]
    shop.call("reject_delivery", delivery_id=shop.load(2), reason="it is old")
    letters.append(("REJECTED", "F"))
    shop.call("cancel_delivery", delivery_id=shop.load(3), reason="not wanted")
    letters.append(("CANCELLED", "C"))
    shop.create(4)
    letters.append(("RECEIVED", "E"))
    found = shop.rows(
        "SELECT delivery_status AS status, execution_status_code AS letter"
        " FROM omd_report.delivery_log ORDER BY delivery_id"
    )
    assert [(row["status"], row["letter"]) for row in found] == letters
