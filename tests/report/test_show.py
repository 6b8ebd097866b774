"""omd show prints one thing in full; of a run what, when, where, error, wrote, undone, to do."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from support.flow import Flow

    Command = Callable[..., subprocess.CompletedProcess[str]]


def fail(flow: Flow) -> int:
    """Let a job outside write a row and fail; return its run."""
    flow.module("m", start_hint="airflow: dag nightly")
    run = int(
        flow.call(
            "begin_module",
            module_code="m",
            execution_context=Jsonb({"host": "h1", "platform": "airflow"}),
        )["module_instance_id"]
    )
    flow.conn.execute("INSERT INTO dwh.m (omd_insert_module_instance_id) VALUES (%s)", [run])
    flow.call("module_failure", module_instance_id=run, event_detail="disk full\nat line 2")
    return run


def parts(text: str) -> dict[str, str]:
    """Return what is printed by its names."""
    found: dict[str, str] = {}
    name = ""
    for line in text.partition("\n\n")[0].splitlines():
        name = line[:10].strip() or name
        found[name] = "\n".join(filter(None, [found.get(name), line[10:]]))
    return found


@pytest.mark.parametrize("named", ["{}", "run:{}"])
def test_a_failed_run_says_all_that_a_person_asks(
    flow: Flow, omd_here: Command, dsn: str, named: str
) -> None:
    run = fail(flow)
    done = omd_here("show", named.format(run), dsn=dsn)
    assert done.returncode == 0, done.stderr
    told = parts(done.stdout)
    assert list(told) == ["what", "when", "where", "error", "wrote", "undone", "to do"]
    assert told["what"] == f"run {run} of Module m: F failed"
    assert re.fullmatch(r"20[-0-9: ]+ to 20[-0-9: ]+, it took [0-9:]+", told["when"])
    assert "host h1" in told["where"]
    assert "platform airflow" in told["where"]
    assert "disk full\nat line 2" in told["error"]
    assert "dwh.m on POSTGRES" in told["wrote"]
    assert told["undone"] == "not yet: the next begin of its Module undoes what it left"
    assert "Start its job again: airflow: dag nightly" in told["to do"]


def test_what_undid_it_is_named_on_both(flow: Flow, omd_here: Command, dsn: str) -> None:
    run = fail(flow)
    second = int(flow.call("begin_module", module_code="m")["module_instance_id"])
    told = parts(omd_here("show", str(second), dsn=dsn).stdout)
    assert "error" not in told
    assert told["undone"] == f"it undid what was left by run {run}"
    assert told["to do"] == f"It executes. Who must end it: omd end run:{second}"
    flow.call("module_success", module_instance_id=second)
    assert parts(omd_here("show", str(run), dsn=dsn).stdout)["undone"] == f"by run {second}"
    assert parts(omd_here("show", str(second), dsn=dsn).stdout)["to do"] == "nothing"


def test_a_run_of_a_batch_has_its_modules(flow: Flow, omd_here: Command, dsn: str) -> None:
    flow.batch("b")
    run = int(flow.call("begin_batch", batch_code="b")["batch_instance_id"])
    flow.call("batch_failure", batch_instance_id=run, event_detail="no power")
    told = parts(omd_here("show", f"batchrun:{run}", dsn=dsn).stdout)
    assert told["what"] == f"run {run} of Batch b: F failed"
    assert "no power" in told["error"]
    assert "omd run batch:b" in told["to do"]
    document = json.loads(omd_here("show", f"batchrun:{run}", "--output", "json", dsn=dsn).stdout)
    assert document["batch_code"] == "b"
    assert document["modules"] == []


@pytest.mark.parametrize(
    ("named", "code", "told"),
    [
        ("0", 1, "there is no thing 0"),
        ("m_x", 1, "there is no thing m_x"),
        ("run:99", 1, "there is no run 99"),
        ("batchrun:99", 1, "there is no batchrun 99"),
        ("run:x", 2, "'x' is no number of a run"),
    ],
)
def test_what_is_not_there_is_said(
    flow: Flow, omd_here: Command, dsn: str, named: str, code: int, told: str
) -> None:
    done = omd_here("show", named, dsn=dsn)
    assert done.returncode == code
    assert told in done.stderr


def test_a_topic_that_others_fill_is_shown_without_a_module(
    flow: Flow, omd_here: Command, dsn: str
) -> None:
    flow.call("omd_lineage.register_topic", topic="dwh.read")
    done = omd_here("show", "topic:dwh.read", "--output", "json", dsn=dsn)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["topic"] == "dwh.read"


def test_a_topic_names_its_readers_and_its_problems(
    flow: Flow, omd_here: Command, dsn: str
) -> None:
    flow.conn.execute(
        "CREATE TABLE dwh.source (pos timestamptz, id bigint);"
        "CREATE TABLE dwh.made (id bigint, omd_insert_module_instance_id bigint NOT NULL);"
        "CREATE VIEW dwh.view AS SELECT s.id FROM dwh.source AS s, pg_sleep(0)"
        "  WHERE 1 / 0 > 0 AND omd_lineage.in_block(s.pos, s.id);"
        "CALL omd_lineage.register_topic('dwh.source', p_source_offset => 'CLOCK');"
        "CALL omd_lineage.register_topic('dwh.made', ARRAY['dwh.source'],"
        "  p_transforms => ARRAY['dwh.view'])"
    )
    source = json.loads(omd_here("show", "dwh.source", "--output", "json", dsn=dsn).stdout)
    assert (source["reads"], source["read_by"][0]["topic"]) == ([], "dwh.made")
    flow.conn.execute("INSERT INTO dwh.source VALUES ('2026-01-01', 1)")
    assert omd_here("run", "dwh.made", dsn=dsn).returncode == 1
    [problem] = json.loads(omd_here("show", "dwh.made", "--output", "json", dsn=dsn).stdout)[
        "problems"
    ]
    assert problem["problem_code"] == "LAST_RUN_FAILED"


def test_a_kind_that_a_command_does_not_take_is_answered_with_show(
    omd_here: Command, dsn: str
) -> None:
    done = omd_here("retry", "task:7", dsn=dsn)
    assert done.returncode == 2
    assert "omd show task:7 shows what it is" in done.stderr
