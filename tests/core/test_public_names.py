"""What Python promises (tools/contract.py), and what a former name answers."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

import contract
import omd
from omd._core import former

ROOT = Path(__file__).parents[2]


def test_python_promises_no_more_than_ninety_three_names() -> None:
    names = [f"{m}.{name}" for m, listed in contract.NAMES.items() for name in listed.split()]
    members = [member for listed in contract.MEMBERS.values() for member in listed.split()]
    assert 80 < len(names) + len(members) + len(["omd.__version__"]) <= 93


def test_a_module_offers_what_is_listed() -> None:
    for module in ("omd", "omd.errors", "omd.dispatch", "omd.lake", "omd.spark", "omd.web"):
        offered = set(importlib.import_module(module).__all__) - {"__version__", "errors"}
        assert offered == set(contract.NAMES[module].split()), module


@pytest.mark.parametrize("name", contract.MEMBERS)
def test_a_class_offers_what_is_listed_and_nothing_else(name: str) -> None:
    kind = contract.class_of(name)
    listed = set(contract.MEMBERS[name].split())
    assert contract.offered(kind) == listed
    assert {each for each in dir(kind) if not each.startswith("_")} <= listed


def test_the_contract_has_what_only_init_sets_and_what_methods_answer() -> None:
    class Found:
        __module__ = "omd.found"
        noted: int

        def __init__(self) -> None:
            self.seen, self._hidden = 1, 2
            self.told: str = ""

    assert contract.offered(Found) == {"noted", "seen", "told"}
    python = contract.python()
    assert python["omd.DeliveryBlock"]["members"]["delivery_id"] == {"kind": "attribute"}
    window = python["omd.Run"]["members"]["window"]
    assert window["answer"].keys() == {"start_value", "start_id", "end_value", "end_id"}
    with pytest.raises(ValueError, match="has no flush"):
        dict(contract._members("omd.Run", contract.class_of("omd.Run"), ["flush"]))


# Former names -----------------------------------------------------------------------------------


def public() -> set[str]:
    names = {f"{m}.{name}" for m, listed in contract.NAMES.items() for name in listed.split()}
    return names | {
        f"{name}.{member}" for name, listed in contract.MEMBERS.items() for member in listed.split()
    }


def test_each_former_name_leads_to_something_that_is_there(control: omd.Control) -> None:
    rows = former.names()
    assert len(rows) > 500
    text = (ROOT / "docs/reference/former.tsv").read_text(encoding="utf-8")
    assert text.startswith("former\tnow\n")
    assert not public() & rows.keys()
    wrong = []
    for name, now in rows.items():
        wrong += [
            (name, now)
            for schema, routine in re.findall(r"control\.calls\.(\w+)\.(\w+)", now)
            if not hasattr(getattr(control.calls, schema), routine)
        ]
        if said := re.match(r"(omd(?:\.\w+)+)", now):
            whole = said[1]
            is_there = whole in public() or whole.startswith(("omd.Outcome", "omd.Status", "omd."))
            if not is_there:
                wrong.append((name, now))
    assert wrong == []


def test_a_former_name_answers_with_the_new_one(control: omd.Control) -> None:
    with pytest.raises(ImportError, match=r"omd\.ModuleRun has gone; use omd\.Run"):
        from omd import ModuleRun  # type: ignore[attr-defined] # noqa: F401
    with pytest.raises(AttributeError, match=r"omd\.ExecutionStatus has gone; use omd\.Status"):
        omd.ExecutionStatus  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(AttributeError, match=r"use control\.calls\.omd\.begin_module"):
        control.begin_module  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(AttributeError, match=r"use control\.calls\.omd_lineage"):
        control.lineage  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(AttributeError, match=r"use control\.calls\.omd_facts\.deploy"):
        control.facts.deploy  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(TypeError, match=r"use control\.delivery\.create"):
        control.delivery("nyc")  # type: ignore[operator]
    with control.batch("b") as batch, batch.module("m_1") as run:
        with pytest.raises(AttributeError, match=r"use omd\.Run\.instance_id"):
            run.module_instance_id  # type: ignore[attr-defined] # noqa: B018
        with pytest.raises(AttributeError, match=r"use omd\.Batch\.instance_id"):
            batch.batch_instance_id  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(AttributeError, match=r"use omd\.Status\.SKIPPED"):
        omd.Status.CANCELLED  # type: ignore[attr-defined] # noqa: B018
    assert omd.Status("C") is omd.Status.SKIPPED
    with pytest.raises(AttributeError, match=r"omd\.Control\.engines has gone$"):
        control.engines  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        control.nothing  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(AttributeError, match="module 'omd' has no attribute 'nothing'"):
        omd.nothing  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        from omd import nothing  # type: ignore[attr-defined] # noqa: F401


def test_a_keyword_of_before_is_refused(control: omd.Control) -> None:
    with pytest.raises(TypeError):
        control.module("m_alone", batch_instance_id=0)  # type: ignore[call-arg]


# One verb for runs ------------------------------------------------------------------------------


def test_run_with_a_function_is_for_programs_only(control: omd.Control, conn: Any) -> None:
    control.calls.omd.register_module("m_sql", "INT", "dwh.t", "HUB", "POSTGRES", "SELECT 1")
    with pytest.raises(omd.errors.CallerError, match="m_sql is of kind SQL"):
        control.run("m_sql", lambda run: run.instance_id)
    with control.batch("b") as batch, pytest.raises(omd.errors.CallerError, match="of kind SQL"):
        batch.run("m_sql", lambda run: run.instance_id)
    assert conn.execute("SELECT FROM omd_report.module_execution_log").rowcount == 0
    ran = control.run("m_sql")
    assert (ran.status, ran.code) == (omd.Status.SUCCEEDED, "m_sql")
    assert control.run("m_alone", lambda run: run.instance_id).value


def test_a_batch_is_joined_where_the_environment_names_one(
    control: omd.Control, conn: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with control.batch("b") as batch:
        for name, value in batch.environment().items():
            monkeypatch.setenv(name, value)
        with control.batch("b", join=True) as joined:
            assert joined.instance_id == batch.instance_id
            assert joined.run("m_1", lambda run: run.code).value == "m_1"
        with control.module("m_2") as run:  # the environment has the Batch
            assert run.environment()["OMD_BATCH_INSTANCE_ID"] == str(batch.instance_id)
        with control.module("m_alone", batch=0) as run:
            assert "OMD_BATCH_INSTANCE_ID" not in run.environment()
    rows = conn.execute(
        "SELECT module_code, batch_instance_id AS id FROM omd_report.module_execution_log"
    ).fetchall()
    expected = {"m_1": batch.instance_id, "m_2": batch.instance_id, "m_alone": 0}
    assert {row["module_code"]: row["id"] for row in rows} == expected


def test_a_module_may_name_its_batch(control: omd.Control) -> None:
    with control.batch("b") as batch:
        with control.module("m_1", batch=batch) as run:
            assert run.environment()["OMD_BATCH_INSTANCE_ID"] == str(batch.instance_id)
        with control.module("m_2", batch=batch.instance_id) as run:
            assert run.environment()["OMD_BATCH_INSTANCE_ID"] == str(batch.instance_id)
