"""The Python of a session's workers: what it lacks is said before the first job."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from delivery.runs import SHOP, Shop
from omd.errors import ConfigurationError
from omd.spark.failure import failure_in
from omd.spark.sessions import register

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.spark

JOB = Path(__file__).with_name("own_session_job.py")
ROWS = {"customer": "nbr,email\n1,a@b\n", "orders": "nbr,customer,amount\n7,1,2.00\n"}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a `python3` without packages."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, symlinks=True)
    return folder / "bin"


@pytest.fixture
def run(bare: Path) -> Callable[..., str]:
    """A function that runs the program where `python3` is the bare one."""

    def run(told: dict[str, Any], python: str | None = None, **settings: str) -> str:
        given = {name: value for name, value in os.environ.items() if name != "PYSPARK_PYTHON"}
        given["PATH"] = f"{bare}{os.pathsep}{given['PATH']}"
        done = subprocess.run(
            [sys.executable, JOB, json.dumps(told), json.dumps(settings)],
            env={**given, **({"PYSPARK_PYTHON": python} if python else {})},
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        return done.stdout

    return run


def test_a_delivery_by_workers_that_lack_omd_is_refused_before_its_first_job_and_goes_on(
    run: Callable[..., str], conn: Any, dsn: str, tmp_path: Path
) -> None:
    shop = Shop(conn)
    shop.deploy(SHOP)
    delivery_id = shop.create("2026-01-02T00:00:00Z", entities=dict.fromkeys(ROWS, "FULL"))
    for name, text in ROWS.items():
        (tmp_path / f"{name}.csv").write_text(text)
    files = {name: str(tmp_path / f"{name}.csv") for name in ROWS}
    told = {"dsn": dsn, "delivery_id": delivery_id, "entities": files}

    said = run(told, **{"spark.pyspark.python": sys.executable})  # it counts for spark-submit only
    assert (
        "can't run OMD by python3: it lacks omd, psycopg, adbc_driver_postgresql, pyarrow" in said
    )
    assert f"PYSPARK_PYTHON={sys.executable}" in said
    assert "omd deliver --resume" in said
    assert "jobs: 0 failed before: None" in said
    assert shop.status(delivery_id) == "LOADED"

    assert run(told, sys.executable).split() == ["ACCEPTED", "2"]


@pytest.mark.parametrize(
    ("program", "why"),
    [("/nowhere/python3", "it does not run"), ("false", "it does not run")],
)
def test_a_python_that_does_not_run_is_refused(
    spark: Any, monkeypatch: pytest.MonkeyPatch, program: str, why: str
) -> None:
    monkeypatch.setattr(spark.sparkContext, "pythonExec", program)
    with pytest.raises(ConfigurationError, match=why):
        register(spark.newSession())


def test_what_executors_of_a_cluster_lack_is_said_when_a_job_fails_for_it(
    spark: Any, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(bare / "python3"))

    def rows(batches: Any) -> Any:
        import psycopg  # noqa: F401

        yield from batches

    with pytest.raises(Exception, match="ModuleNotFoundError") as failed:
        spark.range(1).mapInArrow(rows, "id bigint").collect()
    told = failure_in(failed.value)
    assert isinstance(told, ConfigurationError)
    assert "PYSPARK_PYTHON" in str(told.hint)
