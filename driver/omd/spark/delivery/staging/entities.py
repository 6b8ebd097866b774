"""The staged rows of all entities of a delivery."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession

from omd._core.error_codes import DeliveryArgumentInvalid
from omd.rooms.delivery.source import Source, SourceByEntity, SourceFolder, SourceTables
from omd.spark.delivery.permitted import require_expression
from omd.spark.delivery.staging.derived import DerivedReader, mended
from omd.spark.delivery.staging.files import Files
from omd.spark.delivery.staging.formats import in_folder, reader_of
from omd.spark.delivery.staging.frame import FrameReader
from omd.spark.delivery.staging.reader import FileReader, Reader
from omd.spark.delivery.staging.session import working_session
from omd.spark.delivery.staging.staged import Staged
from omd.spark.hadoop import absolute

if TYPE_CHECKING:
    from omd.spark.delivery.plan import EntityPlan, Plan


def stage(
    spark: SparkSession,
    plan: Plan,
    source: Source,
    table: Callable[[str], DataFrame] | None = None,
) -> dict[str, Staged]:
    """Return the staged rows of the entities of the plan.

    Args:
        spark: the session, best one of `working_session`; the frames are of such a one.
        plan: the plan of stage 1.
        source: what was handed over. A folder has ``<entity>.csv``, ``.json`` or ``.parquet``,
            which may be folders.
        table: for staging tables: returns a table of the database, always of the same moment.

    Raises:
        DeliveryArgumentInvalid: what was handed over is not what is delivered, or can't be read.
        InvalidModel: the query of a derived entity can't be compiled.
    """
    spark = working_session(spark)
    delivered = {e.entity: e for e in plan.entities.values() if e.load is not None}
    own = {name: entity for name, entity in delivered.items() if entity.derived is None}
    readers = _readers(spark, plan, own, source, table)
    staged = {name: readers[name].staged() for name in own}
    files = {name: r.files for name, r in readers.items() if isinstance(r, FileReader)}
    for name in {s for e in delivered.values() if e.derived for s in e.derived.sources} & set(own):
        staged[name] = mended(staged[name])
    for name, entity in delivered.items():
        if entity.derived is not None:
            staged[name] = DerivedReader(spark, plan, entity, entity.derived, staged).staged()
        for attribute in entity.attributes:
            if attribute.computed is not None:
                place = f"{name}.{attribute.name}"
                require_expression(spark, attribute.computed, place, staged[name].columns)
    return {name: replace(staged[name], files=files.get(name)) for name in delivered}


def _readers(
    spark: SparkSession,
    plan: Plan,
    own: Mapping[str, EntityPlan],
    source: Source,
    table: Callable[[str], DataFrame] | None,
) -> dict[str, Reader]:
    """Return what reads each entity.

    Args:
        plan: the plan of stage 1.
        own: the entities in it that are handed over; the others are derived.
        source: what was handed over.
        table: returns a table of the database.
    """
    paths: Mapping[str, str] = {}
    frames: Mapping[str, DataFrame] = {}
    origins: dict[str, str] = {}
    match source:
        case SourceFolder(folder):
            paths = in_folder(spark, absolute(spark, folder), own, plan.options)
        case SourceByEntity(given, frames):
            paths = {name: absolute(spark, path) for name, path in given.items()}
        case SourceTables():
            if table is None:
                raise DeliveryArgumentInvalid("staging tables can't be read without a database")
            frames = {name: table(f'"{plan.staging_schema}"."{name}"') for name in own}
            origins = {name: f"{plan.staging_schema}.{name}" for name in own}
    _require_same({*paths, *frames}, own)
    readers: dict[str, Reader] = {}
    for name, entity in own.items():
        if name in paths:
            files = Files.at(spark, paths[name], plan.options)
            readers[name] = reader_of(files)(spark, plan, entity, files)
        else:
            readers[name] = FrameReader(
                spark, plan, entity, frames[name], origins.get(name, "DataFrame")
            )
    return readers


def _require_same(given: set[str], own: Mapping[str, EntityPlan]) -> None:
    """Refuse a source that has more entities than are delivered, or fewer."""
    unexpected = sorted(given - set(own))
    if unexpected:
        raise DeliveryArgumentInvalid(
            f"{', '.join(unexpected)} was handed over, but the delivery does not have it",
            hint="Name the entity when the delivery is created.",
        )
    for name in own:
        if name not in given:
            raise DeliveryArgumentInvalid(
                f"nothing was handed over for {name}",
                hint="Hand it over, or do not name it when the delivery is created.",
            )
