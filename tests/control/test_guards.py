"""Changes by hand: which are allowed, which are refused, which are logged (rule P16)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.errors import CheckViolation, InsufficientPrivilege, NotNullViolation

from support.flow import checked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.flow import Flow

    Another = Callable[..., Flow]

ANNA = "omd_test_anna"


@pytest.fixture
def anna(flow: Flow, another: Another) -> Iterator[Flow]:
    """The session of a person, whose login is a member of omd_admin and of nothing else."""
    flow.conn.execute(f"DROP ROLE IF EXISTS {ANNA}".encode())
    flow.conn.execute(f"CREATE ROLE {ANNA} LOGIN IN ROLE omd_admin".encode())
    session = another(user=ANNA)
    yield session
    session.conn.close()
    flow.conn.execute(f"DROP ROLE {ANNA}".encode())


@pytest.fixture
def definitions(flow: Flow) -> None:
    """Write one row in every table that an administrator may write."""
    flow.batch("b", "m")
    flow.batch("child")
    flow.call("add_batch_to_parent_batch", batch_code="child", parent_batch_code="b")
    flow.call("set_parameter", parameter_code="p", parameter_value="1", batch_code="b")
    flow.call("set_parameter", parameter_code="p", parameter_value="2", module_code="m")
    flow.conn.execute(
        "INSERT INTO omd.rollback_template (module_id, step, statement_template)"
        " SELECT module_id, 1, 'SELECT 1' FROM omd.module"
    )
    flow.owner("DELETE FROM omd.event_log")


def log(flow: Flow) -> list[tuple[str, str]]:
    """Return the code and the text of every edit, in order."""
    return [
        (row["event_return_code_details"], row["event_detail"])
        for row in flow.rows(
            "SELECT * FROM omd_report.event_log WHERE event_type_code = 4 ORDER BY 1"
        )
    ]


def refused(flow: Flow, update: str) -> dict[str, Any]:
    with pytest.raises(psycopg.Error) as caught:
        flow.conn.execute(update.encode())
    return checked(caught.value, "OM106")


# Definitions, parameters, templates

ALLOWED = [
    (
        "UPDATE omd.batch SET inactive_indicator = 'Y' WHERE batch_code = 'b'",
        "UPDATE batch (Batch b) by omd_test_anna: inactive_indicator from 'N' to 'Y'",
    ),
    (
        "UPDATE omd.batch SET continue_on_failure = TRUE WHERE batch_code = 'b'",
        "UPDATE batch (Batch b) by omd_test_anna: continue_on_failure from 'false' to 'true'",
    ),
    (
        "UPDATE omd.module SET inactive_indicator = 'Y'",
        "UPDATE module (Module m) by omd_test_anna: inactive_indicator from 'N' to 'Y'",
    ),
    (
        "UPDATE omd.batch_module SET inactive_indicator = 'Y'",
        (
            "UPDATE batch_module (Batch b, Module m) by omd_test_anna:"
            " inactive_indicator from 'N' to 'Y'"
        ),
    ),
    (
        "UPDATE omd.batch_hierarchy SET inactive_indicator = 'Y'",
        (
            "UPDATE batch_hierarchy (Batch child, under b) by omd_test_anna:"
            " inactive_indicator from 'N' to 'Y'"
        ),
    ),
    (
        "UPDATE omd.parameter SET parameter_description = 'it''s'",
        (
            "UPDATE parameter (parameter p) by omd_test_anna: parameter_description from NULL to"
            " 'it''s'"
        ),
    ),
    (
        "UPDATE omd.batch_parameter SET parameter_value = NULL",
        (
            "UPDATE batch_parameter (Batch b, parameter p) by omd_test_anna:"
            " parameter_value from '1' to NULL"
        ),
    ),
    (
        "DELETE FROM omd.module_parameter",
        (
            "DELETE module_parameter (Module m, parameter p) by omd_test_anna:"
            " module_id = '1', parameter_id = '{parameter}', parameter_value = '2'"
        ),
    ),
    (
        (
            "INSERT INTO omd.module_parameter SELECT 1, parameter_id, '3' FROM omd.parameter"
            " ON CONFLICT (module_id, parameter_id) DO UPDATE SET parameter_value = '3'"
        ),
        (
            "UPDATE module_parameter (Module m, parameter p) by omd_test_anna:"
            " parameter_value from '2' to '3'"
        ),
    ),
    (
        "CALL omd.register_rollback('m', 'SELECT 2')",
        (
            "UPDATE rollback_template (Module m, template {template}) by omd_test_anna:"
            " statement_template from 'SELECT 1' to 'SELECT 2'"
        ),
    ),
]


@pytest.mark.usefixtures("definitions")
@pytest.mark.parametrize(("edit", "line"), ALLOWED, ids=[edit for edit, _ in ALLOWED])
def test_an_administrator_edits_in_psql_and_it_is_logged(
    flow: Flow, anna: Flow, edit: str, line: str
) -> None:
    parameter = flow.one("SELECT parameter_id FROM omd.parameter")
    template = flow.one(
        "SELECT rollback_template_id FROM omd.rollback_template WHERE module_id = 1"
    )
    assert anna.conn.execute(edit.encode()).rowcount == (-1 if edit.startswith("CALL") else 1)
    code = " ".join(line.split()[:2])
    assert log(flow) == [(code, line.format(parameter=parameter, template=template))]


@pytest.mark.usefixtures("definitions")
def test_a_new_parameter_and_a_new_template_are_logged(flow: Flow, anna: Flow) -> None:
    anna.conn.execute("INSERT INTO omd.parameter (parameter_code) VALUES ('q')")
    anna.call("register_rollback", module_code="m", statement_template="SELECT 2", step=2)
    codes, texts = zip(*log(flow), strict=True)
    assert codes == ("INSERT parameter", "INSERT rollback_template")
    assert "parameter_code = 'q'" in texts[0]
    assert "statement_template = 'SELECT 2'" in texts[1]


@pytest.mark.usefixtures("definitions")
def test_an_edit_that_changes_nothing_is_not_logged(flow: Flow, anna: Flow) -> None:
    for table in ("batch", "module", "batch_module", "batch_hierarchy"):
        anna.conn.execute(f"UPDATE omd.{table} SET inactive_indicator = 'N'".encode())
    anna.conn.execute("UPDATE omd.parameter SET parameter_description = NULL")
    anna.call("register_rollback", module_code="m")
    anna.call("register_module", module_code="m", area_code="INT", table_code="dwh.m")
    anna.call("set_parameter", parameter_code="p", parameter_value="1", batch_code="b")
    assert log(flow) == []


@pytest.mark.usefixtures("definitions")
def test_a_change_through_a_procedure_is_logged_with_the_caller(flow: Flow, anna: Flow) -> None:
    anna.call("register_module", module_code="m", area_code="INT", inactive_indicator="Y")
    anna.call("set_parameter", parameter_code="p", parameter_value="9", batch_code="b")
    assert [text for _, text in log(flow)] == [
        "UPDATE module (Module m) by omd_test_anna: inactive_indicator from 'N' to 'Y'",
        (
            "UPDATE batch_parameter (Batch b, parameter p) by omd_test_anna:"
            " parameter_value from '1' to '9'"
        ),
    ]


def test_a_first_registration_is_not_logged(flow: Flow) -> None:
    flow.batch("b", "m")
    flow.batch("child")
    flow.call("add_batch_to_parent_batch", batch_code="child", parent_batch_code="b")
    assert log(flow) == []


@pytest.mark.usefixtures("definitions")
def test_the_log_names_the_login_and_the_role_taken_on(flow: Flow) -> None:
    flow.conn.execute("SET ROLE omd_admin")
    flow.conn.execute("UPDATE omd.module SET inactive_indicator = 'Y'")
    ((_, text),) = log(flow)
    assert "by postgres as omd_admin:" in text


@pytest.mark.usefixtures("definitions")
def test_an_edit_that_is_rolled_back_is_not_logged(flow: Flow, anna: Flow) -> None:
    with anna.conn.transaction(force_rollback=True):
        anna.conn.execute("UPDATE omd.module SET inactive_indicator = 'Y'")
    assert log(flow) == []


@pytest.mark.parametrize("type_code", [4, 5])
def test_nobody_forges_a_line_of_the_trail(flow: Flow, another: Another, type_code: int) -> None:
    runner = another(role="omd_runner")
    detail = runner.refused(
        "OM013", "log_event", event_detail="module edited by anna", event_type_code=type_code
    )
    assert detail["argument"] == "p_event_type_code"
    assert log(flow) == []


@pytest.mark.usefixtures("definitions")
@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE omd.module SET executable = 'DROP TABLE x'",
        "UPDATE omd.module SET table_code = 'public.other'",
        "UPDATE omd.batch SET batch_code = 'other'",
        "UPDATE omd.batch_module SET sequence = 9",
        "UPDATE omd.module_instance SET processing_indicator = 'P'",
        "UPDATE omd.module_instance SET execution_status_code = 'S', next_run_indicator = 'P'",
        "UPDATE omd.module_instance SET next_run_batch_id = 1",
        "UPDATE omd.module_instance SET lease_expires_at = 'infinity'",
        "UPDATE omd.error_catalogue SET hint_template = 'DROP DATABASE x'",
        "DELETE FROM omd.event_log",
        "UPDATE omd.event_log SET event_detail = ''",
        "INSERT INTO omd.event_log (event_datetime, event_type_code) VALUES (now(), 4)",
        "ALTER TABLE omd.module DISABLE TRIGGER ALL",
        "DROP TRIGGER trg_module_instance_edit ON omd.module_instance",
        (
            "CREATE TRIGGER t BEFORE INSERT ON omd.module_instance FOR EACH ROW"
            " EXECUTE FUNCTION suppress_redundant_updates_trigger()"
        ),
        "CREATE RULE r AS ON UPDATE TO omd.module_instance DO INSTEAD NOTHING",
        "SET session_replication_role = replica",
        "SET ROLE omd_owner",
        "CREATE TABLE omd.mine ()",
        "CREATE FUNCTION omd.mine() RETURNS int LANGUAGE sql RETURN 1",
    ],
)
def test_an_administrator_is_denied_everything_else(anna: Flow, edit: str) -> None:
    with pytest.raises(psycopg.Error) as caught:
        anna.conn.execute(edit.encode())
    assert caught.value.sqlstate == InsufficientPrivilege.sqlstate


# Instances


@pytest.mark.parametrize("kind", ["batch", "module"])
def test_an_administrator_directs_an_instance_in_psql(flow: Flow, anna: Flow, kind: str) -> None:
    flow.batch("b", "m")
    flow.run_batch("b", m="S")
    for old, new in ("PR", "RC", "CP"):
        update = f"UPDATE omd.{kind}_instance SET next_run_indicator = '{new}'"
        anna.conn.execute(f"{update} WHERE {kind}_instance_id = 1".encode())
        code, text = log(flow)[-1]
        assert code == f"{old} -> {new}"
        assert text == (
            f"next_run_indicator of {kind.title()} Instance 1 changed from {old} to {new} by {ANNA}"
        )


@pytest.mark.parametrize("kind", ["batch", "module"])
@pytest.mark.parametrize("value", ["'E'", "'A'", "'S'", "'r'", "''", "NULL"])
def test_an_indicator_is_p_r_or_c(flow: Flow, anna: Flow, kind: str, value: str) -> None:
    flow.batch("b", "m")
    flow.run_batch("b", m="S")
    with pytest.raises(psycopg.Error) as caught:
        anna.conn.execute(
            f"UPDATE omd.{kind}_instance SET next_run_indicator = {value}"
            f" WHERE {kind}_instance_id = 1".encode()
        )
    if value == "NULL":
        assert isinstance(caught.value, NotNullViolation)
    else:
        assert checked(caught.value, "OM006")["codes"] == "C, P, R"
    assert log(flow) == []


@pytest.mark.parametrize("kind", ["batch", "module"])
def test_a_superuser_edits_no_column_of_an_instance_but_the_indicator(
    flow: Flow, kind: str
) -> None:
    """The cases come from the catalog, so that a new column is read-only from its first day."""
    flow.batch("b", "m")
    run = flow.run_batch("b", m="S")
    columns = flow.rows(
        "SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute"
        " WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
        " AND attidentity = '' AND attname <> 'next_run_indicator'",
        f"omd.{kind}_instance",
    )
    assert len(columns) > 8
    values = {
        "bigint": "777777", "integer": "777777", "omd.row_count": "777777", "text": "'x'",
        "timestamp with time zone": "'2000-01-01'", "jsonb": "'{}'", "bigint[]": "'{7}'",
        "omd.execution_status_code": "'F'", "omd.processing_indicator_code": "'A'",
    }  # fmt: skip
    id = run.id if kind == "batch" else run["m"].id
    for column in columns:
        name = column["name"]
        if name == "batch_id":
            continue  # its foreign key refuses first
        value = values.get(column["type"]) or f"NOT coalesce({name}, FALSE)"
        detail = refused(
            flow,
            f"UPDATE omd.{kind}_instance SET {name} = {value} WHERE {kind}_instance_id = {id}",
        )
        assert detail["problem"] == f"{name} is read-only"
    assert flow.codes(**{kind: id}) == "S P P"
    assert log(flow) == []


@pytest.mark.parametrize("kind", ["batch", "module"])
@pytest.mark.parametrize("indicator", ["P", "R", "C"])
def test_the_placeholder_is_fixed(flow: Flow, anna: Flow, kind: str, indicator: str) -> None:
    if indicator == "P":  # it is no change, so only the row can be refused
        update = "next_run_indicator = 'P'"
    else:
        update = f"next_run_indicator = '{indicator}'"
    detail = refused(anna, f"UPDATE omd.{kind}_instance SET {update} WHERE {kind}_instance_id = 0")
    assert "placeholder" in detail["problem"]


@pytest.mark.parametrize("kind", ["batch", "module"])
def test_what_was_not_let_in_can_not_be_rolled_back(flow: Flow, anna: Flow, kind: str) -> None:
    flow.batch("b", "m")
    flow.begin_batch()
    flow.begin_module()
    id = (flow.begin_batch() if kind == "batch" else flow.begin_module()).id
    update = f"UPDATE omd.{kind}_instance SET next_run_indicator = '%s' WHERE"
    problem = refused(anna, f"{update % 'R'} {kind}_instance_id = {id}")["problem"]
    assert "not allowed to run" in problem
    assert flow.codes(**{kind: id}) == "A A P"
    anna.conn.execute(f"{update % 'C'} {kind}_instance_id = {id}".encode())
    assert flow.codes(**{kind: id}) == "A A C"


def set_r(anna: Flow, id: int) -> None:
    update = "UPDATE omd.module_instance SET next_run_indicator = 'R' WHERE module_instance_id = %s"
    anna.conn.execute(update, [id])


@pytest.mark.parametrize("before", ["R", "P"])
def test_a_failure_whose_rollback_was_settled_is_rolled_back_once_more(
    flow: Flow, anna: Flow, before: str
) -> None:
    flow.module()
    failed = flow.run_module("m", "F")
    assert flow.begin_module().id
    flow.end_module(failed + 1, "S")
    flow.write(failed)  # it was frozen, has no fence, and wakes up
    if before == "P":
        anna.call("set_next_run_indicator", next_run_indicator="P", module_instance_id=failed)
    assert flow.begin_module().array == []
    flow.end_module(failed + 2, "S")
    set_r(anna, failed)
    [event] = flow.rows(
        "SELECT event_detail FROM omd.event_log WHERE event_type_code = '4'"
        " AND module_instance_id = %s ORDER BY event_id DESC LIMIT 1",
        failed,
    )
    assert "once more" in event["event_detail"]
    assert flow.begin_module().array == [failed]
    assert failed not in flow.stamps()


def test_a_success_that_was_undone_can_not_be_rolled_back_again(flow: Flow, anna: Flow) -> None:
    flow.module()
    undone = flow.run_module()
    set_r(anna, undone)
    flow.run_module()
    update = (
        "UPDATE omd.module_instance SET next_run_indicator = '{}' WHERE module_instance_id = {}"
    )
    anna.conn.execute(update.format("P", undone).encode())
    detail = refused(anna, update.format("R", undone))
    assert "rolled back already" in detail["problem"]


def test_a_refused_row_takes_the_whole_statement_with_it(flow: Flow, anna: Flow) -> None:
    flow.module()
    flow.run_module()
    refused(anna, "UPDATE omd.module_instance SET next_run_indicator = 'R'")
    assert flow.codes(module=1) == "S P P"
    assert log(flow) == []


def test_an_executing_run_is_marked_for_its_next_run(flow: Flow, anna: Flow) -> None:
    """The run continues and succeeds, and the mark is still there."""
    flow.module()
    id = flow.begin_module().id
    flow.write(id)
    anna.conn.execute(
        "UPDATE omd.module_instance SET next_run_indicator = 'R' WHERE module_instance_id = 1"
    )
    assert flow.codes(module=id) == "E P R"
    flow.end_module(id, "S")
    assert flow.stamps() == {id: 2}
    assert flow.begin_module().array == [id]
    assert flow.stamps() == {}


def test_an_executing_run_that_is_marked_is_not_rolled_back_under_its_feet(
    flow: Flow, anna: Flow
) -> None:
    flow.module()
    id = flow.begin_module().id
    anna.conn.execute(
        "UPDATE omd.module_instance SET next_run_indicator = 'R' WHERE module_instance_id = 1"
    )
    assert flow.begin_module().answer == ("A", "RUNNING")
    assert flow.one("SELECT omd.pending_rollback(1)") in ([], None)
    flow.end_module(id, "S")


@pytest.mark.parametrize("table", ["batch", "module", "batch_module", "batch_hierarchy"])
@pytest.mark.usefixtures("definitions")
def test_an_inactive_indicator_is_y_or_n(anna: Flow, table: str) -> None:
    with pytest.raises(CheckViolation):
        anna.conn.execute(f"UPDATE omd.{table} SET inactive_indicator = 'X'".encode())
