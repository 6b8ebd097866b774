"""What becomes of a task when its claim ends: one function says it, and costs no call."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Room

ANY = (1, 2, 3, 4)
CASES = [
    # outcome, attempts of 3, asked to end, on_failure, SQLSTATE: status
    ("S", ANY, False, "RETRY", None, "DONE"),
    ("S", ANY, True, "RETRY", "OM001", "DONE"),  # it has succeeded before the wish was heard
    ("C", ANY, False, "END", None, "DONE"),
    ("C", ANY, True, "RETRY", "OM201", "DONE"),
    ("A", ANY, False, "RETRY", None, "PENDING"),  # the attempt does not count
    ("A", ANY, False, "RETRY", "OM001", "PENDING"),
    ("A", ANY, False, "END", None, "PENDING"),
    ("A", ANY, True, "RETRY", None, "CANCELLED"),
    ("F", (1, 2), False, "RETRY", None, "PENDING"),
    ("F", (1, 2), False, "RETRY", "22012", "PENDING"),
    ("F", (1, 2), False, "RETRY", "OM102", "PENDING"),  # a state may change
    ("F", (1, 2), False, "RETRY", "XOM001", "PENDING"),
    ("F", (3, 4), False, "RETRY", None, "DEAD"),
    ("F", ANY, False, "RETRY", "OM001", "DEAD"),  # a mistake of the caller
    ("F", ANY, False, "RETRY", "OM201", "DEAD"),  # or of the configuration
    ("F", ANY, False, "END", None, "DONE"),  # others try it again
    ("F", ANY, False, "END", "OM001", "DONE"),
    ("F", ANY, True, "RETRY", None, "CANCELLED"),
    ("F", ANY, True, "END", "OM001", "CANCELLED"),
]


def test_what_becomes_of_a_task(room: Room) -> None:
    query = (
        "SELECT omd_dispatch._next_status(%s, %s, %s, jsonb_populate_record("
        "NULL::omd_dispatch.task_conf_type_desc,"
        " jsonb_build_object('max_attempts', 3, 'on_failure', %s::text)), %s)"
    )
    wrong = []
    for outcome, attempts, asked, on_failure, state, status in CASES:
        for attempt in attempts:
            found = room.one(query, outcome, attempt, asked, on_failure, state)
            if found != status:
                wrong.append((outcome, attempt, asked, on_failure, state, found))
    assert wrong == []


def test_the_statement_that_ends_claims_has_the_rule_in_it(room: Room) -> None:
    """As a call it would be one for each task."""
    room.family("F")
    room.member()
    for _ in range(3):
        room.create()
    tasks = room.claim()
    with room.conn.transaction():
        room.conn.execute("SET LOCAL track_functions = 'all'")
        assert room.complete(tasks, "F") == []
        called = room.rows(
            "SELECT funcname FROM pg_stat_xact_user_functions WHERE schemaname = 'omd_dispatch'"
        )
    names = {row["funcname"] for row in called}
    assert "_end_task_data_f" in names
    assert "_next_status" not in names
