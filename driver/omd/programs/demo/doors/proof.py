"""The proof of the demo: what has arrived at the receiver, beside what the runs have done.

One side is ``proof.sql``, which a DBA can run: the log of the runs, and the events of them. The
other side are the requests as the receiver has them, in the order in which they came.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import class_row

from omd.programs.demo.doors.receiver import Receipt

_SQL = Path(__file__).with_name("proof.sql")


@dataclass(frozen=True)
class Event:
    """What a run has done, and the number of its event."""

    event_number: int | None  # None: there is no such event
    event_type: str
    subject_id: int
    code: str
    is_of_run: bool  # whether a run has done it


@dataclass(frozen=True)
class Check:
    """An event, how often it was sent, and what is wrong with that."""

    event: Event
    sent: int
    problem: str | None  # None: nothing

    @property
    def line(self) -> dict[str, Any]:
        """The check as one line of the table that the demo shows."""
        return {
            "number": self.event.event_number,
            "event": self.event.event_type,
            "id": self.event.subject_id,
            "code": self.event.code,
            "sent": self.sent,
            "": self.problem or "✓",
        }


def prove(connection: psycopg.Connection[Any], receipts: Sequence[Receipt]) -> list[Check]:
    """Compare the events of all runs with what has arrived, in its order."""
    with connection.cursor(row_factory=class_row(Event)) as cursor:
        events = cursor.execute(_SQL.read_bytes()).fetchall()
    numbered = [(json.loads(receipt.body)["data"], receipt) for receipt in receipts]
    arrived: dict[int, list[Receipt]] = {}  # in the order of the first arrivals
    contents: dict[int, dict[str, Any]] = {}
    for data, receipt in numbered:
        arrived.setdefault(data["event_number"], []).append(receipt)
        contents.setdefault(data["event_number"], data)
    checks = []
    for event in events:
        number = event.event_number
        there = [] if number is None else arrived.get(number, [])
        problem = _problem(event, there)
        if problem is None and number is not None:
            before = list(arrived)[: list(arrived).index(number)]
            problem = _difference(event, contents[number])
            if later := [other for other in before if other > number]:
                problem = f"event {later[0]} came before it"
        checks.append(Check(event, len(there), problem))
    known = {event.event_number for event in events}
    for number, there in arrived.items():
        if number not in known:
            data = contents[number]
            strange = Event(number, data["event_type"], data["subject_id"], data["code"], False)
            checks.append(Check(strange, len(there), "there is no such event"))
    return checks


def _problem(event: Event, there: Sequence[Receipt]) -> str | None:
    if event.event_number is None:
        return "it has no event"
    if not event.is_of_run:
        return "no run has done it"
    if not there:
        return "it has not arrived"
    if not all(receipt.is_signed for receipt in there):
        return "its signature is wrong"
    if len({(receipt.headers["webhook-id"], receipt.body) for receipt in there}) > 1:
        return "its repeats differ"
    if not there[-1].is_answered:
        return "the sender does not know that it has arrived"
    return None


def _difference(event: Event, data: dict[str, Any]) -> str | None:
    said = (data["event_type"], data["subject_id"], data["code"])
    is_same = said == (event.event_type, event.subject_id, event.code)
    return None if is_same else "it says something else"
