"""What a contract says and a model does not, in the order in which it was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from omd._terminal.text import short

_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Note:
    """One remark about a part of a contract."""

    path: str
    reason: str
    is_left: bool  # the part is not taken over; otherwise something was assumed

    def __str__(self) -> str:
        text = str(short(f"{self.path or 'contract'}: {self.reason}"))
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


@dataclass(slots=True)
class Notes:
    """The remarks about a contract."""

    notes: dict[Note, None] = field(default_factory=dict)  # in the order of their coming, each once

    def leave(self, path: str, reason: str) -> None:
        """Note a part that is not taken over."""
        self.notes[Note(path, reason, is_left=True)] = None

    def assume(self, path: str, reason: str) -> None:
        """Note what the contract does not say and the model must."""
        self.notes[Note(path, reason, is_left=False)] = None

    @property
    def left(self) -> list[Note]:
        """What is not taken over."""
        return [note for note in self.notes if note.is_left]

    def lines(self) -> Iterator[str]:
        """Yield the notes as lines without line ends in them, first what is not taken over."""
        for title, is_left in (("Not taken over", True), ("Assumed", False)):
            some = [note for note in self.notes if note.is_left is is_left]
            if some:
                yield f"{title}:"
                yield from (f"  {note}" for note in some)
