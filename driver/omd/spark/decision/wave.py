"""A wave, as far as a partition has its records: what is known of it, and what is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omd.spark.decision.failed import Failed

if TYPE_CHECKING:
    from omd.spark.decision.shape import LinkShape, Shape


class Wave:
    """A wave of a partition.

    Args:
        key: its sort key.
        record: its first record.

    Attributes:
        key: its sort key.
        text: its value.
        buffered: what each buffer link gives to each call, as JSON.
        greatest: by place, the greatest sort key of the records of a link.
        reached: by place, the greatest sort key whose attempt has looked at a link.
        rows: how many records it has.
        attempts: how many attempts there were, failed ones too.
        cycles: how many of these have called the rules.
        invocations: how many calls there were.
        rejects: how many records were rejected.
    """

    def __init__(self, shape: Shape, key: str, record: str) -> None:
        self.key = key
        self.text = shape.wave_of(record)
        self.buffered = [self._buffered(shape, link) for link in shape.buffers.links]
        self.greatest = [""] * len(shape.links)
        self.reached = [""] * len(shape.links)
        self.rows = self.attempts = self.cycles = self.invocations = self.rejects = 0

    def reach(self, places: int, sort_key: str) -> None:
        """Note that an attempt with a sort key has looked at the first links, so many of them."""
        reached = self.reached
        for place in range(places):
            # Clusters come in no order.
            if reached[place] < sort_key:
                reached[place] = sort_key

    def _buffered(self, shape: Shape, link: LinkShape) -> str:
        # A buffer link without the column of the wave gives the same to every wave.
        places = ((link.number, self.key), (link.number, None))
        for place in places:
            if place in shape.buffers.errors:
                sqlstate, detail = shape.buffers.errors[place]
                raise Failed(sqlstate, link=link.name, wave=self.text, key=None, **detail)
        for place in places:
            if place in shape.buffers.texts:
                return shape.buffers.texts[place]
        if link.is_array:
            return "[]"
        raise Failed("OM285", link=link.name, wave=self.text)
