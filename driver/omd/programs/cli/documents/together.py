"""Files of any room, applied together: all of them or none.

What a file is, its top keys say. SQL files come first, in their order, since documents name their
tables and views; then Modules and Batches, topics, models, and at last rulesets and stages, which
read what the others make.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
import psycopg

from omd._core.errors import OmdError
from omd.programs.cli.documents.changes import Change, Documents
from omd.programs.terminal.text import short
from omd.programs.terminal.yaml_file import TextLoader, read_documents, read_json, unknown

if TYPE_CHECKING:
    from omd.doors.control import Control

# By a key of a document, which kind it is; the order of the kinds is that of their application.
SQL = "sql"
_KINDS = {
    "modules": "control",
    "batches": "control",
    "topics": "lineage",
    "topic": "lineage",
    "interface": "delivery",
    "entities": "delivery",
    "ruleset": "decision",
    "stage": "decision",
}
_ORDER = (SQL, *dict.fromkeys(_KINDS.values()))


def kind_of(path: Path) -> str | None:
    """Return the kind of a file; None: it is empty.

    Raises:
        click.UsageError: it is no document.
    """
    if path.suffix == ".sql":
        return SQL
    keys = dict(_keys(path))
    for key, kind in _KINDS.items():
        if key in keys:
            return kind
    for key, place in keys.items():
        raise unknown(place, key, _KINDS)
    return None


def _keys(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the keys of the first document of a file that is not empty, each with its place."""
    if path.suffix == ".json":
        document = read_json(path)
        if not isinstance(document, dict) or not document:
            raise click.UsageError(f"{path}: an object with one of {', '.join(_KINDS)} is expected")
        yield from ((key, str(path)) for key in document)
        return
    for document in read_documents(path, TextLoader):
        if document.value is not None:
            yield from ((key, of.place()) for key, of in document.mapping().items())
            return


def documents_of(
    paths: Sequence[Path],
    *,
    dry_run: bool = False,
    activate: bool = False,
    spark: bool | None = False,
) -> list[Documents]:
    """Return the documents of files in the order of their application.

    Args:
        paths: the files.
        dry_run: what they change is rolled back.
        activate: the versions of rulesets are activated.
        spark: whether Spark compiles models; None: where only Spark can judge them.

    Raises:
        click.UsageError: a file is no document, or has something that nothing takes.
        InvalidModel: it breaks a bound of documents.
    """
    by_kind: dict[str, list[Path]] = {kind: [] for kind in _ORDER}
    for path in paths:
        if kind := kind_of(path):
            by_kind[kind].append(path)
    documents: list[Documents] = []
    for kind, files in by_kind.items():
        if not files:
            continue
        if kind == SQL:
            from omd.programs.cli.documents.sql import SqlFile

            documents += [SqlFile(path, dry_run=dry_run) for path in files]
        elif kind == "control":
            from omd.programs.cli.documents.control import ControlFiles

            documents.append(ControlFiles(files, dry_run=dry_run))
        elif kind == "lineage":
            from omd.programs.cli.documents.lineage import TopicFiles

            documents.append(TopicFiles(files, dry_run=dry_run))
        elif kind == "delivery":
            from omd.programs.cli.documents.delivery import ModelDocument, read_model

            documents += [
                ModelDocument(
                    path,
                    read_model(path),
                    dry_run=dry_run,
                    spark=spark,
                    is_alone=len(paths) == 1,
                )
                for path in files
            ]
        else:
            from omd.programs.cli.documents.decision import DecisionFiles, read_files

            documents.append(DecisionFiles(read_files(files), dry_run=dry_run, activate=activate))
    return documents


def apply_together(control: Control, documents: Sequence[Documents]) -> list[Change]:
    """Apply documents in one transaction, or roll it back, and return what has changed.

    Raises:
        OmdError: a document is wrong; each problem of it is printed before, with its place.
    """
    changes: list[Change] = []
    for each in documents:
        each.control = control
        with _problems_printed(each):
            each.prepare()
    with control.transaction() as connection:
        for each in documents:
            each.hold()
        for each in documents:
            with _problems_printed(each):
                changes += each.apply(connection)
        if any(each.dry_run for each in documents):
            raise psycopg.Rollback
        for each in documents:
            each.finish()
    return changes


@contextmanager
def _problems_printed(documents: Documents) -> Iterator[None]:
    """Print each problem that an error lists, with its place."""
    try:
        yield
    except OmdError as error:
        for line in documents.problems(error):
            click.echo(short(line), err=True)
        raise
