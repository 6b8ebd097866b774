"""What a text means: an id by primary key, a code exactly, by its beginning, or inside."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from dispatch.conftest import Room
from support.flow import checked

if TYPE_CHECKING:
    from support.flow import Flow

HOSTILE = [
    "100%",
    "under_score",
    "back\\slash",
    "it's",
    'quo"te',
    "\x1b[31mé\n|x",
    "a/b",
    "--",
    "é",
]


def find(flow: Flow, *arguments: Any) -> list[tuple[str, str, int]]:
    marks = ", ".join(["%s"] * len(arguments))
    return [
        (row["object_kind"], row["key"], row["rank"])
        for row in flow.rows(f"SELECT * FROM omd_web.find({marks})", *arguments)
    ]


def test_the_columns_are_those_of_the_contract(flow: Flow) -> None:
    found = flow.conn.execute("SELECT * FROM omd_web.find('x')").description
    assert [c.name for c in found or ()] == ["object_kind", "key", "title", "detail", "rank"]


def test_a_code_comes_before_what_begins_with_it_and_what_has_it_inside(flow: Flow) -> None:
    for code in ("load", "loaded", "unload", "LOAD", "other"):
        flow.module(code, table_code="dwh.t")
    flow.batch("load")
    assert find(flow, "load") == [
        ("BATCH", "load", 1),
        ("MODULE", "load", 1),
        ("MODULE", "LOAD", 2),
        ("MODULE", "loaded", 2),
        ("MODULE", "unload", 3),
    ]
    assert find(flow, "  load\n", 2) == [("BATCH", "load", 1), ("MODULE", "load", 1)]
    assert find(flow, "nothing of it") == []
    assert find(flow, " \t") == []


def test_a_module_is_found_by_what_it_writes(flow: Flow) -> None:
    flow.module("m", table_code="dwh.sales_order")
    assert find(flow, "Sales_Order") == [("MODULE", "m", 3)]


@pytest.mark.parametrize("code", HOSTILE)
def test_no_sign_of_a_text_is_a_pattern(flow: Flow, code: str) -> None:
    flow.module(f"x{code}y", table_code="dwh.t")
    flow.module("xANYy", table_code="dwh.t")
    assert find(flow, f"x{code}y") == [("MODULE", f"x{code}y", 1)]
    assert find(flow, f"x{code}") == [("MODULE", f"x{code}y", 2)]
    assert find(flow, code) == [("MODULE", f"x{code}y", 3)]


def test_an_id_is_found_in_each_room(flow: Flow) -> None:
    room = Room(flow.conn)
    room.family("SEEK")
    room.type("T", family_code="SEEK")
    flow.batch("b", "m")
    batch = flow.begin_batch("b").id
    module = flow.begin_module("m", batch).id
    assert (batch, module) == (1, 1)
    assert find(flow, "1") == [("BATCH_INSTANCE", "1", 1), ("MODULE_INSTANCE", "1", 1)]
    task = room.create("a", family_code="SEEK")
    assert ("TASK", str(task), 1) in find(flow, f" {task} ")
    held = int(room.call("suspend", family_code="SEEK", reason="a night")["suspension_id"])
    assert ("SUSPENSION", str(held), 1) in find(flow, str(held))
    flow.owner(
        "INSERT INTO omd_provenance.recall (recall_id, target, reason, planned_by)"
        " OVERRIDING SYSTEM VALUE VALUES (7001, '{}', 'wrong', 'a')"
    )
    [row] = flow.rows("SELECT * FROM omd_web.find('7001')")
    assert (row["object_kind"], row["title"]) == ("RECALL", "Recall 7001")
    assert row["detail"] == "PLANNED: wrong"
    flow.batch("1")
    assert find(flow, "1")[0] == ("BATCH", "1", 1)


@pytest.mark.parametrize(
    "text",
    ["0", "9223372036854775807", "9223372036854775808", "9" * 40, "9" * 50, "-1", "1.5", "\u0661"],
)
def test_a_number_that_is_no_id_means_nothing(flow: Flow, text: str) -> None:
    assert find(flow, text) == []


@pytest.mark.parametrize(
    ("call", "sqlstate"),
    [
        ("find(NULL)", "OM005"),
        ("find('x', NULL)", "OM005"),
        ("find('x', 0)", "OM013"),
        ("find(NULL, NULL)", "OM005"),
    ],
)
def test_a_wrong_argument_is_refused_with_a_hint(flow: Flow, call: str, sqlstate: str) -> None:
    with pytest.raises(psycopg.Error) as caught:
        flow.rows(f"SELECT * FROM omd_web.{call}")
    checked(caught.value, sqlstate)


def test_a_reader_may_look(flow: Flow) -> None:
    room = Room(flow.conn)
    room.family("SEEK")
    room.type("T", family_code="SEEK")
    task = room.create("a", family_code="SEEK")
    flow.module("mine")
    flow.conn.execute("SET ROLE omd_reader")
    assert find(flow, "mine") == [("MODULE", "mine", 1)]
    assert ("TASK", str(task), 1) in find(flow, str(task))


def test_a_text_is_looked_for_in_no_table_that_grows_with_runs(flow: Flow) -> None:
    """What it looks through is read by `definition`, and an id is looked up by primary key."""
    body = flow.one("SELECT pg_get_viewdef('omd_web.definition'::regclass)")
    tables = set(re.findall(r"\b(?:FROM|JOIN) \(*(omd\w*\.\w+)", body))
    assert tables == {
        "omd.module", "omd.batch", "omd_lineage.topic", "omd_dispatch.task_conf_type_desc",
        "omd_dispatch.task_schedule", "omd_delivery.interface", "omd_delivery.agreement",
        "omd_facts.entity", "omd_decision.stage", "omd_decision.ruleset",
        "omd_lake.iceberg_tables",
    }  # fmt: skip
    # Tables this small would be read as a whole.
    flow.conn.execute("SET enable_seqscan = off")
    before = scans(flow)
    find(flow, "17")
    assert scans(flow) == before


def scans(flow: Flow) -> dict[str, int]:
    """How often each table of runs was read as a whole in this session."""
    flow.conn.execute("SELECT pg_stat_force_next_flush()")
    return {
        row["relation"]: row["seq_scan"]
        for row in flow.rows(
            "SELECT relid::regclass::text AS relation, seq_scan FROM pg_stat_user_tables"
            " WHERE relname IN ('module_instance', 'batch_instance', 'event_log', 'delivery',"
            " 'arrival', 'recall', 'task_suspension')"
            " OR relname ~ '^task_data_'"
        )
    }
