"""The commands that only read, with where their arguments come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from omd.programs.cli.main import cli
from omd.programs.terminal.commands import ExitCode

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    import psycopg

    Command = Callable[..., subprocess.CompletedProcess[str]]

READING: dict[str, str | None] = {
    "doctor": None,
    "doctor --health": None,
    "status": None,
    "log": None,
    "log module:": "SELECT module_code FROM omd_report.module_list",
    "log batch:": "SELECT batch_code FROM omd_report.batch_list",
    "report": None,
    "report --limit 10": """
        SELECT c.relname FROM pg_class AS c
        CROSS JOIN omd.comment_parts(obj_description(c.oid, 'pg_class')) AS p
        WHERE c.relnamespace = 'omd_report'::regnamespace AND c.relkind = 'v'
            AND p.audience IN ('PERSON', 'PROGRAM')""",
    "report metrics --output prometheus": None,
    "report flow --output mermaid": None,
    "show module:": "SELECT module_code FROM omd_report.module_list",
    "show batch:": "SELECT batch_code FROM omd_report.batch_list",
    "show run:": (
        "SELECT max(module_instance_id) FROM omd_report.module_execution_log"
        " GROUP BY execution_status_code"
    ),
    "show batchrun:": "SELECT max(batch_instance_id) FROM omd_report.batch_execution_log",
    "show topic:": "SELECT topic FROM omd_report.lineage_topics",
    "show stage:": "SELECT stage_code FROM omd_report.decision_stage_list",
    "show ruleset:": "SELECT ruleset_code FROM omd_report.decision_ruleset_list",
    "show table:": "SELECT table_code FROM omd_report.lake_tables",
    "show delivery:": "SELECT max(delivery_id) FROM omd_report.delivery_log",
    "show --quarantine delivery:": "SELECT max(delivery_id) FROM omd_report.delivery_log",
    "show --receipt delivery:": (
        "SELECT max(delivery_id) FROM omd_report.delivery_log WHERE verdict IS NOT NULL"
    ),
    "show task:": "SELECT max(task_id) FROM omd_report.dispatch_dead",
    "show recall:": "SELECT recall_id FROM omd_report.recalls",
    "show interface:": "SELECT DISTINCT interface_code FROM omd_report.delivery_models",
    "show --output odcs interface:": (
        "SELECT DISTINCT interface_code FROM omd_report.delivery_models"
    ),
    "show --output mermaid interface:": "SELECT DISTINCT interface_code FROM omd_report.facts_map",
    "explain module:": "SELECT module_code FROM omd_report.module_list",
    "explain topic:": ("SELECT topic FROM omd_report.lineage_topics WHERE module_code IS NOT NULL"),
    "explain run:": (
        "SELECT max(module_instance_id) FROM omd_report.module_execution_log"
        " GROUP BY execution_status_code"
    ),
    "call omd_lineage.readers_of --module-instance-id": (
        "SELECT max(module_instance_id) FROM omd_lineage.log"
    ),
    "call omd_dispatch.compare_models --family-code": (
        "SELECT family_code FROM omd_dispatch.task_conf_family_desc"
    ),
    "call omd_dispatch.cron_next --cron": "SELECT '5 4 * * *'",
    "call omd_facts.verify --interface-code": (
        "SELECT DISTINCT interface_code FROM omd_report.facts_map"
    ),
    "call omd_facts.build_deploy_sql --interface-code": (
        "SELECT DISTINCT interface_code FROM omd_report.facts_map"
    ),
    "call omd_decision.cycles --stage-code": (
        "SELECT stage_code FROM omd_report.decision_stage_list"
    ),
}
"""The query gives values of the last argument; there are none where a demo has nothing of it."""

# They take files, or many routines read and others write, so tests of their own run them.
ELSEWHERE = {"diff", "call"}

WRITING = {
    *("install", "uninstall", "end", "run", "retry", "apply", "deliver", "worker", "demo"),
    *("erase", "recall", "test", "export", "maintain", "embedded", "web", "send"),
}
"""The commands that write, or whole groups of them."""


def words(reading: str, *given: object) -> list[str]:
    """Return what is typed after ``omd``; a value that follows a kind is one word with it."""
    typed = reading.split()
    if typed[-1].endswith(":"):
        return [*typed[:-1], typed[-1] + "".join(map(str, given))]
    return [*typed, *map(str, given)]


def commands(group: click.Group = cli, before: str = "") -> Iterator[str]:
    """Yield each command as a person types it, without ``omd``."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            if command.invoke_without_command:
                yield before + name
            yield from commands(command, f"{before}{name} ")
        else:
            yield before + name


def check_what_reads(
    connection: psycopg.Connection, dsn: str, omd_here: Command, but: str = ""
) -> None:
    """Run each command that only reads, but one that finds what was left on purpose.

    None may fail.
    """
    failed = []
    for reading, query in READING.items():
        if reading.split()[0] == but:
            continue
        values = [[]] if query is None else connection.execute(query.encode()).fetchall()
        for value in values:
            if None in value:
                continue
            given = words(reading, *value)
            done = omd_here(*given, dsn=dsn)
            if done.returncode not in (ExitCode.OK, ExitCode.SKIPPED):
                failed.append(f"omd {' '.join(given)}: {done.stdout[-300:]}{done.stderr}")
    page = omd_here("status", "--html", "-", dsn=dsn)
    if page.returncode != ExitCode.OK:
        failed.append(f"omd status --html: {page.stderr}")
    assert not failed, "\n".join(failed)
