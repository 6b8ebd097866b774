"""No foreign name, setting or SQL turns a routine against its caller or its owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege

from support.traps import lay_temporary_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.flow import Flow

    Another = Callable[..., Flow]

pytestmark = pytest.mark.no_user_code("its own names and code are what is met")

LOAD = (
    "INSERT INTO dwh.m SELECT 'x'::pg_catalog.text,"
    " pg_catalog.current_setting('omd.module_instance_id')::bigint"
)


@pytest.fixture(autouse=True)
def scene(request: pytest.FixtureRequest) -> None:
    if "traps" in request.fixturenames:  # they bring the database
        request.getfixturevalue("traps")
    flow = request.getfixturevalue("flow")
    flow.module("m", executable=LOAD)
    flow.batch("b", "m")


@pytest.fixture
def runner(flow: Flow, another: Another) -> Flow:
    """A session of omd_runner, with rights on the target and on nothing else."""
    flow.conn.execute("GRANT USAGE ON SCHEMA dwh TO omd_runner")
    flow.conn.execute("GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON dwh.m TO omd_runner")
    return another(role="omd_runner")


# Names that hide ours


def whole_story(flow: Flow, runner: Flow) -> None:
    """Do everything that a runner does."""
    batch = runner.begin_batch().id
    failed = runner.begin_module("m", batch, lease="5 minutes").id
    runner.write(failed)
    runner.call("heartbeat", module_instance_id=failed, lease="5 minutes")
    runner.call("fence", module_instance_id=failed)
    runner.call("log_event", event_detail="x", module_instance_id=failed)
    runner.end_module(failed, "F")
    runner.end_batch(batch, "F")
    assert runner.begin_module().array == [failed]
    runner.conn.execute("CALL omd.create_load_window(2, p_end_id => 1)")
    runner.end_module(2, "S")
    assert runner.call("run_batch", batch_code="b")["execution_status_code"] == "S"
    assert runner.call("run_module", module_code="m")["execution_status_code"] == "S"
    update = runner.call("run_module", module_code="m", executable="UPDATE dwh.m SET v = v")
    assert update["execution_status_code"] == "S"
    rows = "SELECT rows_updated FROM omd.module_instance WHERE module_instance_id = %s"
    assert flow.one(rows, update["module_instance_id"]) == 2
    ran = runner.call("run_module", module_code="m", executable="SELECT 1/0")
    assert ran["execution_status_code"] == "F"
    flow.module("m", executable="SELECT 1/0")
    assert runner.call("run_batch", batch_code="b")["execution_status_code"] == "F"
    runner.call("reap_expired_instances")
    assert flow.rows("SELECT * FROM omd.event_log WHERE event_detail LIKE '%%evil%%'") == []


@pytest.mark.parametrize("path", ["evil, pg_catalog", "evil", "pg_temp, evil, omd, pg_catalog"])
def test_names_in_front_of_ours_and_of_pg_catalog_s_do_no_harm(
    traps: str, flow: Flow, runner: Flow, path: str
) -> None:
    assert traps in path
    runner.conn.execute(f"SET search_path = {path}".encode())
    whole_story(flow, runner)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT lower('X'::pg_catalog.text)",
        "SELECT clock_timestamp()",
        "SELECT nullif('a'::pg_catalog.text, 'b')",
        "SELECT CASE 'a'::pg_catalog.text WHEN 'b' THEN 1 END",
        "SELECT 1::bigint <> 2::bigint",
        "SELECT 'a'::text",
        "DO $$ DECLARE t text; BEGIN t := 'a'; END $$",
    ],
)
def test_the_traps_close(traps: str, runner: Flow, query: str) -> None:
    """The test above would pass if its traps had no effect, so each trap is tried."""
    runner.conn.execute(f"SET search_path = {traps}, pg_catalog".encode())
    with pytest.raises(psycopg.Error) as caught:
        runner.conn.execute(query.encode())
    assert caught.value.sqlstate == "EVIL0"


def test_temporary_names_do_no_harm(flow: Flow, runner: Flow) -> None:
    """Temporary tables and types are found before every schema of the search_path."""
    lay_temporary_names(runner)
    whole_story(flow, runner)


# SQL that somebody else wrote

SPIES = [
    "UPDATE omd.module_instance SET processing_indicator = 'P'",
    "DELETE FROM omd.event_log",
    "INSERT INTO omd.event_log (event_datetime, event_type_code) VALUES (now(), 4)",
    "TRUNCATE omd.source_control",
    "SELECT omd.write_event(0, 0, 4, 'x', 'forged')",
    "CALL omd.register_batch('mine')",
    "SET ROLE omd_owner",
    "CREATE TABLE omd.mine ()",
    "DO $$ BEGIN PERFORM FROM secret.t; END $$",
]


@pytest.fixture
def login(flow: Flow, another: Another) -> Iterator[Flow]:
    """A session that may run; the owner of OMD may read a table that it may not read."""
    flow.conn.execute("CREATE SCHEMA secret")
    flow.conn.execute("CREATE TABLE secret.t ()")
    flow.conn.execute("GRANT USAGE ON SCHEMA secret TO omd_owner")
    flow.conn.execute("GRANT SELECT ON secret.t TO omd_owner")
    flow.conn.execute("DROP ROLE IF EXISTS omd_test_anna")
    flow.conn.execute("CREATE ROLE omd_test_anna LOGIN IN ROLE omd_runner")
    flow.conn.execute("GRANT USAGE ON SCHEMA dwh TO omd_test_anna")
    flow.conn.execute("GRANT SELECT, INSERT, DELETE ON dwh.m TO omd_test_anna")
    session = another(user="omd_test_anna")
    yield session
    session.conn.close()
    flow.conn.execute("DROP OWNED BY omd_test_anna")
    flow.conn.execute("DROP ROLE omd_test_anna")


@pytest.mark.parametrize("spy", SPIES)
@pytest.mark.parametrize("way", ["begin_module", "evaluate_module", "run_module", "run_batch"])
def test_a_template_runs_with_the_rights_of_who_begins(
    flow: Flow, login: Flow, way: str, spy: str
) -> None:
    """An administrator wrote the template, and a routine of omd_owner fills it."""
    flow.run_module("m", "F")
    flow.conn.execute(
        "INSERT INTO omd.rollback_template (module_id, step, statement_template) VALUES (1, 1, %s)",
        [spy],
    )
    before = flow.rows("SELECT * FROM omd.event_log ORDER BY 1")
    begin = {
        "begin_module": login.begin_module,
        "evaluate_module": lambda: login.evaluate_module(login.create_module()),
        "run_module": lambda: login.call("run_module", module_code="m"),
        "run_batch": None,
    }[way]
    if begin is None:  # a Module that can't begin fails its Batch
        assert login.call("run_batch", batch_code="b")["execution_status_code"] == "F"
        (event,) = flow.rows("SELECT * FROM omd.event_log WHERE batch_instance_id = 1")
        assert "permission denied" in event["event_detail"]
    else:
        with pytest.raises(InsufficientPrivilege):
            begin()
        assert flow.rows("SELECT * FROM omd.event_log ORDER BY 1") == before
    assert flow.one("SELECT count(*) FROM omd.batch") == 1


@pytest.mark.parametrize("spy", SPIES)
@pytest.mark.parametrize("way", ["run_module", "run_batch"])
def test_an_executable_runs_with_the_rights_of_who_runs_it(
    flow: Flow, login: Flow, way: str, spy: str
) -> None:
    flow.module("m", executable=spy)
    code = {"module_code": "m"} if way == "run_module" else {"batch_code": "b"}
    assert login.call(way, **code)["execution_status_code"] == "F"
    (event,) = flow.rows("SELECT * FROM omd.event_log WHERE module_instance_id = 1")
    assert event["event_return_code_details"] == InsufficientPrivilege.sqlstate


def test_a_preview_counts_with_the_rights_of_who_looks(flow: Flow, login: Flow) -> None:
    flow.run_module("m", "F")
    flow.conn.execute(
        "INSERT INTO omd.rollback_template (module_id, step, statement_template, count_template)"
        " VALUES (1, 1, 'SELECT 1', 'SELECT count(*) FROM secret.t')"
    )
    with pytest.raises(InsufficientPrivilege):
        login.rows("SELECT * FROM omd.preview_rollback(1)")
    flow.conn.execute(
        "UPDATE omd.rollback_template SET count_template ="
        " 'WITH d AS (DELETE FROM omd.event_log RETURNING 1) SELECT count(*) FROM d'"
        " WHERE module_id = 1"
    )
    with pytest.raises(psycopg.Error):  # not even a superuser: a preview changes nothing
        flow.rows("SELECT * FROM omd.preview_rollback(1)")
    assert flow.failures(module=1) == 1


@pytest.mark.parametrize(
    "code",
    [
        "CREATE TRIGGER t BEFORE INSERT OR DELETE ON dwh.m FOR EACH ROW EXECUTE FUNCTION dwh.see()",
        (
            "CREATE CONSTRAINT TRIGGER t AFTER INSERT OR DELETE ON dwh.m DEFERRABLE"
            " INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION dwh.see()"
        ),
        "CREATE RULE r AS ON DELETE TO dwh.m DO ALSO INSERT INTO dwh.seen VALUES (current_user)",
        "ALTER TABLE dwh.m ADD d boolean, ALTER d SET DEFAULT dwh.seen_by()",
        (
            "CREATE POLICY p ON dwh.m USING (dwh.seen_by());"
            " ALTER TABLE dwh.m ENABLE ROW LEVEL SECURITY"
        ),
    ],
    ids=["trigger", "deferred trigger", "rule", "default", "row security"],
)
def test_code_on_a_target_runs_with_the_caller_s_rights(
    flow: Flow, runner: Flow, code: str
) -> None:
    """The owner of a target gets no rights in OMD from the loads and rollbacks that run on it."""
    flow.conn.execute("CREATE TABLE dwh.seen (who text)")
    flow.conn.execute("GRANT INSERT ON dwh.seen TO PUBLIC")
    flow.conn.execute("GRANT USAGE ON SCHEMA dwh TO PUBLIC")
    see = (
        " LANGUAGE plpgsql AS"
        " $$ BEGIN INSERT INTO dwh.seen VALUES (current_user); RETURN %s; END $$"
    )
    flow.conn.execute(
        f"CREATE FUNCTION dwh.see() RETURNS trigger {see % 'coalesce(new, old)'}".encode()
    )
    flow.conn.execute(f"CREATE FUNCTION dwh.seen_by() RETURNS boolean {see % 'TRUE'}".encode())
    flow.conn.execute(code.encode())
    assert runner.call("run_module", module_code="m")["execution_status_code"] == "S"
    failed = runner.begin_module().id
    runner.write(failed)
    runner.end_module(failed, "F")
    if "POLICY" in code:
        with pytest.raises(InsufficientPrivilege, match="row-level security"):
            runner.begin_module()
    else:
        assert runner.begin_module().array == [failed]
        runner.end_module(3, "S")
    assert {row["who"] for row in flow.rows("SELECT who FROM dwh.seen")} == {"omd_runner"}


@pytest.mark.parametrize(
    "setting",
    [
        "ROLE omd_owner",
        "ROLE omd_admin",
        "SESSION AUTHORIZATION omd_owner",
        "session_replication_role = replica",
    ],
)
def test_a_runner_gains_no_right_by_a_setting(login: Flow, setting: str) -> None:
    with pytest.raises(InsufficientPrivilege):
        login.conn.execute(f"SET {setting}".encode())


def test_a_setting_of_ours_is_not_believed(login: Flow) -> None:
    login.conn.execute("SET omd.module_instance_id = '1; DROP TABLE omd.module'")
    assert login.begin_module().pi == "P"
