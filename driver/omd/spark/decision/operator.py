"""The operator: it decides what becomes of the records of a partition, as a stream.

It is Python over Arrow batches and needs no Spark. The records of a partition come in the order of
sort key, link and arrival, so a group, the records of one wave and key or of one batch, is met as a
whole. In clusters the groups are in no order, and a few may come at once. Whatever depends on the
group alone is decided here. Which code a reject gets depends on other groups, maybe of other
partitions: so a reject carries which bound decides, and each partition answers its own bounds, of
which the greatest one counts (docs/explanation/decision.md, C6 and C10).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from omd.spark.decision import across_keys, by_batch, by_key
from omd.spark.decision.failed import Failed
from omd.spark.decision.invocations import Invocations
from omd.spark.decision.outcomes import KEY_MISMATCH, LEFTOVER, Call
from omd.spark.decision.results import (
    BOUND,
    CALL,
    ERROR,
    GREATEST,
    REACHED,
    REJECT,
    RESULTS,
    WAVE,
    Results,
    rows_of,
)
from omd.spark.decision.shape import Buffers, LinkShape, Shape
from omd.spark.decision.stream import CLUSTERED, RECORDS, Stream
from omd.spark.decision.wave import Wave

if TYPE_CHECKING:
    from omd.spark.decision.invocations import Answers

__all__ = [
    "BOUND",
    "CALL",
    "CLUSTERED",
    "ERROR",
    "GREATEST",
    "KEY_MISMATCH",
    "LEFTOVER",
    "REACHED",
    "RECORDS",
    "REJECT",
    "RESULTS",
    "WAVE",
    "Buffers",
    "LinkShape",
    "Shape",
    "decided",
]

# What a worker holds at most: calls, rows that go out, and records that wait for a later link.
_CALLS = 1000
_CALL_BYTES = 8 * 1024 * 1024
_ROWS = 5000
_WAITING_BYTES = 64 * 1024 * 1024


def decided(
    shape: Shape, answers: Answers, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Return what becomes of the records of a partition, as batches of `RESULTS`.

    Args:
        answers: calls the ruleset: documents of JSON, to an answer and a trace each.
        batches: the records, as `RECORDS` says, sorted by sort key, link and arrival; or as
            `CLUSTERED` says.
    """
    batches = iter(batches)
    stream = Stream(shape, batches)
    try:
        yield from _decided(shape, answers, stream)
    except Failed as failure:
        detail = json.dumps({"stage_code": shape.stage, **failure.detail})
        yield rows_of(ERROR, [(stream.at, failure.sqlstate, detail)])
        # Spark takes a worker that stops early for a broken one.
        for _ in batches:
            pass


def _decided(shape: Shape, answers: Answers, stream: Stream) -> Iterator[pa.RecordBatch]:
    calls = Invocations(shape, answers, _CALLS, _CALL_BYTES)
    results = Results(shape, _ROWS, _CALL_BYTES)
    # The records of a link wait in two parts (`Waiting`).
    limit = _WAITING_BYTES // (2 * len(shape.links))
    if not shape.is_key:
        decide = by_batch.decide
    elif shape.crosses_keys:
        decide = across_keys.decide
    else:
        decide = by_key.decide
    head = stream.read()
    while head is not None:
        wave = Wave(shape, head.wave_key, head.first)
        for outcome in decide(shape, stream, wave, limit):
            if isinstance(outcome, Call):
                calls.add(wave, outcome)
                if calls.is_full:
                    results.add_calls(calls.make())
                    yield from results.batches()
            else:
                results.add_reject(wave, outcome)
                if results.is_full:
                    yield from results.batches()
        results.add_wave(wave)
        if results.is_full:
            yield from results.batches()
        head = stream.head
    results.add_calls(calls.make())
    yield from results.batches()
