"""The typed answers of the database: codes and rows, without any rule about them.

Codes: process-control.md section 1. Rows: sections 3 and 10.
"""
# ruff: noqa: TC002, TC003 - the types of fields are looked up at run time

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, ClassVar, Generic, TypeVar, get_args, get_type_hints

from psycopg.rows import BaseRowFactory

from omd.errors import NotStarted

T = TypeVar("T")


class _Code(str, enum.Enum):
    def __str__(self) -> str:
        return str(self.value)


class ExecutionStatus(_Code):
    """Where an instance stands."""

    EXECUTING = "E"
    SUCCEEDED = "S"
    FAILED = "F"
    ABORTED = "A"
    CANCELLED = "C"


class ProcessingIndicator(_Code):
    """What the evaluation tells an instance to do."""

    PROCEED = "P"
    ABORT = "A"
    CANCEL = "C"
    ROLLBACK = "R"


class NextRunIndicator(_Code):
    """What an instance tells the next run; an administrator may change it."""

    PROCEED = "P"
    ROLLBACK = "R"
    CANCEL = "C"


class StepResult(_Code):
    """How a step of a topic went (lineage.md section 4)."""

    RUN = "RUN"  # only as the answer of begin_step: go on
    DONE = "DONE"
    ERROR = "ERROR"
    NOJOBS = "NOJOBS"
    MUTEX = "MUTEX"
    FAILED = "FAILED"
    ABORTED = "ABORTED"
    SKIPPED = "SKIPPED"


@functools.cache
def _codes_of(row: type) -> dict[str, type[_Code]]:
    """Which fields of a row class hold a code."""
    found = {}
    for name, hint in get_type_hints(row).items():
        for candidate in (hint, *get_args(hint)):
            if isinstance(candidate, type) and issubclass(candidate, _Code):
                found[name] = candidate
    return found


def rows_of(row: type[T]) -> BaseRowFactory[T]:
    """Like psycopg's `class_row`; drops the ``p_`` of OUT parameters and makes enums of codes."""
    codes = _codes_of(row)  # type: ignore[arg-type, unused-ignore]

    def factory(cursor: Any) -> Callable[[Sequence[Any]], T]:
        names = [column.name.removeprefix("p_") for column in cursor.description or ()]

        def make(values: Sequence[Any]) -> T:
            fields = dict(zip(names, values, strict=True))
            for name, code in codes.items():
                if fields.get(name) is not None:
                    fields[name] = code(fields[name])
            return row(**fields)

        return make

    return factory


# Answers of procedures and functions ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BatchBegun:
    """Answer of begin_batch."""

    batch_instance_id: int
    processing_indicator: ProcessingIndicator
    reason: str | None


@dataclass(frozen=True, slots=True)
class ModuleBegun:
    """Answer of begin_module; the array holds what was or has to be rolled back."""

    module_instance_id: int
    processing_indicator: ProcessingIndicator
    instance_array: list[int]
    reason: str | None


@dataclass(frozen=True, slots=True)
class BatchEvaluation:
    """Answer of evaluate_batch."""

    processing_indicator: ProcessingIndicator
    reason: str | None


@dataclass(frozen=True, slots=True)
class ModuleEvaluation:
    """Answer of evaluate_module; the array holds what was or has to be rolled back."""

    processing_indicator: ProcessingIndicator
    instance_array: list[int]
    reason: str | None


@dataclass(frozen=True, slots=True)
class BatchRan:
    """Answer of run_batch."""

    batch_instance_id: int
    execution_status_code: ExecutionStatus


@dataclass(frozen=True, slots=True)
class ModuleRan:
    """Answer of run_module."""

    module_instance_id: int
    execution_status_code: ExecutionStatus


@dataclass(frozen=True, slots=True)
class LoadWindowStart:
    """Answer of create_load_window: where the window starts, exclusive."""

    start_value: datetime | None
    start_id: int | None


@dataclass(frozen=True, slots=True)
class LoadWindow:
    """The slice of the source that a run reads: after the start, up to the end; pairs of both."""

    start_value: datetime | None
    start_id: int | None
    end_value: datetime | None
    end_id: int | None


@dataclass(frozen=True, slots=True)
class PreviousBatchInstance:
    """Answer of previous_batch_instance: the last real run."""

    batch_instance_id: int
    start_datetime: datetime
    end_datetime: datetime
    execution_status_code: ExecutionStatus
    processing_indicator: ProcessingIndicator
    next_run_indicator: NextRunIndicator


@dataclass(frozen=True, slots=True)
class PreviousModuleInstance:
    """Answer of previous_module_instance; the array is what a begin would roll back now."""

    module_instance_id: int
    batch_instance_id: int
    start_datetime: datetime
    end_datetime: datetime
    execution_status_code: ExecutionStatus
    processing_indicator: ProcessingIndicator
    next_run_indicator: NextRunIndicator
    instance_array: list[int]


@dataclass(frozen=True, slots=True)
class Reaped:
    """What `Control.reap_expired_instances` gave up: Module Instances and Batch Instances."""

    reaped: list[int]
    reaped_batches: list[int]


@dataclass(frozen=True, slots=True)
class RollbackStatement:
    """A row of build_rollback_sql."""

    step: int
    platform_code: str
    statement: str


@dataclass(frozen=True, slots=True)
class RollbackPreview:
    """A row of preview_rollback; ``row_count`` is None where nothing tells how to count."""

    step: int
    platform_code: str
    statement: str
    row_count: int | None


@dataclass(frozen=True, slots=True)
class AuditColumnValue:
    """A row of audit_column_values; no instance where the column is NULL."""

    problem: str
    module_instance_id: int | None
    row_count: int


@dataclass(frozen=True, slots=True)
class Purged:
    """How many rows `Control.purge_history` deleted."""

    module_instances: int
    batch_instances: int
    events: int


@dataclass(frozen=True, slots=True)
class ModuleDefinition:
    """A Module as registered."""

    module_id: int
    module_code: str
    area_code: str
    table_code: str
    table_type_code: str
    platform_code: str
    business_key_columns: list[str] | None
    effective_date_column: str | None
    expiry_date_column: str | None
    current_indicator_column: str | None
    insert_instance_column: str
    update_instance_column: str | None
    executable: str | None
    inactive_indicator: str
    table_format_code: str | None
    open_expiry_date: str


# Rows of the views in omd_report ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BatchRow:
    """A Batch and its last instance."""

    view: ClassVar[str] = "batch_list"

    batch_id: int
    batch_code: str
    batch_description: str | None
    frequency_code: str
    inactive_indicator: str
    continue_on_failure: bool
    module_count: int
    last_batch_instance_id: int | None
    last_execution_status_code: ExecutionStatus | None
    last_start_datetime: datetime | None
    last_end_datetime: datetime | None


@dataclass(frozen=True, slots=True)
class ModuleRow:
    """A Module, its last instance and what its next begin rolls back."""

    view: ClassVar[str] = "module_list"

    module_id: int
    module_code: str
    module_description: str | None
    area_code: str
    table_code: str
    table_type_code: str
    platform_code: str
    inactive_indicator: str
    batch_codes: list[str]
    last_module_instance_id: int | None
    last_execution_status_code: ExecutionStatus | None
    last_start_datetime: datetime | None
    last_end_datetime: datetime | None
    pending_rollback: list[int]


@dataclass(frozen=True, slots=True)
class BatchModuleRow:
    """A Module's or a child Batch's place in a Batch."""

    view: ClassVar[str] = "batch_module_list"

    batch_code: str
    sequence: int
    module_code: str | None
    child_batch_code: str | None
    inactive_indicator: str


@dataclass(frozen=True, slots=True)
class CurrentRow:
    """An executing instance."""

    view: ClassVar[str] = "current_processing"

    instance_type: str
    instance_id: int
    code: str
    batch_instance_id: int
    start_datetime: datetime
    running_for: timedelta
    processing_indicator: ProcessingIndicator
    lease_expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class BatchExecutionRow:
    """A Batch Instance."""

    view: ClassVar[str] = "batch_execution_log"

    batch_instance_id: int
    batch_code: str
    parent_batch_instance_id: int | None
    execution_status_code: ExecutionStatus
    processing_indicator: ProcessingIndicator
    next_run_indicator: NextRunIndicator
    reason_code: str | None
    start_datetime: datetime
    end_datetime: datetime | None
    duration: timedelta | None
    execution_context: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class ModuleExecutionRow:
    """A Module Instance."""

    view: ClassVar[str] = "module_execution_log"

    module_instance_id: int
    module_code: str
    batch_instance_id: int
    batch_code: str | None
    execution_status_code: ExecutionStatus
    processing_indicator: ProcessingIndicator
    next_run_indicator: NextRunIndicator
    reason_code: str | None
    start_datetime: datetime
    end_datetime: datetime | None
    duration: timedelta | None
    rows_input: int
    rows_inserted: int
    rows_updated: int
    rows_deleted: int
    rows_discarded: int
    rows_rejected: int
    rollback_instance_array: list[int] | None
    rolled_back_by_module_instance_id: int | None
    execution_context: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class EventRow:
    """An entry of the event log."""

    view: ClassVar[str] = "event_log"

    event_id: int
    event_datetime: datetime
    event_type_code: int
    event_type_description: str
    batch_code: str | None
    module_code: str | None
    batch_instance_id: int
    module_instance_id: int
    event_return_code_details: str | None
    event_detail: str | None
    error_bitmap: int | None


@dataclass(frozen=True, slots=True)
class DirectiveRow:
    """A next run indicator C or R that no run has consumed yet."""

    view: ClassVar[str] = "directives"

    instance_type: str
    instance_id: int
    code: str
    next_run_indicator: NextRunIndicator
    execution_status_code: ExecutionStatus
    end_datetime: datetime


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """A parameter's value for a Batch or a Module."""

    view: ClassVar[str] = "parameter_list"

    parameter_code: str
    batch_code: str | None
    module_code: str | None
    parameter_value: str | None


@dataclass(frozen=True, slots=True)
class FailureRow:
    """A failed instance, what it said and whether it is undone."""

    view: ClassVar[str] = "failures"

    event_id: int
    event_datetime: datetime
    instance_type: str
    instance_id: int
    code: str
    batch_instance_id: int
    batch_code: str | None
    module_code: str | None
    start_datetime: datetime
    event_return_code_details: str | None
    event_detail: str | None
    is_rolled_back: bool
    rolled_back_by_module_instance_id: int | None


@dataclass(frozen=True, slots=True)
class ExceptionRow:
    """What needs a look."""

    view: ClassVar[str] = "exceptions"

    exception_code: str
    instance_type: str
    code: str
    instance_id: int | None
    since_datetime: datetime | None
    detail: str | None


@dataclass(frozen=True, slots=True)
class PendingRollbackRow:
    """What the next begin of a Module rolls back first."""

    view: ClassVar[str] = "pending_rollbacks"

    module_code: str
    table_code: str
    platform_code: str
    module_instance_ids: list[int]
    since_datetime: datetime | None
    companion_instance_ids: list[int] | None


@dataclass(frozen=True, slots=True)
class CommonErrorRow:
    """An error of the last 30 days, and how often it came."""

    view: ClassVar[str] = "common_errors"

    message: str
    event_count: int
    first_datetime: datetime
    last_datetime: datetime
    last_event_return_code_details: str | None
    last_batch_instance_id: int
    last_module_instance_id: int


@dataclass(frozen=True, slots=True)
class LoadTimeRow:
    """What a Batch or Module has cost on one day."""

    view: ClassVar[str] = "cumulative_load_time"

    day: date
    instance_type: str
    code: str
    runs: int
    failed_runs: int
    total_duration: timedelta
    average_duration: timedelta
    longest_duration: timedelta
    rows_input: int
    rows_inserted: int
    rows_updated: int
    rows_deleted: int


@dataclass(frozen=True, slots=True)
class ThroughputRow:
    """Module Instances and rows of one day."""

    view: ClassVar[str] = "throughput_per_day"

    day: date
    instances: int
    executing: int
    succeeded: int
    failed: int
    aborted: int
    skipped: int
    rows_input: int
    rows_inserted: int
    rows_updated: int
    rows_deleted: int
    rows_discarded: int
    rows_rejected: int
    load_time: timedelta
    rows_per_second: float | None


@dataclass(frozen=True, slots=True)
class WriteRow:
    """What a run has written to a table, as the ledger has it."""

    view: ClassVar[str] = "write_log"

    module_instance_id: int
    module_code: str | None
    write_number: int
    table_code: str
    partition_count: int
    row_count: int
    first_datetime: datetime
    last_datetime: datetime


@dataclass(frozen=True, slots=True)
class AuditColumnsRow:
    """The audit columns of a target in this database."""

    view: ClassVar[str] = "audit_columns"

    module_code: str
    table_code: str
    insert_instance_column: str
    update_instance_column: str
    table_exists: bool
    insert_column_exists: bool
    insert_column_is_bigint: bool
    insert_column_is_not_null: bool
    insert_column_is_indexed: bool
    update_column_exists: bool
    update_column_is_bigint: bool
    problems: list[str]


@dataclass(frozen=True, slots=True)
class TraceRow:
    """All that is known of a Module Instance; parents and events are objects, as in the view."""

    view: ClassVar[str] = "trace"

    module_instance_id: int
    module_code: str
    module_description: str | None
    area_code: str
    table_code: str
    table_type_code: str | None
    platform_code: str
    batch_instance_id: int
    batch_code: str | None
    parents: list[dict[str, Any]]
    execution_status_code: ExecutionStatus
    processing_indicator: ProcessingIndicator
    next_run_indicator: NextRunIndicator
    reason_code: str | None
    start_datetime: datetime
    end_datetime: datetime | None
    duration: timedelta
    lease_expires_at: datetime | None
    window_start_value: datetime | None
    window_start_id: int | None
    window_end_value: datetime | None
    window_end_id: int | None
    window_is_taken_back: bool | None
    rows_input: int
    rows_inserted: int
    rows_updated: int
    rows_deleted: int
    rows_discarded: int
    rows_rejected: int
    execution_context: dict[str, Any] | None
    undid_module_instance_ids: list[int]
    rolled_back_by_module_instance_id: int | None
    events: list[dict[str, Any]]


# Lineage ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """How a step ended (lineage.md section 4).

    Attributes:
        topic: whose step it was.
        outcome: DONE, or why not.
        module_instance_id: its instance; None where there was none.
        rows: rows written; None where nothing was.
        detail: what the database says, or what the job raised, in one line.
        error: what the job on Spark raised.
    """

    topic: str
    outcome: StepResult
    module_instance_id: int | None = None
    rows: int | None = None
    detail: str | None = None
    error: BaseException | None = None

    @property
    def succeeded(self) -> bool:
        """Whether the topic has moved on."""
        return self.outcome is StepResult.DONE


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """Answer of omd_lineage.step."""

    outcome: StepResult
    module_instance_id: int | None
    rows: int | None
    detail: str | None


@dataclass(frozen=True, slots=True)
class StepBegun:
    """Answer of omd_lineage.begin_step: RUN with an instance and its block, or why not."""

    outcome: StepResult
    module_instance_id: int | None
    processing_indicator: ProcessingIndicator | None
    instance_array: list[int] | None
    reason: str | None
    plan_number: int | None
    start_pos: datetime | None
    start_id: int | None
    end_pos: datetime | None
    end_id: int | None
    detail: str | None


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A row of omd_lineage.plan: the block that a topic would take now."""

    topic: str
    is_planned: bool
    start_pos: datetime | None
    start_id: int | None
    end_pos: datetime | None
    end_id: int | None
    row_count: int | None
    is_full: bool | None
    upto: datetime | None
    blocker: str | None
    detail: str | None


@dataclass(frozen=True, slots=True)
class ReadyRow:
    """A topic, how far it lags and whether it may run; row of omd_lineage.ready_list."""

    topic: str
    is_ready: bool
    reason: str
    upto: datetime | None
    blocker: str | None
    lag: timedelta | None
    processor: str
    engine: str
    state: str
    hostid: str
    attempts: int


@dataclass(frozen=True, slots=True)
class LineageLagRow:
    """A topic, how far it is behind, and what holds it."""

    view: ClassVar[str] = "lineage_lag"

    topic: str
    lag: timedelta | None
    blocker: str | None
    is_ready: bool
    reason: str
    last_pos: datetime | None
    last_id: int | None
    upto: datetime | None
    attempts: int
    hostid: str
    state: str


@dataclass(frozen=True, slots=True)
class LineageGapRow:
    """A block that does not start where the one before it ended."""

    view: ClassVar[str] = "lineage_gaps"

    topic: str
    module_instance_id: int
    previous_end_pos: datetime | None
    previous_end_id: int | None
    start_pos: datetime | None
    start_id: int | None
    kind: str


@dataclass(frozen=True, slots=True)
class LineageErrorRow:
    """A failed step, and the block that it did not get."""

    view: ClassVar[str] = "lineage_errors"

    event_id: int
    topic: str
    ts: datetime
    module_instance_id: int | None
    error_code: str | None
    error: str | None
    start_pos: datetime | None
    start_id: int | None
    end_pos: datetime | None
    end_id: int | None


@dataclass(frozen=True, slots=True)
class LineageThroughputRow:
    """Steps and rows of a topic in one hour."""

    view: ClassVar[str] = "lineage_throughput"

    topic: str
    hour: datetime
    steps: int
    rows: int
    max_lag: timedelta | None
    impatient_steps: int


@dataclass(frozen=True, slots=True)
class LineageGraphRow:
    """A topic and a topic that makes what it depends on; one without is a row too."""

    view: ClassVar[str] = "lineage_graph"

    topic: str
    table_code: str
    processor: str | None
    engine: str
    ordinal: int | None
    depends_on: str | None
    source_topic: str | None


# What a driver run ended with -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """How `run` or a decorated job ended (spark-data-path.md section 1).

    Attributes:
        code: the Module's or Batch's code.
        instance_id: its instance.
        status: S, F, C or A.
        indicator: P, C or A: what the evaluation answered in the end.
        reason: the reason code of a skip or an abort.
        value: what the job returned.
        error: what the job raised; `NotStarted` when it was not called.
    """

    code: str
    instance_id: int
    status: ExecutionStatus
    indicator: ProcessingIndicator
    reason: str | None = None
    value: T | None = None
    error: BaseException | None = None

    @property
    def succeeded(self) -> bool:
        """Whether the job ran to its end."""
        return self.status is ExecutionStatus.SUCCEEDED

    @property
    def not_started(self) -> bool:
        """Whether the job was not called at all."""
        return isinstance(self.error, NotStarted)

    def result(self) -> T:
        """What the job returned; raises what the job raised, or `NotStarted`."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]
