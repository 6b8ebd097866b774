"""The help of the command line, over the whole tree of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from omd.cli.main import cli

if TYPE_CHECKING:
    from collections.abc import Iterator


def commands(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from commands(found, (*path, name))


TREE = list(commands(cli, ()))


def command_at(path: tuple[str, ...]) -> click.Command:
    command: click.Command = cli
    for name in path:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None
        command = found
    return command


@pytest.mark.parametrize("path", TREE, ids=" ".join)
def test_no_line_of_help_is_cut_off(path: tuple[str, ...]) -> None:
    done = CliRunner().invoke(cli, [*path, "--help"], terminal_width=80)
    assert done.exit_code == 0, done.output
    usage, _, rest = done.output.partition("\n\n")
    assert usage.startswith("Usage: ")  # in the usage line ARGS... is correct
    for line in rest.splitlines():
        assert not line.endswith("..."), line


@pytest.mark.parametrize("path", TREE, ids=" ".join)
def test_every_option_has_a_word_of_help(path: tuple[str, ...]) -> None:
    for parameter in command_at(path).params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.opts
            assert parameter.help.endswith((".", "]", ")")), parameter.opts


# These print no rows: they change something, or their output has a format of its own.
SILENT = {
    "", "uninstall", "demo", "demo lineage", "demo delivery",
    "demo dispatch", "demo facts", "demo lake", "register", "register batch",
    "register module",
    "register batch-module", "register parent", "register rollback", "register area",
    "register table-type", "register event-type", "register frequency", "rename",
    "rename batch", "rename module", "retire", "retire batch", "retire module", "remove",
    "remove batch-module", "remove parent", "remove rollback", "end", "end batch",
    "end module", "set-next-run", "parameter", "parameter set", "purge", "batch", "module",
    "run", "report", "embedded", "embedded start", "embedded stop", "embedded dsn",
    "embedded psql", "lineage", "lineage register", "lineage remove", "lineage graph",
    "lineage run", "lineage retry", "lineage release", "lineage offset", "lineage restate",
    "lineage cancel-restate", "lineage undo", "dispatch", "dispatch run", "dispatch create",
    "dispatch create-many", "dispatch cancel", "dispatch reschedule", "dispatch revive",
    "dispatch suspend", "dispatch resume", "dispatch register-schedule",
    "dispatch remove-schedule", "dispatch register-family", "dispatch register-type",
    "dispatch set-custom", "dispatch set-external-name", "dispatch allow-search",
    "dispatch maintain", "dispatch purge", "dispatch set-migration-status", "model", "delivery",
    "delivery reject", "delivery cancel", "delivery revert", "delivery create", "delivery loaded",
    "delivery register-tenant", "delivery remove-tenant", "delivery register-agreement",
    "delivery persist", "delivery purge", "decision", "decision activate", "decision deactivate",
    "decision purge", "demo decision", "facts", "facts open", "facts close",
    "facts deploy", "facts sql", "facts run", "facts undo", "facts cancel-export", "lake",
}  # fmt: skip


@pytest.mark.parametrize("path", [path for path in TREE if " ".join(path) not in SILENT])
def test_every_command_that_shows_data_has_an_output_option(path: tuple[str, ...]) -> None:
    assert "output" in {parameter.name for parameter in command_at(path).params}


def test_a_log_is_named_in_the_singular_too() -> None:
    [what] = [p for p in command_at(("log",)).params if p.name == "what"]
    for name in ("modules", "batches", "events"):
        singular = {"batches": "batch"}.get(name, name.removesuffix("s"))
        assert what.type.convert(singular, what, None) == name
        assert what.type.convert(name, what, None) == name
