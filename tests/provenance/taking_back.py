"""A recall in small: what the act does in a room, in one transaction, without a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from support.flow import Flow

ROOMS = ("omd_decision", "omd_lineage")


def recalling(flow: Flow) -> int:
    """Begin the run of a recall."""
    if not flow.rows("SELECT 1 FROM omd.module WHERE module_code = 'provenance.recall'"):
        flow.call(
            "omd.register_module",
            module_code="provenance.recall",
            area_code="INT",
            table_code="nowhere.recall",
            platform_code="POSTGRES",
        )
    run = flow.call("omd.create_module_instance", module_code="provenance.recall")
    return int(run["module_instance_id"])


def follows(flow: Flow, *runs: int) -> set[int]:
    """Return the runs that must go with these, to the end."""
    found = set(runs)
    while True:
        more = {
            row["module_instance_id"]
            for room in ROOMS
            for row in flow.rows(f"SELECT * FROM {room}.recall_follows(%s, NULL)", sorted(found))
        }
        if more <= found:
            return found
        found |= more


def effects(flow: Flow, runs: Iterable[int], *, counted: bool = True) -> list[dict[str, Any]]:
    given = sorted(runs)
    return [
        row
        for room in ROOMS
        for row in flow.rows(f"SELECT * FROM {room}.recall_effects(%s, %s)", given, counted)
    ]


def take_back(
    flow: Flow,
    *runs: int,
    recall: int = 1,
    readers: Iterable[int] = (),
    locked: bool = True,
    role: str | None = None,
) -> int:
    """Take the runs back as a recall does, readers first; return the run of the recall.

    What goes is what the effects have said before.
    """
    every = sorted({*runs, *readers})
    planned = {
        (row["module_instance_id"], row["table_code"]): (row["rows_go"], row["rows_back"])
        for row in effects(flow, every)
        if row["action"] == "UNDO"
    }
    id = recalling(flow)
    with flow.conn.transaction():
        flow.owner(
            "UPDATE omd.module_instance SET rollback_instance_array = %s"
            " WHERE module_instance_id = %s",
            every,
            id,
        )
        for room in reversed(ROOMS) if locked else ():
            flow.conn.execute(f"SELECT {room}.recall_locks(%s)".encode(), [every])
        if role:
            flow.conn.execute(f"SET LOCAL ROLE {role}".encode())
        for group in ([*readers], [*runs]):
            for room in ROOMS if group else ():
                for row in flow.rows(
                    f"SELECT * FROM {room}.take_back(%s, %s, %s, 'bad')", group, id, recall
                ):
                    gone = row["rows_gone"], row["rows_returned"]
                    assert planned[row["module_instance_id"], row["table_code"]] == gone, row
    return id
