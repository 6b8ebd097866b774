"""What ``omd show`` tells of a delivery beside its views: the receipt, and the rows put aside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from omd.programs.report.receipt import as_page, print_receipt, read_receipt
from omd.programs.terminal.tables import show, show_document, titled
from omd.rooms.delivery.rows import DeliveryQuarantineRow

if TYPE_CHECKING:
    from pathlib import Path

    from omd.doors.control import Control
    from omd.programs.report.receipt import Receipt

_SAMPLES = 100


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
        DeliveryQuarantineRow,
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
