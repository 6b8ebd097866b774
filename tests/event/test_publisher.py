"""Workers and schedulers publish beside their work."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

import omd
from omd.programs.service.publisher import Publisher
from omd.programs.service.scheduler import Scheduler
from omd.programs.worker.worker import Worker
from support.events import after
from support.flow import Flow


@pytest.fixture
def control(dsn: str) -> Iterator[omd.Control]:
    with omd.connect(dsn) as control:
        yield control


def until_published(flow: Flow, count: int) -> None:
    """Wait until so many events are published."""
    flow.conn.execute("LISTEN omd_published")
    deadline = time.monotonic() + 60
    while len(after(flow)) < count:
        assert time.monotonic() < deadline
        list(flow.conn.notifies(timeout=1, stop_after=1))


def test_a_publisher_publishes_what_it_hears_of_and_what_it_does_not(
    flow: Flow, control: omd.Control
) -> None:
    said: list[str] = []
    flow.module()
    with Publisher(lambda: control._new_link(name="-publish"), said.append):
        flow.run_module()
        until_published(flow, 2)
        # Nobody is notified of this one.
        flow.owner(
            "INSERT INTO omd_event.outbox (event_type, subject_type, subject_id)"
            " VALUES ('TASK_DEAD', 'TASK', 1)"
        )
        until_published(flow, 3)
    assert said == []


def test_a_publisher_that_lost_its_connection_connects_again(
    flow: Flow, control: omd.Control
) -> None:
    said: list[str] = []
    flow.module()
    with Publisher(lambda: control._new_link(name="-publish"), said.append):
        flow.run_module()
        until_published(flow, 2)
        flow.conn.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name LIKE '%-publish'"
        )
        flow.run_module()
        until_published(flow, 4)
    assert len(said) <= 1


def test_a_scheduler_and_a_worker_publish(flow: Flow, dsn: str) -> None:
    flow.module()
    flow.run_module()
    Scheduler(lambda: omd.connect(dsn), ["false"], dsn, once=True).run()
    until_published(flow, 2)
    flow.run_module()
    Worker(dsn, until_quiet=True).run()
    until_published(flow, 4)
