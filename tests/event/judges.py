"""Judges of OpenLineage events: the published JSON schemas, and the classes of the client.

The core schema takes a facet of any content, so each facet is held to the schema that it names.
"""

from __future__ import annotations

import functools
import inspect
import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import attr
from jsonschema import Draft202012Validator, FormatChecker
from openlineage.client import facet_v2
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.generated.base import BaseFacet
from openlineage.client.transport.file import FileConfig, FileTransport
from referencing import Registry, Resource

import omd.integrations

if TYPE_CHECKING:
    from collections.abc import Iterator

PUBLISHED = Path(__file__).parents[1] / "data" / "openlineage"
OURS = Path(omd.integrations.__file__).parent / "OmdRunFacet.json"
FORMATS = FormatChecker(["uuid"])  # of the others the package has none without more packages


@FORMATS.checks("date-time", raises=ValueError)
def _is_instant(value: object) -> bool:
    return datetime.fromisoformat(str(value).replace("Z", "+00:00")).tzinfo is not None


@FORMATS.checks("uri")
def _is_uri(value: object) -> bool:
    return bool(urlsplit(str(value)).scheme)


@functools.cache
def _schemas() -> dict[str, dict[str, Any]]:
    files = [*PUBLISHED.glob("*.json"), OURS]
    return {s["$id"]: s for s in (json.loads(file.read_text()) for file in files)}


@functools.cache
def _validator(url: str) -> Draft202012Validator:
    registry: Registry[Any] = Registry().with_resources(
        (name, Resource.from_contents(schema)) for name, schema in _schemas().items()
    )
    return Draft202012Validator({"$ref": url}, registry=registry, format_checker=FORMATS)


def facets(event: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return all facets of an event, each with its name."""
    yield from event["run"].get("facets", {}).items()
    yield from event["job"].get("facets", {}).items()
    for dataset in event["inputs"] + event["outputs"]:
        for place in ("facets", "inputFacets", "outputFacets"):
            yield from dataset.get(place, {}).items()


def check(event: dict[str, Any]) -> None:
    """Hold an event to the core schema, and each of its facets to its own."""
    _validator(event["schemaURL"]).validate(event)
    for name, facet in facets(event):
        schema, _, _ = facet["_schemaURL"].partition("#")
        assert name in _schemas()[schema]["properties"], (name, schema)
        _validator(facet["_schemaURL"]).validate(facet)
        assert "null" not in json.dumps(facet).split('"'), facet  # no value is null


def _facet_classes() -> dict[str, type[Any]]:
    return {
        cls._get_schema(): cls
        for _, module in inspect.getmembers(facet_v2, inspect.ismodule)
        for _, cls in inspect.getmembers(module, inspect.isclass)
        if issubclass(cls, BaseFacet)
    }


def _made(kind: str, content: Any) -> Any:
    """Return a facet as its class, which refuses a field that it does not know."""
    cls = _facet_classes().get(content["_schemaURL"])
    if cls is None:
        assert kind == "omd_run", kind
        return content
    given = {k: v for k, v in content.items() if k not in ("_schemaURL", "_producer")}
    names = {field.name: field.alias for field in attr.fields(cls)}
    return cls(**{names[k]: v for k, v in given.items()}, producer=content["_producer"])


def _all_made(content: dict[str, Any] | None) -> dict[str, Any]:
    return {name: _made(name, facet) for name, facet in (content or {}).items()}


def through_the_client(event: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Make the event of the classes of the client; return what its file transport writes."""
    made = RunEvent(
        eventTime=event["eventTime"],
        producer=event["producer"],
        eventType=RunState(event["eventType"]),
        run=Run(event["run"]["runId"], _all_made(event["run"]["facets"])),
        job=Job(event["job"]["namespace"], event["job"]["name"], _all_made(event["job"]["facets"])),
        inputs=[
            InputDataset(
                d["namespace"],
                d["name"],
                facets=_all_made(d.get("facets")),
                inputFacets=_all_made(d.get("inputFacets")),
            )
            for d in event["inputs"]
        ],
        outputs=[
            OutputDataset(
                d["namespace"],
                d["name"],
                facets=_all_made(d.get("facets")),
                outputFacets=_all_made(d.get("outputFacets")),
            )
            for d in event["outputs"]
        ],
    )
    path = folder / "events.jsonl"
    FileTransport(FileConfig(str(path), append=True)).emit(made)
    written: dict[str, Any] = json.loads(path.read_text().splitlines()[-1])
    return written
