"""Cells of tables: each key leads to its object, each value is written as people read it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from omd.programs.page.markup import Html, badge, el, join, message, moment, name
from omd.programs.terminal.text import as_json, as_text
from omd.programs.web import linked, lists, parts
from omd.programs.web.section import Asked

MOST_CHARACTERS = 160  # of a value in a cell; more is opened


def run(instance: int | None) -> Html | None:
    """Return a Module Instance; 0 stands for none."""
    return linked.to("MODULE_INSTANCE", instance) if instance else None


def batch_run(instance: int | None) -> Html | None:
    """Return a Batch Instance; 0 stands for none."""
    return linked.to("BATCH_INSTANCE", instance) if instance else None


def of(kind: str, key: object) -> Html | None:
    """Return an object that may be missing."""
    return None if key is None else linked.to(kind, key)


def module(code: str | None) -> Html | None:
    """Return a Module."""
    return of("MODULE", code)


def task(task_id: int) -> Html:
    """Return a task."""
    return linked.to("TASK", task_id)


def delivery(delivery_id: int | None) -> Html | None:
    """Return a delivery."""
    return of("DELIVERY", delivery_id)


def decisions(instance: int | None, title: str | None = None) -> Html | None:
    """Return what the run of a stage has decided."""
    if instance is None:
        return None
    return parts.link(parts.path("/decisions/{run}", run=instance), title or instance)


# What can be done -------------------------------------------------------------------------------


def action(
    asked: Asked,
    code: str,
    key: object,
    title: str,
    arguments: Mapping[str, object] | None = None,
) -> Html | None:
    """Return what can be done with a row of a list; None: the person may not."""
    if code not in asked.person.rights.actions:
        return None
    href = parts.path("/do/{action_code}/{key}", arguments, action_code=code, key=key)
    return parts.deed(href, code, title)


def bulk(asked: Asked, code: str, filter_: Mapping[str, object], title: str) -> Html | None:
    """Return what can be done with all that a filter finds; None: the person may not."""
    if code not in asked.person.rights.actions:
        return None
    return parts.deed(parts.path("/bulk/{action_code}", filter_, action_code=code), code, title)


def actions(asked: Asked, *which: tuple[Any, ...]) -> Html | None:
    """Return several actions of a row, each with its code, its key and its title."""
    links = lists.spaced([action(asked, *one) for one in which])
    return el("span", *links, cls="actions") if links else None


# Values -----------------------------------------------------------------------------------------


def modules(module_codes: Iterable[str] | None) -> Html:
    """Return Modules."""
    return join(lists.spaced([module(code) for code in module_codes or ()]))


state = badge  # of any vocabulary: a colour of S, F, E, A and C, and the word for it


def text(value: str | None) -> Html | None:
    """Return a text of the user's."""
    return None if value is None else name(value)


def words(value: str | None) -> Html | None:
    """Return a text that may be long: its first line, until it is opened."""
    return None if value is None else message(value, MOST_CHARACTERS)


def codes(values: Iterable[str] | None) -> Html:
    """Return a list of codes."""
    return el("span", Html(", ".join(name(value) for value in values or ())))


def pairs(values: object) -> Html | None:
    """Return names and values, such as criteria or a key."""
    if values is None or isinstance(values, (str, list)):
        return document(values)
    return join(
        el("span", el("span", key, cls="soft"), " ", name(as_text(value)), " ", cls="pair")
        for key, value in dict(values).items()  # type: ignore[call-overload]
    )


def document(value: object) -> Html | None:
    """Return a document; a long one is opened."""
    if value is None:
        return None
    line = json.dumps(value, default=as_json, ensure_ascii=False)
    if len(line) <= _WIDE:
        return el("code", name(line))
    whole = json.dumps(value, default=as_json, ensure_ascii=False, indent=2)
    return el("details", el("summary", el("code", name(f"{line[:_WIDE]}…"))), el("pre", whole))


_WIDE = 48
_SHORT = 40


def file(uri: str | None) -> Html | None:
    """Return a file by the end of its address; the rest is its title."""
    if uri is None:
        return None
    end = "/".join(uri.split("/")[-2:])
    return name(uri) if end == uri else el("bdi", f"…/{end}", title=uri)


def value(it: object) -> Html:
    """Return a value of which nothing but its type is known."""
    if it is None:
        return el("span", "NULL", cls="soft")
    if isinstance(it, datetime) and it.tzinfo:
        return moment(it)
    if isinstance(it, (dict, list)):
        return document(it) or Html("")
    if isinstance(it, bool):
        return el("span", "true" if it else "false")
    written = plain(it)
    if len(written) > MOST_CHARACTERS or "\n" in written:
        return message(written, MOST_CHARACTERS)
    return el("bdi", written, cls="nowrap" if len(written) <= _SHORT else None)


def plain(it: object) -> str:
    """Return a value as the database reads it again."""
    if isinstance(it, (bytes, memoryview)):
        return f"\\x{bytes(it).hex()}"
    if isinstance(it, datetime) and it.year in (1, 9999) and it.tzinfo:  # as the driver reads it
        return "-infinity" if it.year == 1 else "infinity"
    if isinstance(it, (dict, list)):
        return json.dumps(it, default=as_json, ensure_ascii=False)
    return str(it)
