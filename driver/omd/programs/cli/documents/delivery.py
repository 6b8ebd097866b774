"""Models in YAML files, with the tenants and agreements that belong to them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import psycopg

from omd.programs.terminal.text import as_text
from omd.programs.terminal.yaml_file import as_yaml, in_order, read_document, unknown
from omd.rooms.delivery.calls import DeliveryCalls
from omd.rooms.delivery.rows import DeliveryAgreementsRow, DeliveryTenantsRow

if TYPE_CHECKING:
    from omd.doors.delivery import Delivery


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between a file and what is deployed or registered."""

    object: str  # an entity, an attribute, …, a tenant or an agreement
    change: str  # what becomes of it


@dataclass(frozen=True, slots=True)
class ModelFile:
    """What a file holds."""

    model: dict[str, Any]  # the model document
    # The names of the tenants, by their codes; None: the present name stays.
    tenants: dict[str, str | None] = field(default_factory=dict)
    # The arguments of register_agreement, by the codes.
    agreements: dict[str, dict[str, Any]] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)  # the line of each path of the file

    def line(self, path: str) -> int:
        """Return the line of a path; of what is missing, the line of that which lacks it."""
        while path not in self.lines and path:
            path = re.sub(r'(^|\.?)([^.\[\]]*|\[("(\\.|[^"\\])*"|\d+)\])$', "", path)
        return self.lines.get(path, 1)


# Files ------------------------------------------------------------------------------------------


_CODES = {"tenant": "tenant_code", "interface": "interface_code", "layer": "layer_code"}
_AGREEMENT = {
    name
    for name, parameter in inspect.signature(DeliveryCalls.register_agreement).parameters.items()
    if parameter.default is not parameter.empty
} - {*_CODES.values()} | {*_CODES}


def read_model(path: Path) -> ModelFile:
    """Return what a file holds.

    Raises:
        click.UsageError: it is no YAML, or its tenants or agreements are not like those that are
            registered.
    """
    document, lines = read_document(path)
    tenants = dict(_tenants(document.pop("tenants", None), path, lines))
    agreements = dict(
        _agreements(document.pop("agreements", None), document.get("interface"), path, lines)
    )
    return ModelFile(document, tenants, agreements, lines)


def _entries(
    entries: Any, of: str, code: str, known: set[str], path: Path, lines: Mapping[str, int]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the entries of a list by their codes, after a look at their keys."""
    if entries is None:
        return
    if not isinstance(entries, list):
        raise click.UsageError(f"{path}:{lines[of]}: {of} must be a list")
    seen = set()
    for number, entry in enumerate(entries):
        place = f"{path}:{lines[f'{of}[{number}]']}"
        if not isinstance(entry, dict) or not isinstance(entry.get(code), str):
            raise click.UsageError(f"{place}: an entry of {of} is a mapping with {code}: its code")
        for key in entry:
            if key not in known | {code}:
                line = lines[f"{of}[{number}].{key}"]
                raise unknown(f"{path}:{line}", key, known | {code})
        if entry[code] in seen:
            raise click.UsageError(f"{place}: {entry[code]} stands in {of} twice")
        seen.add(entry[code])
        yield entry[code], {k: v for k, v in entry.items() if k != code and v is not None}


def _tenants(
    entries: Any, path: Path, lines: Mapping[str, int]
) -> Iterator[tuple[str, str | None]]:
    for code, entry in _entries(entries, "tenants", "tenant", {"name"}, path, lines):
        yield code, None if "name" not in entry else str(entry["name"])


def _agreements(
    entries: Any, interface: Any, path: Path, lines: Mapping[str, int]
) -> Iterator[tuple[str, dict[str, Any]]]:
    for code, entry in _entries(entries, "agreements", "agreement", _AGREEMENT, path, lines):
        arguments = {"interface_code": interface} if isinstance(interface, str) else {}
        for key, value in entry.items():
            is_flag = key == "inactive_indicator" and isinstance(value, bool)
            arguments[_CODES.get(key, key)] = ("Y" if value else "N") if is_flag else value
        yield code, arguments


# The database -----------------------------------------------------------------------------------


def apply_model(
    room: Delivery,
    file: ModelFile,
    *,
    dry_run: bool,
    compiler: Callable[[], Callable[[], None] | None] | None = None,
    before: Callable[[], None] | None = None,
    after: Callable[[], None] | None = None,
) -> tuple[int, list[Change]]:
    """Deploy the model and register tenants and agreements, all in one transaction.

    Args:
        file: what `read_model` returned.
        dry_run: nothing is changed. Where the file has agreements they are registered, and that is
            rolled back.
        compiler: is called where the model has changed, and returns what is called after its
            deployment; an exception undoes all.
        before: is called first in the transaction of a deployment that changes the model.
        after: is called last in the transaction, where it is not a dry run.

    Returns:
        The version of the model, and what has changed.
    """
    answer = room._calls.deploy_model(file.model, dry_run=True)
    changes = _changes(answer.changes)
    if dry_run and not (file.tenants or file.agreements):
        return answer.model_version, changes
    check = compiler() if changes and compiler is not None and not dry_run else None
    with room._control.transaction():
        if changes and before is not None and not dry_run:
            before()
        if changes or not dry_run:
            answer = room._calls.deploy_model(file.model)
            changes = _changes(answer.changes)
            if check is not None:
                check()
        former = _registered(room, file)
        for code, name in file.tenants.items():
            room._calls.register_tenant(code, tenant_name=name)
        for code, arguments in file.agreements.items():
            room._calls.register_agreement(code, **arguments)
        changes += _differences(former, _registered(room, file))
        if dry_run:
            raise psycopg.Rollback
        if after is not None:
            after()
    return answer.model_version, changes


def _changes(changes: Any) -> list[Change]:
    return [Change(**change) for change in changes]


def _registered(room: Delivery, file: ModelFile) -> dict[str, dict[str, Any]]:
    """Return what is registered of the tenants and agreements of a file, by their names."""
    registered: dict[str, dict[str, Any]] = {}
    for tenant in room._calls.report(DeliveryTenantsRow, tenant_code=[*file.tenants]):
        registered[f"tenant {tenant.tenant_code}"] = {"name": tenant.tenant_name}
    for row in room._calls.report(DeliveryAgreementsRow, agreement_code=[*file.agreements]):
        registered[f"agreement {row.agreement_code}"] = {
            key: getattr(row, _CODES.get(key, key)) for key in sorted(_AGREEMENT)
        }
    return registered


def _differences(
    before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]
) -> Iterator[Change]:
    for name, now in after.items():
        then = before.get(name)
        if then is None:
            yield Change(name, f"{name.partition(' ')[0]} added")
            continue
        for key, value in now.items():
            if then[key] != value:
                was = "was not given" if then[key] is None else f"was {as_text(then[key])}"
                yield Change(name, f"{key} {was}, becomes {as_text(value)}")


# As YAML ----------------------------------------------------------------------------------------


def whole_document(
    model: Mapping[str, Any], agreements: Sequence[DeliveryAgreementsRow]
) -> dict[str, Any]:
    """Return a model with agreements and their tenants."""
    document = {key: model[key] for key in in_order(model, _ORDER)}
    if agreements:
        names = {row.tenant_code: row.tenant_name for row in agreements}
        document["tenants"] = [{"tenant": code, "name": name} for code, name in names.items()]
        document["agreements"] = [_agreement(row) for row in agreements]
    return document


def model_as_yaml(document: Mapping[str, Any]) -> str:
    """Return a whole document as YAML, as `read_model` reads it."""
    return as_yaml(document, _ORDER, apart=("entities",))


_ORDER = [
    *(
        "agreement",
        "tenant",
        "interface",
        "entities",
        "name",
        "parent",
        "columns",
        "type",
        "attribute",
        "key",
    ),
    *("attributes", "mandatory", "values", "source", "computed", "format", "alternate_keys"),
    *("relationships", "constraints", "check", "query", "action", "threshold"),
]


def _agreement(row: DeliveryAgreementsRow) -> dict[str, Any]:
    defaults = {"layer": "LVL", "completeness": "PARTIAL", "inactive_indicator": "N"}
    values = {key: getattr(row, _CODES.get(key, key)) for key in sorted(_AGREEMENT)}
    given = {
        key: str(value) if key.startswith("effective") else value
        for key, value in values.items()
        if value is not None and value != {} and defaults.get(key) != value
    }
    return {"agreement": row.agreement_code, **given}
