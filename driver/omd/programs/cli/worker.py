"""``omd worker`` performs what is due and ready: tasks, or what is ready of one kind."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, Protocol

import click
from click.core import ParameterSource

from omd._core.engines import SPARK
from omd._core.program import python
from omd.programs.cli.common import dsn_option, open_control, report_error
from omd.programs.report.metrics import listen_option, listening
from omd.programs.terminal.commands import ExitCode
from omd.programs.terminal.text import short

# A step of a topic in a process of its own. Its arguments are Spark's master, if there is one, and
# the topic.
_STEP = python("from omd.programs.cli.worker import step; step()")


class _Program(Protocol):
    """What runs for long."""

    @property
    def turns(self) -> bool: ...

    def run(self) -> int: ...


def _scheduler(dsn: str, master: str | None, globs: Any, chosen: dict[str, Any]) -> _Program:
    from omd.programs.service.scheduler import Scheduler

    program = [*_STEP, *([] if master is None else [master])]
    return Scheduler(lambda: open_control(dsn), program, dsn, topics=globs, **chosen)


def _loader(dsn: str, _master: str | None, globs: Any, chosen: dict[str, Any]) -> _Program:
    from omd.programs.service.loader import Loader

    return Loader(lambda: open_control(dsn), interfaces=globs, **chosen)


# What performs a kind without tasks: each asks its room what is ready.
_KINDS: dict[str, Callable[[str, str | None, Any, dict[str, Any]], _Program]] = {
    "TOPIC": _scheduler,
    "FACTS": _loader,
}
# Which kinds an option is for; None: tasks.
_OPTIONS = {
    "topics": ("TOPIC",),
    "interfaces": ("FACTS",),
    "once": ("TOPIC", "FACTS"),
    "master": ("TOPIC", None),
    "group": (None,),
    "ttl": (None,),
    "jobs": (None,),
    "sql": (None,),
}


def _require_of_kind(ctx: click.Context, kind: str | None, once: bool) -> None:
    """Refuse options that are for another kind, and two that exclude each other."""
    for option in ctx.command.params:
        name = option.name or ""
        kinds = _OPTIONS.get(name, (kind,))
        is_given = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if is_given and kind not in kinds:
            theirs = " or ".join(f"--kind {each}" if each else "tasks" for each in kinds)
            raise click.UsageError(f"{option.opts[0]} goes with {theirs}.")
    if once and ctx.params["until_quiet"]:
        raise click.UsageError("Give either --once or --until-quiet.")


@click.command()
@dsn_option
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How many tasks may run at once.",
)
@click.option(
    "--group",
    metavar="CODE",
    default="WORKER",
    show_default=True,
    help="The group that it belongs to: the deliver_id of the types whose tasks it takes.",
)
@click.option(
    "--ttl",
    type=click.FloatRange(min=1, max=86400),
    default=30,
    show_default=True,
    help="Seconds without a renewal after which it counts as dead, and others get its tasks.",
)
@click.option(
    "--poll",
    type=click.FloatRange(min=0.1),
    default=1,
    show_default=True,
    help="Seconds between two looks for tasks; a new task that is due is noticed at once.",
)
@click.option("--until-quiet", is_flag=True, help="Stop when nothing is due and nothing runs.")
@click.option(
    "--kind",
    type=click.Choice(list(_KINDS)),
    help="Perform what is ready of this kind, without tasks: steps of topics, loads of interfaces.",
)
@click.option(
    "--topic", "topics", metavar="GLOB", multiple=True, help="Of TOPIC: only topics like this."
)
@click.option(
    "--interface",
    "interfaces",
    metavar="GLOB",
    multiple=True,
    help="Of FACTS: only interfaces like this.",
)
@click.option(
    "--once", is_flag=True, help="Of a kind: perform what is ready now, each once, and stop."
)
@click.option(
    "--grace",
    type=click.FloatRange(min=0),
    default=20,
    show_default=True,
    help="Seconds that running tasks have to end after SIGTERM or Ctrl-C.",
)
@click.option(
    "--master",
    metavar="URL",
    help="Spark's master for jobs and topics on Spark; by default that of the job, or local[*].",
)
@click.option(
    "--jobs",
    metavar="PATTERNS",
    envvar="OMD_JOBS",
    help="Execute only these functions, as 'shop.*,etl.jobs.*'; any of your modules otherwise.",
)
@click.option(
    "--sql",
    type=click.Choice(["on", "off"]),
    default="on",
    show_default=True,
    help="off: execute no SQL of Modules and no procedure of a task.",
)
@listen_option
@click.pass_context
def worker(
    ctx: click.Context,
    /,
    dsn: str,
    listen: tuple[str, int] | None,
    jobs: str | None,
    sql: str,
    kind: str | None,
    topics: tuple[str, ...],
    interfaces: tuple[str, ...],
    once: bool,
    **settings: Any,
) -> int:
    """Perform what is due and ready, until SIGTERM or Ctrl-C.

    It runs tasks as they become due. Any number of workers may serve a group, also on several
    hosts: each task goes to one of them. A statement and a short function run in a thread; a job on
    Spark, and a function whose type has a timeout, run in a process. Handlers in Python are
    imported from where Python finds modules: install them, or name their folder in PYTHONPATH. One
    line on stderr tells each failure, and the end of each load and process. A function of Python's
    own library or of OMD is never executed; a task that is refused ends with the reason. With
    --until-quiet the exit code is 1 when an attempt has failed.

    With --kind it takes no tasks: it asks which topics, or interfaces, are ready. It looks every 10
    seconds, and at notifications; several workers, and those that take tasks, may run beside it.

    \b
    Examples:
      omd worker                                 takes tasks as they become due
      omd worker --kind TOPIC --until-quiet      takes steps until no topic is ready
      omd worker --kind TOPIC --topic 'mart.*'   takes steps of these topics for ever
      omd worker --kind FACTS                    loads what is queued
    """
    if kind is not None:
        _require_of_kind(ctx, kind, once)
        if ctx.get_parameter_source("poll") is ParameterSource.DEFAULT:
            settings["poll"] = 10
        chosen = {
            "workers": settings["workers"],
            "poll": settings["poll"],
            "grace": settings["grace"],
            "until_quiet": settings["until_quiet"],
            "once": once,
        }
        program = _KINDS[kind](dsn, settings["master"], topics or interfaces, chosen)
        with listening(listen, dsn, lambda: program.turns):
            return int(program.run())
    _require_of_kind(ctx, None, once)
    from omd._core.functions import Permitted
    from omd.programs.worker.worker import Worker

    tasks = Worker(dsn, permitted=Permitted.read(jobs, sql), **settings)
    with listening(listen, dsn, lambda: tasks.turns):
        tasks.run()
    if tasks.still_runs:
        # Others may have its tasks only when its threads are gone, and exec ends them all.
        click.echo(f"It leaves, and ends {', '.join(tasks.still_runs)}.", err=True)
        leave = python("import omd; omd.connect().calls.omd_dispatch.leave_backend(sys.argv[1])")
        environment = {**os.environ, **({"OMD_DSN": dsn} if dsn else {})}
        os.execve(leave[0], [*leave, tasks.backend_id], environment)  # noqa: S606 - our own
    return ExitCode.FAILURE if tasks.until_quiet and tasks.has_failed else ExitCode.OK


def step() -> None:
    """Take one step of a topic on Spark, tell its outcome, and exit with the code of its status."""
    import omd
    from omd.rooms.control.codes import exit_code
    from omd.rooms.lineage.step import in_words

    *masters, topic = sys.argv[1:]
    try:
        # It waits for a database that restarts.
        with omd.connect(application_name="omd-step") as control:
            spark = control._engines[SPARK]
            outcome = control._lineage.step(topic, session=lambda: spark.session(*masters))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is reported
        sys.exit(report_error(error))
    click.echo(short(in_words(outcome)), err=True)
    sys.exit(exit_code(outcome.status))
