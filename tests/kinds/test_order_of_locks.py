"""Runs lock rows in one order, so that none of them waits for another in a circle (H1).

The order is read from the plans that a session executes and from its ends of transactions, where
the server has auto_explain. Rows of one table are one here, and an inserted row is nobody's.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from support.plans import require_plans

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

    from kinds.conftest import Platform

# Interfaces (delivery's, then those of facts), offsets of topics, positions, Modules, instances.
ORDER = [
    "omd_delivery.interface",
    "omd_facts.interface",
    "omd_lineage.offsets",
    "omd.source",
    "omd.module",
    "omd.module_instance",
]

SOURCE_FIRST = {
    # H4: who waits for readers holds nothing else meanwhile.
    ("omd.source", "omd_delivery.interface"),
    ("omd.source", "omd_facts.interface"),
}
# A run that executes locks its own instance, so that nobody declares it dead while it commits. Who
# has what it waits for then finds it executing, and does not wait for it.
OWN_RUN = ("omd.module_instance", "omd_facts.interface")
EXCEPTIONS = {
    "load": {OWN_RUN},
    "night": {OWN_RUN},
    "load_again": {OWN_RUN, *SOURCE_FIRST},
    # It writes R to the load, and a begin that would undo this load has to have the position.
    "undo": {("omd.module_instance", "omd.module"), *SOURCE_FIRST},
    "restate": {("omd.module_instance", "omd_lineage.offsets")},
}


class Trace:
    """The rows that a session locks, by table, in each of its transactions."""

    def __init__(self, conn: psycopg.Connection[Any]) -> None:
        self.conn = conn
        self.transactions: list[list[tuple[str, str]]] = [[]]

    def __enter__(self) -> Trace:
        self.conn.execute(
            "SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on;"
            "SET auto_explain.log_analyze = on; SET auto_explain.log_timing = off;"
            "SET auto_explain.log_format = json; SET auto_explain.log_verbose = on;"
            "SET auto_explain.log_level = notice"
        )
        self.conn.add_notice_handler(self.hear)
        self.conn.execute("SET client_min_messages = debug5")
        return self

    def __exit__(self, *_: object) -> None:
        self.conn.execute("SET client_min_messages = warning")
        self.conn.remove_notice_handler(self.hear)
        self.conn.execute("SET auto_explain.log_min_duration = -1; RESET client_min_messages")

    def hear(self, said: psycopg.errors.Diagnostic) -> None:
        text = said.message_primary or ""
        if text.startswith(("CommitTransaction(1)", "AbortTransaction", "AbortCurrent")):
            self.transactions.append([])
        elif "plan:" in text:
            plan = json.loads(text.split("plan:", 1)[1])
            self.walk(plan["Plan"], plan["Query Text"])

    def walk(self, node: dict[str, Any], query: str) -> None:
        children = node.get("Plans", [])
        for child in children:
            self.walk(child, query)
        if node["Node Type"] == "LockRows" and node.get("Actual Rows"):
            only = re.findall(r"\bOF\s+(\w+)", query[query.upper().rfind("FOR ") :])
            for table, alias in scanned(node):
                if not only or alias in only:
                    self.note(table, query)
        elif node["Node Type"] == "ModifyTable" and any(c.get("Actual Rows") for c in children):
            table = f"{node['Schema']}.{node['Relation Name']}"
            if node["Operation"] != "Insert" and table != "omd.source":
                self.note(table, query)

    def note(self, table: str, query: str) -> None:
        if table in ORDER:
            self.transactions[-1].append((table, " ".join(query.split())[:160]))

    def out_of_order(self) -> set[tuple[str, str]]:
        """Return what was locked after what it must come before, but what was held already."""
        found = set()
        for locked in self.transactions:
            held: list[str] = []
            for table, _ in locked:
                if table not in held:
                    later = [h for h in held if ORDER.index(h) > ORDER.index(table)]
                    found |= {(h, table) for h in later}
                    held.append(table)
        return found


def scanned(node: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if "Relation Name" in node:
        yield f"{node['Schema']}.{node['Relation Name']}", node["Alias"]
    for child in node.get("Plans", []):
        yield from scanned(child)


def newest(platform: Platform, code: str) -> int:
    return int(
        platform.one(
            "SELECT max(i.module_instance_id) FROM omd.module_instance AS i INNER JOIN omd.module"
            " USING (module_id) WHERE module_code = %s AND i.execution_status_code = 'S'",
            code,
        )
    )


def load(platform: Platform) -> None:
    platform.queue(1, item=[("N", 1, 5)])
    platform.go("facts.shop")


def load_again(platform: Platform) -> None:
    platform.set_next("R", module=newest(platform, "facts.shop"))
    platform.go("facts.shop")


def undo(platform: Platform) -> None:
    platform.undo(newest(platform, "facts.shop"))


def step(platform: Platform) -> None:
    platform.come(1, 2)
    platform.go("app.dst")


def step_again(platform: Platform) -> None:
    platform.set_next("R", module=newest(platform, "app.dst"))
    platform.go("app.dst")


def restate(platform: Platform) -> None:
    platform.conn.execute("CALL omd_lineage.restate('app.dst', '-infinity', 'infinity')")
    platform.go("app.dst")


def stage(platform: Platform) -> None:
    platform.conn.execute("INSERT INTO app.a VALUES (1, 1, 'x')")
    platform.go("s")


def night(platform: Platform) -> None:
    assert platform.go_batch()["execution_status_code"] == "S"


def test_rows_are_locked_in_one_order(platform: Platform) -> None:
    require_plans(platform.conn)
    found, seen = {}, set()
    for act in (load, load_again, undo, step, step_again, restate, stage, night):
        with Trace(platform.conn) as trace:
            act(platform)
        seen |= {table for locked in trace.transactions for table, _ in locked}
        found[act.__name__] = trace.out_of_order()
        for locked in trace.transactions:
            print(act.__name__, *locked, sep="\n    ")
    assert {name: wrong for name, wrong in found.items() if wrong} == EXCEPTIONS
    assert seen == set(ORDER)
