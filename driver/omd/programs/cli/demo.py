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
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from omd._core import packages, signals
from omd.programs.cli.common import dsn_option
from omd.programs.terminal.commands import ExitCode, Group
from omd.programs.terminal.tables import render


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
    own, and may be repeated. It needs the extra demo and Java 17 or
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
            "platform": on_spark,
            "web": on_spark | {"quick": quick},
            "recall": on_spark,
            "doors": {"dsn": dsn},
            "trust": {"dsn": dsn},
        }
        return ExitCode.OK  # the subcommand plays its own demo

    return _play("control", dsn, quick, master=master)


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
    return _play("lineage", dsn, master=master)


@demo.command()
@_dsn
def dispatch(dsn: str | None) -> int:
    """Play a night of a small platform, and see what schedules and workers do.

    Schedules run a load of flights, topics and a procedure, as tasks that workers take. A worker is
    killed in the middle of a load, loads are suspended for a maintenance, a worker joins, and old
    tasks are purged. At the end the demo shows every task and what became of it, and proves that
    each load happened once.

    It creates its tables again in the schema night, which must be its own, and may be repeated. It
    takes less than a minute, and needs the extra demo, but no Java.
    """
    return _play("dispatch", dsn)


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
    return _play("delivery", dsn, quick, master=master)


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
    return _play("facts", dsn, quick, master=master)


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
    return _play("decision", dsn, quick, master=master)


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
    from omd.programs import embedded

    tables = (folder or embedded.default_home() / "lake").absolute()
    return _play("lake", dsn, quick, lake=tables, master=master)


@demo.command()
@_dsn
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where folders arrive, and the lake table stays; by default beside the embedded server.",
)
@_master
def platform(dsn: str | None, folder: Path | None, master: str | None) -> int:
    """Play a night in which files appear, and two workers do all the rest.

    What is declared once flows by itself: a delivery goes into the facts, a topic, a lake table and
    the decisions of a stage. A folder is half written, one is refused, and one is taken back and
    corrected. A worker is killed inside a delivery, and one while Spark writes to the lake. At the
    end the demo compares all tables with the files that were accepted.

    It makes an interface nyc_night, or nyc_night_2 and so on where there is one, with its schemas,
    and leaves the flow on: omd work off ends it. It takes about three minutes, and needs what omd
    demo needs.
    """
    from omd.programs import embedded

    tables = (folder or embedded.default_home() / "lake").absolute()
    return _play("platform", dsn, lake=tables, master=master)


@demo.command()
@_dsn
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where folders arrive, and the lake table stays; by default beside the embedded server.",
)
@_master
def recall(dsn: str | None, folder: Path | None, master: str | None) -> int:
    """Take a wrong delivery in the middle back, with all that was made of it.

    Five deliveries go through facts, topics, totals, rules and a lake table, and the third was
    wrong. The demo shows what was made of it, takes it back in one transaction, and lets the flow
    make again what is right. It compares all tables with the files that were right, explains a
    value, and erases a carrier.

    It makes an interface nyc_recall, or nyc_recall_2 and so on where there is one, with its
    schemas, and leaves the flow on: omd work off ends it. It takes about three minutes, and needs
    what omd demo needs.
    """
    from omd.programs import embedded

    tables = (folder or embedded.default_home() / "lake").absolute()
    return _play("recall", dsn, lake=tables, master=master)


@demo.command()
@_dsn
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where folders arrive, and the lake table stays; by default beside the embedded server.",
)
@click.option(
    "--pace",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    help="Seconds for which it waits for a click; 0 waits for none.",
)
@click.option("--quick", is_flag=True, help="Play two folders instead of five.")
@_master
def web(dsn: str | None, folder: Path | None, pace: float, quick: bool, master: str | None) -> int:
    """Play the night of the platform beside an open page, and click.

    It starts omd web and says what to look at. Folders appear, one is half written, one is refused
    and one is wrong: you undo its load. Then you suspend the work of the database for a
    maintenance, and let it go on. Where nobody clicks in time, the demo sends the same statement.
    At the end it shows who did what and why, and compares all tables with the accepted files.

    It makes what omd demo platform makes, and leaves the flow on: omd work off ends it. The page
    ends with it. It takes about ten minutes, and needs what omd demo needs.
    """
    from omd.programs import embedded

    tables = (folder or embedded.default_home() / "lake").absolute()
    return _play("web", dsn, lake=tables, pace=pace, quick=quick, master=master)


@demo.command()
@_dsn
def doors(dsn: str | None) -> int:
    """Let a Batch fail and succeed, and see what others learn of it.

    A Batch fails, is mended and succeeds. A small server in this process receives its events as
    signed webhooks; it goes down in the middle, and comes back. The demo shows the same events in
    OpenLineage and the metrics that have changed. At the end it proves that each event has arrived,
    in order, and that what came again had the same bytes.

    It creates its tables again in the schema doors, which must be its own, and may be repeated. It
    takes less than a minute, and needs the extra demo, but no Java.
    """
    return _play("doors", dsn)


@demo.command()
@dsn_option
@click.option("--yes", is_flag=True, help="Do not ask before anything is made.")
def trust(dsn: str, yes: bool) -> int:
    """Try OMD on your own server: kill a load, see it repaired, and find the server as it was.

    It installs OMD where there is none, loads 100,000 rows by a program that is killed by SIGKILL
    in the middle, starts it again, and proves that each row is there once. It shows WAL and bytes,
    and removes all that it has made, also after Ctrl-C. Where others work with OMD in the database,
    it makes a database of its own for it.

    It needs no superuser: what omd install needs is enough, and CREATEDB where OMD is there
    already. It needs no Java and no extra, and takes less than a minute. On a terminal it asks
    before it makes anything.
    """
    from omd.programs.demo.trust import place, story

    start = time.monotonic()
    where = place.look(dsn)
    for line in where.plan():
        click.echo(line, err=True)
    if not yes and sys.stdin is not None and sys.stdin.isatty():
        click.confirm("Go on?", abort=True, err=True)
    with signals.raised():
        holds = story.play(where, _Terminal())
    click.echo(f"\n{time.monotonic() - start:.0f} seconds. Now try:")
    click.echo(
        "  omd install --plan                  what an installation would do, change nothing"
    )
    click.echo("  omd doctor                          what is wrong here, and how to mend it")
    return ExitCode.OK if holds else ExitCode.FAILURE


def _play(name: str, dsn: str | None, is_short: bool | None = None, **given: Any) -> int:
    from omd.errors import OmdError
    from omd.programs import embedded

    on_spark = "master" in given
    if on_spark and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        raise OmdError("Spark needs Java 17 or newer, and there is none.", hint="omd doctor")
    try:
        if on_spark:
            importlib.import_module("pyspark")
        story = importlib.import_module(f"omd.programs.demo.{name}.story")
    except ModuleNotFoundError as error:
        raise OmdError(f"{error.name} is not installed.", hint=packages.install("demo")) from error
    from omd.programs.demo.stage import without_strangers

    if is_short is not None:
        given["months"] = story.QUICK if is_short else story.YEAR_LONG
    start = time.monotonic()
    named = dsn or os.environ.get("OMD_DSN") or os.environ.get("DATABASE_URL") or None
    with tempfile.TemporaryDirectory(prefix="omd-demo-") as folder:
        if not named:
            click.echo(f"Starting the embedded server in {embedded.default_home()}.", err=True)
            embedded.start()
        database = without_strangers(named or embedded.dsn())
        with signals.raised():  # so the workers of the story end with it
            holds = story.play(database, Path(folder), _Terminal(), **given)
    click.echo(f"\n{time.monotonic() - start:.0f} seconds. Now try:")
    psql, omd, options = _programs(dsn, embedded=_is_embedded(named))
    key = '{"origin": "JFK", "hour": "2013-01-13T13:00:00+00:00"}'
    tutorial = "docs/tutorial/" + ("control" if name == "lake" else name) + ".md"
    for command, about in (*_NEXT[name], (tutorial, "this demo, explained step by step")):
        shown = command.format(psql=psql, omd=omd, options=options, key=key)
        click.echo(f"  {shown:<66} {about}")
    return ExitCode.OK if holds else ExitCode.FAILURE


# What one may do after each demo.
_NEXT = {
    "control": (
        ("{psql} -c 'TABLE omd_report.module_execution_log'", "every run, in SQL"),
        ("{omd} status {options}", "what runs, has failed, is pending"),
        ("{omd} demo lake {options}", "the same year into Iceberg tables"),
        ("{omd} demo lineage {options}", "the next demo: topics"),
        ("{omd} demo dispatch {options}", "the third demo: tasks and workers"),
        ("{omd} demo delivery {options}", "the fourth demo: deliveries"),
        ("{omd} demo decision {options}", "the fifth demo: rules"),
        ("{omd} demo doors {options}", "a demo of events, webhooks and metrics"),
    ),
    "lineage": (
        ("{psql} -c 'TABLE omd_report.lineage_lag'", "how far each topic is, in SQL"),
        ("{omd} lineage graph {options}", "what feeds what"),
    ),
    "dispatch": (
        ("{psql} -c 'TABLE omd_dispatch.task_data_night'", "every task, in SQL"),
        ("{omd} report {options}", "what ran and what waits, as a page"),
    ),
    "delivery": (
        ("{psql} -c 'TABLE omd_report.delivery_log'", "every delivery, in SQL"),
        ("{omd} delivery receipt 3 --html r.html {options}", "why the third was rejected"),
        ("{omd} demo facts {options}", "the next demo: facts"),
    ),
    "facts": (
        ("{psql} -c 'TABLE omd_report.facts_state'", "how far the facts are, in SQL"),
        (
            "{omd} facts diagram nyc --output svg > nyc.svg {options}",
            "a picture of the tables",
        ),
    ),
    "decision": (
        ("{psql} -c 'TABLE omd_report.decision_run_log'", "every run, in SQL"),
        (
            "{omd} decision explain flight_care --key '{key}' --html why.html {options}",
            "why there was no money, as a page",
        ),
        ("{omd} decision rejects flight_care {options}", "the weather of no decision"),
    ),
    "platform": (
        ("{omd} work {options}", "what each Module does, and what it waits for"),
        ("{psql} -c 'TABLE omd_report.arrivals'", "the folders, and what became of them"),
        ("{omd} work off {options}", "what the workers shall do no more"),
    ),
    "web": (
        ("{omd} web {options}", "the page, as long as you like"),
        ("{psql} -c 'TABLE omd_web.action'", "what can be done, as SQL calls"),
        ("{omd} work off {options}", "what the workers shall do no more"),
    ),
    "recall": (
        ("{omd} recall show 1 {options}", "what was taken back, and what came again"),
        ("{psql} -c 'TABLE omd_report.superseded_decisions'", "what was decided twice"),
        ("{omd} work off {options}", "what the workers shall do no more"),
    ),
    "doors": (
        ("{omd} event list {options}", "what was committed, newest last"),
        ("{psql} -c 'TABLE omd_report.openlineage_event'", "the same in OpenLineage"),
        ("{omd} metrics {options}", "the metrics, for Prometheus"),
    ),
    "lake": (
        ("{psql} -c 'TABLE omd_report.lake_commits'", "every commit and its run, in SQL"),
        ("{psql} -c 'TABLE omd_report.lake_folders'", "every write, and its folder"),
        ("{omd} lake list {options}", "the tables"),
    ),
}


def _is_embedded(named: str | None) -> bool:
    """Return whether this is the embedded server; `make demo` names it explicitly."""
    from omd.programs import embedded

    with contextlib.suppress(embedded.EmbeddedError):
        return named in (None, embedded.status().dsn)
    return False


def _programs(dsn: str | None, *, embedded: bool) -> tuple[str, str, str]:
    """Return psql and omd as one calls them here, and the options of omd."""
    program = "omd"
    if shutil.which("omd") is None:  # the environment is not activated
        program = os.path.relpath(Path(sys.executable).with_name("omd"))
    where = shlex.quote(_without_password(dsn)) if dsn else ""
    psql = f"{program} embedded psql"
    if not embedded:
        psql = f"psql {where or ('$OMD_DSN' if os.environ.get('OMD_DSN') else '$DATABASE_URL')}"
    return psql, program, f"--dsn {where}" if where else ""


def _without_password(dsn: str) -> str:
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    given = conninfo_to_dict(dsn)
    return make_conninfo("", **{**given, "password": None}) if given.get("password") else dsn


commands = [demo]
