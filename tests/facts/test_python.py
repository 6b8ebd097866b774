"""The facts as Python has them, and as the command line has them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import omd
from facts.store import entity
from omd.errors import lookup

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
        proof = facts.report("facts_removals", order_by=["layer", "table_name"])
        assert [(r.entity_code, r.layer, r.row_count) for r in proof if r.row_count] == [
            ("person", "ANCHOR", 1),
            ("person", "CONTEXT", 2),
        ]
        [last] = facts.report("facts_loads", order_by=["loaded_datetime"], descending=True, limit=1)
        with pytest.raises(lookup("OM153")):
            facts.undo("shop", last.module_instance_id)

        assert facts.resync("shop", dry_run=True).differences == {
            "person": {"N": 0, "A": 1, "R": 0}
        }
        assert facts.resync("shop", entity_code="person").outcome == "PERSISTED"
        assert store.now("person", "nbr, name") == [(1, "z")]
        assert facts.verify("shop") == []


def test_the_command_calls_the_routines_and_draws_the_tables(
    store: Store, omd_here: Command, dsn: str
) -> None:
    def told(*arguments: str) -> str:
        done = omd_here(*arguments, dsn=dsn)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def call(routine: str, *arguments: str) -> Any:
        shop = (
            () if routine in ("open_delivery", "close_delivery") else ("--interface-code", "shop")
        )
        shown = told("call", f"omd_facts.{routine}", *shop, *arguments, "--output", "json")
        return json.loads(shown) if shown else None

    def rows(view: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(told("report", view, "--output", "json"))
        return found

    store.deploy({"interface": "shop", "entities": [PERSON, PHONE, ORDER]})
    store.agree("desk", layer_code="GDAL")
    assert any("CREATE TABLE" in row["statement"] for row in call("build_deploy_sql"))
    assert call("deploy", "--dry-run", "true")["statements"] > 0
    call("deploy")
    assert call("build_deploy_sql") == []
    assert "person" in [row["entity_code"] for row in call("build_load_sql")]

    store.queue(1, person=[("N", 1, "m", "x", None)], phone=[("N", 1, "home", "1")])
    store.queue(2, person=[("A", 1, "m", "y", None)])
    [state] = rows("facts_state")
    assert (state["queued_items"], state["is_blocked"]) == (2, True)
    told("run", "facts.shop", "--until-done")
    second = rows("facts_loads")[-1]["module_instance_id"]
    assert call("undo", "--module-instance-id", str(second)) == {"undone": [second]}
    assert [row["undone_by"] is None for row in rows("facts_loads")] == [True, False]
    store.conn.execute("UPDATE omd.module SET inactive_indicator = 'Y'")
    assert omd_here("run", "facts.shop", dsn=dsn).returncode == 3
    store.conn.execute("UPDATE omd.module SET inactive_indicator = 'N'")
    # What can't be stored fails, and nothing of it stays.
    store.conn.execute("ALTER TABLE cfl_shop.s_person_properties ADD CHECK (name <> 'y')")
    failed = omd_here("run", "facts.shop", dsn=dsn)
    assert failed.returncode == 1
    assert "s_person_properties" in failed.stderr
    store.conn.execute(
        "ALTER TABLE cfl_shop.s_person_properties DROP CONSTRAINT s_person_properties_name_check"
    )
    told("run", "facts.shop")
    assert [row["undone_by"] is None for row in rows("facts_loads")] == [True, False, True]

    delivery = call("open_delivery", "--agreement-code", "desk")["delivery_id"]
    with psycopg.connect(dsn, options=f"-c omd_facts.delivery_id={delivery}") as conn:
        conn.execute("UPDATE gdal_shop.person SET name = 'desk'")
    [open_] = rows("facts_deliveries")
    assert (open_["delivery_id"], open_["transactions"]) == (delivery, 1)
    call("close_delivery", "--delivery-id", str(delivery))
    assert rows("facts_deliveries") == []
    assert call("resync", "--dry-run", "true")["differences"]["person"]["A"] == 1
    assert call("resync")["outcome"] == "PERSISTED"
    assert call("verify") == []
    store.conn.execute("UPDATE cfl_shop.h_person SET acm_exists_ind = 0")
    assert [row["entity_code"] for row in call("verify")] == ["person"]
    assert "cfl_shop.s_person_phone" in {row["context_table"] for row in rows("facts_map")}

    drawn = told("show", "interface:shop", "--output", "mermaid")
    assert '  h_person ||--o{ s_person_phone : "multi_active"' in drawn
    assert '  h_person ||--o{ l_orders : "buyer"' in drawn
    assert '  h_person |o..o{ l_orders : "seller"' in drawn
    assert "    numeric(12_2) price" in drawn


def test_the_facts_follow_a_model_that_is_applied(
    store: Store, omd_here: Command, dsn: str, tmp_path: Path
) -> None:
    store.set_up(PERSON, PHONE, ORDER)
    more = {**PERSON, "attributes": [*PERSON["attributes"], {"name": "size", "type": "integer"}]}
    path = tmp_path / "shop.json"
    path.write_text(json.dumps({"interface": "shop", "entities": [more, PHONE, ORDER]}))
    done = omd_here("apply", str(path), "--no-spark", dsn=dsn)
    assert done.returncode == 0, done.stderr
    assert "Facts of shop, version 2: " in done.stderr, done.stderr
    assert store.rows("SELECT FROM omd_facts.build_deploy_sql('shop')") == []


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
