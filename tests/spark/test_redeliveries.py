"""What a recall took back is delivered again from its recorded files, unless these have changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from delivery.test_folders import write
from omd.rooms.control.codes import Status
from spark.test_arrivals import ONE, TWO, Night

if TYPE_CHECKING:
    from pathlib import Path

    from spark.desk import Desk

pytestmark = pytest.mark.spark

THREE = "nbr,email\n1,c\n2,c\n"


@pytest.fixture
def night(desk: Desk, tmp_path: Path) -> Night:
    """Three folders are delivered and moved; the delivery of the second is bad."""
    night = Night(desk, tmp_path / "drop", then={"move": "done"})
    for day, content in enumerate((ONE, TWO, THREE), 1):
        write(night.location, f"2020-01-0{day}", "customer.csv", content=content)
    return night


def recalled(night: Night) -> tuple[int, int, int]:
    """Deliver all, and take the second back with the third, which is to come again."""
    first, bad, last = (night.accept_turn() for _ in range(3))
    runs = [
        run
        for delivery in (bad, last)
        for run in night.shop.one("SELECT omd_delivery.runs_of_delivery(%s)", delivery)
    ]
    assert {
        r["module_instance_id"]
        for r in night.shop.rows("SELECT * FROM omd_delivery.recall_follows(%s, '{}')", runs[:1])
    } == {*runs[1:]}
    effects = night.shop.rows("SELECT * FROM omd_delivery.recall_effects(%s)", runs)
    assert {r["action"] for r in effects} == {"REDELIVER"}
    night.shop.rows("SELECT * FROM omd_delivery.take_back(%s, 0, 7, 'wrong')", runs)
    assert night.desk.current("customer") == [(1, "a")]
    night.shop.owner(
        "INSERT INTO omd.module_return (recall_id, position, module_id, is_by_hand,"
        " former_delivery_id, snapshot_datetime) SELECT 7, 1, m.module_id, FALSE, delivery_id,"
        " snapshot_datetime FROM omd_delivery.delivery INNER JOIN omd.module AS m"
        " ON m.module_code = 'delivery.a' WHERE delivery_id = %s",
        last,
    )
    return first, bad, last


def entry(night: Night) -> dict[str, Any]:
    (row,) = night.shop.rows("SELECT * FROM omd_report.recall_returns")
    return row


def test_a_worker_delivers_it_again_from_where_its_files_were_moved(night: Night) -> None:
    _, _, last = recalled(night)
    files = "SELECT uri FROM omd_delivery.delivery_file WHERE delivery_id = %s"
    uri = night.shop.one(files, last)
    assert uri == f"file:{night.location}/done/2020-01-03/customer.csv"
    assert entry(night)["return_status"] == "DUE"
    done = night.desk.control.run("delivery.a", spark=night.desk.spark)
    assert done.status is Status.SUCCEEDED, done
    row = entry(night)
    assert row["return_status"] == "DONE"
    assert night.shop.status(row["delivery_id"]) == "ACCEPTED"
    assert night.shop.one(files, row["delivery_id"]) == uri
    assert night.desk.current("customer") == [(1, "c"), (2, "c")]
    assert night.desk.control.run("delivery.a", spark=night.desk.spark).status is (Status.SKIPPED)


@pytest.mark.parametrize("what", ["changed", "gone", "more"])
def test_files_that_are_others_now_are_left_to_the_tenant(night: Night, what: str) -> None:
    recalled(night)
    folder = night.location / "done" / "2020-01-03"
    if what == "changed":
        (folder / "customer.csv").write_text(THREE + "3,c\n")
    elif what == "gone":
        (folder / "customer.csv").unlink()
    else:
        (folder / "customer.csv").unlink()
        (folder / "customer.csv").mkdir()
        (folder / "customer.csv" / "1.csv").write_text(THREE)
    done = night.desk.control.run("delivery.a", spark=night.desk.spark)
    assert done.status is Status.SKIPPED
    row = entry(night)
    assert row["return_status"] == "BY_HAND"
    assert "customer.csv" in row["problem"]
    assert night.desk.current("customer") == [(1, "a")]


def test_files_that_change_between_look_and_staging_fail_the_attempt(night: Night) -> None:
    """The worker has looked; then the file changes, and staging reads another one."""
    recalled(night)
    provenance = night.desk.control.provenance
    answer = provenance._calls.redeliver(7)
    path = night.location / "done" / "2020-01-03" / "customer.csv"
    path.write_text(THREE + "3,c\n")
    outcome = night.desk.control.delivery.deliver(
        delivery_id=answer.delivery_id,
        entities={"customer": path},
        spark=night.desk.spark,
    )
    with pytest.raises(Exception, match=r"customer\.csv has .* bytes, and had") as refused:
        outcome.result()
    assert getattr(refused.value, "sqlstate", None) == "OM139"
    assert entry(night)["return_status"] == "RUNNING"
    assert night.desk.control.run("delivery.a", spark=night.desk.spark).status is (Status.SKIPPED)
    assert entry(night)["return_status"] == "BY_HAND"
