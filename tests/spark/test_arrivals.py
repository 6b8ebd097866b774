"""What arrives in folders is delivered by Spark, each content once."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from delivery.runs import SHOP
from delivery.test_arrivals import Drop
from delivery.test_folders import write
from omd.doors import arrivals
from omd.errors import lookup
from omd.rooms.delivery.folders import LocalFolders
from omd.spark.delivery.arrivals import RemoteFolders
from support.flow import PASSED

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from pathlib import Path

    from pyspark.sql import SparkSession

    from omd.rooms.control.outcome import Outcome
    from spark.desk import Desk

pytestmark = pytest.mark.spark

ONE = "nbr,email\n1,a\n"
TWO = "nbr,email\n1,b\n"


class Night(Drop):
    """The agreement a of a desk has a location on the disk."""

    def __init__(self, desk: Desk, location: Path, **arrival: Any) -> None:
        super().__init__(desk)
        self.desk = desk
        self.location = location
        location.mkdir()
        desk.deploy(SHOP)
        self.agree(location=str(location), **arrival)

    def turn(self) -> Outcome[None] | None:
        return arrivals.perform(self.desk.control, self.desk.spark, "a")

    def accept_turn(self) -> int:
        receipt = self.turn()
        assert receipt is not None
        assert receipt.facts["delivery_status"] == "ACCEPTED"
        return receipt.facts["delivery_id"]


@pytest.fixture
def night(desk: Desk, tmp_path: Path) -> Night:
    return Night(desk, tmp_path / "drop")


def test_folders_are_delivered_in_order_when_they_are_complete(night: Night) -> None:
    write(night.location, "2020-01-02", "customer.csv", content=TWO)
    write(night.location, "2020-01-01", "customer.csv", content=ONE)
    half = write(night.location, "2020-01-03", "customer.csv", content=ONE)
    (half / "_SUCCESS").unlink()
    write(night.location, "2020-01-04", "customer.csv", content="nbr,email\nx,c\n")
    night.accept_turn()
    assert night.desk.current("customer") == [(1, "a")]
    night.accept_turn()
    assert night.desk.current("customer") == [(1, "b")]
    receipt = night.turn()
    assert receipt is not None
    assert night.turn() is None
    assert night.states() == {
        "2020-01-01": "DONE",
        "2020-01-02": "DONE",
        "2020-01-03": "INCOMPLETE",
        "2020-01-04": "DONE" if receipt.facts["delivery_status"] == "ACCEPTED" else "REFUSED",
    }


def test_a_folder_that_changes_while_it_is_read_is_not_accepted(
    night: Night,
    another: Callable[..., Any],
    background: Callable[..., Future[Any]],
) -> None:
    folder = write(night.location, "2020-01-01", "customer.csv", content=ONE)
    holder = another()
    with holder.conn.transaction():
        holder.conn.execute("LOCK TABLE omd_delivery.entity_result IN EXCLUSIVE MODE")
        call = background(night.turn)
        waits = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        while not call.done() and not night.shop.one(waits):
            pass
        assert not call.done()
        (folder / "orders.csv").write_text("nbr,customer,amount\n1,1,5\n")
    outcome = call.result()
    assert outcome is not None
    assert (outcome.status, type(outcome.error)) == ("F", lookup("OM147"))
    row = night.row("2020-01-01")
    assert row["arrival_status"] == "CHANGED"
    assert night.shop.status(row["delivery_id"]) == "LOADED"
    assert night.shop.delivery(row["delivery_id"])["is_running"] is False
    assert (night.turn(), night.desk.current("customer")) == (None, [])
    night.shop.call("cancel_delivery", delivery_id=row["delivery_id"], reason="changed")
    night.accept_turn()
    assert night.desk.current("orders") != []


def test_what_a_dead_worker_left_goes_on(night: Night) -> None:
    write(night.location, "2020-01-01", "customer.csv", content=ONE)
    night.see(*LocalFolders(str(night.location), {"ready": {}}).seen())
    taken, _ = night.take()
    assert taken is not None
    assert night.accept_turn() == taken
    write(night.location, "2020-01-02", "customer.csv", content=TWO)
    night.see(*LocalFolders(str(night.location), {"ready": {}}).seen())
    second, _ = night.take()
    assert second is not None
    night.shop.call("report_loaded", delivery_id=second)
    night.shop.begin(second, lease=PASSED)
    assert night.accept_turn() == second
    assert night.shop.delivery(second)["attempt"] == 2
    assert night.desk.current("customer") == [(1, "b")]


def test_a_corrected_folder_replaces_what_was_reverted_and_is_moved(
    desk: Desk, tmp_path: Path
) -> None:
    night = Night(desk, tmp_path / "drop", then={"move": "old/done"})
    write(night.location, "2020-01-01", "customer.csv", content=ONE)
    first = night.accept_turn()
    done = night.location / "old" / "done"
    assert [p.name for p in done.iterdir()] == ["2020-01-01"]
    assert night.row("2020-01-01")["moved_to"] == "old/done/2020-01-01"
    desk.call("revert_delivery", delivery_id=first, reason="wrong")
    assert night.turn() is None
    write(night.location, "2020-01-01", "customer.csv", content=TWO)
    second = night.accept_turn()
    assert desk.current("customer") == [(1, "b")]
    assert night.row("2020-01-01")["moved_to"] == f"old/done/2020-01-01.{second}"
    assert os.listdir(night.location) == ["old"]  # noqa: PTH208 - names alone
    # A worker dies between its move and the commit.
    write(night.location, "2020-01-02", "customer.csv", content=ONE)
    arrivals.look(desk.control, "a")
    third, _ = night.take()
    assert third is not None
    night.accept(third)
    (night.location / "2020-01-02").rename(done / "2020-01-02")
    assert night.states()["2020-01-02"] == "TAKEN"
    assert night.turn() is not None
    assert night.row("2020-01-02")["moved_to"] == "old/done/2020-01-02"
    # One that can't be moved keeps nobody away.
    write(night.location, "2020-01-03", "customer.csv", content=ONE)
    write(night.location, "2020-01-04", "customer.csv", content=TWO)
    done.rename(night.location / "elsewhere")
    done.write_text("a file")
    night.accept_turn()
    assert "was not moved" in night.row("2020-01-03")["problem"]
    night.accept_turn()


def test_the_commands_look_and_deliver(
    night: Night, omd_here: Callable[..., Any], dsn: str
) -> None:
    def run(*arguments: str) -> Any:
        return omd_here(*arguments, dsn=dsn)

    def arrivals() -> Any:
        return json.loads(run("report", "arrivals", "--output", "json").stdout)

    write(night.location, "2020-01-01", "customer.csv", content=ONE)
    assert arrivals() == []
    assert run("deliver", "a", "--arrived", "--dry-run").returncode == 0
    (arrival,) = arrivals()
    assert arrival["arrival_status"] == "FOUND"
    delivered = run("deliver", "a", "--arrived")
    (arrival,) = arrivals()
    assert (delivered.returncode, arrival["arrival_status"]) == (0, "DONE"), delivered.stderr
    night.shop.call("revert_delivery", delivery_id=arrival["delivery_id"], reason="x")
    forget = ("--arrival-id", str(arrival["arrival_id"]), "--reason", "x")
    assert run("call", "omd_delivery.forget_arrival", *forget).returncode == 0
    assert night.states() == {"2020-01-01": "INCOMPLETE"}
    night.location.rename(night.location.with_name("gone"))
    gone = run("deliver", "--arrived", "--dry-run")
    assert gone.returncode == 1
    assert "No such file" in gone.stderr


def test_other_file_systems_are_listed_alike(spark: SparkSession, tmp_path: Path) -> None:
    location = tmp_path / "drop"
    write(location, "2020-01-01", "customer.csv", "orders.parquet/part-0", ".hidden")
    (location / "file").touch()
    terms = {"ready": {"manifest": "m.json"}}
    manifest = {"files": [{"path": "customer.csv", "bytes": 6, "sha256": "x"}]}
    folder = write(location, "2020-01-02", "customer.csv")
    (folder / "_SUCCESS").unlink()
    (folder / "m.json").write_text(json.dumps(manifest))

    def plain(folders: list[dict[str, Any]]) -> dict[str, Any]:
        for folder in folders:
            for file in folder.get("files", ()):
                file.pop("modified")
            folder.get("files", []).sort(key=lambda f: f["path"])
        return {folder["folder"]: folder for folder in folders}

    local = LocalFolders(str(location), terms)
    remote = RemoteFolders(spark, location.as_uri(), terms)
    assert plain(remote.seen()) == plain(local.seen())
    assert plain(remote.one("2020-01-02")) == plain(local.one("2020-01-02"))
    assert remote.one("none") == local.one("none") == []
    assert remote.exists("file")
    assert not remote.move("2020-01-01", "file")
    assert remote.move("2020-01-01", "done/2020-01-01")
    assert (location / "done" / "2020-01-01" / "customer.csv").is_file()
    with pytest.raises(OSError, match="gone"):
        RemoteFolders(spark, f"{location.as_uri()}/gone", terms).seen()
    with pytest.raises(OSError, match="nothing"):
        RemoteFolders(spark, "nothing://a/b", terms).seen()
