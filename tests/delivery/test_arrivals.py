"""What arrives in folders: the database decides what each folder is, and takes the oldest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from delivery.runs import SHOP
from omd.programs.cli.documents.delivery import whole_document
from omd.rooms.delivery.rows import DeliveryAgreementsRow

if TYPE_CHECKING:
    from collections.abc import Callable

    from delivery.runs import Shop

MARKED = {"path": "_SUCCESS", "bytes": 0, "modified": "2020-01-01T00:00:00Z"}
HOSTILE = ["'; DROP TABLE x; --", "{yyyy}", "%s", "2020-01-01\n", "-rf ", "é\u202e", '"']


def file(path: str = "customer.csv", bytes: int = 10, modified: Any = 1) -> dict[str, Any]:
    return {"path": path, "bytes": bytes, "modified": modified}


def folder(name: str, *files: dict[str, Any], kind: str = "FOLDER", **more: Any) -> dict[str, Any]:
    """Return a folder with its marker, as a look reports it."""
    return {"folder": name, "kind": kind, "files": [*files, MARKED], **more}


class Drop:
    """Calls about the arrivals of the agreement a."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop

    def agree(self, **arrival: Any) -> None:
        self.shop.agree("a", arrival={"location": "/drop", "every": "0 seconds", **arrival})

    def see(self, *folders: dict[str, Any], **more: Any) -> int:
        answer = self.shop.call("report_arrivals", agreement_code="a", seen=[*folders], **more)
        return int(answer["found"])

    def take(self) -> tuple[int | None, str | None]:
        answer = self.shop.call("take_arrival", agreement_code="a")
        return answer["delivery_id"], answer["folder"]

    def rows(self) -> list[dict[str, Any]]:
        return self.shop.rows("SELECT * FROM omd_report.arrivals ORDER BY folder")

    def states(self) -> dict[str, str]:
        return {r["folder"]: r["arrival_status"] for r in self.rows()}

    def row(self, name: str) -> dict[str, Any]:
        return next(r for r in self.rows() if r["folder"] == name)

    def accept(self, delivery_id: int) -> None:
        """Take the delivery to ACCEPTED, with empty deltas."""
        self.shop.call("report_loaded", delivery_id=delivery_id)
        run = self.shop.begin(delivery_id)
        run.validate()
        run.apply()

    def work(self) -> tuple[str, str | None]:
        (row,) = self.shop.rows("SELECT * FROM omd_delivery.delivery_work")
        return row["state"], row["reason"]


@pytest.fixture
def drop(shop: Shop) -> Drop:
    """The agreement a has a location."""
    shop.deploy()
    drop = Drop(shop)
    drop.agree()
    return drop


# The agreement ----------------------------------------------------------------------------------


def test_an_arrival_is_kept_replaced_removed_and_shown(drop: Drop) -> None:
    def agreed() -> Any:
        return drop.shop.one("SELECT arrival FROM omd_report.delivery_agreements")

    assert agreed() == {"location": "/drop", "every": "0 seconds"}
    drop.shop.agree("a", completeness="COMPLETE")
    assert agreed() == {"location": "/drop", "every": "0 seconds"}
    drop.shop.agree("a", arrival={"location": "s3a://bucket/in"})
    assert agreed() == {"location": "s3a://bucket/in"}
    assert drop.shop.call("claim_look", agreement_code="a")["arrival"] == {
        "location": "s3a://bucket/in",
        "folder": "{yyyy}-{MM}-{dd}",
        "zone": "UTC",
        "ready": {"marker": "_SUCCESS"},
        "then": "KEEP",
        "loads": {},
        "every": "1 minute",
    }
    drop.see(folder("2020-01-01", file()))
    drop.shop.agree("a", arrival={})
    assert agreed() is None
    assert drop.take() == (None, None)
    assert drop.work() == ("IDLE", None)
    assert drop.shop.call("claim_look", agreement_code="a")["arrival"] is None
    drop.shop.refused("OM036", "report_arrivals", agreement_code="a", seen=[])


def test_all_that_is_wrong_with_an_arrival_is_listed(drop: Drop) -> None:
    def wrong(arrival: Any, **more: Any) -> dict[str, str]:
        detail = drop.shop.refused(
            "OM043", "register_agreement", agreement_code="a", arrival=Jsonb(arrival), **more
        )
        assert detail["problem_count"] == len(detail["problems"])
        return {p["path"]: p["problem"] for p in detail["problems"]}

    many = {
        "folder": "{MM}",
        "zone": "Mars",
        "ready": {"marker": "a", "quiet": "1 second"},
        "then": {"move": "../x"},
        "loads": {"nothing": "FULL"},
        "every": "soon",
        "colour": "red",
    }
    assert set(wrong(many)) == {f"arrival.{key}" for key in (*many, "location")}
    assert set(wrong([])) == {"arrival"}
    good: dict[str, Any] = {"location": "/drop"}
    for key, values in {
        "location": ["", " ", 1, "drop", "/a\nb"],
        "folder": [
            "",
            "x",
            "{yyyy}{yyyy}",
            "{yyyy}{dd}",
            "{yyyy}/{MM}",
            "{yyyy}{x}",
            "{yyyy}{}",
            1,
        ],
        "ready": [{}, "quiet", {"marker": "a/b"}, {"marker": ".."}, {"manifest": ""}, {"x": 1}, 5],
        "then": ["MOVE", {"move": "/x"}, {"move": ""}, {"move": "a/../b"}, {"move": 1}, {}],
        "every": ["-1 second", 10, "infinity", "1000 years", None],
        "loads": [[], {"customer": "HALF"}, {"customer": {"context": "SOME"}}],
        "zone": ["", 1, "utc; SELECT"],
    }.items():
        for value in values:
            (path,) = wrong({**good, key: value})
            assert path.startswith(f"arrival.{key}"), (key, value)
    assert set(wrong(good, layer_code="EXPORT")) == {"arrival"}
    for ready in ({"quiet": "0 seconds"}, {"marker": "done.txt"}, {"manifest": "m.json"}):
        drop.agree(
            ready=ready, then={"move": "old/done"}, folder="x-{yyyy}{MM}{dd}T{HH}{mm}{ss}{*}"
        )


@pytest.mark.parametrize(
    ("pattern", "zone", "name", "time"),
    [
        ("{yyyy}-{MM}-{dd}", "UTC", "2020-02-29", "2020-02-29 00:00:00+00"),
        ("{yyyy}-{MM}-{dd}", "UTC", "2021-02-29", None),
        ("{yyyy}-{MM}-{dd}", "UTC", "2020-13-01", None),
        ("{yyyy}-{MM}-{dd}", "UTC", "0000-01-01", None),
        ("{yyyy}-{MM}-{dd}", "UTC", "2020-02-01.tmp", None),
        ("{yyyy}-{MM}-{dd}", "UTC", "2020-02-01\n", None),
        ("{yyyy}", "UTC", "2020", "2020-01-01 00:00:00+00"),
        ("{*}.{yyyy}{MM}{dd}T{HH}{mm}{ss}", "UTC", "a.b.20200102T030405", "2020-01-02 03:04:05+00"),
        ("{*}.{yyyy}{MM}{dd}T{HH}{mm}{ss}", "UTC", "20200102T240000", None),
        ("[a].+({yyyy})*$", "UTC", "[a].+(2020)*$", "2020-01-01 00:00:00+00"),
        ("[a].+({yyyy})*$", "UTC", "a+2020", None),
        ("{yyyy}-{MM}-{dd}", "Europe/Amsterdam", "2020-07-01", "2020-06-30 22:00:00+00"),
    ],
)
def test_the_name_gives_the_time(
    drop: Drop, pattern: str, zone: str, name: str, time: str | None
) -> None:
    drop.agree(folder=pattern, zone=zone)
    drop.see(folder(name, file()))
    (row,) = drop.rows()
    assert drop.shop.one(
        "SELECT %s::timestamptz IS NOT DISTINCT FROM %s::timestamptz",
        row["snapshot_datetime"],
        time,
    )
    assert row["arrival_status"] == ("FOUND" if time else "UNFIT")


# Looks ------------------------------------------------------------------------------------------


def test_a_folder_is_found_once_when_it_is_ready(drop: Drop) -> None:
    half = {"folder": "2020-01-01", "kind": "FOLDER", "files": [file()]}
    assert drop.see(half) == 0
    assert drop.states() == {"2020-01-01": "INCOMPLETE"}
    assert drop.row("2020-01-01")["problem"] == "_SUCCESS is not there"
    assert drop.work() == ("WAITING", "INCOMPLETE")
    whole = folder("2020-01-01", file(), file("orders.csv"))
    assert drop.see(whole) == 1
    found = drop.row("2020-01-01")
    assert (found["files"], found["bytes"], found["entities"]) == (2, 20, ["customer", "orders"])
    assert len(found["fingerprint"]) == 64
    assert drop.work() == ("READY", "ARRIVED")
    xmin = "SELECT xmin::text FROM omd_delivery.arrival"
    before = drop.shop.one(xmin)
    reordered = {**whole, "files": whole["files"][::-1]}
    assert drop.see(reordered) == drop.see(whole, whole) == 0
    assert drop.shop.one(xmin) == before, "a look at which nothing has changed writes nothing"
    assert drop.row("2020-01-01")["fingerprint"] == found["fingerprint"]


def test_what_can_be_no_delivery_is_unfit_and_goes_with_its_folder(drop: Drop) -> None:
    link = folder("2020-01-02", file(), kind="LINK")
    drop.see(
        folder("nothing", file()),
        link,
        {"folder": "2020-01-03", "kind": "FILE"},
        folder("2020-01-04"),
        folder("2020-01-05", file(), problem="it can't be read"),
        folder("2020-01-06", file()),
    )
    assert drop.states() == {
        "nothing": "UNFIT",
        "2020-01-02": "UNFIT",
        "2020-01-03": "UNFIT",
        "2020-01-04": "UNFIT",
        "2020-01-05": "UNFIT",
        "2020-01-06": "FOUND",
    }
    assert all(r["problem"] for r in drop.rows() if r["arrival_status"] == "UNFIT")
    drop.see(folder("2020-01-04", file()))
    assert drop.states() == {"2020-01-04": "FOUND"}
    drop.see(folder("2020-01-04", file(), kind="LINK"))
    assert drop.states() == {"2020-01-04": "UNFIT"}
    assert drop.take() == (None, None)


def test_a_location_that_is_gone_is_seen_and_loses_nothing(drop: Drop) -> None:
    drop.see(folder("2020-01-01", file()))
    told = "SELECT problem, problem_datetime FROM omd_report.arrival_locations"
    drop.shop.call("report_arrivals", agreement_code="a", seen=None, problem="gone\nfor ever")
    (first,) = drop.shop.rows(told)
    assert first["problem"] == "gone"
    drop.shop.call("report_arrivals", agreement_code="a", seen=None, problem="still gone")
    (second,) = drop.shop.rows(told)
    assert second["problem_datetime"] == first["problem_datetime"]
    assert drop.states() == {"2020-01-01": "FOUND"}
    drop.see()
    assert drop.states() == {}
    assert drop.shop.rows(told) == [{"problem": None, "problem_datetime": None}]


def test_quiet_is_what_has_not_changed_between_two_looks(drop: Drop) -> None:
    drop.agree(ready={"quiet": "1 hour"})
    drop.see(folder("2020-01-01", file()))
    assert drop.states() == {"2020-01-01": "INCOMPLETE"}

    def pass_an_hour() -> None:
        drop.shop.owner(
            "UPDATE omd_delivery.arrival SET changed_datetime = changed_datetime - interval '1h'"
        )

    pass_an_hour()
    drop.see(folder("2020-01-01", file(bytes=11)))
    assert drop.states() == {"2020-01-01": "INCOMPLETE"}
    pass_an_hour()
    assert drop.see(folder("2020-01-01", file(bytes=11))) == 1


def test_a_manifest_lists_all_files_and_no_other(drop: Drop) -> None:
    drop.agree(ready={"manifest": "m.json"})

    def seen(manifest: Any, *files: dict[str, Any]) -> str | None:
        drop.see(
            {
                "folder": "2020-01-01",
                "kind": "FOLDER",
                "files": [*files, file("m.json")],
                "manifest": manifest,
            }
        )
        row = drop.row("2020-01-01")
        assert (row["arrival_status"] == "FOUND") == (row["problem"] is None)
        return row["problem"]

    listed = {"files": [{"path": "customer.csv", "bytes": 10, "sha256": "AB"}]}
    assert seen(None, file()) == "the manifest m.json is not there"
    for shape in ({}, [], "x", {"files": [1]}, {"files": [{"path": "x"}]}):
        assert "is not {" in str(seen(shape, file()))
    assert seen(listed) == "it has no file"
    assert seen(listed, file("orders.csv")) == "customer.csv of the manifest is not there"
    assert seen(listed, file(), file("orders.csv")) == "orders.csv is not in the manifest"
    assert seen(listed, file(bytes=9)) == "customer.csv has 9 bytes, and 10 in the manifest"
    other = {**file(), "sha256": "cd"}
    assert seen(listed, other) == "the SHA-256 of customer.csv is not that of the manifest"
    assert seen(listed, {**file(), "sha256": "ab"}) is None
    assert drop.shop.call("claim_look", agreement_code="a")["arrival"]["known"] == ["2020-01-01"]


def test_names_of_strangers_are_only_names(drop: Drop) -> None:
    drop.agree(folder="{*}{yyyy}")
    names = [f"{name}2020" for name in HOSTILE]
    drop.see(*(folder(name, *(file(path) for path in HOSTILE)) for name in names))
    assert drop.states() == dict.fromkeys(names, "FOUND")
    drop.see(folder("../2020", file()), folder("x/../../2020", file()), folder(".x2020", file()))
    assert drop.states() == {"x/../../2020": "UNFIT"}, "hidden names are passed over"
    same = [folder("a2020", file('a",1,2]\n["b')), folder("b2020", file("a"), file("b"))]
    drop.see(*same)
    one, two = (r["fingerprint"] for r in drop.rows())
    assert one != two
    assert drop.take() == (None, None)
    assert set(drop.states().values()) == {"REFUSED"}


@pytest.mark.parametrize(
    "seen",
    [
        {},
        [1],
        [{}],
        [{"folder": "", "kind": "FOLDER"}],
        [{"folder": 1, "kind": "FOLDER"}],
        [{"folder": "x", "kind": "DOOR"}],
        [{"folder": "x"}],
        [{"folder": "x", "kind": "FOLDER", "files": 1}],
        [{"folder": "x", "kind": "FOLDER", "files": [1]}],
        [{"folder": "x", "kind": "FOLDER", "files": [{"path": "x"}]}],
        [{"folder": "x", "kind": "FOLDER", "files": [{"path": "x", "bytes": -1, "modified": 1}]}],
        [{"folder": "x", "kind": "FOLDER", "files": [{"path": "x", "bytes": 1, "modified": {}}]}],
    ],
)
def test_what_is_no_look_is_refused(drop: Drop, seen: Any) -> None:
    detail = drop.shop.refused("OM036", "report_arrivals", agreement_code="a", seen=Jsonb(seen))
    assert detail["argument"] == "p_seen"


def test_one_of_many_workers_looks(
    drop: Drop, shops: Callable[..., Shop], background: Callable[..., Any]
) -> None:
    drop.agree(every="1 hour")
    workers = [shops() for _ in range(4)]
    looks = [background(w.call, "claim_look", agreement_code="a") for w in workers]
    assert len([look for look in looks if look.result()["arrival"] is not None]) == 1
    assert drop.shop.call("claim_look", agreement_code="a")["arrival"] is None
    drop.shop.owner(
        "UPDATE omd_delivery.arrival_location SET looked_datetime = now() - interval '61 minutes'"
    )
    assert drop.shop.call("claim_look", agreement_code="a")["arrival"]["location"] == "/drop"
    drop.shop.agree("a", arrival={"location": "/other", "every": "1 hour"})
    assert drop.shop.call("claim_look", agreement_code="a")["arrival"]["location"] == "/other"
    drop.shop.agree("a", inactive_indicator="Y")
    assert drop.work() == ("PAUSED", "INACTIVE")
    drop.agree()
    assert drop.shop.call("claim_look", agreement_code="a")["arrival"] is None


def test_two_workers_report_at_once(
    drop: Drop,
    shops: Callable[..., Shop],
    background: Callable[..., Any],
    until_settled: Callable[..., None],
) -> None:
    first, second = shops(), shops()
    seen = [folder(f"2020-01-{day:02}", file()) for day in range(1, 10)]
    with first.conn.transaction():
        assert first.call("report_arrivals", agreement_code="a", seen=seen)["found"] == 9
        late = background(second.call, "report_arrivals", agreement_code="a", seen=seen[::-1])
        until_settled(second, late)
        assert not late.done()
    assert late.result()["found"] == 0
    assert len(drop.rows()) == 9


def test_a_look_and_a_delivery_wait_for_each_other_and_never_both(
    drop: Drop,
    shops: Callable[..., Shop],
    background: Callable[..., Any],
    until_settled: Callable[..., None],
) -> None:
    """A look holds the location alone; who holds an interface may wait for it, not the reverse."""
    drop.see(folder("2020-01-01", file()))
    taken, _ = drop.take()
    assert taken is not None
    drop.shop.call("report_loaded", delivery_id=taken)
    run = drop.shop.begin(taken)
    run.validate()
    looking, taking = shops(), shops()
    with looking.conn.transaction():
        Drop(looking).see(folder("2020-01-01", file()), folder("2020-01-02", file()))
        accepted = background(run.apply)
        until_settled(drop.shop, accepted)
        took = background(taking.call, "take_arrival", agreement_code="a")
        until_settled(taking, took)
        assert not accepted.done()
        assert not took.done()
        Drop(looking).see(folder("2020-01-01", file()), folder("2020-01-03", file()))
    assert accepted.result()["delivery_status"] == "ACCEPTED"
    assert took.result()["folder"] == "2020-01-03"
    assert drop.states() == {"2020-01-01": "DONE", "2020-01-03": "TAKEN"}


def test_a_model_keeps_what_was_agreed_about_arrivals(drop: Drop) -> None:
    (row,) = drop.shop.rows("SELECT * FROM omd_report.delivery_agreements")
    document = whole_document({"interface": "shop"}, [DeliveryAgreementsRow(**row)])
    assert document["agreements"][0]["arrival"] == {"location": "/drop", "every": "0 seconds"}


# Takes ------------------------------------------------------------------------------------------


def test_the_oldest_is_taken_with_the_entities_that_are_there(drop: Drop) -> None:
    drop.agree(loads={"orders": "DELTA"})
    drop.see(
        folder("2020-01-02", file("orders.csv.gz"), file("customer.parquet/part-0")),
        folder("2020-01-01", file("customer.json"), file("_log.csv"), file("read.me")),
    )
    first, name = drop.take()
    assert name == "2020-01-01"
    assert drop.states() == {"2020-01-01": "TAKEN", "2020-01-02": "FOUND"}
    assert drop.take() == (first, name), "an unfinished delivery is taken again"
    assert drop.work() == ("READY", "RESUME")
    assert first is not None
    drop.accept(first)
    assert drop.states()["2020-01-01"] == "DONE"
    assert drop.work() == ("READY", "ARRIVED")


def test_entities_are_named_by_their_files(drop: Drop) -> None:
    drop.agree(loads={"orders": "DELTA"})
    drop.see(folder("2020-01-02", file("orders.csv.gz"), file("customer.parquet/part-0")))
    delivery_id, _ = drop.take()
    assert drop.shop.rows(
        "SELECT entity_code, load_type FROM omd_delivery.delivery_entity"
        " JOIN omd_delivery.entity USING (entity_id) WHERE delivery_id = %s ORDER BY 1",
        delivery_id,
    ) == [
        {"entity_code": "customer", "load_type": "FULL"},
        {"entity_code": "orders", "load_type": "DELTA"},
    ]


def test_a_folder_that_can_not_be_created_is_refused_and_the_next_goes_on(drop: Drop) -> None:
    drop.see(
        folder("2019-01-01", file("nothing.csv")),
        folder("2019-01-02", file("read.me")),
        folder("2018-01-01", file("customer.CSV")),
        folder("2018-01-02", file("customer.csv"), file("customer.json/part")),
        folder("2019-01-03", file()),
        folder("2999-01-03", file()),
    )
    delivery_id, name = drop.take()
    assert name == "2019-01-03"
    assert drop.states() == {
        "2018-01-01": "REFUSED",
        "2018-01-02": "REFUSED",
        "2019-01-01": "REFUSED",
        "2019-01-02": "REFUSED",
        "2019-01-03": "TAKEN",
        "2999-01-03": "FOUND",
    }
    assert "OM036" in drop.row("2019-01-01")["problem"]
    assert delivery_id is not None
    drop.accept(delivery_id)
    assert drop.take() == (None, None)
    assert "OM038" in drop.row("2999-01-03")["problem"]
    drop.see(
        folder("2019-01-01", file(modified=2)),
        folder("2019-01-03", file()),
    )
    assert drop.states()["2019-01-01"] == "FOUND"
    assert drop.take() == (None, None)
    assert "OM037" in drop.row("2019-01-01")["problem"]


def test_a_lock_that_is_not_granted_says_nothing_about_the_folder(
    drop: Drop, shops: Callable[..., Shop]
) -> None:
    drop.see(folder("2020-01-01", file()))
    holder = shops()
    with holder.conn.transaction():
        holder.conn.execute("LOCK TABLE stg_a.customer")
        drop.shop.conn.execute("SET lock_timeout = '50ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            drop.take()
    drop.shop.conn.execute("RESET lock_timeout")
    assert drop.states() == {"2020-01-01": "FOUND"}
    assert drop.take()[1] == "2020-01-01"


def test_two_workers_take_one_delivery(
    drop: Drop, shops: Callable[..., Shop], background: Callable[..., Any]
) -> None:
    drop.see(*(folder(f"2020-01-0{day}", file()) for day in range(1, 4)))
    workers = [shops() for _ in range(4)]
    takes = [background(w.call, "take_arrival", agreement_code="a") for w in workers]
    assert len({t.result()["delivery_id"] for t in takes}) == 1
    assert drop.states() == {
        "2020-01-01": "TAKEN",
        "2020-01-02": "FOUND",
        "2020-01-03": "FOUND",
    }


def test_a_delivery_by_hand_is_first(drop: Drop) -> None:
    drop.see(folder("2020-01-02", file()))
    by_hand = drop.shop.create(1)
    assert drop.take() == (by_hand, None)
    assert drop.work() == ("WAITING", "EARLIER")
    drop.shop.call("cancel_delivery", delivery_id=by_hand, reason="x")
    assert drop.take()[1] == "2020-01-02"


def test_a_delivery_of_another_agreement_is_waited_for(drop: Drop) -> None:
    drop.see(folder("2020-01-02", file()))
    drop.shop.agree("b")
    other = drop.shop.run(1, code="b", entities=["customer"])
    work = drop.shop.rows(
        "SELECT agreement_code, state, reason, waits_for, batch_instance_id"
        " FROM omd_delivery.delivery_work ORDER BY 1"
    )
    assert [tuple(row.values()) for row in work] == [
        ("a", "WAITING", "EARLIER", f"delivery {other.id}, which runs", None),
        ("b", "RUNNING", None, None, other.batch),
    ]


# Afterwards -------------------------------------------------------------------------------------


def test_another_content_is_changed_and_never_taken_again(drop: Drop) -> None:
    day = folder("2020-01-01", file())
    other = folder("2020-01-01", file(bytes=11))
    drop.see(day)
    taken, _ = drop.take()
    assert taken is not None
    drop.see(other)
    assert drop.states() == {"2020-01-01": "CHANGED"}
    assert drop.take() == (None, None)
    assert drop.work() == ("WAITING", "EARLIER")
    drop.see(day)
    assert drop.states() == {"2020-01-01": "TAKEN"}
    drop.accept(taken)
    drop.see({**day, "files": []})
    drop.see()
    assert drop.states() == {"2020-01-01": "DONE"}, "a folder that was emptied has no content"
    assert drop.see(other) == drop.see(other) == 0
    assert drop.row("2020-01-01")["arrival_status"] == "CHANGED"
    drop.see(day)
    assert drop.states() == {"2020-01-01": "DONE"}


@pytest.mark.parametrize("end", ["REVERTED", "REFUSED", "REJECTED", "CANCELLED"])
def test_a_corrected_folder_is_found_again_under_its_time(drop: Drop, end: str) -> None:
    day = folder("2020-01-01", file())
    drop.see(day)
    taken, _ = drop.take()
    assert taken is not None
    if end == "REVERTED":
        drop.accept(taken)
        drop.shop.call("revert_delivery", delivery_id=taken, reason="wrong")
    elif end == "REFUSED":
        drop.shop.call("report_loaded", delivery_id=taken)
        run = drop.shop.begin(taken)
        run.measure(1, {"customer.customer_pk": 0}, customer={"rows_delivered": 1})
        drop.shop.owner(
            "UPDATE omd_delivery.constraint_result SET threshold = 0, violations = 1"
            " WHERE constraint_id = (SELECT min(constraint_id) FROM omd_delivery.constraint_result)"
        )
        run.verdict(1)
    else:
        verb = {"REJECTED": "reject_delivery", "CANCELLED": "cancel_delivery"}[end]
        drop.shop.call(verb, delivery_id=taken, reason="wrong")
    assert drop.shop.status(taken) == end
    assert drop.row("2020-01-01")["problem"] == f"delivery {taken} is {end}"
    assert drop.see(day) == 0
    assert drop.states() == {"2020-01-01": "REFUSED"}
    half = {"folder": "2020-01-01", "kind": "FOLDER", "files": [file(bytes=12)]}
    assert drop.see(half) == 0
    assert drop.states() == {"2020-01-01": "REFUSED"}
    assert drop.see(folder("2020-01-01", file(bytes=12))) == 1
    drop.see(half)
    assert drop.states() == {"2020-01-01": "INCOMPLETE"}
    drop.see(day)
    assert drop.states() == {"2020-01-01": "REFUSED"}, "that content was refused"
    drop.see(folder("2020-01-01", file(bytes=12)))
    again, name = drop.take()
    assert (again != taken, name) == (True, "2020-01-01")
    assert (
        drop.shop.delivery(again)["snapshot_datetime"]
        == (  # type: ignore[arg-type]
            drop.shop.delivery(taken)["snapshot_datetime"]
        )
    )


def test_what_staging_has_read_is_compared_with_what_was_found(drop: Drop) -> None:
    drop.see(folder("2020-01-01", file()))
    taken, _ = drop.take()

    def is_same(*seen: dict[str, Any]) -> bool:
        answer = drop.shop.call("check_arrival", delivery_id=taken, seen=[*seen])
        return bool(answer["is_same"])

    assert is_same(folder("2020-01-01", file()))
    assert not is_same()
    assert drop.states() == {"2020-01-01": "TAKEN"}
    assert not is_same(folder("2020-01-01", file(), file("late.csv")))
    assert drop.states() == {"2020-01-01": "CHANGED"}
    drop.shop.agree("b")
    by_hand = drop.shop.create(1, code="b")
    drop.shop.refused("OM036", "check_arrival", delivery_id=by_hand, seen=Jsonb([]))


def test_a_folder_is_done_when_it_was_moved(drop: Drop) -> None:
    drop.agree(then={"move": "done"})
    drop.see(folder("2020-01-01", file()), folder("done", file()))
    taken, name = drop.take()
    assert taken is not None
    drop.shop.refused("OM137", "finish_arrival", delivery_id=taken)
    drop.accept(taken)
    assert drop.states() == {"2020-01-01": "TAKEN"}
    assert drop.work() == ("READY", "RESUME")
    assert drop.take() == (taken, name)
    drop.shop.refused("OM036", "finish_arrival", delivery_id=taken, moved_to="../x")
    for _ in range(2):
        drop.shop.call("finish_arrival", delivery_id=taken, moved_to="done/2020-01-01")
    row = drop.row("2020-01-01")
    assert (row["arrival_status"], row["moved_to"]) == ("DONE", "done/2020-01-01")
    assert drop.take() == (None, None)


def test_a_forgotten_arrival_is_found_again(drop: Drop) -> None:
    day = folder("2020-01-01", file())
    drop.see(day)
    arrival_id = drop.row("2020-01-01")["arrival_id"]
    taken, _ = drop.take()
    drop.shop.refused("OM137", "forget_arrival", arrival_id=arrival_id, reason="x")
    drop.shop.refused("OM044", "forget_arrival", arrival_id=0, reason="x")
    drop.shop.refused("OM005", "forget_arrival", arrival_id=arrival_id, reason=None)
    assert taken is not None
    drop.shop.call("cancel_delivery", delivery_id=taken, reason="x")
    drop.shop.call("forget_arrival", arrival_id=arrival_id, reason="the receiver was wrong")
    assert "the receiver was wrong" in drop.row("2020-01-01")["problem"]
    assert drop.shop.events(taken)[-1][0] == "forget_arrival"
    assert drop.take() == (None, None)
    assert drop.see(day) == 1
    assert drop.take()[1] == "2020-01-01"


def test_who_may_do_what(drop: Drop, shops: Callable[..., Shop]) -> None:
    runner, reader = Drop(shops(role="omd_runner")), shops(role="omd_reader")
    assert runner.see(folder("2020-01-01", file())) == 1
    assert runner.shop.call("claim_look", agreement_code="a")["arrival"]
    assert runner.take()[1] == "2020-01-01"
    assert reader.rows("SELECT 1 FROM omd_report.arrivals")
    assert reader.rows("SELECT 1 FROM omd_delivery.delivery_work")
    for call in (
        lambda: runner.shop.call("forget_arrival", arrival_id=1, reason="x"),
        lambda: runner.agree(),
        lambda: Drop(reader).take(),
        lambda: Drop(reader).see(),
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            call()


def test_an_arrival_under_a_filter_that_exceeds_the_interface_is_read(shop: Shop) -> None:
    shop.deploy({**SHOP, "interface": "shop"})
    shop.agree("a", options={"csv": {"file_extension": "TXT"}}, arrival={"location": "/drop"})
    drop = Drop(shop)
    drop.see(folder("2020-01-01", file("customer.txt"), file("orders.csv")))
    assert drop.row("2020-01-01")["entities"] == ["customer"]


def test_a_clock_that_was_set_back_does_not_end_the_looks(drop: Drop) -> None:
    drop.agree(every="1 minute")
    is_due = "SELECT is_due FROM omd_report.arrival_locations"
    assert drop.shop.call("claim_look", agreement_code="a")["arrival"] is not None
    assert drop.shop.one(is_due) is False
    drop.shop.owner(
        "UPDATE omd_delivery.arrival_location SET looked_datetime = looked_datetime"
        " + interval '1 hour'"
    )
    assert drop.shop.one(is_due) is True
    assert drop.shop.call("claim_look", agreement_code="a")["arrival"] is not None
    assert drop.shop.one(is_due) is False
