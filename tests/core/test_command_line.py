"""The help of the command line, over the whole tree of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.testing import CliRunner

from omd.programs.cli.main import cli
from support.offenders import assert_none

if TYPE_CHECKING:
    from collections.abc import Iterator


def commands(
    command: click.Command, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from commands(found, (*path, name))


TREE = dict(commands(cli, ()))


def cut_off(path: tuple[str, ...]) -> Iterator[str]:
    done = CliRunner().invoke(cli, [*path, "--help"], terminal_width=80)
    if done.exit_code != 0:
        yield done.output
    usage, _, rest = done.output.partition("\n\n")
    if not usage.startswith("Usage: "):  # in the usage line ARGS... is correct
        yield usage
    yield from (line for line in rest.splitlines() if line.endswith("..."))


def test_no_line_of_help_is_cut_off() -> None:
    assert len(TREE) > 20
    assert_none((" ".join(path), line) for path in TREE for line in cut_off(path))


def test_every_option_has_a_word_of_help() -> None:
    assert_none(
        (" ".join(path), f"{parameter.opts}: {parameter.help}")
        for path, command in TREE.items()
        for parameter in command.params
        if isinstance(parameter, click.Option)
        if not (parameter.help and parameter.help.endswith((".", "]", ")")))
    )


# These print no rows: they change something, or their output has a format of its own.
SILENT = {
    "send", "web", "worker",
    "", "uninstall", "demo",
    "dbt", "lineage import",
    "help", "register", "register batch",
    "register module",
    "register batch-module", "register parent", "register rollback", "register area",
    "register table-type", "register event-type", "register frequency", "rename",
    "rename batch", "rename module", "retire", "retire batch", "retire module", "remove",
    "remove batch-module", "remove parent", "remove rollback", "end", "end batch",
    "end module", "server confirm",
    "set-next-run", "parameter", "parameter set", "purge", "batch", "module",
    "run", "embedded", "embedded start", "embedded stop", "embedded dsn",
    "embedded psql", "lineage", "lineage register", "lineage remove", "lineage graph",
    "lineage run", "lineage release", "lineage offset", "lineage restate",
    "lineage cancel-restate", "lineage undo", "dispatch", "dispatch run", "dispatch create",
    "dispatch create-many", "dispatch cancel", "dispatch reschedule", "dispatch revive",
    "dispatch suspend", "dispatch resume", "dispatch register-schedule",
    "dispatch remove-schedule", "dispatch register-source", "dispatch register-family",
    "dispatch register-type",
    "dispatch set-custom", "dispatch set-external-name", "dispatch allow-search",
    "dispatch maintain", "dispatch purge", "dispatch set-migration-status", "model", "delivery",
    "retry", "delivery forget",
    "delivery reject", "delivery cancel", "delivery revert", "delivery create", "delivery loaded",
    "delivery register-tenant", "delivery remove-tenant", "delivery register-agreement",
    "delivery persist", "decision", "decision activate", "decision deactivate",
    "facts", "facts open", "facts close",
    "facts deploy", "facts sql", "facts run", "facts undo", "facts cancel-export",
    "recall drop",
}  # fmt: skip


def test_every_command_that_shows_data_has_an_output_option() -> None:
    shows = {" ".join(path): command for path, command in TREE.items()}
    assert_none(
        (path, "it has no option --output")
        for path, command in shows.items()
        if path not in SILENT and "output" not in {parameter.name for parameter in command.params}
    )
