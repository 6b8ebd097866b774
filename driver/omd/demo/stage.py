"""What the stories of the demos share: the place where they are shown, and how they get ready."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from psycopg.conninfo import conninfo_to_dict, make_conninfo

import omd
from omd import install
from omd.spark.engine import SHORT_LIFE

if TYPE_CHECKING:
    import psycopg
    from pyspark.sql import SparkSession

SUBMIT_ARGS = " ".join(
    [*(f'--conf "{name}={value}"' for name, value in SHORT_LIFE.items()), "pyspark-shell"]
)
"""The same for the JVM of another process, as PYSPARK_SUBMIT_ARGS."""


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


def install_omd(connection: psycopg.Connection[Any], screen: Screen) -> None:
    """Begin the story: install OMD if it is missing, or older."""
    screen.title("Getting ready")
    with screen.step("omd install") as step:
        changed = install.needs_install(connection)
        install.install(connection)
        step.done(f"OMD {omd.__version__} {'is installed' if changed else 'was there'}")


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


def session(log: Path, master: str | None) -> SparkSession:
    """Return a session whose JVM writes its messages to a log file, not to the terminal."""
    from omd.spark import session as spark_session
    from omd.spark.sessions import standard_error

    with log.open("w") as file, standard_error(file.fileno()):
        return spark_session(master, SHORT_LIFE)
