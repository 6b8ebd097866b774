"""The bodies of webhooks and programs: an event has one body, whoever sends it and when."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from support.flow import Flow

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]


@pytest.fixture
def flow(conn: Connection) -> Flow:
    return Flow(conn)


def bodies(flow: Flow, **sink: Any) -> list[str]:
    """Return what a sink of its own gets of all events."""
    flow.call("omd_event.register_sink", sink_code="s", sink_kind="COMMAND", target="/x", **sink)
    flow.call("omd_event.send_again", sink_code="s", event_number=1)
    while flow.call("omd_event.publish")["published"]:
        pass
    taken = flow.rows("SELECT body FROM omd_event.take_events('s', 'me')")
    return [row["body"] for row in taken]


def test_an_id_is_made_of_what_happened_and_not_of_its_number(flow: Flow) -> None:
    flow.batch("b")
    batch = flow.end_batch(flow.begin_batch("b").id, "F")
    flow.call("omd_event.publish")
    flow.call("omd_event.watch")
    began, failed, problem = (json.loads(body) for body in bodies(flow))
    installation = flow.one("SELECT omd.installation_id()::text")
    start = flow.one(
        "SELECT to_char(start_datetime AT TIME ZONE 'UTC', 'YYYYMMDD\"T\"HH24MISSUS\"Z\"')"
        " FROM omd.batch_instance WHERE batch_instance_id = %s",
        batch,
    )
    assert began["id"] == f"{installation}/BATCH_BEGAN/{batch}/{start}"
    assert failed["id"] == f"{installation}/BATCH_FAILED/{batch}/{start}"
    assert re.fullmatch(r"[0-9a-f-]{36}", problem["id"])
    assert {event["source"] for event in (began, failed, problem)} == {f"urn:uuid:{installation}"}
    assert not any("." in event["id"] for event in (began, failed, problem))


@pytest.mark.parametrize("format", ["CLOUDEVENT", "TEXT"])
def test_settings_of_a_session_change_no_byte(flow: Flow, format: str) -> None:
    flow.batch("b")
    flow.end_batch(flow.begin_batch("b").id, "S")
    flow.call("omd_event.publish")
    expected = bodies(flow, format=format)
    assert len(expected) == 2
    for name, value in (
        ("timezone", "Asia/Kathmandu"),
        ("datestyle", "German"),
        ("intervalstyle", "sql_standard"),
        ("extra_float_digits", "-5"),
        ("search_path", ""),
    ):
        flow.conn.execute(f"SET {name} = '{value}'".encode())
        assert bodies(flow) == expected, name


def test_no_body_holds_the_text_of_an_error_or_a_control_character_in_its_attributes(
    flow: Flow,
) -> None:
    flow.module("m")
    begun = flow.begin_module("m")
    flow.call("module_failure", module_instance_id=begun.id, event_detail="secret 4711")
    hostile = "a\x01\n\u0085b"
    flow.batch(hostile)
    flow.end_batch(flow.begin_batch(hostile).id, "S")
    flow.call("omd_event.publish")
    found = bodies(flow)
    assert len(found) == 4
    assert not any("secret" in body for body in found)
    for body in map(json.loads, found):
        attributes = [value for name, value in body.items() if name != "data"]
        assert not re.search(r"[\x00-\x1f\x7f-\x9f]", "".join(attributes))
    assert [json.loads(body)["data"]["code"] for body in found[2:]] == [hostile] * 2
