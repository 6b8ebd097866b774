"""What all readers have in common. A subclass of `Reader` reads one format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from omd._core.error_codes import DeliveryArgumentInvalid
from omd.spark.delivery.staging.file_numbers import FileNumbers
from omd.spark.delivery.staging.places import by_splits, splits
from omd.spark.delivery.staging.staged import BAD, FROM, HEAD, PLACE, RAW, TORN, Staged
from omd.spark.names import quote

if TYPE_CHECKING:
    from omd.spark.delivery.plan import EntityPlan, Plan
    from omd.spark.delivery.staging.files import Files


class Reader(ABC):
    """Reads the rows of one entity.

    Args:
        spark: a session of `working_session`.
        plan: the plan of stage 1.
        entity: the entity in it.
    """

    def __init__(self, spark: SparkSession, plan: Plan, entity: EntityPlan) -> None:
        self.spark = spark
        self.entity = entity
        self.expressions = _expressions(plan, entity)

    @abstractmethod
    def staged(self) -> Staged:
        """Return the staged rows."""

    @cached_property
    def mapped(self) -> list[str]:
        """The staged columns that attributes are read from; of several attributes, several times.

        A column that is computed by an expression is not among them.
        """
        return [a.source for a in self.entity.attributes if a.source is not None]

    def missing(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the columns that attributes are read from, and that are not among these."""
        return tuple(dict.fromkeys(c for c in self.mapped if c not in set(columns)))

    def typed(
        self, frame: DataFrame, origin: Column, place: Column | None = None, **about: Any
    ) -> Staged:
        """Return the staged rows of a frame whose columns have types; they are no lines.

        Args:
            origin: the file or the table of a row.
            place: its place, where it is kept where it stands.
            about: what else is known of them: further attributes of `Staged`.
        """
        rows = _typed_rows(self.entity, frame, origin, place)
        return Staged(
            self.entity.entity,
            rows,
            rows,
            tuple(frame.columns),
            findings=self.findings(frame.columns),
            missing=self.missing(frame.columns),
            **about,
        )

    def findings(self, columns: Sequence[str]) -> dict[str, int]:
        """Return the finding that some of the staged columns are not of the model."""
        known = {*self.mapped, self.entity.indicator_column}
        unknown = [c for c in columns if c not in known and c not in self.expressions]
        return {"UNKNOWN_COLUMN": len(unknown)} if unknown else {}


class FileReader(Reader):
    """Reads the files of one entity.

    Args:
        spark: a session of `working_session`.
        plan: the plan of stage 1.
        entity: the entity in it.
    """

    def __init__(self, spark: SparkSession, plan: Plan, entity: EntityPlan, files: Files) -> None:
        super().__init__(spark, plan, entity)
        self.files = files
        self.keeps_lines = plan.options.get("lines") is True

    @property
    def numbers(self) -> FileNumbers:
        """The numbers of the files."""
        return FileNumbers.of(file.path for file in self.files.listed)

    def stand(self, *frames: DataFrame) -> Callable[[DataFrame], DataFrame] | None:
        """Return what `Staged.stand` is.

        Args:
            frames: all rows of the files, as `splits` takes them.
        """
        if not self.keeps_lines:
            return None
        return lambda rows: by_splits(rows, splits(frames, self.numbers))

    @classmethod
    @abstractmethod
    def endings(cls, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Return how the names of such files end, in lower case.

        Args:
            options: those of the agreement.
        """


def _expressions(plan: Plan, entity: EntityPlan) -> str:
    """Return the expressions of the model that may name staged columns of an entity, as a text."""
    texts = [a.computed for a in entity.attributes if a.computed]
    texts += [
        other.derived.query
        for other in plan.entities.values()
        if other.derived and entity.entity in other.derived.sources
    ]
    return "\n".join(texts)


def _typed_rows(
    entity: EntityPlan, frame: DataFrame, origin: Column, place: Column | None
) -> DataFrame:
    """Return staged rows that are made of a frame whose columns have types; they are no lines.

    Args:
        origin: the file or the table of a row.
        place: its place; None: it is NULL.
    """
    columns = frame.columns
    twice = sorted({c for c in columns if columns.count(c) > 1})
    if twice:
        raise DeliveryArgumentInvalid(f"{entity.entity} has several columns {', '.join(twice)}")
    return frame.select(
        F.struct(*(F.col(quote(c)) for c in columns)).alias(RAW),
        origin.alias(FROM),
        F.lit(False).alias(BAD),
        F.lit(False).alias(TORN),
        F.lit(False).alias(HEAD),
        (F.lit(None).cast("bigint") if place is None else place).alias(PLACE),
    )


def no_columns(spark: SparkSession) -> DataFrame:
    """Return a frame without rows and columns."""
    return spark.createDataFrame([], "nothing string").select()


def uri_of(frame: DataFrame) -> Column:
    """Return the file of a row as Spark writes it."""
    return frame.metadataColumn("_metadata").getField("file_path")


def path_of(uri: Column) -> Column:
    """Return the path in a URI that Spark has written."""
    return F.url_decode(F.replace(uri, F.lit("+"), F.lit("%2B")))
