"""Windows over a time of writing: no row is passed over, whoever is at work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from decision.conftest import Room

    Background = Callable[..., Future[Any]]
    UntilSettled = Callable[[Room, Future[Any]], None]

ALL = "jsonb_build_object('out', p -> 'a')"
PASSED = "INSERT INTO app.a (id, k, at, omd_insert_module_instance_id) VALUES (%s, 1, %s, %s)"


def windowed(room: Room, source: str = "app.a") -> dict[str, Any]:
    """Define a stage with a window over one link, which puts out what it reads."""
    document = room.scene(ALL)
    room.conn.execute(
        "ALTER TABLE app.a ADD at timestamptz DEFAULT clock_timestamp(),"
        " ADD omd_insert_module_instance_id bigint;"
        " CREATE VIEW app.seen AS SELECT * FROM app.a WHERE k > 0"
    )
    document["links"] = [{"name": "a", "source": source, "arrival": "id"}]
    document["window"] = {"column": "at"}
    room.define(document)
    return document


def decided(room: Room, **arguments: Any) -> int:
    """Run the stage; return how many rows it has read; 0 as well where no run began."""
    done = room.run(**arguments)
    if done["execution_status_code"] == "C":
        assert done["module_instance_id"] is None
        assert done["detail"]
        return 0
    assert done["execution_status_code"] == "S", done
    return int(
        room.one(
            "SELECT rows_input FROM omd.module_instance WHERE module_instance_id = %s",
            done["module_instance_id"],
        )
    )


def module(room: Room, code: str, table: str, **more: Any) -> None:
    room.call(
        "omd.register_module",
        module_code=code,
        area_code="INT",
        table_code=table,
        table_type_code="HUB",
        platform_code="POSTGRES",
        **more,
    )


def said(room: Room) -> list[str]:
    """Return what runs have said of their windows, the newest first."""
    found = room.rows(
        "SELECT event_detail AS d FROM omd.event_log WHERE event_return_code_details = 'WINDOW'"
        " ORDER BY event_id DESC"
    )
    return [row["d"] for row in found]


@pytest.mark.parametrize(
    ("source", "target"), [("app.a", "app.a"), ("app.seen", "app.a"), ("app.a", "app.seen")]
)
def test_rows_of_a_run_that_is_still_at_work_are_decided_later(
    room: Room, source: str, target: str
) -> None:
    windowed(room, source)
    module(room, "w", target)
    room.fill("a", (1, 1))
    run = room.call("omd.begin_module", module_code="w")
    stamp = room.one("SELECT omd.stamp_datetime(%s)", run["module_instance_id"])
    room.fill("a", (2, 1))
    # The row of another writer is younger than those that the run will bring.
    assert decided(room) == 1
    assert "executes" in said(room)[0]
    room.conn.execute(PASSED, [3, stamp, run["module_instance_id"]])
    assert decided(room) == 0
    room.call("omd.module_success", module_instance_id=run["module_instance_id"])
    assert decided(room) == 2
    assert decided(room) == 0


def test_a_run_that_waits_for_its_rollback_holds_the_window_back(room: Room) -> None:
    windowed(room)
    module(room, "w", "app.a")
    run = room.call("omd.begin_module", module_code="w")
    room.conn.execute(PASSED, [1, "now", run["module_instance_id"]])
    room.call("omd.module_failure", module_instance_id=run["module_instance_id"], event_detail="x")
    room.fill("a", (2, 1))
    assert decided(room) == 0
    assert "waits for its rollback" in said(room)[0]
    again = room.call("omd.begin_module", module_code="w")
    room.conn.execute(PASSED, [3, "now", again["module_instance_id"]])
    room.call("omd.module_success", module_instance_id=again["module_instance_id"])
    assert decided(room) == 2


@pytest.mark.parametrize("place", ["app.a", "app.child", "app.parent"])
def test_rows_of_an_open_transaction_are_decided_later(
    room: Room, another: Callable[..., Room], place: str
) -> None:
    """The window looks at the table, at what inherits from it, and at its parents."""
    windowed(room)
    room.conn.execute(
        "CREATE TABLE app.child () INHERITS (app.a);"
        " CREATE TABLE app.parent (id integer, k integer, v text);"
        " ALTER TABLE app.a INHERIT app.parent"
    )
    writer = another()
    with writer.conn.transaction():
        writer.conn.execute(f"LOCK TABLE ONLY {place} IN ROW EXCLUSIVE MODE".encode())
        room.fill("a", (1, 1))
        assert decided(room) == 0
        assert "writes to app.a" in said(room)[0]
        # The start of its transaction is the time of its row.
        writer.conn.execute("INSERT INTO app.a (id, k, at) VALUES (2, 1, now())")
    assert decided(room) == 2


def test_an_end_that_is_asked_for_is_cut_to_what_is_visible(room: Room) -> None:
    windowed(room)
    room.fill("a", (1, 1))
    assert decided(room, end_value="2100-01-01") == 1
    room.fill("a", (2, 1))
    assert decided(room) == 1
    assert decided(room, end_value="2100-01-01") == 0
    start = room.one("SELECT max(end_value) FROM omd.source_control")
    assert room.one("SELECT %s < clock_timestamp()", start)
    room.refused("OM010", "run_stage", stage_code="s", end_value="2001-01-01")


def test_a_stage_decides_what_a_stage_in_a_batch_is_still_writing(
    room: Room,
    another: Callable[..., Room],
    background: Background,
    until_settled: UntilSettled,
) -> None:
    """Stamps are not those of the CALL, which has begun before the run."""
    first = room.scene(ALL)
    room.conn.execute(
        "CREATE TABLE app.mid (id bigint GENERATED ALWAYS AS IDENTITY, k integer,"
        " omd_insert_datetime timestamptz, omd_insert_module_instance_id bigint)"
    )
    module(room, "slow", "dwh.slow", executable="SELECT pg_advisory_xact_lock(1)")
    first["links"] = [{"name": "a", "source": "app.a", "arrival": "id"}]
    first |= {"stage": "first", "outputs": [{"name": "out", "table": "app.mid"}]}
    room.define(first)
    second = {**first, "stage": "second", "outputs": [{"name": "out", "table": "app.out"}]}
    second["links"] = [{"name": "a", "source": "app.mid", "arrival": "id"}]
    second["window"] = {"column": "omd_insert_datetime"}
    room.define(second)
    room.call("omd.register_batch", batch_code="b", frequency_code="Adhoc")
    for place, member in enumerate(["slow", "first"], 1):
        room.call("omd.add_module_to_batch", batch_code="b", module_code=member, sequence=place)
    room.fill("a", (1, 1), (2, 1))
    writer = another()
    room.conn.execute("SELECT pg_advisory_lock(1)")
    call = background(writer.call, "omd.run_batch", batch_code="b")
    until_settled(writer, call)
    # It has seen everything up to now, and the CALL has begun.
    assert room.run("second")["execution_status_code"] == "S"
    room.conn.execute("SELECT pg_advisory_unlock(1)")
    assert call.result(timeout=60)["execution_status_code"] == "S"
    done = room.run("second")
    assert (done["execution_status_code"], done["cycles"]) == ("S", 1), done
    assert room.one("SELECT count(*) FROM app.out") == 2
    assert (
        room.one(
            "SELECT count(*) FROM app.mid AS r INNER JOIN omd.module_instance AS i"
            " ON r.omd_insert_module_instance_id = i.module_instance_id"
            " WHERE r.omd_insert_datetime < i.start_datetime"
        )
        == 0
    )


def test_an_output_that_is_not_the_target_of_its_module_holds_back_too(room: Room) -> None:
    """Spark writes every output row by row, long before the run succeeds."""
    document = windowed(room)
    writer = {
        **document,
        "stage": "w",
        "outputs": [
            {"name": "x", "table": "app.out"},
            {"name": "y", "table": "app.a", "columns": ["id"]},
        ],
        "links": [{"name": "b", "source": "app.b", "arrival": "id"}],
    }
    del writer["window"]
    room.define(writer)
    run = room.call("begin_stage", stage_code="w")
    assert run["processing_indicator"] == "P"
    room.fill("a", (1, 1))
    assert decided(room) == 0
    assert "of w executes" in said(room)[0]
    room.call("omd.module_failure", module_instance_id=run["module_instance_id"], event_detail="x")
    assert decided(room) == 0


def test_a_stamp_is_never_before_the_start_of_its_run(room: Room) -> None:
    module(room, "w", "dwh.w")
    run = room.call("omd.begin_module", module_code="w")["module_instance_id"]
    assert room.one(
        "SELECT omd.stamp_datetime(%s) >= start_datetime FROM omd.module_instance"
        " WHERE module_instance_id = %s",
        run,
        run,
    )
    # The clock of the server was set back.
    room.owner("UPDATE omd.module_instance SET start_datetime = '2100-01-01'")
    assert str(room.one("SELECT omd.stamp_datetime(%s)", run)).startswith("2100-01-01")
    for wrong, sqlstate in ((None, "OM005"), (99, "OM004")):
        with pytest.raises(Exception) as caught:  # noqa: PT011
            room.one("SELECT omd.stamp_datetime(%s)", wrong)
        assert caught.value.sqlstate == sqlstate  # type: ignore[attr-defined]


def test_a_run_says_where_its_end_by_the_clock_lies_before_or_behind_the_rows(room: Room) -> None:
    windowed(room)
    room.conn.execute("ALTER TABLE app.a ALTER at DROP DEFAULT")
    room.conn.execute("INSERT INTO app.a (id, k, at) VALUES (1, 1, '2001-01-01')")
    assert decided(room) == 1
    assert "never read" in said(room)[0]
    room.conn.execute("INSERT INTO app.a (id, k, at) VALUES (2, 1, '2100-01-01')")
    assert decided(room) == 0
    assert "has rows up to 2100" in said(room)[0]
    room.conn.execute("DELETE FROM app.a; ALTER TABLE app.a ALTER at SET DEFAULT now()")
    room.fill("a", (3, 1))
    before = len(said(room))
    assert decided(room) == 1
    assert len(said(room)) == before
