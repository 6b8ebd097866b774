"""What is imported on first use: the names of a package, and what methods forward to."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from omd._core import former, packages


def lazily(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` for a package.

    Args:
        package: the name of the package.
        homes: the names of the package by the module that defines them; a module may also be
            listed under its own name.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def get(name: str) -> Any:
        if name not in home:
            answer = None if name.startswith("_") else former.refusal(f"{package}.{name}")
            raise AttributeError(answer or f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(home[name])
        value = module if module.__name__ == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return sorted(home), get, lambda: sorted({*vars(sys.modules[package]), *home})


def forwarded(function: str) -> Any:
    """Return a method that is a function of a module, which its first call imports.

    Args:
        function: the module and the name, as in ``omd.spark.job.read``.
    """
    module, _, name = function.rpartition(".")

    def method(_self: object, *arguments: Any, **options: Any) -> Any:
        with packages.may_lack_extras():  # the function itself says what it needs
            target = getattr(importlib.import_module(module), name)
        return target(*arguments, **options)

    return method
