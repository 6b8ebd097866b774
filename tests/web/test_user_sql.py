"""Which actions run SQL of users follows from what their procedures execute.

Whatever stands in a catalog of OMD as a text, and whatever reads or writes a table of users, may
call a function of theirs, so no rollback undoes all of it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]

# Routines that EXECUTE texts of users, or statements over tables of theirs.
OF_USERS = {
    "omd._keep_deferred",
    "omd._look_before_truncate",
    "omd._refuse_losses",
    "omd._take_referring",
    "omd.confirm_rollback",
    "omd.delete_stamped",
    "omd.execute_module",
    "omd.find_references",
    "omd.recall_counts",
    "omd.rollback_module",
    "omd.rows_of_runs",
    "omd.take_back_rows",
    "omd_decision.test_ruleset",
    "omd_dispatch._read_source",
    "omd_lineage._fill_kept_table",
    "omd_lineage._hand_on_rows",
    "omd_lineage._newest_row",
    "omd_lineage._next_block",
    "omd_lineage._unread_rows",
    "omd_lineage._walk_block",
    "omd_lineage.put_back_rows",
    "omd_provenance._row_positions",
}
# Those that EXECUTE only what OMD has made of its own tables and names, or that let the server
# read a text of users without running it.
OF_OMD = {
    "omd._clear_server_bound",
    "omd._has_strangers",
    "omd._restore_settings",
    "omd._skip_counters",
    "omd._skip_numbers",
    "omd._statement_inputs",
    "omd.base_tables",
    "omd.block_stands",
    "omd.finish_run",
    "omd.plan_block",
    "omd.readable_until",
    "omd.tell_undo",
    "omd_delivery._delete_delta",
    "omd_delivery._delete_strays",
    "omd_delivery._revert_entity",
    "omd_delivery.recall_effects",
    "omd_delivery.require_delta",
    "omd_dispatch._change_model",
    "omd_dispatch._has_task",
    "omd_dispatch._hold_model",
    "omd_dispatch._index_tasks",
    "omd_dispatch._insert_tasks",
    "omd_dispatch._lock_task",
    "omd_dispatch._make_job_tables",
    "omd_dispatch._mark_suspended",
    "omd_dispatch._name_indexes",
    "omd_dispatch._raise_invalid_criterion",
    "omd_dispatch._release_held_tasks",
    "omd_dispatch._set_storage",
    "omd_dispatch.cancel_task",
    "omd_dispatch.register_task_type",
    "omd_dispatch.reschedule_task",
    "omd_dispatch.revive_task",
    "omd_dispatch.suspend",
    "omd_facts._analyze_grown",
    "omd_facts._analyze_removed",
    "omd_facts._has_rows",
    "omd_facts._index_tables",
    "omd_facts._load_entity",
    "omd_facts._load_roots",
    "omd_facts._refused_key",
    "omd_facts._removed_anchors",
    "omd_facts._undo_load",
    "omd_facts.recall_effects",
    "omd_facts.resync",
    "omd_lineage._kept_statement",
}


def code_of(definition: str) -> str:
    """Return the body of a routine without comments and texts."""
    body = definition[max(definition.find("\nAS $"), 0) :]
    body = re.sub(r"--[^\n]*", "", body)
    body = re.sub(r"\$sql\$.*?\$sql\$", "", body, flags=re.DOTALL)
    return re.sub(r"'(?:[^']|'')*'", "''", body)


def routines(conn: Connection) -> dict[str, str]:
    """Return the code of each routine of OMD by its name."""
    found: dict[str, str] = {}
    for row in conn.execute(
        "SELECT format('%s.%s', n.nspname, p.proname) AS name, pg_get_functiondef(p.oid) AS text"
        " FROM pg_proc AS p INNER JOIN pg_namespace AS n ON n.oid = p.pronamespace"
        " WHERE n.nspname ~ '^omd'"
    ):
        found[row["name"]] = found.get(row["name"], "") + code_of(row["text"])
    return found


def test_which_actions_run_sql_of_users_follows_from_their_procedures(conn: Connection) -> None:
    code = routines(conn)
    calls = {
        name: set(re.findall(r"\bomd\w*\.\w+(?=\s*\()", text)) & code.keys()
        for name, text in code.items()
    }
    executes = {name for name, text in code.items() if re.search(r"\bEXECUTE\b", text)}
    reached: set[str] = set()
    wrong = {}
    for action in conn.execute("SELECT * FROM omd_web.action"):
        seen, todo = {action["routine"]}, [action["routine"]]
        while todo:
            new = calls[todo.pop()] - seen
            seen |= new
            todo += new
        reached |= seen & executes
        runs = bool(seen & OF_USERS)
        if runs != action["runs_user_sql"]:
            wrong[action["action_code"]] = sorted(seen & OF_USERS)
    assert wrong == {}
    # Who writes another EXECUTE says here what it executes; what is gone goes from the lists.
    assert reached == OF_USERS | OF_OMD
    assert (
        conn.execute(
            "SELECT FROM omd_web.action WHERE runs_user_sql AND preview <> 'NONE'"
        ).fetchall()
        == []
    )
