"""A thing as a document: what ``omd apply`` takes, a data contract, a picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from omd._core.engines import POSTGRES
from omd.programs.terminal.yaml_file import as_yaml

if TYPE_CHECKING:
    from omd.doors.control import Control
    from omd.programs.cli.things import Thing


def written(control: Control, thing: Thing, output: str) -> str:
    """Return the document of a thing; applying its yaml changes nothing.

    Args:
        control: the connection.
        thing: what it is about.
        output: yaml, odcs or mermaid.

    Raises:
        click.UsageError: a thing of this kind has none.
        OmdError: there is none of this code.
    """
    write = _WRITERS.get((thing.kind, output))
    if write is None:
        kinds = " or ".join(kind for kind, of in _WRITERS if of == output)
        raise click.UsageError(f"--output {output} is of {kinds}, and {thing} is none.")
    return write(control, str(thing.key))


def _contract(control: Control, code: str) -> str:
    """Return the model of an interface as a contract of the Open Data Contract Standard."""
    from omd.integrations.contracts.odcs_export import contract_as_yaml, odcs_contract
    from omd.rooms.delivery.rows import DeliveryModelsRow

    model = control.calls.omd_delivery.model_document(code)
    [row] = control.report(DeliveryModelsRow, interface_code=code)
    return contract_as_yaml(odcs_contract(model, row.model_version))


def _picture(control: Control, code: str) -> str:
    """Return the facts of an interface as a picture."""
    from omd.programs.report.diagram import as_mermaid, read_model

    return as_mermaid(read_model(control.facts, code))


# What register_module makes of what is not given.
_MODULE = {
    "platform_code": POSTGRES,
    "effective_date_column": "omd_effective_date",
    "expiry_date_column": "omd_expiry_date",
    "current_indicator_column": "omd_current_record_indicator",
    "insert_instance_column": "omd_insert_module_instance_id",
    "update_instance_column": "omd_update_module_instance_id",
    "inactive_indicator": "N",
    "open_expiry_date": "9999-12-31",
    "backoff": "00:00:10",
    "backoff_limit": "01:00:00",
    "max_failures": 10,
}


def _module(control: Control, code: str) -> str:
    from omd.programs.cli.documents.control import registered
    from omd.rooms.control.rows import ModuleListRow
    from omd.rooms.decision.rows import DecisionStageListRow
    from omd.rooms.lineage.rows import LineageTopicsRow

    control._omd.module_document(code)  # an unknown code is an error with a hint
    [listed] = control.report(ModuleListRow, module_code=code)
    if listed.module_kind_code == "TOPIC":
        [topic] = control.report(LineageTopicsRow, module_code=code)
        return _topic(control, topic.topic)
    if listed.module_kind_code == "STAGE":
        [stage] = control.report(DecisionStageListRow, module_code=code)
        return _stage(control, stage.stage_code)
    values = registered(control, [code], ())[f"module:{code}"]
    shown = {key: value for key, value in values.items() if _MODULE.get(key) != value}
    return _as_yaml("modules", code, _nested(shown))


def _batch(control: Control, code: str) -> str:
    from omd.programs.cli.documents.control import registered

    control.calls.omd.previous_batch_instance(code)  # an unknown code is an error with a hint
    values = registered(control, (), [code])[f"batch:{code}"]
    default = {"inactive_indicator": "N", "continue_on_failure": False}
    shown = _nested({key: value for key, value in values.items() if default.get(key) != value})
    for members in ("modules", "batches"):
        if members in shown:
            shown[members] = [
                {member: {k: v for k, v in place.items() if default.get(k) != v}}
                for member, place in shown[members].items()
            ]
    return _as_yaml("batches", code, shown)


# What register_topic makes of what is not given.
_TOPIC: dict[str, Any] = {
    "engine": POSTGRES,
    "reload_method": "DELETE",
    "inactive_indicator": "N",
    "area_code": "PRES",
    "platform_code": POSTGRES,
    "backoff": timedelta(seconds=10),
    "backoff_limit": timedelta(hours=1),
    "max_failures": 10,
}


def _topic(control: Control, name: str) -> str:
    from omd.programs.cli.documents.lineage import arguments_of
    from omd.rooms.lineage.rows import LineageTopicsRow

    control._lineage.topic_definition(name)  # an unknown name is an error with a hint
    [row] = control.report(LineageTopicsRow, topic=name)
    shown = {
        key: _interval(value) if isinstance(value, timedelta) else value
        for key, value in arguments_of(row).items()
        if value not in (None, []) and _TOPIC.get(key) != value
    }
    if shown.get("module_code") == name:
        del shown["module_code"]
    return _as_yaml("topics", name, shown)


def _interval(value: timedelta) -> str:
    return str(value).replace(",", "")


def _stage(control: Control, code: str) -> str:
    from omd.programs.cli.documents.decision import stage_as_yaml
    from omd.programs.report.decision import stage_of

    return stage_as_yaml(stage_of(control.decision, code))


def _ruleset(control: Control, code: str) -> str:
    from omd._core.error_codes import UnknownRuleset
    from omd.programs.cli.documents.decision import newest_ruleset

    newest = newest_ruleset(control, code)
    if newest is None:
        raise UnknownRuleset(f"there is no ruleset {code}", hint="omd report decision_ruleset_list")
    row, tests = newest
    return as_yaml(
        {
            "ruleset": row.ruleset_code,
            "kind": row.kind,
            "content": row.content,
            "tests": [
                {"name": test.test_name, "input": test.input, "expected": test.expected}
                for test in tests
            ],
        },
        ["name"],
    )


def _interface(control: Control, code: str) -> str:
    return _model(control, code, interface_code=code)


def _agreement(control: Control, code: str) -> str:
    from omd._core.error_codes import UnknownAgreement
    from omd.rooms.delivery.rows import DeliveryAgreementsRow

    rows = control.report(DeliveryAgreementsRow, agreement_code=code)
    if not rows:
        raise UnknownAgreement(
            f"there is no agreement {code}", hint="omd report delivery_agreements"
        )
    return _model(control, rows[0].interface_code, agreement_code=code)


def _model(control: Control, interface: str, **which: Any) -> str:
    from omd.programs.cli.documents.delivery import model_as_yaml, whole_document
    from omd.rooms.delivery.rows import DeliveryAgreementsRow

    model = control.calls.omd_delivery.model_document(interface)
    rows = control.report(DeliveryAgreementsRow, order_by=["agreement_code"], **which)
    return model_as_yaml(whole_document(model, rows))


_WRITERS: dict[tuple[str, str], Callable[[Control, str], str]] = {
    ("module", "yaml"): _module,
    ("batch", "yaml"): _batch,
    ("topic", "yaml"): _topic,
    ("stage", "yaml"): _stage,
    ("ruleset", "yaml"): _ruleset,
    ("interface", "yaml"): _interface,
    ("agreement", "yaml"): _agreement,
    ("interface", "odcs"): _contract,
    ("interface", "mermaid"): _picture,
}


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a document: what stands at ``parameters.x`` is below parameters."""
    nested: dict[str, Any] = {}
    for path, value in values.items():
        key, dot, below = path.partition(".")
        if dot:
            nested.setdefault(key, {})[below] = value
        else:
            nested[key] = value
    return nested


def _as_yaml(kind: str, code: str, values: Mapping[str, Any]) -> str:
    return as_yaml({kind: {code: dict(values)}}, _ORDER)


_ORDER = [
    "area_code", "table_code", "table_type_code", "platform_code", "module_description",
    "frequency_code", "batch_description", "processor", "depends_on", "transforms",
    "sequence", "executable", "job",
]  # fmt: skip
