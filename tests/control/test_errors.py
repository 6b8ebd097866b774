"""The error catalogue: each error is raised in the same form, by the class of the same name."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from omd import errors
from support.flow import PASSED

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.flow import Flow

IN_NO_BLOCK = (
    "CALL omd_lineage.register_topic('dwh.f', ARRAY['dwh.s'], p_transforms => ARRAY['dwh.w'])"
)


def spark(flow: Flow) -> int:
    flow.call("register_module", module_code="m", platform_code="SPARK")
    flow.run_module("m", "F")
    return flow.begin_module().id


def edited(flow: Flow) -> None:
    flow.run_module()
    flow.conn.execute("UPDATE omd.module_instance SET processing_indicator = 'A'")


def in_a_transaction_block(flow: Flow, routine: str, **arguments: str) -> None:
    with flow.conn.transaction():
        flow.call(routine, **arguments)


def sql_for_a_part(flow: Flow) -> None:
    module = flow.one("SELECT module_id FROM omd.module WHERE module_code = 'm'")
    flow.one("SELECT omd.set_module_kind(%s, 'PART')", module)
    flow.call("register_module", module_code="m", executable="SELECT 1")


def no_template(flow: Flow) -> None:
    flow.call("register_module", module_code="m", area_code="PRES")
    flow.run_module("m", "F")
    flow.begin_module()


def no_business_key(flow: Flow) -> None:
    flow.module("m", table_type_code="SAT")
    flow.run_module("m", "F")
    flow.begin_module()


def no_target(flow: Flow) -> None:
    flow.run_module("m", "F")
    flow.conn.execute("DROP TABLE dwh.m")
    flow.begin_module()


def kept_by_a_rule(flow: Flow) -> None:
    flow.conn.execute("CREATE RULE keep AS ON DELETE TO dwh.m DO INSTEAD NOTHING")
    flow.write(flow.run_module("m", "F"))
    flow.begin_module()


def other_window(flow: Flow) -> None:
    id = flow.begin_module().id
    for end in (1, 2):
        flow.conn.execute(
            "CALL omd.create_load_window(%s, p_end_id => %s, p_start_value => NULL)", [id, end]
        )


def other_kind_of_window(flow: Flow) -> None:
    for end in ("p_end_id => 1", "p_end_value => now()"):
        id = flow.begin_module().id
        flow.conn.execute(f"CALL omd.create_load_window(%s, {end})".encode(), [id])
        flow.end_module(id, "S")


def retire_what_executes(flow: Flow) -> None:
    flow.begin_module()
    flow.call("retire_module", module_code="m")


def cycle(flow: Flow) -> None:
    flow.call("add_batch_to_parent_batch", batch_code="b", parent_batch_code="b")


def unfinished(flow: Flow) -> None:
    batch = flow.begin_batch().id
    flow.begin_module("m", batch)
    flow.end_batch(batch, "S")


def old_snapshot(flow: Flow) -> None:
    flow.conn.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    try:
        flow.begin_module()
    finally:
        flow.conn.execute("ROLLBACK")


def topics(flow: Flow, *then: str) -> None:
    """A source and a topic over it, and statements."""
    for statement in (
        "CREATE TABLE dwh.s (pos timestamptz, id bigint, PRIMARY KEY (pos, id))",
        "CREATE TABLE dwh.f (id bigint, omd_insert_module_instance_id bigint)",
        "CREATE VIEW dwh.v AS SELECT id FROM dwh.s WHERE omd_lineage.in_block(pos, id)",
        "CALL omd_lineage.register_topic('dwh.s')",
        "CALL omd_lineage.register_topic('dwh.f', ARRAY['dwh.s'], p_transforms => ARRAY['dwh.v'])",
        *then,
    ):
        flow.conn.execute(statement.encode())


def locked(flow: Flow) -> None:
    topics(flow)
    with psycopg.connect(flow.conn.info.dsn) as other:
        other.execute("LOCK TABLE dwh.s")
        flow.rows("SELECT omd_lineage._newest_row('dwh.s', 'pos', 'id')")


RAISED: dict[str, Callable[[Flow], object]] = {
    "OM001": lambda flow: flow.begin_batch("nope"),
    "OM002": lambda flow: flow.begin_module("nope"),
    "OM003": lambda flow: flow.evaluate_batch(999),
    "OM004": lambda flow: flow.evaluate_module(999),
    "OM005": lambda flow: flow.call("begin_batch", batch_code=None),
    "OM006": lambda flow: flow.call("register_batch", batch_code="b", frequency_code="Sometimes"),
    "OM007": lambda flow: flow.call(
        "module_success", module_instance_id=flow.begin_module().id, rows_input=-1
    ),
    "OM008": cycle,
    "OM009": lambda flow: flow.call("register_module", module_code="m", table_code="a..b"),
    "OM010": lambda flow: flow.call(
        "create_load_window", module_instance_id=flow.begin_module().id
    ),
    "OM011": lambda flow: flow.begin_module("m", lease=timedelta(0)),
    "OM012": lambda flow: flow.one("SELECT omd.parameter_value('nope')"),
    "OM013": lambda flow: flow.call("set_next_run_indicator", next_run_indicator="R"),
    "OM014": old_snapshot,
    "OM015": lambda flow: flow.conn.execute("CALL omd_lineage.step('no.where')"),
    "OM016": lambda flow: flow.conn.execute("CALL omd_lineage.register_topic('a..b')"),
    "OM018": lambda flow: in_a_transaction_block(flow, "run_module", module_code="m"),
    "OM017": lambda flow: topics(flow, "CALL omd_lineage.register_topic('dwh.s', ARRAY['dwh.f'])"),
    "OM019": other_kind_of_window,
    "OM101": lambda flow: flow.end_module(flow.run_module(), "S"),
    "OM102": lambda flow: flow.end_module(flow.create_module(), "S"),
    "OM103": lambda flow: flow.call("confirm_rollback", module_instance_id=flow.begin_module().id),
    "OM104": unfinished,
    "OM105": other_window,
    "OM106": edited,
    "OM107": lambda flow: flow.call(
        "heartbeat", module_instance_id=flow.begin_module(lease=PASSED).id, lease="1 minute"
    ),
    "OM108": lambda flow: topics(
        flow,
        "CALL omd.begin_module('dwh.f')",
        "SELECT omd_lineage._advance_offset(1, 1, 0, '{}')",
    ),
    "OM111": lambda flow: [
        flow.run_module("m", "F"),
        flow.call("register_module", module_code="m", table_code="dwh.other"),
    ],
    "OM112": kept_by_a_rule,
    "OM113": retire_what_executes,
    "OM114": lambda flow: flow.call(
        "open_block", source_code="facts.s", start_pos=None, start_id=0, end_id=1
    ),
    "OM201": no_template,
    "OM202": no_target,
    "OM204": lambda flow: flow.call("rollback_module", module_instance_id=spark(flow)),
    "OM205": no_business_key,
    "OM206": lambda flow: topics(
        flow,
        "ALTER TABLE dwh.s RENAME COLUMN pos TO happened_at",
        "SELECT omd_lineage._probe_source(topic_id) FROM omd_lineage.topic WHERE topic = 'dwh.s'",
    ),
    "OM207": lambda flow: topics(
        flow, "SELECT omd_lineage._insert_transform('no.view', 'dwh.f', 'id', 1, 'x')"
    ),
    "OM208": lambda flow: topics(flow, "CALL omd_lineage.step('dwh.s')"),
    "OM209": lambda flow: flow.call(
        "register_rollback", module_code="m", statement_template="DELETE FROM {tabel}"
    ),
    "OM210": lambda flow: flow.call("register_module", module_code="m", table_code="omd.event_log"),
    "OM211": lambda flow: topics(
        flow,
        "CALL omd_lineage.register_topic('dwh.f', p_pos_column => '', p_delay => '1 hour')",
    ),
    "OM212": locked,
    "OM213": lambda flow: topics(flow, "CREATE VIEW dwh.w AS TABLE dwh.s", IN_NO_BLOCK),
    "OM214": lambda flow: flow.call("run_module", module_code="m"),
    "OM219": sql_for_a_part,
}
# Those that need a story of their own, and the tests that tell it.
ELSEWHERE = {
    "OM115": "remove",
    "OM116": "remove",
    "OM117": "merge",
    "OM118": "reload_methods",
    "OM119": "restate",
    "OM215": "registering_again",
    "OM216": "registering_again",
    "OM217": "merge",
    "OM218": "merge",
}


# The tens of the numbers of other rooms, and the folders of their tests.
ROOMS = {
    "2": "lake",
    **dict.fromkeys("34", "delivery"),
    **dict.fromkeys("56", "facts"),
    "7": "dispatch",
    "8": "decision",
    "9": "provenance",
}
# Decision had more errors than its tens, and events share those of provenance.
OTHERS = {
    "OM100": "control",
    "OM109": "event",
    **dict.fromkeys(["OM140", "OM141"], "control"),
    "OM142": "kinds",
    "OM124": "spark",
    **dict.fromkeys(["OM143", "OM144", "OM145", "OM146", "OM147", "OM242"], "spark"),
    "OM240": "facts",
    "OM241": "control",
    "OM243": "install",
    "OM110": "control",
    **dict.fromkeys(["OM290", "OM291"], "decision"),
    **dict.fromkeys(["OM095", "OM195", "OM295", "OM296"], "event"),
    "OM096": "integrations",
    "OM098": "web",
    "OM099": "dispatch",
}


def test_every_error_of_the_catalogue_is_raised_by_a_test(flow: Flow) -> None:
    catalogue = {
        row["sqlstate_code"]
        for row in flow.rows(
            "SELECT sqlstate_code FROM omd.error_catalogue WHERE sqlstate_code < 'OM9'"
        )
    }
    assert catalogue >= RAISED.keys() | ELSEWHERE.keys()
    tests = Path(__file__).parents[1]
    for sqlstate, story in ELSEWHERE.items():
        assert sqlstate in (tests / f"lineage/test_{story}.py").read_text()
    for sqlstate in catalogue - RAISED.keys() - ELSEWHERE.keys():
        room = OTHERS.get(sqlstate) or ROOMS[sqlstate[3]]
        files = (tests / room).glob("*.py")
        assert any(sqlstate in file.read_text() for file in files), sqlstate


@pytest.mark.parametrize("sqlstate", RAISED)
def test_an_error_tells_what_why_and_what_next(flow: Flow, sqlstate: str) -> None:
    flow.batch("b", "m")
    with pytest.raises(errors.OmdError) as caught:
        RAISED[sqlstate](flow)
    error = caught.value
    name = flow.one("SELECT error_name FROM omd.error_catalogue WHERE sqlstate_code = %s", sqlstate)
    assert error.sqlstate == sqlstate
    assert type(error) is errors.lookup(sqlstate)
    assert type(error).__name__ == name
    assert isinstance(json.loads(error.diag.message_detail or ""), dict)
    hint = error.diag.message_hint or ""
    assert hint.strip()
    for text in (error.diag.message_primary or "", hint):
        assert "{" not in text.replace("{table}", "").replace(
            "{insert_instance_column}", ""
        ).replace("{instance_array}", ""), "a placeholder was left unfilled"


@pytest.mark.parametrize(
    "code", ["it's", 'a "b"', "x'); DROP TABLE omd.batch; --", "{batch_code}", "%s"]
)
def test_a_hint_quotes_what_the_caller_gave(flow: Flow, code: str) -> None:
    with pytest.raises(errors.lookup("OM001")) as caught:
        flow.begin_batch(code)
    literal = flow.one("SELECT quote_literal(%s)", code)
    assert literal in (caught.value.diag.message_hint or "")
    assert json.loads(caught.value.diag.message_detail or "") == {"batch_code": code}
    assert code in (caught.value.diag.message_primary or "")
