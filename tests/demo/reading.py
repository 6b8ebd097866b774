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
    "footprint": None,
    "server": None,
    "server changes": None,
    "metrics": None,
    "metrics grafana": None,
    "metrics rules": None,
    "metrics sql-exporter": None,
    "batch list": None,
    "batch show": "SELECT batch_code FROM omd_report.batch_list",
    "module list": None,
    "module show": "SELECT module_code FROM omd_report.module_list",
    "explain": "SELECT module_code FROM omd_report.module_list",
    "parameter list": None,
    "preview-rollback": "SELECT module_code FROM omd_report.module_list",
    "lineage graph": None,
    "platform graph": None,
    "lineage plan": (
        "SELECT topic FROM omd_report.lineage_topics WHERE processor IS NOT NULL"
        " OR transforms IS NOT NULL"
    ),
    "lineage readers": "SELECT max(module_instance_id) FROM omd_lineage.log",
    "lineage sources": None,
    "lineage status": None,
    "dispatch backends": None,
    "dispatch compare": "SELECT family_code FROM omd_dispatch.task_conf_family_desc",
    "dispatch cron-next": "SELECT '5 4 * * *'",
    "dispatch dead": None,
    "dispatch queue": None,
    "dispatch running": None,
    "dispatch schedules": None,
    "dispatch sources": None,
    "dispatch show": "SELECT max(task_id) FROM omd_report.dispatch_dead",
    "dispatch suspensions": None,
    "model export": "SELECT DISTINCT interface_code FROM omd_report.delivery_models",
    "model list": None,
    "model show": "SELECT DISTINCT interface_code FROM omd_report.delivery_models",
    "delivery agreements": None,
    "delivery arrivals": None,
    "delivery constraints": None,
    "delivery events": None,
    "delivery findings": None,
    "delivery list": None,
    "delivery marks": None,
    "delivery metrics": None,
    "delivery quarantine": "SELECT max(delivery_id) FROM omd_report.delivery_log",
    "delivery queue": None,
    "delivery receipt": (
        "SELECT max(delivery_id) FROM omd_report.delivery_log WHERE verdict IS NOT NULL"
    ),
    "delivery show": "SELECT max(delivery_id) FROM omd_report.delivery_log",
    "delivery state": None,
    "delivery tenants": None,
    "delivery thresholds": None,
    "facts deliveries": None,
    "facts diagram": "SELECT DISTINCT interface_code FROM omd_report.facts_map",
    "facts exports": None,
    "facts loads": None,
    "facts map": None,
    "facts removals": None,
    "facts sql": "SELECT DISTINCT interface_code FROM omd_report.facts_map",
    "facts status": None,
    "facts verify": "SELECT DISTINCT interface_code FROM omd_report.facts_map",
    "decision cycles": "SELECT stage_code FROM omd_report.decision_stage_list",
    "decision list": None,
    "decision rejects": "SELECT stage_code FROM omd_report.decision_stage_list",
    "decision rulesets": None,
    "decision runs": None,
    "decision show": "SELECT stage_code FROM omd_report.decision_stage_list",
    "decision tests": None,
    "event list": None,
    "event sinks": None,
    "status": None,
    "work": None,
    "log": None,
    "trace": (
        "SELECT max(module_instance_id) FROM omd_report.module_execution_log"
        " GROUP BY execution_status_code"
    ),
    "report": None,
}
"""The query gives the values of the argument; there are none where a demo has nothing of it."""

OPTIONS = {"model export": ("--to", "odcs")}

# They take files, keys or criteria of the demo, so tests of their own run them.
ELSEWHERE = {
    *("dispatch search", "lineage diff", "model diff", "model import", "decision diff"),
    *("dbt path", "lineage import"),
    *("decision explain", "show", "help"),
}

WRITING = {
    *("install", "uninstall", "end", "rename", "retire", "remove", "run", "register", "demo"),
    *("set-next-run", "reap", "purge", "embedded", "parameter set", "maintain", "test"),
    *(f"lineage {verb}" for verb in ("apply", "cancel-restate", "offset", "register", "release")),
    *(f"lineage {verb}" for verb in ("remove", "restate", "retry", "run", "step", "undo")),
    *(f"dispatch {verb}" for verb in ("allow-search", "cancel", "create", "create-many")),
    *(f"dispatch {verb}" for verb in ("maintain", "purge", "register-family", "register-type")),
    *(f"dispatch {verb}" for verb in ("register-schedule", "remove-schedule", "reschedule")),
    "dispatch register-source",
    *("retry", "event run", "dbt register", "call"),
    *(f"dispatch {verb}" for verb in ("resume", "revive", "run", "set-custom", "suspend")),
    *(f"dispatch {verb}" for verb in ("set-external-name", "set-migration-status")),
    *("model apply", "facts deploy", "facts cancel-export", "facts close", "facts export"),
    *(f"facts {verb}" for verb in ("load", "open", "resync", "run", "undo")),
    *(f"delivery {verb}" for verb in ("cancel", "create", "loaded", "persist", "purge")),
    *(f"delivery {verb}" for verb in ("register-agreement", "register-tenant", "reject")),
    *(f"delivery {verb}" for verb in ("forget", "remove-tenant", "resume", "revert", "run")),
    *("erase", "recall"),
    "server confirm",
    "openlineage",
    "web",
    *(f"event {verb}" for verb in ("again", "configure", "continue-as", "publish", "purge")),
    *(f"event {verb}" for verb in ("register", "remove")),
    *(f"decision {verb}" for verb in ("activate", "deactivate", "define", "purge", "run", "test")),
}
"""The commands that write, or whole groups of them."""


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


def check_what_reads(connection: psycopg.Connection, dsn: str, omd_here: Command) -> None:
    """Run each command that only reads; none may fail."""
    failed = []
    for command, query in READING.items():
        values = [[]] if query is None else connection.execute(query.encode()).fetchall()
        for value in values:
            given = [*command.split(), *map(str, value), *OPTIONS.get(command, ())]
            if None not in value:
                done = omd_here(*given, dsn=dsn)
                if done.returncode not in (ExitCode.OK, ExitCode.SKIPPED):
                    failed.append(f"omd {' '.join(given)}: {done.stdout[-300:]}{done.stderr}")
    page = omd_here("status", "--html", "-", dsn=dsn)
    if page.returncode != ExitCode.OK:
        failed.append(f"omd status --html: {page.stderr}")
    assert not failed, "\n".join(failed)
