"""Stages that start by themselves: what is ready, what waits, and what makes no run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from decision.test_windows import ALL, module

if TYPE_CHECKING:
    from decision.conftest import Room

NEWS = {"when": "NEWS"}


@pytest.fixture
def fed(room: Room) -> Room:
    """A stage over a table that the Module w writes, through a view."""
    document = room.scene(ALL)
    room.conn.execute(
        "CREATE TABLE app.fed (id bigint GENERATED ALWAYS AS IDENTITY, k integer,"
        " omd_insert_datetime timestamptz, omd_insert_module_instance_id bigint);"
        "CREATE VIEW app.seen AS SELECT * FROM app.fed"
    )
    module(room, "w", "app.fed")
    document["links"] = [{"name": "a", "source": "app.seen", "arrival": "id"}]
    document["window"] = {"column": "omd_insert_datetime"}
    room.define({**document, "start": NEWS})
    return room


def redefine(room: Room, **changes: Any) -> None:
    old = room.one("SELECT definition FROM omd_report.decision_stage_list WHERE stage_code = 's'")
    room.define({k: v for k, v in {**old, **changes}.items() if v is not None})


def begin(room: Room) -> int:
    return int(room.call("omd.begin_module", module_code="w")["module_instance_id"])


def put(room: Room, run: int) -> None:
    room.conn.execute(
        "INSERT INTO app.fed (k, omd_insert_datetime, omd_insert_module_instance_id)"
        " VALUES (1, omd.stamp_datetime(%s), %s)",
        [run, run],
    )


def end(room: Room, run: int, rows: int = 1) -> None:
    room.call("omd.module_success", module_instance_id=run, rows_inserted=rows)


def feed(room: Room) -> None:
    run = begin(room)
    put(room, run)
    end(room, run)


def work(room: Room) -> tuple[Any, ...]:
    (row,) = room.rows("SELECT state, reason, waits_for FROM omd_report.work WHERE code = 's'")
    return tuple(row.values())


def nothing(room: Room) -> str:
    before = room.one("SELECT count(*) FROM omd.module_instance")
    done = room.run()
    assert (done["execution_status_code"], done["module_instance_id"]) == ("C", None), done
    assert room.one("SELECT count(*) FROM omd.module_instance") == before
    return str(done["detail"])


def test_a_run_that_brought_rows_is_news(fed: Room) -> None:
    assert work(fed) == ("IDLE", None, None)
    assert "nothing new" in nothing(fed)
    feed(fed)
    assert work(fed) == ("READY", "NEWS", None)
    assert fed.one("SELECT count(*) FROM omd_report.ready_work WHERE code = 's'") == 1
    assert fed.run()["cycles"] == 1
    assert work(fed) == ("IDLE", None, None)
    assert "nothing new" in nothing(fed)
    # A run without rows is none.
    end(fed, begin(fed), 0)
    assert work(fed) == ("IDLE", None, None)


def test_a_run_at_work_holds_news_back(fed: Room) -> None:
    """Two Modules write; what ended while the other one works may not be all."""
    module(fed, "other", "app.fed")
    redefine(fed)
    slow = int(fed.call("omd.begin_module", module_code="other")["module_instance_id"])
    put(fed, slow)
    feed(fed)
    assert work(fed) == ("WAITING", "OPEN_RUN", f"Module Instance {slow} of other")
    assert "executes" in nothing(fed)
    fed.call("omd.module_failure", module_instance_id=slow, event_detail="x")
    assert work(fed) == ("WAITING", "OPEN_RUN", f"Module Instance {slow} of other")
    again = int(fed.call("omd.begin_module", module_code="other")["module_instance_id"])
    end(fed, again, 0)
    assert work(fed) == ("READY", "NEWS", None)
    assert fed.run()["execution_status_code"] == "S"
    assert fed.one("SELECT count(*) FROM app.out") == 1


def test_a_delay_says_when_its_news_are_due(fed: Room) -> None:
    """H15: else it would spin for an hour."""
    redefine(fed, window={"column": "omd_insert_datetime", "delay": "1 hour"})
    feed(fed)
    assert work(fed) == ("WAITING", "REPEAT", None)
    assert fed.one(
        "SELECT w.not_before = p.pos + interval '1 hour' FROM omd_report.work AS w,"
        " omd.source_position AS p WHERE w.code = 's' AND p.table_code = 'app.seen'"
    )
    assert "nothing new" in nothing(fed)
    fed.owner("UPDATE omd.source SET pos = pos - interval '2 hours'")
    fed.owner("UPDATE omd.module_instance SET end_datetime = end_datetime - interval '2 hours'")
    fed.conn.execute("UPDATE app.fed SET omd_insert_datetime = now() - interval '2 hours'")
    assert work(fed) == ("READY", "NEWS", None)
    assert fed.run()["cycles"] == 1
    assert work(fed) == ("IDLE", None, None)


def test_every_so_often(fed: Room) -> None:
    redefine(fed, start={"every": "10 minutes"}, window=None)
    assert work(fed) == ("READY", "EVERY", None)
    assert fed.run()["execution_status_code"] == "S"
    assert work(fed) == ("WAITING", "REPEAT", None)
    assert fed.one(
        "SELECT not_before - now() BETWEEN interval '9 minutes' AND interval '10 minutes'"
        " FROM omd_report.work WHERE code = 's'"
    )
    fed.owner("UPDATE omd.module_instance SET start_datetime = start_datetime - interval '1 hour'")
    assert work(fed) == ("READY", "EVERY", None)
    redefine(fed, start=None)
    assert work(fed) == ("IDLE", None, None)


def test_a_rollback_is_work(fed: Room) -> None:
    feed(fed)
    run = fed.run()["module_instance_id"]
    fed.call("omd.set_next_run_indicator", next_run_indicator="R", module_instance_id=run)
    assert work(fed) == ("READY", "ROLLBACK", None)
    assert fed.run()["cycles"] == 1
    assert fed.one("SELECT count(*) FROM app.out") == 1
    assert work(fed) == ("IDLE", None, None)


def test_a_stage_whose_output_is_read_moves_the_position(fed: Room) -> None:
    """Two stages in a row: the second one starts when the first one has put out rows."""
    document = fed.one(
        "SELECT definition FROM omd_report.decision_stage_list WHERE stage_code = 's'"
    )
    fed.conn.execute(
        "CREATE TABLE app.mid (id bigint GENERATED ALWAYS AS IDENTITY, k integer,"
        " omd_insert_datetime timestamptz, omd_insert_module_instance_id bigint)"
    )
    first = {**document, "stage": "first", "outputs": [{"name": "out", "table": "app.mid"}]}
    fed.define({**first, "module": {"module_code": "first"}})
    links = [{"name": "a", "source": "app.mid", "arrival": "id"}]
    redefine(fed, links=links)
    feed(fed)
    assert work(fed) == ("IDLE", None, None)
    assert fed.run("first")["cycles"] == 1
    assert work(fed) == ("READY", "NEWS", None)
    assert fed.run()["cycles"] == 1
    assert work(fed) == ("IDLE", None, None)
    assert fed.one("SELECT count(*) FROM app.out") == 1


def test_a_failed_run_backs_off_and_is_tried_again(fed: Room) -> None:
    feed(fed)
    fed.function("jsonb_build_object('out', 1 / 0)")
    fed.ruleset({"ruleset": "f", "kind": "FUNCTION", "content": "app.f"})
    assert fed.run()["execution_status_code"] == "F"
    assert work(fed)[:2] == ("FAILED", "BACK_OFF")
    fed.owner("UPDATE omd.module_state SET not_before = now()")
    assert work(fed) == ("READY", "ROLLBACK", None)
    fed.function(ALL)
    fed.ruleset({"ruleset": "f", "kind": "FUNCTION", "content": "app.f"})
    assert fed.run()["cycles"] == 1
    assert work(fed) == ("IDLE", None, None)


def test_a_column_that_is_no_clock_gets_a_warning(fed: Room) -> None:
    said: list[str] = []
    fed.conn.add_notice_handler(lambda d: said.append(d.message_primary or ""))
    fed.conn.execute("ALTER TABLE app.a ADD at timestamptz DEFAULT now()")
    link = [{"name": "a", "source": "app.a", "arrival": "id"}]
    redefine(fed, links=link, window={"column": "at"})
    assert any("not the time of writing" in text for text in said)
    said.clear()
    fed.conn.execute("ALTER TABLE app.a ALTER at SET DEFAULT clock_timestamp()")
    redefine(fed, links=link, window={"column": "at"})
    assert not any("time of writing" in text for text in said)


def test_news_of_a_table_that_no_module_writes_is_warned_of(fed: Room) -> None:
    said: list[str] = []
    fed.conn.add_notice_handler(lambda d: said.append(d.message_primary or ""))
    fed.conn.execute("CREATE TABLE app.alone AS SELECT * FROM app.fed")
    links = [{"name": "a", "source": "app.alone", "arrival": "id"}]
    redefine(fed, start={"every": "1 minute"}, links=links)
    assert said == []
    redefine(fed, start=NEWS)
    assert [s for s in said if "app.alone" in s and "no Module writes" in s] == said != []
    # With the Module that writes it the stage is due like others.
    said.clear()
    module(fed, "alone", "app.alone")
    redefine(fed)
    assert said == []
    assert fed.conn.execute(
        "SELECT FROM omd.source_position WHERE table_code = 'app.alone'"
    ).fetchall()
