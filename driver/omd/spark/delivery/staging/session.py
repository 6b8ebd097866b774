"""The session in which a delivery works: the settings on which the meaning of a model depends.

A classic session is cloned. One of Spark Connect works itself: its settings are put back at the
end, and while it works for one delivery it is refused to others. What a program that was killed has
left is put back by the next delivery in the session.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from weakref import WeakKeyDictionary, ref

from pyspark.sql import SparkSession

from omd._core.errors import StateError
from omd.spark.delivery.scale import SMALL
from omd.spark.sessions import briefly, cloned, default_parallelism, is_connect

_SETTINGS = {
    # One method for all expressions of a row is too big for the JIT compiler.
    "spark.sql.codegen.wholeStage": "false",
    # What is kept are hashes and keys, which compression makes hardly smaller, but slower.
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    # The meaning of a model must not depend on the session in which it is checked.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.mapKeyDedupPolicy": "EXCEPTION",
    "spark.sql.variable.substitute": "false",
    # What can't be read fails the attempt.
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    # Files of any code page; bytes that it does not have become U+FFFD, which is looked for.
    "spark.sql.legacy.javaCharsets": "true",
    "spark.sql.legacy.codingErrorAction": "true",
}
_WORKING = "spark.omd.delivery"  # it marks a session that `working_session` has returned
_BEFORE = "spark.omd.delivery.before"  # the settings to put back, while there are such
_MIN_PARTS = "spark.sql.files.minPartitionNum"

_reserved: WeakKeyDictionary[SparkSession, ref[object]] = WeakKeyDictionary()
_lock = threading.Lock()


def working_session(spark: SparkSession) -> SparkSession:
    """Return a session with the views and functions of this one, and settings of its own.

    A session that this function has returned is returned as it is, and so is one of Spark Connect,
    whose settings `working` has changed.
    """
    if is_connect(spark) or spark.conf.get(_WORKING, None) == "true":
        return spark
    return cloned(spark, _settings(spark))


@contextmanager
def working(spark: SparkSession, user: object) -> Iterator[SparkSession]:
    """Lend a session like that of `working_session`; over Connect it is the session itself.

    Args:
        spark: the session.
        user: what has reserved the session, or reserves it now.

    Raises:
        StateError: somebody else has reserved it.
    """
    if not is_connect(spark):
        yield working_session(spark)
        return
    undo = reserve(spark, user)
    try:
        with _changed(spark, (*_SETTINGS, _MIN_PARTS, _WORKING, *SMALL)):
            _set(spark, _settings(spark))
            yield spark
    finally:
        undo()


def reserve(spark: SparkSession, user: object) -> Callable[[], None]:
    """Reserve a session of Spark Connect for one user; return what undoes it.

    A classic session can have any number of users. If this one has reserved the session before,
    what is returned does nothing.

    Raises:
        StateError: somebody else has reserved it.
    """
    if not is_connect(spark):
        return lambda: None
    with _lock:
        before = _reserved.get(spark)
        holder = None if before is None else before()
        if holder is not None and holder is not user:
            raise StateError(
                "this session of Spark Connect works for another delivery",
                hint="Give each delivery a session of its own:"
                " spark=SparkSession.builder.remote(…).create().",
            )
        if holder is user:
            return lambda: None
        mine = _reserved[spark] = ref(user)

    def undo() -> None:
        with _lock:
            if _reserved.get(spark) is mine:
                del _reserved[spark]

    return undo


def _settings(spark: SparkSession) -> dict[str, str]:
    # Files are cut in the same way in each scan, however many executors come and go.
    parts = (
        spark.conf.get(_MIN_PARTS, None)
        or spark.conf.get("spark.sql.leafNodeDefaultParallelism", None)
        or str(default_parallelism(spark))
    )
    return _SETTINGS | {_MIN_PARTS: parts, _WORKING: "true"}


@contextmanager
def _changed(spark: SparkSession, names: Iterable[str]) -> Iterator[None]:
    """Let the settings of a session be changed for a while."""
    before = spark.conf.getAll
    left = before.get(_BEFORE)
    if left is not None:  # by a delivery that was killed
        _put_back(spark, json.loads(left))
        before = spark.conf.getAll
    kept = {name: before.get(name) for name in names}
    spark.conf.set(_BEFORE, json.dumps(kept))
    try:
        yield
    finally:
        briefly(lambda: _put_back(spark, kept))


def _set(spark: SparkSession, settings: Mapping[str, str]) -> None:
    for name, value in settings.items():
        is_ours = name == _WORKING  # which has no default
        # Of some it warns that they are deprecated.
        if is_ours or spark.conf.get(name) != value:
            spark.conf.set(name, value)


def _put_back(spark: SparkSession, kept: Mapping[str, str | None]) -> None:
    now = spark.conf.getAll
    for name, value in kept.items():
        if value is None and name in now:
            spark.conf.unset(name)
        elif value is not None and now.get(name) != value:
            spark.conf.set(name, value)
    spark.conf.unset(_BEFORE)
