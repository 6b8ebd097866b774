"""The files of a delivery are recorded as staging lists them, and move with their folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from delivery.runs import Run, Shop


@pytest.fixture
def shop(shop: Shop) -> Shop:
    shop.deploy()
    return shop


def file(name: str = "customer.csv", **more: Any) -> dict[str, Any]:
    return {"uri": f"file:/drop/{name}", "bytes": 10, "modified": 1_577_836_800_123, **more}


def register(shop: Shop, run: Run, *files: dict[str, Any], entity: str = "customer") -> None:
    shop.call(
        "register_files",
        delivery_id=run.id,
        attempt=run.attempt,
        entity_code=entity,
        files=[*files],
    )


def rows(shop: Shop, query: str) -> list[tuple[Any, ...]]:
    return [tuple(r.values()) for r in shop.rows(query)]


def test_the_files_of_a_delivery_are_known_and_replaced_by_each_attempt(shop: Shop) -> None:
    run = shop.run(1, entities=["customer", "orders"])
    register(shop, run, file("1.csv"), file("2.csv"))
    register(shop, run, file("2.csv"), file("s/3.csv", root="file:/drop/s", modified=None))
    columns = "file_no, uri, bytes, modified_datetime::text"
    assert rows(shop, f"SELECT {columns}, root FROM omd_delivery.delivery_file ORDER BY 1") == [
        (1, "file:/drop/2.csv", 10, "2020-01-01 00:00:00.123+00", "file:/drop/2.csv"),
        (2, "file:/drop/s/3.csv", 10, None, "file:/drop/s"),
    ]
    other = {"delivery_id": run.id, "attempt": 1, "files": [file()]}
    shop.refused("OM036", "register_files", **other, entity_code="nothing")
    shop.refused("OM005", "register_files", **other, entity_code=None)
    shop.refused("OM132", "register_files", **{**other, "attempt": 2}, entity_code="customer")
    for wrong in (
        {"uri": "x"},
        {"uri": " ", "bytes": 1},
        {"uri": "x", "bytes": -1},
        {"uri": "x", "bytes": 1, "modified": "now"},
        {"uri": "x", "bytes": 1, "modified": "2020-13-01T00:00:00Z"},
        {"uri": "x", "bytes": 1, "modified": True},
        {"uri": "x", "bytes": 1, "root": 1},
        7,
    ):
        shop.refused(
            "OM036", "register_files", **{**other, "files": [wrong]}, entity_code="customer"
        )
    run.validate()
    run.apply()
    shop.refused("OM130", "register_files", **other, entity_code="customer")


@pytest.mark.parametrize(
    ("location", "uri", "moved"),
    [
        ("/drop", "file:/drop/2020-01-01/customer.csv", "file:/drop/done/2020-01-01/customer.csv"),
        ("file:///drop/", "file:/drop/2020-01-01/a/b", "file:/drop/done/2020-01-01/a/b"),
        (
            "s3a://b/in",
            "s3a://b/in/2020-01-01/customer.csv",
            "s3a://b/in/done/2020-01-01/customer.csv",
        ),
        ("/drop", "file:/drop/2020-01-011/customer.csv", "file:/drop/2020-01-011/customer.csv"),
        ("/drop", "file:/else/drop/2020-01-01/x", "file:/else/drop/2020-01-01/x"),
    ],
)
def test_files_move_in_the_commit_that_makes_the_arrival_done(
    shop: Shop, shops: Callable[..., Shop], location: str, uri: str, moved: str
) -> None:
    shop.agree(arrival={"location": location, "every": "0 s", "then": {"move": "done"}})
    seen = {"folder": "2020-01-01", "kind": "FOLDER"}
    files = [{"path": p, "bytes": 0, "modified": 1} for p in ("customer.csv", "_SUCCESS")]
    shop.call("report_arrivals", agreement_code="a", seen=[{**seen, "files": files}])
    taken = shop.call("take_arrival", agreement_code="a")["delivery_id"]
    shop.call("report_loaded", delivery_id=taken)
    run = shop.begin(taken)
    register(shop, run, file(uri=uri))
    run.validate()
    run.apply()
    other = shops()
    look = (
        "SELECT f.uri, f.root, r.arrival_status FROM omd_delivery.delivery_file AS f"
        " INNER JOIN omd_delivery.arrival AS r USING (delivery_id)"
    )
    with shop.conn.transaction():
        shop.call("finish_arrival", delivery_id=taken, moved_to="done/2020-01-01")
        assert tuple(other.rows(look)[0].values()) == (uri, uri, "TAKEN")
    assert tuple(other.rows(look)[0].values()) == (moved, moved, "DONE")


def test_a_delivery_that_comes_again_has_the_files_of_the_former_one(shop: Shop) -> None:
    run = shop.run(1, entities=["customer"])
    register(shop, run, file())
    run.validate()
    run.apply()
    shop.call("revert_delivery", delivery_id=run.id, reason="why")
    shop.owner(
        "INSERT INTO omd.module_return (recall_id, position, module_id, is_by_hand,"
        " former_delivery_id, snapshot_datetime) SELECT 7, 1, m.module_id, FALSE, delivery_id,"
        " snapshot_datetime FROM omd_delivery.delivery INNER JOIN omd.module AS m"
        " ON m.module_code = 'delivery.a'"
    )
    again = shop.call("take_arrival", agreement_code="a")["delivery_id"]
    shop.call("report_loaded", delivery_id=again)
    attempt = {"delivery_id": again, "attempt": shop.begin(again).attempt}
    changed = shop.refused(
        "OM139", "register_files", **attempt, entity_code="customer", files=[file(bytes=11)]
    )
    assert changed["problem"] == "file:/drop/customer.csv has 11 bytes, and had 10"
    shop.call("register_files", **attempt, entity_code="customer", files=[file()])
