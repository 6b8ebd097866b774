"""Functions of users, which a registration names as ``module:function``.

Who registers names what is executed, with the rights and the account of who executes it. So each
name is looked at before anything is imported (SECURITY.md, the border).
"""

from __future__ import annotations

import functools
import importlib
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from omd._core.errors import CallerError, one_line

# What OMD's own types of tasks name: the names stand in databases, whatever folder has the function
# in this version.
_OURS = {
    "omd.lineage.task:run": "omd.programs.worker.topic:run",
    "omd.work:perform": "omd.programs.worker.work:perform",
}
_CLOSED = frozenset({*sys.stdlib_module_names, "__main__", "omd"})
_CODE = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.MethodWrapperType,
    type,
)


@dataclass(frozen=True, slots=True)
class Permitted:
    """What a process executes of that which a registration names.

    Attributes:
        jobs: patterns of functions, or of modules, as of shell file names; None: all but those of
            Python and of OMD, which nothing permits.
        sql: whether it has the database execute SQL that is registered.
    """

    jobs: tuple[str, ...] | None = None
    sql: bool = True

    @classmethod
    def read(cls, jobs: str | None, sql: str = "on") -> Permitted:
        """Return what options of a worker say; the patterns are separated by commas."""
        if jobs is None:
            return cls(None, sql == "on")
        return cls(tuple(filter(None, map(str.strip, jobs.split(",")))), sql == "on")

    def require(self, target: str) -> None:
        """Refuse ``module:function`` before its import.

        Raises:
            CallerError: it is part of Python or of OMD, or no pattern has it.
        """
        if target in _OURS:
            return
        module = target.partition(":")[0]
        if module.split(".")[0] in _CLOSED:
            raise _closed(target)
        names = (target, target.replace(":", "."), module)
        if self.jobs is None or any(fnmatchcase(n, job) for n in names for job in self.jobs):
            return
        raise CallerError(
            f"the function {target} is refused: this worker does not let it",
            hint=f"omd worker --jobs '{module}.*', or the same in OMD_JOBS, lets it.",
        )

    def require_sql(self, what: str) -> None:
        """Refuse SQL that is registered.

        Raises:
            CallerError: this process takes none.
        """
        if not self.sql:
            raise CallerError(
                f"the SQL of {what} is refused: this worker takes none",
                hint="A worker without --sql off takes it.",
            )

    def imported(self, target: str) -> Any:
        """Return what ``module:name`` names; the name may be a dotted one.

        Raises:
            CallerError: it is refused.
            ImportError, AttributeError: there is no such module, or nothing of that name in it.
        """
        self.require(target)
        module, _, name = place_of(target).partition(":")
        value: Any = importlib.import_module(module)
        for attribute in name.split("."):
            value = getattr(value, attribute)
            # A module of users has imported others, whose functions it must not lend its name.
            home = value if isinstance(value, types.ModuleType) else None
            if isinstance(value, _CODE):
                home = getattr(value, "__module__", None)
            name_of = home.__name__ if isinstance(home, types.ModuleType) else home or ""
            if target not in _OURS and str(name_of).split(".")[0] in _CLOSED:
                raise _closed(target)
        return value


def place_of(target: str) -> str:
    """Return ``module:function`` as this version has it; that of users is what they named."""
    return _OURS.get(target, target)


def _closed(target: str) -> CallerError:
    return CallerError(
        f"the function {target} is refused: it is part of Python or of OMD",
        hint="Name a function of a module of your own.",
    )


@functools.cache
def function_named(target: str, permitted: Permitted = Permitted()) -> Callable[[Any], Any]:
    """Return the function ``module:function``; the function may be a dotted name."""
    try:
        function = permitted.imported(target)
    except CallerError:
        raise
    except Exception as error:
        raise ImportError(f"the target {target} can't be imported: {one_line(error)}") from error
    if not callable(function):
        raise TypeError(f"the target {target} is no function")
    return function  # type: ignore[no-any-return]
