"""A letter stands with its word in each table for people, and alone in JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from support.flow import Flow

    Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def runs(flow: Flow) -> Flow:
    """A Batch with a Module that has failed, then was rolled back and has succeeded."""
    flow.batch("b", "m")
    for end in ("failure", "success"):
        batch = flow.call("begin_batch", batch_code="b")["batch_instance_id"]
        run = flow.call("begin_module", module_code="m", batch_instance_id=batch)
        flow.call(f"module_{end}", module_instance_id=run["module_instance_id"])
        flow.call(f"batch_{end}", batch_instance_id=batch)
    return flow


@pytest.mark.parametrize(
    "command",
    [
        ("log",),
        ("log", "--kind", "batch"),
        ("show", "m"),
        ("show", "b"),
        ("status",),
        ("show", "batchrun:2"),
    ],
)
def test_letters_stand_with_their_words(
    runs: Flow, omd_here: Command, dsn: str, command: tuple[str, ...]
) -> None:
    done = omd_here(*command, dsn=dsn)
    assert "S succeeded" in done.stdout
    words = {"P proceed", "R rollback", "S succeeded", "F failed", "E executing", "A aborted"}
    table = done.stdout.rpartition("Last runs")[2]
    for line in table.splitlines():
        cells = [cell for cell in line.split("  ") if cell]
        assert [c for c in cells if c.strip() in {w[0] for w in words}] == [], line
    assert "told" not in done.stdout.split()


def test_programs_get_the_letter(runs: Flow, omd_here: Command, dsn: str) -> None:
    as_json = json.loads(omd_here("log", "--output", "json", dsn=dsn).stdout)
    assert [row["execution_status_code"] for row in as_json] == ["F", "S"]
    as_csv = csv.DictReader(io.StringIO(omd_here("log", "--output", "csv", dsn=dsn).stdout))
    assert [row["execution_status_code"] for row in as_csv] == ["F", "S"]
