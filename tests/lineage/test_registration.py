"""Registration of topics: names, dependencies, kept values, refusals and rights."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg
import pytest

from support.scene import FIRST, LEAST_ID, NOON, Scene, at

HOSTILE = '"We;ird".""";t#x:y\'--"'


def topic(scene: Scene, name: str) -> dict[str, Any]:
    (row,) = scene.rows("SELECT * FROM omd_lineage.topic WHERE topic = %s", name)
    return row


def sources(scene: Scene, name: str) -> list[tuple[str, str | None]]:
    """Return what a topic depends on, and the topic that makes each."""
    found = scene.rows(
        "SELECT depends_on, source_topic FROM omd_report.lineage_graph"
        " WHERE topic = %s ORDER BY ordinal, source_topic",
        name,
    )
    return [(row["depends_on"], row["source_topic"]) for row in found]


def warnings(scene: Scene) -> list[str]:
    told: list[str] = []
    scene.conn.add_notice_handler(
        lambda d: told.append(d.message_primary or "") if d.severity == "WARNING" else None
    )
    return told


# Names


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("dwh.f", ("dwh.f", None, None)),
        ("dwh.f#crm", ("dwh.f", "crm", None)),
        ("dwh.f:01", ("dwh.f", None, "01")),
        ("dwh.f#crm:01", ("dwh.f", "crm", "01")),
        ("dwh.f#a b:c'd;--", ("dwh.f", "a b", "c'd;--")),
        ('"We;ird"."t#x:y"', ('"We;ird"."t#x:y"', None, None)),
        ('"We;ird"."t#x:y"#a:b', ('"We;ird"."t#x:y"', "a", "b")),
        ('"a.b"."c""d"#t', ('"a.b"."c""d"', "t", None)),
        ('"schéma"."tablé"#é:ü', ('"schéma"."tablé"', "é", "ü")),
    ],
)
def test_the_name_of_a_topic_is_a_table_with_tag_and_shard(
    scene: Scene, name: str, parts: tuple[str, ...]
) -> None:
    scene.register(name, source_offset="HAND")
    row = topic(scene, name)
    assert (row["table_code"], row["tag"], row["shard"]) == parts


@pytest.mark.parametrize(
    "name",
    ["f", "a.b.c", "dwh.", ".f", "dwh.f#", "dwh.f:", "dwh.f#:x", "dwh.f:x#y", "dwh.f#a#b", '"a.b"',
     "dwh.f:x:y", 'dwh."f', "dwh.f g", "dwh.f;"],
)  # fmt: skip
def test_another_name_is_refused(scene: Scene, name: str) -> None:
    assert scene.refused("OM016", "omd_lineage.register_topic", topic=name)["topic"] == name
    assert not scene.rows("SELECT * FROM omd_lineage.topic")


def test_a_dependency_must_be_the_name_of_a_topic(scene: Scene) -> None:
    scene.refused("OM016", "omd_lineage.register_topic", topic="dwh.f", depends_on=["a b c"])
    scene.refused("OM016", "omd_lineage.register_topic", topic="dwh.f", depends_on=[None])


def test_hostile_names_go_all_the_way(scene: Scene) -> None:
    scene.conn.execute(b'CREATE SCHEMA "We;ird"; GRANT CREATE ON SCHEMA "We;ird" TO omd_runner')
    target, view = '"We;ird"."f""x.y"', '"We;ird"."v;DROP TABLE x"'
    scene.source(HOSTILE, 1, 2, 3)
    scene.view(view, HOSTILE)
    for method in ("DELETE", "TRUNCATE", "SWAP"):
        for processor in ("STEP", "RELOAD"):
            with scene.role("omd_runner"):
                scene.base(f'"We;ird"."{method}{processor}"')
            name = scene.topic(
                f'"We;ird"."{method}{processor}"#a\';b:c--',
                HOSTILE,
                transforms=[view],
                processor=processor,
                reload_method=method,
            )
            assert scene.step(name).outcome == "DONE"
    scene.base(target)
    name = scene.topic(target + "#a'b:c", HOSTILE, transforms=[view])
    assert scene.step(name).rows == 2
    assert scene.ids(target) == [1, 2]
    scene.insert(4, into=HOSTILE)
    scene.fails(name)
    assert scene.step(name).rows == 1
    scene.call("omd_lineage.release", topic=name)
    scene.call("omd.retry", module_code=name)
    assert scene.ready(name)["topic"] == name
    scene.call("omd_lineage.remove_topic", topic=name)


# Definitions


def test_a_source_has_no_module_and_no_steps(scene: Scene) -> None:
    scene.source()
    assert topic(scene, "dwh.src")["module_id"] is None
    assert not scene.rows("SELECT * FROM omd_report.lineage_ready")
    scene.refused("OM208", "omd_lineage.step", topic="dwh.src")


def test_defaults(scene: Scene) -> None:
    scene.source()
    scene.base("dwh.f")
    scene.view("dwh.v", "dwh.src")
    scene.register("dwh.f", depends_on=["dwh.src"], transforms=["dwh.v"])
    row = topic(scene, "dwh.f")
    assert (row["processor"], row["engine"], row["source_offset"], row["reload_method"]) == (
        "STEP",
        "POSTGRES",
        "PROBE",
        "DELETE",
    )
    assert (row["repeat"], row["maxstep"]) == (timedelta(hours=1), 1_000_000)
    assert (row["delay"], row["advance_when_quiet"]) == (timedelta(0), True)
    module = scene.rows("SELECT * FROM omd.module WHERE module_id = %s", row["module_id"])[0]
    assert (module["module_code"], module["area_code"], module["table_code"]) == (
        "dwh.f",
        "PRES",
        "dwh.f",
    )
    assert scene.last() == (FIRST, LEAST_ID)


def test_an_update_keeps_what_it_does_not_give(scene: Scene) -> None:
    scene.source()
    given: dict[str, Any] = {
        "delay": timedelta(minutes=5),
        "repeat": timedelta(minutes=7),
        "maxstep": 3,
        "run_window": "22:00-06:00 Europe/Amsterdam",
        "max_wait": timedelta(hours=2),
        "before_sql": ["SELECT 1"],
        "after_sql": ["SELECT 2"],
        "pos_column": "pos",
        "id_column": "id",
        "reload_method": "SWAP",
        "advance_when_quiet": False,
        "inactive_indicator": "Y",
        "comment": "a fact",
    }
    scene.topic(**given)
    before = topic(scene, "dwh.f")
    assert {k: before[k] for k in given} == given
    id = scene.register("dwh.f")
    scene.register("dwh.f", comment="another")
    after = topic(scene, "dwh.f")
    assert id == after["topic_id"]
    assert after["comment"] == "another"
    changing = {"comment", "updated_at", "updated_by"}
    assert {k: v for k, v in after.items() if k not in changing} == {
        k: v for k, v in before.items() if k not in changing
    }
    assert sources(scene, "dwh.f") == [("dwh.src", "dwh.src")]


def test_an_update_keeps_the_offset_unless_a_start_is_given(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3, 4)
    scene.topic(maxstep=2)
    scene.step()
    scene.register("dwh.f", comment="x")
    assert scene.last() == (at(2), 2)
    scene.register("dwh.f", start_pos=at(3), start_id=1)
    assert scene.last() == (at(3), 1)


def test_window_and_wait_can_be_cleared(scene: Scene) -> None:
    scene.source()
    scene.topic(run_window="22:00-06:00 UTC", max_wait=timedelta(hours=1))
    scene.register("dwh.f", run_window="", max_wait=timedelta(0))
    row = topic(scene, "dwh.f")
    assert (row["run_window"], row["max_wait"]) == (None, None)


def test_a_window_without_zone_gets_that_of_the_session(scene: Scene) -> None:
    scene.source()
    scene.conn.execute(b"SET TimeZone = 'Asia/Kolkata'")
    scene.topic(run_window="9:30-18:00")
    scene.conn.execute(b"SET TimeZone = 'UTC'")
    assert topic(scene, "dwh.f")["run_window"] == "09:30-18:00 Asia/Kolkata"


def test_a_session_whose_zone_has_no_name_must_name_one(scene: Scene) -> None:
    scene.source()
    scene.base("dwh.f")
    scene.view("dwh.v", "dwh.src")
    given = {"topic": "dwh.f", "depends_on": ["dwh.src"], "transforms": ["dwh.v"]}
    scene.conn.execute(b"SET TIME ZONE INTERVAL '+03:00'")
    detail = scene.refused("OM013", "omd_lineage.register_topic", **given, run_window="9:30-18:00")
    assert detail["value"] == "9:30-18:00 <+03>-03"
    scene.call("omd_lineage.register_topic", **given, run_window="9:30-18:00 etc/GMT-3")
    assert topic(scene, "dwh.f")["run_window"] == "09:30-18:00 etc/GMT-3"
    # One from before names were required stays when other arguments are changed.
    former = "09:30-18:00 <+03>-03"
    scene.owner("UPDATE omd_lineage.topic SET run_window = %s WHERE topic = 'dwh.f'", former)
    scene.register("dwh.f", comment="another")
    assert topic(scene, "dwh.f")["run_window"] == former


def test_every_definition_is_kept(scene: Scene) -> None:
    scene.source()
    scene.topic(delay=timedelta(0))
    scene.register("dwh.f", delay=timedelta(minutes=1))
    scene.register("dwh.f", delay=timedelta(minutes=1))  # nothing changes
    scene.call("omd_lineage.remove_topic", topic="dwh.f")
    kept = scene.rows(
        "SELECT operation, definition ->> 'delay' AS delay, changed_by"
        " FROM omd_lineage.topic_history WHERE topic = 'dwh.f' ORDER BY topic_history_id"
    )
    assert [(row["operation"], row["delay"]) for row in kept] == [
        ("INSERT", "00:00:00"),
        ("UPDATE", "00:01:00"),
        ("DELETE", "00:01:00"),
    ]
    assert all("postgres" in row["changed_by"] for row in kept)


def test_a_topic_takes_the_module_it_is_given(scene: Scene) -> None:
    scene.source()
    scene.topic(module_code="load f", area_code="INT", table_type_code="HUB")
    module = scene.rows("SELECT * FROM omd.module")[0]
    assert (module["module_code"], module["area_code"], module["table_type_code"]) == (
        "load f",
        "INT",
        "HUB",
    )
    scene.register("dwh.f", comment="the Module stays")
    assert scene.one("SELECT count(*) FROM omd.module") == 1


def test_a_module_of_another_table_is_refused(scene: Scene) -> None:
    scene.source()
    scene.module("m")
    scene.base("dwh.f")
    scene.refused(
        "OM013",
        "omd_lineage.register_topic",
        topic="dwh.f",
        depends_on=["dwh.src"],
        transforms=["dwh.v"],
        module_code="m",
    )


# Dependencies


def test_an_unknown_dependency_warns_and_blocks_until_it_is_registered(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2, 3)
    told = warnings(scene)
    scene.topic("dwh.f", "dwh.src", "dwh.other")
    assert len([text for text in told if "dwh.other" in text]) == 1
    assert scene.reason() == (False, "NO_OFFSET")
    assert scene.ready()["blocker"] == "no offset: dwh.other"
    step = scene.step()
    assert (step.outcome, step.detail) == ("NOJOBS", "no offset: dwh.other")
    scene.source("dwh.other", 3)
    assert scene.reason() == (True, "DUE")
    assert scene.steps() == [2]


def test_a_dependency_on_a_table_is_one_on_each_of_its_topics(scene: Scene) -> None:
    scene.source()
    scene.topic("dwh.f#a")
    scene.topic("dwh.f#b")
    scene.topic("dwh.g", "dwh.f")
    scene.topic("dwh.h", "dwh.f#b")
    scene.topic("dwh.f#c")
    assert sources(scene, "dwh.g") == [("dwh.f", f"dwh.f#{tag}") for tag in "abc"]
    assert sources(scene, "dwh.h") == [("dwh.f#b", "dwh.f#b")]


def test_a_shard_depends_on_its_own_shard(scene: Scene) -> None:
    for shard in ("1", "2"):
        scene.register(f"dwh.s:{shard}", source_offset="HAND")
    scene.register("dwh.whole", source_offset="HAND")
    scene.register("dwh.f:1", depends_on=["dwh.s", "dwh.whole", "dwh.s:2"], source_offset="HAND")
    scene.register("dwh.g", depends_on=["dwh.s"], source_offset="HAND")
    assert sources(scene, "dwh.f:1") == [
        ("dwh.s", "dwh.s:1"),
        ("dwh.whole", "dwh.whole"),
        ("dwh.s:2", "dwh.s:2"),
    ]
    assert sources(scene, "dwh.g") == [("dwh.s", "dwh.s:1"), ("dwh.s", "dwh.s:2")]


def refused_cycle(scene: Scene, topic: str, *depends_on: str) -> dict[str, Any]:
    before = sources(scene, topic)
    detail = scene.refused(
        "OM017", "omd_lineage.register_topic", topic=topic, depends_on=list(depends_on)
    )
    assert sources(scene, topic) == before
    return detail


def test_a_topic_can_not_depend_on_itself(scene: Scene) -> None:
    scene.source()
    refused_cycle(scene, "dwh.f", "dwh.f")
    scene.topic("dwh.f")
    assert refused_cycle(scene, "dwh.f", "dwh.src", "dwh.f")["topic"] == "dwh.f"


def test_a_long_cycle_is_refused(scene: Scene) -> None:
    scene.source()
    for n in range(1, 9):
        scene.topic(f"dwh.f{n}", "dwh.src" if n == 1 else f"dwh.f{n - 1}")
    refused_cycle(scene, "dwh.f1", "dwh.src", "dwh.f8")
    refused_cycle(scene, "dwh.src", "dwh.f3")


def test_a_cycle_through_a_tag_is_refused(scene: Scene) -> None:
    scene.source()
    scene.topic("dwh.f#a")
    scene.topic("dwh.g", "dwh.f#a")
    scene.topic("dwh.f#b", "dwh.g")  # this is another topic of the table, so there is no cycle
    refused_cycle(scene, "dwh.f#a", "dwh.src", "dwh.f#b")
    refused_cycle(scene, "dwh.g", "dwh.f")


def test_a_cycle_closed_by_a_new_topic_is_refused(scene: Scene) -> None:
    """The topic that is registered first depends on a name that no topic makes yet."""
    scene.register("dwh.a", depends_on=["dwh.b"], source_offset="HAND")
    scene.register("dwh.b#x", depends_on=["dwh.c"], source_offset="HAND")
    refused_cycle(scene, "dwh.c", "dwh.a")


def test_two_who_register_at_once_close_no_cycle(
    scene: Scene, another: Any, background: Any, until_settled: Any
) -> None:
    for name in ("dwh.a", "dwh.b"):
        scene.register(name, source_offset="HAND")
    one, two = another(), another()
    one.conn.execute("BEGIN")
    one.register("dwh.a", depends_on=["dwh.b"])
    call = background(two.register, "dwh.b", depends_on=["dwh.a"])
    until_settled(two, call)
    one.conn.execute("COMMIT")
    with pytest.raises(psycopg.Error) as caught:
        call.result(timeout=20)
    assert caught.value.sqlstate == "OM017"


# Arguments


@pytest.mark.parametrize(
    ("sqlstate", "argument", "arguments"),
    [
        ("OM005", "p_topic", {"topic": None}),
        ("OM013", "p_engine", {"engine": "DUCK"}),
        ("OM013", "p_source_offset", {"source_offset": "GUESS"}),
        ("OM013", "p_reload_method", {"reload_method": "MERGE"}),
        ("OM013", "p_processor", {"processor": "no procedure"}),
        ("OM013", "p_processor", {"processor": "a.b", "engine": "SPARK"}),
        ("OM013", "p_delay", {"delay": timedelta(-1)}),
        ("OM013", "p_repeat", {"repeat": timedelta(-1)}),
        ("OM013", "p_maxstep", {"maxstep": 0}),
        ("OM013", "p_max_wait", {"max_wait": timedelta(-1)}),
        ("OM013", "p_depends_on", {"depends_on": []}),
        ("OM013", "p_transforms", {"transforms": [], "processor": "STEP"}),
        ("OM013", "p_transforms", {"transforms": ["SELECT 1"]}),
        ("OM013", "p_run_window", {"run_window": "22:00"}),
        ("OM013", "p_run_window", {"run_window": "25:00-26:00"}),
        ("OM013", "p_run_window", {"run_window": "22:00-06:00 Mars/Olympus"}),
        ("OM013", "p_run_window", {"run_window": "22:00-06:00 FOO+3"}),
        ("OM013", "p_run_window", {"run_window": "22:00-06:00 <+03>-03"}),
        ("OM013", "p_run_window", {"run_window": "22:00-06:00 CEST"}),
        ("OM006", None, {"inactive_indicator": "maybe"}),
        ("OM006", None, {"area_code": "NOWHERE"}),
        ("OM006", None, {"platform_code": "ABACUS"}),
    ],
)
def test_a_wrong_argument_is_told(
    scene: Scene, sqlstate: str, argument: str | None, arguments: dict[str, Any]
) -> None:
    scene.source()
    scene.base("dwh.f")
    scene.view("dwh.v", "dwh.src")
    given = {"topic": "dwh.f", "depends_on": ["dwh.src"], "transforms": ["dwh.v"], **arguments}
    detail = scene.refused(sqlstate, "omd_lineage.register_topic", **given)
    if argument:
        assert detail["argument"] == argument
    assert not scene.rows("SELECT * FROM omd_lineage.topic WHERE topic <> 'dwh.src'")


def test_a_destination_needs_the_instance_column(scene: Scene) -> None:
    scene.source()
    scene.conn.execute(b"CREATE TABLE dwh.f (id bigint)")
    given = {"topic": "dwh.f", "depends_on": ["dwh.src"], "transforms": ["dwh.v"]}
    detail = scene.refused("OM205", "omd_lineage.register_topic", **given)
    assert detail["column_name"] == "omd_insert_module_instance_id"


@pytest.mark.parametrize(
    "routine",
    ["step", "begin_step", "remove_topic", "release", "set_offset", "note_error", "set_block"],
)  # fmt: skip
def test_an_unknown_topic_is_told(scene: Scene, routine: str) -> None:
    more: dict[str, Any] = {"set_offset": {"pos": NOON}, "note_error": {"detail": "x"}}
    given = more.get(routine, {})
    assert scene.refused("OM015", f"omd_lineage.{routine}", topic="dwh.x", **given)["topic"] == (
        "dwh.x"
    )
    scene.refused("OM005", f"omd_lineage.{routine}", topic=None, **given)


def test_the_plan_of_an_unknown_topic_is_refused(scene: Scene) -> None:
    for name, sqlstate in (("dwh.x", "OM015"), (None, "OM005")):
        with pytest.raises(psycopg.Error) as caught:
            scene.rows("SELECT * FROM omd_lineage.plan(%s)", name)
        assert caught.value.sqlstate == sqlstate


def test_a_base_table_that_can_not_be_read_by_blocks_is_told(scene: Scene) -> None:
    scene.conn.execute(b"CREATE TABLE dwh.src (at timestamptz, id bigint)")
    told = warnings(scene)
    scene.register("dwh.src")
    assert any("dwh.src" in text for text in told)
    scene.base("dwh.f")
    scene.conn.execute(
        b"CREATE VIEW dwh.v AS SELECT id FROM dwh.src WHERE omd_lineage.in_block(at, id)"
    )
    scene.register("dwh.f", depends_on=["dwh.src"], transforms=["dwh.v"])
    scene.call("omd_lineage.set_offset", topic="dwh.src", pos=at(5))
    step = scene.step()
    assert step.outcome == "ERROR"
    assert "the base table dwh.src can't be read by blocks" in (step.detail or "")


# Removing


def test_a_removed_topic_leaves_its_module_history_and_log(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2)
    scene.topic()
    scene.step()
    scene.call("omd_lineage.remove_topic", topic="dwh.f")
    assert not scene.rows("SELECT * FROM omd_report.lineage_ready")
    assert not scene.rows("SELECT * FROM omd_lineage.offsets WHERE topic = 'dwh.f'")
    assert scene.one("SELECT count(*) FROM omd.module WHERE module_code = 'dwh.f'") == 1
    assert scene.one("SELECT count(*) FROM omd_lineage.log WHERE topic = 'dwh.f'") == 1
    # It may be registered again, with the Module that it had.
    scene.topic(start_pos=at(1), start_id=1)
    assert scene.last() == (at(1), 1)
    assert scene.one("SELECT count(*) FROM omd.module") == 1


def test_a_topic_that_another_needs_or_that_runs_is_not_removed(scene: Scene) -> None:
    scene.source("dwh.src", 1, 2)
    scene.topic(engine="SPARK", transforms=["SELECT 1"])
    scene.refused("OM208", "omd_lineage.remove_topic", topic="dwh.src")
    run = scene.call("omd_lineage.begin_step", topic="dwh.f")
    assert run["outcome"] == "RUN"
    scene.refused("OM208", "omd_lineage.remove_topic", topic="dwh.f")
    scene.call(
        "omd_lineage.commit_step",
        module_instance_id=run["module_instance_id"],
        plan_number=run["plan_number"],
    )
    scene.call("omd_lineage.remove_topic", topic="dwh.f")
    scene.call("omd_lineage.remove_topic", topic="dwh.src")


def test_one_of_several_topics_of_a_table_may_go(scene: Scene) -> None:
    scene.source()
    scene.topic("dwh.f#a")
    scene.topic("dwh.f#b")
    scene.topic("dwh.g", "dwh.f")
    scene.call("omd_lineage.remove_topic", topic="dwh.f#a")
    assert sources(scene, "dwh.g") == [("dwh.f", "dwh.f#b")]
    scene.refused("OM208", "omd_lineage.remove_topic", topic="dwh.f#b")


# Roles

READS = ("SELECT * FROM omd_report.lineage_ready", "SELECT * FROM omd_lineage.plan('dwh.f')")
CALLS = {
    "step": {},
    "note_error": {"detail": "x"},
    "probe_sources": None,
    "set_offset": {"pos": at(3)},
    "release": {},
    "register_topic": {},
    "remove_topic": {},
}
MAY = {
    "omd_reader": set[str](),
    "omd_runner": {"step", "note_error", "probe_sources", "set_offset"},
    "omd_admin": {"release", "register_topic", "remove_topic", "set_offset"},
}


@pytest.mark.parametrize("role", MAY)
def test_a_role_may_do_its_own_and_no_more(scene: Scene, another: Any, role: str) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    scene.conn.execute(
        b"GRANT USAGE ON SCHEMA dwh TO omd_reader;"
        b"GRANT SELECT ON ALL TABLES IN SCHEMA dwh TO omd_reader;"
        b"GRANT INSERT, DELETE ON dwh.f TO omd_runner;"
        b"GRANT USAGE ON SCHEMA dwh TO omd_runner, omd_admin;"
        b"GRANT SELECT ON ALL TABLES IN SCHEMA dwh TO omd_runner, omd_admin"
    )
    session = another(role=role)
    assert session.rows("SELECT * FROM omd_report.lineage_ready")
    plan = "SELECT * FROM omd_lineage.plan('dwh.f')"
    if role == "omd_reader":  # it reads the base table, as a role that takes steps does
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.rows(plan)
    else:
        assert session.rows(plan)
    for routine, given in CALLS.items():
        arguments = {} if given is None else {"topic": "dwh.f", **given}
        if routine in MAY[role] or (role == "omd_admin" and routine in MAY["omd_runner"]):
            continue
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.call(f"omd_lineage.{routine}", **arguments)
    for routine, given in CALLS.items():
        if routine in MAY[role]:
            arguments = {} if given is None else {"topic": "dwh.f", **given}
            session.call(f"omd_lineage.{routine}", **arguments)
    if role == "omd_runner":
        assert scene.ids() == [1, 2]


def test_an_administrator_may_edit_offsets_and_it_is_logged(scene: Scene, another: Any) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic()
    admin = another(role="omd_admin")
    admin.conn.execute(b"UPDATE omd_lineage.offsets SET hostid = 'me' WHERE topic = 'dwh.f'")
    assert scene.step().outcome == "MUTEX"
    admin.conn.execute(b"UPDATE omd_lineage.offsets SET hostid = '' WHERE topic = 'dwh.f'")
    assert scene.step().outcome == "DONE"
    logged = scene.rows(
        "SELECT event_detail FROM omd.event_log WHERE event_return_code_details LIKE 'UPDATE%%'"
    )
    assert [
        ("dwh.f" in row["event_detail"], "hostid" in row["event_detail"]) for row in logged
    ] == [(True, True)] * 2
    for column in ("run", "rows", "plan_number", "topic", "quiet_start"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            admin.conn.execute(f"UPDATE omd_lineage.offsets SET {column} = NULL".encode())


def test_nobody_else_may_anything(scene: Scene, connect: Any) -> None:
    scene.source()
    scene.conn.execute(b"DROP ROLE IF EXISTS omd_test_stranger")
    scene.conn.execute(b"CREATE ROLE omd_test_stranger")
    try:
        session = connect(role="omd_test_stranger")
        for query in READS:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                session.execute(query.encode())
        granted = scene.rows(
            "SELECT p.oid::regprocedure::text AS routine FROM pg_proc AS p"
            " WHERE pronamespace = 'omd_lineage'::regnamespace"
            " AND has_function_privilege('omd_test_stranger', p.oid, 'EXECUTE')"
        )
        assert granted == []
    finally:
        scene.conn.execute(b"DROP ROLE omd_test_stranger")


def test_a_topic_that_depends_on_something_and_makes_nothing_is_refused(scene: Scene) -> None:
    """It would be a source without a word, and never run."""
    scene.source()
    detail = scene.refused(
        "OM013", "omd_lineage.register_topic", topic="dwh.f", depends_on=["dwh.src"]
    )
    assert detail["argument"] == "p_transforms"
    assert "p_processor" in detail["expected"]
    assert scene.one("SELECT count(*) FROM omd_lineage.topic WHERE topic = 'dwh.f'") == 0
    scene.refused("OM013", "omd_lineage.register_topic", topic="dwh.src", depends_on=["dwh.other"])
    scene.topic()
    scene.register("dwh.f", depends_on=["dwh.src"])  # the transforms stay
    # Who says by hand how far it is has said that somebody else makes it.
    scene.register("dwh.h", depends_on=["dwh.src"], source_offset="HAND")
