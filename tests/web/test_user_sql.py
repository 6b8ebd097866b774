"""Which actions run SQL of users follows from what their procedures execute; no screen does.

Whatever stands in a catalog of OMD as a text, and whatever reads or writes a table of users, may
call a function of theirs, so no rollback undoes all of it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import omd

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]

# Routines that EXECUTE texts of users, or statements over tables of theirs.
OF_USERS = {
    "omd._keep_deferred",
    "omd._look_for_left_rows",
    "omd._look_before_truncate",
    "omd._refuse_losses",
    "omd._take_referring",
    "omd._confirm_rollback",
    "omd.delete_stamped",
    "omd._statement_inputs",
    "omd.execute_module",
    "omd.find_references",
    "omd.recall_counts",
    "omd.rollback_module",
    "omd.rows_of_runs",
    "omd.take_back_rows",
    "omd_decision.test_ruleset",
    "omd_dispatch._read_source",
    "omd_lineage._block_of_rows",
    "omd_lineage._fill_kept_table",
    "omd_lineage._hand_on_rows",
    "omd_lineage._newest_row",
    "omd_lineage._taken_rows",
    "omd_lineage._unread_rows",
    "omd_lineage._walk_block",
    "omd_lineage.put_back_rows",
    "omd_provenance._input_steps",
    "omd_provenance._row_positions",
    "omd_provenance._versions",
}
# Those that do no such thing in a session whose setting omd.user_code is off, as the page's are.
SETTING = "current_setting('omd.user_code', TRUE) = 'off'"
LOOKS_FIRST = {
    "omd._look_at_sql",
    "omd.register_module",
    "omd_provenance._input_steps",
    "omd_provenance._row_positions",
    "omd_provenance._versions",
}
# Those that EXECUTE only what OMD has made of its own tables and names.
OF_OMD = {
    "omd._forget_attempts",
    "omd._clear_server_bound",
    "omd._has_strangers",
    "omd._old_history",
    "omd._restore_settings",
    "omd._skip_counters",
    "omd._skip_numbers",
    "omd._undo_for_room",
    "omd.base_tables",
    "omd.block_stands",
    "omd.block_upto",
    "omd.next_position",
    "omd.plan_block",
    "omd.readable_until",
    "omd.tell_undo",
    "omd_delivery._context_keys",
    "omd_delivery._delete_delta",
    "omd_delivery._delete_strays",
    "omd_delivery._revert_entity",
    "omd_delivery.recall_effects",
    "omd_delivery.require_delta",
    "omd_delivery.undo_update",
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
    "omd_dispatch._some_dead",
    "omd_dispatch._tasks_of_status",
    "omd_dispatch._unserved_types",
    "omd_dispatch.cancel_task",
    "omd_dispatch.dead_tasks",
    "omd_dispatch.explain_task",
    "omd_dispatch.queue_lanes",
    "omd_dispatch.register_task_type",
    "omd_dispatch.reschedule_task",
    "omd_dispatch.revive_task",
    "omd_dispatch.search_tasks",
    "omd_dispatch.suspend",
    "omd_dispatch.task_text",
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
    "omd_provenance._effects",
    "omd_provenance._effects_of_own",
    "omd_provenance._follows",
    "omd_provenance._lock_recall",
    "omd_provenance._take_back",
    "omd_provenance._take_back_own",
    "omd_web._evaluate",
    "omd_web.bulk",
    "omd_web.preview",
}


def code_of(definition: str) -> str:
    """Return the body of a routine without comments and texts."""
    body = definition[max(definition.find("\nAS $"), 0) :]
    body = re.sub(r"--[^\n]*", "", body)
    body = re.sub(r"\$sql\$.*?\$sql\$", "", body, flags=re.DOTALL)
    return re.sub(r"'(?:[^']|'')*'", "''", body)


class Calls:
    """What each routine and view of OMD names: a routine by its name and parentheses."""

    def __init__(self, conn: Connection) -> None:
        self.code: dict[str, str] = {}
        hooks: dict[str, set[str]] = {}
        for row in conn.execute("SELECT hook, routine FROM omd.room_hook"):
            hooks.setdefault(f"'{row['hook']}'", set()).add(f"{row['routine']}()")
        hooked: dict[str, set[str]] = {}
        for row in conn.execute(
            "SELECT format('%s.%s()', n.nspname, p.proname) AS name,"
            " coalesce(pg_get_function_sqlbody(p.oid), pg_get_functiondef(p.oid)) AS text"
            " FROM pg_proc AS p INNER JOIN pg_namespace AS n ON n.oid = p.pronamespace"
            " WHERE n.nspname ~ '^omd'"
            " UNION ALL"
            " SELECT format('%s.%s', n.nspname, c.relname), pg_get_viewdef(c.oid)"
            " FROM pg_class AS c INNER JOIN pg_namespace AS n ON n.oid = c.relnamespace"
            " WHERE n.nspname ~ '^omd' AND c.relkind = 'v'"
        ):
            self.code[row["name"]] = self.code.get(row["name"], "") + code_of(row["text"])
            is_routine = row["name"].endswith("()")  # a view only tells which hooks there are
            for hook in re.findall(r"'[A-Z_]+'", row["text"]) if is_routine else ():
                hooked.setdefault(row["name"], set()).update(hooks.get(hook, ()))
        self.calls = {
            name: self.named(text) | hooked.get(name, set()) for name, text in self.code.items()
        }
        # A room is called for a hook that its caller names, or by the name that stands in another
        # table; each action is looked at below.
        rooms: dict[str, set[str]] = {}
        for row in conn.execute(
            "SELECT table_schema || '.' || table_name AS name, quote_ident(column_name) AS its"
            " FROM information_schema.columns"
            " WHERE table_schema ~ '^omd' AND table_schema <> 'omd_web'"
            " AND column_name ~ '(^|_)routine$' AND table_name <> 'room_hook'"
        ):
            for of in conn.execute(
                f"SELECT DISTINCT {row['its']} AS name FROM {row['name']}".encode()
            ):
                if f"{of['name']}()" in self.code:
                    rooms.setdefault(row["name"], set()).add(f"{of['name']}()")
        for name in self.executes:
            for table in re.findall(NAME, self.code[name]):
                self.calls[name] |= rooms.get(table[0], set())

    @property
    def executes(self) -> set[str]:
        return {name for name, text in self.code.items() if re.search(r"\bEXECUTE\b", text)}

    def named(self, text: str) -> set[str]:
        """Return the routines and views that a text names."""
        return {f"{name}{'()' if is_called else ''}" for name, is_called in re.findall(NAME, text)
                } & self.code.keys()  # fmt: skip

    def reached(self, *names: str, past: bool = True) -> set[str]:
        """Return the routines that these reach; not past those that look at the setting first."""
        seen, todo = {*names}, [*names]
        while todo:
            name = todo.pop()
            if past or name.removesuffix("()") not in LOOKS_FIRST:
                new = self.calls[name] - seen
                seen |= new
                todo += new
        return {name.removesuffix("()") for name in seen if name.endswith("()")}


NAME = r"\b(omd\w*\.\w+)(\s*\()?"


def test_which_actions_run_sql_of_users_follows_from_their_procedures(conn: Connection) -> None:
    calls = Calls(conn)
    reached: set[str] = set()
    wrong = {}
    for action in conn.execute("SELECT * FROM omd_web.action"):
        seen = calls.reached(f"{action['routine']}()", past=False)
        reached |= calls.reached(f"{action['routine']}()")
        its = seen & OF_USERS - LOOKS_FIRST
        if bool(its) != action["runs_user_sql"]:
            wrong[action["action_code"]] = sorted(its)
    assert wrong == {}
    reached |= calls.reached(*asked(conn, calls))
    # Who writes another EXECUTE says here what it executes; what is gone goes from the lists.
    executes = {name.removesuffix("()") for name in calls.executes}
    assert reached & executes == OF_USERS | OF_OMD
    assert (
        conn.execute(
            "SELECT FROM omd_web.action WHERE runs_user_sql AND preview <> 'NONE'"
        ).fetchall()
        == []
    )


def asked(conn: Connection, calls: Calls) -> set[str]:
    """Return what the page asks: in its own texts, and in those of its tables."""
    texts = [
        file.read_text()
        for file in Path(omd.__file__).parent.joinpath("programs/web").rglob("*.py")
    ]
    found: set[str] = set()
    for row in conn.execute("SELECT plan_query, offered_when, arguments FROM omd_web.action"):
        texts += [code_of(row["plan_query"] or ""), code_of(row["offered_when"])]
        texts.append(str(row["arguments"]))
    for row in conn.execute("SELECT view_name AS name FROM omd_web.object_kind"):
        found |= {row["name"], f"{row['name']}()"} & calls.code.keys()
    return found.union(*map(calls.named, texts))


def test_no_statement_of_the_page_runs_sql_of_users(conn: Connection) -> None:
    calls = Calls(conn)
    for name in LOOKS_FIRST:
        definition = conn.execute(
            "SELECT prosrc AS text FROM pg_proc WHERE oid = %s::regproc", [name]
        ).fetchone()
        assert definition
        assert SETTING in definition["text"], name
    found = {
        name: runs
        for name in asked(conn, calls)
        if (runs := calls.reached(name, past=False) & OF_USERS - LOOKS_FIRST)
    }
    assert found == {}
