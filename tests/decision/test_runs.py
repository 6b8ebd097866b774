"""Runs: what they write and keep, how they fail, and who meets whom."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from decision.conftest import BOTH, FUNCTION

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from decision.conftest import Room

STAMPED = """
    CREATE TABLE app.stamped (
        k integer, v text, n integer, other text DEFAULT 'own',
        g integer GENERATED ALWAYS AS (1) STORED,
        omd_insert_module_instance_id bigint, omd_insert_datetime timestamptz,
        omd_record_source text, omd_wave text, omd_key jsonb, omd_cycle_no bigint,
        omd_invocation_no integer, omd_ruleset_version integer
    )
"""


def counts(room: Room, instance: int) -> tuple[int, int, int]:
    (row,) = room.rows(
        "SELECT rows_input, rows_inserted, rows_rejected FROM omd.module_instance"
        " WHERE module_instance_id = %s",
        instance,
    )
    return tuple(row.values())  # type: ignore[return-value]


def test_a_run_writes_stamped_records_and_routes_rejects(room: Room) -> None:
    document = room.scene(
        "jsonb_build_object('out', jsonb_build_array("
        '\'{"n": 1, "k": null, "nothing": 2, "other": "x"}\'::jsonb, \'{}\'::jsonb))'
    )
    room.conn.execute(STAMPED)
    for table in "ab":
        room.conn.execute(f"ALTER TABLE app.{table} ADD w integer".encode())
    document |= {"wave": "w", "keep": "TRACE"}
    document["outputs"] = [
        {
            "name": "o",
            "parameter": "out",
            "table": "app.stamped",
            "propagate": {"link": "a", "by": "ORDER"},
        },
        {"name": "p", "parameter": "none", "table": "app.out"},
    ]
    room.define(document)
    room.conn.execute("INSERT INTO app.a VALUES (1, 5, 'x', 7), (2, 6, 'y', NULL)")
    room.conn.execute("INSERT INTO app.b VALUES (1, 5, 'b', 7), (2, 9, 'c', 7), (3, 1, 'd', 7)")
    done = room.run()
    assert (done["execution_status_code"], done["cycles"], done["rows_rejected"]) == ("S", 2, 2)
    instance = done["module_instance_id"]
    assert counts(room, instance) == (5, 4, 2)
    rows = room.rows("SELECT * FROM app.stamped ORDER BY omd_wave, n")
    assert [(r["k"], r["v"], r["n"], r["other"], r["omd_wave"]) for r in rows] == [
        (None, "x", 1, "own", "7"),
        (None, None, None, "own", "7"),
        (None, "y", 1, "own", None),
        (None, None, None, "own", None),
    ]
    assert {(r["omd_insert_module_instance_id"], r["omd_record_source"]) for r in rows} == {
        (instance, "s")
    }
    assert {
        (r["omd_cycle_no"], r["omd_invocation_no"], r["omd_ruleset_version"]) for r in rows
    } == {(1, 1, 1)}
    assert rows[0]["omd_key"] == {"k": 5}
    assert all(r["omd_insert_datetime"] for r in rows)

    (run,) = room.rows("SELECT * FROM omd_report.decision_run_log")
    assert (run["waves"], run["attempts"], run["cycles"], run["invocations"]) == (2, 2, 2, 2)
    assert (run["engine"], run["batch_size"], run["rows_rejected"]) == ("POSTGRES", 0, 2)
    rejects = room.rows("SELECT * FROM omd_report.decision_reject_log ORDER BY arrival")
    assert [(r["arrival"], r["code"], r["key"]) for r in rejects] == [
        (2, "LEFTOVER", {"k": 9}),
        (3, "KEY_MISMATCH", {"k": 1}),
    ]
    assert all(r["text"] and r["record"]["w"] == 7 for r in rejects)
    events = room.rows(
        "SELECT event_return_code_details AS code, event_detail AS detail FROM omd.event_log"
        " WHERE module_instance_id = %s AND event_type_code = 6 ORDER BY 1",
        instance,
    )
    assert [(e["code"], e["detail"]) for e in events] == [
        ("KEY_MISMATCH", 'rejected records of link "b": 1'),
        ("LEFTOVER", 'rejected records of link "b": 1'),
    ]

    def explained(**arguments: Any) -> list[Any]:
        names = ", ".join(f"p_{n} => %s" for n in arguments)
        return room.rows(
            f"SELECT * FROM omd_decision.explain(%s, {names})", instance, *arguments.values()
        )

    (row,) = explained(key=Jsonb({"k": 5}))
    assert row["params"]["a"][0]["v"] == "x"
    assert row["inputs"] == {"a": [1], "b": [1]}
    assert (row["result"]["out"][0]["n"], row["ruleset_version"]) == (1, 1)
    (row,) = explained(key=Jsonb({"k": 9}))
    assert (row["code"], row["params"]["v"]) == ("LEFTOVER", "c")
    assert len(explained(wave="7")) == 3

    def purge(keep: timedelta) -> int:
        count: int = room.call("omd.purge", keep=keep, room="omd_decision")["deleted"][
            "omd_decision.cycle"
        ]
        return count

    room.conn.execute("SET ROLE omd_admin")
    assert purge(timedelta(hours=1)) == 0
    assert purge(timedelta(0)) == 4
    room.conn.execute("RESET ROLE")
    assert explained(wave="7") == []


def test_propagation_by_key_and_single_records(room: Room) -> None:
    document = room.scene(
        'jsonb_build_object(\'out\', \'[{"k": 2}, {"k": 1, "v": "own"}, {"k": 3}]\'::jsonb)',
        batch_size=5,
        keep="NONE",
    )
    document["outputs"][0]["propagate"] = {"link": "a", "by": "KEY"}
    room.define(document)
    room.fill("a", (1, 1, "one"), (2, 2, "two"), (3, 2, "later"))
    assert room.run()["cycles"] == 1
    assert [r["v"] for r in room.rows("SELECT v FROM app.out ORDER BY k")] == ["own", "two", None]
    assert room.one("SELECT count(*) FROM omd_decision.cycle") == 0


def test_a_batch_size_that_is_forced_is_an_event(room: Room) -> None:
    document = room.scene("jsonb_build_object('out', p -> 'a')")
    del document["keys"]
    document |= {"mode": "BATCH", "batch_size": 10}
    document["links"] = [{"name": "a", "source": "app.a", "arrival": "id", "array": False}]
    room.define(document)
    room.fill("a", (1, 1, "x"), (2, 2, "y"))
    assert room.run()["cycles"] == 2
    assert room.one("SELECT count(*) FROM app.out") == 2
    assert room.one("SELECT batch_size FROM omd_decision.run") == 1
    assert (
        room.one(
            "SELECT count(*) FROM omd.event_log WHERE event_type_code = 6"
            " AND event_return_code_details = 'BATCH SIZE'"
        )
        == 1
    )


def test_a_buffer_link_goes_to_every_call(room: Room) -> None:
    document = room.scene("jsonb_build_object('out', p -> 'b' || '{\"n\": 1}')")
    document["links"][1] |= {"buffer": True, "array": False, "reject": {"on": ["LEFTOVER"]}}
    room.define(document)
    room.fill("a", (1, 1), (2, 2))
    assert room.run()["execution_status_code"] == "F"
    assert room.event(1) == "OM285"
    room.fill("b", (5, 7, "first"), (6, 8, "more"))
    done = room.run()
    assert (done["cycles"], done["rows_rejected"]) == (2, 1), done
    assert [r["v"] for r in room.rows("SELECT v FROM app.out")] == ["first", "first"]
    assert counts(room, done["module_instance_id"]) == (4, 2, 1)


def test_a_failing_run_leaves_no_row_and_says_why(room: Room) -> None:
    document = room.scene("jsonb_build_object('out', p -> 'a')")
    room.fill("a", (1, 1), (2, 3))
    room.fill("b", (1, 2), (2, 9))
    reject = {"on": BOTH}

    def fails(body: str | None = None, **changes: Any) -> str:
        document["links"][1]["reject"] = changes.get("reject", reject)
        if document["links"][1]["reject"] is None:
            del document["links"][1]["reject"]
        room.define(document)
        if body:
            room.function(body)
            room.ruleset(FUNCTION)
        done = room.run()
        assert done["execution_status_code"] == "F", done
        assert done["detail"]
        assert room.one("SELECT count(*) FROM app.out") == 0
        assert room.one("SELECT count(*) FROM omd_decision.reject") == 0
        assert room.one("SELECT count(*) FROM omd_decision.cycle") == 0
        instance = done["module_instance_id"]
        assert room.failures(module=instance) == 1
        return room.event(instance)

    assert fails(reject={"on": ["LEFTOVER"]}) == "OM281"
    assert fails(reject={"on": ["KEY_MISMATCH"]}) == "OM280"
    assert fails(reject=None) == "OM281"  # the first by its key
    assert fails(reject={"on": BOTH, "abort_after": 1}) == "OM282"
    second = "p #>> '{a,0,k}' = '3'"
    assert fails(f"CASE WHEN {second} THEN (1 / 0)::text::jsonb ELSE '{{}}' END") == "OM283"
    detail = room.one(
        "SELECT event_detail FROM omd.event_log WHERE event_type_code = 2"
        " ORDER BY event_id DESC LIMIT 1"
    )
    assert '"key": {"k": 3}' in detail
    assert '"cycle_no": 1' in detail
    assert "division by zero" in detail
    for answer in (
        "NULL",
        "'5'",
        "'{\"out\": 5}'",
        "'{\"out\": [null]}'",
        '\'{"out": {"k": "x"}}\'',
    ):
        assert fails(f"{answer}::jsonb") == "OM284"
    # What else fails is told as it is.
    room.conn.execute(
        "CREATE FUNCTION app.no() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN"
        " RAISE EXCEPTION USING ERRCODE = 'OM101', MESSAGE = 'no'; END $f$;"
        " CREATE TRIGGER no BEFORE INSERT ON app.out FOR EACH ROW EXECUTE FUNCTION app.no()"
    )
    assert fails("jsonb_build_object('out', p -> 'a')") == "OM101"
    room.conn.execute("DROP TRIGGER no ON app.out")
    done = room.run()
    assert (done["execution_status_code"], done["rows_rejected"]) == ("S", 2)


def detail_of(room: Room, done: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON that the failure event of a run has, and its code."""
    assert done["execution_status_code"] == "F", done
    text = str(
        room.one(
            "SELECT event_detail FROM omd.event_log"
            " WHERE module_instance_id = %s AND event_type_code = 2",
            done["module_instance_id"],
        )
    )
    (line,) = [part for part in text.splitlines() if part.partition("{")[1]][-1:]
    told: dict[str, Any] = json.loads(line[line.index("{") :])
    return {"code": room.event(done["module_instance_id"]), "text": text, **told}


@pytest.mark.parametrize("code", ["OM101", "OM283", "OM284", "OM181", "OM999", "P0004", "23514"])
def test_a_code_that_a_ruleset_raises_is_told_as_its_failure(room: Room, code: str) -> None:
    room.scene()
    room.conn.execute(
        "CREATE FUNCTION app.raised(p jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS $f$ BEGIN"
        " IF p #>> '{a,0,k}' = '3' THEN RAISE EXCEPTION USING ERRCODE = '" + code + "',"
        " MESSAGE = 'oh no', DETAIL = '{}'; END IF; RETURN '{}'; END $f$"
    )
    room.function("app.raised(p)")
    room.ruleset(FUNCTION)
    room.fill("a", (1, 1), (2, 3), (3, 4))
    told = detail_of(room, room.run())
    assert told["code"] == "OM283"
    assert (told["ruleset_code"], told["wave"], told["key"]) == ("f", None, {"k": 3})
    assert (told["cycle_no"], told["invocation_no"]) == (1, 1)
    assert told["error"] == f"oh no ({code})"


CONSTRAINTS = [
    ("ADD CONSTRAINT small CHECK (k < 3)", "small", "23514"),
    ("ALTER k SET NOT NULL", None, "23502"),
    ("ADD CONSTRAINT one UNIQUE (n)", "one", "23505"),
    ("ADD CONSTRAINT fk FOREIGN KEY (k) REFERENCES app.known", "fk", "23503"),
    ("ADD g integer GENERATED ALWAYS AS (1 / (n - 7)) STORED", None, "22012"),
]


@pytest.mark.parametrize(("change", "constraint", "code"), CONSTRAINTS)
def test_a_record_that_an_output_does_not_take_is_named(
    room: Room, change: str, constraint: str | None, code: str
) -> None:
    document = room.scene("jsonb_build_object('out', p -> 'b')")
    document["outputs"] = [
        {"name": "none", "parameter": "x", "table": "app.more"},
        {"name": "o", "parameter": "out", "table": "app.out"}
        | {"propagate": {"link": "b", "by": "ORDER"}},
    ]
    room.conn.execute("CREATE TABLE app.more (LIKE app.out)")
    room.define(document)
    room.conn.execute("CREATE TABLE app.known (k integer PRIMARY KEY)")
    room.conn.execute("INSERT INTO app.known VALUES (1), (2)")
    # The seventh record of the second cycle is the bad one.
    bad = {
        "23514": (3, 70),
        "23502": (None, 70),
        "23505": (2, 5),
        "23503": (9, 70),
        "22012": (2, 7),
    }
    room.function(
        "CASE WHEN p #>> '{a,0,k}' = '2' THEN jsonb_build_object('out', (SELECT jsonb_agg("
        "CASE WHEN i = 7 THEN jsonb_build_object('k', "
        + str(bad[code][0] if bad[code][0] is not None else "NULL::integer")
        + f", 'n', {bad[code][1]}) ELSE jsonb_build_object('k', 2, 'n', 100 + i) END ORDER BY i)"
        " FROM generate_series(1, 11) AS i))"
        " ELSE jsonb_build_object('out', '[{\"k\": 1, \"n\": 5}]'::jsonb) END"
    )
    room.ruleset(FUNCTION)
    room.conn.execute(f"ALTER TABLE app.out {change}".encode())
    room.fill("a", (1, 1), (2, 2))
    told = detail_of(room, room.run())
    assert told["code"] == "OM284"
    assert (told["key"], told["cycle_no"], told["output"]) == ({"k": 2}, 1, "o")
    assert (told["record"], told["constraint"]) == (7, constraint)
    assert f"({code})" in told["problem"]
    assert room.one("SELECT count(*) FROM app.out") == 0


def test_a_key_that_an_answer_leaves_out_is_not_a_null_key(room: Room) -> None:
    document = room.scene(
        'jsonb_build_object(\'out\', \'[{"n": 1}, {"k": null, "n": 2}]\'::jsonb)', keep="NONE"
    )
    document["outputs"][0]["propagate"] = {"link": "a", "by": "KEY"}
    room.define(document)
    room.fill("a", (1, None, "null"))
    assert room.run()["cycles"] == 1
    rows = room.rows("SELECT n, v, k FROM app.out ORDER BY n")
    assert [tuple(r.values()) for r in rows] == [(1, None, None), (2, "null", None)]


def test_batches_and_modules_run_stages_too(room: Room) -> None:
    room.scene("jsonb_build_object('out', p -> 'a')")
    room.fill("a", (1, 1))
    done = room.call("omd.run_module", module_code="s")
    assert done["execution_status_code"] == "S"
    room.call("omd.register_batch", batch_code="b", frequency_code="Adhoc")
    room.call("omd.add_module_to_batch", batch_code="b", module_code="s")
    assert room.call("omd.run_batch", batch_code="b")["execution_status_code"] == "S"
    assert room.one("SELECT count(*) FROM app.out") == 2
    assert room.one("SELECT count(*) FROM omd_decision.run WHERE cycles = 1") == 2
    room.call("deactivate_ruleset", ruleset_code="f", version=1)
    room.refused("OM286", "omd.run_module", module_code="s")
    assert room.one("SELECT count(*) FROM omd_decision.run") == 2
    room.refused("OM181", "process_stage")
    room.refused("OM080", "run_stage", stage_code="nix")
    with pytest.raises(psycopg.Error) as caught, room.conn.transaction():
        room.run()
    assert caught.value.sqlstate == "OM018"


@pytest.mark.no_user_code("what has a policy a runner may not see")
def test_a_runner_runs_with_its_own_rights(room: Room, another: Callable[..., Room]) -> None:
    room.scene("jsonb_build_object('out', p -> 'a')")
    room.fill("a", (1, 1))
    room.fill("b", (1, 9))
    runner = another(role="omd_runner")
    assert runner.run()["execution_status_code"] == "F"
    assert room.event(1) == "42501"
    room.conn.execute("GRANT USAGE ON SCHEMA app TO omd_runner")
    room.conn.execute("GRANT SELECT ON app.a, app.b TO omd_runner")
    room.conn.execute("GRANT SELECT, INSERT, DELETE ON app.out TO omd_runner")
    done = runner.run()
    assert (done["execution_status_code"], done["cycles"]) == ("S", 1), done
    # It may write what a run keeps, of a run that executes, and nothing else.
    for table, columns, values in (
        ("cycle", "cycle_no, invocation_no, inputs, outputs", "1, 1, '{}', '{}'"),
        ("reject", "link, arrival, code, text, record", "'a', 1, 'LEFTOVER', '', '{}'"),
    ):
        for instance in (done["module_instance_id"], 0, 999):
            with pytest.raises(psycopg.Error) as caught:
                runner.rows(
                    f"INSERT INTO omd_decision.{table} (module_instance_id, {columns})"
                    f" VALUES (%s, {values})",
                    instance,
                )
            assert caught.value.sqlstate == "OM181"
    room.conn.execute("REVOKE ALL ON SCHEMA app FROM omd_runner")
    room.conn.execute("REVOKE ALL ON ALL TABLES IN SCHEMA app FROM omd_runner")


WAITS = "CASE WHEN pg_advisory_xact_lock_shared(15) IS NULL THEN NULL ELSE '{}'::jsonb END"


def until_waiting(room: Room) -> None:
    """Return once a session waits for the lock of the ruleset."""
    for _ in range(200_000):
        if room.one(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            " AND objid = 15"
        ):
            return
    pytest.fail("nobody waits")


def test_of_two_runs_one_is_aborted_and_a_run_keeps_what_it_has_begun_with(
    room: Room, another: Callable[..., Room], background: Callable[..., Future[Any]]
) -> None:
    document = room.scene(WAITS)
    room.fill("a", (1, 1))
    room.conn.execute("SELECT pg_advisory_lock(15)")
    first = background(another().run)
    until_waiting(room)
    assert another().run()["execution_status_code"] == "A"
    begun = room.call("begin_stage", stage_code="s")
    assert (begun["processing_indicator"], begun["definition"]) == ("A", None)
    assert room.define({**document, "keep": "NONE"})["version"] == 2
    room.function("'{\"out\": {}}'")
    assert room.ruleset(FUNCTION) == 2
    room.conn.execute("SELECT pg_advisory_unlock(15)")
    done = first.result(60)
    assert done["execution_status_code"] == "S", done
    (run,) = room.rows("SELECT * FROM omd_decision.run")
    assert (run["stage_version"], run["ruleset_version"]) == (1, 1)
    assert room.one("SELECT count(*) FROM omd_decision.cycle") == 1
    assert room.run()["execution_status_code"] == "S"
    assert room.one("SELECT count(*) FROM app.out") == 1


def test_two_stages_that_write_one_table_run_at_once_and_are_undone_apart(
    room: Room, another: Callable[..., Room], background: Callable[..., Future[Any]]
) -> None:
    document = room.scene("jsonb_build_object('out', p -> 'a')")
    room.fill("a", (1, 1), (2, 2))
    room.function(WAITS.replace("'{}'", "jsonb_build_object('out', p -> 'a')"), "app.waits")
    room.ruleset({"ruleset": "w", "kind": "FUNCTION", "content": "app.waits"})
    room.define({**document, "stage": "t", "ruleset": "w"})
    room.conn.execute("SELECT pg_advisory_lock(15)")
    slow = background(another().run, "t")
    until_waiting(room)
    fast = another().run("s")
    room.conn.execute("SELECT pg_advisory_unlock(15)")
    assert (fast["execution_status_code"], slow.result(60)["execution_status_code"]) == ("S", "S")
    assert room.one("SELECT count(*) FROM app.out") == 4
    room.call(
        "omd.set_next_run_indicator",
        next_run_indicator="R",
        module_instance_id=fast["module_instance_id"],
    )
    again = room.run("s")["module_instance_id"]
    assert room.one(
        "SELECT array_agg(DISTINCT omd_insert_module_instance_id) FROM app.out"
    ) == sorted([slow.result()["module_instance_id"], again])


def test_a_run_that_is_killed_leaves_nothing(
    room: Room, another: Callable[..., Room], background: Callable[..., Future[Any]]
) -> None:
    room.scene(WAITS)
    room.fill("a", (1, 1))
    for how in ("pg_terminate_backend", "pg_cancel_backend"):
        room.conn.execute("SELECT pg_advisory_lock(15)")
        session = another()
        run = background(session.run)
        until_waiting(room)
        room.conn.execute(f"SELECT {how}(%s)".encode(), [session.conn.info.backend_pid])
        with pytest.raises(psycopg.Error):
            run.result(60)
        room.conn.execute("SELECT pg_advisory_unlock(15)")
    assert room.one("SELECT count(*) FROM omd_decision.cycle") == 0
    done = room.run()
    assert done["execution_status_code"] == "S"
    # The runs that are rolled back are forgotten.
    assert room.one("SELECT array_agg(module_instance_id) FROM omd_decision.run") == [
        done["module_instance_id"]
    ]
    assert (
        room.one(
            "SELECT string_agg(execution_status_code, '' ORDER BY module_instance_id)"
            " FROM omd.module_instance WHERE module_instance_id > 0"
        )
        == "FFS"
    )


WRONG_COUNTS: list[Any] = [-1, 1.5, 0.0, "1", "x", None, True, [1], {"n": 1}, 10**18, 10**30]
WRONG_REJECTS: list[Any] = [
    None,
    1,
    "b",
    {"link": "b", "code": "LEFTOVER", "count": 1},
    [1],
    [None],
    [["b", "LEFTOVER", 1]],
    [{"link": "b", "code": "LEFTOVER"}],
    [{"link": "b", "code": ["LEFTOVER"], "count": 1}],
    [{"link": {"name": "b"}, "code": "LEFTOVER", "count": 1}],
    *([{"link": "b", "code": "LEFTOVER", "count": wrong}] for wrong in WRONG_COUNTS),
    *(
        [{"link": "b", "code": "LEFTOVER", "count": 1, "arrival": wrong}]
        for wrong in ("1", "x", [1], {"n": 1}, True)
    ),
]


def test_counts_that_are_no_counts_are_refused_and_change_nothing(room: Room) -> None:
    document = room.scene()
    document["links"][1]["reject"]["on"] = ["KEY_MISMATCH"]
    room.define(document)
    begun = room.call("begin_stage", stage_code="s", lease=timedelta(minutes=5))
    instance = begun["module_instance_id"]

    def refused(routine: str, counts: Any) -> str:
        detail = room.refused("OM013", routine, module_instance_id=instance, counts=Jsonb(counts))
        assert {"argument", "value", "expected"} == set(detail)
        return str(detail["argument"])

    for wrong in (None, 1, 1.5, "x", True, [], [1], ["waves"]):
        assert refused("commit_stage", wrong) == "p_counts"
    names = ("waves", "attempts", "cycles", "invocations")
    for name in (*names, "rows_input", "rows_inserted", "rows_rejected"):
        for wrong in WRONG_COUNTS:
            assert refused("commit_stage", {name: wrong}) == f"{name} of p_counts"
    for wrong in WRONG_REJECTS:
        assert refused("judge_rejects", wrong) == "p_counts"
        assert refused("commit_stage", {"rejects": wrong}) == "rejects of p_counts"
    # The arrival is looked at where two rejects are the first ones.
    two = [{"link": "b", "code": "LEFTOVER", "count": 1, "arrival": n} for n in (10**30, 7.5)]
    for routine, given in (("judge_rejects", two), ("commit_stage", {"rejects": two})):
        detail = room.refused("OM280", routine, module_instance_id=instance, counts=Jsonb(given))
        assert detail["arrival"] == 7.5
    room.call("commit_stage", module_instance_id=instance, counts=Jsonb({"waves": 10**18 - 1}))
    (run,) = room.rows("SELECT * FROM omd_report.decision_run_log")
    assert (run["execution_status_code"], run["waves"], run["cycles"]) == ("S", 10**18 - 1, 0)
    assert counts(room, instance) == (0, 0, 0)


def test_a_job_elsewhere_ends_by_the_same_rules(room: Room) -> None:
    document = room.scene()
    document["links"][1]["reject"]["abort_after"] = 5
    del document["links"][0]["reject"]
    room.define(document)
    begun = room.call("begin_stage", stage_code="s", lease=timedelta(minutes=5))
    instance = begun["module_instance_id"]
    assert begun["definition"]["links"][0]["array"] is True
    assert begun["ruleset"] == {
        "ruleset": "f",
        "version": 1,
        "kind": "FUNCTION",
        "content": "app.f",
        "content_hash": room.one("SELECT content_hash FROM omd_decision.ruleset_version"),
    }
    room.conn.execute(
        "INSERT INTO omd_decision.cycle (module_instance_id, cycle_no, invocation_no, inputs,"
        " outputs) VALUES (%s, 1, 1, '{}', '{}')",
        [instance],
    )

    def judged(*rejects: tuple[str, str, int]) -> None:
        counts = [{"link": link, "code": code, "count": n} for link, code, n in rejects]
        room.call("judge_rejects", module_instance_id=instance, counts=Jsonb(counts))

    def refused(code: str, *rejects: tuple[str, str, int]) -> None:
        with pytest.raises(psycopg.Error) as caught:
            judged(*rejects)
        assert caught.value.sqlstate == code

    judged(("b", "LEFTOVER", 2), ("b", "KEY_MISMATCH", 3), ("a", "LEFTOVER", 0))
    for wrong in (("nix", "LEFTOVER", 1), ("a", "nix", 0), ("a", "LEFTOVER", -1)):
        refused("OM013", wrong)
    room.refused(
        "OM013", "judge_rejects", module_instance_id=instance, counts=Jsonb({"rejects": []})
    )
    refused("OM280", ("a", "LEFTOVER", 1))
    refused("OM281", ("a", "KEY_MISMATCH", 1))
    refused("OM282", ("b", "LEFTOVER", 3), ("b", "KEY_MISMATCH", 3))
    counted = {
        "waves": 1,
        "attempts": 3,
        "cycles": 2,
        "invocations": 2,
        "rows_input": 9,
        "rows_inserted": 4,
        "rows_rejected": 2,
        "rejects": [{"link": "b", "code": "LEFTOVER", "count": 2}],
    }
    for _ in range(2):
        room.call("commit_stage", module_instance_id=instance, counts=Jsonb(counted))
    assert counts(room, instance) == (9, 4, 2)
    (run,) = room.rows("SELECT * FROM omd_report.decision_run_log")
    assert (run["engine"], run["attempts"], run["execution_status_code"]) == ("SPARK", 3, "S")
    assert room.one("SELECT count(*) FROM omd.event_log WHERE event_type_code = 6") == 1
    # What failed is rolled back by the next begin, rows of the room too.
    failed = room.call("begin_stage", stage_code="s")["module_instance_id"]
    room.conn.execute(
        "INSERT INTO omd_decision.cycle (module_instance_id, cycle_no, invocation_no, inputs,"
        " outputs) VALUES (%s, 1, 1, '{}', '{}')",
        [failed],
    )
    room.call("omd.module_failure", module_instance_id=failed)
    room.refused("OM101", "commit_stage", module_instance_id=failed, counts=Jsonb({}))
    room.call("begin_stage", stage_code="s")
    assert room.one("SELECT array_agg(module_instance_id) FROM omd_decision.cycle") == [instance]
    room.refused("OM181", "commit_stage", module_instance_id=failed, counts=Jsonb({}))


KEPT = (
    "INSERT INTO omd_decision.cycle (module_instance_id, cycle_no, invocation_no, inputs, outputs)"
    " VALUES (%s, 1, 1, '{}', '{}')"
)


@pytest.mark.parametrize("succeeds", [True, False])
def test_a_run_ends_after_the_rows_that_its_job_still_writes(
    room: Room, another: Callable[..., Room], background: Callable[..., Future[Any]],
    until_settled: Callable[[Room, Future[Any]], None], succeeds: bool,
) -> None:  # fmt: skip
    room.scene()
    instance = room.call("begin_stage", stage_code="s")["module_instance_id"]
    writer, other = another(role="omd_runner"), another()
    ending = ("commit_stage", {"counts": Jsonb({})}) if succeeds else ("omd.module_failure", {})
    with writer.conn.transaction():
        writer.conn.execute(KEPT, [instance])
        end = background(other.call, ending[0], module_instance_id=instance, **ending[1])
        until_settled(other, end)
        assert not end.done()
    end.result()
    with pytest.raises(psycopg.Error) as caught:
        writer.conn.execute(KEPT, [instance])
    assert caught.value.sqlstate == "OM181"
    room.call("begin_stage", stage_code="s")
    assert room.one("SELECT count(*) FROM omd_decision.cycle") == succeeds


def test_a_stage_that_fails_for_ever_pauses_as_a_topic_does(room: Room) -> None:
    document = room.scene()
    document["links"] = document["links"][:1]
    room.define(document)
    room.fill("a", (1, 1), (1, 1))

    def state() -> tuple[str, int, int | None]:
        (row,) = room.rows(
            "SELECT r.reason, r.failures, extract(epoch FROM r.not_before"
            " - (SELECT max(end_datetime) FROM omd.module_instance)) AS pause"
            " FROM omd_report.stage_readiness AS r"
        )
        return row["reason"], row["failures"], row["pause"] and round(row["pause"])

    def due() -> list[str]:
        return [r["code"] for r in room.rows("SELECT code FROM omd_report.ready_stage_tasks")]

    assert (state(), due()) == (("DUE", 0, None), ["s"])
    for n in range(1, 11):
        assert room.run()["execution_status_code"] == "F"
        assert state() == ("FAILED" if n == 10 else "BACK_OFF", n, min(10 * 2 ** (n - 1), 3600))
        assert due() == []
    assert room.event(10) == "OM290"
    # A run by hand is not stopped.
    room.conn.execute("UPDATE app.a SET id = 2 WHERE ctid = '(0,1)'")
    assert room.run()["execution_status_code"] == "S"
    assert (state()[:2], due()) == (("DUE", 0), ["s"])
    room.conn.execute("UPDATE app.a SET id = 1")
    assert room.run()["execution_status_code"] == "F"
    assert state()[1] == 1
    # Another version is tried at once.
    room.define({**document, "max_array_rows": 7})
    assert (state()[:2], due()) == (("DUE", 0), ["s"])
