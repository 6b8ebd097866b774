"""omd explain is a few lines for people; --output json has the JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from support.flow import Flow
    from support.scene import Scene

    Command = Callable[..., subprocess.CompletedProcess[str]]


def test_a_module_that_may_run(flow: Flow, omd_here: Command, dsn: str) -> None:
    flow.module("m")
    done = omd_here("explain", "m", dsn=dsn)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "m would begin now: P proceed.\nProceed: the instance may run.\n"


def test_a_module_that_executes_names_the_run(flow: Flow, omd_here: Command, dsn: str) -> None:
    flow.module("m")
    run = flow.call(
        "begin_module",
        module_code="m",
        execution_context=Jsonb({"host": "h1", "job": "nightly"}),
    )["module_instance_id"]
    done = omd_here("explain", "m", dsn=dsn)
    assert done.returncode == 4
    lines = done.stdout.splitlines()
    assert lines[0] == "m would be refused: A abort, RUNNING."
    assert lines[1] == "Another instance of the same Batch or Module executes."
    assert f"module instance {run}" in " ".join(done.stdout.split())
    assert "job nightly, host h1" in done.stdout
    assert not set("{}[]\"'") & set(done.stdout), done.stdout
    assert len(lines) <= 10
    document = json.loads(omd_here("explain", "m", "--output", "json", dsn=dsn).stdout)
    assert document["details"]["module_instance_id"] == run


def test_what_is_rolled_back_first_is_named(flow: Flow, omd_here: Command, dsn: str) -> None:
    flow.module("m")
    run = flow.call("begin_module", module_code="m")["module_instance_id"]
    flow.call("module_failure", module_instance_id=run)
    done = omd_here("explain", "m", dsn=dsn)
    assert done.stdout.startswith("m would begin now: P proceed.\n")
    assert f"undone first  run {run}\n" in done.stdout


def test_a_batch_whose_frequency_holds(flow: Flow, omd_here: Command, dsn: str) -> None:
    flow.batch("b", frequency_code="Daily")
    run = flow.call("begin_batch", batch_code="b")["batch_instance_id"]
    flow.call("batch_success", batch_instance_id=run)
    done = omd_here("explain", "batch:b", dsn=dsn)
    assert done.returncode == 3
    assert done.stdout.startswith("b would be skipped: C skip, FREQUENCY.\n")
    words = " ".join(done.stdout.split())
    assert "frequency Daily" in words
    assert "holds until 20" in words


def test_what_failed_says_so_and_why(flow: Flow, omd_here: Command, dsn: str) -> None:
    flow.module("m")
    run = flow.call("begin_module", module_code="m")["module_instance_id"]
    flow.call("module_failure", module_instance_id=run, event_detail="the disk is full")
    done = omd_here("explain", "module:m", dsn=dsn)
    assert done.stdout.startswith("m would begin now: P proceed.\n")
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines()[2:])
    assert lines["state"] == "FAILED, WAITS_FOR_A_PERSON"
    assert lines["failures"] == "1"
    assert "the disk is full" in done.stdout
    document = json.loads(omd_here("explain", "m", "--output", "json", dsn=dsn).stdout)
    assert document["work"]["state"] == "FAILED"


def test_a_topic_shows_the_block_that_it_would_take(
    scene: Scene, omd_here: Command, dsn: str
) -> None:
    scene.source("dwh.src", 1, 2, 3)
    scene.topic("dwh.f")
    done = omd_here("explain", "dwh.f", dsn=dsn)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("dwh.f would begin now: P proceed.\n")
    words = " ".join(done.stdout.split())
    assert "state READY" in words
    assert "rows 2" in words
    document = json.loads(omd_here("explain", "topic:dwh.f", "--output", "json", dsn=dsn).stdout)
    assert (document["work"]["state"], document["block"]["row_count"]) == ("READY", 2)
    assert sum(scene.steps()) == 2
    nothing = omd_here("explain", "dwh.f", dsn=dsn)
    assert nothing.returncode == 3
    unknown = omd_here("explain", "topic:no.where", dsn=dsn)
    assert (unknown.returncode, unknown.stdout) == (1, "")
    source = omd_here("explain", "topic:dwh.src", dsn=dsn)
    assert (source.returncode, "newest_id" in source.stdout) == (0, True)
