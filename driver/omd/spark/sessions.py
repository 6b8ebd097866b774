"""A Spark session that suits OMD, and the registration of the data source in any session."""

from __future__ import annotations

import atexit
import json
import logging
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, cast

from psycopg.conninfo import conninfo_to_dict
from pyspark import SparkConf, SparkContext
from pyspark.errors import AnalysisException, PySparkRuntimeError, utils
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from omd._core.errors import CallerError

_log = logging.getLogger("omd.spark")

_REGISTERED = "spark.omd.registered"
_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
_TELLS = "_enable_debugging_cache"  # of PySpark: whether it tells origins; None is not known yet
_ADAPTIVE = "spark.sql.adaptive.enabled"
_BRIEF = 10  # seconds
_MARK = b"\0omd: said until here\0"  # of this process, between what a JVM says
_PYTHON = "spark.pyspark.python"
_LOOK = """import importlib.util, json, sys
names = [name for name in sys.argv[1:] if importlib.util.find_spec(name) is None]
print(json.dumps([list(sys.version_info[:2]), names]))"""
_DEFAULTS = {
    "spark.app.name": "omd",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
}
_LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.log.level": "ERROR",
    # Spark's default of 200 suits a cluster.
    "spark.sql.shuffle.partitions": str(os.cpu_count() or 1),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def session(master: str | None = None, settings: Mapping[str, str] | None = None) -> SparkSession:
    """Return a Spark session with the data source ``omd``; it is created if there is none.

    A new session uses UTC and Arrow. With a local master it also logs only errors, has no web page,
    2 GB for the driver, and as many shuffle partitions as processors. Settings of spark-submit
    override these defaults. A session that exists is used as it is; ``settings`` are applied as far
    as they may change while it runs.

    Args:
        master: the master URL; by default that of spark-submit, or ``local[*]``.
        settings: Spark settings that override all others.
    """
    builder = SparkSession.builder
    wanted = dict(settings or {})
    if not _exists():
        submitted = _submitted()
        master = master or submitted.get("spark.master") or "local[*]"
        builder = builder.master(master)
        defaults = _DEFAULTS
        if master.startswith("local"):
            defaults = _DEFAULTS | _LOCAL
        # Spark reads the variable when the context is made; the setting is for spark-submit.
        if _PYTHON in wanted:
            os.environ["PYSPARK_PYTHON"] = wanted[_PYTHON]
        elif master.startswith("local"):
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        wanted = {name: value for name, value in defaults.items() if name not in submitted} | wanted
    for name, value in wanted.items():
        builder = builder.config(name, value)
    return register(builder.getOrCreate())


def quiet_session(
    master: str | None = None, settings: Mapping[str, str] | None = None
) -> SparkSession:
    """Return the session that `session` returns, for a program that a person watches.

    What the JVM says while it starts is shown only when it does not start; what it says later goes
    to standard error.
    """
    if _exists():
        return session(master, settings)
    reading, writing = os.pipe()
    said = bytearray()
    is_drained = threading.Event()

    def listen() -> None:
        is_up = False
        while piece := os.read(reading, 1 << 20):  # more than a pipe holds, so no mark is cut
            if not is_up:
                said.extend(piece)
                _, mark, piece = bytes(said).partition(_MARK)
                is_up = bool(mark)
            shown = piece.replace(_MARK, b"")
            os.write(2, shown)
            if shown != piece:
                is_drained.set()

    def drain() -> None:
        os.write(writing, _MARK)
        is_drained.wait(1)

    listener = threading.Thread(target=listen, name="omd-jvm", daemon=True)
    listener.start()
    is_up = False
    try:
        with standard_error(writing):
            started = session(master, settings)
        is_up = True
        os.write(writing, _MARK)  # behind all that was said until now
        atexit.register(drain)  # what was said last is shown, too
    finally:
        if not is_up:
            os.close(writing)
            listener.join(1)  # for what was said last
            os.write(2, said)
    return started


@contextmanager
def standard_error(file: int) -> Iterator[None]:
    """Let this process, and those that it starts meanwhile, write their errors to a file."""
    sys.stderr.flush()
    terminal = os.dup(2)
    os.dup2(file, 2)
    try:
        yield
    finally:
        os.dup2(terminal, 2)
        os.close(terminal)


def _exists() -> bool:
    try:
        SparkSession.active()  # the session of this thread, or of another one
    except PySparkRuntimeError:
        return False
    return True


def renew() -> bool:
    """Put a new session in the place of the present one, for a program that begins other work.

    The new one has the Spark context of the former, and no settings, views or cached rows of its
    work.

    Returns:
        Whether there is a session of this process whose context still runs.
    """
    if not _exists():
        return False
    former = SparkSession.active()
    context = getattr(former, "sparkContext", None)
    if context is None or context._jsc is None or context._jsc.sc().isStopped():
        return False
    former.catalog.clearCache()
    session = former.newSession()
    SparkSession._instantiatedSession = SparkSession._activeSession = session
    sessions = SparkSession._get_j_spark_session_class(session._jvm)
    sessions.setDefaultSession(session._jsparkSession)
    sessions.setActiveSession(session._jsparkSession)
    return True


def _submitted() -> dict[str, str]:
    """Return the settings of spark-submit and spark-defaults.conf; {} without spark-submit."""
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        return {}
    SparkContext._ensure_initialized()
    return dict(SparkConf().getAll())


def register(spark: SparkSession, url: str = "") -> SparkSession:
    """Register the data source ``omd`` in a session, and return the session. It may be repeated.

    It changes one setting, and only if that is not set: without
    ``spark.sql.python.filterPushdown.enabled`` Spark refuses sources that take over filters. If it
    is set to false, Spark applies all filters itself.

    Args:
        spark: the session.
        url: the connection string that the session will get.

    Raises:
        CallerError: the session would show the password of the connection string.
        ConfigurationError: the Python of its workers lacks what they need, as far as that can be
            seen here: with a local master.
    """
    from omd.spark.source import OmdDataSource, Unfiltered  # what needs no data source lacks it

    if is_connect(spark) and conninfo_to_dict(url).get("password"):
        raise CallerError(
            "Spark Connect shows options in its event log, and the connection string holds a"
            " password",
            hint="Name a libpq service for Spark's processes: omd.connect(executor_dsn='service=…')"
            " or OMD_EXECUTOR_DSN.",
        )
    if spark.conf.get(_REGISTERED, "") == "true":
        return spark
    if not is_connect(spark) and str(spark.sparkContext.master).startswith("local"):
        _require_workers(spark.sparkContext)
    pushdown = spark.conf.getAll.get(_PUSHDOWN)
    if pushdown is None:
        spark.conf.set(_PUSHDOWN, "true")
    source = Unfiltered if pushdown == "false" else OmdDataSource
    try:
        spark.dataSource.register(source)
    except AnalysisException as error:
        if error.getCondition() != "DATA_SOURCE_ALREADY_EXISTS":
            raise
        # Spark has looked into the active session, which is another one than this.
        with active(spark):
            spark.dataSource.register(source)
    spark.conf.set(_REGISTERED, "true")
    return spark


def _require_workers(context: SparkContext) -> None:
    """Raise unless the Python that the workers of a local master run has what they need.

    Without PYSPARK_PYTHON it is the `python3` of the path, and the first job would fail.
    """
    from omd.spark.failure import NEEDED, lacking

    program: str = context.pythonExec
    path = shutil.which(program)
    if path == sys.executable:
        return
    names = [name for name in NEEDED if name != "omd" or not context._python_includes]
    try:
        done = subprocess.run(  # noqa: S603 - Spark would run it
            [path or program, "-c", _LOOK, *names], capture_output=True, check=True, timeout=60
        )
        version, missing = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise lacking(program, f"it does not run: {error}") from error
    if version != list(sys.version_info[:2]):
        raise lacking(program, "it is Python {}.{}, and not that of this program".format(*version))
    if missing:
        raise lacking(program, f"it lacks {', '.join(missing)}")


def is_connect(spark: SparkSession) -> bool:
    """Return whether a session is one of Spark Connect, whose driver is elsewhere."""
    return getattr(spark, "sparkContext", None) is None


# A classic session keeps its tags in a map of the thread: `interruptTag` in a heartbeat's thread
# finds none and cancels nothing (seen on 4.1 and 4.3). So its context is asked, which has a job of
# an RDD, too.


def tag_jobs(spark: SparkSession, tag: str) -> None:
    """Tag the jobs that this thread starts."""
    (spark.addTag if is_connect(spark) else spark.sparkContext.addJobTag)(tag)


def untag_jobs(spark: SparkSession, tag: str) -> None:
    """Stop tagging the jobs of this thread."""
    (spark.removeTag if is_connect(spark) else spark.sparkContext.removeJobTag)(tag)


def cancel_jobs(spark: SparkSession, tag: str) -> None:
    """Cancel the jobs with this tag, of any thread."""
    if is_connect(spark):
        spark.interruptTag(tag)
    else:
        spark.sparkContext.cancelJobsWithTag(tag)


def forget_answer(spark: SparkSession) -> None:
    """Close this thread's connection to the JVM; the next call opens another.

    A signal may have arrived while the thread waited for an answer. That answer arrives later, and
    would be taken for the answer of the next call.
    """
    # Spark Connect has no such connection, and without pinned threads a thread owns none.
    with suppress(Exception):
        cast("Any", spark)._sc._gateway._gateway_client.get_thread_connection().close()


class _Origins:
    """The origins of columns: their lines in the program, which errors of Spark name.

    For each column PySpark sends ten commands to the JVM to tell its line. OMD makes hundreds of
    columns from models, and their lines help nobody.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks = 0
        self._before: bool | None = None

    @contextmanager
    def untold(self) -> Iterator[None]:
        """Tell no origins, in all threads of this process."""
        with self._lock:
            if not self._blocks:
                self._before = getattr(utils, _TELLS, None)
                setattr(utils, _TELLS, False)
            self._blocks += 1
        try:
            yield
        finally:
            with self._lock:
                self._blocks -= 1
                if not self._blocks:
                    setattr(utils, _TELLS, self._before)


_origins = _Origins()


class _Adaptive:
    """Adaptive execution of sessions of Spark Connect, which several threads turn off at times."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks: dict[int, tuple[int, str]] = {}

    @contextmanager
    def off(self, spark: SparkSession) -> Iterator[None]:
        """Turn it off, until the last of those that do so has ended."""
        with self._lock:
            blocks, before = self._blocks.get(id(spark), (0, ""))
            if not blocks:
                before = str(spark.conf.get(_ADAPTIVE))
                spark.conf.set(_ADAPTIVE, "false")
            self._blocks[id(spark)] = (blocks + 1, before)
        try:
            yield
        finally:
            with self._lock:
                blocks, before = self._blocks.pop(id(spark))
                if blocks > 1:
                    self._blocks[id(spark)] = (blocks - 1, before)
                else:
                    briefly(lambda: spark.conf.set(_ADAPTIVE, before))


_steady = _Adaptive()


@contextmanager
def active(spark: SparkSession) -> Iterator[None]:
    """Make a session the active one of this thread, in which Spark looks for data sources.

    Meanwhile PySpark does not tell the JVM of each column where in the program it was made.
    """
    if is_connect(spark):  # each frame names its session to the server
        with _origins.untold():
            yield
        return
    before = SparkSession.getActiveSession()
    spark.createDataFrame([], "nothing int")  # makes its session the active one
    try:
        with _origins.untold():
            yield
    finally:
        if before is not None:
            before.createDataFrame([], "nothing int")


def briefly(call: Callable[[], object]) -> None:
    """Make a call at the end of some work whose server may be dead; it is given up after a while.

    PySpark asks a dead server of Spark Connect for ten minutes.
    """
    failures: list[Exception] = []

    def called() -> None:
        try:
            call()
        except Exception as error:  # noqa: BLE001 - what the work has raised says more
            failures.append(error)

    thread = threading.Thread(target=called, name="omd-briefly", daemon=True)
    thread.start()
    thread.join(_BRIEF)
    if thread.is_alive() or failures:
        why = failures[0] if failures else f"there was no answer within {_BRIEF} seconds"
        _log.warning("Spark Connect did not put a session in order: %s", why)


def default_parallelism(spark: SparkSession) -> int:
    """Return in how many partitions Spark cuts what is not cut otherwise."""
    if not is_connect(spark):
        return int(spark.sparkContext.defaultParallelism)
    numbers = spark.range(1 << 20).select(F.spark_partition_id().alias("part"))
    return numbers.distinct().count()


def cloned(spark: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    """Return a session with the views and functions of this one, and these settings.

    Args:
        spark: the session, which is not one of Spark Connect.
        settings: the settings that differ.
    """
    clone = SparkSession(spark.sparkContext, spark._jsparkSession.cloneSession())
    for name, value in settings.items():
        clone.conf.set(name, value)
    return clone


def in_session(spark: SparkSession, frame: DataFrame) -> DataFrame:
    """Return a DataFrame of another session of the same driver as one of this session.

    Raises:
        CallerError: Spark Connect does not have that.
    """
    if frame.sparkSession is spark:
        return frame
    if is_connect(spark):
        raise CallerError(
            "the DataFrame is of another session than the one that works",
            hint="Over Spark Connect, give the session of the DataFrame: spark=df.sparkSession.",
        )
    assert spark._jvm is not None  # noqa: S101 - it is where the driver is
    plan = frame._jdf.queryExecution().analyzed()
    dataset = spark._jvm.org.apache.spark.sql.classic.Dataset
    return DataFrame(dataset.ofRows(spark._jsparkSession, plan), spark)


def plain(kept: DataFrame) -> DataFrame:
    """Return a frame that is kept, or read as often as it is used, without its plan.

    It has its size, and is still partitioned and sorted, which adaptive execution would forget.
    Over Connect it is computed and kept when it is first used.
    """
    spark = kept.sparkSession
    if is_connect(spark):
        with _steady.off(spark):
            return kept.localCheckpoint(eager=False)
    sql: Any = spark._jvm.org.apache.spark.sql  # type: ignore[union-attr]
    steady = in_session(cloned(spark, {_ADAPTIVE: "false"}), kept)._jdf
    logical = getattr(getattr(sql.execution, "LogicalRDD$"), "MODULE$")
    plan = logical.fromDataset(steady.queryExecution().toRdd(), steady, False, False)
    return DataFrame(sql.classic.Dataset.ofRows(spark._jsparkSession, plan), spark)


def most_rows(frame: DataFrame) -> int | None:
    """Return how many rows a frame has at most, where Spark knows it before it reads them.

    Spark Connect does not tell.
    """
    if is_connect(frame.sparkSession):
        return None
    rows = frame._jdf.queryExecution().optimizedPlan().maxRows()
    return int(rows.get()) if rows.isDefined() else None


_JVM_OF_SHORT_LIFE = (
    '--driver-java-options "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC" pyspark-shell'
)


class Jvm:
    """A JVM with which programs on Spark connect, one after the other."""

    def __init__(self) -> None:
        from pyspark.java_gateway import launch_gateway

        before = os.environ.get("PYSPARK_SUBMIT_ARGS")
        os.environ["PYSPARK_SUBMIT_ARGS"] = _JVM_OF_SHORT_LIFE
        try:
            self._launched: Any = cast("Any", launch_gateway)()
        finally:
            del os.environ["PYSPARK_SUBMIT_ARGS"]
            if before is not None:
                os.environ["PYSPARK_SUBMIT_ARGS"] = before
        parameters = self._launched.gateway_parameters
        self.env = {
            "PYSPARK_GATEWAY_PORT": str(parameters.port),
            "PYSPARK_GATEWAY_SECRET": parameters.auth_token,
        }

    def stop_spark(self) -> None:
        """Stop the Spark of the last program, which went with its JVM otherwise."""
        from py4j.protocol import Py4JJavaError

        with suppress(Py4JJavaError):  # there is none
            self._launched.jvm.org.apache.spark.SparkContext.getOrCreate().stop()

    def close(self) -> None:
        """End it."""
        self._launched.shutdown()
        self._launched.proc.stdin.close()
        self._launched.proc.wait()
