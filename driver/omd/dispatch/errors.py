"""Errors of the room dispatch (docs/explanation/dispatch.md)."""
# ruff: noqa: N818 - the names say what happened; a suffix Error would add nothing

from __future__ import annotations

from omd._core.errors import CallerError, ConfigurationError, StateError

__all__ = [
    "BackendGone",
    "CriterionForbidden",
    "CriterionInvalid",
    "CriterionMissing",
    "CriterionUnknown",
    "DuplicateTask",
    "MigrationNotClean",
    "SearchNotAllowed",
    "TwinDiffers",
    "UnknownFamily",
    "UnknownSchedule",
    "UnknownSuspension",
    "UnknownTask",
    "UnknownTaskType",
    "WrongMigrationStep",
    "WrongTaskState",
]


class UnknownFamily(CallerError, code="OM070"):
    """No family has this code."""


class UnknownTaskType(CallerError, code="OM071"):
    """The family has no type of tasks with this name."""


class UnknownTask(CallerError, code="OM072"):
    """No task has this id; a finished one goes when its partition is purged."""


class UnknownSuspension(CallerError, code="OM073"):
    """No suspension has this id, or it was resumed."""


class UnknownSchedule(CallerError, code="OM074"):
    """No schedule has this code."""


class CriterionUnknown(CallerError, code="OM075"):
    """The model of the family has no such criterion."""


class CriterionMissing(CallerError, code="OM076"):
    """A criterion that the type needs was not given."""


class CriterionForbidden(CallerError, code="OM077"):
    """A criterion was given that the type must not have."""


class CriterionInvalid(CallerError, code="OM078"):
    """The value of a criterion is not of its type."""


class SearchNotAllowed(CallerError, code="OM079"):
    """No declared index serves the search."""


class DuplicateTask(StateError, code="OM170"):
    """A live task has the same key."""


class WrongTaskState(StateError, code="OM171"):
    """The state of the task does not allow the call."""


class BackendGone(StateError, code="OM172"):
    """The backend is not registered, or was declared dead."""


class WrongMigrationStep(StateError, code="OM173"):
    """The migration status of the family does not allow the call."""


class MigrationNotClean(StateError, code="OM174"):
    """The two models differ."""


class TwinDiffers(ConfigurationError, code="OM270"):
    """The spare partition is not like the partition that it replaces."""
