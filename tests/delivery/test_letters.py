"""The letter of each outcome of a delivery: in SQL, in Python and as an exit code (rule J11)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

import omd
from delivery.runs import SHOP, Run, Shop
from omd.programs.terminal.commands import ExitCode
from omd.rooms.control.codes import exit_code

if TYPE_CHECKING:
    from collections.abc import Iterator

TWO = ((1, "a"), (2, "b"))
REJECTS = {"orders.positive": {"rows": 9}}


@pytest.fixture
def control(dsn: str) -> Iterator[omd.Control]:
    with omd.connect(dsn) as control:
        yield control


@pytest.fixture
def shop(shop: Shop) -> Shop:
    shop.deploy({**SHOP, "settings": {"orders.positive": {"threshold": 1}}})
    return shop


def letter(answer: dict[str, Any]) -> tuple[str, str]:
    return str(answer["outcome"]), str(answer["execution_status_code"])


def delivered(control: omd.Control, delivery_id: int) -> omd.Outcome[None]:
    """Deliver what the database does not let begin, or has decided: nothing runs on Spark."""
    return control.delivery.deliver(
        delivery_id=delivery_id, staging="postgres", wait=timedelta(0), lease=None
    )


def told(outcome: omd.Outcome[None]) -> tuple[str, str | None]:
    return str(outcome.status), outcome.reason


def test_a_delivery_that_goes_on_is_executing_until_it_is_accepted(
    shop: Shop, control: omd.Control
) -> None:
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
    outcome = delivered(control, delivery)
    assert (outcome.kind, outcome.code, outcome.instance_id) == ("DELIVERY", "a", run.batch)
    assert told(outcome) == ("S", None)
    assert outcome.facts["queue_id"] == applied["queue_id"]
    assert outcome.facts["document"]["status"] == outcome.facts["delivery_status"] == "ACCEPTED"
    assert outcome.result() is None


def test_a_rejection_is_a_failure_with_its_reason(shop: Shop, control: omd.Control) -> None:
    run = shop.run(1)
    run.measure(1, REJECTS)
    for _ in range(2):
        answer = run.verdict(1)
        assert (answer["delivery_status"], answer["execution_status_code"]) == ("REFUSED", "F")
    outcome = delivered(control, run.id)
    assert told(outcome) == ("F", "REJECTED")
    assert exit_code(outcome.status, outcome.reason) == ExitCode.REJECTED
    assert outcome.error is None
    with pytest.raises(omd.errors.StateError):
        outcome.result()
    by_a_person = shop.load(2)
    shop.call("reject_delivery", delivery_id=by_a_person, reason="it is old")
    assert told(delivered(control, by_a_person)) == ("F", "REJECTED")


def test_a_dry_run_has_the_letter_of_its_verdict(shop: Shop, control: omd.Control) -> None:
    good = shop.run(1, dry_run=True)
    answer = good.validate()
    assert (answer["delivery_status"], answer["execution_status_code"]) == ("CHECKED", "S")
    assert told(delivered(control, good.id)) == ("S", None)
    bad = shop.run(2, dry_run=True)
    bad.measure(1, REJECTS)
    answer = bad.verdict(1)
    assert (answer["delivery_status"], answer["execution_status_code"]) == ("CHECKED", "F")
    assert told(delivered(control, bad.id)) == ("F", "REJECTED")


def test_who_comes_too_late_is_rejected(shop: Shop, control: omd.Control) -> None:
    shop.agree("b")
    shop.agree("c")
    late, later = (shop.load(day, entities=["orders"], code=code) for day, code in TWO)
    shop.accept(5, {"orders": []}, code="c")
    assert letter(shop.ask(late)) == ("REFUSED", "F")
    assert told(delivered(control, late)) == ("F", "REJECTED")
    assert told(delivered(control, later)) == ("F", "REJECTED")  # who finds it by its begin


def test_who_waits_is_aborted(shop: Shop, control: omd.Control) -> None:
    shop.agree("b")
    run = shop.run(1)
    assert letter(shop.ask(run.id)) == ("RUNNING", "A")
    assert told(delivered(control, run.id)) == ("A", "RUNNING")
    other = shop.load(1, code="b")
    assert letter(shop.ask(other)) == ("WAIT", "A")
    outcome = delivered(control, other)
    assert told(outcome) == ("A", "WAIT")
    assert outcome.detail == f"delivery {run.id} of the interface runs"
    assert (outcome.instance_id, outcome.facts["attempt"]) == (None, 0)
    with pytest.raises(omd.errors.Aborted):
        outcome.result()
    shop.call("cancel_delivery", delivery_id=run.id, reason="it is in the way")
    shop.call("omd.begin_module", module_code="lvl.shop.orders")
    assert letter(shop.ask(other)) == ("ABORTED", "A")
    assert told(delivered(control, other)) == ("A", "ABORTED")


def test_what_is_not_wanted_is_skipped(shop: Shop, control: omd.Control) -> None:
    delivery = shop.load(1)
    shop.call("omd.register_module", module_code="lvl.shop.orders", inactive_indicator="Y")
    assert letter(shop.ask(delivery)) == ("SKIPPED", "C")
    outcome = delivered(control, delivery)
    assert told(outcome) == ("C", "SKIPPED")
    assert exit_code(outcome.status, outcome.reason) == ExitCode.SKIPPED
    shop.call("cancel_delivery", delivery_id=delivery, reason="not wanted")
    assert told(delivered(control, delivery)) == ("C", "CANCELLED")
    shop.call("omd.register_module", module_code="lvl.shop.orders", inactive_indicator="N")
    taken, _ = shop.accept(2, rows={"customer": [("N", 1, "a")]})
    shop.call("revert_delivery", delivery_id=taken.id, reason="wrong")
    assert told(delivered(control, taken.id)) == ("C", "REVERTED")


def test_what_refuses_the_call_before_it_begins_is_raised(control: omd.Control) -> None:
    with pytest.raises(omd.errors.lookup("OM034")):
        delivered(control, 4711)
    with pytest.raises(omd.errors.CallerError):
        control.delivery.deliver("no such agreement", staging="postgres")


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
