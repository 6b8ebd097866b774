"""What arrives in folders: a look at a location, and a whole turn (docs/explanation/delivery.md).

Python lists and moves folders. What a folder is, and which is delivered next, the database decides.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from omd._core.engines import SPARK
from omd._core.error_codes import ArrivalChanged
from omd._core.errors import CallerError
from omd.doors.delivery import Delivery
from omd.rooms.delivery.folders import LocalFolders, local_path, printable
from omd.rooms.delivery.rows import ArrivalLocationsRow, ArrivalsRow
from omd.rooms.delivery.run import is_decided

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

    from omd.rooms.control.connection import Connection
    from omd.rooms.control.outcome import Outcome


class Folders(Protocol):
    """The folders of a location, of whatever file system; what can't be read is an OSError."""

    def seen(self) -> list[dict[str, Any]]:
        """Return all that is there, as report_arrivals takes it."""
        ...

    def one(self, name: str) -> list[dict[str, Any]]:
        """Return a folder by its name, in a list; none where it is gone."""
        ...

    def exists(self, name: str) -> bool:
        """Return whether there is something of this name."""
        ...

    def move(self, name: str, to: str) -> bool:
        """Rename a folder within the location; return whether there was nothing of that name."""
        ...


def due(control: Connection) -> list[str]:
    """Return the agreements at whose locations it is time to look, of the local file system.

    Those of another one are left out: to see them takes a session of Spark.
    """
    rows = control.report(
        ArrivalLocationsRow, is_due=True, order_by=["next_look", "agreement_code"]
    )
    return [
        row.agreement_code for row in rows if local_path(str(row.terms["location"])) is not None
    ]


def look(control: Connection, agreement: str, spark: SparkSession | None = None) -> int | None:
    """Look at the location of an agreement if it is time, and report what is there.

    Of many workers one looks, once per `every`. A location that can't be read is reported too.

    Args:
        control: the connection.
        agreement: the agreement.
        spark: the session that reaches another file system; by default that of the control, or the
            active one, or a new one.

    Returns:
        how many folders were found; None when somebody has looked, or there is no location.
    """
    room = Delivery(control)
    terms = room._calls.claim_look(agreement)
    return None if terms is None else _look(room, agreement, terms, spark)


def look_now(control: Connection, agreement: str, spark: SparkSession | None = None) -> int:
    """Look at the location of an agreement, whenever somebody has looked before; see `look`."""
    room = Delivery(control)
    return _look(room, agreement, _terms(room, agreement), spark)


def perform(
    control: Connection,
    spark: SparkSession | None,
    agreement: str,
    *,
    wait: timedelta = timedelta(minutes=10),
) -> Outcome[None] | None:
    """Perform a whole turn of an agreement: look, take the oldest folder, deliver it, move it.

    A delivery that somebody has begun and not ended is resumed. So a turn that died anywhere is
    mended by the next one.

    Args:
        control: the connection.
        spark: the session; by default that of the control, or the active one, or a new one.
        agreement: the agreement.
        wait: for how long it waits until the delivery may begin.

    Returns:
        what became of it; None when there was nothing to deliver.
    """
    look(control, agreement, spark)
    room = Delivery(control)
    taken = room._calls.take_arrival(agreement)
    if taken.delivery_id is None or taken.folder is None:
        return None
    # Its hashes were compared when it was found.
    terms = {**_terms(room, agreement), "known": [taken.folder]}
    folders = _folders(room, terms, spark)
    place = f"{terms['location'].rstrip('/')}/{taken.folder}"
    block = room.create(delivery_id=taken.delivery_id, files=place, spark=spark, wait=wait)
    block._confirm = lambda: _confirm(room, folders, block.delivery_id, taken.folder or "")
    with block:
        outcome = block.run()
    if is_decided(outcome):
        _finish(room, terms, folders, taken.delivery_id)
    return outcome


def _terms(room: Delivery, agreement: str) -> Mapping[str, Any]:
    rows = room._calls.report(ArrivalLocationsRow, agreement_code=agreement)
    if not rows:
        raise CallerError(
            f"nothing arrives under the agreement {agreement}",
            hint=f"omd call omd_delivery.register_agreement --agreement-code {agreement}"
            " --arrival '{\"location\": …}'",
        )
    return rows[0].terms


def _folders(room: Delivery, terms: Mapping[str, Any], spark: SparkSession | None) -> Folders:
    location = str(terms["location"])
    root = local_path(location)
    if root is not None:
        return LocalFolders(root, terms)
    engine = room._control._engines[SPARK]
    session = spark or room._control._spark or engine.active() or engine.session()
    folders: Folders = engine.folders(session, location, terms)
    return folders


def _look(
    room: Delivery, agreement: str, terms: Mapping[str, Any], spark: SparkSession | None
) -> int:
    seen: Any = []  # a list; JSON is typed as an object
    problem = None
    try:
        seen = _folders(room, terms, spark).seen()
    except OSError as error:
        problem = printable(f"{terms['location']}: {error.strerror or error}")
    return room._calls.report_arrivals(agreement, seen, problem=problem)


def _confirm(room: Delivery, folders: Folders, delivery_id: int, folder: str) -> None:
    seen: Any = folders.one(folder)
    if not room._calls.check_arrival(delivery_id, seen):
        raise ArrivalChanged(
            f"{folder} has another content than what was found",
            hint=f"omd call omd_delivery.cancel_delivery --delivery-id {delivery_id} --reason why;"
            " then it is found again.",
        )


def _finish(room: Delivery, terms: Mapping[str, Any], folders: Folders, delivery_id: int) -> None:
    """Move the folder of a delivery that was accepted, where that was agreed.

    Whoever died after the move finds the folder gone from its place, and where it went.
    """
    (arrival,) = room._calls.report(ArrivalsRow, delivery_id=delivery_id)
    if arrival.arrival_status != "TAKEN":
        return
    then = terms["then"]
    if not isinstance(then, dict):
        room._calls.finish_arrival(delivery_id)
        return
    first = f"{then['move']}/{arrival.folder}"
    second = f"{first}.{delivery_id}"  # a folder of this name was delivered before
    try:
        if folders.exists(arrival.folder):
            moved_to = next(
                (to for to in (first, second) if folders.move(arrival.folder, to)), None
            )
        else:
            moved_to = next((to for to in (second, first) if folders.exists(to)), None)
        problem = None if moved_to else "it was not moved: it is gone, or something has its name"
    except OSError as error:
        moved_to, problem = None, printable(f"it was not moved: {error.strerror or error}")
    room._calls.finish_arrival(delivery_id, moved_to=moved_to, problem=problem)
