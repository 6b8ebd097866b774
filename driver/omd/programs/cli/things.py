"""What a THING of the command line is: ``kind:key``, or a code or number that names one thing."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from omd.doors.control import Control


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing.

    Attributes:
        kind: one of `KINDS`.
        key: its number, or its code.
        module_code: the Module that it is, or that performs it; empty: there is none.
    """

    kind: str
    key: Any
    module_code: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.key}"


# The kinds with a number, with a code; each with a view and the column that names it. Of the kinds
# that one Module can be, the first one says most.
_NUMBERS = {
    "run": ("module_execution_log", "module_instance_id"),
    "batchrun": ("batch_execution_log", "batch_instance_id"),
    "export": ("facts_exports", "delivery_id"),
    "delivery": ("delivery_log", "delivery_id"),
    "task": None,  # no view has every task
    "recall": ("recalls", "recall_id"),
}
_CODES = {
    "topic": ("lineage_topics", "topic"),
    "stage": ("decision_stage_list", "stage_code"),
    "module": ("module_list", "module_code"),
    "batch": ("batch_list", "batch_code"),
    "interface": ("delivery_models", "interface_code"),
    "agreement": ("delivery_agreements", "agreement_code"),
    "ruleset": ("decision_ruleset_list", "ruleset_code"),
    "table": ("module_list", "table_code"),
}
KINDS = (*_NUMBERS, *_CODES)
_MOST_NEAR = 1000  # names that are compared with a code that is not there
_PERFORMED = ("topic", "stage", "module", "table")


def find(control: Control, text: str, among: Sequence[str] = KINDS) -> Thing:
    """Return the thing that a text names.

    Without a kind digits are looked for among numbers, and if there is none among codes; any other
    text among codes. A Module and what it performs or writes are one thing.

    Args:
        control: the connection.
        text: ``kind:key``, or a key.
        among: the kinds that are meant.

    Raises:
        click.UsageError: it names more than one thing, or one of a kind that is not meant.
        CallerError: there is no such thing.
    """
    kind, colon, key = text.partition(":")
    if colon and kind in KINDS:
        if kind not in among:
            raise click.UsageError(
                f"{text}: it must be {_either(among)}. omd show {text} shows what it is."
            )
        if kind in _NUMBERS and not _is_number(key):
            raise click.UsageError(f"{key!r} is no number of a {kind}.")
        hits = _hits(control, key, [kind])
    else:
        hits = []
        if _is_number(text):
            hits = _hits(control, text, [kind for kind in among if kind in _NUMBERS])
        hits = hits or _hits(control, text, [kind for kind in _CODES if kind in among])
    if not hits:
        raise _missing(control, text, among)
    if len(hits) > 1:
        raise click.UsageError(f"{text} is {' and '.join(map(str, hits))}: name one of them.")
    return hits[0]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and 0 < int(text) < 2**63 and text[0] != "0"


def _hits(control: Control, key: str, kinds: Sequence[str]) -> list[Thing]:
    """Return the things of these kinds; those that are one Module, or one delivery, are one."""
    hits: dict[tuple[str, object], Thing] = {}
    for kind in kinds:
        for thing in _of_kind(control, kind, key):
            same: tuple[str, object] = (kind, thing.key)
            if kind in _PERFORMED:
                same = ("module", thing.module_code)
                if kind == "table" and any(of == "module" for of, _ in hits):
                    continue  # the Module that is found writes it, or another one of its name
            elif kind in ("delivery", "export"):
                same = ("delivery", thing.key)
            hits.setdefault(same, thing)
    return list(hits.values())


def _of_kind(control: Control, kind: str, key: str) -> list[Thing]:
    if kind in _NUMBERS:
        number = int(key)
        place = _NUMBERS[kind]
        is_there = (
            _is_task(control, number)
            if place is None
            else control.report(place[0], limit=1, **_equal(place[1], number))
        )
        return [Thing(kind, number)] if is_there else []
    view, column = _CODES[kind]
    rows = control.report(view, limit=1, **_equal(column, key))
    if kind == "table":
        rows = rows or control.report("module_inputs", limit=1, **_equal(column, key))
        rows = rows or control.report("lake_tables", limit=1, **_equal(column, key))
        return [Thing(kind, key)] if rows else []
    return [Thing(kind, key, (row.module_code or "") if kind in _PERFORMED else "") for row in rows]


def _equal(column: str, value: object) -> Any:
    return {column: value}


def _is_task(control: Control, number: int) -> bool:
    from omd._core.errors import CallerError

    try:
        control.calls.omd_dispatch.explain_task(number)
    except CallerError:
        return False
    return True


def _missing(control: Control, text: str, among: Sequence[str]) -> Exception:
    """Return the error that says that there is no such thing, and what may have been meant."""
    from omd._core.errors import CallerError

    kind, colon, key = text.partition(":")
    kinds, code = ([kind], key) if colon and kind in KINDS else (among, text)
    known: dict[str, str] = {}
    for view, column in (_CODES[kind] for kind in kinds if kind in _CODES):
        known |= {name.lower(): name for name in _near(control, view, column, code)}
    near = [known[name] for name in difflib.get_close_matches(code.lower(), list(known))]
    what = "thing" if len(kinds) > 4 else _either(kinds)
    meant = f"Did you mean {' or '.join(near)}? " if near else ""
    return CallerError(
        f"there is no {what} {code}", hint=f"{meant}omd help things says how one is named."
    )


def _near(control: Control, view: str, column: str, code: str) -> set[str]:
    """Return names that share three letters in a row with a code; the database finds them."""
    from omd._core import catalogue

    its, _ = catalogue.columns(control._link, view)[column]
    parts = {re.escape(code[n : n + 3]) for n in range(max(len(code) - 2, 1))}
    shared = catalogue.Condition(its, "~", f"(?i){'|'.join(sorted(parts))}")
    rows = catalogue.rows_of_view(control._link, view, [column], [shared], limit=_MOST_NEAR)
    return {str(name) for (name,) in rows}


def _either(kinds: Sequence[str]) -> str:
    return " or ".join(filter(None, [", ".join(kinds[:-1]), kinds[-1]]))
