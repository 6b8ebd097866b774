"""The way of the rows of a run, through all rooms."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from facts.conftest import store
from facts.test_exports import begin, finish, order
from facts.test_topics import revert, shop, steps, topic
from kinds.conftest import platform
from support.flow import checked

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from facts.store import Store
    from kinds.conftest import Platform
    from support.flow import Flow
    from support.scene import Scene

    Command = Callable[..., subprocess.CompletedProcess[str]]

__all__ = ["platform", "shop", "store"]


def trace(flow: Flow, run: Any, *arguments: Any) -> list[dict[str, Any]]:
    places = ", ".join(["%s"] * (1 + len(arguments)))
    return flow.rows(f"SELECT * FROM omd_provenance.trace({places})", run, *arguments)


def way(rows: list[dict[str, Any]], direction: str) -> list[tuple[int, str]]:
    return [(r["distance"], r["module_code"]) for r in rows if r["direction"] == direction]


def newest(flow: Any, code: str) -> int:
    return int(
        flow.one(
            "SELECT max(mi.module_instance_id) FROM omd.module_instance AS mi"
            " INNER JOIN omd.module AS m USING (module_id) WHERE m.module_code = %s",
            code,
        )
    )


def delivered(store: Store, day: int, uri: str | None = None, /, **rows: Any) -> tuple[int, int]:
    """Deliver orders and load them; return the delivery and the load."""
    delivery = store.queue(day, **rows)
    if uri is not None:
        store.owner(
            "INSERT INTO omd_delivery.delivery_file"
            " (delivery_id, entity_id, file_no, uri, bytes, root)"
            " SELECT delivery_id, entity_id, 1, %s, 1, '/in' FROM omd_delivery.delivery_entity"
            " WHERE delivery_id = %s",
            uri,
            delivery,
        )
    answer = store.take()
    assert answer["outcome"] == "PERSISTED", answer
    return delivery, int(answer["module_instance_id"])


def test_a_run_is_traced_to_files_and_exports(shop: Store) -> None:
    topic(shop)
    delivery, load = delivered(shop, 1, "/in/orders.csv", orders=[("N", 1, 10), ("N", 2, 20)])
    assert steps(shop) == [2]
    shop.agree("x", layer_code="EXPORT")
    export = order(shop)
    run = begin(shop, export)
    finish(shop, export, run)
    entity, step = newest(shop, "lvl.shop.orders"), newest(shop, "app.f")

    rows = trace(shop, load)
    assert (rows[0]["direction"], rows[0]["distance"]) == ("SELF", 0)
    assert (1, "lvl.shop.orders") in way(rows, "UP")
    assert {(1, "app.f"), (1, "export.x")} <= {*way(rows, "DOWN")}
    of = {row["module_instance_id"]: row for row in rows}
    assert (of[load]["delivery_id"], of[load]["delivery_status"]) == (delivery, "PERSISTED")
    assert of[entity]["files"] == ["/in/orders.csv"]
    assert of[entity]["because_of"] == load
    assert of[step]["files"] is None
    exported = of[run["module_instance_id"]]
    assert exported["module_kind_code"] == "EXPORT"
    uri = shop.one("SELECT target_uri FROM omd_facts.export WHERE delivery_id = %s", export)
    assert exported["files"] == [uri]
    assert f"it went to {uri}" in exported["text"]
    (itself,) = trace(shop, run["module_instance_id"], "BOTH", 0)
    assert itself["table_code"] == uri
    assert all(row["stands"] for row in rows)

    rows = trace(shop, step, "UP")
    assert way(rows, "DOWN") == []
    assert {(1, "facts.shop"), (2, "lvl.shop.orders")} <= {*way(rows, "UP")}
    assert way(trace(shop, step, "UP", 1), "UP") == [(1, "facts.shop")]
    assert way(trace(shop, step, "BOTH", 0), "UP") == []
    assert way(trace(shop, entity, "DOWN"), "DOWN")[0] == (1, "facts.shop")
    assert (2, "app.f") in way(trace(shop, entity, "DOWN"), "DOWN")

    row = shop.rows(
        "SELECT * FROM omd_provenance.trace_row('app.f', %s)", Jsonb({"nbr": 2, "amount": 20})
    )
    assert row == trace(shop, step)
    row = shop.rows(
        "SELECT * FROM omd_provenance.trace_row('gdal_shop.orders', %s, 'DOWN', 1)",
        Jsonb({"nbr": 2}),
    )
    assert row == trace(shop, load, "DOWN", 1)


def test_what_was_taken_back_says_who_did_it_and_why(shop: Store) -> None:
    topic(shop)
    delivery, load = delivered(shop, 1, orders=[("N", 1, 10)])
    entity = newest(shop, "lvl.shop.orders")
    assert steps(shop) == [1]
    step = newest(shop, "app.f")
    shop.undo(load)
    assert "was undone" in trace(shop, load)[0]["text"]
    shop.call("omd_delivery.revert_delivery", delivery_id=delivery, reason="of another branch")
    reverted = trace(shop, entity)[0]
    assert (reverted["stands"], reverted["delivery_status"]) == (False, "REVERTED")
    assert f"delivery {delivery} of agreement a" in reverted["text"]
    assert "was reverted by postgres at" in reverted["text"]
    assert reverted["text"].endswith(": of another branch; begun by postgres")
    upwards = {r["module_instance_id"]: r for r in trace(shop, step, "UP")}
    assert upwards[step]["stands"]
    assert not upwards[load]["stands"]


def test_steps_of_topics_lead_to_each_other(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic("dwh.f")
    scene.base("dwh.g")
    scene.view("dwh.g_new", "dwh.f")
    scene.topic("dwh.g", "dwh.f", transforms=["dwh.g_new"])
    assert sum(scene.steps()) == 2
    assert sum(scene.steps("dwh.g")) == 2
    first, second = newest(scene, "dwh.f"), newest(scene, "dwh.g")
    assert (1, "dwh.f") in way(trace(scene, second), "UP")
    assert (1, "dwh.g") in way(trace(scene, first), "DOWN")


def test_a_run_of_a_task_names_its_task(platform: Platform) -> None:
    platform.call("omd_dispatch.register_family", family_code="F", criteria={"CODE": "text"})
    platform.call(
        "omd_dispatch.register_task_type",
        family_code="F",
        task_type="T",
        handler="PYTHON",
        target="m:f",
    )
    task = platform.call(
        "omd_dispatch.create_task", family_code="F", task_type="T", criteria={"CODE": "a"}
    )["task_id"]
    for task_id, text in (
        (task, f"task {task} of F/T, attempt 0"),
        (10**15, f"task {10**15}, which is not kept any more"),
    ):
        run = platform.go("made", execution_context={"task_id": task_id})
        [row] = trace(platform, run["module_instance_id"])
        assert f"; {text}; begun by postgres" in row["text"]
    run = platform.go("made", execution_context={"task_id": "no number"})
    assert "task" not in trace(platform, run["module_instance_id"])[0]["text"]


def test_a_failed_run_and_one_at_work_are_traced_too(flow: Flow) -> None:
    flow.module("m")
    run = flow.begin_module("m").id
    [row] = trace(flow, run)
    assert row["stands"] is False
    assert "m, run 1, is at work since" in row["text"]
    flow.end_module(run, "F")
    assert "failed at" in trace(flow, run)[0]["text"]


@pytest.mark.parametrize(
    ("arguments", "sqlstate"),
    [
        ((999,), "OM004"),
        ((None,), "OM005"),
        ((1, None), "OM005"),
        ((1, "UP", None), "OM005"),
        ((1, "SIDEWAYS"), "OM006"),
        ((1, "UP", -1), "OM006"),
    ],
)
def test_a_wrong_call_is_refused(flow: Flow, arguments: tuple[Any, ...], sqlstate: str) -> None:
    flow.module("m")
    flow.run_module("m")
    with pytest.raises(psycopg.Error) as caught:
        trace(flow, *arguments)
    checked(caught.value, sqlstate)


def test_a_row_that_is_not_there_or_names_no_run_is_not_traced(flow: Flow) -> None:
    flow.module("m")
    flow.conn.execute("INSERT INTO dwh.m VALUES ('a', NULL), ('b', 77)")
    for key, sqlstate in (
        ({"v": "x"}, "OM093"), ({"v": "a"}, "OM093"), ({"v": "b"}, "OM004"), (None, "OM005"),
    ):  # fmt: skip
        with pytest.raises(psycopg.Error) as caught:
            flow.rows(
                "SELECT * FROM omd_provenance.trace_row('dwh.m', %s)",
                None if key is None else Jsonb(key),
            )
        checked(caught.value, sqlstate)


# The command --------------------------------------------------------------------------------------


def test_the_command_follows_a_run_or_a_row(shop: Store, omd_here: Command, dsn: str) -> None:
    topic(shop)
    delivery, load = delivered(shop, 1, orders=[("N", 1, 10)])
    assert steps(shop) == [1]
    step = newest(shop, "app.f")
    text = omd_here("explain", f"run:{step}", dsn=dsn).stdout
    assert text.startswith(f"app.f, run {step}, succeeded")
    assert "\nWhat it was made from\n" in text
    assert f"facts.shop, run {load}, succeeded" in text
    assert f"delivery {delivery} of agreement a" in text
    of_run = ("explain", f"run:{step}", "--output", "json", "--up")
    found = json.loads(omd_here(*of_run, dsn=dsn).stdout)
    assert {run["direction"] for run in found["way"]} == {"SELF", "UP"}
    row = ("explain", "app.f", '{"nbr": 1}', "--output", "json")
    assert json.loads(omd_here(*row, "--up", dsn=dsn).stdout) == found
    near = json.loads(omd_here(*row, "--depth", "0", dsn=dsn).stdout)["way"]
    assert [run["direction"] for run in near] == ["SELF"]
    shop.undo(load)
    revert(shop)
    assert "was undone" in omd_here("explain", f"run:{load}", "--down", dsn=dsn).stdout


def test_the_command_follows_each_run_of_a_batch(flow: Flow, omd_here: Command, dsn: str) -> None:
    flow.batch("b")
    for module in ("first", "second"):
        flow.module(module)
        flow.call("add_module_to_batch", batch_code="b", module_code=module)
    batch = flow.call("begin_batch", batch_code="b")["batch_instance_id"]
    for module in ("first", "second"):
        run = flow.call("begin_module", module_code=module, batch_instance_id=batch)
        flow.call("module_success", module_instance_id=run["module_instance_id"])
    done = omd_here("explain", f"batchrun:{batch}", dsn=dsn)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("first, run 1, succeeded")
    assert "\n\nsecond, run 2, succeeded" in done.stdout
    page = omd_here("explain", f"batchrun:{batch}", "--html", "x.html", dsn=dsn)
    assert page.returncode == 2
