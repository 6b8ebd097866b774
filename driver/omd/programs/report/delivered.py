"""What ``omd show`` tells of deliveries, of agreements and of interfaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from omd.programs.report.receipt import as_page, print_receipt, read_receipt
from omd.programs.terminal.tables import show, show_document, show_pairs, titled
from omd.programs.terminal.text import row_dict
from omd.rooms.delivery import rows as t

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from omd.doors.control import Control
    from omd.programs.report.receipt import Receipt

Table = tuple[str, "Sequence[Any]", str]  # its name, its rows, and its columns for people

_NEWEST = 10  # deliveries of an agreement
_SAMPLES = 100
_DELIVERIES = (
    "delivery_id, snapshot_datetime AS data of, delivery_status AS status, verdict,"
    " status_datetime AS since, is_dry_run AS trial"
)
_EVENTS = "event_datetime AS at, attempt AS run, event, to_status AS status, editor AS by, reason"
_AGREEMENTS = (
    "agreement_code, tenant_code, layer_code, effective_from AS from, effective_to AS to,"
    " entities, completeness, inactive_indicator AS inactive"
)


def show_delivery(control: Control, delivery_id: int, output: str) -> None:
    """Print all that is known about a delivery, what it waits for, and what happened to it.

    Raises:
        UnknownDelivery: there is none with this id.
    """
    control.calls.omd_delivery.delivery_receipt(delivery_id)  # an unknown id is an error
    of_it: dict[str, Any] = {"delivery_id": delivery_id}
    [log] = control.report(t.DeliveryLogRow, **of_it)
    pairs = row_dict(log)
    for state in control.report(t.DeliveryStateRow, **of_it):
        pairs |= {"is_running": state.is_running, "waits_for": state.waits_for}
    for item in control.report(t.DeliveryQueueRow, **of_it):
        pairs["queue_id"] = item.queue_id
    entities = control.report(t.DeliveryMetricsRow, order_by=["entity_code"], **of_it)
    events = control.report(t.DeliveryEventsRow, order_by=["delivery_event_id"], **of_it)
    counts = ", ".join(
        f"rows_{name} AS {name}"
        for name in ("delivered", "skipped", "new", "changed", "deleted", "unchanged")
    )
    _print(
        pairs,
        output,
        ("entities", entities, f"entity_code, load_type AS load, {counts}"),
        (
            "events",
            events,
            _EVENTS,
        ),
    )


def show_receipt(receipt: Receipt, output: str, page: Path | None = None) -> None:
    """Print the receipt of a delivery, and write it as a page too: no row of its data is in it."""
    if page is not None:
        page.write_text(as_page(receipt), encoding="utf-8")
    if output == "json":
        show_document(receipt.document)
    else:
        print_receipt(receipt)
    if page is not None:
        click.echo(f"The receipt is in {page}.", err=True)


def show_receipt_of(
    control: Control, delivery_id: int, output: str, page: Path | None = None
) -> None:
    """Print the receipt of a delivery; see `show_receipt`.

    Raises:
        UnknownDelivery: there is none with this id.
    """
    show_receipt(read_receipt(control.delivery, delivery_id), output, page)


def show_quarantine(control: Control, delivery_id: int, output: str) -> None:
    """Print samples of the rows that violated a constraint in the newest run of a delivery.

    It needs the role omd_data_reader, since these rows are data.

    Raises:
        UnknownDelivery: there is none with this id.
    """
    attempt = control.calls.omd_delivery.delivery_receipt(delivery_id)["attempt"]
    samples = control.report(
        t.DeliveryQuarantineRow,
        delivery_id=delivery_id,
        attempt=attempt,
        order_by=["entity_code"],
        limit=_SAMPLES,
    )
    columns = titled(
        "entity_code, record_key AS key, origin, constraint_codes AS constraints,"
        " is_skipped AS skipped, raw AS row, staged_from AS from"
    )
    show(samples, columns, output)
    if len(samples) == _SAMPLES:
        others = f"omd report delivery_quarantine --where delivery_id={delivery_id}"
        click.echo(f"There may be more than {_SAMPLES}: {others}", err=True)
    if not samples:
        click.echo(f"Run {attempt} of delivery {delivery_id} has registered no samples.", err=True)


def show_agreement(control: Control, code: str, output: str) -> None:
    """Print an agreement, where its deliveries arrive, and its newest deliveries.

    Raises:
        click.ClickException: there is no such agreement.
    """
    pairs = _one(control.report(t.DeliveryAgreementsRow, agreement_code=code), "agreement", code)
    for location in control.report(t.ArrivalLocationsRow, agreement_code=code):
        pairs |= {"next_look": location.next_look, "problem": location.problem}
    deliveries = control.report(
        t.DeliveryLogRow,
        agreement_code=code,
        order_by=["delivery_id"],
        descending=True,
        limit=_NEWEST,
    )
    _print(pairs, output, ("deliveries", deliveries[::-1], _DELIVERIES))


def show_interface(control: Control, code: str, output: str) -> None:
    """Print the version of an interface, how far its facts are, and up to when it was delivered.

    Raises:
        click.ClickException: there is no such interface.
    """
    from omd.rooms.facts.rows import FactsStateRow

    of_it: dict[str, Any] = {"interface_code": code}
    pairs = _one(control.report(t.DeliveryModelsRow, **of_it), "interface", code)
    for state in control.report(FactsStateRow, **of_it):
        pairs |= row_dict(state)
    _print(
        pairs,
        output,
        (
            "agreements",
            control.report(t.DeliveryAgreementsRow, order_by=["agreement_code"], **of_it),
            _AGREEMENTS,
        ),
        (
            "marks",
            control.report(t.DeliveryMarksRow, order_by=["entity_code"], **of_it),
            "entity_code, snapshot_datetime AS data of, delivery_id",
        ),
        (
            "constraints",
            control.report(
                t.DeliveryConstraintsRow, order_by=["stage", "constraint_code"], **of_it
            ),
            "constraint_code, constraint_type AS type, stage, expression AS check",
        ),
    )


def interface_as_mermaid(control: Control, code: str) -> str:
    """Return the anchors and contexts of an interface, and which anchor names which."""
    from omd.programs.report.diagram import as_mermaid, read_model

    return as_mermaid(read_model(control.facts, code))


def _one(rows: list[Any], kind: str, code: str) -> dict[str, Any]:
    if not rows:
        raise click.ClickException(f"There is no {kind} {code}.")
    return row_dict(rows[0])


def _print(pairs: dict[str, Any], output: str, *tables: Table) -> None:
    """Print a thing with its tables: for people those that have rows, as JSON all of them."""
    if output == "json":
        show_document({**pairs, **{name: rows for name, rows, _ in tables}})
        return
    show_pairs(pairs)
    for name, rows, select in tables:
        if rows:
            click.secho(f"\n{name.capitalize()}", bold=True)
            show(rows, titled(select), output)
