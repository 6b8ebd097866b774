"""Functions of users, which a registration names as ``module:function``."""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Any

from omd._core.errors import one_line

if TYPE_CHECKING:
    from collections.abc import Callable


@functools.cache
def function_named(target: str) -> Callable[[Any], Any]:
    """Return the function ``module:function``; the function may be a dotted name."""
    module, _, name = target.partition(":")
    try:
        function: Any = importlib.import_module(module)
        for part in name.split("."):
            function = getattr(function, part)
    except Exception as error:
        raise ImportError(f"the target {target} can't be imported: {one_line(error)}") from error
    if not callable(function):
        raise TypeError(f"the target {target} is no function")
    return function  # type: ignore[no-any-return]
