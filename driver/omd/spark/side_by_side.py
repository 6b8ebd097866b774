"""Several pieces of the work of one run, a few at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, TypeVar

from pyspark.sql import SparkSession

from omd.spark.sessions import active

if TYPE_CHECKING:
    from omd.rooms.control.reads import Reads

T = TypeVar("T")
R = TypeVar("R")


def side_by_side(
    reads: Reads,
    spark: SparkSession,
    at_once: int,
    things: Iterable[T],
    work: Callable[[T], R],
) -> list[R]:
    """Call a function with each of several things; return its answers in their order.

    Args:
        reads: those of the run that does it; the first failure cancels its jobs.
        at_once: how many calls there are at the same time.
        things: what it is called with.
        work: the function.
    """
    all_of_them = list(things)
    if min(at_once, len(all_of_them)) < 2:
        answers = []
        for thing in all_of_them:
            reads.run._lease.check()
            answers.append(work(thing))
        return answers

    def attached(thing: T) -> R:
        reads.attach(spark)
        with active(spark):
            return work(thing)

    pool = ThreadPoolExecutor(at_once, thread_name_prefix="omd-side-by-side")
    tasks = [pool.submit(attached, thing) for thing in all_of_them]
    try:
        for done in as_completed(tasks):
            done.result()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        reads.cancel()  # otherwise the others would work to their end
        raise
    finally:
        pool.shutdown()
    return [task.result() for task in tasks]
