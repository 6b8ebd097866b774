"""Samples of rows that violate constraints (docs/explanation/delivery.md, rule Q25).

Which rows are shown is chosen on keys and masks where that is possible; of those alone the staged
columns come to the driver. Where few rows violate constraints, only they are read again.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from omd.spark.delivery.stage1 import READABLE, SKIP, Checked, has
from omd.spark.delivery.stage2.side import CODE, CODES, Side
from omd.spark.delivery.staging import unmarked
from omd.spark.delivery.staging.staged import FROM, PLACE, RAW

if TYPE_CHECKING:
    from omd.rooms.delivery.run import DeliveryRun
    from omd.spark.delivery.plan import Constraint, Plan

_OF_THE_WHOLE = ("columns", "row_count")  # they are about no single row
_NULL, _UNKNOWN = "\x00", "\ufffd"


class Samples:
    """The samples of a run."""

    def __init__(self, run: DeliveryRun, plan: Plan) -> None:
        self._run = run
        self._most = int(plan.options["max_sample_size"])
        self._taken: dict[str, list[dict[str, Any]]] = {}

    def take_checked(self, checked: Checked) -> None:
        """Register rows that violate constraints of stage 1."""
        violations = checked.measures()["violations"]
        numbers = [
            i
            for i, c in enumerate(checked.constraints)
            if c.type not in _OF_THE_WHOLE and violations[c.code]["rows"]
        ]
        if not numbers or not self._most:
            return
        key = list(checked.entity.key)
        of_key = next(i for i, c in enumerate(checked.constraints) if c.type == "primary_key")
        is_any = functools.reduce(Column.__or__, (has(i) for i in numbers))
        most = sum(violations[checked.constraints[i].code]["rows"] for i in numbers)
        rows = checked.rows_at(checked.narrow.filter(is_any).select(PLACE), most)
        is_twice: Column = F.lit(False)
        if of_key in numbers:
            # That a key is delivered twice is known of the narrow rows alone.
            twice = checked.narrow.filter(F.col(READABLE) & has(of_key)).select(*key).distinct()
            twice = twice.limit(self._most).withColumn("_twice", F.lit(True))
            rows = rows.join(F.broadcast(twice), key, "left")
            is_twice = F.coalesce(F.col("_twice") & F.col(READABLE), F.lit(False))
        marked = [F.when(has(i) | is_twice if i == of_key else has(i), F.lit(i)) for i in numbers]
        shown = rows.select(
            *_shown(key),
            F.array_compact(F.array(*marked)).alias(CODES),
            (F.col(SKIP) | is_twice).alias("is_skipped"),
            F.monotonically_increasing_id().alias("_id"),
        )
        taken = {row["_id"]: row for row in self._first(shown.filter(F.size(CODES) > 0)).collect()}
        samples = [_sample(row, _codes(checked.constraints, row[CODES])) for row in taken.values()]
        self._register(checked.entity.entity, samples)

    def take_judged(self, side: Side) -> None:
        """Register rows that violate constraints of stage 2, beside those of stage 1."""
        samples = [*self._delivered(side), *self._existing(side)] if self._most else []
        if samples:
            before = {_key(s): s for s in self._taken.get(side.name, ()) if _key(s) is not None}
            for sample in samples:
                known = before.get(_key(sample))
                if known is not None and known["origin"] == sample["origin"]:
                    # It is the same row, since a row that stage 1 skips is not judged.
                    self._taken[side.name].remove(known)
            self._register(side.name, samples)

    def _delivered(self, side: Side) -> list[dict[str, Any]]:
        if side.marks is None or side.checked is None:
            return []
        key = list(side.key)
        chosen = self._first(side.marks).select(*key, CODES).dropDuplicates(key)
        rows = side.checked.rows().filter(F.col(READABLE) & ~F.col(SKIP))
        first = side.checked.constraints
        own = [F.when(has(i), F.lit(i)) for i in range(len(first))]
        shown = rows.join(F.broadcast(chosen), key).select(
            *_shown(key),
            F.array_compact(F.array(*own)).alias("_own"),
            CODES,
            side.marked_skip().alias("is_skipped"),
        )
        return [
            _sample(row, _codes(first, row["_own"]) + _codes(side.constraints, row[CODES]))
            for row in shown.collect()
        ]

    def _existing(self, side: Side) -> list[dict[str, Any]]:
        if not side.existing_rows:
            return []
        every = functools.reduce(lambda one, other: one.unionByName(other), side.existing_rows)
        rows = every.groupBy(*side.key).agg(F.collect_set(CODE).alias(CODES))
        shown = self._first(rows).select(_record_key(side.key), CODES).distinct()
        return [
            {
                "record_key": json.loads(row["record_key"]),
                "origin": "EXISTING",
                "constraint_codes": _codes(side.constraints, row[CODES]),
                "is_skipped": False,
            }
            for row in shown.collect()
        ]

    def _first(self, rows: DataFrame) -> DataFrame:
        """Return, for each constraint, the rows that violate most; a row may come several times."""
        of_code = Window.partitionBy(CODE).orderBy(F.size(CODES).desc())
        return (
            rows.withColumn(CODE, F.explode(CODES))
            .withColumn("_place", F.row_number().over(of_code))
            .filter(F.col("_place") <= self._most)
            .drop(CODE, "_place")
        )

    def _register(self, entity: str, samples: list[dict[str, Any]]) -> None:
        taken = self._taken.setdefault(entity, [])
        taken += samples
        self._run.calls.register_samples(
            self._run.delivery_id,
            self._run.attempt,
            entity,
            taken,
        )


def _record_key(key: Sequence[str]) -> Column:
    # As texts, which the database reads as the types of the attributes.
    texts = F.struct(*(F.col(name).cast("string").alias(name) for name in key))
    return F.to_json(texts).alias("record_key")


def _shown(key: Sequence[str]) -> list[Column]:
    raw = F.to_json(
        F.col(RAW),
        {
            "ignoreNullFields": "false",
            "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
            "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
        },
    )
    return [
        F.when(F.col(READABLE), _record_key(key)).alias("record_key"),
        raw.alias("raw"),
        F.col(FROM).alias("staged_from"),
    ]


def _sample(row: Any, codes: list[str]) -> dict[str, Any]:
    key = row["record_key"]
    return {
        "record_key": None if key is None else json.loads(key),
        "origin": "DELIVERED",
        "constraint_codes": codes,
        "is_skipped": row["is_skipped"],
        "raw": _storable(json.loads(row["raw"])),
        "staged_from": row["staged_from"],
    }


def _codes(constraints: Sequence[Constraint], numbers: Sequence[int]) -> list[str]:
    return [constraints[i].code for i in sorted(numbers)]


def _key(sample: dict[str, Any]) -> str | None:
    key = sample["record_key"]
    return None if key is None else json.dumps(key, sort_keys=True)


def _storable(value: Any) -> Any:
    """Return JSON as it was staged, but without U+0000, which PostgreSQL has no place for."""
    if isinstance(value, str):
        text = unmarked(value)
        return None if text is None else text.replace(_NULL, _UNKNOWN)
    if isinstance(value, dict):
        return {_storable(k): _storable(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_storable(v) for v in value]
    return value
