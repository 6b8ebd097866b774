"""``omd demo web`` shows a page, sends what nobody clicks, and ends with its page."""

from __future__ import annotations

import re
import socket
from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

pytestmark = pytest.mark.spark


def test_the_night_beside_a_page_ends_by_itself(
    new_database: Callable[[], AbstractContextManager[str]],
    omd_command: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
) -> None:
    with new_database() as dsn:
        command = ("demo", "web", "--quick", "--pace", "0", "--master", "local[2]")
        done = omd_command(*command, "--folder", str(tmp_path / "lake"), dsn=dsn, timeout=1200)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "accepted flights is in each table once" in done.stdout
        link = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=[\w-]+", done.stdout)
        assert link is not None
        with socket.socket() as again, pytest.raises(ConnectionRefusedError):
            again.connect(("127.0.0.1", int(link[1])))
        # What the person did, and why, stands in the event log and is shown.
        with psycopg.connect(dsn, autocommit=True) as connection:
            rows = connection.execute(
                b"SELECT reason FROM omd.event_log WHERE reason IS NOT NULL ORDER BY event_id"
            ).fetchall()
        reasons = [reason for (reason,) in rows]
        assert reasons == ["maintenance until six", "the index is there"]
        morning = done.stdout.partition("who did what, and why")[2]
        assert all(reason in morning for reason in reasons)
