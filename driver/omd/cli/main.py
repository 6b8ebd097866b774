"""The command ``omd``: it finds the commands of every room, and turns errors into messages."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from omd._rooms import ROOMS, schema_of
from omd._terminal.commands import ExitCode, Helpful, entry
from omd.cli.common import report_error

# The sections of `omd --help`. Each module has a list `commands`, and imports little besides click.
_SECTIONS = {
    "Set up": "omd.cli.install",
    "A server of your own": "omd.cli.embedded",
    **{
        title: f"omd.{room}.cli"
        for room, title in ROOMS.items()
        if importlib.util.find_spec(f"omd.{room}.cli")
    },
    "Other tools": "omd.integrations.cli",
    "dbt": "omd.cli.dbt",
    "What happened": "omd.report.cli",
    "The page": "omd.cli.web",
    "See it work": "omd.cli.demo",
}

_MANUAL = f"""\
Operational metadata for data platforms: which loads run, may they run, what must be undone first.

OMD lives in a PostgreSQL database, in the schemas {", ".join(map(schema_of, ROOMS))},
omd_web and omd_report.
Its procedures decide; this command calls them. Anything it does, a DBA can do in psql.
"""

_EPILOG = """\
\b
Which database:
  1. --dsn CONNINFO            a URL (postgresql://user@host/db) or the key=value form of libpq
  2. OMD_DSN, DATABASE_URL     the same, from the environment
  3. PGHOST, PGSERVICE, ...    libpq's own settings, when any of them is set
  4. the embedded server       when it runs (omd embedded start)
  5. libpq's defaults          the local server, a database named like you

\b
Environment:
  OMD_DSN, DATABASE_URL        the database, see above
  OMD_HOME                     data folder of the embedded server; otherwise .omd in the working
                               directory if it is there, otherwise the platform's data folder
  OMD_BATCH_INSTANCE_ID        the Batch Instance that a job started elsewhere joins
  OMD_DEBUG                    set to 1, it is like --debug

\b
Exit codes:
  0  done                      4  aborted: it must not run now
  1  failed                    5  the database needs: omd install
  2  wrong usage               6  no connection to the database
  3  skipped: it need not run  7  rejected: a delivery is not acceptable

\b
Examples:
  omd embedded start && omd install      a server of your own, ready in seconds
  omd embedded psql                      a psql prompt on it
  omd doctor                             checks what is needed, and says what to do
  omd install --plan --dsn "$PROD"       shows what an upgrade would do
  omd status --output json | jq .        data goes to stdout, everything else to stderr
"""


class Manual(Helpful):
    """A group that reads its commands from the modules of the rooms, section by section."""

    def _sections(self) -> dict[str, list[click.Command]]:
        return {
            title: list(importlib.import_module(module).commands)
            for title, module in _SECTIONS.items()
        }

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return [c.name or "" for commands in self._sections().values() for c in commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of this name."""
        for commands in self._sections().values():
            for command in commands:
                if command.name == cmd_name:
                    return command
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, one section after the other."""
        for title, commands in self._sections().items():
            with formatter.section(title):
                formatter.write_dl([entry(command) for command in commands])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the epilog as it is; click would indent it."""
        formatter.write("\n" + _EPILOG.replace("\b\n", ""))


def _version(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from omd._version import __version__

        click.echo(f"omd {__version__}")
        ctx.exit()


@click.group(
    cls=Manual,
    help=_MANUAL,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("-v", "--verbose", is_flag=True, help="Say on stderr what is being done.")
@click.option("--debug", is_flag=True, help="Like --verbose; errors show where they were raised.")
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Print the version and stop.",
)
def cli(verbose: bool, debug: bool) -> None:
    """Run the command; its help is _MANUAL."""
    if verbose or debug:
        logging.basicConfig(stream=sys.stderr, format="%(name)s: %(message)s")
        logging.getLogger("omd").setLevel(logging.DEBUG if debug else logging.INFO)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit with one of the codes of `ExitCode`."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(_run(arguments))


def _run(arguments: list[str]) -> int:
    try:
        result: Any = cli.main(arguments, prog_name="omd", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        return ExitCode.FAILURE
    except BrokenPipeError:  # the reader of stdout, such as head, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK
    except Exception as error:
        if os.environ.get("OMD_DEBUG", "0") != "0" or "--debug" in arguments:
            raise
        return report_error(error)
    return result if isinstance(result, int) else ExitCode.OK
