"""The screens of the rooms: queue, deliveries, facts, decisions, recalls, lake, log and search."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import psycopg
import pytest

from decision.conftest import Room as Decision
from facts.store import Store, entity
from omd.programs.web.screens import deliveries, log
from provenance.recalls import Recalls
from support.flow import Flow
from web.looking import SHOWN, TEXT, keys, look, looked_at, rows, sql_of, states

if TYPE_CHECKING:
    from web.conftest import Page

    Connection = psycopg.Connection[dict[str, Any]]

EMPTY = (
    "/queue", "/queue?family=F&c.CODE=x", "/queue?suspension=1", "/queue?schedule=x",
    "/queue?type=F/T", "/deliveries", "/deliveries?arrival=1", "/facts/shop/person",
    "/facts/shop/person?key=1&column=x", "/lake", "/lake?table=x&before=x", "/log",
    "/log?until=x", "/log?run=x", "/log?before=x", "/find", "/find?q=x",
)  # fmt: skip
NOT_THERE = (
    "/task/1", "/task/x", "/task/99999999999999999999", "/delivery/1", "/delivery/x", "/stage/s",
    "/decisions/1", "/decisions/x?key=x", "/recall/1", "/recall/x",
)  # fmt: skip


def test_each_screen_of_an_empty_database(page: Page, conn: Connection) -> None:
    for path in EMPTY:
        root = look(page, path)
        # What is shown as SQL is what was read: it does in psql what the screen says.
        failed = []
        for statement in sql_of(page.get(path).text):
            assert statement.endswith(";")
            try:
                conn.execute(statement.encode())
            except psycopg.Error as error:
                failed.append(error.sqlstate)
        assert {*failed} >= {*states(root)} - {"22023"}, (path, failed, states(root))
        assert len(root.all("a", data_csv=True)) == len(sql_of(page.get(path).text))


def test_what_is_not_there_is_not_found(page: Page) -> None:
    for path in (*NOT_THERE, *(f"/{kind}/{quote(TEXT, safe='')}" for kind in ("task", "stage"))):
        answer = page.get(path)
        assert answer.status == 404, path
        looked_at(answer.text)


# Facts ------------------------------------------------------------------------------------------

ODD = entity(
    "odd",
    ["nbr"],
    ["nbr", ("text", "text(200)"), ("day", "date"), ("at", "timestamp"), ("share", "numeric(9,2)")],
)


@pytest.fixture
def store(conn: Connection) -> Store:
    conn.prepare_threshold = None
    return Store(conn)


def test_facts_at_a_moment_with_their_history(page: Page, store: Store) -> None:
    store.set_up(ODD)
    store.push(
        1, odd=[("N", 1, TEXT, "infinity", "-infinity", "1.50"), ("N", 2, None, None, None, None)]
    )
    store.push(2, odd=[("A", 1, "new", "0044-03-15 BC", "20000-01-01", "2.50")])
    while store.take()["outcome"] == "PERSISTED":
        pass
    root = look(page, "/facts/shop/odd")
    assert keys(root, "asof_shop.odd") == ["1", "2"]
    assert "0044-03-15 BC" in root.text
    link = rows(root, "asof_shop.odd")[0].all("a")[0].attributes["href"]
    assert link == f"?{urlencode({'key': json.dumps({'nbr': '1'})})}"
    # As of a moment between both.
    at = quote("2020-01-01 12:00:00+00")
    then = look(page, f"/facts/shop/odd?at={at}")
    assert SHOWN in rows(then, "asof_shop.odd")[0].text
    assert "infinity" in rows(then, "asof_shop.odd")[0].text
    assert not look(page, "/facts/shop/odd?at=-infinity").all("tr", data_key=True)
    assert states(look(page, "/facts/shop/odd?at=never")) == ["22007"]
    # Of a key its history; of a key of one column the value is enough.
    for key in ("1", '{"nbr": 1}', '{"nbr": "1"}'):
        root = look(page, f"/facts/shop/odd?key={quote(key)}&at={at}")
        history = root.one("table", data_view="history_shop.odd")
        assert len(history.all("tr")) == 3
        assert not states(root)
    root = look(page, f"/facts/shop/odd?key=1&column=text&at={at}")
    assert SHOWN in root.one("section", id="explain").text
    first = store.one("SELECT min(delivery_id) FROM omd_delivery.delivery")
    assert root.one("section", id="explain").all("a", href=f"/delivery/{first}")
    # What is wrong is said.
    assert states(look(page, "/facts/shop/odd?key=1&column=none")) == ["OM093"]
    assert states(look(page, "/facts/shop/odd?key=[]")) == ["22P02"] * 2
    assert states(look(page, f"/facts/shop/odd?key={quote('{}')}")) == ["22023"]
    assert states(look(page, f"/facts/shop/odd?key={quote(json.dumps({TEXT: 1}))}")) == ["22023"]
    deep = "[" * 5000
    assert states(look(page, f"/facts/shop/odd?key={deep}")) == ["22P02"] * 2
    nothing = look(page, f"/facts/{quote(TEXT, safe='')}/{quote(TEXT, safe='')}")
    assert "not deployed" in nothing.text


def test_facts_are_paged_by_their_key(page: Page, store: Store) -> None:
    store.set_up(ODD)
    store.push(1, odd=[("N", n, None, None, None, None) for n in range(250)])
    while store.take()["outcome"] == "PERSISTED":
        pass
    seen: list[str | None] = []
    path = "/facts/shop/odd"
    while path:
        root = look(page, path)
        seen += keys(root, "asof_shop.odd")
        following = [a.attributes["href"] for a in root.all("a", rel="next")]
        path = f"/facts/shop/odd{following[0]}" if following else ""
    assert sorted(seen, key=lambda key: int(key or 0)) == [str(n) for n in range(250)]


# Deliveries -------------------------------------------------------------------------------------


def test_a_delivery_and_its_receipt(page: Page, store: Store) -> None:
    store.set_up(ODD)
    run, _ = store.accept(1, rows={"odd": [("N", 1, TEXT, None, None, None)]}, message={TEXT: TEXT})
    store.call("reject_delivery", delivery_id=store.create(2), reason=TEXT)
    store.call("cancel_delivery", delivery_id=store.create(), reason="no")
    root = look(page, "/deliveries")
    assert len(rows(root, "omd_report.delivery_log")) == 3
    assert rows(root, "omd_report.delivery_log")[-1].one("a", href=f"/delivery/{run.id}")
    assert root.all("a", href="/facts/shop/odd")
    root = look(page, f"/delivery/{run.id}")
    assert root.one(id="verdict").attributes["class"] == "verdict S"
    assert SHOWN in root.text
    assert root.all("a", data_action="REJECT") or root.all("a", data_action="REVERT")
    look(page, f"/delivery/{run.id + 1}")
    look(page, f"/deliveries?{urlencode({'agreement': TEXT, 'status': TEXT, 'before': '9'})}")
    only = look(page, "/deliveries?agreement=a&status=REJECTED")
    assert keys(only, "omd_report.delivery_log") == [str(run.id + 1)]


def test_deliveries_by_agreement_and_in_slices(
    page: Page, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.set_up(ODD)
    store.agree("other")
    made = []
    for n in range(6):
        made.append(store.create(code="a" if n % 2 else "other"))
        store.call("cancel_delivery", delivery_id=made[-1], reason="enough")
        if n == 1:  # the others are in another slice
            store.conn.execute(
                "SELECT setval(pg_get_serial_sequence('omd_delivery.delivery', 'delivery_id'), %s)",
                [made[-1] + 2_000_000_000_000],  # as after many changes of the server
            )
    view = "omd_report.delivery_log"
    assert keys(look(page, "/deliveries?agreement=a"), view) == [str(i) for i in made[5::-2]]
    path = f"/deliveries?agreement=a&before={made[3]}&status=CANCELLED&interface=shop"
    assert keys(look(page, path), view) == [str(made[1])]
    assert keys(look(page, "/deliveries?agreement=a&status=PERSISTED"), view) == []
    monkeypatch.setattr(deliveries, "_SLICE", 100)
    assert keys(look(page, "/deliveries"), view) == [str(i) for i in made[::-1]]
    root = look(page, "/deliveries?interface=shop")
    assert keys(root, view) == [str(i) for i in made[:1:-1]]
    found = []
    while further := [a for a in root.all("a") if a.text == "Look further back"]:
        root = look(page, f"/deliveries{further[0].attributes['href']}")
        found += keys(root, view)
    assert found == [str(i) for i in made[1::-1]]
    # What is done is shown to whoever asks for it.
    store.conn.execute(
        "INSERT INTO omd_delivery.arrival_location (agreement_id)"
        " SELECT agreement_id FROM omd_delivery.agreement WHERE agreement_code = 'a'"
    )
    store.conn.execute(
        "INSERT INTO omd_delivery.arrival (agreement_id, folder, arrival_status, changed_datetime,"
        " problem) SELECT agreement_id, s || %s, s, 'infinity', CASE s WHEN 'UNFIT' THEN %s END"
        " FROM omd_delivery.agreement, unnest(ARRAY['UNFIT', 'DONE']) AS s"
        " WHERE agreement_code = 'a'",
        [TEXT, TEXT],
    )
    for path, count in (("", 1), ("?folders=all", 2), ("?agreement=other", 0),
                        ("?interface=shop&folders=all", 2)):  # fmt: skip
        assert len(keys(look(page, f"/deliveries{path}"), "omd_report.arrivals")) == count, path
    [unfit] = rows(look(page, "/deliveries"), "omd_report.arrivals")
    assert SHOWN in unfit.text
    only = look(page, f"/deliveries?arrival={unfit.attributes['data-key']}")
    assert only.one("section", id="actions").all("a", data_action="FORGET_ARRIVAL")


# Recalls and the lake ---------------------------------------------------------------------------


def test_a_recall_and_what_came_of_it(page: Page, conn: Connection) -> None:
    recalls = Recalls(conn)
    recalls.made("a")
    recalls.made("b", "a")
    first = recalls.go("a")
    recalls.go("b")
    recall = recalls.plan(first, reason=TEXT)
    root = look(page, f"/recall/{recall}")
    assert SHOWN in root.one("section", id="recall").text
    assert len(keys(root, "omd_report.recall_items")) == 2
    assert root.one("section", id="actions").all("a", data_action="RECALL")
    assert root.all("a", href=f"/run/module/{first}")
    assert keys(look(page, f"/recall/{recall}?after=1"), "omd_report.recall_items") == ["2"]
    recalls.recall(recall)
    root = look(page, f"/recall/{recall}")
    assert "executed" in root.one("section", id="recall").text
    assert keys(root, "omd_report.recall_returns")
    assert root.all("a", href=f"/do/DROP_RETURN/{recall}?p_position=1")
    assert look(page, "/deliveries").all("a", href=f"/recall/{recall}")
    assert len(rows(look(page, f"/log?{urlencode({'text': TEXT})}"), "omd_report.event_log")) >= 1


def test_the_lake_with_hostile_tables(page: Page, conn: Connection) -> None:
    conn.execute(
        "INSERT INTO omd_lake.table_commit (table_code, table_format_code, sequence_number,"
        " commit_datetime, operation, added_files, added_rows, removed_files, removed_rows)"
        " SELECT CASE n WHEN 1 THEN %s ELSE 'x' END, 'DELTA', n,"
        " CASE n WHEN 2 THEN timestamptz 'infinity' ELSE now() END, 'APPEND', 1, 2, 0, 0"
        " FROM generate_series(1, 3) AS n",
        [TEXT],
    )
    root = look(page, "/lake")
    assert len(keys(root, "omd_report.lake_commits")) == 3
    assert SHOWN in root.one("section", id="tables").text
    [link] = [a for a in root.one("section", id="tables").all("a") if a.text == SHOWN]
    only = look(page, link.attributes["href"])
    assert len(keys(only, "omd_report.lake_commits")) == 1
    [newest] = keys(look(page, "/lake"), "omd_report.lake_commits")[:1]
    assert newest not in keys(look(page, f"/lake?before={newest}"), "omd_report.lake_commits")


# Decisions --------------------------------------------------------------------------------------


def test_decisions_of_a_stage(page: Page, conn: Connection) -> None:
    room = Decision(conn)
    room.scene("jsonb_build_object('out', p -> 'a')", keep="TRACE")
    room.fill("a", (1, 1, TEXT), (2, 2, None), (3, None, "x"))
    room.fill("b", (1, 1, "y"))
    run = room.run()["module_instance_id"]
    stage = look(page, "/stage/s")
    assert keys(stage, "omd_report.decision_run_log") == [str(run)]
    assert stage.all("a", href=f"/decisions/{run}")
    assert stage.all("a", data_action="DEACTIVATE_RULESET")
    root = look(page, f"/decisions/{run}")
    assert SHOWN in root.text or root.all("details")
    [why] = [a.attributes["href"] for a in root.all("a") if a.text == "why"][:1]
    root = look(page, f"/decisions/{run}{why}")
    assert root.one("section", id="decision").all(id="verdict")
    assert states(look(page, f"/decisions/{run}?key={{")) == ["22P02"]
    look(page, f"/decisions/{run}?{urlencode({'key': json.dumps({'k': TEXT}), 'wave': TEXT})}")


# The log ----------------------------------------------------------------------------------------


def events(conn: Connection, count: int, **columns: str) -> list[int]:
    names = "".join(f", {name}" for name in columns)
    values = "".join(f", {value}" for value in columns.values())
    found = conn.execute(
        f"INSERT INTO omd.event_log (event_type_code, event_datetime{names})"
        f" SELECT 4, timestamptz '2020-01-01 00:00+00' + n * interval '1 minute'{values}"
        f" FROM generate_series(1, {count}) AS n ORDER BY n RETURNING event_id".encode()
    )
    return [row["event_id"] for row in found]


def listed(page: Page, path: str) -> list[int]:
    """Return the events of all pages of the log."""
    seen: list[int] = []
    while path:
        root = look(page, path)
        seen += [int(r.attributes["data-key"] or 0) for r in root.all("tr", data_key=True)]
        links = [a for a in root.all("a") if a.text in ("Older", "Look further back")]
        path = f"/log{links[0].attributes['href']}" if links else ""
    return seen


def test_the_log_is_paged_by_its_key(
    page: Page, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = events(conn, 250)
    hostile = TEXT.replace("'", "''")
    ids += events(conn, 1, event_detail=f"'{hostile}'", reason=f"'{hostile}'",
                  event_return_code_details="NULL")  # fmt: skip
    conn.execute(
        "UPDATE omd.event_log SET event_datetime = 'infinity' WHERE event_id = %s", ids[-1:]
    )
    assert listed(page, "/log") == ids[::-1]
    root = look(page, "/log")
    assert SHOWN in root.text
    # Up to a moment.
    until = quote("2020-01-01 01:40+00")
    assert listed(page, f"/log?until={until}") == ids[99::-1]
    assert listed(page, "/log?until=2019-12-31") == []
    assert listed(page, "/log?until=infinity") == ids[::-1]
    # A filter that no index serves looks through slices.
    conn.execute("UPDATE omd.event_log SET reason = 'Because' WHERE event_id = ANY(%s)", [ids[5:8]])
    assert listed(page, "/log?text=because&type=changes") == ids[7:4:-1]
    monkeypatch.setattr(log, "_SLICE", 100)
    assert "Look further back" in look(page, "/log?text=because").text
    assert listed(page, "/log?text=because") == ids[7:4:-1]
    assert listed(page, "/log?module=none") == []


def test_the_log_reads_by_its_indexes(
    page: Page, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "_SLICE", 500)
    events(conn, 20000)
    conn.execute("ANALYZE omd.event_log")
    for path in (
        "/log", "/log?before=9000", "/log?until=2020-01-02", "/log?run=5", "/log?batch_run=5",
        "/log?before=9000&text=x", "/log?module=x", "/log?type=errors",
    ):  # fmt: skip
        [statement] = sql_of(page.get(path).text)
        plan = conn.execute(f"EXPLAIN {statement}".encode()).fetchall()
        text = "\n".join(row["QUERY PLAN"] for row in plan)
        assert "Seq Scan on event_log" not in TEXT, (path, TEXT)
        assert "Index Scan" in text or "Bitmap" in TEXT, (path, TEXT)


# The search -------------------------------------------------------------------------------------


def test_one_exact_hit_leads_straight_there(page: Page, conn: Connection) -> None:
    flow = Flow(conn)
    code = "a/b <i>"
    flow.module(code, table_code="dwh.t")
    flow.module("same")
    flow.call("omd.register_batch", batch_code="same")
    answer = page.get(f"/find?{urlencode({'q': f' {code} '})}")
    assert answer.status == 303
    assert answer.headers["Location"] == f"/module/{quote(code, safe='')}"
    root = look(page, "/find?q=same")
    assert keys(root, "omd_web.find")[:2] == [
        "BATCH/same", "MODULE/same",
    ]  # fmt: skip
    assert root.one("input", name="q", value="same")
    assert rows(look(page, "/find?q=a/b"), "omd_web.find")[0].one(
        "a", href=f"/module/{quote(code, safe='')}"
    )
    look(page, f"/find?{urlencode({'q': TEXT})}")
    assert page.get("/find?q=%00").status == 400
