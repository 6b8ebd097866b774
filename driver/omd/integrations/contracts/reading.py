"""A contract in a file as a model document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from omd._core.error_codes import ContractUnfit
from omd.integrations.contracts import codes
from omd.integrations.contracts.avro import read_avro
from omd.integrations.contracts.draft import Draft
from omd.integrations.contracts.great_expectations import read_gx
from omd.integrations.contracts.json_schema import read_json_schema
from omd.integrations.contracts.notes import Notes
from omd.integrations.contracts.odcs_import import read_odcs
from omd.programs.terminal.yaml_file import read_document, read_json

FORMATS = ("odcs", "avro", "json-schema", "gx")


def read_contract(
    path: Path,
    contract_format: str,
    *,
    interface: str | None = None,
    entity: str | None = None,
    key: Sequence[str] = (),
) -> tuple[dict[str, Any], Notes]:
    """Return the model document of a contract, and what is not taken over.

    Args:
        path: the file. Nothing else is read, and nothing is fetched.
        contract_format: one of FORMATS.
        interface: the code of the interface; by default the contract names it.
        entity: the only entity that is taken, or the name of the only one.
        key: its key, where the contract does not say it.

    Raises:
        click.UsageError: the file is no such contract, or does not say what a model needs.
        InvalidModel: the file breaks a bound of documents.
    """
    notes = Notes()
    try:
        draft, name = _read(path, contract_format, notes)
        draft.choose(entity)
        if interface is None:
            interface = codes.as_code(name)
            if interface != name:
                notes.assume("", f"the interface is named {interface}")
        return draft.document(interface, key), notes
    except click.UsageError as error:
        if error.message.startswith(str(path)):
            raise
        raise click.UsageError(f"{path}: {error.message}") from None


def _read(path: Path, contract_format: str, notes: Notes) -> tuple[Draft, str]:
    """Return the draft of a contract, and the name of the whole."""
    if contract_format == "odcs":
        contract = read_document(path).value
        notes.document = contract
        draft = read_odcs(contract, notes)
        given = [str(contract.get(word) or "") for word in ("id", "name", "dataProduct")]
        # An id is often no name but a number.
        named = [*filter(codes.is_code, given), *filter(None, given[1:]), path.stem]
        return draft, named[0]
    document = read_json(path)
    notes.document = document
    if contract_format == "gx":
        return read_gx(document, notes, path.stem)
    if contract_format == "avro":
        draft = read_avro(document, notes)
    else:
        draft = read_json_schema(document, notes, path.stem.removesuffix(".schema"))
    return draft, draft.entities[0].origin if len(draft.entities) == 1 else path.stem


def require_whole(path: Path, notes: Notes, hint: str) -> None:
    """Refuse a contract of which something is not taken over.

    Args:
        path: the file.
        notes: what is not taken over.
        hint: the way out.

    Raises:
        ContractUnfit: something is.
    """
    if left := notes.left:
        problems = [{"path": note.path, "problem": note.reason} for note in left]
        more = f", and {len(left) - 1:,} more" if len(left) > 1 else ""
        raise ContractUnfit(
            f"the contract {path} can't be taken over whole: {left[0]}{more}",
            hint=hint,
            detail={"contract": str(path), "problem_count": len(left), "problems": problems},
        )
