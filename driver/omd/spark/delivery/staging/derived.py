"""Derived entities: Spark SQL over other staged entities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from omd._core.error_codes import InvalidModel
from omd.spark.delivery.frames import asked_of
from omd.spark.delivery.permitted import require_query
from omd.spark.delivery.staging.reader import Reader, no_columns
from omd.spark.delivery.staging.staged import BAD, HEAD, RAW, TORN, Staged

if TYPE_CHECKING:
    from omd.spark.delivery.plan import Derived, EntityPlan, Plan


class DerivedReader(Reader):
    """Reads the query of a derived entity.

    Args:
        spark: a session of `working_session`.
        plan: the plan of stage 1.
        entity: the entity in it.
        derived: its sources and its query.
        sources: the staged rows of other entities, `mended`.
    """

    def __init__(
        self,
        spark: SparkSession,
        plan: Plan,
        entity: EntityPlan,
        derived: Derived,
        sources: Mapping[str, Staged],
    ) -> None:
        super().__init__(spark, plan, entity)
        self.expressions = ""  # each column that a query returns should be an attribute
        self.derived = derived
        self.indicators = {name: plan.entities[name].indicator_column for name in derived.sources}
        self.sources = {name: sources[name] for name in derived.sources}

    def staged(self) -> Staged:
        """Return the rows of the query.

        Raises:
            InvalidModel: the query can't be compiled, or does what a query may not do.
        """
        visible = {name: self.visible(name, source) for name, source in self.sources.items()}
        answer = asked_of(self.spark, visible)
        place = f"the query of {self.entity.entity}"
        try:
            frame = require_query(
                self.spark, self.derived.query, place, self.derived.sources, answer
            )
        except AnalysisException as error:
            if not any(source.missing for source in self.sources.values()):
                reason = str(error).strip().partition("\n")[0]
                raise InvalidModel(f"{place} can't be compiled: {reason}") from error
            # A column that was not handed over is a violation there, and no mistake of the model.
            return self.typed(no_columns(self.spark), F.lit("derived"))
        sizes = [source.size for source in self.sources.values()]
        size = None if None in sizes else sum(n or 0 for n in sizes)
        return self.typed(frame, F.lit(f"derived from {', '.join(self.sources)}"), size=size)

    def visible(self, name: str, source: Staged) -> DataFrame:
        """Return the rows of a source as the query sees them, with all columns of the model."""
        lacking = [c for c in (*source.missing, self.indicators[name]) if c not in source.columns]
        columns = [F.col(RAW).getField(c).alias(c) for c in source.columns]
        nothing = [F.lit(None).cast("string").alias(c) for c in dict.fromkeys(lacking)]
        return source.frame.where(~F.col(BAD)).select(*columns, *nothing)


def mended(staged: Staged) -> Staged:
    """Return staged rows of which none is torn, and none is taken for a header."""
    if staged.whole is None:
        return staged
    counted = staged.frame.agg(F.max(TORN), F.count_if(HEAD)).first()
    assert counted is not None  # noqa: S101 - it is an aggregate
    has_torn, headers = counted
    return staged.whole() if has_torn or headers != staged.headers else staged
