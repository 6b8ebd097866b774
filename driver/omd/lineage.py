"""Lineage as Python sees it: one method per routine, and a step whatever its engine.

`Lineage` hands a call to the database and its answer back as a typed object; `StepRun` is a step
on Spark as a block. Which topic is ready, which block is next and what a retry takes is the
database's answer (lineage.md).
"""

from __future__ import annotations

import importlib
import json
import os
import socket
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

from omd import _signals
from omd._link import routine_arguments
from omd._types import (
    LoadWindow,
    ModuleBegun,
    PlanRow,
    ProcessingIndicator,
    ReadyRow,
    StepAnswer,
    StepBegun,
    StepOutcome,
    StepResult,
)
from omd.control import _json, _list, _text
from omd.errors import (
    CallerError,
    ConnectionFailed,
    StepNotStarted,
)
from omd.run import ModuleRun

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime, timedelta
    from types import EllipsisType

    from omd._link import Link
    from omd.control import Control
    from omd.errors import StateError

__all__ = ["Lineage", "Listener", "StepRun", "TopicDefinition"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Nothing:
    """The answer of a procedure without OUT values."""


@dataclass(frozen=True, slots=True)
class _TopicId:
    topic_id: int


@dataclass(frozen=True, slots=True)
class _Moved:
    moved: int


@dataclass(frozen=True, slots=True)
class _Steps:
    steps: int


@dataclass(frozen=True, slots=True)
class TopicDefinition:
    """What a step of a topic runs, as registered.

    Attributes:
        topic: its name.
        module_code: the Module whose runs its steps are; None for a source.
        processor: STEP, RELOAD or a procedure; None for a source.
        engine: POSTGRES or SPARK.
        transforms: in order.
        before_sql: statements before them.
        after_sql: statements after them.
        base_table: ``schema.table`` that is read by blocks.
        pos_column: its time.
        id_column: its id.
        tables: the other tables that it depends on.
    """

    topic: str
    module_code: str | None
    processor: str | None
    engine: str
    transforms: list[str]
    before_sql: list[str]
    after_sql: list[str]
    base_table: str | None
    pos_column: str
    id_column: str
    tables: list[str]


# The columns by which a base table is read: the topic's, else its own as a source, else pos and id.
class Lineage:
    """The routines of the room lineage, called through a control (lineage.md).

    Examples:
        with omd.connect() as control:
            lineage = omd.Lineage(control)
            lineage.register_topic("stg.ticket")
            lineage.register_topic(
                "fact.ticket", depends_on=["stg.ticket"], transforms=["etl.ticket"]
            )
            lineage.probe_sources()
            print(lineage.step("fact.ticket").outcome)

    Args:
        control: the connection; it may serve other calls too.
    """

    def __init__(self, control: Control) -> None:
        self.control = control

    # Registration -------------------------------------------------------------------------------

    def register_topic(
        self,
        topic: str,
        *,
        depends_on: Sequence[str] | None = None,
        processor: str | None = None,
        transforms: Sequence[str] | None = None,
        engine: str | None = None,
        delay: timedelta | str | None = None,
        repeat: timedelta | str | None = None,
        maxstep: int | None = None,
        run_window: str | None = None,
        max_wait: timedelta | str | None = None,
        before_sql: Sequence[str] | None = None,
        after_sql: Sequence[str] | None = None,
        pos_column: str | None = None,
        id_column: str | None = None,
        source_offset: str | None = None,
        reload_method: str | None = None,
        advance_when_quiet: bool | None = None,
        inactive_indicator: str | None = None,
        comment: str | None = None,
        module_code: str | None = None,
        area_code: str | None = None,
        table_type_code: str | None = None,
        platform_code: str | None = None,
        start_pos: datetime | None = None,
        start_id: int | None = None,
    ) -> int:
        """Insert or update a topic by name and answer its id; None keeps the present value.

        Args:
            topic: ``schema.table[#tag][:shard]``.
            depends_on: topics or tables; the first is the base table.
            processor: STEP (the default where there are transforms), RELOAD, or a procedure
                ``schema.procedure``; without both the topic is a source.
            transforms: in order: views; on Spark SQL texts or ``module:function``.
            engine: POSTGRES or SPARK.
            delay: rows younger than this wait.
            repeat: least time between two steps that are not full.
            maxstep: most rows of the base table in a block.
            run_window: ``22:00-06:00``, with a time zone behind it or in the session's; an empty
                text clears it.
            max_wait: after so long it runs with what is there; nothing (``0``) clears it.
            before_sql: statements before the transforms.
            after_sql: statements after them.
            pos_column: the time column of the base table.
            id_column: its id column.
            source_offset: of a source: PROBE, CLOCK, TRIGGER or HAND.
            reload_method: TRUNCATE or SWAP.
            advance_when_quiet: whether the offset moves on when there is nothing new.
            inactive_indicator: Y or N.
            comment: free text.
            module_code: the Module; by default named like the topic.
            area_code: the Module's; PRES by default.
            table_type_code: the Module's.
            platform_code: the Module's: where the destination lives.
            start_pos: where the first block starts, exclusive.
            start_id: its id.

        Raises:
            InvalidTopic: a name that is no topic's.
            CyclicDependency: the topic would depend on itself.
            BaseTableUnfit: the base table can't be read by blocks.
        """
        return self._call(
            "register_topic",
            _TopicId,
            p_topic=topic,
            p_depends_on=_list(depends_on),
            p_processor=processor,
            p_transforms=_list(transforms),
            p_engine=engine,
            p_delay=delay,
            p_repeat=repeat,
            p_maxstep=maxstep,
            p_run_window=run_window,
            p_max_wait=max_wait,
            p_before_sql=_list(before_sql),
            p_after_sql=_list(after_sql),
            p_pos_column=pos_column,
            p_id_column=id_column,
            p_source_offset=source_offset,
            p_reload_method=reload_method,
            p_advance_when_quiet=advance_when_quiet,
            p_inactive_indicator=inactive_indicator,
            p_comment=comment,
            p_module_code=module_code,
            p_area_code=area_code,
            p_table_type_code=table_type_code,
            p_platform_code=platform_code,
            p_start_pos=start_pos,
            p_start_id=start_id,
        ).topic_id

    def remove_topic(self, topic: str) -> None:
        """Remove a topic; its Module and its destination stay."""
        self._call("remove_topic", _Nothing, p_topic=topic)

    # What is next -------------------------------------------------------------------------------

    def ready_list(self, topic: str | None = None, *, only_ready: bool = False) -> list[ReadyRow]:
        """Every topic with a processor, greatest lag first (lineage.md section 3).

        Args:
            topic: only this one.
            only_ready: only those that may run now.
        """
        query = sql.SQL("SELECT {} FROM omd_lineage.ready_list").format(_columns(ReadyRow))
        conditions = [
            *([sql.SQL("is_ready")] if only_ready else []),
            *([sql.SQL("topic = %(topic)s")] if topic is not None else []),
        ]
        if conditions:
            query += sql.SQL(" WHERE ") + sql.SQL(" AND ").join(conditions)
        return self._execute(query, {"topic": topic}, ReadyRow)

    def plan(self, topic: str) -> PlanRow | None:
        """The block that the topic would take now; changes nothing (lineage.md section 4).

        Raises:
            UnknownTopic: no topic has this name.
        """
        rows = self._rows("plan", PlanRow, p_topic=topic)
        return rows[0] if rows else None

    def probe_sources(self) -> int:
        """Look how far the sources have come; answers how many have moved."""
        return self._call("probe_sources", _Moved).moved

    def purge_log(self, keep: timedelta) -> int:
        """Delete what the log of steps has from before ``keep`` ago; answers how many rows."""
        return self._call("purge_log", _Steps, p_keep=keep).steps

    def set_offset(self, topic: str, pos: datetime, id: int | None = None) -> None:  # noqa: A002
        """Tell how far a source has come, inclusive; for sources with HAND.

        Args:
            topic: the source.
            pos: an instant.
            id: of the last row at this instant; 0 by default.
        """
        if pos.tzinfo is None:
            raise CallerError(
                f"the offset {pos} has no time zone",
                hint="Say which instant is meant: datetime(…, tzinfo=timezone.utc).",
            )
        self._call("set_offset", _Nothing, p_topic=topic, p_pos=pos, p_id=id)

    def set_block(self, topic: str) -> None:
        """Let transform views show the block of a topic, in the session of this control.

        Inside of `Control.transaction`, whose connection then reads the view.
        """
        self._call("set_block", _Nothing, p_topic=topic)

    def release(self, topic: str) -> None:
        """Take a topic from its holder, who can't commit any more."""
        self._call("release", _Nothing, p_topic=topic)

    def retry(self, topic: str) -> None:
        """Let a topic that has failed too often be tried again, at once."""
        self._call("retry", _Nothing, p_topic=topic)

    def listen(self) -> Listener:
        """A connection that hears when an offset moves."""
        return Listener(self.control.new_link(name="-listen"))

    # Steps --------------------------------------------------------------------------------------

    def step(
        self,
        topic: str,
        *,
        spark: Any = None,
        session: Callable[[], Any] | None = None,
        lease: timedelta | EllipsisType | None = ...,
        context: Mapping[str, Any] | None = None,
    ) -> StepOutcome:
        """Run one step of a topic, whatever its engine (lineage.md section 4); waits for its end.

        Args:
            topic: the topic.
            spark: for one on Spark: the session; default: the control's, else the active one.
            session: makes one where there is none; called when the step has begun.
            lease: of a step on Spark, other than the control's.
            context: added to its execution context.

        Returns:
            How it went. What a job on Spark raised is recorded, and its `error`.

        Raises:
            UnknownTopic: no topic has this name.
            ConnectionFailed: the database can't be reached.
        """
        definition = self.definition(topic)
        if definition.engine != "SPARK":
            return self._step_in_database(topic)
        run = StepRun(self, definition, spark=spark, session=session, lease=lease, context=context)
        try:
            with run:
                importlib.import_module("omd.spark.lineage").transform(run)
        except StepNotStarted:
            begun = run.begun
            assert begun is not None  # noqa: S101 - what else has told that it is not started
            return StepOutcome(
                topic, begun.outcome, begun.module_instance_id, detail=begun.detail or begun.reason
            )
        except ConnectionFailed:
            raise
        except Exception as error:
            if not run._began:
                raise
            return _failed(run, error)  # it is recorded, and told as data
        return StepOutcome(
            topic, StepResult.DONE, run.module_instance_id, run._rows.get("rows_inserted", 0)
        )

    def _step_in_database(self, topic: str) -> StepOutcome:
        """A step takes long: on a connection of its own. SIGTERM and Ctrl-C cancel it."""
        link = self.control.new_link()
        _signals.enter(lambda: None)
        try:
            answer = self._call(
                "step", StepAnswer, repeatable=False, link=link, p_topic=topic, p_hostid=_hostid()
            )
        except psycopg.errors.QueryCanceled as error:
            return StepOutcome(topic, StepResult.ERROR, _recorded(error), detail=_one_line(error))
        except BaseException:
            link.cancel()
            raise
        finally:
            link.close()
            _signals.leave()
        return StepOutcome(
            topic, answer.outcome, answer.module_instance_id, answer.rows, answer.detail
        )

    def begin_step(
        self,
        topic: str,
        *,
        hostid: str | None = None,
        lease: timedelta | None = None,
        execution_context: Mapping[str, Any] | None = None,
    ) -> StepBegun:
        """Claim, plan and begin a step on Spark in one transaction; `step` does it all.

        Args:
            topic: the topic.
            hostid: who holds it from now on.
            lease: how long the step may go unheard of.
            execution_context: where it runs.

        Raises:
            UnknownTopic: no topic has this name.
            WrongTopicState: the topic runs in PostgreSQL.
            AnswerLost: the connection broke before the answer came.
        """
        return self._call(
            "begin_step",
            StepBegun,
            repeatable=False,
            p_topic=topic,
            p_hostid=hostid,
            p_lease=lease,
            p_execution_context=_json(execution_context),
        )

    def commit_step(
        self,
        module_instance_id: int,
        plan_number: int,
        *,
        rows_inserted: int | None = None,
        nulls: Mapping[str, int] | None = None,
    ) -> None:
        """Move the offset and end the step well, in one commit.

        Raises:
            StepFenced: the topic was released, or somebody else has taken it.
            InstanceNotExecuting: the step has ended already, or was given up.
        """
        self._call(
            "commit_step",
            _Nothing,
            settled=lambda refusal: refusal.detail.get("execution_status_code") == "S",
            p_module_instance_id=module_instance_id,
            p_plan_number=plan_number,
            p_rows_inserted=rows_inserted,
            p_nulls=None if nulls is None else Jsonb(dict(nulls)),
        )

    def fail_step(
        self,
        module_instance_id: int,
        *,
        event_detail: str | None = None,
        event_return_code_details: str | None = None,
    ) -> None:
        """End a step as failed; the next one takes the same block."""
        self._call(
            "fail_step",
            _Nothing,
            settled=lambda refusal: refusal.detail.get("execution_status_code") == "F",
            p_module_instance_id=module_instance_id,
            p_event_detail=_text(event_detail),
            p_event_return_code_details=_text(event_return_code_details),
        )

    def note_error(self, topic: str, detail: str) -> None:
        """Record an error from before there was an instance, so that the topic backs off."""
        self._call("note_error", _Nothing, repeatable=False, p_topic=topic, p_detail=_text(detail))

    def definition(self, topic: str) -> TopicDefinition:
        """What a step of a topic runs.

        Raises:
            UnknownTopic: no topic has this name.
        """
        return self._rows("topic_definition", TopicDefinition, p_topic=topic)[0]

    # How a call is made -------------------------------------------------------------------------

    def _call(
        self,
        routine: str,
        row: type[T],
        *,
        repeatable: bool = True,
        settled: Callable[[StateError], bool] | None = None,
        link: Link | None = None,
        **arguments: Any,
    ) -> T:
        named, values = routine_arguments(arguments)
        query = sql.SQL("CALL omd_lineage.{}({})").format(sql.Identifier(routine), named)
        rows = self._execute(query, values, row, repeatable=repeatable, settled=settled, link=link)
        return rows[0] if rows else row()

    def _rows(self, function: str, row: type[T], **arguments: Any) -> list[T]:
        named, values = routine_arguments(arguments)
        query = sql.SQL("SELECT {} FROM omd_lineage.{}({})").format(
            _columns(row), sql.Identifier(function), named
        )
        return self._execute(query, values, row)

    def _execute(
        self,
        query: sql.Composed,
        values: Mapping[str, Any],
        row: type[T],
        *,
        repeatable: bool = True,
        settled: Callable[[StateError], bool] | None = None,
        link: Link | None = None,
    ) -> list[T]:
        return (link or self.control._link).execute(
            query, values, row, repeatable=repeatable, settled=settled
        )


class StepRun(ModuleRun):
    """A step on Spark as a block: its success moves the offset, its failure keeps the block.

    What `ModuleRun` does is done here too: lease, signals, rollback, rows and their stamps.

    Attributes:
        topic: whose step it is.
        definition: what is to be run.
        begun: the database's answer; None before.
        nulls: for each column written, how many rows had none.
    """

    _kind = "step"

    def __init__(
        self,
        lineage: Lineage,
        definition: TopicDefinition,
        *,
        spark: Any = None,
        session: Callable[[], Any] | None = None,
        lease: timedelta | EllipsisType | None = ...,
        rollback_executor: Callable[[str], object] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            lineage.control,
            definition.topic,
            lease=lease,
            spark=spark,
            rollback_executor=rollback_executor,
            context=context,
        )
        self.topic = definition.topic
        self.definition = definition
        self.module_code = definition.module_code or definition.topic
        self.begun: StepBegun | None = None
        self.nulls: dict[str, int] = {}
        self._lineage = lineage
        self._session = session

    def _ask(self, execution_context: dict[str, Any]) -> ModuleBegun:
        begun = self.begun = self._lineage.begin_step(
            self.topic,
            hostid=_hostid(),
            lease=self._lease,
            execution_context={**execution_context, "platform": "spark"},
        )
        self.module_instance_id = begun.module_instance_id or 0
        if begun.outcome is not StepResult.RUN:
            raise StepNotStarted(self.topic, self.module_instance_id, begun.outcome.value)
        self.load_window = LoadWindow(begun.start_pos, begun.start_id, begun.end_pos, begun.end_id)
        return ModuleBegun(
            self.module_instance_id,
            begun.processing_indicator or ProcessingIndicator.PROCEED,
            begun.instance_array or [],
            begun.reason,
        )

    def _prepare(self) -> None:
        # Only now: starting Spark takes seconds, and most who ask find somebody else at work.
        if self.spark is None and self._session is not None:
            self.spark = self._session()
        super()._prepare()

    def _succeed(self) -> None:
        assert self.begun is not None  # noqa: S101 - it was open
        self._lineage.commit_step(
            self.module_instance_id,
            self.begun.plan_number or 0,
            rows_inserted=self._rows.get("rows_inserted", 0),
            nulls=self.nulls,
        )

    def _fail(self, detail: str, name: str) -> None:
        self._lineage.fail_step(
            self.module_instance_id, event_detail=detail, event_return_code_details=name
        )


class Listener:
    """Hears the channel omd_lineage; `fileno` becomes readable when there is something to hear.

    Raises:
        ConnectionFailed: the connection broke, or could not be made.
    """

    def __init__(self, link: Link) -> None:
        self._link = link
        link.open()
        link.execute(sql.SQL("LISTEN omd_lineage").format(), {}, _Nothing, repeatable=True)

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *_: object) -> None:
        self._link.close()

    def fileno(self) -> int:
        """The socket."""
        return self._connection().fileno()

    def heard(self) -> set[str]:
        """The topics whose offsets have moved since the last call; does not wait."""
        pgconn = self._connection().pgconn
        topics = set()
        try:
            pgconn.consume_input()
            while (told := pgconn.notifies()) is not None:
                topics.add(told.extra.decode())
        except psycopg.Error as error:
            raise ConnectionFailed(f"the connection that listens was lost: {error}") from error
        return topics

    def _connection(self) -> psycopg.Connection[Any]:
        connection = self._link._connection
        if connection is None or connection.closed:
            raise ConnectionFailed("the connection that listens was lost")
        return connection


def _failed(run: StepRun, error: Exception) -> StepOutcome:
    return StepOutcome(
        run.topic, StepResult.ERROR, run.module_instance_id, detail=_one_line(error), error=error
    )


def _recorded(error: psycopg.Error) -> int | None:
    """The step that was cancelled, and whose failure is recorded."""
    if not isinstance(error, psycopg.errors.QueryCanceled):
        return None
    try:
        instance = json.loads(error.diag.message_detail or "{}").get("module_instance_id")
    except (ValueError, AttributeError):
        return None
    return instance if isinstance(instance, int) else None


def _one_line(error: BaseException) -> str:
    told = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    return " ".join(f"{type(error).__name__}: {told or error}".split())


def _hostid() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def _columns(row: type) -> sql.Composed:
    return sql.SQL(", ").join(sql.Identifier(field.name) for field in fields(row))
