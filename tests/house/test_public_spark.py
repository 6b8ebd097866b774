"""Only what Spark promises is used of it, so that its next minor version breaks nothing.

`spark/sessions.py` alone knows what is no part of the public API. The files of `NOT_YET` still use
more; the set only shrinks, and a file in it that is clean fails.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from support.offenders import assert_none

ROOT = Path(__file__).parents[2]
EXEMPT = {
    "driver/omd/spark/sessions.py",
    "driver/omd/spark/whole_input.py",
    "tests/spark/old_look.py",  # what the looks at a model's SQL are compared with
}
NOT_YET = {
    "driver/omd/spark/delivery/arrivals.py",
    "driver/omd/spark/hadoop.py",
    "tests/spark/cluster_job.py",
    "tests/spark/connect_job.py",
    "tests/spark/killed_jobs.py",
    "tests/spark/own_session_job.py",
    "tests/spark/test_data_source.py",
    "tests/spark/test_delivery_cli.py",
    "tests/spark/test_delivery_run.py",
    "tests/spark/test_python_of_workers.py",
    "tests/spark/test_read.py",
    "tests/spark/test_rollback.py",
    "tests/spark/test_session.py",
}
FORBIDDEN = re.compile(
    r"\bpy4j\b|\b[sS]parkContext\b|\bpyspark\.sql\.(?:pandas|classic|connect)\b"
    r"|\bpyspark\.errors\.exceptions\b"
)
# `x._name` and `getattr(x, "_name")`, but for what an object has of its own.
PRIVATE = re.compile(
    r"""(?<!\bself)(?<!\bcls)\.(_[a-z]\w*)|\b(?:get|has|set)attr\([^,()]+, ["'](_[a-z]\w*)"""
)
DEFINED = re.compile(
    r"(?:\bself\.|\bcls\.|\bdef |\bclass )(_[a-z]\w*)|^(_[a-z]\w*)\b", re.MULTILINE
)


def names_in(texts: list[str]) -> set[str]:
    return {one or other for text in texts for one, other in DEFINED.findall(text)}


@cache
def texts() -> dict[str, str]:
    """Return the files of the driver and of its tests with Spark."""
    return {
        file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8")
        for folder in ("driver", "tests/spark")
        for file in sorted((ROOT / folder).rglob("*.py"))
    }


@cache
def private_names() -> set[str]:
    """Return the private names of PySpark's sessions, frames and contexts that are not ours too."""
    import pyspark

    core = Path(pyspark.__file__).parent
    folders = (core, core / "sql", core / "sql/classic", core / "sql/connect")
    theirs = [f.read_text(encoding="utf-8") for folder in folders for f in folder.glob("*.py")]
    return names_in(theirs) - names_in([*texts().values()])


def offences(text: str) -> list[str]:
    used = {one or other for one, other in PRIVATE.findall(text)}
    return sorted({*FORBIDDEN.findall(text), *(used & private_names())})


def test_only_the_public_api_of_spark_is_used() -> None:
    told = []
    for name, text in texts().items():
        found = [] if name in EXEMPT else offences(text)
        if name in NOT_YET and not found:
            told.append((name, "it is clean: take it out of NOT_YET"))
        elif found and name not in NOT_YET:
            told.append((name, ", ".join(found)))
    told += [(name, "it is no file: take it out of NOT_YET") for name in NOT_YET - {*texts()}]
    assert_none(told)


def test_types_are_mapped_to_arrow_as_spark_maps_them() -> None:
    # Its own functions are not public: they took other arguments in 4.1.
    from pyspark.sql.pandas import types as theirs
    from pyspark.sql.types import ArrayType, DecimalType, StringType, StructField, StructType

    from omd.spark import arrow, types
    from omd.spark.decision.operator import RESULTS

    kinds = [*types._TYPES.values(), types._numeric(None, None), types._numeric(38, 0)]
    plain = [*(kind() for kind in arrow._TYPES), *(kind.spark for kind in kinds), DecimalType(7, 7)]
    assert {type(kind) for kind in plain} == {*arrow._TYPES, DecimalType}
    given = [*plain, *(ArrayType(kind, bool(n % 2)) for n, kind in enumerate(plain))]
    fields = [StructField(f'"{n}"', kind, bool(n % 3)) for n, kind in enumerate(given)]
    schema = StructType([*fields, StructField("twice", StringType()), *fields])
    mapped = arrow.arrow_schema(schema)
    assert mapped.equals(theirs.to_arrow_schema(schema, timezone="UTC"), check_metadata=True)
    assert arrow.spark_schema(RESULTS) == theirs.from_arrow_schema(RESULTS)
