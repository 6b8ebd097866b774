"""The source of a delivery: what the arguments of `deliver` name, read once at the door.

Behind the door a source is one of three kinds. Nobody asks there whether a text is a path or the
word postgres, or what the values of a mapping are.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from omd._core.errors import CallerError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_STAGING = "postgres"  # the only staging so far


@dataclass(frozen=True, slots=True)
class SourceFolder:
    """A folder with files, or folders of files, that have the names of entities."""

    path: str


@dataclass(frozen=True, slots=True)
class SourceByEntity:
    """A path of files, or a DataFrame, for each entity by its name."""

    paths: Mapping[str, str]
    frames: Mapping[str, DataFrame]

    @property
    def entities(self) -> list[str]:
        """The names of the entities."""
        return [*self.paths, *self.frames]


@dataclass(frozen=True, slots=True)
class SourceTables:
    """The staging tables of the agreement, which the database knows."""


Source: TypeAlias = SourceFolder | SourceByEntity | SourceTables


def source_of(
    *,
    entities: Mapping[str, Any] | None = None,
    files: str | os.PathLike[str] | None = None,
    staging: str | None = None,
) -> Source:
    """Return the source that the arguments of `deliver` name.

    Args:
        entities: DataFrames, or paths of files, by entity.
        files: a folder.
        staging: ``"postgres"``.

    Raises:
        CallerError: none or several of them are given, or there is no such staging.
    """
    if sum(argument is not None for argument in (entities, files, staging)) != 1:
        raise CallerError(
            "a delivery is handed over in one way",
            hint="Give entities={entity: DataFrame or path}, files='folder/' or"
            " staging='postgres'.",
        )
    if entities is not None:
        paths = {n: os.fspath(v) for n, v in entities.items() if isinstance(v, (str, os.PathLike))}
        frames = {name: value for name, value in entities.items() if name not in paths}
        return SourceByEntity(paths, frames)
    if files is not None:
        return SourceFolder(str(files))
    if staging != _STAGING:
        raise CallerError(f"there is no staging {staging}", hint="It may be 'postgres'.")
    return SourceTables()
