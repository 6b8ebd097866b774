"""Models in YAML files, with the tenants and agreements that belong to them."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from omd._core.engines import SPARK
from omd.programs.cli.documents.changes import Change, Documents, differences
from omd.programs.terminal.text import short
from omd.programs.terminal.yaml_file import Document, as_yaml, in_order, read_document, unknown
from omd.rooms.delivery.calls import DeliveryCalls
from omd.rooms.delivery.rows import (
    DeliveryAgreementsRow,
    DeliveryConstraintsRow,
    DeliveryTenantsRow,
)
from omd.rooms.facts.rows import FactsStateRow

if TYPE_CHECKING:
    import psycopg


@dataclass(frozen=True, slots=True)
class ModelFile:
    """What a file holds."""

    source: Document  # the model, without what follows
    # The names of the tenants, by their codes; None: the present name stays.
    tenants: dict[str, str | None] = field(default_factory=dict)
    # The arguments of register_agreement, by the codes.
    agreements: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def model(self) -> dict[str, Any]:
        """The model document."""
        model: dict[str, Any] = self.source.value
        return model


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
    document = read_document(path)
    tenants, agreements = dict(_tenants(document)), dict(_agreements(document))
    for of in ("tenants", "agreements"):
        document.value.pop(of, None)
    return ModelFile(document, tenants, agreements)


def _entries(
    document: Document, of: str, code: str, known: set[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the entries of a list by their codes, after a look at their keys."""
    if document.value.get(of) is None:
        return
    entries = document.below(of)
    if not isinstance(entries.value, list):
        raise click.UsageError(f"{entries.place()}: {of} must be a list")
    seen = set()
    for number, entry in enumerate(entries.value):
        its = entries.below(number)
        if not isinstance(entry, dict) or not isinstance(entry.get(code), str):
            raise click.UsageError(
                f"{its.place()}: an entry of {of} is a mapping with {code}: its code"
            )
        for key in entry:
            if key not in known | {code}:
                raise unknown(its.below(key).place(), key, known | {code})
        if entry[code] in seen:
            raise click.UsageError(f"{its.place()}: {entry[code]} stands in {of} twice")
        seen.add(entry[code])
        yield entry[code], {k: v for k, v in entry.items() if k != code and v is not None}


def _tenants(document: Document) -> Iterator[tuple[str, str | None]]:
    for code, entry in _entries(document, "tenants", "tenant", {"name"}):
        yield code, None if "name" not in entry else str(entry["name"])


def _agreements(document: Document) -> Iterator[tuple[str, dict[str, Any]]]:
    interface = document.value.get("interface")
    for code, entry in _entries(document, "agreements", "agreement", _AGREEMENT):
        arguments = {"interface_code": interface} if isinstance(interface, str) else {}
        for key, value in entry.items():
            is_flag = key == "inactive_indicator" and isinstance(value, bool)
            arguments[_CODES.get(key, key)] = ("Y" if value else "N") if is_flag else value
        yield code, arguments


# The database -----------------------------------------------------------------------------------


class ModelDocument(Documents):
    """A model with its tenants and agreements; the facts of its interface follow it."""

    def __init__(
        self,
        path: Path,
        file: ModelFile,
        *,
        dry_run: bool = False,
        spark: bool | None = False,
        is_alone: bool = True,
    ) -> None:
        """Keep it.

        Args:
            path: the file, for messages.
            file: what it holds.
            dry_run: nothing is changed.
            spark: whether Spark compiles what has changed; None: where it has to be judged there.
            is_alone: nothing else is applied, so a dry run need not deploy the model.
        """
        super().__init__(dry_run=dry_run)
        self._path, self._file = path, file
        self._spark = spark
        self._is_shown = dry_run and is_alone and not (file.tenants or file.agreements)
        self._code = str(file.model.get("interface"))
        self._changes: list[Change] = []
        self._check: Callable[[], None] | None = None
        self._version = 0

    @property
    def _calls(self) -> DeliveryCalls:
        return self.control.delivery._calls

    def prepare(self) -> None:
        """Compare the model, and start Spark where it has to compile it."""
        answer = self._calls.deploy_model(self._file.model, dry_run=True)
        self._changes = self._listed(answer.changes)
        if self._changes and not self.dry_run:
            self._check = self._compiler()

    def hold(self) -> None:
        """Wait for readers and writers of the facts, before the model is locked."""
        if self._changes and not self.dry_run and self._has_facts():
            self.control.calls.omd_facts.hold_views(self._code)

    def apply(self, connection: psycopg.Connection[Any]) -> Iterator[Change]:
        """Deploy the model, and register its tenants and agreements."""
        if not self._is_shown and (self._changes or not self.dry_run):
            answer = self._calls.deploy_model(self._file.model)
            self._changes = self._listed(answer.changes)
            self._version = answer.model_version
            if self._check is not None:
                self._check()
        yield from self._changes
        before = self._registered()
        for code, name in self._file.tenants.items():
            self._calls.register_tenant(code, tenant_name=name)
        for code, arguments in self._file.agreements.items():
            self._calls.register_agreement(code, **arguments)
        for name, now in self._registered().items():
            yield from differences(name, before.get(name), now, [k for k, v in now.items() if v])

    def finish(self) -> None:
        """Deploy the facts: a load of a newer model would fail."""
        self.remarks.append(f"Model {self._code} has version {self._version}.")
        if self._has_facts():
            answer = self.control.calls.omd_facts.deploy(self._code)
            self.remarks.append(
                f"Facts of {self._code}, version {answer.model_version}: "
                f"{answer.statements:,} statements executed."
            )

    def problems(self, error: Any) -> Iterator[str]:
        """Yield every problem that an error lists, with its place in the file."""
        for problem in error.detail.get("problems") or [
            {"path": f"settings[{json.dumps(code)}]", "problem": "there is no such constraint"}
            for code in error.detail.get("constraint_codes") or ()
        ]:
            error._hint = f"Mend the file; omd diff {self._path} tells what is left."
            if "path" in problem:
                place = self._file.source.place(problem["path"])
                yield f"{place}: {problem['path'] or 'model'}: {problem['problem']}"
            else:
                yield f"{self._path}: {problem['object']}: {problem['change']}"

    def _has_facts(self) -> bool:
        return bool(self.control.report(FactsStateRow, interface_code=self._code))

    def _listed(self, changes: Any) -> list[Change]:
        return [
            Change(f"interface:{self._code}", change["object"], None, change["change"])
            for change in changes
        ]

    def _registered(self) -> dict[str, dict[str, Any]]:
        """Return what is registered of the tenants and agreements of the file, by their names."""
        file, registered = self._file, dict[str, dict[str, Any]]()
        for tenant in self._calls.report(DeliveryTenantsRow, tenant_code=[*file.tenants]):
            registered[f"tenant:{tenant.tenant_code}"] = {"name": tenant.tenant_name}
        for row in self._calls.report(DeliveryAgreementsRow, agreement_code=[*file.agreements]):
            registered[f"agreement:{row.agreement_code}"] = {
                key: getattr(row, _CODES.get(key, key)) for key in sorted(_AGREEMENT)
            }
        return registered

    def _compiler(self) -> Callable[[], None] | None:
        """Start Spark and return the check by it; None where Spark is not asked."""
        # A check is judged by the database, and means the same on Spark.
        if not (
            self._spark
            or (self._spark is None and find_spec("pyspark") and _has_query(self._file.model))
        ):
            return None
        engine = self.control._engines[SPARK]
        click.echo("Spark compiles the checks; --no-spark leaves this out.", err=True)
        try:
            session = engine.session(quiet=True)
        except Exception as error:
            if self._spark:
                raise
            click.echo(short(f"Spark does not start, so it is left out: {error}"), err=True)
            return None

        def check() -> None:
            constraints = self._calls.report(DeliveryConstraintsRow, interface_code=self._code)
            engine.compile_checks(session, self._file.model, constraints)

        return check


def _has_query(model: Mapping[str, Any]) -> bool:
    """Whether a document, which may be a wrong one, has something that only Spark can judge."""
    entities = model.get("entities")
    return isinstance(entities, list) and any(
        "derived" in entity
        or any(
            isinstance(part, dict) and word in part
            for parts, word in (("constraints", "query"), ("attributes", "computed"))
            if isinstance(entity.get(parts), list)
            for part in entity[parts]
        )
        for entity in entities
        if isinstance(entity, dict)
    )


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
