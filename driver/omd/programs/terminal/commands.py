"""Groups of commands, and their exit codes."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from enum import IntEnum

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


def meant(given: str, known: Sequence[str], command: str) -> str:
    """Return the question which of the known words of a command was meant; empty: none is near."""
    ways = " or ".join(f"'{command} {name}'" for name in difflib.get_close_matches(given, known))
    return f"Did you mean {ways}?" if ways else ""


class Helpful(click.Group):
    """A group that says what a mistyped command, or an option before its command, may mean."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; an unknown one names those that are spelled nearly so."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            question = meant(args[0], self.list_commands(ctx), ctx.command_path)
            if not question:
                raise
            raise click.UsageError(f"No such command '{args[0]}'. {question}", ctx) from error

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options of the group; those of a command stand after it."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            at = next((n for n, word in enumerate(given) if word in self.list_commands(ctx)), None)
            command = self.get_command(ctx, given[at]) if at else None
            if at is None or command is None or not _has(ctx, command, error.option_name):
                raise
            meant = " ".join([ctx.command_path, given[at], *given[:at], *given[at + 1 :]])
            raise click.UsageError(
                f"{error.option_name} is an option of '{given[at]}' and stands after it: {meant}",
                ctx,
            ) from error


def _has(ctx: click.Context, command: click.Command, option: str) -> bool:
    return any(option in parameter.opts for parameter in command.get_params(ctx))


class Group(Helpful):
    """A group that shows the whole first sentence of each command."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands; click itself would cut their sentences to one line."""
        commands = [self.get_command(ctx, name) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([entry(command) for command in commands if command is not None])


def entry(command: click.Command) -> tuple[str, str]:
    """Return a command as an entry of a list: its name and its first sentence."""
    return command.name or "", command.get_short_help_str(1000)
