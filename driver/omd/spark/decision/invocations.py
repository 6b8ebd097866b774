"""The calls of the rules, made many at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from omd.rooms.decision.rules import NoJson
from omd.spark.decision.failed import Failed

if TYPE_CHECKING:
    from omd.spark.decision.outcomes import Call
    from omd.spark.decision.shape import Shape
    from omd.spark.decision.wave import Wave

    Answers = Callable[[Sequence[str]], Sequence[tuple[str, str | None]]]

# What rules may raise; one that leaves the process must not take its name with it.
_RAISED = (Exception, SystemExit)


class Invocations:
    """Calls that wait until they are made together.

    Args:
        answers: calls the ruleset: documents of JSON, to an answer and a trace each.
        most: how many calls are made together, at most.
        most_bytes: after how many characters of them they are made, too.
    """

    def __init__(self, shape: Shape, answers: Answers, most: int, most_bytes: int) -> None:
        self._shape = shape
        self._answers = answers
        self._most = most
        self._most_bytes = most_bytes
        parameters = [link.parameter for link in (*shape.links, *shape.buffers.links)]
        self._names = [json.dumps(parameter) + ": " for parameter in parameters]
        self._prefixes = [(", " if place else "{") + name for place, name in enumerate(self._names)]
        self._kept = [
            place
            for place, parameter in enumerate(parameters)
            if shape.params is None or parameter in shape.params
        ]
        self._texts: list[str] = []
        self._bytes = 0
        # What each text goes out with: wave, key, cycle_no, invocation_no, inputs, params.
        self._rows: list[tuple[Any, ...]] = []

    @property
    def is_full(self) -> bool:
        """Whether the calls shall be made now."""
        return len(self._texts) >= self._most or self._bytes >= self._most_bytes

    def add(self, wave: Wave, call: Call) -> None:
        """Add a call, and count it in its wave."""
        key, cycle_no, invocation_no, values, arrivals = call
        wave.invocations += 1
        if invocation_no == 1:
            wave.cycles += 1
        if wave.buffered:
            values = [*values, *wave.buffered]
        text = self._object(values)
        params = inputs = None
        if self._shape.params is None:
            params = text
        elif self._kept:
            params = f"{{{', '.join(self._names[place] + values[place] for place in self._kept)}}}"
        if self._shape.keeps_inputs:
            inputs = self._object(arrivals)
        self._rows.append((wave.text, key, cycle_no, invocation_no, inputs, params))
        self._texts.append(text)
        self._bytes += len(text)

    def make(self) -> list[tuple[Any, ...]]:
        """Make the calls; return rows of the kind CALL."""
        answers = self._made() if self._texts else []
        rows = [(*row, *answer) for row, answer in zip(self._rows, answers, strict=True)]
        self._rows, self._texts, self._bytes = [], [], 0
        return rows

    def _object(self, values: Sequence[str]) -> str:
        """Return an object of JSON; values may be long, so they are copied once."""
        # The arrivals have no values for the buffer links.
        parts = chain.from_iterable(zip(self._prefixes, values, strict=False))
        return "".join([*parts, "}"])

    def _made(self) -> Sequence[tuple[str, str | None]]:
        """Make the calls together; if that fails, one by one, to name the first that fails."""
        try:
            return self._answers(self._texts)
        except _RAISED as error:
            together = error
        for row, text in zip(self._rows, self._texts, strict=True):
            try:
                self._answers([text])
            except _RAISED as error:
                raise self._failed(row, error) from None
        raise self._failed(self._rows[0], together)

    def _failed(self, row: tuple[Any, ...], error: BaseException) -> Failed:
        wave, key, cycle_no, invocation_no, _, _ = row
        detail = {
            "ruleset_code": self._shape.ruleset,
            "wave": wave,
            "key": None if key is None else json.loads(key),
            "cycle_no": cycle_no,
            "invocation_no": invocation_no,
        }
        if isinstance(error, NoJson):
            return Failed("OM284", **detail, problem=str(error))
        return Failed("OM283", **detail, error=_text_of(error))


def _text_of(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - the rules may raise anything
        text = "it has no text"
    sqlstate = getattr(error, "sqlstate", None)
    if sqlstate is None:
        text = f"{type(error).__name__}: {text}"
    else:
        message = getattr(getattr(error, "diag", None), "message_primary", None) or text
        text = f"{message} ({sqlstate})"
    # The database takes neither a null character nor half a surrogate pair.
    return text.replace("\0", "\\0").encode(errors="backslashreplace").decode()
