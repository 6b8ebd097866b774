"""The two halves of the error catalogue, and the attributes of an error."""

from __future__ import annotations

import inspect
import pickle
from typing import TYPE_CHECKING, Any

import pytest

import omd
from omd import errors

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]

FAMILIES = {
    "OM0": errors.CallerError,
    "OM1": errors.StateError,
    "OM2": errors.ConfigurationError,
    "OM9": errors.InternalError,
}


def coded() -> dict[str, type[errors.OmdError]]:
    return {
        error.sqlstate: error
        for _, error in inspect.getmembers(errors, inspect.isclass)
        if issubclass(error, errors.OmdError) and error.sqlstate and "sqlstate" in vars(error)
    }


def test_a_class_belongs_to_the_family_of_its_sqlstate() -> None:
    for code, error in coded().items():
        assert issubclass(error, FAMILIES[code[:3]]), error


def test_all_names_every_error() -> None:
    found = {
        name
        for name, value in inspect.getmembers(errors, inspect.isclass)
        if value.__module__.startswith("omd.")
    }
    assert set(errors.__all__) == found


def test_psycopg_raises_the_class_itself(conn: Connection) -> None:
    with pytest.raises(errors.UnknownModule) as caught:
        conn.execute("CALL omd.begin_module('nowhere')")
    assert caught.value.sqlstate == "OM002"
    assert "nowhere" in caught.value.message
    assert "nowhere" in caught.value.detail.values()
    assert caught.value.hint


def test_an_error_prints_its_message_and_its_hint_and_no_stack_of_the_server(
    control: omd.Control,
) -> None:
    with pytest.raises(errors.UnknownBatch) as caught:
        control.calls.omd.begin_batch("nowhere")
    assert str(caught.value) == f"{caught.value.message}\nHint: {caught.value.hint}"
    assert str(errors.ConnectionFailed("gone")) == "gone"
    assert errors.UnknownBatch.__module__ == "omd.errors"


def test_an_error_survives_pickling_with_all_it_tells(control: omd.Control) -> None:
    with pytest.raises(errors.UnknownBatch) as caught:
        control.calls.omd.begin_batch("nowhere")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is errors.UnknownBatch
    assert (again.message, again.detail, again.hint) == (
        caught.value.message,
        caught.value.detail,
        caught.value.hint,
    )


def test_an_error_of_the_driver_has_a_message_and_a_hint() -> None:
    error = pickle.loads(pickle.dumps(errors.ConnectionFailed("gone", hint="come back")))
    assert (error.message, error.detail, error.hint) == ("gone", {}, "come back")


def test_an_outcome_survives_pickling() -> None:
    skipped = pickle.loads(pickle.dumps(errors.ModuleSkipped("m", 7, "DIRECTIVE")))
    assert str(skipped) == "module m was skipped: DIRECTIVE (instance 7)"
