"""``/task/{id}``: what a task is, and why it waits."""

from __future__ import annotations

from collections.abc import Sequence

from omd.programs.page.markup import Html, described, el, join, moment
from omd.programs.web import cells, linked, lists
from omd.programs.web.screens import queue
from omd.programs.web.section import Asked, Row, Screen, Section, Select


def screen(asked: Asked) -> Screen:
    """Return a task."""
    lists.require(
        asked,
        "SELECT FROM omd_dispatch.explain_task(%(id)s::bigint)",
        f"task {asked.path['id']}",
    )
    key = {"task_id": asked.path["id"], "limit": 1}
    why = Select(
        "SELECT * FROM omd_dispatch.explain_task(%(task_id)s::bigint) LIMIT %(limit)s", key
    )
    state = Select(
        "SELECT * FROM omd_dispatch.explain_task(%(task_id)s::bigint) LIMIT %(limit)s", key
    )
    error = Select(
        "SELECT status, finished_at, error FROM omd_dispatch.explain_task(%(task_id)s::bigint)"
        " LIMIT %(limit)s",
        key,
    )
    return Screen(
        "task",
        f"Task {asked.path['id']}",
        (
            Section("why", "Why it is so", (why,), _why),
            linked.actions(asked, "TASK", asked.path["id"]),
            Section("state", "The task", (state,), _state),
            Section("error", "Its last error", (error,), _error, is_data=True),
        ),
    )


_REASONS = {
    "SUSPENDED": "A suspension holds it.",
    "NOT_DUE": "It is not due yet.",
    "LANE_FULL": "Its lane is full.",
    "NO_BACKEND": "It is due, and no worker of its group lives.",
    "DUE": "It is due, and waits for a worker.",
    "CLAIMED": "A worker has it.",
    "DONE": "It is done.",
    "DEAD": "It is dead: its attempts are used up.",
    "CANCELLED": "It was cancelled.",
}


def _why(rows: Sequence[Row]) -> Html:
    row = rows[0]
    title = _REASONS.get(row["reason"], row["reason"])
    answer = el("p", queue.status(row["status"]), " ", el("b", title), data_reason=row["reason"])
    return join([answer, el("p", cells.words(row["detail"]))])


def _state(rows: Sequence[Row]) -> Html:
    row = rows[0]
    return described(
        {
            "Family": cells.text(row["family_code"]),
            "Type": cells.text(row["task_type"]),
            "Criteria": cells.pairs(row["criteria"]),
            "Payload": cells.document(row["payload"]),
            "Status": queue.status(row["status"]),
            "Lane": cells.text(row["lane"]),
            "Priority": row["priority"],
            "Due": moment(row["execution_time"]),
            "Attempt": row["attempt"],
            "Suspension": row["suspension_id"],
            "Worker": cells.text(row["claimed_by"]),
            "Taken": moment(row["claimed_at"]) or None,
            "Is to end": "yes" if row["cancel_requested"] else None,
            "Created": moment(row["created_at"]),
            "Finished": moment(row["finished_at"]) or None,
            "Schedule": cells.text(row["schedule_code"]),
            "Batch run": cells.batch_run(row["batch_instance_id"]),
            "Module run": cells.run(row["module_instance_id"]),
            "Outcome": cells.words(row["outcome"]),
        }
    )


def _error(rows: Sequence[Row]) -> Html:
    error = rows[0]["error"]
    return lists.nothing("It has none.") if error is None else el("pre", error, tabindex=0)
