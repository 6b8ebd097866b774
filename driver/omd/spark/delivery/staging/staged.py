"""Staged rows: what every reader returns, and the names of its columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

if TYPE_CHECKING:
    from omd.spark.delivery.staging.files import Files

RAW, FROM, BAD, TORN, PLACE = "_raw", "_from", "_bad", "_torn", "_place"
HEAD = "_head"
ABOUT = (FROM, BAD, TORN, HEAD, PLACE)  # the columns that are about a staged row


@dataclass(frozen=True)
class Staged:
    """The staged rows of an entity.

    A staged row is ``_raw``, a struct of the staged columns. They stay in it, because a tenant
    names its columns as it likes. Beside it are the columns of `ABOUT`.

    Attributes:
        entity: its name.
        frame: the rows, with these columns:

            * ``_raw``: the struct of the staged columns;
            * ``_from``: the file or the table;
            * ``_bad``: the row can't be read, or has another number of fields;
            * ``_torn``: the row is a part of a record that goes on in the next line;
            * ``_head``: the row is written as the header of its file; it is bad too;
            * ``_place``: the number of its line, the same in each scan; NULL where a row is no
              line, and nobody keeps where it stands.
        values: the same rows in less time: ``_from`` is NULL, and the values of a regular line are
            not in ``_raw``, but in the columns of `read_regular`. It is ``frame`` where there
            is no such way.
        columns: the names of the staged columns.
        findings: how many of each finding there are.
        missing: the columns that attributes are read from and that were not handed over.
        headers: how many rows are headers.
        unchanged: raises `StagingChanged` when the source is not what was read.
        whole: stages the rows again by records: it is called where a row is torn, or where not
            just ``headers`` rows are written as headers. None where rows are whole anyway.
        at: returns the frame of the rows at some places, of which each task has all; lines of
            other places are not parsed. None where rows are no lines.
        stand: adds to rows that have ``_place`` the number of their file and their line there,
            in the place of it. None where that is not kept, or not known.
        size: how many bytes of text it has at most; None where nobody knows before it is read.
        files: the files; None where it was handed over as rows.
    """

    entity: str
    frame: DataFrame
    values: DataFrame
    columns: tuple[str, ...]
    findings: Mapping[str, int] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    headers: int = 0
    unchanged: Callable[[], None] = lambda: None
    whole: Callable[[], Staged] | None = None
    at: Callable[[DataFrame], DataFrame] | None = None
    stand: Callable[[DataFrame], DataFrame] | None = None
    size: int | None = None
    files: Files | None = None

    def in_one_task(self) -> Staged:
        """Return it in one partition."""
        whole = self.whole
        frame = self.frame.coalesce(1)
        return replace(
            self,
            frame=frame,
            values=frame,
            whole=None if whole is None else lambda: whole().in_one_task(),
            at=None,
        )


def flat(staged: Staged) -> DataFrame:
    """Return the staged columns by their names, as expressions of the model see them."""
    return staged.frame.select(
        RAW, *(F.col(RAW).getField(c).alias(c) for c in staged.columns), *ABOUT
    )
