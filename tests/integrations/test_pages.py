"""The examples of dbt and Dagster, run by these tools."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from integrations.test_dbt import write_profile
from omd.programs.demo.pages import section
from support.emptied import conn, dsn
from support.wheel import CHECKOUT

if TYPE_CHECKING:
    from pathlib import Path

    import psycopg

    from support.environments import Environment

__all__ = ["conn", "dsn"]

PAGE = CHECKOUT / "docs/how-to/control/start-from-an-orchestrator.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BASH = "import subprocess, sys; sys.exit(subprocess.call(['bash', '-euc', sys.argv[1]]))"


def play(part: str, folder: Path, tools: Environment, dsn: str) -> None:
    """Save what begins with the name of a file, and run what is for a shell."""
    text = section(PAGE.read_text(encoding="utf-8"), part)
    for kind, block in FENCE.findall(text):
        if kind == "sh":
            tools.run("python", "-c", BASH, block, cwd=folder, env={"OMD_DSN": dsn})
        elif named := re.match(r"(?:#|--) (\S+\.\w+)\n", block):
            path = folder / named[1]
            path.parent.mkdir(exist_ok=True)
            path.write_text(block)


def test_the_page_on_dbt(
    conn: psycopg.Connection, dsn: str, tools_environment: Environment, tmp_path: Path
) -> None:
    write_profile(tmp_path, "shop", dsn)
    play("with-models-of-dbt", tmp_path, tools_environment, dsn)
    stamped = conn.execute(
        "SELECT i.execution_status_code AS status FROM dwh.orders AS o"
        " JOIN omd.module_instance AS i"
        " ON i.module_instance_id = o.omd_insert_module_instance_id"
    ).fetchall()
    assert stamped == [{"status": "S"}]


def test_the_page_on_dagster(
    conn: psycopg.Connection, dsn: str, tools_environment: Environment, tmp_path: Path
) -> None:
    conn.execute("CREATE SCHEMA app; CREATE TABLE app.made (v integer)")
    conn.execute(
        "CALL omd.register_module('made', 'PRES', 'app.made',"
        " p_executable => 'INSERT INTO app.made VALUES (1)')"
    )
    play("in-dagster", tmp_path, tools_environment, dsn)
    assert conn.execute("SELECT v FROM app.made").fetchall() == [{"v": 1}]
