"""Rulesets that Python calls: functions and decision models (docs/explanation/decision.md, C2)."""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING, Any

from omd._core.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["rules_of", "try_out"]


def rules_of(kind: str, content: Any) -> Callable[[list[dict[str, Any]]], list[Any]]:
    """Return a ruleset as a function of calls, which answers one each.

    Args:
        kind: PYTHON or JDM.
        content: ``module:function``, or the decision model.

    Raises:
        CallerError: the module or the function is not there, or zen-engine is not installed.
    """
    return _function(content) if kind == "PYTHON" else _model(content)


def try_out(
    rules: Callable[[list[dict[str, Any]]], list[Any]], call: Mapping[str, Any]
) -> tuple[Any, str | None]:
    """Make one call for a test case; return the answer as JSON has it, or what went wrong."""
    try:
        [answer] = rules([dict(call)])
        return json.loads(json.dumps(answer, allow_nan=False)), None
    except Exception as error:  # noqa: BLE001 - an error is the result of a test case too
        return None, f"{type(error).__name__}: {error}"


def _function(content: str) -> Callable[[list[dict[str, Any]]], list[Any]]:
    name, _, attribute = content.partition(":")
    try:
        call = getattr(importlib.import_module(name), attribute)
    except (ImportError, AttributeError) as error:
        raise CallerError(
            f"the ruleset {content} is not found: {error}",
            hint="Install its module, or name the folder in PYTHONPATH.",
        ) from error

    def answers(calls: list[dict[str, Any]]) -> list[Any]:
        told = call(calls)
        if not isinstance(told, list) or len(told) != len(calls):
            raise ValueError(f"{content} has not answered a list of {len(calls)} items")
        return told

    return answers


def _model(content: Mapping[str, Any]) -> Callable[[list[dict[str, Any]]], list[Any]]:
    try:
        zen: Any = importlib.import_module("zen")
    except ImportError as error:
        raise CallerError(
            "a decision model needs zen-engine, which is not installed",
            hint="pip install 'omd[decision]'",
        ) from error
    # A static loader compiles the model once; a decision of its own would be compiled at each call.
    engine = zen.ZenEngine({"loader": {"type": "static", "content": {"model": content}}})

    def answers(calls: list[dict[str, Any]]) -> list[Any]:
        try:
            return [engine.evaluate("model", json.dumps(call).encode())["result"] for call in calls]
        except RuntimeError as error:
            raise ValueError(_reason(error)) from error

    return answers


def _reason(error: RuntimeError) -> str:
    """Return why a model failed; zen-engine adds a stack of its own."""
    line = str(error).partition("\n")[0]
    try:
        told = json.loads(line)
    except ValueError:
        return line
    return f"node {told['nodeId']}: {told['source']}" if {"nodeId", "source"} <= {*told} else line
