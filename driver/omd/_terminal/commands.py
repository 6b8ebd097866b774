"""Groups of commands, and their exit codes."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import click


class ExitCode(IntEnum):
    """Exit codes of every command."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    SKIPPED = 3
    ABORTED = 4
    NEEDS_INSTALL = 5
    NO_CONNECTION = 6
    REJECTED = 7


class Group(click.Group):
    """A group that shows the whole first sentence of each command."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands; click itself would cut their sentences to one line."""
        commands = [self.get_command(ctx, name) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([entry(command) for command in commands if command is not None])


class Sections(Group):
    """A group whose help has sections; `section` names that of the commands that come next."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._sections: dict[str, list[click.Command]] = {}
        self.section("Commands")

    def section(self, title: str) -> None:
        """Begin a section, or go on with it."""
        self._current = self._sections.setdefault(title, [])

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command to the current section."""
        super().add_command(cmd, name)
        self._current.append(cmd)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, one section after the other."""
        for title, commands in self._sections.items():
            if commands:
                with formatter.section(title):
                    formatter.write_dl([entry(command) for command in commands])


def entry(command: click.Command) -> tuple[str, str]:
    """Return a command as an entry of a list: its name and its first sentence."""
    return command.name or "", command.get_short_help_str(1000)
