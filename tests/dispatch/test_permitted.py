"""What a worker executes of that which omd_admin has registered, and what it refuses."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from omd._core.errors import CallerError
from omd._core.functions import Permitted
from support.workers import Process

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Room

WAITS = {"backoff": "1 hour", "backoff_limit": "1 hour", "later_after": "1 hour"}
TOUCHING = """
from os import system
import subprocess
from pathlib import Path

Path({told!r}).touch()

def run(task):
    pass
"""


@pytest.fixture
def of_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """A function that writes a module of a user; the file that it returns is made by its import."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def write(name: str) -> Path:
        told = tmp_path / f"{name}.imported"
        (tmp_path / f"{name}.py").write_text(TOUCHING.format(told=str(told)))
        return told

    return write


def created(room: Room, targets: dict[str, str], handler: str = "PYTHON") -> dict[str, int]:
    """Create a task for each target."""
    tasks = {}
    for name, target in targets.items():
        room.type(name, family_code="CALL", handler=handler, target=target, **WAITS)
        tasks[name] = room.create(family_code="CALL", task_type=name, criteria=None)
    return tasks


def ending(room: Room, task: int, family: str = "call") -> tuple[Any, str | None]:
    row = room.task(task, family)
    return row["outcome"], row["error"]


def test_a_worker_executes_no_function_of_python_or_of_omd(
    room: Room, start: Callable[..., Process], of_user: Callable[[str], Path]
) -> None:
    of_user("mine")
    tasks = created(
        room,
        {
            "SYSTEM": "os:system",
            "POSIX": "posix:system",
            "EVAL": "builtins:eval",
            "BELOW": "os.path:exists",
            "OMD": "omd.programs.embedded:stop",
            "ITSELF": "omd.programs.worker.child:main",
            "BORROWED": "mine:system",
            "THROUGH": "mine:subprocess.run",
            "MINE": "mine:run",
        },
    )
    start("--until-quiet").ends(code=1)
    assert ending(room, tasks.pop("MINE")) == ("S", None)
    for name, task in tasks.items():
        outcome, error = ending(room, task)
        assert outcome == "F", name
        assert error is not None, name
        assert "is refused: it is part of Python or of OMD" in error, name


def test_a_worker_with_jobs_executes_only_those(
    room: Room, start: Callable[..., Process], of_user: Callable[[str], Path]
) -> None:
    imported = {name: of_user(name) for name in ("shop_in", "shop", "etl")}
    room.call(
        "omd.register_module", module_code="m", area_code="HSTG", table_code="app.t", job="etl:run"
    )
    tasks = created(room, {"IN": "shop_in:run", "SHOP": "shop:run", "ETL": "etl:run"})
    module = room.create("m", family_code="RUN", task_type="MODULE")
    start("--until-quiet", "--jobs", "shop.*, other").ends(code=1)
    assert ending(room, tasks["SHOP"]) == ("S", None)
    for outcome, error in (
        *(ending(room, tasks[name]) for name in ("IN", "ETL")),
        ending(room, module, "run"),
    ):
        assert outcome == "F"
        assert error is not None
        assert "run is refused: this worker does not let it" in error
    assert [name for name, file in imported.items() if file.exists()] == ["shop"]
    assert room.one("SELECT count(*) FROM omd.module_instance WHERE module_instance_id > 0") == 0


def test_a_worker_without_sql_executes_none_of_modules_and_goes_on_with_jobs(
    room: Room,
    start: Callable[..., Process],
    of_user: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of_user("mine")
    monkeypatch.setenv("OMD_JOBS", "mine:run")
    room.conn.execute(
        "CREATE SCHEMA app; CREATE TABLE app.t (n bigint);"
        "CREATE PROCEDURE app.p(jsonb) LANGUAGE sql AS 'INSERT INTO app.t VALUES (1)'"
    )
    for code, what in (
        ("m_sql", {"executable": "INSERT INTO app.t VALUES (2)"}),
        ("m_job", {"job": "mine:run"}),
    ):
        room.call(
            "omd.register_module", module_code=code, area_code="HSTG", table_code="app.t", **what
        )
    for code in ("m_sql", "m_job"):
        room.call("omd.register_batch", batch_code=f"b{code[1:]}")
        room.call("omd.add_module_to_batch", batch_code=f"b{code[1:]}", module_code=code)
    (procedure,) = created(room, {"SQL": "app.p"}, "SQL").values()
    sql = room.create("m_sql", family_code="RUN", task_type="MODULE")
    job = room.create("m_job", family_code="RUN", task_type="MODULE")
    batch = room.create("b_sql", family_code="RUN", task_type="BATCH")
    start("--until-quiet", "--sql", "off").ends(code=1)
    assert room.one("SELECT count(*) FROM app.t") == 0
    assert ending(room, job, "run") == ("S", None)
    for task, family in ((procedure, "call"), (sql, "run")):
        outcome, error = ending(room, task, family)
        assert outcome == "F"
        assert error is not None
        assert "is refused: this worker takes none" in error
    assert ending(room, batch, "run")[0] == "F"
    assert room.one("SELECT count(*) FROM omd.module_instance WHERE has_proceeded") == 1


def test_ready_work_of_the_database_is_refused_without_sql(
    room: Room, start: Callable[..., Process]
) -> None:
    room.conn.execute("CREATE SCHEMA app; CREATE TABLE app.t (n bigint)")
    room.call(
        "omd.register_module",
        module_code="m",
        area_code="HSTG",
        table_code="app.t",
        executable="INSERT INTO app.t VALUES (2)",
    )
    task = room.create(
        family_code="WORK", task_type="DATABASE", criteria={"CODE": "m", "KIND": "SQL"}
    )
    start("--until-quiet", "--sql", "off").ends(code=1)
    outcome, error = ending(room, task, "work")
    assert outcome == "F"
    assert error is not None
    assert "the SQL of Module m is refused: this worker takes none" in error
    assert room.one("SELECT count(*) FROM app.t") == 0


@pytest.mark.parametrize(
    ("jobs", "target", "is_let"),
    [
        (None, "shop:run", True),
        (None, "sys:exit", False),
        (None, "omd.work:perform", True),
        ("", "omd.work:perform", True),
        ("", "shop:run", False),
        ("shop.*", "shop:run", True),
        ("shop.*", "shop.orders:run", True),
        ("shop.*", "shopping:run", False),
        ("shop", "shop:run", True),
        ("shop", "shop.orders:run", False),
        ("etl.jobs.*", "etl.jobs:run", True),
        ("shop:load_*", "shop:load_orders", True),
        ("shop:load_*", "shop:drop_orders", False),
        ("*", "os:system", False),
        ("os", "os:system", False),
        ("*", "__main__:run", False),
    ],
)
def test_what_patterns_let(jobs: str | None, target: str, is_let: bool) -> None:
    permitted = Permitted.read(jobs)
    if is_let:
        permitted.require(target)
        return
    with pytest.raises(CallerError, match="is refused"):
        permitted.require(target)


def test_nothing_is_imported_for_a_refused_function() -> None:
    for target in ("antigravity:fly_free", "omd.programs.embedded:stop"):
        present = target.partition(":")[0] in sys.modules
        with pytest.raises(CallerError):
            Permitted().imported(target)
        assert (target.partition(":")[0] in sys.modules) == present
