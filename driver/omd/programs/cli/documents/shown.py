"""A thing as a document: what ``omd apply`` takes, a data contract, a picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from omd.doors.control import Control
    from omd.programs.cli.things import Thing


def written(control: Control, thing: Thing, output: str) -> str:
    """Return the document of a thing.

    Args:
        control: the connection.
        thing: an interface, a stage, a topic or a Module.
        output: yaml, odcs or mermaid.

    Raises:
        click.UsageError: a thing of this kind has none.
    """
    write = _WRITERS.get((thing.kind, output))
    if write is None:
        kinds = " or ".join(kind for kind, of in _WRITERS if of == output)
        raise click.UsageError(f"--output {output} is of {kinds}, and {thing} is none.")
    return write(control, str(thing.key))


def _interface(control: Control, code: str) -> str:
    from omd.programs.cli.documents.delivery import model_as_yaml, whole_document
    from omd.rooms.delivery.rows import DeliveryAgreementsRow

    document = control.calls.omd_delivery.model_document(code)
    rows = control.report(DeliveryAgreementsRow, interface_code=code, order_by=["agreement_code"])
    return model_as_yaml(whole_document(document, rows))


def _contract(control: Control, code: str) -> str:
    from omd.integrations.contracts.odcs_export import contract_as_yaml, odcs_contract
    from omd.rooms.delivery.rows import DeliveryModelsRow

    document = control.calls.omd_delivery.model_document(code)
    [row] = control.report(DeliveryModelsRow, interface_code=code)
    return contract_as_yaml(odcs_contract(document, row.model_version))


def _picture(control: Control, code: str) -> str:
    from omd.programs.report.diagram import as_mermaid, read_model

    return as_mermaid(read_model(control.facts, code))


def _stage(control: Control, code: str) -> str:
    from omd.programs.cli.documents.decision import stage_as_yaml
    from omd.programs.report.decision import stage_of

    return stage_as_yaml(stage_of(control.decision, code))


_WRITERS: dict[tuple[str, str], Callable[..., str]] = {
    ("interface", "yaml"): _interface,
    ("interface", "odcs"): _contract,
    ("interface", "mermaid"): _picture,
    ("stage", "yaml"): _stage,
}
