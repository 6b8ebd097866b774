"""The grid shows the newest runs of each Batch, and a Batch opens into its Modules."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.flow import checked
from support.lots import SEED

if TYPE_CHECKING:
    from support.flow import Flow

HOSTILE = ["a b", "100%", "under_score", "back\\slash", "it's", 'quo"te', "\x1b[31mé\n|", "ß/.."]
GRID = "batch_code position batch_instance_id execution_status_code reason_code"
MODULES = (
    "batch_code module_code position batch_instance_id module_instance_id execution_status_code"
    " reason_code"
)
TIMES = " start_datetime end_datetime"


def refused(flow: Flow, sqlstate: str, query: str) -> None:
    with pytest.raises(psycopg.Error) as caught:
        flow.rows(query)
    checked(caught.value, sqlstate)


def grid(flow: Flow, *arguments: Any) -> list[tuple[Any, ...]]:
    marks = ", ".join(["%s"] * len(arguments))
    return [
        tuple(row.values())[:5]
        for row in flow.rows(f"SELECT * FROM omd_web.grid({marks})", *arguments)
    ]


def modules(flow: Flow, *arguments: Any) -> list[tuple[Any, ...]]:
    marks = ", ".join(["%s"] * len(arguments))
    return [
        (row["module_code"], row["position"], row["module_instance_id"])
        for row in flow.rows(f"SELECT * FROM omd_web.grid_modules({marks})", *arguments)
    ]


def test_the_columns_are_those_of_the_contract(flow: Flow) -> None:
    for call, columns in (("grid()", GRID + TIMES), ("grid_modules('b')", MODULES + TIMES)):
        flow.batch("b")
        found = flow.conn.execute(f"SELECT * FROM omd_web.{call}".encode()).description
        assert [column.name for column in found or ()] == columns.split()


def test_a_batch_shows_its_newest_runs_the_newest_first(flow: Flow) -> None:
    flow.batch("b")
    runs = [flow.run_batch("b").id for _ in range(3)]
    failed = flow.end_batch(flow.begin_batch("b").id, "F")
    running = flow.begin_batch("b").id
    assert grid(flow) == [
        ("b", 1, running, "E", None),
        ("b", 2, failed, "F", None),
        ("b", 3, runs[2], "S", None),
        ("b", 4, runs[1], "S", None),
        ("b", 5, runs[0], "S", None),
    ]
    assert grid(flow, None, 2) == [("b", 1, running, "E", None), ("b", 2, failed, "F", None)]
    [first, *_] = flow.rows("SELECT * FROM omd_web.grid()")
    assert first["start_datetime"] is not None
    assert first["end_datetime"] is None


def test_why_a_run_was_skipped_stands_in_its_cell(flow: Flow) -> None:
    flow.batch("b", inactive_indicator="Y")
    skipped = flow.begin_batch("b")
    assert grid(flow) == [("b", 1, skipped.id, "C", skipped.reason)]
    assert skipped.reason


def test_a_batch_that_never_ran_is_a_row_of_nulls(flow: Flow) -> None:
    flow.batch("never", "m")
    assert flow.rows("SELECT * FROM omd_web.grid()") == [
        {"batch_code": "never", **dict.fromkeys((GRID + TIMES).split()[1:])}
    ]
    assert flow.rows("SELECT * FROM omd_web.grid_modules('never')") == [
        {
            **dict.fromkeys((MODULES + TIMES).split()),
            "batch_code": "never",
            "module_code": "m",
        }
    ]
    flow.batch("empty")
    assert modules(flow, "empty") == []


def test_batches_come_in_pages_by_their_codes(flow: Flow) -> None:
    for code in ("b", "a", "B", "c_1", "cx1"):
        flow.batch(code)
    codes = [row[0] for row in grid(flow)]
    assert sorted(codes) == ["B", "a", "b", "c_1", "cx1"]
    pages: list[str] = []
    while page := grid(flow, None, 5, 2, pages[-1] if pages else None):
        assert len(page) <= 2
        pages += [row[0] for row in page]
    assert pages == codes
    assert [row[0] for row in grid(flow, "c_1")] == [c for c in codes if c.startswith("c")]
    assert [row[0] for row in grid(flow, r"c\_1")] == ["c_1"]
    assert grid(flow, "%z%") == []
    assert [row[0] for row in grid(flow, "%", 1, 1, "B")] == codes[codes.index("B") + 1 :][:1]


@pytest.mark.parametrize("code", HOSTILE)
def test_a_code_may_hold_any_sign(flow: Flow, code: str) -> None:
    flow.call("register_batch", batch_code=code, frequency_code="Adhoc")
    flow.module(code, table_code="dwh.t")
    flow.call("add_module_to_batch", batch_code=code, module_code=code)
    run = flow.begin_batch(code).id
    assert grid(flow) == [(code, 1, run, "E", None)]
    assert grid(flow, None, 1, 1, code) == []
    assert modules(flow, code) == [(code, None, None)]
    begun = flow.begin_module(code, run).id
    assert modules(flow, code) == [(code, 1, begun)]


def test_a_nested_batch_is_a_batch_of_its_own(flow: Flow) -> None:
    flow.batch("top", "m1")
    flow.batch("below", "m2")
    flow.call("add_batch_to_parent_batch", batch_code="below", parent_batch_code="top")
    top = flow.begin_batch("top").id
    below = flow.begin_batch("below", parent_batch_instance_id=top).id
    first = flow.begin_module("m1", top).id
    second = flow.begin_module("m2", below).id
    assert grid(flow) == [("below", 1, below, "E", None), ("top", 1, top, "E", None)]
    assert modules(flow, "top") == [("m1", 1, first)]
    assert modules(flow, "below") == [("m2", 1, second)]


def test_cells_of_modules_stand_under_the_runs_of_the_batch(flow: Flow) -> None:
    flow.batch("b", "z", "a", "idle")
    first = flow.run_batch("b", z="S", a="F")
    second = flow.begin_batch("b").id
    again = flow.begin_module("a", second).id
    assert modules(flow, "b") == [
        ("z", 2, first["z"].id),
        ("a", 1, again),
        ("a", 2, first["a"].id),
        ("idle", None, None),
    ]
    assert modules(flow, "b", 1) == [("z", None, None), ("a", 1, again), ("idle", None, None)]
    # A run by hand is no run of the Batch.
    flow.end_module(again, "S")
    flow.run_module("idle")
    assert modules(flow, "b", 1)[-1] == ("idle", None, None)


def test_of_several_runs_in_one_run_of_a_batch_the_newest_is_shown(flow: Flow) -> None:
    flow.batch("b", "m")
    batch = flow.begin_batch("b").id
    flow.run_module("m", "F", batch)
    newest = flow.begin_module("m", batch).id
    assert modules(flow, "b") == [("m", 1, newest)]


def test_what_ran_in_a_batch_and_left_it_is_shown_last(flow: Flow) -> None:
    flow.batch("b", "gone", "stays")
    run = flow.run_batch("b", gone="S", stays="S")
    flow.call("remove_module_from_batch", batch_code="b", module_code="gone")
    assert modules(flow, "b") == [("stays", 1, run["stays"].id), ("gone", 1, run["gone"].id)]


@pytest.mark.parametrize(
    ("call", "sqlstate"),
    [
        ("grid(p_runs => NULL)", "OM005"),
        ("grid(p_runs => 0)", "OM013"),
        ("grid(p_limit => -1)", "OM013"),
        ("grid(p_limit => NULL)", "OM005"),
        ("grid('b' || chr(92))", "OM013"),
        ("grid_modules(NULL)", "OM005"),
        ("grid_modules('b', 0)", "OM013"),
        ("grid_modules('nobody''s')", "OM001"),
    ],
)
def test_a_wrong_argument_is_refused_with_a_hint(flow: Flow, call: str, sqlstate: str) -> None:
    flow.batch("b")
    refused(flow, sqlstate, f"SELECT * FROM omd_web.{call}")


def test_a_reader_may_look_and_others_may_not(flow: Flow) -> None:
    flow.batch("b", "m")
    flow.run_batch("b", m="S")
    flow.conn.execute("SET ROLE omd_reader")
    assert len(grid(flow)) == 1
    assert len(modules(flow, "b")) == 1
    flow.conn.execute("RESET ROLE")
    flow.conn.execute("SET ROLE pg_signal_backend")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        grid(flow)


@pytest.mark.random
def test_the_grid_is_what_a_plain_count_of_the_runs_gives(flow: Flow) -> None:
    """Compare with the same written in Python, over a random history."""
    luck = random.Random(SEED)
    codes = [f"b{n}" for n in range(6)]
    for code in codes:
        flow.batch(code)
        for number in range(luck.randrange(3)):
            flow.module(f"{code}m{number}", table_code="dwh.t", batches=(code,))
    ids = {row["batch_code"]: row["batch_id"] for row in flow.rows("SELECT * FROM omd.batch")}
    own = {row["module_code"]: row["module_id"] for row in flow.rows("SELECT * FROM omd.module")}
    runs: dict[str, list[tuple[int, str]]] = {code: [] for code in codes}
    cells: dict[tuple[str, int], int] = {}
    for _ in range(80):
        code, status = luck.choice(codes[:-1]), luck.choice("SFAC")
        run = insert(flow, "batch", ids[code], status)
        runs[code].append((run, status))
        for _ in range(luck.randrange(4)):
            module = luck.choice([None, *(m for m in own if m.startswith(code))])
            if module is not None:
                cells[module, run] = insert(flow, "module", own[module], luck.choice("SF"), run)
    for limit in (1, 7, 200):
        expected: list[tuple[Any, ...]] = []
        for code in codes:
            newest = runs[code][::-1][:limit]
            expected += [(code, n, run, status, None) for n, (run, status) in enumerate(newest, 1)]
            if not newest:
                expected.append((code, None, None, None, None))
            below: list[tuple[Any, ...]] = []
            for name in own:
                if name.startswith(code):
                    found: list[tuple[Any, ...]] = [
                        (name, n, cells[name, run])
                        for n, (run, _) in enumerate(newest, 1)
                        if (name, run) in cells
                    ]
                    below += found or [(name, None, None)]
            assert sorted(modules(flow, code, limit), key=str) == sorted(below, key=str)
        assert grid(flow, None, limit) == expected


def insert(flow: Flow, kind: str, of: int, status: str, batch: int = 0) -> int:
    flow.conn.execute("SET ROLE omd_owner")
    column, value = (", batch_instance_id", f", {batch}") if kind == "module" else ("", "")
    run = flow.one(
        f"INSERT INTO omd.{kind}_instance ({kind}_id, start_datetime, end_datetime,"
        f" execution_status_code, processing_indicator, next_run_indicator{column})"
        f" VALUES (%s, now(), now(), %s, 'P', 'P'{value}) RETURNING {kind}_instance_id",
        of,
        status,
    )
    flow.conn.execute("RESET ROLE")
    return int(run)
