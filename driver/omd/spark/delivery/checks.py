"""The checks of a model, compiled by Spark before anything is delivered; no job runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import BooleanType

from omd._core.error_codes import InvalidModel
from omd.spark.delivery.permitted import require_expression, require_query
from omd.spark.sessions import active

if TYPE_CHECKING:
    from omd.rooms.delivery.rows import DeliveryConstraintsRow

_TYPES = {
    "boolean": "boolean",
    "smallint": "smallint",
    "integer": "int",
    "bigint": "bigint",
    "double precision": "double",
    "date": "date",
    "timestamp": "timestamp_ntz",
    "timestamp without time zone": "timestamp_ntz",
    "timestamptz": "timestamp",
    "timestamp with time zone": "timestamp",
}


def compile_checks(
    spark: SparkSession,
    document: Mapping[str, Any],
    constraints: Iterable[DeliveryConstraintsRow],
) -> None:
    """Have Spark compile what it will execute of a model: checks and the queries of set rules.

    Args:
        spark: the session; one of its own is made of it.
        document: the model document.
        constraints: those of the interface.

    Raises:
        InvalidModel: OM030, whose detail lists every problem with its path.
    """
    spark = spark.newSession()
    checks = {row.constraint_code: row for row in constraints}
    with active(spark):  # the session of before is the active one again at the end
        spark.conf.set("spark.sql.variable.substitute", "false")  # as in a delivery
        frames = {e["name"]: _frame(spark, e) for e in document["entities"]}
        for name, frame in frames.items():
            frame.createOrReplaceTempView(name)
        problems = [
            {"path": path, "problem": problem}
            for number, entity in enumerate(document["entities"])
            if not entity.get("retired")
            for path, problem in _problems(spark, entity, f"entities[{number}]", frames, checks)
        ]
    if problems:
        first = problems[0]
        raise InvalidModel(
            f"Spark does not compile {first['path']}: {first['problem']}",
            hint="Mend the document, then: omd apply FILE",
            detail={"problems": problems},
        )


def _frame(spark: SparkSession, entity: Mapping[str, Any]) -> DataFrame:
    """Return a frame without rows that has the attributes of an entity."""
    columns = (f"`{a['name']}` {_type(a['type'])}" for a in entity["attributes"])
    return spark.createDataFrame([], ", ".join(columns))


def _type(name: str) -> str:
    if numeric := re.fullmatch(r"numeric ?(\(.*\))", name):
        return f"decimal{numeric[1]}"
    return _TYPES.get(name, "string")


def _problems(
    spark: SparkSession,
    entity: Mapping[str, Any],
    path: str,
    frames: Mapping[str, DataFrame],
    checks: Mapping[str, DeliveryConstraintsRow],
) -> Iterator[tuple[str, str]]:
    for number, attribute in enumerate(entity["attributes"]):
        if "computed" in attribute and not attribute.get("retired"):
            at = f"{path}.attributes[{number}].computed"
            yield from _refused(at, require_expression, spark, attribute["computed"], "it")
    if derived := entity.get("derived"):
        yield from _refused(
            f"{path}.derived.query", require_query, spark, derived["query"], "it", derived["from"]
        )
    for number, constraint in enumerate(entity.get("constraints", ())):
        if constraint.get("retired"):
            continue
        row = checks[f"{entity['name']}.{constraint['name']}"]
        at = f"{path}.constraints[{number}]"
        try:
            if row.spark_expression is not None:
                # A literal that could contain the call is written in bytes.
                words = row.spark_expression.replace("delivery_date()", "DATE'2000-01-01'")
                [field] = frames[entity["name"]].select(f.expr(words)).schema.fields
                if not isinstance(field.dataType, BooleanType):
                    yield f"{at}.check", f"Spark reads it as {field.dataType.simpleString()}"
            elif row.expression is not None:
                columns = require_query(spark, row.expression, "it", frames).columns
                missing = {*entity["key"]} - {c.lower() for c in columns}
                if missing:
                    yield f"{at}.query", f"it does not answer {', '.join(sorted(missing))}"
        except InvalidModel as error:
            yield f"{at}.query", error.message
        except (AnalysisException, ParseException) as error:
            yield f"{at}.{'query' if row.spark_expression is None else 'check'}", _message_of(error)


def _refused(
    path: str, require: Callable[..., object], *arguments: Any
) -> Iterator[tuple[str, str]]:
    try:
        require(*arguments)
    except InvalidModel as error:
        yield path, error.message
    except AnalysisException:
        pass  # staged columns are not known here


def _message_of(error: AnalysisException) -> str:
    """Return what Spark says, without the plan that it appends."""
    return " ".join((error.getMessage() or str(error)).split(" SQLSTATE: ")[0].split("\n")[:3])
