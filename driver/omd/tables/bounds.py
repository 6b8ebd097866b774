"""Which files may hold rows of some runs, by the bounds of the instance column."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile


class Share(Enum):
    """Which of a file's rows are of some runs."""

    NONE = "none"
    SOME = "some"  # or perhaps none: the bounds do not exclude it
    ALL = "all"


def share(file: DataFile, field_id: int, instances: Collection[int]) -> Share:
    """Return which rows of a file carry one of these instances in a column.

    Args:
        file: the file, with its statistics.
        field_id: the column.
        instances: the Module Instance IDs.
    """
    nulls = (file.null_value_counts or {}).get(field_id)
    if nulls == file.record_count:
        return Share.NONE
    low, high = bounds_of(file, field_id)
    if low is None or high is None:
        return Share.SOME  # another engine has kept no bounds
    within = sum(low <= instance <= high for instance in set(instances))
    if not within:
        return Share.NONE
    return Share.ALL if nulls == 0 and within == high - low + 1 else Share.SOME


def bounds_of(file: DataFile, field_id: int) -> tuple[int | None, int | None]:
    """Return the least and the greatest value of an integer column; None where not known."""
    return _bound(file.lower_bounds, field_id), _bound(file.upper_bounds, field_id)


def _bound(bounds: dict[int, bytes] | None, field_id: int) -> int | None:
    raw = (bounds or {}).get(field_id)
    if raw is None:
        return None
    # A column that was widened has bounds of four bytes in its older files.
    return int.from_bytes(raw, "little", signed=True)
