"""Deliveries over Spark Connect: the same receipts, samples, deltas and tables as classic ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from .connect_server import connect_server

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

pytestmark = pytest.mark.spark

JOB = Path(__file__).with_name("alike_job.py")
OF_ITS_SESSION = "the_session_is_as_before"
YES, NO = "ACCEPTED", "REJECTED"
VERDICTS = {
    "a_frame_and_a_table_of_staging_are_read": [YES, YES],
    "code_pages_are_those_of_java": [YES, YES],
    "json_and_parquet_are_read": [NO, YES],
    "much_is_read_by_arrow_in_many_tasks": [NO, NO, YES, YES],
    "packed_files_have_two_layouts": [YES],
    "records_go_over_several_lines": [YES],
    "two_are_rejected": [NO, NO],
    "two_deliveries_are_accepted": [YES, YES],
}


@pytest.fixture(scope="module")
def seen(
    new_database: Callable[..., AbstractContextManager[str]],
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What can be seen of each case: over Connect, and classic."""
    folder = tmp_path_factory.mktemp("alike")
    service = folder / "pg_service.conf"
    env = {"PYSPARK_PYTHON": sys.executable, "PGSERVICEFILE": str(service)}
    items = [item for item in request.session.items if item.path == Path(__file__)]
    specs = [getattr(item, "callspec", None) for item in items]  # of those chosen by -k
    chosen = {spec.params["case"] if spec else OF_ITS_SESSION for spec in specs}

    def run(where: str) -> dict[str, Any]:
        place = folder / where.partition(":")[0]
        place.mkdir()
        with new_database() as dsn:
            given = "".join(f"{name}={value}\n" for name, value in conninfo_to_dict(dsn).items())
            service.write_text(f"[omd_test]\n{given}")
            done = subprocess.run(
                [sys.executable, JOB, where, dsn, "service=omd_test", place, *sorted(chosen)],
                env={**os.environ, **env, "PYTHONPATH": str(JOB.parents[1])},
                capture_output=True,
                text=True,
                check=False,
                timeout=900,
            )
        assert done.returncode == 0, done.stderr[-5000:]
        lines = [line for line in done.stdout.splitlines() if line.startswith('{"')]
        return {name: case for line in lines for name, case in json.loads(line).items()}

    home = folder / "server"
    home.mkdir()
    with connect_server(home, **env) as address:
        remote = run(address)
    return remote, run("local[2]")


@pytest.mark.parametrize("case", VERDICTS)
def test_a_delivery_is_the_same(seen: tuple[dict[str, Any], dict[str, Any]], case: str) -> None:
    remote, classic = (kind[case] for kind in seen)
    assert remote == classic
    parts = classic.values() if case == "code_pages_are_those_of_java" else [classic]
    verdicts = [receipt["verdict"] for part in parts for receipt in part["receipts"]]
    assert [verdict.partition(" ")[0] for verdict in verdicts] == VERDICTS[case]


def test_the_session_of_the_user_is_as_before(
    seen: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    remote, classic = (kind[OF_ITS_SESSION] for kind in seen)
    assert remote.pop("second").startswith("this session of Spark Connect works for another")
    assert remote.pop("created") == 1
    assert {name: remote[name] for name in remote if name.startswith("after")} == {
        "after": {},
        "after_failure": {},
        "after_death": {},
    }
    assert remote["failed"] == ["FAILED", True]
    assert remote["view"] == 3
    assert [remote[name] for name in ("first", "third", "fourth")] == ["ACCEPTED"] * 3
    assert classic["view"] == 3
