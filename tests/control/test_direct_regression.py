"""The classic cases of the public DIRECT framework, under the names that it gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.flow import Flow


@pytest.fixture(autouse=True)
def scene(flow: Flow) -> None:
    """Register one Batch with a staging, a history staging and a hub Module."""
    flow.batch("b_dummy")
    for sequence, (code, area, table_type) in enumerate(
        [("m_stg", "STG", "STG"), ("m_hstg", "HSTG", "HSTG"), ("m_hub", "INT", "HUB")]
    ):
        flow.module(code, area_code=area, table_type_code=table_type)
        flow.call("add_module_to_batch", batch_code="b_dummy", module_code=code, sequence=sequence)


def test_new_module_registration(flow: Flow) -> None:
    flow.module("m_new")
    assert flow.one("SELECT count(*) FROM omd_report.module_list WHERE module_code = 'm_new'") == 1
    assert flow.begin_module("m_new").answer == ("P", None)


def test_new_batch_registration(flow: Flow) -> None:
    flow.batch("b_new", "m_hub")
    (row,) = flow.rows("SELECT * FROM omd_report.batch_list WHERE batch_code = 'b_new'")
    assert row["module_count"] == 1
    assert flow.begin_batch("b_new").answer == ("P", None)


def test_module_one_off_execution(flow: Flow) -> None:
    id = flow.run_module("m_hub")
    assert flow.codes(module=id) == "S P P"
    assert (
        flow.one(
            "SELECT batch_instance_id FROM omd.module_instance WHERE module_instance_id = %s", id
        )
        == 0
    )


def test_batch_regular_execution(flow: Flow) -> None:
    run = flow.run_batch("b_dummy", m_stg="S", m_hstg="S", m_hub="S")
    assert flow.codes(batch=run.id) == "S P P"
    assert [flow.codes(module=begun.id) for begun in run.modules.values()] == ["S P P"] * 3


def test_batch_with_all_modules_run_twice(flow: Flow) -> None:
    for _ in range(2):
        run = flow.run_batch("b_dummy", m_stg="S", m_hstg="S", m_hub="S")
        assert {begun.answer for begun in run.modules.values()} == {("P", None)}


def test_module_parallel_run_abort(flow: Flow) -> None:
    first = flow.begin_module("m_hub")
    second = flow.begin_module("m_hub")
    assert second.answer == ("A", "RUNNING")
    assert flow.codes(module=second.id) == "A A P"
    assert flow.codes(module=flow.end_module(first.id, "S")) == "S P P"


def test_batch_parallel_run_abort(flow: Flow) -> None:
    flow.begin_batch("b_dummy")
    second = flow.begin_batch("b_dummy")
    assert second.answer == ("A", "RUNNING")
    assert flow.begin_module("m_hub", second.id).answer == ("A", "BATCH_NOT_PROCEEDING")


@pytest.mark.parametrize("failures", [1, 2, 3])
def test_module_rerun_after_failure_with_rollback_of_all_failed_instances(
    flow: Flow, failures: int
) -> None:
    good = flow.begin_module("m_hub").id
    flow.write(good, "dwh.m_hub")
    flow.end_module(good, "S")
    failed: list[int] = []
    for _ in range(failures):
        # the platform can't roll back: each start fails before it has
        id = flow.create_module("m_hub")
        flow.write(id, "dwh.m_hub")
        failed.append(flow.end_module(id, "F"))
    begun = flow.begin_module("m_hub")
    assert (begun.pi, begun.array) == ("P", failed)
    assert flow.stamps("dwh.m_hub") == {good: 2}
    flow.end_module(begun.id, "S")
    assert flow.begin_module("m_hub").array == []


def test_module_success_is_never_rolled_back_by_itself(flow: Flow) -> None:
    good = flow.begin_module("m_hub").id
    flow.write(good, "dwh.m_hub")
    flow.end_module(good, "S")
    flow.run_module("m_hub")
    assert flow.stamps("dwh.m_hub") == {good: 2}


def test_module_inactive(flow: Flow) -> None:
    flow.call("register_module", module_code="m_hub", inactive_indicator="Y")
    skipped = flow.begin_module("m_hub")
    assert skipped.answer == ("C", "INACTIVE")
    assert flow.codes(module=skipped.id) == "C C P"


def test_batch_inactive(flow: Flow) -> None:
    flow.call("register_batch", batch_code="b_dummy", inactive_indicator="Y")
    skipped = flow.begin_batch("b_dummy")
    assert skipped.answer == ("C", "INACTIVE")
    assert flow.codes(batch=skipped.id) == "C C P"


def test_batch_module_inactive(flow: Flow) -> None:
    flow.call(
        "add_module_to_batch", batch_code="b_dummy", module_code="m_hub", inactive_indicator="Y"
    )
    run = flow.run_batch("b_dummy", m_stg="S", m_hstg="S", m_hub="S")
    assert run["m_hub"].answer == ("C", "INACTIVE_IN_BATCH")
    assert flow.codes(batch=run.id) == "S P P"
    assert flow.begin_module("m_hub").answer == ("P", None)


def test_module_not_registered_for_the_batch(flow: Flow) -> None:
    flow.module("m_stranger")
    batch = flow.begin_batch("b_dummy").id
    aborted = flow.begin_module("m_stranger", batch)
    assert aborted.answer == ("A", "NOT_REGISTERED")
    assert flow.codes(module=aborted.id) == "A A P"
    assert flow.codes(batch=flow.end_batch(batch, "S")) == "S P P"


def test_partial_restart_skips_what_succeeded(flow: Flow) -> None:
    first = flow.run_batch("b_dummy", m_stg="S", m_hstg="S", m_hub="F")
    second = flow.run_batch("b_dummy", m_stg="S", m_hstg="S", m_hub="S")
    assert second["m_stg"].answer == second["m_hstg"].answer == ("C", "ALREADY_SUCCEEDED")
    assert second["m_hub"].array == [first["m_hub"].id]
    assert flow.codes(batch=second.id) == "S P P"
    third = flow.run_batch("b_dummy", m_stg="S", m_hstg="S", m_hub="S")
    assert {begun.answer for begun in third.modules.values()} == {("P", None)}


def test_administrator_forced_rollback_of_a_module(flow: Flow) -> None:
    id = flow.begin_module("m_hub").id
    flow.write(id, "dwh.m_hub")
    flow.end_module(id, "S")
    flow.set_next("R", module=id)
    begun = flow.begin_module("m_hub")
    assert (begun.pi, begun.array) == ("P", [id])
    assert flow.stamps("dwh.m_hub") == {}


@pytest.mark.parametrize("outcome", ["S", "F"])
def test_administrator_forced_rollback_of_a_batch(flow: Flow, outcome: str) -> None:
    batch = flow.begin_batch("b_dummy").id
    ids = {}
    for module, status in (("m_stg", "S"), ("m_hstg", "S"), ("m_hub", outcome)):
        ids[module] = flow.begin_module(module, batch).id
        flow.write(ids[module], f"dwh.{module}")
        flow.end_module(ids[module], status)
    flow.end_batch(batch, outcome)
    flow.set_next("R", batch=batch)
    again = flow.begin_batch("b_dummy").id
    for module, id in ids.items():
        begun = flow.begin_module(module, again)
        assert (begun.pi, begun.array) == ("P", [id])
        assert flow.stamps(f"dwh.{module}") == {}
        flow.end_module(begun.id, "S")
    assert flow.codes(batch=flow.end_batch(again, "S")) == "S P P"


def test_administrator_skip_of_a_module(flow: Flow) -> None:
    flow.set_next("C", module=flow.run_module("m_hub"))
    assert flow.begin_module("m_hub").answer == ("C", "DIRECTIVE")
    assert flow.begin_module("m_hub").answer == ("P", None)


def test_administrator_skip_of_a_batch(flow: Flow) -> None:
    flow.set_next("C", batch=flow.run_batch("b_dummy").id)
    assert flow.begin_batch("b_dummy").answer == ("C", "DIRECTIVE")
    assert flow.begin_batch("b_dummy").answer == ("P", None)


def test_batch_within_its_frequency(flow: Flow) -> None:
    flow.call("register_batch", batch_code="b_dummy", frequency_code="Daily")
    flow.run_batch("b_dummy", m_stg="S", m_hstg="S", m_hub="S")
    assert flow.begin_batch("b_dummy").answer == ("C", "FREQUENCY")


def test_batch_failure_writes_the_event_log(flow: Flow) -> None:
    batch = flow.begin_batch("b_dummy").id
    module = flow.begin_module("m_hub", batch).id
    flow.call(
        "module_failure",
        module_instance_id=module,
        event_detail="disk full",
        event_return_code_details="53100",
    )
    flow.call("batch_failure", batch_instance_id=batch, event_detail="m_hub failed")
    rows = flow.rows("SELECT * FROM omd_report.event_log ORDER BY event_id")
    assert [(row["module_code"], row["batch_code"], row["event_detail"]) for row in rows] == [
        ("m_hub", "b_dummy", "disk full"),
        (None, "b_dummy", "m_hub failed"),
    ]
    assert rows[0]["event_return_code_details"] == "53100"


def test_module_shared_by_two_batches(flow: Flow) -> None:
    flow.batch("b_other", "m_hub")
    failed = flow.run_batch("b_dummy", m_hub="F")["m_hub"].id
    other = flow.run_batch("b_other", m_hub="S")
    assert other["m_hub"].array == [failed]
    again = flow.run_batch("b_dummy", m_hub="S")
    assert (again["m_hub"].answer, again["m_hub"].array) == (("P", None), [])
