"""What an outcome answers, raises and carries to another process (rule J11)."""

from __future__ import annotations

import copyreg
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import omd
from omd.programs.terminal.commands import ExitCode
from omd.rooms.control.codes import ENDS, REJECTED, exit_code
from omd.rooms.control.outcome import FACTS, status_of

S, F = omd.Status.SUCCEEDED, omd.Status.FAILED
C, A = omd.Status.SKIPPED, omd.Status.ABORTED
API = Path(__file__).parents[2] / "docs/reference/api.json"


class UnluckyError(Exception):
    """An error of a job, as users write them: it can't be made again from its arguments."""

    def __init__(self, code: int, *, place: str) -> None:
        super().__init__(f"{code} at {place}")


def outcome(status: omd.Status, **what: Any) -> omd.Outcome[Any]:
    return omd.Outcome("JOB", "m", 7, status, **what)


def sent(told: omd.Outcome[Any]) -> omd.Outcome[Any]:
    copy: omd.Outcome[Any] = pickle.loads(pickle.dumps(told))
    return copy


# What it answers --------------------------------------------------------------------------------


def test_only_a_success_has_a_result() -> None:
    assert outcome(S, value=3).result() == 3
    assert outcome(S).result() is None
    with pytest.raises(UnluckyError, match="5 at home"):
        outcome(F, value=3, error=UnluckyError(5, place="home")).result()
    with pytest.raises(omd.errors.StateError, match=r"^division by zero$"):
        outcome(F, value=3, detail="division by zero").result()
    with pytest.raises(omd.errors.Skipped) as skipped:
        outcome(C, value=3, reason="INACTIVE").result()
    assert (skipped.value.code, skipped.value.instance_id) == ("m", 7)
    assert skipped.value.reason == "INACTIVE"
    with pytest.raises(omd.errors.Aborted):
        outcome(A, value=3, reason="RUNNING").result()
    with pytest.raises(omd.errors.Skipped):
        omd.Outcome("BATCH", "b", 7, C).result()
    with pytest.raises(omd.errors.Aborted):
        omd.Outcome("BATCH", "b", None, A).result()


def test_what_was_skipped_raises_that_whatever_was_raised_here() -> None:
    given = omd.errors.Skipped("m", 7, "INACTIVE")
    with pytest.raises(omd.errors.Skipped) as skipped:
        outcome(C, error=given).result()
    assert skipped.value is given
    undone = omd.errors.lookup("OM114")("its block is gone")
    assert status_of(undone) == A
    with pytest.raises(omd.errors.Aborted) as aborted:
        outcome(A, error=undone).result()
    assert aborted.value.__cause__ is undone


def test_a_status_that_this_client_does_not_know_is_a_failure() -> None:
    told = omd.Outcome("JOB", "m", 7, "W", value=3)  # type: ignore[arg-type]
    assert not told.succeeded
    with pytest.raises(omd.errors.StateError):
        told.result()
    assert exit_code("W") == ExitCode.FAILURE


def test_each_status_has_one_word_and_one_exit_code() -> None:
    assert {status: code for status, (code, _) in ENDS.items()} == {"S": 0, "F": 1, "C": 3, "A": 4}
    assert [s.word for s in (S, F, C, A)] == ["succeeded", "failed", "skipped", "aborted"]
    assert [exit_code(s) for s in (S, F, C, A)] == [
        ExitCode.OK,
        ExitCode.FAILURE,
        ExitCode.SKIPPED,
        ExitCode.ABORTED,
    ]
    assert exit_code(F, "REJECTED") == REJECTED == ExitCode.REJECTED
    assert exit_code(A, "REJECTED") == ExitCode.ABORTED


def test_the_facts_are_read_only_and_no_part_of_who_gave_them() -> None:
    given = {"rows": 4}
    told = outcome(S, facts=given)
    given["rows"] = 5
    assert told.facts["rows"] == 4
    with pytest.raises(TypeError):
        told.facts["rows"] = 6  # type: ignore[index]
    with pytest.raises(AttributeError):
        told.facts = {}  # type: ignore[misc]
    with pytest.raises(AttributeError):
        told.status = F  # type: ignore[misc]
    assert outcome(S).facts == {}


def test_the_contract_says_which_facts_there_are() -> None:
    told = json.loads(API.read_text())["python"]["omd.Outcome"]["facts"]
    assert {kind: tuple(keys) for kind, keys in told.items()} == FACTS


# In another process -----------------------------------------------------------------------------


def test_it_comes_back_equal() -> None:
    for told in (
        outcome(S, value={"a": [1]}, facts={"rows": 4}),
        outcome(F, detail="no", error=ValueError("no", 3)),
        outcome(F, error=omd.errors.lookup("OM112")("rows are left")),
        outcome(C, reason="INACTIVE", error=omd.errors.Skipped("m", 7, "INACTIVE")),
    ):
        copy = sent(told)
        assert copy == told
        assert type(copy.error) is type(told.error)
        assert copy.facts == told.facts
        assert hash(copy) == hash(told)
    assert outcome(F, error=ValueError("no")) != outcome(F, error=ValueError("yes"))
    assert outcome(F, error=ValueError("no")) != outcome(F, error=TypeError("no"))
    assert outcome(S, facts={"rows": 4}) != outcome(S, facts={"rows": 5})
    assert outcome(S, value=1) != outcome(S, value=2)
    assert outcome(S) != omd.Outcome("JOB", "m", 8, S)
    assert sent(outcome(S, value=3)).result() == 3


def test_what_can_not_be_pickled_travels_as_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    # A linter that other tests import teaches pickle every class of errors.
    monkeypatch.delitem(copyreg.dispatch_table, UnluckyError, raising=False)

    def local() -> None: ...

    copy = sent(outcome(S, value=local))
    assert (copy.succeeded, copy.value) == (True, repr(local))
    with pytest.raises(omd.errors.OmdError) as caught:
        copy.result()
    assert str(caught.value) == repr(local)

    copy = sent(outcome(F, detail="5 at home", error=UnluckyError(5, place="home")))
    assert (copy.status, copy.detail) == ("F", "5 at home")
    with pytest.raises(omd.errors.OmdError, match="5 at home"):
        copy.result()
    # It may go on from there.
    assert sent(copy) == copy

    copy = sent(outcome(S, facts={"rows": 4, "document": local}))
    assert copy.facts == {"rows": 4, "document": repr(local)}
    assert copy.result() is None
