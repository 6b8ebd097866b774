"""Functions of users, which a registration names as ``module:function``."""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Any

from omd._core.errors import one_line

if TYPE_CHECKING:
    from collections.abc import Callable


def imported(target: str) -> Any:
    """Return what ``module:name`` names; the name may be a dotted one.

    Raises:
        ImportError, AttributeError: there is no such module, or nothing of that name in it.
    """
    module, _, name = target.partition(":")
    return functools.reduce(getattr, name.split("."), importlib.import_module(module))


@functools.cache
def function_named(target: str) -> Callable[[Any], Any]:
    """Return the function ``module:function``; the function may be a dotted name."""
    try:
        function = imported(target)
    except Exception as error:
        raise ImportError(f"the target {target} can't be imported: {one_line(error)}") from error
    if not callable(function):
        raise TypeError(f"the target {target} is no function")
    return function  # type: ignore[no-any-return]
