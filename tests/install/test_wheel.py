"""The wheel in a clean environment, as a user gets it, without the checkout."""

from __future__ import annotations

import zipfile
from pathlib import Path

import psycopg
import pytest

from omd import install
from support.wheel import run

pytestmark = pytest.mark.slow

SHARE = Path(__file__).parents[2] / "share"


def test_the_wheel_has_the_sql_the_types_and_nothing_else(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    root = install.sql_root()
    sql = {
        f"omd/_sql/{path.relative_to(root)}"
        for folder in ("migrations", "procedures", "sql")
        for path in (root / folder).rglob("*")
        if path.is_file()
    }
    assert sql <= names
    assert "omd/py.typed" in names
    # The files that other tools read, as they are in this repository.
    data = _dist_info(wheel).replace(".dist-info", ".data/data/share/omd")
    shared = {f"{data}/{path.name}" for path in SHARE.iterdir()}
    assert f"{data}/omd.rules.yml" in shared
    assert shared <= names
    assert {name.split("/")[0] for name in names - sql - shared} == {"omd", _dist_info(wheel)}


def _dist_info(wheel):
    return "-".join(wheel.name.split("-")[:2]) + ".dist-info"


def test_the_installed_command_installs_the_database(wheel_environment, empty_dsn):
    where = "import omd.install; print(omd.install.sql_root())"
    root = run(wheel_environment / "bin/python", "-c", where, cwd=wheel_environment).strip()
    assert Path(root).is_relative_to(wheel_environment)
    run(wheel_environment / "bin/omd", "install", cwd=wheel_environment, OMD_DSN=empty_dsn)
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        assert install.installed_version(conn) == install.product_version()
        assert not install.needs_install(conn)


@pytest.mark.spark
def test_the_demo_runs_from_the_wheel(demo_from_wheel):
    assert "is there exactly once" in demo_from_wheel[1]
