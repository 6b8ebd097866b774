"""The command ``omd``: the tree of its commands, and errors turned into messages."""

from __future__ import annotations

import importlib
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from omd._core import former
from omd.programs.cli.common import report_error
from omd.programs.cli.topics import TOPICS, help_
from omd.programs.terminal.commands import ExitCode, Helpful, entry

# The tree: the commands of `omd --help`, section by section, and the module that has each by its
# name. A module imports little besides click.
_CLI, _REPORT = "omd.programs.cli", "omd.programs.report"
_SECTIONS = {
    "Every day": {
        "status": f"{_REPORT}.status",
        "show": f"{_CLI}.show",
        "log": f"{_CLI}.log",
        "run": f"{_CLI}.run",
        "retry": f"{_CLI}.retry",
        "explain": f"{_CLI}.explain",
        "apply": f"{_CLI}.apply",
        "diff": f"{_CLI}.apply",
        "deliver": f"{_CLI}.deliver",
        "worker": f"{_CLI}.worker",
    },
    "Everything else": {
        "call": f"{_CLI}.call",
        "report": f"{_REPORT}.rows",
    },
    "Repair": {
        "end": f"{_CLI}.end",
        "recall": f"{_CLI}.recall",
        "erase": f"{_CLI}.erase",
        "test": f"{_CLI}.rulesets",
        "export": f"{_CLI}.export",
        "maintain": f"{_CLI}.maintain",
    },
    "Set up": {
        "install": f"{_CLI}.install",
        "uninstall": f"{_CLI}.install",
        "doctor": f"{_CLI}.doctor",
        "embedded": f"{_CLI}.embedded",
    },
    "Programs": {
        "web": f"{_CLI}.web",
        "send": f"{_CLI}.send",
        "demo": f"{_CLI}.demo",
    },
}
_PLACES = {name: place for section in _SECTIONS.values() for name, place in section.items()}

_MANUAL = """\
Operational metadata for data platforms: which load runs, what is undone.

It lives in a PostgreSQL database, whose procedures decide; this command calls them. Anything it
does, a DBA can do in psql.
"""


class Manual(Helpful):
    """The tree of commands, and the answer to who types one of before."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands of the tree; help is the group's own."""
        return list(_PLACES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of this name."""
        if cmd_name == "help":
            return help_
        if cmd_name not in _PLACES:
            return None
        command = getattr(importlib.import_module(_PLACES[cmd_name]), cmd_name)
        assert isinstance(command, click.Command)  # noqa: S101 - the tree names it
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; who types a former one learns which has taken its place."""
        refuse_former(ctx, args)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands section by section, each on a line."""
        for title, names in _SECTIONS.items():
            commands = [self.get_command(ctx, name) for name in names]
            with formatter.section(title):
                _write_lines(formatter, [entry(command) for command in commands if command])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Say where the rest stands."""
        formatter.write(
            f"\nomd COMMAND --help says what a command does, and omd help TOPIC what all have in"
            f" common:\n{', '.join(TOPICS)}.\n"
        )


def refuse_former(context: click.Context, words: Sequence[str]) -> None:
    """Refuse a command of before, of one word or of two.

    Raises:
        click.UsageError: it is one; the message has the command of now.
    """
    for count in (2, 1):
        given = " ".join(["omd", *words[:count]])
        if len(words) >= count and (answer := former.refusal(given)) is not None:
            raise click.UsageError(f"{answer}.", context)
    below = [name for name in former.names() if name.startswith(f"omd {words[0]} ")]
    if below and words[0] not in _PLACES:
        ways = "\n".join(f"  {name}: {former.names()[name]}" for name in below)
        raise click.UsageError(
            f"omd {words[0]} has gone. Its commands, and those of now:\n{ways}", context
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
