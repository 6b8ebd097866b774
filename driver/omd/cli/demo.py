"""``omd demo``: plays the demos on the terminal."""

from __future__ import annotations

import contextlib
import importlib
import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from omd._terminal.commands import ExitCode, Group
from omd._terminal.tables import render


class _Step:
    """A line that says what is being done and, when it is done, how it ended."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._start = time.monotonic()
        self._live = sys.stdout.isatty()
        self.is_written = False
        if self._live:
            click.echo(click.style(f"  … {text}", dim=True), nl=False)

    def done(self, text: str, mark: str = "✓") -> None:
        seconds = f"{time.monotonic() - self._start:.1f} s"
        self._write(f"  {mark} {self._text:<22} {text:<46} {seconds:>6}")

    def failed(self) -> None:
        if not self.is_written:
            self._write(f"  ✗ {self._text:<22} failed")

    def _write(self, line: str) -> None:
        self.is_written = True
        click.echo(f"\r\033[K{line}" if self._live else line)


class _Terminal:
    """Tells the story on stdout."""

    def title(self, text: str) -> None:
        click.echo("\n" + click.style(text, bold=True))

    def say(self, text: str) -> None:
        click.echo(text)

    @contextlib.contextmanager
    def step(self, text: str) -> Iterator[_Step]:
        step = _Step(text)
        try:
            yield step
        finally:
            step.failed()

    def table(self, rows: Sequence[Mapping[str, Any]]) -> None:
        render(rows, list(rows[0]) if rows else [], "table")


_dsn = click.option(
    "--dsn",
    metavar="CONNINFO",
    help="Database to use, as a superuser; without it OMD_DSN, DATABASE_URL, the embedded server.",
)
_master = click.option(
    "--master",
    metavar="URL",
    help="Spark's master, such as spark://HOST:7077; without it spark-submit's, or local[*].",
)


@click.group(cls=Group, invoke_without_command=True)
@_dsn
@click.option("--quick", is_flag=True, help="Load three months instead of twelve.")
@_master
@click.pass_context
def demo(ctx: click.Context, dsn: str | None, quick: bool, master: str | None) -> int:
    """Load a year of real flights with Spark, and see what OMD does when things go wrong.

    It starts the embedded server unless a database is named, installs OMD, and loads the 336,776
    flights that left New York in 2013, month by month, as the Batch b_flights. On the way a second
    start is aborted, an administrator skips a run, and a Module fails in the middle of its write
    and is rolled back. At the end the demo proves that each row is there exactly once.

    It creates its target tables again in the schemas stg, hstg, int and pres, which must be its
    own, and may be repeated. It needs the extra demo (pip install 'pgomd[demo]') and Java 17 or
    newer.
    """
    if ctx.invoked_subcommand:
        on_spark = {"dsn": dsn, "master": master}
        ctx.default_map = {
            "lineage": on_spark,
            "dispatch": {"dsn": dsn},
            "delivery": on_spark | {"quick": quick},
            "facts": on_spark | {"quick": quick},
            "decision": on_spark | {"quick": quick},
            "lake": on_spark | {"quick": quick},
        }
        return ExitCode.OK  # the subcommand plays its own demo

    def play(database: str, folder: Path) -> bool:
        from omd.demo.control import story

        months = story.QUICK if quick else story.YEAR_LONG
        return story.play(database, folder, _Terminal(), months=months, master=master)

    return _play(dsn, play, "TABLE omd_report.module_execution_log", "docs/tutorial/control.md")


@demo.command()
@_dsn
@_master
def lineage(dsn: str | None, master: str | None) -> int:
    """Join flights and weather that arrive in pieces, and see what topics do.

    A month of flights and weather arrives out of step. A fact table joins them once both are there,
    and Spark makes a dashboard of the fact. A writer commits late, and a step of the fact and one
    on Spark are killed. At the end the demo proves that each row is there exactly once, and draws
    the lag.

    It creates its tables again in the schemas feed, etl, fact and dash, which must be its own, and
    may be repeated. It takes about a minute, and needs what omd demo needs.
    """

    def play(database: str, folder: Path) -> bool:
        from omd.demo.lineage import story

        return story.play(database, folder, _Terminal(), master=master)

    return _play(dsn, play, "TABLE omd_report.lineage_lag", "docs/tutorial/lineage.md")


@demo.command()
@_dsn
def dispatch(dsn: str | None) -> int:
    """Play a night of a small platform, and see what schedules and workers do.

    Schedules run a load of flights, topics and a procedure, as tasks that workers take. A worker is
    killed in the middle of a load, loads are suspended for a maintenance, a worker joins, and old
    tasks are purged. At the end the demo shows every task and what became of it, and proves that
    each load happened once.

    It creates its tables again in the schema night, which must be its own, and may be repeated. It
    takes less than a minute, and needs the extra demo (pip install 'pgomd[demo]'), but no Java.
    """

    def play(database: str, folder: Path) -> bool:
        from omd.demo.dispatch import story

        return story.play(database, folder, _Terminal())

    return _play(
        dsn,
        play,
        "TABLE omd_dispatch.task_data_night",
        "docs/tutorial/dispatch.md",
        needs="omd.demo.files",
        on_spark=False,
    )


@demo.command()
@_dsn
@click.option("--quick", is_flag=True, help="Deliver a week of five months only.")
@_master
def delivery(dsn: str | None, quick: bool, master: str | None) -> int:
    """Deliver a year of flights month by month, and see what is accepted.

    A tenant delivers under an agreement: a month with findings, a good one, one that is rejected,
    the flights of one carrier only, an empty file that would delete everything, and one whose
    process is killed in the middle. At the end the demo compares the Logical Validation Layer with
    the files that were accepted.

    It makes an interface nyc, or nyc_2 and so on where there is one, with its schemas. It takes
    about a minute, and needs what omd demo needs.
    """

    def play(database: str, folder: Path) -> bool:
        from omd.demo.delivery import story

        extent = story.QUICK if quick else story.YEAR_LONG
        return story.play(database, folder, _Terminal(), extent=extent, master=master)

    return _play(dsn, play, "TABLE omd_report.delivery_log", "docs/tutorial/delivery.md")


@demo.command()
@_dsn
@click.option("--quick", is_flag=True, help="Where nothing was delivered: deliver less first.")
@_master
def facts(dsn: str | None, quick: bool, master: str | None) -> int:
    """Store what was delivered, and read it as of any moment.

    It goes on where omd demo delivery ends, and plays that first where it was not played. Every
    accepted delivery becomes one commit, while somebody reads. Then a load is undone and done
    again, a desk corrects facts by plain SQL, and what must not be kept is erased with a proof. At
    the end the demo asks what was current after each load, and compares.

    It makes the schemas cfl_nyc, gdal_nyc, asof_nyc and history_nyc (or those of nyc_2 and so on),
    and needs what omd demo needs.
    """

    def play(database: str, folder: Path) -> bool:
        from omd.demo.delivery import story as delivery
        from omd.demo.facts import story

        extent = delivery.QUICK if quick else delivery.YEAR_LONG
        return story.play(database, folder, _Terminal(), extent=extent, master=master)

    return _play(dsn, play, "TABLE omd_report.facts_state", "docs/tutorial/facts.md")


@demo.command()
@_dsn
@click.option("--quick", is_flag=True, help="Decide about three months instead of twelve.")
@_master
def decision(dsn: str | None, quick: bool, master: str | None) -> int:
    """Decide what the passengers of late flights get, and explain why.

    All flights and all weather of an airport and an hour are one call of the rules. A decision
    table, drawn in an editor, decides about the year on Spark; a function in the database decides
    about January too, and both say the same. Somebody complains. At the end the demo decides about
    every flight once more, with plain Python.

    It creates its tables again in the schema care, which must be its own, and may be repeated. It
    takes about a minute, and needs what omd demo needs.
    """

    def play(database: str, folder: Path) -> bool:
        from omd.demo.decision import story

        months = story.QUICK if quick else story.YEAR_LONG
        return story.play(database, folder, _Terminal(), months=months, master=master)

    return _play(dsn, play, "TABLE omd_report.decision_run_log", "docs/tutorial/decision.md")


@demo.command()
@_dsn
@click.option("--quick", is_flag=True, help="Load three months instead of twelve.")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the tables shall lie, and stay; without it a folder beside the embedded server's.",
)
@_master
def lake(dsn: str | None, quick: bool, folder: Path | None, master: str | None) -> int:
    """Load the year into Iceberg tables, and let somebody else read them.

    Spark writes the same flights as omd demo, into four Iceberg tables whose catalogue is the
    database. In February a process is killed between its files and its commit. In March a run shows
    its rows and fails, and a change of metadata takes them back. DuckDB reads the tables meanwhile
    and sees what Spark sees, also as of February. At the end the demo proves that each month was
    loaded once.

    It makes a namespace nyc_lake, or nyc_lake_2 and so on where there is one. The tables stay. It
    takes a minute or two, and needs what omd demo needs.
    """

    def play(database: str, work: Path) -> bool:
        from omd import embedded
        from omd.demo.lake import story

        months = story.QUICK if quick else story.YEAR_LONG
        tables = (folder or embedded.default_home() / "lake").absolute()
        return story.play(database, work, _Terminal(), tables, months=months, master=master)

    return _play(
        dsn,
        play,
        "TABLE omd_report.lake_commits",
        "docs/tutorial/control.md",
        needs="omd.demo.lake.story",
    )


def _play(
    dsn: str | None,
    play: Callable[[str, Path], bool],
    query: str,
    tutorial: str,
    *,
    needs: str = "omd.demo.control.story",
    on_spark: bool = True,
) -> int:
    from omd import embedded
    from omd.errors import OmdError

    if on_spark and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        raise OmdError("Spark needs Java 17 or newer, and there is none.", hint="omd doctor")
    try:
        importlib.import_module(needs)
    except ModuleNotFoundError as error:
        raise OmdError(
            f"{error.name} is not installed.", hint="pip install 'pgomd[demo]'"
        ) from error

    start = time.monotonic()
    named = dsn or os.environ.get("OMD_DSN") or os.environ.get("DATABASE_URL") or None
    with tempfile.TemporaryDirectory(prefix="omd-demo-") as folder:
        if not named:
            click.echo(f"Starting the embedded server in {embedded.default_home()}.", err=True)
            embedded.start()
        from omd.demo.stage import without_strangers

        holds = play(without_strangers(named or embedded.dsn()), Path(folder))
    click.echo(f"\n{time.monotonic() - start:.0f} seconds. Now try:")
    for command, about in _next(dsn, query, tutorial, embedded=_is_embedded(named)):
        click.echo(f"  {command:<66} {about}")
    return ExitCode.OK if holds else ExitCode.FAILURE


def _is_embedded(named: str | None) -> bool:
    """Return whether this is the embedded server; `make demo` names it explicitly."""
    from omd import embedded

    with contextlib.suppress(embedded.EmbeddedError):
        return named in (None, embedded.status().dsn)
    return False


def _next(
    dsn: str | None, query: str, tutorial: str, *, embedded: bool
) -> Iterator[tuple[str, str]]:
    program = "omd"
    if shutil.which("omd") is None:  # the environment is not activated
        program = os.path.relpath(Path(sys.executable).with_name("omd"))
    where = shlex.quote(_without_password(dsn)) if dsn else ""
    psql = f"{program} embedded psql"
    if not embedded:
        psql = f"psql {where or ('$OMD_DSN' if os.environ.get('OMD_DSN') else '$DATABASE_URL')}"
    options = f"--dsn {where}" if where else ""
    if "lineage" in query:
        yield f"{psql} -c '{query}'", "how far each topic is, in SQL"
        yield f"{program} lineage graph {options}", "what feeds what"
    elif "delivery" in query:
        yield f"{psql} -c '{query}'", "every delivery, in SQL"
        yield f"{program} delivery receipt 3 --html r.html {options}", "why the third was rejected"
        yield f"{program} demo facts {options}", "the next demo: facts"
    elif "facts" in query:
        yield f"{psql} -c '{query}'", "how far the facts are, in SQL"
        yield (
            f"{program} facts diagram nyc --output svg > nyc.svg {options}",
            "a picture of the tables",
        )
    elif "decision" in query:
        yield f"{psql} -c '{query}'", "every run, in SQL"
        key = '{"origin": "JFK", "hour": "2013-01-13T13:00:00+00:00"}'
        explain = f"explain flight_care --key '{key}' --html why.html"
        yield f"{program} decision {explain} {options}", "why there was no money, as a page"
        yield f"{program} decision rejects flight_care {options}", "the weather of no decision"
    elif "lake" in query:
        yield f"{psql} -c '{query}'", "every commit and its run, in SQL"
        yield f"{psql} -c 'TABLE omd_report.lake_folders'", "every write, and its folder"
        yield f"{program} lake list {options}", "the tables"
    elif "dispatch" in query:
        yield f"{psql} -c '{query}'", "every task, in SQL"
        yield f"{program} report {options}", "what ran and what waits, as a page"
    else:
        yield f"{psql} -c '{query}'", "every run, in SQL"
        yield f"{program} status {options}", "what runs, has failed, is pending"
        yield f"{program} demo lake {options}", "the same year into Iceberg tables"
        yield f"{program} demo lineage {options}", "the next demo: topics"
        yield f"{program} demo dispatch {options}", "the third demo: tasks and workers"
        yield f"{program} demo delivery {options}", "the fourth demo: deliveries"
        yield f"{program} demo decision {options}", "the fifth demo: rules"
    yield tutorial, "this demo, explained step by step"


def _without_password(dsn: str) -> str:
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    given = conninfo_to_dict(dsn)
    return make_conninfo("", **{**given, "password": None}) if given.get("password") else dsn


commands = [demo]
