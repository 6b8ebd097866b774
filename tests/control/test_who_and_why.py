"""Who began a run, who ended it by hand and why; which indicators an administrator may set."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.flow import Flow

ANNA = "anna as omd_runner"


@pytest.fixture
def anna(flow: Flow, another: Callable[..., Flow]) -> Iterator[Flow]:
    """A session with a login of its own that has taken on the role omd_runner."""
    flow.conn.execute("CREATE ROLE anna LOGIN IN ROLE omd_runner")
    flow.batch("b", "m")
    session = another()
    session.conn.execute("SET SESSION AUTHORIZATION anna")
    session.conn.execute("SET ROLE omd_runner")
    yield session
    session.conn.close()
    flow.conn.execute("DROP ROLE anna")


def test_an_instance_tells_who_began_it(flow: Flow, anna: Flow) -> None:
    batch = anna.begin_batch().id
    module = anna.begin_module("m", batch).id
    created = anna.create_module("m", batch)
    for kind, id in (("batch", batch), ("module", module), ("module", created)):
        query = f"SELECT started_by FROM omd.{kind}_instance WHERE {kind}_instance_id = %s"
        assert flow.one(query, id) == ANNA


@pytest.mark.parametrize("reason", ["the file was a test", None, ""])
@pytest.mark.parametrize("kind", ["batch", "module"])
@pytest.mark.parametrize(
    ("verb", "code", "done"), [("abort", "A", "aborted"), ("skip", "C", "skipped")]
)
def test_an_end_by_hand_tells_who_and_why(
    flow: Flow, anna: Flow, kind: str, verb: str, code: str, done: str, reason: str | None
) -> None:
    batch = anna.begin_batch().id
    module = anna.begin_module("m", batch).id if kind == "module" else 0
    id = module or batch
    anna.call(f"{kind}_{verb}", **{f"{kind}_instance_id": id}, event_detail=reason)
    (event,) = flow.rows("SELECT * FROM omd.event_log")
    assert (event["batch_instance_id"], event["module_instance_id"]) == (batch, module)
    assert event["event_return_code_details"] == f"E -> {code}"
    assert event["event_detail"] == f"{done} by {ANNA}" + (f": {reason}" if reason else "")


def test_an_evaluation_that_skips_leaves_no_event(flow: Flow, anna: Flow) -> None:
    flow.deactivate("module", "module_code = 'm'")
    assert anna.begin_module().answer == ("C", "INACTIVE")
    assert flow.rows("SELECT FROM omd.event_log WHERE module_instance_id <> 0") == []


@pytest.mark.parametrize("way", ["UPDATE", "CALL"])
def test_a_failure_keeps_its_rollback(flow: Flow, way: str) -> None:
    flow.module()
    failed = flow.run_module("m", "F")
    for indicator in ("C", "P", "R", "P"):
        try:
            if way == "CALL":
                flow.call(
                    "set_next_run_indicator",
                    next_run_indicator=indicator,
                    module_instance_id=failed,
                )
            else:
                flow.set_next(indicator, module=failed)
            assert indicator != "P"
        except psycopg.Error as error:
            assert (indicator, error.sqlstate) == ("P", "OM106")  # noqa: PT017
    assert flow.codes(module=failed) == "F P R"
    assert flow.begin_module().array == [failed]
    flow.call("set_next_run_indicator", next_run_indicator="C", module_instance_id=failed)
    flow.call("set_next_run_indicator", next_run_indicator="P", module_instance_id=failed)


def test_a_reason_is_one_of_the_table(flow: Flow) -> None:
    """Only internal routines write a reason, so no foreign key is checked at each begin."""
    texts = flow.rows(
        "SELECT pg_get_functiondef(p.oid) AS text FROM pg_proc AS p"
        " WHERE p.pronamespace::regnamespace::text ~ '^omd' AND p.prokind IN ('f', 'p')"
    )
    given = r"(?:p_reason := |omd\.abort_run\([\w.]+, )'(\w+)'"
    written = {w for row in texts for w in re.findall(given, row["text"])}
    known = {row["reason_code"] for row in flow.rows("SELECT reason_code FROM omd.reason")}
    assert written == known - {"UNKNOWN_INDICATOR"}  # a client gives it to module_abort


@pytest.mark.parametrize("reason", ["it hangs", None, "", " "])
@pytest.mark.parametrize("kind", ["batch", "module"])
def test_a_failure_by_hand_tells_who(flow: Flow, anna: Flow, kind: str, reason: str | None) -> None:
    """Of one's own run with a reason, the instance tells who began it."""
    own = {"batch": anna.begin_batch, "module": anna.begin_module}[kind]().id
    anna.call(f"{kind}_failure", **{f"{kind}_instance_id": own}, event_detail=reason)
    others = {"batch": flow.begin_batch, "module": flow.begin_module}[kind]().id
    anna.call(f"{kind}_failure", **{f"{kind}_instance_id": others}, event_detail=reason)
    query = (
        "SELECT event_detail AS d FROM omd.event_log"
        f" WHERE event_type_code = 2 AND {kind}_instance_id = %s"
    )
    blank = not (reason or "").strip()
    assert flow.one(query, own) == (f"failed by {ANNA}" if reason is None else reason)
    assert flow.one(query, others) == f"failed by {ANNA}" + ("" if blank else f": {reason}")
