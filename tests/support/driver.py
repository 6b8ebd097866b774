"""Batches and Modules that the driver registers, and readers of the database's rows about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

import omd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def control(dsn: str) -> Iterator[omd.Control]:
    """A control without a lease; there is a Batch b of two Modules, and a Module m_alone."""
    with omd.connect(dsn, lease=None) as control:
        setup(control)
        yield control


def setup(control: omd.Control) -> None:
    with control.transaction() as connection:
        connection.execute(
            "CREATE SCHEMA IF NOT EXISTS dwh;"
            " CREATE TABLE dwh.t (omd_insert_module_instance_id bigint)"
        )
    control.calls.omd.register_batch("b", frequency_code="Adhoc")
    for sequence, code in enumerate(("m_1", "m_2", "m_alone")):
        control.calls.omd.register_module(
            code,
            area_code="INT",
            table_code="dwh.t",
            table_type_code="HUB",
            platform_code="POSTGRES",
        )
        if code != "m_alone":
            control.calls.omd.add_module_to_batch("b", code, sequence=sequence)


@pytest.fixture
def module_row(conn: psycopg.Connection[dict[str, Any]]) -> Callable[[int], dict[str, Any]]:
    """A function that reads a Module Instance as the database has it."""

    def read(instance_id: int) -> dict[str, Any]:
        row = conn.execute(
            "SELECT * FROM omd.module_instance WHERE module_instance_id = %s", [instance_id]
        ).fetchone()
        assert row is not None
        return row

    return read


@pytest.fixture
def batch_row(conn: psycopg.Connection[dict[str, Any]]) -> Callable[[int], dict[str, Any]]:
    """A function that reads a Batch Instance as the database has it."""

    def read(instance_id: int) -> dict[str, Any]:
        row = conn.execute(
            "SELECT * FROM omd.batch_instance WHERE batch_instance_id = %s", [instance_id]
        ).fetchone()
        assert row is not None
        return row

    return read


@pytest.fixture
def events(conn: psycopg.Connection[dict[str, Any]]) -> Callable[..., list[dict[str, Any]]]:
    """A function that reads the failure events of an instance."""

    def read(*, module: int = 0, batch: int = 0) -> list[dict[str, Any]]:
        return conn.execute(
            """SELECT * FROM omd.event_log
               WHERE (%(module)s > 0 AND module_instance_id = %(module)s)
                  OR (%(batch)s > 0 AND module_instance_id = 0 AND batch_instance_id = %(batch)s)
               ORDER BY event_id""",
            {"module": module, "batch": batch},
        ).fetchall()

    return read
