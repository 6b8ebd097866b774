"""The contract: later versions keep what a released one has promised (tools/contract.py)."""

from __future__ import annotations

import copy
import json
import re
import sys
from pathlib import Path

import psycopg
import pytest

import contract
import omd._core.since
from omd.programs import install
from omd.programs.terminal.commands import ExitCode

ROOT = Path(__file__).parents[2]
PRESENT = json.loads(contract.API.read_text())

CONTRACT = {
    "version": "1.2.0",
    "routines": {
        "omd.begin": {
            "kind": "procedure",
            "parameters": [
                {"name": "p_code", "type": "text", "mode": "in", "default": None},
                {"name": "p_lease", "type": "interval", "mode": "in", "default": "NULL::interval"},
                {"name": "p_id", "type": "bigint", "mode": "inout", "default": "NULL::bigint"},
            ],
        },
        "omd.look": {
            "kind": "function",
            "parameters": [
                {"name": "p_code", "type": "text", "mode": "in", "default": None},
                {"name": "id", "type": "bigint", "mode": "table", "default": None},
                {"name": "why", "type": "text", "mode": "table", "default": None},
            ],
        },
    },
    "protocol": {
        "omd.hear": {
            "kind": "function",
            "parameters": [{"name": "p_id", "type": "bigint", "mode": "in", "default": None}],
        },
    },
    "views": {
        "omd_report.log": {
            "columns": [{"name": "id", "type": "bigint"}, {"name": "why", "type": "text"}]
        }
    },
    "errors": {"OM001": "UnknownBatch"},
    "roles": ["omd_admin", "omd_reader"],
    "commands": {
        "omd": {"arguments": [], "options": []},
        "omd look": {
            "arguments": [{"name": "CODE", "required": False, "nargs": 1}],
            "options": [
                {
                    "names": ["-o", "--output"],
                    "type": ["table", "json"],
                    "required": False,
                    "multiple": False,
                },
                {"names": ["--kind"], "type": "text", "required": False, "multiple": True},
            ],
        },
    },
    "exit_codes": {"0": "OK", "1": "FAILURE"},
    "python": {
        "omd.connect": {
            "kind": "function",
            "parameters": [
                {
                    "name": "dsn",
                    "kind": "positional_or_keyword",
                    "type": "str",
                    "required": False,
                },
                {
                    "name": "pooler",
                    "kind": "positional_or_keyword",
                    "type": "str | None",
                    "required": False,
                },
            ],
            "returns": "Control",
        },
        "omd.Control": {"kind": "class", "members": {"close": {"kind": "attribute"}}},
        "omd.Status": {"kind": "enum", "values": {"FAILED": "F"}},
        "omd.Outcome": {"kind": "class", "members": {}, "facts": {"TOPIC": ["rows", "start"]}},
        "omd.UnknownBatch": {"kind": "error", "bases": ["OmdError"], "sqlstate": "OM001"},
    },
    "events": {"RUN_BEGAN": {"subject_type": "MODULE"}},
    "metrics": {"omd_runs": {"type": "gauge", "labels": ["kind"]}},
}

BEGIN = ("routines", "omd.begin", "parameters")
LOOK = ("routines", "omd.look", "parameters")
LOOKS = CONTRACT["routines"]["omd.look"]
HEAR = ("protocol", "omd.hear", "parameters")
HEARS = CONTRACT["protocol"]["omd.hear"]
LOG = ("views", "omd_report.log", "columns")
OPTIONS = ("commands", "omd look", "options")
ARGUMENTS = ("commands", "omd look", "arguments")
CONNECT = ("python", "omd.connect", "parameters")
GONE = object()


def changed(*way, to=GONE, at=None):
    """Return the contract with one thing changed: another value, gone, or put in at a place."""
    found = copy.deepcopy(CONTRACT)
    inner = found
    for step in way[:-1]:
        inner = inner[step]
    if at is not None:
        inner[way[-1]].insert(at, to)
    elif to is GONE:
        del inner[way[-1]]
    else:
        inner[way[-1]] = to
    return found


def parameter(name="p_new", mode="in", default="NULL::text"):
    return {"name": name, "type": "text", "mode": mode, "default": default}


def option(required=False):
    return {"names": ["--new"], "type": "text", "required": required, "multiple": False}


def argument(required=False):
    return {"name": "NEW", "required": required, "nargs": 1}


def given(name="new", required=False, kind="positional_or_keyword"):
    return {"name": name, "kind": kind, "type": "str", "required": required}


BREAKS = {
    "a routine goes": (changed("routines", "omd.look"), "omd.look is gone"),
    "its kind": (changed(*LOOK[:2], "kind", to="procedure"), "was a function"),
    "a parameter goes": (changed(*BEGIN, 1), "p_lease is gone"),
    "a parameter is renamed": (changed(*BEGIN, 0, "name", to="p_batch"), "p_code is gone"),
    "a parameter is retyped": (changed(*BEGIN, 0, "type", to="uuid"), "was text and is uuid"),
    "another mode": (changed(*BEGIN, 2, "mode", to="out"), "was inout and is out"),
    "a default goes": (changed(*BEGIN, 1, "default", to=None), "the default of p_lease"),
    "a default is another": (changed(*BEGIN, 1, "default", to="'1 s'"), "the default of p_lease"),
    "a new parameter in the middle": (changed(*BEGIN, to=parameter(), at=1), "place 3"),
    "a new one is not optional": (
        changed(*BEGIN, to=parameter(default=None), at=3),
        "p_new has no default",
    ),
    "a new one of a function is not optional": (
        changed(*LOOK, to=parameter(default=None), at=1),
        "p_new has no default",
    ),
    "a new answer of a procedure": (
        changed(*BEGIN, to=parameter(mode="inout"), at=3),
        "p_new is an answer",
    ),
    "a new answer of a procedure without INOUT": (
        changed(*BEGIN, to=parameter(mode="out", default=None), at=3),
        "p_new is an answer",
    ),
    "an answer goes": (changed(*LOOK, 2), "the answer why is gone"),
    "a new answer in the middle": (
        changed(*LOOK, to=parameter("x", "table", None), at=1),
        "the answer id is at place 2",
    ),
    "a routine is no more public": (
        {**changed("routines", "omd.look"), "protocol": CONTRACT["protocol"] | {"omd.look": LOOKS}},
        "routines: omd.look is gone",
    ),
    "a routine of the protocol goes": (
        changed("protocol", "omd.hear"),
        "protocol: omd.hear is gone",
    ),
    "its parameter is retyped": (
        changed(*HEAR, 0, "type", to="text"),
        "protocol: omd.hear: the type of p_id was bigint",
    ),
    "its new parameter is not optional": (
        changed(*HEAR, to=parameter(default=None), at=1),
        "protocol: omd.hear: the new parameter p_new has no default",
    ),
    "a view goes": (changed("views", "omd_report.log"), "omd_report.log is gone"),
    "a column goes": (changed(*LOG, 1), "the column why is gone"),
    "a column is retyped": (changed(*LOG, 0, "type", to="integer"), "was bigint and is integer"),
    "columns change places": (
        changed(*LOG, to=list(reversed(CONTRACT["views"]["omd_report.log"]["columns"]))),
        "place 2",
    ),
    "a code goes": (changed("errors", "OM001"), "OM001 is gone"),
    "a code means something else": (changed("errors", "OM001", to="Other"), 'was "UnknownBatch"'),
    "a role goes": (changed("roles", to=["omd_reader"]), "omd_admin is gone"),
    "a command goes": (changed("commands", "omd look"), "omd look is gone"),
    "an option goes": (changed(*OPTIONS, 1), "--kind is gone"),
    "a short option goes": (changed(*OPTIONS, 0, "names", to=["--output"]), "-o is gone"),
    "a choice goes": (changed(*OPTIONS, 0, "type", to=["table"]), "takes json no more"),
    "an option is retyped": (changed(*OPTIONS, 1, "type", to="integer"), "was of the type text"),
    "an option is required": (changed(*OPTIONS, 1, "required", to=True), "is required now"),
    "an option can't be repeated": (changed(*OPTIONS, 1, "multiple", to=False), "repeated"),
    "a new option is required": (changed(*OPTIONS, to=option(True), at=0), "--new is required"),
    "an argument goes": (changed(*ARGUMENTS, 0), "CODE is gone"),
    "an argument is required": (changed(*ARGUMENTS, 0, "required", to=True), "required now"),
    "another number of values": (changed(*ARGUMENTS, 0, "nargs", to=-1), "number of values"),
    "a new argument is required": (changed(*ARGUMENTS, to=argument(True), at=1), "NEW is required"),
    "an exit code is another": (changed("exit_codes", "1", to="USAGE"), 'was "FAILURE"'),
    "a name of a module goes": (changed("python", "omd.connect"), "omd.connect is gone"),
    "a function is a class": (changed(*CONNECT[:2], "kind", to="class"), "was a function"),
    "an argument in Python goes": (changed(*CONNECT, 1), "pooler is gone"),
    "places change in Python": (changed(*CONNECT, to=given(), at=0), "dsn is not at place 1"),
    "it is by name only": (changed(*CONNECT, 1, "kind", to="keyword_only"), "pooler is not at"),
    "it is required in Python": (changed(*CONNECT, 0, "required", to=True), "dsn is required now"),
    "a new one is required in Python": (
        changed(*CONNECT, to=given(required=True), at=2),
        "new is required",
    ),
    "it takes less": (changed(*CONNECT, 1, "type", to="str"), "was of the type str | None"),
    "it returns more": (
        changed(*CONNECT[:2], "returns", to="Control | None"),
        "it returned Control",
    ),
    "a member goes": (changed("python", "omd.Control", "members", "close"), "close is gone"),
    "a fact of an outcome goes": (
        changed("python", "omd.Outcome", "facts", "TOPIC", to=["rows"]),
        "the fact start of TOPIC is gone",
    ),
    "a value of an enumeration": (changed("python", "omd.Status", "values", to={}), "FAILED was"),
    "a class has another base": (changed("python", "omd.UnknownBatch", "bases", to=[]), "OmdError"),
    "a class has another code": (
        changed("python", "omd.UnknownBatch", "sqlstate", to="OM002"),
        "its code was OM001",
    ),
    "an event goes": (changed("events", "RUN_BEGAN"), "RUN_BEGAN is gone"),
    "an event of something else": (
        changed("events", "RUN_BEGAN", to={"subject_type": "BATCH"}),
        "RUN_BEGAN: it was",
    ),
    "a metric goes": (changed("metrics", "omd_runs"), "omd_runs is gone"),
    "a metric has other labels": (
        changed("metrics", "omd_runs", "labels", to=["kind", "batch"]),
        "omd_runs: it was",
    ),
    "a whole part goes": (changed("metrics"), "the key metrics is gone"),
}

ALLOWED = {
    "nothing": CONTRACT,
    "a new routine": changed("routines", "omd.new", to={"kind": "procedure", "parameters": []}),
    "a new parameter": changed(*BEGIN, to=parameter(), at=3),
    "a new parameter of the protocol": changed(*HEAR, to=parameter(), at=1),
    "a new routine of the protocol": changed("protocol", "omd.tell", to=HEARS),
    "what was of the protocol is public": {
        **CONTRACT,
        "routines": CONTRACT["routines"] | CONTRACT["protocol"],
        "protocol": {},
    },
    "a new parameter of a function": changed(*LOOK, to=parameter(), at=1),
    "a new answer": changed(*LOOK, to=parameter("more", "table", None), at=3),
    "a new column": changed(*LOG, to={"name": "more", "type": "text"}, at=2),
    "a new option": changed(*OPTIONS, to=option(), at=0),
    "a new choice": changed(*OPTIONS, 0, "type", to=["table", "json", "csv"]),
    "a new argument": changed(*ARGUMENTS, to=argument(), at=1),
    "a new argument in Python": changed(*CONNECT, to=given(), at=2),
    "a new one by name": changed(*CONNECT, to=given(kind="keyword_only"), at=2),
    "it takes more": changed(*CONNECT, 0, "type", to="str | None"),
    "a new code": changed("errors", "OM002", to="UnknownModule"),
    "another major version": {**CONTRACT, "version": "2.0.0", "routines": {}},
}


@pytest.mark.parametrize("what", BREAKS)
def test_each_kind_of_break_is_seen(what):
    present, told = BREAKS[what]
    found = contract.breaks(CONTRACT, present)
    assert found
    assert any(told in sentence for sentence in found), found


@pytest.mark.parametrize("what", ALLOWED)
def test_what_a_minor_version_may_do_is_no_break(what):
    assert contract.breaks(CONTRACT, ALLOWED[what]) == []


def test_each_contract_that_was_released_is_kept():
    broken = {one["version"]: contract.breaks(one, PRESENT) for one in contract.released()}
    assert {version: found for version, found in broken.items() if found} == {}


@pytest.mark.parametrize("part", ["routines", "protocol", "views"])
def test_what_this_version_has_can_not_go_unseen(part):
    for name in PRESENT[part]:
        without = {**PRESENT, part: {n: v for n, v in PRESENT[part].items() if n != name}}
        assert contract.breaks(PRESENT, without) == [f"{part}: {name} is gone"]


def test_the_command_prints_each_break(tmp_path, capsys):
    for name, one in (("was", CONTRACT), ("now", changed("errors", "OM001"))):
        (tmp_path / name).write_text(json.dumps(one))
    assert contract.main([str(tmp_path / "was"), str(tmp_path / "now")]) == 1
    assert capsys.readouterr().out == "1.2.0: errors: OM001 is gone\n"
    assert contract.main([str(tmp_path / "was"), str(tmp_path / "was")]) == 0
    assert contract.main([]) == 0


def test_it_has_these_keys_and_the_names_of_the_catalog(dsn, connect):
    assert list(PRESENT) == [
        "version", "routines", "protocol", "views", "errors", "roles", "commands", "exit_codes",
        "python", "events", "metrics",
    ]  # fmt: skip
    assert PRESENT["version"] == install.product_version()
    callable_ = PRESENT["routines"] | PRESENT["protocol"]
    assert {"kind", "parameters"} == set().union(*callable_.values())
    keys = {"name", "type", "mode", "default"}
    for routine in callable_.values():
        assert all(set(parameter) == keys for parameter in routine["parameters"])
    for view in PRESENT["views"].values():
        assert all(set(column) == {"name", "type"} for column in view["columns"])
    assert not [name for name in callable_ if "._" in name]
    assert PRESENT["exit_codes"] == {str(code.value): code.name for code in ExitCode}
    rows = (
        connect(dsn)
        .execute(
            "SELECT p.oid::regproc::text AS name, obj_description(p.oid, 'pg_proc') AS comment"
            " FROM pg_proc AS p WHERE p.pronamespace::regnamespace::text ~ '^omd(_|$)'"
            " AND p.proname !~ '^_'"
            " AND EXISTS (SELECT FROM aclexplode(p.proacl) AS a WHERE a.grantee <> p.proowner)"
        )
        .fetchall()
    )
    public = {r["name"] for r in rows if not r["comment"].startswith(("For rooms:", "For the"))}
    assert public == set(PRESENT["routines"])
    of_the_driver = {r["name"] for r in rows if r["comment"].startswith("For the driver:")}
    assert of_the_driver == set(PRESENT["protocol"])


def test_the_file_is_what_the_checkout_has(connect, dsn):
    """Another order of this file's tests than of tools/generate.py would go unseen otherwise."""
    pytest.importorskip("pyspark")
    conn = connect(dsn)
    conn.execute("SET search_path = ''")
    assert contract.text(contract.document(conn)) == contract.API.read_text()


# A CALL in PL/pgSQL -----------------------------------------------------------------------------

# PL/pgSQL refuses such a CALL before the procedure begins.
REFUSED = {"42601", "42725", "42883"}


def call_in_a_block(conn, name, parameters):
    """Call a procedure with NULLs from PL/pgSQL, and take back what it has done.

    Return the SQLSTATE of the failure, and whether the procedure had begun.
    """
    variables = [
        f"v_{place} {p['type']};"
        for place, p in enumerate(parameters)
        if p["mode"] in ("out", "inout")
    ]
    values = [
        f"NULL::{p['type']}" if p["mode"] == "in" else f"v_{place}"
        for place, p in enumerate(parameters)
    ]
    block = f"DECLARE {' '.join(variables)} BEGIN CALL {name}({', '.join(values)}); END"
    try:
        with conn.transaction(force_rollback=True):
            conn.execute("SET LOCAL statement_timeout = '5s'")
            conn.execute(f"DO $block$ {block} $block$".encode())
    except psycopg.Error as error:
        return error.sqlstate, f"PL/pgSQL function {name}(" in (error.diag.context or "")
    return None, True


def procedures():
    """Return the public procedures with the parameters that the first version has promised."""
    first = (contract.released() or [PRESENT])[0]
    return {
        name: routine["parameters"]
        for name, routine in first["routines"].items()
        if routine["kind"] == "procedure"
    }


def test_a_block_of_plpgsql_calls_each_procedure_with_exactly_its_parameters(connect, dsn):
    conn = connect(dsn)
    found = {name: call_in_a_block(conn, name, its) for name, its in procedures().items()}
    assert len(found) > 100
    assert {n: f for n, f in found.items() if f[0] in REFUSED or not f[1]} == {}


def test_a_block_that_leaves_out_an_answer_is_refused_before_it_begins(connect, dsn):
    conn = connect(dsn)
    for name in ("omd_lineage.step", "omd_delivery.apply_delta"):
        assert call_in_a_block(conn, name, procedures()[name][:-1]) == ("42601", False)


# Since when -------------------------------------------------------------------------------------


def test_a_routine_is_since_the_version_that_had_it_first():
    first = {**CONTRACT, "version": "1.0.0", "routines": {}}
    with_new = changed(*BEGIN, to=parameter(), at=3)
    with_new["routines"]["omd.other"] = {"kind": "function", "parameters": [parameter("p_x")]}
    with_new["version"] = "1.3.0"
    assert contract.since(with_new, [first, CONTRACT]) == (
        "1.0.0",
        {
            "omd.begin": "1.2.0",
            "omd.begin.p_new": "1.3.0",
            "omd.look": "1.2.0",
            "omd.other": "1.3.0",
        },
    )


def test_the_package_knows_since_when(monkeypatch):
    assert omd._core.since.since("omd.begin_module") == omd._core.since.FIRST
    monkeypatch.setitem(omd._core.since.LATER, "omd.begin_module", "1.1.0")
    monkeypatch.setitem(omd._core.since.LATER, "omd.begin_module.p_new", "1.2.0")
    assert omd._core.since.since("omd.begin_module") == "1.1.0"
    assert omd._core.since.since("omd.begin_module.p_code") == "1.1.0"
    assert omd._core.since.since("omd.begin_module.p_new") == "1.2.0"


# What is deprecated -----------------------------------------------------------------------------

DEPRECATED = re.compile(r"Deprecated since [0-9]+\.[0-9]+: use \S")


def test_what_is_deprecated_says_what_to_use_and_warns(connect, dsn):
    rows = connect(dsn).execute(
        "SELECT l.routine AS name, l.comment, p.prosrc AS body"
        " FROM omd_report.routine_list AS l INNER JOIN pg_proc AS p ON l.routine_oid = p.oid"
        " WHERE l.comment ~* '^deprecated'"
    )
    for row in rows.fetchall():
        assert DEPRECATED.match(row["comment"]), row["name"]
        assert "RAISE WARNING" in row["body"], row["name"]


if __name__ == "__main__":
    sys.exit(contract.main())
