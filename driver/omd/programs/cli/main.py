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

from omd.doors.registry import ROOMS
from omd.programs.cli.common import report_error
from omd.programs.cli.topics import TOPICS, help_
from omd.programs.terminal.commands import ExitCode, Helpful, entry

# The groups of `omd --help`. Each module has a list `commands`, or of the name that follows it, and
# imports little besides click.
_SECTIONS = {
    "Set up": "omd.programs.cli.install",
    "Your own server": "omd.programs.cli.embedded",
    **{
        title: f"omd.programs.cli.{room}"
        for room, title in ROOMS.items()
        if importlib.util.find_spec(f"omd.programs.cli.{room}")
    },
    "Upkeep": "omd.programs.cli.control:upkeep",
    "Other tools": "omd.programs.cli.integrations",
    "dbt": "omd.programs.cli.dbt",
    "What happened": "omd.programs.cli.report",
    "Any routine, any view": "omd.programs.cli.call",
    "The page": "omd.programs.cli.web",
    "See it work": "omd.programs.cli.demo",
}

_MANUAL = """\
Operational metadata for data platforms: which loads run, may they run, what must be undone first.

It lives in a PostgreSQL database, whose procedures decide; this command calls them. Anything it
does, a DBA can do in psql.
"""

_EVERY_DAY = (
    "status", "show", "log", "run", "retry", "explain", "work", "register", "delivery", "dispatch",
)  # fmt: skip


class Manual(Helpful):
    """A group that reads its commands from the modules of the rooms, section by section."""

    def _sections(self) -> dict[str, list[click.Command]]:
        sections = {}
        for title, place in _SECTIONS.items():
            module, _, name = place.partition(":")
            sections[title] = list(getattr(importlib.import_module(module), name or "commands"))
        return sections

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return [*(c.name or "" for commands in self._sections().values() for c in commands), "help"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of this name."""
        for commands in (*self._sections().values(), [help_]):
            for command in commands:
                if command.name == cmd_name:
                    return command
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands of every day, and the others by group, each on a line."""
        every_day = (self.get_command(ctx, name) for name in _EVERY_DAY)
        with formatter.section("Every day"):
            _write_lines(formatter, [entry(command) for command in every_day if command])
        others = {
            title: [c.name for c in commands if c.name and c.name not in _EVERY_DAY]
            for title, commands in self._sections().items()
        }
        with formatter.section("Everything else"):
            _write_lines(formatter, [(t, ", ".join(names)) for t, names in others.items() if names])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Say where the rest stands."""
        formatter.write(
            f"\nomd COMMAND --help says what a command does, and omd help TOPIC what all have in"
            f" common:\n{', '.join(TOPICS)}.\n"
        )


def _write_lines(formatter: click.HelpFormatter, entries: Sequence[tuple[str, str]]) -> None:
    """Write each entry on a line of its own."""
    width = max(len(name) for name, _ in entries)
    for name, text in entries:
        formatter.write(f"  {name:<{width}}  {text}\n")


def _version(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from omd._core.version import __version__

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
