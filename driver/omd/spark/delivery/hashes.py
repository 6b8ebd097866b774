"""The hash of a row: 128 bits over (ordinal, value) of the attributes that are not NULL.

NULLs do not shift what follows, and an attribute that a model adds changes nothing until it has
values. Equal hashes mean equal rows; rows of the same attribute types are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

if TYPE_CHECKING:
    from omd.spark.delivery.plan import Attribute

HASH_A, HASH_B = "_hash_a", "_hash_b"
_SALT = 7_046_029_254_386_353_131  # any constant: it makes the second hash another function


def row_hash(
    attributes: Iterable[Attribute],
    column_of: Callable[[str], Column],
    key: Collection[str] = (),
) -> tuple[Column, Column]:
    """Return the two halves of the hash of a row, bigints that are never NULL.

    Args:
        attributes: the attributes of the entity.
        column_of: returns the typed column of an attribute.
        key: the attributes of the primary key, which are left out: compared rows have equal ones.
    """
    parts: list[Column] = []
    for attribute in sorted(attributes, key=lambda a: a.ordinal):
        if attribute.name not in key:
            value = column_of(attribute.name)
            # xxhash64 passes NULLs over, so the ordinal must be NULL where the value is.
            parts += [F.when(value.isNotNull(), F.lit(attribute.ordinal)), value]
    return F.xxhash64(F.lit(0), *parts), F.xxhash64(F.lit(_SALT), *parts)
