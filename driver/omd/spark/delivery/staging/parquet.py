"""Parquet: its columns have types, and a row is no line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import functions as F  # noqa: N812

from omd.spark.delivery.staging.files import literal
from omd.spark.delivery.staging.places import rows_in_files
from omd.spark.delivery.staging.reader import FileReader, no_columns, path_of, uri_of
from omd.spark.delivery.staging.staged import Staged


class ParquetReader(FileReader):
    """Reads Parquet; a column that only some of the files have is NULL in the others."""

    @classmethod
    def endings(cls, options: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG003 - none is about it
        """Return how the names of such files end."""
        return (".parquet",)

    def staged(self) -> Staged:
        """Return the staged rows."""
        place = stand = None
        paths = [file.path for file in self.files.listed]
        if paths:
            frame = self.spark.read.options(mergeSchema="true").parquet(*literal(paths))
            origin = path_of(uri_of(frame))
            if self.keeps_lines:
                place, stand = F.monotonically_increasing_id(), self.stand(rows_in_files(frame))
        else:
            frame = no_columns(self.spark)
            origin = F.lit(self.files.root)
        # Its bytes are packed, so nobody knows the size of its text.
        return self.typed(frame, origin, place, unchanged=self.files.unchanged, stand=stand)
