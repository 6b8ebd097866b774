"""What OMD says of runs in OpenLineage: each event by the schemas, and what is in its facets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row

from event.judges import check, facets, through_the_client
from event.runs_of_all_kinds import World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path


@pytest.fixture(scope="module")
def world(new_database: Callable[[], AbstractContextManager[str]]) -> Iterator[World]:
    with (
        new_database() as dsn,
        psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn,
    ):
        yield World(conn)


def without_empty(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event without facets that are empty, which the client leaves out."""
    for place in (event["job"], event["run"], *event["inputs"], *event["outputs"]):
        for part in ("facets", "inputFacets", "outputFacets"):
            if place.get(part) == {}:
                del place[part]
    return event


def test_each_event_and_each_facet_is_as_its_schema_says(world: World) -> None:
    events = world.all_events()
    for event in events:
        check(event)
    assert {name for event in events for name, _ in facets(event)} == {
        "parent",
        "nominalTime",
        "processing_engine",
        "errorMessage",
        "omd_run",
        "jobType",
        "sql",
        "documentation",
        "dataQualityAssertions",
        "schema",
        "version",
        "lifecycleStateChange",
        "symlinks",
        "columnLineage",
        "outputStatistics",
    }


def test_the_classes_of_the_client_make_the_same_events(world: World, tmp_path: Path) -> None:
    for event in world.all_events():
        assert without_empty(through_the_client(event, tmp_path)) == without_empty(event)
