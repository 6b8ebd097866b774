"""Clusters: a standalone cluster on loopback, and local-cluster.

The executors' Python has the packages that the how-to requires, but not omd: the job brings that.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
import venv
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pyspark
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from .conftest import SECRET

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.spark

CHECKOUT = Path(__file__).parents[2]
SPARK_HOME = Path(pyspark.__file__).parent
JOB = Path(__file__).with_name("cluster_job.py")
SHORT_LIFE = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
# The environment has nothing that helps to find omd or the database.
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name != "PYTHONPATH" and not name.startswith(("PG", "OMD_"))
}
# docs/how-to/spark/set-up.md requires three of these and pandas; they need the others.
EXECUTOR_PACKAGES = (
    *("adbc_driver_manager", "adbc_driver_postgresql", "psycopg", "psycopg_binary", "pyarrow"),
    *("dateutil", "numpy", "pandas", "pytz", "six", "typing_extensions", "tzdata"),
)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, under the name that lets executors import from it."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", folder, CHECKOUT]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel.rename(folder / "omd.zip")


@pytest.fixture(scope="module")
def executor_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with the packages that executors need, and no other."""
    folder = tmp_path_factory.mktemp("executor")
    venv.create(folder, symlinks=True)
    (there,) = folder.glob("lib/python*/site-packages")
    for home in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for name in EXECUTOR_PACKAGES:
            for file in (name, f"{name}.libs", f"{name}.py"):
                if (Path(home) / file).exists():
                    (there / file).symlink_to(Path(home) / file)
    python = folder / "bin" / "python"
    lacks_omd = subprocess.run([python, "-I", "-c", "import omd"], check=False, capture_output=True)
    assert b"No module named 'omd'" in lacks_omd.stderr
    return python


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The URL of a standalone cluster of one master and two workers, and their log folder."""
    folder = tmp_path_factory.mktemp("cluster")
    environment = {
        **ENVIRONMENT,
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": SHORT_LIFE,
        "SPARK_WORKER_DIR": str(folder / "work"),
    }
    with contextlib.ExitStack() as stack:

        def start(kind: str, *arguments: str, log: IO[str] | int) -> IO[str] | None:
            process = subprocess.Popen(
                [
                    *(SPARK_HOME / "bin/spark-class", f"org.apache.spark.deploy.{kind}"),
                    *("--host", "127.0.0.1", "--port", "0", "--webui-port", "0", *arguments),
                ],
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=log,
                text=True,
            )
            stack.callback(process.wait, 60)
            stack.callback(process.terminate)
            return process.stderr

        def logged(name: str) -> IO[str]:
            return stack.enter_context((folder / f"{name}.log").open("w", encoding="utf-8"))

        log = logged("master")
        copying = threading.Thread(target=lambda: shutil.copyfileobj(told, log))
        stack.callback(copying.join)
        told = start("master.Master", log=subprocess.PIPE)
        assert told is not None
        found = (re.search(r"Starting Spark master at (spark://\S+)", line) for line in told)
        url = next(match[1] for match in found if match)
        copying.start()
        for number in (1, 2):
            resources = ("--cores", "1", "--memory", "1g")
            start("worker.Worker", *resources, url, log=logged(f"worker-{number}"))
        yield url, folder


@pytest.fixture
def service_file(dsn: str, tmp_path: Path) -> Path:
    """A file in which libpq finds the database as the service omd_test."""
    given = conninfo_to_dict(dsn) | {"password": SECRET}
    file = tmp_path / "pg_service.conf"
    file.write_text("[omd_test]\n" + "".join(f"{k}={v}\n" for k, v in given.items()))
    return file


@pytest.fixture
def submit(
    package: Path,
    executor_python: Path,
    service_file: Path,
    dsn: str,
    target: Callable[..., str],
    tmp_path: Path,
) -> Callable[..., str]:
    """A function that runs the job on a master, and returns what was printed and logged."""
    target("id integer")

    def run(master: str, *arguments: str) -> str:
        settings = {
            "spark.driver.extraJavaOptions": SHORT_LIFE,
            "spark.driver.memory": "512m",
            "spark.executor.extraJavaOptions": SHORT_LIFE,
            "spark.executor.memory": "512m",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": tmp_path.as_uri(),
            "spark.executorEnv.PGSERVICEFILE": str(service_file),
            "spark.sql.session.timeZone": "Europe/Amsterdam",
            "spark.sql.shuffle.partitions": "2",
            "spark.scheduler.minRegisteredResourcesRatio": "1",
        }
        told = [part for pair in settings.items() for part in ("--conf", "=".join(pair))]
        done = subprocess.run(
            [
                *(SPARK_HOME / "bin/spark-submit", "--master", master, "--py-files", package),
                *(*told, JOB, make_conninfo(dsn, password=SECRET), "service=omd_test", *arguments),
            ],
            check=False,
            cwd=tmp_path,
            env={
                **ENVIRONMENT,
                "SPARK_HOME": str(SPARK_HOME),
                "PYSPARK_DRIVER_PYTHON": sys.executable,
                "PYSPARK_PYTHON": str(executor_python),
                # This is on the driver's machine: Spark plans reads and writes there in a process.
                "PGSERVICEFILE": str(service_file),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout[-10_000:]
        assert f"master: {master}" in done.stdout
        # Settings of spark-submit override the defaults of omd.spark.session().
        assert "time zone: Europe/Amsterdam" in done.stdout
        assert f"workers: {{'./omd.zip/omd/__init__.py {executor_python}'}}" in done.stdout
        assert "through the service file: 1000 1000" in done.stdout
        return done.stdout

    return run


def holding_secret(*folders: Path) -> list[Path]:
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    return [file for file in files if SECRET.encode() in file.read_bytes()]


def test_the_demo_runs_on_a_standalone_cluster_and_no_log_shows_the_password(
    cluster: tuple[str, Path], submit: Callable[..., str], service_file: Path, tmp_path: Path
) -> None:
    master, logs = cluster
    told = submit(master, "demo")
    assert re.search("m_hstg_flights +28,834 rows after the rollback of", told)
    assert "the proof holds: True" in told

    executors = list(logs.glob("work/app-*/*/stderr"))
    assert len(executors) == 2
    assert all("Finished task" in log.read_text() for log in executors)
    (events,) = tmp_path.glob("eventlog*/events*")
    assert "SparkListenerSQLExecutionStart" in events.read_text()
    assert SECRET not in told
    assert holding_secret(logs, tmp_path) == [service_file]


def test_a_job_runs_on_local_cluster(submit: Callable[..., str]) -> None:
    submit("local-cluster[2,1,1024]")
