"""What makes tasks, and what it depends on: sources of tasks, schedules, and news for both."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from omd._core.errors import ConnectionFailed
from omd._core.functions import Permitted
from omd._core.link import Link
from omd._core.listener import Listener
from omd._core.periodic import Periodic
from omd.programs.worker.handlers import near, refresher, task_types
from omd.programs.worker.maintenance import Maintenance
from omd.programs.worker.sources import Near, News, Sources, fire_all
from omd.rooms.dispatch.calls import DispatchCalls
from omd.rooms.dispatch.rows import DispatchSchedulesRow, DispatchSourcesRow

if TYPE_CHECKING:
    from omd.programs.service.loop import Shared
    from omd.programs.worker.slots import Ended
    from omd.rooms.control.connection import Connection

_EARLY = 0.1  # a thread that wakes each second wakes a little too early or too late
_REFRESH = 5.0  # seconds between two looks for what makes scheduled tasks ready
_NAMES = ("interface_id", "agreement_id", "delivery_id")  # what news of omd_delivery names


class Looks:
    """Looks for what makes tasks, in threads; the main thread tells it the news.

    Args:
        group: the group of workers.
        links: connections to look over.
        connect: opens a connection for a module of handlers that looks for news.
        permitted: what it executes of what is registered.
        is_first: whether this worker does what one of a group does.
        pause: returns the seconds between two rounds of what all do, and one at a time.
        tell: is called with what went wrong.
    """

    def __init__(
        self,
        group: str,
        links: Shared,
        connect: Callable[[], Connection],
        permitted: Permitted,
        *,
        is_first: Callable[[], bool],
        pause: Callable[[], float],
        tell: Callable[[str], None],
    ) -> None:
        self.channels: set[str] = set()  # those of all sources of tasks
        self._families: set[str] = set()  # those with a source of tasks
        # Those whose sources need not be read at news: what depends on it is known.
        self._near_looks: dict[str, Callable[[Link, News], None]] = {}
        self._far: set[str] = set()  # the channels at whose news sources are to be read
        # The last look for what would come has made tasks, and none that has ended here since had
        # anything to do; so many have not ended here.
        self._is_vain = False
        self._unended = 0
        self._group = group
        self._links = links
        self._connect = connect
        self._permitted = permitted
        self._is_first = is_first
        self._pause = pause
        self._round_at = 0.0  # when the last round of maintenance that ended began
        self._sources = Sources(links, tell, lambda: 0.0 if is_first() else pause())
        self._near = Near(links, self._sources.ask, tell)
        self._maintenance = Maintenance(links, tell, self._sources.ask)
        self._news = Periodic("refresh", _REFRESH, 0.0, call=self._refresh, refused=tell)
        self._rounds = Periodic("maintain", 1.0, 0.0, call=self._maintain, refused=tell)

    def close(self) -> None:
        """End the threads."""
        for thread in (self._rounds, self._news, self._near, self._sources):
            thread.stop()

    # News, from the main thread -----------------------------------------------------------------

    def listen(self, news: Listener, calls: DispatchCalls) -> None:
        """Listen to the channels of the sources of tasks, and have them read."""
        rows = calls.report(DispatchSourcesRow, inactive_indicator="N")
        self.channels = {channel for row in rows for channel in row.listen}
        for channel in self.channels:
            news.listen(channel)
        news.require()
        self._families = {row.family_code for row in rows}
        kinds = task_types(calls) if rows else {}
        self._near_looks, self._far = {}, set()
        for family_code in self._families:
            own = [row for row in rows if row.family_code == family_code]
            looks = {
                near(kinds.get((family_code, row.task_type)), row.source, self._permitted)
                for row in own
            }
            if len(looks) == 1 and (look := looks.pop()) is not None:
                self._near_looks[family_code] = look
            else:
                self._far.update(channel for row in own for channel in row.listen)
        self._sources.ask()

    def hear(self, channel: str, payload: str) -> None:
        """Have those looked at that depend on a notification; if nobody knows them, all."""
        topic = delivery = None
        if channel == "omd_lineage":
            topic = payload
        elif channel == "omd_delivery":
            with suppress(ValueError):
                delivery = json.loads(payload)
            if not isinstance(delivery, dict) or not any(delivery.get(n) for n in _NAMES):
                delivery = None
        is_known = topic is not None or delivery is not None
        if is_known:
            for look in set(self._near_looks.values()):
                self._near.tell(look, topic=topic, delivery=delivery)
        if not is_known or channel in self._far:
            self._sources.ask()

    def take_in(self, ended: Ended) -> None:
        """Have those looked at that depend on a task that has ended."""
        claimed, ending, _ = ended
        if ending is not None:
            self._is_vain = self._is_vain and ending.outcome == "C"
            self._unended -= 1
        if claimed.claim.family_code not in self._families:
            return
        look = self._near_looks.get(claimed.claim.family_code)
        code = claimed.task.criteria.get("CODE")
        if look is None or not isinstance(code, str):
            self._sources.ask()
        else:
            self._near.tell(look, code=code)

    # The end of a worker that runs until all is quiet ---------------------------------------------

    def pause(self) -> None:
        """Read nothing until `resume`; what is on its way is waited for."""
        self._sources.pause()
        self._near.pause()

    def resume(self) -> None:
        """Go on after `pause`."""
        self._near.resume()
        self._sources.resume()

    @property
    def is_vain(self) -> bool:
        """Whether all tasks of the last look have ended here, and had nothing to do."""
        return self._is_vain and self._unended <= 0

    def create_tasks(self) -> bool:
        """Do at once what other threads do in turn; return whether something came of it."""
        done = self._maintenance.round()  # a schedule may be due
        if done.fired or done.reclaimed or done.more:
            return True
        if not self._families:
            return False
        self._look_for_news()
        with self._links.take() as link:
            created = fire_all(link)
        self._is_vain, self._unended = bool(created), created or 0
        return created != 0

    # In threads of their own --------------------------------------------------------------------

    def _refresh(self) -> bool:
        """Let the modules of scheduled handlers look for news; one worker of a group does it."""
        if self._is_first():
            self._look_for_news()
        return False

    def _maintain(self) -> bool:
        """Do a round of what no worker does for itself, if it is time."""
        began = time.monotonic()
        if self._round_at and began - self._round_at < self._pause() - _EARLY:
            return False
        try:
            more = self._maintenance.round().more
        except ConnectionFailed:  # the main thread tells it
            return False
        self._round_at = 0.0 if more else began
        return more

    def _look_for_news(self) -> None:
        with self._links.take() as link:
            calls = DispatchCalls(link)
            kinds = task_types(calls)
            schedules = calls.report(DispatchSchedulesRow, inactive_indicator="N")
            sources = calls.report(DispatchSourcesRow, inactive_indicator="N")
        types = {(row.family_code, row.task_type) for row in schedules}
        types |= {(row.family_code, row.task_type) for row in sources}
        own = [
            kind for key, kind in kinds.items() if key in types and kind.deliver_id == self._group
        ]
        looks = {look for kind in own if (look := refresher(kind, self._permitted)) is not None}
        if looks:
            with self._connect() as control:
                for look in looks:
                    look(control)
