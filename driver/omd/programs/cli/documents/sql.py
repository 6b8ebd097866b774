"""SQL files, which are executed as they are, and which rows they write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omd.programs.cli.documents.changes import Change, Documents
from omd.programs.terminal.yaml_file import broken

if TYPE_CHECKING:
    import psycopg

# What may hold a word that is no command: comments, texts, names, and the bodies of routines.
_INSIDE = re.compile(
    r"--[^\n]*|/\*.*?\*/|[eE]'(?:\\.|''|[^'\\])*'|'(?:''|[^'])*'|\"(?:\"\"|[^\"])*\""
    r"|\$(\w*)\$.*?\$\1\$|BEGIN\s+ATOMIC\b.*?\bEND\b",
    re.DOTALL | re.IGNORECASE,
)
_ENDING = re.compile(
    r"(?:^|;)\s*(BEGIN|START\s+TRANSACTION|COMMIT|ABORT|END|PREPARE\s+TRANSACTION"
    r"|ROLLBACK(?!\s+(?:(?:WORK|TRANSACTION)\s+)?TO\b))\b",
    re.IGNORECASE,
)
_WRITTEN = """
SELECT t.schemaname, t.relname, t.n_tup_ins, t.n_tup_upd, t.n_tup_del
FROM pg_catalog.pg_stat_xact_all_tables AS t
ORDER BY t.schemaname, t.relname
"""
_NONE = [0, 0, 0]


class SqlFile(Documents):
    """A SQL file; what it changes are the rows that it has written."""

    def __init__(self, path: Path, *, dry_run: bool) -> None:
        super().__init__(dry_run=dry_run)
        self.path = path
        try:
            self.text = path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise broken(path, error) from None
        bare = _INSIDE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), self.text)
        if ending := _ENDING.search(bare):
            line = bare.count("\n", 0, ending.start(1)) + 1
            raise click.UsageError(
                f"{path}:{line}: {ending[1].upper()} would end the transaction, in which all files"
                " are applied or none; leave it out, or execute the file in psql"
            )

    def apply(self, connection: psycopg.Connection[Any]) -> Iterator[Change]:
        """Execute the file."""
        before = _written(connection)
        connection.execute(self.text.encode())
        for table, counts in _written(connection).items():
            added = [n - m for n, m in zip(counts, before.get(table, _NONE), strict=True)]
            rows = [
                f"{count:,} {word}"
                for count, word in zip(added, ("inserted", "updated", "deleted"), strict=True)
                if count
            ]
            if rows:
                yield Change(str(self.path), table, None, f"rows: {', '.join(rows)}")


def _written(connection: psycopg.Connection[Any]) -> dict[str, list[int]]:
    """Return how many rows of each table this session has written and not yet reported."""
    written: dict[str, list[int]] = {}
    for schema, table, *counts in connection.execute(_WRITTEN):
        if not schema.startswith("pg_toast"):
            name = "definitions" if schema == "pg_catalog" else f"{schema}.{table}"
            before = written.get(name, _NONE)
            written[name] = [n + m for n, m in zip(counts, before, strict=True)]
    return written
