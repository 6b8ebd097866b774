"""Rulesets that Python calls: functions and decision models (docs/explanation/decision.md, C2)."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from omd._core import packages
from omd._core.errors import CallerError

ALLOWED = "OMD_RULESET_MODULES"
"""The environment variable with the modules of which a PYTHON ruleset may name a function."""

# Of the standard library only what has no effect, where the variable says nothing.
_HARMLESS = frozenset({"builtins:sorted", "copy", "json", "math", "operator", "statistics"})


def require_allowed(kind: str, content: Any) -> None:
    """Refuse a PYTHON ruleset whose module is not in the list of `ALLOWED`, before its import.

    An entry is a module, which stands for what is below it too, or ``module:function``; entries are
    separated by commas. Without the variable any module is allowed that belongs neither to Python
    nor to OMD.

    Raises:
        CallerError: the module is not in the list.
    """
    if kind != "PYTHON":
        return
    module = str(content).partition(":")[0]
    parts = module.split(".")
    above = {".".join(parts[:number]) for number in range(1, len(parts) + 1)} | {content}
    allowed = os.environ.get(ALLOWED)
    if allowed is not None:
        is_allowed = bool(above & {entry.strip() for entry in allowed.split(",")})
    else:
        is_allowed = bool(above & _HARMLESS) or parts[0] not in {*sys.stdlib_module_names, "omd"}
    if not is_allowed:
        raise CallerError(
            f"the ruleset {content} is not allowed: {module} is not in the list of modules",
            hint=f"Name the module in the environment variable {ALLOWED}, where omd runs.",
        )


class NoJson(ValueError):  # noqa: N818 - it says what the answer is
    """An answer is no document of JSON."""


def rules_of(kind: str, content: Any) -> Callable[[list[dict[str, Any]]], list[Any]]:
    """Return a ruleset as a function of calls, which answers one each.

    Args:
        kind: PYTHON or JDM.
        content: ``module:function``, or the decision model.

    Raises:
        CallerError: the module is not allowed, it or the function is not there, or zen-engine is
            not installed.
    """
    require_allowed(kind, content)
    if kind == "PYTHON":
        return _function(content)
    evaluate = _model(content)
    return lambda calls: [evaluate(json.dumps(call), False)["result"] for call in calls]


def answers_of(
    kind: str, content: Any, *, with_trace: bool = False
) -> Callable[[Sequence[str]], list[tuple[str, str | None]]]:
    """Return a ruleset as a function of texts of JSON, which answers an answer and a trace each.

    Args:
        kind: PYTHON or JDM.
        content: ``module:function``, or the decision model.
        with_trace: whether a decision model tells which rules were hit.

    Raises:
        CallerError: the module or the function is not there, or zen-engine is not installed.
        NoJson: the function that is returned raises it for an answer that is no JSON.
    """
    if kind == "PYTHON":
        call = _function(content)
        return lambda texts: [
            (_json_of(answer), None) for answer in call([read_json(text) for text in texts])
        ]
    evaluate = _model(content)

    def answer(text: str) -> tuple[str, str | None]:
        evaluated = evaluate(text, with_trace)
        trace = _storable(write_json(evaluated["trace"])) if with_trace else None
        return _storable(write_json(evaluated["result"])), trace

    # One after the other: a thousand answers that wait would keep the garbage collector busy.
    return lambda texts: [answer(text) for text in texts]


_read = msgspec.json.Decoder().decode
_write = msgspec.json.Encoder().encode
_write_strictly = json.JSONEncoder(allow_nan=False).encode


def read_json(text: str) -> Any:
    """Return what a document of JSON says, a third of the time that `json.loads` takes."""
    try:
        return _read(text)
    except msgspec.MsgspecError:  # a number beyond those of a double, half a surrogate pair
        return json.loads(text)


def write_json(value: Any) -> str:
    """Return a value as JSON; it is one that JSON has, such as `read_json` or a model answers."""
    return _write(value).decode()


def _json_of(answer: Any) -> str:
    """Return what a function has answered, which may be anything, as JSON."""
    try:
        text = _write_strictly(answer)
    except (TypeError, ValueError) as error:
        raise NoJson(f"the answer is no JSON: {error}") from error
    return _storable(text)


def _storable(text: str) -> str:
    if character := odd_character(text):
        raise NoJson(f"a text of the answer has {character}")
    return text


def odd_character(text: str) -> str | None:
    """Return what a document of JSON has that no text of PostgreSQL can have; None: nothing."""
    if "\\u0000" not in text and "\\ud" not in text:
        return None
    texts = _texts(json.loads(text))
    if "\0" in texts:
        return "the character U+0000"
    try:
        texts.encode()
    except UnicodeEncodeError:
        return "half a surrogate pair"
    return None


def _texts(answer: Any) -> str:
    """Return all texts of an answer in one."""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, dict):
        return "".join(f"{key}{_texts(value)}" for key, value in answer.items())
    return "".join(map(_texts, answer)) if isinstance(answer, (list, tuple)) else ""


def try_out(
    rules: Callable[[list[dict[str, Any]]], list[Any]], call: Mapping[str, Any]
) -> tuple[Any, str | None]:
    """Make one call for a test case; return the answer as JSON has it, or what went wrong."""
    try:
        [answer] = rules([dict(call)])
        return json.loads(_json_of(answer)), None
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
        returned = call(calls)
        if not isinstance(returned, list) or len(returned) != len(calls):
            raise ValueError(f"{content} has not answered a list of {len(calls)} items")
        return returned

    return answers


def _model(content: Mapping[str, Any]) -> Callable[[str, bool], Any]:
    try:
        zen: Any = importlib.import_module("zen")
    except ImportError as error:
        raise CallerError(
            "a decision model needs zen-engine, which is not installed",
            hint=packages.install("decision"),
        ) from error
    # A static loader compiles the model once; a decision of its own would be compiled at each call.
    engine = zen.ZenEngine({"loader": {"type": "static", "content": {"model": content}}})

    def evaluate(call: str, with_trace: bool) -> Any:
        try:
            if with_trace:
                return engine.evaluate("model", call, {"trace": True})
            return engine.evaluate("model", call)
        except RuntimeError as error:
            raise ValueError(_reason(error)) from error

    return evaluate


def _reason(error: RuntimeError) -> str:
    """Return why a model failed; zen-engine adds a stack of its own."""
    line = str(error).partition("\n")[0]
    try:
        data = json.loads(line)
    except ValueError:
        return line
    return f"node {data['nodeId']}: {data['source']}" if {"nodeId", "source"} <= {*data} else line
