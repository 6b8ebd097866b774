"""What users have of errors: eleven classes, and `lookup`; and what an error tells."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import omd
from omd import errors
from omd._core import error_codes, former
from omd._core.errors import MADE
from omd._core.lookups import with_code

if TYPE_CHECKING:
    Connection = psycopg.Connection[dict[str, Any]]

ELEVEN = {
    "OmdError",
    "CallerError",
    "StateError",
    "ConfigurationError",
    "ConnectionFailed",
    "NotInstalled",
    "LeaseLost",
    "WriteFailed",
    "NotStarted",
    "Skipped",
    "Aborted",
}
FAMILIES = {
    "OM0": errors.CallerError,
    "OM1": errors.StateError,
    "OM2": errors.ConfigurationError,
    "OM9": errors.OmdError,
}
PRIVATE = {
    value.sqlstate: value
    for _, value in inspect.getmembers(error_codes, inspect.isclass)
    if value.__module__ == error_codes.__name__
}


def test_eleven_classes_and_lookup_are_all_that_there_is() -> None:
    assert {*dir(errors)} == {*errors.__all__} == ELEVEN | {"lookup"}
    for name in ELEVEN:
        assert getattr(errors, name).__module__ == "omd.errors"
    assert [name for name in ELEVEN if issubclass(getattr(errors, name), errors.NotStarted)]
    assert issubclass(errors.Skipped, errors.NotStarted)
    assert issubclass(errors.Aborted, errors.NotStarted)
    assert not issubclass(errors.NotStarted, errors.OmdError)


def test_lookup_has_the_class_of_each_code() -> None:
    assert len(PRIVATE) > 200
    for code, kind in PRIVATE.items():
        assert errors.lookup(code) is errors.lookup(code.lower()) is kind
        assert psycopg.errors.lookup(code) is kind
        assert issubclass(kind, FAMILIES[code[:3]])
        assert kind.__doc__


def test_lookup_of_an_unknown_code_is_its_family() -> None:
    for family, kind in FAMILIES.items():
        codes = (f"{family}{number:02}" for number in range(100))
        unknown = [code for code in codes if code not in MADE]
        assert {errors.lookup(code) for code in unknown} == {kind}
    assert errors.lookup("OM777") is errors.OmdError


@pytest.mark.parametrize("code", ["42501", "OM1", "OM11x", "OM1120", " OM112", "UnknownModule", ""])
def test_lookup_of_what_is_no_code_of_omd_is_a_key_error(code: str) -> None:
    with pytest.raises(KeyError):
        errors.lookup(code)


def test_psycopg_and_a_call_raise_the_class_itself(conn: Connection, control: omd.Control) -> None:
    with pytest.raises(errors.lookup("OM002")) as caught:
        conn.execute("CALL omd.begin_module('nowhere')")
    assert caught.value.sqlstate == "OM002"
    assert "nowhere" in caught.value.message
    assert "nowhere" in caught.value.detail.values()
    assert caught.value.hint
    with pytest.raises(errors.lookup("OM002")):
        control.calls.omd.begin_module("nowhere")
    with pytest.raises(errors.lookup("OM002")), control.transaction() as connection:
        connection.execute("CALL omd.begin_module('nowhere')")


def test_a_call_raises_the_family_of_a_code_that_the_client_does_not_know(
    conn: Connection, control: omd.Control
) -> None:
    """As of a database that is newer: a routine raises what this client has not."""
    row = conn.execute("SELECT pg_get_functiondef('omd.begin_module'::regproc) AS t").fetchone()
    assert row is not None
    head, end, tail = row["t"].rpartition("\nEND\n")
    told = "RAISE EXCEPTION 'new' USING ERRCODE = 'OM179', DETAIL = '{\"a\": 1}', HINT = 'wait'"
    conn.execute(f"{head}\n    {told};{end}{tail}")
    try:
        with pytest.raises(errors.lookup("OM179")) as caught:
            control.calls.omd.begin_module("m_alone")
    finally:
        conn.execute(row["t"])
    error = caught.value
    assert type(error) is errors.StateError
    assert (error.sqlstate, error.message, error.detail, error.hint) == (
        "OM179",
        "new",
        {"a": 1},
        "wait",
    )
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is errors.StateError
    assert (again.sqlstate, again.message) == ("OM179", "new")


def test_an_error_prints_its_message_and_its_hint_and_no_stack_of_the_server(
    control: omd.Control,
) -> None:
    with pytest.raises(errors.lookup("OM001")) as caught:
        control.calls.omd.begin_batch("nowhere")
    assert str(caught.value) == f"{caught.value.message}\nHint: {caught.value.hint}"
    assert str(errors.ConnectionFailed("gone")) == "gone"
    assert errors.lookup("OM001").__module__ == "omd._core.error_codes"


# Pickling ---------------------------------------------------------------------------------------


def test_an_error_survives_pickling_with_all_it_tells(control: omd.Control) -> None:
    with pytest.raises(errors.lookup("OM001")) as caught:
        control.calls.omd.begin_batch("nowhere")
    for again in (pickle.loads(pickle.dumps(caught.value)), copy.copy(caught.value)):
        assert type(again) is errors.lookup("OM001")
        assert (again.args, again.message, again.detail, again.hint) == (
            caught.value.args,
            caught.value.message,
            caught.value.detail,
            caught.value.hint,
        )


def test_an_error_of_the_driver_has_a_message_and_a_hint() -> None:
    error = pickle.loads(pickle.dumps(errors.ConnectionFailed("gone", hint="come back")))
    assert (error.message, error.detail, error.hint) == ("gone", {}, "come back")


@pytest.mark.parametrize("kind", [*PRIVATE.values(), errors.LeaseLost, errors.lookup("OM909")])
def test_each_class_is_pickled(kind: type[errors.OmdError]) -> None:
    error = kind("a", hint="h", detail={"k": 1})
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (again.args, again.hint, again.detail) == (("a",), "h", {"k": 1})


def test_another_process_finds_a_class_by_its_code() -> None:
    """The name of a private class is not in what is pickled, so that another version reads it."""
    text = pickle.dumps(errors.lookup("OM112")("rows are left", hint="see"))
    assert b"RollbackIncomplete" not in text
    program = (
        "import pickle, sys; e = pickle.load(sys.stdin.buffer);"
        "print(e.sqlstate, type(e).__name__, e.message, e.hint)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=text, capture_output=True, check=True
    )
    assert done.stdout.decode().strip() == "OM112 RollbackIncomplete rows are left see"


def test_an_error_of_the_server_that_another_error_carries_keeps_its_code() -> None:
    error = errors.lookup("OM909")("a lock was not free")
    error.sqlstate = "55P03"
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.sqlstate) == (errors.lookup("OM909"), "55P03")
    assert with_code("OM179", "new").sqlstate == "OM179"


# What is no error -------------------------------------------------------------------------------


def test_an_outcome_survives_pickling() -> None:
    skipped = pickle.loads(pickle.dumps(errors.Skipped("m", 7, "DIRECTIVE", kind="module")))
    assert str(skipped) == "module m was skipped: DIRECTIVE (instance 7)"
    waits = pickle.loads(pickle.dumps(errors.Aborted("3", 0, "WAIT", "2 runs", kind="delivery")))
    assert str(waits) == "delivery 3 was aborted: WAIT (2 runs)"
    assert (waits.code, waits.instance_id, waits.reason, waits.detail) == (
        "3",
        0,
        "WAIT",
        "2 runs",
    )


# Former names -----------------------------------------------------------------------------------

OF_ERRORS = re.compile(r"omd\.(errors|spark)\.\w+|omd\.[A-Z]\w+")
# Those of errors: what stands in their place is a class, or `lookup`.
FORMER = {
    former_name: now
    for former_name, now in former.names().items()
    if OF_ERRORS.fullmatch(former_name) and re.match(r"(omd|psycopg)\.errors\.|SystemExit", now)
}


def test_each_former_name_says_what_stands_in_its_place() -> None:
    assert FORMER["omd.errors.UnknownModule"] == "omd.errors.lookup('OM002')"
    assert FORMER["omd.errors.BatchSkipped"] == FORMER["omd.ModuleSkipped"] == "omd.errors.Skipped"
    assert FORMER["omd.spark.SnapshotGone"] == "omd.errors.lookup('OM143')"
    assert FORMER["omd.OmdError"] == "omd.errors.OmdError"
    assert FORMER["omd.Terminated"] == "SystemExit, whose code is 143"
    looked_up = 0
    for name, now in FORMER.items():
        code = re.fullmatch(r"omd\.errors\.lookup\('(OM\d{3})'\)", now)
        if code is not None:
            assert errors.lookup(code[1]).__name__ == name.rpartition(".")[2]
            looked_up += 1
        elif now.startswith("omd.errors."):
            assert now.rpartition(".")[2] in ELEVEN, name
    assert looked_up > 180


@pytest.mark.parametrize("name", FORMER)
def test_a_former_name_is_refused_with_the_new_one(name: str) -> None:
    module, _, last = name.rpartition(".")
    if module == "omd.spark":
        pytest.importorskip("pyspark")
    with pytest.raises(ImportError) as imported:
        exec(f"from {module} import {last}")
    with pytest.raises(AttributeError) as asked:
        getattr(importlib.import_module(module), last)
    assert str(imported.value) == str(asked.value) == f"{name} has gone; use {FORMER[name]}"


def test_a_name_that_never_was_is_refused_as_ever() -> None:
    with pytest.raises(ImportError, match="cannot import name 'Nonsense'"):
        exec("from omd.errors import Nonsense")
    with pytest.raises(AttributeError, match=r"'omd\.errors' has no attribute 'Nonsense'"):
        _ = errors.Nonsense  # type: ignore[attr-defined]
