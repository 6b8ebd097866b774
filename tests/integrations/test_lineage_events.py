"""The jobs of OpenLineage events, as omd apply takes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., subprocess.CompletedProcess[str]]


def event(job: str, inputs: list[str], outputs: list[str], namespace: str = "dag") -> str:
    """Return an event of a run."""

    def datasets(names: list[str]) -> list[dict[str, Any]]:
        return [{"namespace": "postgres://h:5432", "name": name} for name in names]

    return json.dumps(
        {
            "eventType": "COMPLETE",
            "run": {"runId": "x"},
            "job": {"namespace": namespace, "name": job},
            "inputs": datasets(inputs),
            "outputs": datasets(outputs),
        }
    )


def test_jobs_become_modules_with_what_they_read(
    omd_here: Command, dsn: str, tmp_path: Path
) -> None:
    with psycopg.connect(dsn) as conn:
        conn.execute("CREATE SCHEMA stg; CREATE TABLE stg.orders (); CREATE TABLE stg.rates ()")
    file = tmp_path / "events.ndjson"
    events = [
        event("nightly.load", ["db.stg.orders"], []),
        event("nightly.load", ["stg.rates"], ["db.dwh.orders"]),
        event("nightly", [], []),  # a DAG, which has no data of its own
    ]
    file.write_text("\n".join(events))
    seen = omd_here("diff", "--from", "openlineage", str(file), "--output", "json", dsn=dsn)
    assert seen.returncode == 1, seen.stderr
    changes = {(c["document"], c["path"]): c["new"] for c in json.loads(seen.stdout)}
    assert changes["module:nightly.load", "table_code"] == "dwh.orders"
    assert changes["module:nightly.load", "inputs"] == ["stg.orders", "stg.rates"]
    assert {document for document, _ in changes} == {"module:nightly.load"}
    done = omd_here("apply", "--from", "openlineage", str(file), dsn=dsn)
    assert done.returncode == 0, done.stderr
    file.write_text(f"[{', '.join(events)}]")
    assert omd_here("diff", "--from", "openlineage", str(file), dsn=dsn).returncode == 0


@pytest.mark.parametrize(
    ("events", "problem"),
    [
        ([event("a", ["s.x"], ["s.y", "s.z"])], "a: it makes s.y, s.z, and a Module makes one"),
        ([event("a", ["s.x"], [])], "a: it makes no table, and a Module makes one table"),
        ([event("a", ["/bucket/file"], ["s.y"])], "a: the dataset /bucket/file is no table"),
        ([event("a", [], ["s.y"]), event("a", [], ["s.y"], "other")], "jobs of dag, other have"),
        (["{"], "is no file of OpenLineage events"),
        (['{"job": {}}'], "is no file of OpenLineage events (KeyError: 'name')"),
    ],
)
def test_what_is_left_to_decide_is_refused(
    omd_here: Command, dsn: str, tmp_path: Path, events: list[str], problem: str
) -> None:
    file = tmp_path / "events.json"
    file.write_text("\n".join(events))
    for verb in ("apply", "diff"):
        done = omd_here(verb, "--from", "openlineage", str(file), dsn=dsn)
        assert (done.returncode, problem in done.stderr) == (2, True), done.stderr
    with_yaml = omd_here("diff", "--from", "openlineage", str(file), "--output", "yaml")
    assert with_yaml.returncode == 2
