"""The commands of dispatch."""

from __future__ import annotations

from typing import Any

import click

from omd.cli.common import Group, dsn_option


@click.group(cls=Group)
def dispatch() -> None:
    """What is due, which worker takes it, what is suspended."""


# The worker -------------------------------------------------------------------------------------


@dispatch.command()
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
@click.option("--until-quiet", is_flag=True, help="Stop when no task is due and none runs.")
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
def run(dsn: str, **told: Any) -> None:
    """Run tasks as they become due, until SIGTERM or Ctrl-C.

    Any number of workers may serve a group, also on several hosts: each task goes to one of them. A
    statement and a short function run in a thread; a job on Spark, and a function whose type has a
    timeout, run in a process. Handlers in Python are imported from where Python finds modules:
    install them, or name their folder in PYTHONPATH. One line on stderr tells each failure.
    """
    from omd.dispatch.worker import Worker

    Worker(dsn, **told).run()


commands: list[click.Command] = [dispatch]
