"""The facts as Python has them, and as the command `omd facts` does."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import omd
from facts.store import entity
from omd.errors import lookup
from omd.rooms.facts.rows import FactsLoadsRow, FactsRemovalsRow

if TYPE_CHECKING:
    from collections.abc import Callable

    from facts.store import Store

    Command = Callable[..., subprocess.CompletedProcess[str]]

PERSON = entity(
    "person",
    ["nbr"],
    ["nbr", ("mail", "text(20)"), ("name", "text(20)"), "boss"],
    relationships=[{"name": "under", "parent": "person", "columns": ["boss"]}],
    alternate_keys=[{"name": "by_mail", "attributes": ["mail"]}],
)
PHONE = entity(
    "phone",
    ["nbr", "kind"],
    ["nbr", ("kind", "text(4)"), ("number", "text(20)")],
    relationships=[{"name": "of", "parent": "person", "columns": ["nbr"], "context_filter": False}],
    facts={"context_of": "person", "kind": "multi_active"},
)
ORDER = entity(
    "orders",
    ["nbr", "line"],
    ["nbr", "line", "seller", ("price", "numeric(12,2)")],
    relationships=[
        {"name": "buyer", "parent": "person", "columns": ["nbr"], "context_filter": False},
        {"name": "seller", "parent": "person", "columns": ["seller"]},
    ],
)


def test_the_facts_are_deployed_loaded_written_undone_and_verified_in_python(
    store: Store, dsn: str
) -> None:
    store.deploy({"interface": "shop", "entities": [PERSON, PHONE]})
    store.agree("desk", layer_code="GDAL")
    with omd.connect(dsn) as control:
        facts = control.calls.omd_facts
        assert facts.deploy("shop").model_version == 1
        assert facts.deploy("shop").statements == 0
        assert facts.traveling_now("shop") is None
        assert facts.load("shop").outcome == "NOTHING"
        for day, name in ((1, "x"), (2, "y"), (3, "z")):
            store.queue(day, person=[("N" if day == 1 else "A", 1, "m", name, None)])
        first = facts.load("shop")
        assert first.outcome == "PERSISTED"
        assert first.module_instance_id is not None
        assert facts.load_all().loaded == 2
        assert str(facts.traveling_now("shop")) == "2020-01-03 00:00:00+00:00"
        assert first.module_instance_id in facts.undo("shop", first.module_instance_id)
        assert facts.load_all(interface_code="shop").loaded == 3

        desk = control.facts.delivery("desk", physical_delete_allowed=True)
        with pytest.raises(ZeroDivisionError), desk:  # noqa: PT012 - it is closed all the same
            [row] = facts.report("facts_deliveries")
            assert (row.delivery_id, row.is_physical_delete_allowed) == (desk._delivery_id, True)
            assert (row.transactions, row.last_transaction) == (0, None)
            write = desk.connection.execute
            write("INSERT INTO gdal_shop.person (nbr, name) VALUES (2, 'new')")
            with desk.connection.transaction():
                write("UPDATE gdal_shop.person SET name = 'a'")
                write("UPDATE gdal_shop.person SET name = 'b' WHERE nbr = 2")
            [row] = facts.report("facts_deliveries")
            assert (row.transactions, row.agreement_code) == (2, "desk")
            with pytest.raises(lookup("OM152")):
                facts.open_delivery("desk")
            write("SET omd_facts.delete_type = 'PHYSICAL'")
            write("DELETE FROM gdal_shop.person WHERE nbr = 2")
            write("BEGIN")
            write("UPDATE gdal_shop.person SET name = 'lost'")
            _ = 1 / 0
        assert facts.report("facts_deliveries") == []
        assert store.status(desk._delivery_id) == "PERSISTED"
        assert store.now("person", "nbr, name") == [(1, "a")]
        proof = facts.report(FactsRemovalsRow, order_by=["layer", "table_name"])
        assert [(r.entity_code, r.layer, r.row_count) for r in proof if r.row_count] == [
            ("person", "ANCHOR", 1),
            ("person", "CONTEXT", 2),
        ]
        [last] = facts.report(FactsLoadsRow, order_by=["loaded_datetime"], descending=True, limit=1)
        with pytest.raises(lookup("OM153")):
            facts.undo("shop", last.module_instance_id)

        assert facts.resync("shop", dry_run=True).differences == {
            "person": {"N": 0, "A": 1, "R": 0}
        }
        assert facts.resync("shop", entity_code="person").outcome == "PERSISTED"
        assert store.now("person", "nbr, name") == [(1, "z")]
        assert facts.verify("shop") == []


def test_the_command_does_what_the_routines_do(
    store: Store, omd_here: Command, dsn: str, tmp_path: Path
) -> None:
    def told(*arguments: str, code: int = 0) -> str:
        done = omd_here("facts", *arguments, dsn=dsn)
        assert done.returncode == code, done.stderr
        return done.stdout

    def rows(*arguments: str, code: int = 0) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(told(*arguments, "--output", "json", code=code))
        return found

    store.deploy({"interface": "shop", "entities": [PERSON, PHONE, ORDER]})
    store.agree("desk", layer_code="GDAL")
    assert "CREATE TABLE" in told("sql", "shop")
    assert "would be executed" in omd_here("facts", "deploy", "shop", "--dry-run", dsn=dsn).stderr
    told("deploy", "shop")
    assert told("sql", "shop") == ""
    assert "-- person: " in told("sql", "shop", "--load")
    assert rows("load") == []

    store.queue(1, person=[("N", 1, "m", "x", None)], phone=[("N", 1, "home", "1")])
    store.queue(2, person=[("A", 1, "m", "y", None)])
    [state] = rows("status", "--interface", "sh*")
    assert (state["queued_items"], state["is_blocked"]) == (2, True)
    loaded = rows("load", "shop")
    assert [row["outcome"] for row in loaded] == ["PERSISTED", "PERSISTED"]
    second = loaded[1]["module_instance_id"]
    assert told("undo", "shop", str(second)) == f"{second}\n"
    assert [row["undone_by"] is None for row in rows("loads")] == [True, False]
    store.conn.execute("UPDATE omd.module SET inactive_indicator = 'Y'")
    assert [row["outcome"] for row in rows("load", code=3)] == ["SKIPPED"]
    store.conn.execute("UPDATE omd.module SET inactive_indicator = 'N'")
    # What can't be stored fails, and nothing of it stays.
    store.conn.execute("ALTER TABLE cfl_shop.s_person_properties ADD CHECK (name <> 'y')")
    [failed] = rows("load", code=1)
    assert failed["outcome"] == "FAILED"
    assert "s_person_properties" in failed["detail"]
    store.conn.execute(
        "ALTER TABLE cfl_shop.s_person_properties DROP CONSTRAINT s_person_properties_name_check"
    )
    assert [row["outcome"] for row in rows("load")] == ["PERSISTED"]

    delivery = told("open", "desk").strip()
    with psycopg.connect(dsn, options=f"-c omd_facts.delivery_id={delivery}") as conn:
        conn.execute("UPDATE gdal_shop.person SET name = 'desk'")
    [open_] = rows("deliveries")
    assert (open_["delivery_id"], open_["transactions"]) == (int(delivery), 1)
    told("close", delivery)
    assert rows("deliveries") == []
    assert [row["changed"] for row in rows("resync", "shop", "--dry-run") if row["changed"]] == [1]
    assert "PERSISTED by" in omd_here("facts", "resync", "shop", dsn=dsn).stderr
    assert told("verify", "shop") == ""
    store.conn.execute("UPDATE cfl_shop.h_person SET acm_exists_ind = 0")
    assert [row["entity_code"] for row in rows("verify", "shop", code=1)] == ["person"]
    assert {row["context_table"] for row in rows("map", "--entity", "phone")} == {
        "cfl_shop.s_person_phone"
    }
    assert rows("removals") == []

    # The facts follow a model that is applied.
    more = {**PERSON, "attributes": [*PERSON["attributes"], {"name": "size", "type": "integer"}]}
    path = tmp_path / "shop.json"
    path.write_text(json.dumps({"interface": "shop", "entities": [more, PHONE, ORDER]}))
    done = omd_here("apply", str(path), "--no-spark", dsn=dsn)
    assert "Facts of shop, version 2: " in done.stderr, done.stderr
    assert told("sql", "shop") == ""

    drawn = told("diagram", "shop")
    assert '  h_person ||--o{ s_person_phone : "multi_active"' in drawn
    assert '  h_person ||--o{ l_orders : "buyer"' in drawn
    assert '  h_person |o..o{ l_orders : "seller"' in drawn
    assert "    numeric(12_2) price" in drawn
    picture = ET.fromstring(told("diagram", "shop", "--output", "svg"))
    texts = [element.text for element in picture.iter() if element.tag.endswith("text")]
    assert {"person", "by_mail", "phone", "alternate_key", "under"} <= set(texts)


def test_a_model_whose_facts_can_not_follow_is_not_applied(
    store: Store, dsn: str, omd_here: Command, tmp_path: Path
) -> None:
    store.set_up(PHONE | {"relationships": [], "facts": {}})
    store.conn.execute("CREATE VIEW dwh.mine AS SELECT * FROM gdal_shop.phone")
    wider = entity("phone", ["nbr", "kind"], ["nbr", ("kind", "text(4)"), ("number", "text(30)")])
    path = tmp_path / "shop.json"
    tenant = {"tenant": "more", "name": "More"}
    path.write_text(json.dumps({"interface": "shop", "entities": [wider], "tenants": [tenant]}))

    def stored() -> list[dict[str, Any]]:
        return store.rows(
            "SELECT max(v.model_version) AS version, array_agg(DISTINCT t.tenant_code) AS tenants"
            " FROM omd_delivery.model_version AS v CROSS JOIN omd_delivery.tenant AS t"
        )

    before = stored()
    done = omd_here("apply", str(path), "--no-spark", dsn=dsn)
    assert done.returncode != 0
    assert "view dwh.mine depends on view gdal_shop.phone" in done.stderr
    assert stored() == before
    store.conn.execute("DROP VIEW dwh.mine")
    done = omd_here("apply", str(path), "--no-spark", dsn=dsn)
    assert done.returncode == 0, done.stderr
    assert stored() == [
        {"version": before[0]["version"] + 1, "tenants": sorted([*before[0]["tenants"], "more"])}
    ]


def test_run_loads_what_is_queued_until_it_is_stopped(store: Store, dsn: str) -> None:
    """It hears of a delivery; the next poll would come too late."""
    store.set_up(PERSON)
    store.queue(1, person=[("N", 1, "m", "x", None)])
    with subprocess.Popen(
        [
            Path(sys.executable).with_name("omd"),
            "worker",
            "--kind",
            "FACTS",
            "--poll=3600",
            f"--dsn={dsn}",
        ],
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        try:
            lines = iter(process.stderr)
            assert "looking every 3600 s" in next(lines)
            assert "shop: PERSISTED" in next(lines)
            for day in (2, 3):
                store.queue(day, person=[("A", 1, "m", str(day), None)])
                assert "shop: PERSISTED" in next(lines)
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert store.now("person", "nbr, name") == [(1, "3")]
