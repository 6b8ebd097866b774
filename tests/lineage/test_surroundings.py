"""No foreign name turns a step, in the database or in a driver, against its caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.traps import lay_temporary_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.scene import Scene

    Another = Callable[..., Scene]


@pytest.fixture
def runner(scene: Scene, another: Another) -> Scene:
    """A session of omd_runner, with rights on the tables and on nothing else."""
    scene.source("dwh.src", 1, 2, 3, 4)
    scene.topic("dwh.f")
    scene.topic("dwh.g")
    scene.conn.execute("GRANT USAGE ON SCHEMA dwh TO omd_runner")
    scene.conn.execute("GRANT ALL ON ALL TABLES IN SCHEMA dwh TO omd_runner")
    return another(role="omd_runner")


def whole_story(scene: Scene, runner: Scene) -> None:
    """Do everything that a runner does with a topic."""
    assert runner.probe() >= 0
    step = runner.step("dwh.f")
    assert (step.outcome, step.rows) == ("DONE", 3), step
    assert runner.step("dwh.f").outcome == "NOJOBS"
    begun = runner.call("omd_lineage.begin_step", topic="dwh.g", engine="POSTGRES")
    assert begun["outcome"] == "RUN"
    ended = {key: begun[key] for key in ("module_instance_id", "plan_number")}
    runner.call("omd_lineage.commit_step", **ended, rows_inserted=0)
    scene.register("dwh.f", after_sql=["SELECT 1 OPERATOR(pg_catalog./) 0"])
    scene.insert(5, 6)
    runner.probe()
    failed = runner.step("dwh.f")
    assert (failed.outcome, failed.detail) == ("ERROR", "division by zero")
    runner.call("omd_lineage.note_error", topic="dwh.f", detail="x")
    assert scene.rows("SELECT * FROM omd.event_log WHERE event_detail LIKE '%%evil%%'") == []


def test_without_them(scene: Scene, runner: Scene) -> None:
    whole_story(scene, runner)


@pytest.mark.parametrize(
    "path", ["''", "evil, pg_catalog", "evil", "pg_temp, evil, omd, pg_catalog"]
)
def test_names_in_front_of_ours_and_of_pg_catalog_s_do_no_harm(
    scene: Scene, runner: Scene, traps: str, path: str
) -> None:
    runner.conn.execute(f"SET search_path = {path}".encode())
    whole_story(scene, runner)


def test_temporary_names_do_no_harm(scene: Scene, runner: Scene) -> None:
    lay_temporary_names(runner)
    whole_story(scene, runner)
