"""A run has one id outside, for ever."""

from __future__ import annotations

import hashlib
from datetime import datetime, timezone
from uuid import UUID

import psycopg
import pytest

from support.events import published
from support.flow import Flow


def expected(installation: UUID, subject: str, id: int, start: datetime) -> UUID:
    """Make the id anew: version 7, its time the start, its other bits of the SHA-256."""
    micros = round((start - datetime(1970, 1, 1, tzinfo=timezone.utc)).total_seconds() * 1e6)
    text = f"{installation} {subject} {id} {micros}"
    bits = bytearray(hashlib.sha256(text.encode()).digest()[:10])
    bits[0] = bits[0] & 0x0F | 0x70
    bits[2] = bits[2] & 0x3F | 0x80
    return UUID(bytes=(micros // 1000).to_bytes(6, "big") + bytes(bits))


def test_the_id_is_of_version_7_and_has_the_time_of_the_start(flow: Flow) -> None:
    flow.batch("b", "m")
    batch = flow.begin_batch()
    flow.run_module("m", batch=batch.id)
    installation = flow.one("SELECT installation_id FROM omd.installation")
    for subject, table in (("MODULE", "module"), ("BATCH", "batch")):
        start = flow.one(
            f"SELECT start_datetime FROM omd.{table}_instance WHERE {table}_instance_id = 1"
        )
        id = flow.one("SELECT omd_event.run_id(%s, 1)", subject)
        assert id == expected(installation, subject, 1, start.astimezone(timezone.utc))
        assert (id.version, id.variant) == (7, "specified in RFC 4122")
        flow.conn.execute("SET timezone = 'Asia/Tokyo'")
        assert flow.one("SELECT omd_event.run_id(%s, 1)", subject) == id
        flow.conn.execute("RESET timezone")
    assert flow.one("SELECT omd_event.run_id('MODULE', 1)") != flow.one(
        "SELECT omd_event.run_id('BATCH', 1)"
    )


def test_an_id_that_is_used_again_is_another_run(flow: Flow) -> None:
    flow.module()
    flow.run_module()
    id = flow.one("SELECT omd_event.run_id('MODULE', 1)")
    flow.owner(
        "UPDATE omd.module_instance SET start_datetime = start_datetime + interval '1 us'"
        " WHERE module_instance_id = 1"
    )
    assert flow.one("SELECT omd_event.run_id('MODULE', 1)") != id


def test_a_purged_run_keeps_its_id_by_its_event(flow: Flow) -> None:
    flow.module()
    flow.run_module()
    id = flow.one("SELECT omd_event.run_id('MODULE', 1)")
    published(flow)
    flow.owner("DELETE FROM omd.module_instance WHERE module_instance_id = 1")
    assert flow.one("SELECT omd_event.run_id('MODULE', 1)") is None
    assert flow.rows(
        "SELECT DISTINCT omd_event._run_uuid(i.installation_id, e.subject_type, e.subject_id,"
        " e.started_datetime) AS id FROM omd_event.event AS e, omd.installation AS i"
    ) == [{"id": id}]


def test_a_run_is_named_as_a_parent(flow: Flow) -> None:
    flow.batch("b", "m")
    batch = flow.begin_batch()
    flow.run_module("m", batch=batch.id)
    name = flow.one("SELECT current_database()")
    for subject, job in (("MODULE", "m"), ("BATCH", "batch:b")):
        id = flow.one("SELECT omd_event.run_id(%s, 1)", subject)
        assert flow.one("SELECT omd_event.parent_id(%s, 1)", subject) == f"omd.{name}/{job}/{id}"
    flow.call("omd_event.configure", job_namespace="prod")
    assert flow.one("SELECT omd_event.parent_id('MODULE', 1)").startswith("prod/m/")
    for id in (0, 99, None):
        assert flow.one("SELECT omd_event.parent_id('BATCH', %s)", id) is None
        assert flow.one("SELECT omd_event.run_id('MODULE', %s)", id) is None
    for routine in ("run_id", "parent_id"):
        for subject, error in (("TASK", "OM013"), (None, "OM005")):
            with pytest.raises(psycopg.Error) as caught:
                flow.one(f"SELECT omd_event.{routine}(%s, 1)", subject)
            assert caught.value.sqlstate == error
