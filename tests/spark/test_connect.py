"""Spark Connect: what works, and the one error for what does not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from .conftest import SECRET

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.spark

JOB = Path(__file__).with_name("connect_job.py")


def test_a_connect_session_reads_and_writes_and_gets_no_password(
    dsn: str, target: Callable[..., str], tmp_path: Path
) -> None:
    target("id bigint")
    events = tmp_path / "events"
    events.mkdir()
    service_file = tmp_path / "pg_service.conf"
    given = conninfo_to_dict(dsn) | {"password": SECRET}
    service_file.write_text("[omd_test]\n" + "".join(f"{k}={v}\n" for k, v in given.items()))

    # It needs a process of its own, because a process can't have both kinds of session.
    with_password = make_conninfo(dsn, password=SECRET)
    done = subprocess.run(
        [sys.executable, JOB, with_password, "service=omd_test", events.as_uri()],
        check=False,
        cwd=tmp_path,
        env={
            **os.environ,
            "PYSPARK_PYTHON": sys.executable,
            "PGSERVICEFILE": str(service_file),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    told = re.findall("^(?:written|read|refused): .*", done.stdout, re.MULTILINE)
    assert told[:2] == ["written: 1000", "read: 10"]
    assert 'has no column "nosuch"' in told[2]
    assert len(told) == 5
    assert all("the connection string holds a password" in line for line in told[3:])

    logs = [file.read_bytes() for file in events.rglob("events_*")]
    assert any(b"t.target" in log for log in logs)
    assert not any(SECRET.encode() in log for log in logs)
