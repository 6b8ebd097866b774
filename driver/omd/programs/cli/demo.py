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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from omd._core import packages, signals
from omd.programs.cli.common import checked_dsn
from omd.programs.terminal.commands import ExitCode
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


@dataclass(frozen=True, slots=True)
class _Demo:
    """A demo: what its line of the help says, and which options it takes besides --dsn."""

    about: str
    takes: tuple[str, ...] = ()


_DEMOS = {
    "control": _Demo(
        "a year of flights, month by month: aborted, skipped, failed, undone",
        ("quick", "master"),
    ),
    "lineage": _Demo("a fact of flights and weather that arrive in pieces", ("master",)),
    "dispatch": _Demo("a night of schedules and workers; it needs no Java"),
    "delivery": _Demo("a tenant delivers; what is accepted, and what is not", ("quick", "master")),
    "facts": _Demo("what was delivered, as of any moment; after delivery", ("quick", "master")),
    "decision": _Demo("what passengers of late flights get, and why", ("quick", "master")),
    "lake": _Demo("the year in Iceberg tables that DuckDB reads", ("quick", "folder", "master")),
    "platform": _Demo(
        "a night in which files appear, and workers do the rest", ("folder", "master")
    ),
    "recall": _Demo(
        "a wrong delivery is taken back, with all that was made of it", ("folder", "master")
    ),
    "web": _Demo(
        "the night of the platform beside a page, where you click",
        ("folder", "pace", "quick", "master"),
    ),
    "doors": _Demo("events of a Batch: webhooks, OpenLineage, metrics; no Java"),
    "trust": _Demo(
        "on your own server: a load is killed; all is removed at the end; no Java", ("yes",)
    ),
}
_FIRST = "control"

_HELP = f"""\
Play a demo that shows what OMD does when things go wrong, and proves at the end that all is right.

It starts the embedded server unless a database is named, and installs OMD. A demo makes schemas of
its own, tells which, and may be repeated; the tutorial of its name explains it step by step. It
takes a minute or a few, web ten. It needs the extra demo and, unless the list says otherwise, Java
17 or newer; trust needs no extra and no superuser, and asks on a terminal before it makes anything.

platform, recall and web leave the flow on:
omd call omd_dispatch.set_work --is-on false ends it.

\b
Names, the first one where none is given:
{chr(10).join(f"  {name:<9} {its.about}" for name, its in _DEMOS.items())}
"""


@click.command(help=_HELP, short_help="Play a demo; --help lists their names.")
@click.argument("name", type=click.Choice(list(_DEMOS)), metavar="[NAME]", default=_FIRST)
@click.option(
    "--dsn",
    metavar="CONNINFO",
    help="Database to use, as a superuser; without it OMD_DSN, DATABASE_URL, the embedded server.",
)
@click.option("--quick", is_flag=True, help="Load less.")
@click.option(
    "--master",
    metavar="URL",
    help="Spark's master, such as spark://HOST:7077; without it spark-submit's, or local[*].",
)
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where folders arrive, and the lake tables stay; by default beside the embedded server.",
)
@click.option(
    "--pace",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    help="Seconds for which web waits for a click; 0 waits for none.",
)
@click.option("--yes", is_flag=True, help="Do not ask before anything is made.")
@click.pass_context
def demo(context: click.Context, /, name: str, dsn: str | None, **options: Any) -> int:
    """Play a demo; its help is _HELP."""
    its = _DEMOS[name]
    for option in options:
        is_given = context.get_parameter_source(option) is not ParameterSource.DEFAULT
        if is_given and option not in its.takes:
            raise click.UsageError(f"The demo {name} has no --{option}.")
    if name == "trust":
        return _trust(checked_dsn(context, None, dsn), options["yes"])
    return _play(name, dsn, {option: options[option] for option in its.takes})


def _trust(dsn: str, yes: bool) -> int:
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


def _play(name: str, dsn: str | None, given: dict[str, Any]) -> int:
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

    if "quick" in given and name != "web":
        given["months"] = story.QUICK if given.pop("quick") else story.YEAR_LONG
    if "folder" in given:
        given["lake"] = (given.pop("folder") or embedded.default_home() / "lake").absolute()
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
        ("{omd} report flow --output mermaid {options}", "what feeds what"),
    ),
    "dispatch": (
        ("{psql} -c 'TABLE omd_dispatch.task_data_night'", "every task, in SQL"),
        ("{omd} status --html night.html {options}", "what ran and what waits, as a page"),
    ),
    "delivery": (
        ("{psql} -c 'TABLE omd_report.delivery_log'", "every delivery, in SQL"),
        ("{omd} show delivery:3 --receipt --html r.html {options}", "why the third was rejected"),
        ("{omd} demo facts {options}", "the next demo: facts"),
    ),
    "facts": (
        ("{psql} -c 'TABLE omd_report.facts_state'", "how far the facts are, in SQL"),
        (
            "{omd} show interface:nyc --output mermaid {options}",
            "a picture of the tables",
        ),
    ),
    "decision": (
        ("{psql} -c 'TABLE omd_report.decision_run_log'", "every run, in SQL"),
        (
            "{omd} explain stage:flight_care '{key}' --html why.html {options}",
            "why there was no money, as a page",
        ),
        ("{omd} report decision_reject_log {options}", "the weather of no decision"),
    ),
    "platform": (
        ("{omd} report work {options}", "what each Module does, and what it waits for"),
        ("{psql} -c 'TABLE omd_report.arrivals'", "the folders, and what became of them"),
        (
            "{omd} call omd_dispatch.set_work --is-on false {options}",
            "what the workers shall do no more",
        ),
    ),
    "web": (
        ("{omd} web {options}", "the page, as long as you like"),
        ("{psql} -c 'TABLE omd_web.action'", "what can be done, as SQL calls"),
        (
            "{omd} call omd_dispatch.set_work --is-on false {options}",
            "what the workers shall do no more",
        ),
    ),
    "recall": (
        ("{omd} show recall:1 {options}", "what was taken back, and what came again"),
        ("{psql} -c 'TABLE omd_report.superseded_decisions'", "what was decided twice"),
        (
            "{omd} call omd_dispatch.set_work --is-on false {options}",
            "what the workers shall do no more",
        ),
    ),
    "doors": (
        ("{omd} report events --newest {options}", "what was committed, newest last"),
        ("{psql} -c 'TABLE omd_report.openlineage_event'", "the same in OpenLineage"),
        ("{omd} report metrics --output prometheus {options}", "the metrics, for Prometheus"),
    ),
    "lake": (
        ("{psql} -c 'TABLE omd_report.lake_commits'", "every commit and its run, in SQL"),
        ("{psql} -c 'TABLE omd_report.lake_folders'", "every write, and its folder"),
        ("{omd} report lake_tables {options}", "the tables"),
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
