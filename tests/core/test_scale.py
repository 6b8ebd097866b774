"""The benchmark of a company's size fills, plays its hour and reports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import psycopg

SCALE = Path(__file__).parents[1] / "benchmarks/scale.py"


def test_it_runs_whole(server: str, tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    database = "omd_test_scale"
    command = [sys.executable, SCALE, "--dsn", server, "--database", database]
    options = ["--scale", "0.0005", "--minutes", "0.1", "--sessions", "2", "--save", figures]
    try:
        done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        with psycopg.connect(server, dbname=database) as conn:
            row = conn.execute("SELECT count(*), max(module_instance_id) FROM omd.module_instance")
            (runs, newest) = row.fetchone() or (0, 0)
    finally:
        with psycopg.connect(server, autocommit=True) as conn:
            conn.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
    assert runs > 5000
    assert newest > 5000
    found = json.loads(figures.read_text())
    # A run and a task meet others; nothing else may fail.
    assert found["failed"] == {}
    assert found["paths"].keys() >= {"run of any Module", "step", "purge of runs", "page: /"}
    assert found["wal"] > 0
    assert "p99" in done.stdout
