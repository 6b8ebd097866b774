"""Dead tasks and failing schedules are heard as events (docs/explanation/events.md)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from support.events import published

if TYPE_CHECKING:
    from conftest import Room


def told(room: Room, kind: str) -> list[tuple[Any, ...]]:
    """Publish, and return what was told of this type: subject, code and detail."""
    published(room)
    rows = room.rows(
        "SELECT subject_type, subject_id, code, detail FROM omd_report.events"
        " WHERE event_type = %s ORDER BY event_number",
        kind,
    )
    return [tuple(row.values()) for row in rows]


def test_a_task_that_is_given_up(room: Room) -> None:
    room.family()
    room.member()
    room.create("a")
    room.create("b")
    done, dead = room.claim()
    room.complete([done], "S")
    failure = {"error": "secret of row 7", "error_code": "OM201"}
    with room.conn.transaction(force_rollback=True):
        assert room.complete([dead], "F", **failure) == []
    assert told(room, "TASK_DEAD") == []
    room.complete([dead], "F", **failure)
    expected = ("TASK", dead["task_id"], "F/T", {"attempt": 1})
    assert told(room, "TASK_DEAD") == [expected]
    assert room.rows("SELECT FROM omd_dispatch.task_death") == []
    room.call("revive_task", task_id=dead["task_id"])
    (again,) = room.claim()
    room.complete([again], "F", **failure)
    assert [event[:3] for event in told(room, "TASK_DEAD")] == [expected[:3]] * 2


def test_a_source_that_fails_for_long_is_told_once_and_when_it_is_over(room: Room) -> None:
    room.family()
    room.conn.execute(
        "CREATE TABLE public.says AS SELECT 0 AS n;"
        "CREATE VIEW public.v_bad AS SELECT (1 / n)::text AS code FROM public.says"
    )
    room.call(
        "register_schedule",
        schedule_code="s",
        family_code="F",
        task_type="T",
        source="public.v_bad",
        every="5 seconds",
        next_time=room.one("SELECT now() - interval '1 s'"),
    )

    def later() -> None:
        room.owner(
            "UPDATE omd_dispatch.task_schedule SET next_time = next_time - interval '10 s',"
            " failed_time = failed_time - interval '10 s', retry_time = NULL"
        )
        room.maintain()

    def reasons() -> list[str]:
        return [event[3]["reason"] for event in told(room, "SCHEDULE_FAILED")]

    for _ in range(2):
        before = len(reasons())
        room.conn.execute("UPDATE public.says SET n = 0")
        room.maintain()
        for _ in range(4):
            later()
        lost = room.one("SELECT lost_count FROM omd_dispatch.task_schedule")
        assert lost >= 3
        assert reasons()[before:] == ["PROBLEM", "LOST"]
        room.conn.execute("UPDATE public.says SET n = 1")
        later()
        lost = room.one("SELECT lost_count FROM omd_dispatch.task_schedule")
        room.owner("UPDATE omd_dispatch.task_schedule SET lost_count = 0")
        later()
        assert reasons()[before:] == ["PROBLEM", "LOST", "RECOVERED"]
        assert told(room, "SCHEDULE_FAILED")[-1][3] == {"reason": "RECOVERED", "lost": lost}
    failures = "SELECT sum(value) FROM omd_event.uncounted WHERE metric_name = %s"
    assert room.one(failures, "omd_schedule_failures_total") in {None, 4}
    logged = room.rows(
        "SELECT event_return_code_details AS code FROM omd.event_log WHERE"
        " starts_with(event_detail, 'schedule s: ') ORDER BY event_id"
    )
    assert [row["code"] for row in logged] == ["OCCURRENCE LOST", "RECOVERED"] * 2


def test_a_schedule_that_has_a_problem_and_loses_an_occurrence(room: Room) -> None:
    room.family()
    room.conn.execute("CREATE TABLE public.says AS SELECT 0 AS n")
    room.conn.execute(
        "CREATE VIEW public.v_bad AS SELECT 'secret of row 7' || 1 / n AS code FROM public.says"
    )
    room.call(
        "register_schedule",
        schedule_code="s",
        family_code="F",
        task_type="T",
        source="public.v_bad",
        missed="ONCE",
        every="1 hour",
        next_time=room.one("SELECT now() - interval '1 s'"),
    )
    room.maintain()
    problem = ("SCHEDULE", 0, "s", {"reason": "PROBLEM", "return_code": "22012"})
    assert told(room, "SCHEDULE_FAILED") == [problem]
    # The same problem again is no news; the next occurrence is due before it is mended.
    room.owner(
        "UPDATE omd_dispatch.task_schedule SET attempt = 7, failed_time = next_time - %s,"
        " next_time = next_time - %s, retry_time = NULL",
        timedelta(hours=1),
        timedelta(hours=1),
    )
    room.conn.execute("UPDATE public.says SET n = 1")
    room.maintain()
    assert room.one("SELECT lost_count FROM omd_dispatch.task_schedule") == 1
    events = told(room, "SCHEDULE_FAILED")
    assert events[0] == problem
    assert [event[3]["reason"] for event in events] == ["PROBLEM", "LOST", "RECOVERED"]
    assert events[2][3] == {"reason": "RECOVERED", "lost": 1}
    assert "secret" not in str(room.rows("SELECT * FROM omd_event.event"))
