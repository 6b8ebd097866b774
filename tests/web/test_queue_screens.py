"""The screens of tasks, with a database of their own; and who may see business rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from dispatch.conftest import Room as Dispatch
from facts.store import Store
from web.looking import SHOWN, TEXT, keys, look, rows, states
from web.test_room_screens import ODD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    import psycopg

    from web.conftest import Page

    Connection = psycopg.Connection[dict[str, Any]]


@pytest.fixture
def dsn(new_database: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    """A database of its own: families stay when a database is emptied."""
    with new_database() as dsn:
        yield dsn


@pytest.fixture
def conn(connect: Callable[..., Connection]) -> Connection:
    return connect()


# Dispatch ---------------------------------------------------------------------------------------


@pytest.fixture
def store(conn: Connection) -> Store:
    conn.prepare_threshold = None
    return Store(conn)


@pytest.fixture
def dispatch(conn: Connection) -> Dispatch:
    room = Dispatch(conn)
    room.family(criteria={"CODE": "text", "NBR": "bigint"})
    room.type(max_attempts=1)
    room.call("set_custom", family_code="F", task_type="T", criterion="NBR", mode="O")
    room.call("allow_search", family_code="F", index_name="CODES", criteria=["CODE"])
    return room


def test_the_queue_with_hostile_tasks(page: Page, dispatch: Dispatch) -> None:
    tasks = [dispatch.create(TEXT), dispatch.create("a"), dispatch.create("b")]
    dispatch.member(TEXT)
    [task] = dispatch.claim(1, by=TEXT)
    dispatch.complete([task], "F", by=TEXT, error=f"22012: {TEXT}", error_class="22012")
    dispatch.call("suspend", family_code="F", criteria={"CODE": [TEXT]}, reason=TEXT)
    dispatch.conn.execute("UPDATE omd_dispatch.task_schedule SET next_time = 'infinity'")
    dispatch.call(
        "register_schedule", schedule_code=TEXT, family_code="F", task_type="T",
        criteria={"CODE": TEXT}, every="1 day",
    )  # fmt: skip
    root = look(page, "/queue")
    assert keys(root, "omd_dispatch.dead_tasks") == [str(task["task_id"])]
    [row] = rows(root, "omd_dispatch.dead_tasks")
    assert row.one("a", data_action="REVIVE_TASK").attributes["href"] == (
        f"/do/REVIVE_TASK/{task['task_id']}"
    )
    picked = root.one("input", type="checkbox", name="task_ids")
    assert picked.attributes["value"] == str(task["task_id"])
    assert SHOWN in root.text
    # An error may hold values of rows, so all who look see its code alone.
    assert "22012" in row.text
    assert "onerror" not in row.one("td", data_t="error").text
    for path in (
        f"/task/{tasks[0]}",
        f"/queue?{urlencode({'schedule': TEXT})}",
        f"/queue?{urlencode({'suspension': '1'})}",
        f"/queue?{urlencode({'type': 'F/T'})}",
        f"/queue?{urlencode({'family': 'F', 'c.CODE': TEXT, 'status': 'PENDING'})}",
        f"/queue?{urlencode({'family': TEXT, TEXT: TEXT})}",
    ):
        look(page, path)
    assert look(page, f"/queue?{urlencode({'schedule': TEXT})}").all(
        "a", data_action="PAUSE_SCHEDULE"
    )


def test_tasks_are_searched_by_criteria(page: Page, dispatch: Dispatch) -> None:
    found = [dispatch.create("a", criteria={"CODE": "a", "NBR": n}) for n in range(3)]
    dispatch.create("b")
    root = look(page, "/queue?family=F&c.CODE=a")
    assert keys(root, "omd_dispatch.search_tasks") == [str(task) for task in reversed(found)]
    assert root.one("input", name="c.CODE").attributes["value"] == "a"
    assert not states(root)
    # What no index serves is refused by the database, and the rest of the screen stands.
    root = look(page, "/queue?family=F&c.NBR=1")
    assert states(root) == ["OM079"]
    assert root.all("table", data_view="omd_dispatch.queue_lanes")
    assert states(look(page, "/queue?family=F&c.CODE=a&status=NONE")) == ["OM013"]


def test_a_task_says_why_it_waits(page: Page, dispatch: Dispatch) -> None:
    task = dispatch.create("a", execution_time="9999-12-30")
    root = look(page, f"/task/{task}")
    assert root.one(data_reason=True).attributes["data-reason"] == "NOT_DUE"
    assert {a.attributes["data-action"] for a in root.all("a", data_action=True)} >= {
        "CANCEL_TASK", "RESCHEDULE_TASK",
    }  # fmt: skip


# Who may see it ---------------------------------------------------------------------------------


def test_business_rows_need_omd_data_reader(
    new_page: Callable[..., Page], store: Store, dsn: str
) -> None:
    store.set_up(ODD)
    store.push(1, odd=[("N", 1, "secret", None, None, None)])
    while store.take()["outcome"] == "PERSISTED":
        pass
    dispatch = Dispatch(store.conn)
    dispatch.family()
    dispatch.type(max_attempts=1)
    dispatch.member()
    task = dispatch.create()
    dispatch.complete(dispatch.claim(1), "F", error="22012: secret")
    dispatch.conn.execute(
        "INSERT INTO omd.event_log"
        " (event_type_code, event_datetime, event_return_code_details, event_detail)"
        " VALUES (2, now(), '22012', 'secret')"
    )
    paths = ("/facts/shop/odd", "/facts/shop/odd?key=1&column=text", f"/task/{task}", "/queue",
             "/log", "/log?texts=whole", "/delivery/1")  # fmt: skip
    seen = {}
    for role in ("omd_reader", "omd_data_reader"):
        # omd_data_reader alone may not look: a person has both.
        name = f"{role}_of_tests"
        store.conn.execute(f"CREATE ROLE {name} LOGIN IN ROLE omd_reader, {role}".encode())
        try:
            page = new_page(
                dsn=f"{dsn}&options=-crole={name}" if "?" in dsn else f"{dsn} options=-crole={name}"
            )
            for path in paths:
                root = look(page, path)
                seen[role, path] = root
                assert ("secret" in root.text) == (
                    role == "omd_data_reader" and path not in ("/queue", "/log", "/delivery/1")
                ), (role, path)
                assert not root.all("a", data_action=True)
                for alert in root.all(role="alert"):
                    assert alert.attributes["data-sqlstate"] == "42501"
                    assert f'GRANT omd_data_reader TO "{name}";' in alert.text
            csv = page.get("/facts/shop/odd?csv=facts")
            assert csv.status == (403 if role == "omd_reader" else 200)
            assert ("secret" in csv.text) == (role == "omd_data_reader")
            page.close()
        finally:
            store.conn.execute(f"DROP ROLE {name}".encode())
    assert states(seen["omd_reader", "/facts/shop/odd"]) == ["42501"]
    assert states(seen["omd_reader", "/queue"]) == []
    assert states(seen["omd_data_reader", "/facts/shop/odd"]) == []
