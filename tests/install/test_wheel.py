"""The wheel in a clean environment, as a user gets it, without the checkout."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import psycopg
import pytest

from omd import install

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).resolve().parents[2]
HAS_DEMO = importlib.util.find_spec("omd.cli.demo") is not None


def run(*command, cwd, **env):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        command,
        check=False,
        cwd=cwd,
        env={**environment, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, CHECKOUT, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """A virtual environment with the wheel and what it requires."""
    folder = tmp_path_factory.mktemp("clean") / "venv"
    venv.create(folder, with_pip=True)
    run(folder / "bin/pip", "install", "-q", wheel, cwd=folder)
    return folder


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
    assert {name.split("/")[0] for name in names - sql} == {"omd", _dist_info(wheel)}


def _dist_info(wheel):
    return "-".join(wheel.name.split("-")[:2]) + ".dist-info"


def test_the_installed_command_installs_the_database(environment, empty_dsn):
    where = "import omd.install; print(omd.install.sql_root())"
    root = run(environment / "bin/python", "-c", where, cwd=environment).strip()
    assert Path(root).is_relative_to(environment)
    run(environment / "bin/omd", "install", cwd=environment, OMD_DSN=empty_dsn)
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        assert install.installed_version(conn) == install.product_version()
        assert not install.needs_install(conn)


@pytest.mark.spark
@pytest.mark.skipif(not HAS_DEMO, reason="there is no demo yet")
def test_the_demo_runs_from_the_wheel(environment, empty_dsn):
    # Spark and the data come from this environment: they are large, and the test is not about them.
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    lent = environment / "lib" / version / "site-packages" / "lent.pth"
    lent.write_text(sysconfig.get_path("purelib"))
    run(environment / "bin/omd", "install", cwd=environment, OMD_DSN=empty_dsn)
    output = run(environment / "bin/omd", "demo", "--quick", cwd=environment, OMD_DSN=empty_dsn)
    assert output
