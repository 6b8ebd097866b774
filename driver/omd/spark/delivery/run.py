"""A run of a delivery: plan → staged → checked → judged → delta.

The rules are in docs/explanation/delivery.md. It counts and writes. What is planned, whether a
count is too high and what is applied is the database's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from omd.spark.delivery.delta import write_delta
from omd.spark.delivery.plan import Plan
from omd.spark.delivery.samples import Samples
from omd.spark.delivery.scale import Scale
from omd.spark.delivery.stage1 import Checked, check
from omd.spark.delivery.stage2.judgement import Judgement
from omd.spark.delivery.stage2.side import kept
from omd.spark.delivery.staging import names_in, stage, working
from omd.spark.failure import failure_in
from omd.spark.sessions import active, register, session
from omd.spark.side_by_side import side_by_side

if TYPE_CHECKING:
    from omd.rooms.delivery.run import DeliveryRun
    from omd.spark.delivery.staging import Staged


def deliver(run: DeliveryRun) -> None:
    """Validate a delivery in both stages, and apply it where it is acceptable.

    Args:
        run: the open run.
    """
    if run._reads.spark is None:
        run._reads.spark = session()
    run._reads.attach(run._reads.spark)
    given = register(run._reads.spark, run._reads.dsn)
    with working(given, run.block) as spark, active(spark):
        first = Plan.read(run.calls.validation_plan(run.delivery_id, 1))
        scale = Scale(spark)
        staged = stage(spark, first, run.source, lambda table: run._reads.read(spark, table))
        for name, rows in staged.items():
            if rows.files is not None:
                files: Any = rows.files.document()  # a list; JSON is typed as an object
                run.calls.register_files(run.delivery_id, run.attempt, name, files)
        if scale.are_few_bytes(entity.size for entity in staged.values()):
            staged = {name: entity.in_one_task() for name, entity in staged.items()}
        checked: dict[str, Checked] = {}
        try:
            _work(run, spark, scale, first, staged, checked)
        except PySparkException as error:
            failure = failure_in(error)
            if failure is None:
                raise
            raise failure from error
        finally:
            for entity in checked.values():
                entity.release()


def delivered_in(folder: str, spark: SparkSession | None) -> list[str]:
    """Return the entities of which a folder has files, by the names of these.

    Args:
        spark: the session; a new one where there is none.
    """
    return names_in(spark or session(), folder)


def _work(
    run: DeliveryRun,
    spark: SparkSession,
    scale: Scale,
    first: Plan,
    staged: Mapping[str, Staged],
    checked: dict[str, Checked],
) -> None:
    calls, delivery_id, attempt = run.calls, run.delivery_id, run.attempt
    at_once = int(first.options["max_concurrent_entities"])
    samples = Samples(run, first)

    def measure(name: str) -> None:
        entity = first.entities[name]
        checked[name] = result = check(entity, staged[name], kept(entity))
        staged[name].unchanged()
        calls.register_violations(delivery_id, attempt, 1, name, result.measures())
        samples.take_checked(result)
        staged[name].unchanged()

    side_by_side(run._reads, spark, at_once, first.entities, measure)
    run.confirm()
    if calls.stage_verdict(delivery_id, attempt, 1).verdict is not None:
        return
    second = Plan.read(calls.validation_plan(delivery_id, 2))
    judgement = Judgement(run, spark, second, checked)
    try:
        if scale.are_few_rows(judgement.about()):
            judgement.work_in_one_task()
        judgement.judge()
        for side in judgement.planned:
            calls.register_violations(delivery_id, attempt, 2, side.name, judgement.measures(side))
            samples.take_judged(side)
            if side.name in staged:
                staged[side.name].unchanged()
        run.confirm()
        if calls.stage_verdict(delivery_id, attempt, 2).delivery_status != "VALIDATED":
            return
        sides = {side.name: side for side in judgement.delivered}
        written: dict[str, int] = {}

        def write(name: str) -> None:
            written[name] = write_delta(run, sides[name])
            staged[name].unchanged()

        side_by_side(run._reads, spark, at_once, sides, write)
        run.confirm()
        calls.apply_delta(delivery_id, attempt, written)
    finally:
        judgement.release()
