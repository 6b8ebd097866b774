"""What `omd send --openlineage` sends, to whom, and what it does when that one does not take it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from openlineage.client import OpenLineageClient
from psycopg.rows import dict_row

import omd
from event.receiver import Answer, Receiver, listening
from omd.errors import lookup
from omd.integrations.openlineage import OpenLineage
from omd.programs.sender.sender import (
    Refused,
    Sender,
    Settled,
    Wait,
    http_outcome,
    serve,
)
from support.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    Connection = psycopg.Connection[dict[str, Any]]

    Command = Callable[..., subprocess.CompletedProcess[str]]

LEASE = timedelta(seconds=60)


@pytest.fixture(scope="module")
def shared_dsn(new_database: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    """A database for all tests here; each has a sink that begins with its own runs."""
    with new_database() as dsn, psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE SCHEMA dwh")
        yield dsn


@pytest.fixture
def flow(shared_dsn: str) -> Iterator[Flow]:
    with psycopg.connect(shared_dsn, autocommit=True, row_factory=dict_row) as conn:
        flow = Flow(conn)
        while flow.call("omd_event.publish")["published"] != 0:
            pass
        conn.execute("DELETE FROM omd_event.sink")
        flow.call("omd_event.register_sink", sink_code="openlineage", sink_kind="OPENLINEAGE")
        yield flow


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with listening() as receiver:
        yield receiver


def runs(flow: Flow, *codes: str) -> None:
    for code in codes:
        flow.module(code)
        flow.run_module(code)


def until(condition: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def http(url: str, **more: Any) -> OpenLineage:
    config = {"transport": {"type": "http", "url": url, "timeout": 2, **more}}
    return OpenLineage(OpenLineageClient(config=config))


def drain(dsn: str, transport: Any, told: list[str] | None = None) -> int:
    """Send all there is, in this process."""
    lines = told if told is not None else []
    return serve(
        lambda: omd.connect(dsn), {"openlineage": transport}, lines.append, until_quiet=True
    )


class Sending:
    """A sender in a thread of its own."""

    def __init__(
        self, dsn: str, transport: Any, lease: timedelta = LEASE, limit: int = 100
    ) -> None:
        self.told: list[str] = []
        self.error: BaseException | None = None
        self.sender = Sender(
            lambda: omd.connect(dsn),
            "openlineage",
            transport,
            tell=self.told.append,
            lease=lease,
            limit=limit,
        )
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        try:
            self.sender.run(until_quiet=True)
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            self.error = error

    def __enter__(self) -> Sending:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.sender.stop()
        self._thread.join(timeout=30)
        assert not self._thread.is_alive()

    def join(self) -> None:
        self._thread.join(timeout=30)
        assert not self._thread.is_alive()


def sink(flow: Flow) -> dict[str, Any]:
    (row,) = flow.rows("SELECT * FROM omd_report.event_sinks WHERE sink_code = 'openlineage'")
    return row


def test_all_is_sent_in_order_exactly_as_the_view_has_it(
    flow: Flow, receiver: Receiver, shared_dsn: str
) -> None:
    runs(flow, "one", "two")
    number = sink(flow)["event_number"]
    assert drain(shared_dsn, http(receiver.url)) == 0
    assert receiver.events() == [(t, c) for c in ("one", "two") for t in ("START", "COMPLETE")]
    rows = flow.rows(
        "SELECT event::text AS body FROM omd_report.openlineage_event"
        " WHERE event_number > %s ORDER BY event_number",
        number,
    )
    assert [body.decode() for body in receiver.got] == [row["body"] for row in rows]
    assert sink(flow)["behind"] == 0


def test_what_the_receiver_will_never_take_is_passed_after_three_tries(
    flow: Flow, receiver: Receiver, shared_dsn: str
) -> None:
    runs(flow, "good", "bad", "fine")
    receiver.answer = lambda e: Answer(422, body=b"no") if e["job"]["name"] == "bad" else Answer()
    drain(shared_dsn, http(receiver.url))
    assert [code for _, code in receiver.events()] == ["good", "good", "fine", "fine"]
    assert len(receiver.asked) == 4 + 2 * 3
    refused = flow.rows("SELECT status, answer FROM omd_event.refused_event ORDER BY event_number")
    assert refused == [{"status": "422", "answer": "no"}] * 2
    assert sink(flow)["refused"] == 2


def test_when_a_refusal_is_final_is_set_in_the_database(
    flow: Flow, receiver: Receiver, shared_dsn: str
) -> None:
    assert sink(flow)["tries"] == 3
    for wrong in (0, 101):
        flow.refused("OM013", "omd_event.configure", tries=wrong)
    flow.call("omd_event.configure", tries=1)
    assert sink(flow)["tries"] == 1
    runs(flow, "bad")
    receiver.answer = lambda _: Answer(422, body=b"no")
    drain(shared_dsn, http(receiver.url))
    assert len(receiver.asked) == 2
    assert sink(flow)["refused"] == 2


@pytest.mark.parametrize("status", [301, 503])
def test_whatever_else_is_said_waits_and_nothing_overtakes(
    flow: Flow, receiver: Receiver, shared_dsn: str, status: int
) -> None:
    runs(flow, "first", "second")
    is_down = True
    headers = {"Location": receiver.url} if status == 301 else {}
    receiver.answer = lambda _e: Answer(status, headers) if is_down else Answer()
    with Sending(shared_dsn, http(receiver.url)) as sending:
        receiver.wait(lambda r: len(r.asked) >= 1)
        until(lambda: sink(flow)["problem"] is not None)
        assert sink(flow)["problem"] == f"HTTP {status}"
        is_down = False
        sending.join()
    # What was asked before all is the first event, once for each pause.
    assert {json.loads(b)["eventType"] for b in receiver.asked[: -len(receiver.got)]} == {"START"}
    assert [code for _, code in receiver.events()] == ["first", "first", "second", "second"]
    assert sink(flow)["problem"] is None
    assert len(flow.rows("SELECT FROM omd_event.refused_event")) == 0


def test_a_receiver_that_says_nothing_or_is_gone_is_waited_for(
    flow: Flow, receiver: Receiver, shared_dsn: str
) -> None:
    runs(flow, "late")
    receiver.answer = lambda _e: Answer(None)
    transport = http(receiver.url, timeout=0.2)
    with Sending(shared_dsn, transport) as sending:
        receiver.wait(lambda r: len(r.asked) >= 1)
        until(lambda: sink(flow)["problem"] == "ReadTimeout")
        receiver.answer = lambda _e: Answer()
        sending.join()
    assert receiver.events() == [("START", "late"), ("COMPLETE", "late")]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (200, Settled),
        (201, Settled),
        (400, Refused),
        (413, Refused),
        (422, Refused),
        *((other, Wait) for other in (302, 401, 403, 404, 408, 409, 429, 500, 502, 504)),
    ],
)
def test_only_what_is_the_fault_of_the_event_is_refused(status: int, kind: type) -> None:
    assert isinstance(http_outcome(status, ""), kind)


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ("7", 7.0),
        ("999999999", 3600.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Fri, 01 Jan 2999 00:00:00 GMT", 3600.0),
        ("soon", None),
        ("-5", None),
        ("²", None),
        (None, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(given: str | None, seconds: float | None) -> None:
    assert http_outcome(429, "", given) == Wait("HTTP 429", seconds)


def test_the_receiver_says_for_how_long_it_is_left_alone(
    flow: Flow, receiver: Receiver, shared_dsn: str
) -> None:
    runs(flow, "asked")
    times = []

    def answer(_event: dict[str, Any]) -> Answer:
        times.append(time.monotonic())
        return Answer(429, {"Retry-After": "3"}) if len(times) == 1 else Answer()

    receiver.answer = answer
    drain(shared_dsn, http(receiver.url))
    assert times[1] - times[0] >= 3  # the pause of the sink alone would be one second


def test_of_two_senders_one_sends_and_a_frozen_one_confirms_nothing(
    flow: Flow, receiver: Receiver, shared_dsn: str
) -> None:
    runs(flow, "held")
    go, asked = threading.Event(), threading.Event()

    class Frozen(OpenLineage):
        def send(self, event: Any) -> Any:
            asked.set()
            go.wait()
            return super().send(event)

    config = {"transport": {"type": "http", "url": receiver.url, "timeout": 0.05}}
    frozen = Frozen(OpenLineageClient(config=config))
    with Sending(shared_dsn, frozen, lease=timedelta(milliseconds=500)) as first:
        assert asked.wait(30)
        holder = sink(flow)["holder"]
        with Sending(shared_dsn, http(receiver.url)) as second:
            second.join()  # when the lease of the first has expired
        assert receiver.events() == [("START", "held"), ("COMPLETE", "held")]
        go.set()
        first.join()
    assert first.error is None
    assert any(holder in line and "OM" not in line for line in first.told), first.told
    assert receiver.events() == [("START", "held"), ("COMPLETE", "held"), ("START", "held")]
    assert sink(flow)["behind"] == 0


@pytest.mark.kill
def test_a_sender_that_is_killed_between_sending_and_confirming_sends_the_same_again(
    flow: Flow, receiver: Receiver, shared_dsn: str
) -> None:
    runs(flow, "again")
    env = {**os.environ, "OMD_DSN": shared_dsn, "OPENLINEAGE_URL": receiver.url}
    command = [Path(sys.executable).with_name("omd"), "send", "--openlineage"]
    receiver.answer = lambda e: Answer(None) if e["eventType"] == "COMPLETE" else Answer()
    process = subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL)
    receiver.wait(lambda r: len(r.asked) == 2)
    process.kill()
    process.wait()
    flow.conn.execute("UPDATE omd_event.sink SET lease_expires_at = now()")
    receiver.answer = lambda _e: Answer()
    drain(shared_dsn, http(receiver.url))
    assert receiver.events() == [("START", "again"), ("START", "again"), ("COMPLETE", "again")]
    assert receiver.got[0] == receiver.got[1]


def test_sigterm_ends_a_sender_and_leaves_nothing_held_for_long(
    flow: Flow, receiver: Receiver, shared_dsn: str
) -> None:
    env = {**os.environ, "OMD_DSN": shared_dsn, "OPENLINEAGE_URL": receiver.url}
    command = [Path(sys.executable).with_name("omd"), "send", "--openlineage"]
    process = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True)
    runs(flow, "live")
    receiver.wait(lambda r: len(r.got) == 2)  # nobody but the sender publishes
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 0, told
    assert "sending by http" in told


def test_a_removed_sink_ends_its_sender_alone_and_a_copy_ends_all(
    flow: Flow, receiver: Receiver, shared_dsn: str
) -> None:
    told: list[str] = []
    transports: Any = {"openlineage": http(receiver.url), "nowhere": http(receiver.url)}
    connect = lambda: omd.connect(shared_dsn)  # noqa: E731
    runs(flow, "sent")
    assert serve(connect, transports, told.append, until_quiet=True) == 1
    assert len(receiver.got) == 2
    assert any("nowhere" in line for line in told)
    with pytest.raises(lookup("OM095")):
        Sender(connect, "nowhere", http(receiver.url), tell=print).run(until_quiet=True)
    change = "INSERT INTO omd.server_change (kind) VALUES ('COPIED') RETURNING server_change_id"
    number = flow.one(change)
    runs(flow, "copied")
    with pytest.raises(lookup("OM295")):
        drain(shared_dsn, http(receiver.url))
    assert len(receiver.got) == 2
    flow.conn.execute("DELETE FROM omd.server_change WHERE server_change_id = %s", [number])


# Transports --------------------------------------------------------------------------------------


def test_headers_key_and_compression_are_those_of_the_client(
    flow: Flow, receiver: Receiver, shared_dsn: str
) -> None:
    runs(flow, "packed")
    more = {
        "auth": {"type": "api_key", "apiKey": "secret"},
        "compression": "gzip",
        "custom_headers": {"X-Team": "data"},
        "endpoint": "api/v2/lineage",
    }
    drain(shared_dsn, http(receiver.url, **more))
    assert receiver.events() == [("START", "packed"), ("COMPLETE", "packed")]
    given = receiver.headers[0]
    assert given["Authorization"] == "Bearer secret"
    assert given["Content-Encoding"] == "gzip"
    assert given["X-Team"] == "data"


def test_a_filter_of_the_client_passes_what_it_names(
    flow: Flow, receiver: Receiver, shared_dsn: str
) -> None:
    runs(flow, "wanted", "unwanted")
    config = {
        "transport": {"type": "http", "url": receiver.url},
        "filters": [{"type": "exact", "match": "unwanted"}],
    }
    drain(shared_dsn, OpenLineage(OpenLineageClient(config=config)))
    assert [code for _, code in receiver.events()] == ["wanted", "wanted"]
    assert sink(flow)["refused"] == 0


def test_a_file_gets_a_line_an_event_and_one_that_can_t_be_written_is_waited_for(
    flow: Flow, shared_dsn: str, tmp_path: Path
) -> None:
    runs(flow, "filed")
    folder = tmp_path / "there"
    config = {"type": "file", "log_file_path": str(folder / "events.jsonl"), "append": True}
    transport = OpenLineage(OpenLineageClient(config={"transport": config}))
    with Sending(shared_dsn, transport) as sending:
        until(lambda: bool(sink(flow)["problem"]))
        assert sink(flow)["problem"] == "No such file or directory"
        folder.mkdir()
        sending.join()
    lines = (folder / "events.jsonl").read_text().splitlines()
    assert [json.loads(line)["eventType"] for line in lines] == ["START", "COMPLETE"]


def test_all_parts_of_a_composite_get_each_event_and_a_failing_one_holds_it(
    flow: Flow, receiver: Receiver, shared_dsn: str, tmp_path: Path
) -> None:
    runs(flow, "twice")
    path = tmp_path / "events.jsonl"
    parts = [
        {"type": "http", "url": receiver.url},
        {"type": "file", "log_file_path": str(path), "append": True},
    ]
    config = {"type": "composite", "transports": parts, "continue_on_failure": False}
    receiver.answer = lambda _e: Answer(503 if len(receiver.asked) == 0 else 200)
    drain(shared_dsn, OpenLineage(OpenLineageClient(config={"transport": config})))
    assert receiver.events() == [("START", "twice"), ("COMPLETE", "twice")]
    assert len(path.read_text().splitlines()) == 2
    assert len(receiver.asked) == 3


@pytest.mark.parametrize(
    "transport",
    [
        {"type": "composite", "transports": [{"type": "console"}]},
        {
            "type": "composite",
            "transports": [{"type": "async_http", "url": "http://127.0.0.1:9"}],
            "continue_on_failure": False,
        },
        {"type": "async_http", "url": "http://127.0.0.1:9"},
        {"type": "noop"},
        {
            "type": "transform",
            "transport": {"type": "console"},
            "transformer_class": "openlineage.client.transport.transform."
            "JobNamespaceReplaceTransformer",
            "transformer_properties": {"new_job_namespace": "n"},
        },
    ],
)
def test_a_transport_that_does_not_say_what_arrived_is_not_used(transport: dict[str, Any]) -> None:
    with pytest.raises(lookup("OM296")) as error:
        OpenLineage(OpenLineageClient(config={"transport": transport}))
    assert error.value.hint


def test_kafka_confirms_each_message_and_the_root_job_is_its_key(
    flow: Flow, shared_dsn: str
) -> None:
    from confluent_kafka import Consumer, Producer

    heart = Producer({"test.mock.num.brokers": 1})
    broker = next(iter(heart.list_topics(timeout=10).brokers.values()))
    servers = f"{broker.host}:{broker.port}"
    flow.batch("root", "leaf")
    flow.run_batch("root", leaf="S")
    config = {
        "type": "kafka",
        "topic": "lineage",
        "config": {"bootstrap.servers": servers, "message.timeout.ms": 5000},
    }
    drain(shared_dsn, OpenLineage(OpenLineageClient(config={"transport": config})))
    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": "g", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["lineage"])
    messages = []
    while len(messages) < 4:
        message = consumer.poll(10)
        assert message is not None
        assert not message.error(), message.error()
        messages.append(message)
    consumer.close()
    kinds = [json.loads(m.value())["eventType"] for m in messages]
    assert kinds == ["START", "START", "COMPLETE", "COMPLETE"]
    key = f"run:omd.{flow.conn.info.dbname}/batch:root"
    assert {m.key().decode() for m in messages} == {key}


def test_kafka_that_does_not_confirm_is_waited_for(flow: Flow, shared_dsn: str) -> None:
    runs(flow, "lost")
    config = {
        "type": "kafka",
        "topic": "lineage",
        "config": {"bootstrap.servers": "127.0.0.1:9", "message.timeout.ms": 100, "log_level": 0},
    }
    transport = OpenLineage(OpenLineageClient(config={"transport": config}))
    with Sending(shared_dsn, transport):
        until(lambda: sink(flow)["problem"] == "Kafka: _MSG_TIMED_OUT")
    assert sink(flow)["sent"] == 0


def test_the_console_gets_a_line_an_event_and_a_client_that_is_off_passes_nothing(
    flow: Flow,
    shared_dsn: str,
    omd_here: Callable[..., subprocess.CompletedProcess[str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)  # without a configuration
    runs(flow, "printed")
    monkeypatch.setenv("OPENLINEAGE_DISABLED", "true")
    done = omd_here("send", "--openlineage", "--until-quiet", dsn=shared_dsn)
    assert (done.returncode, done.stdout) == (0, "")
    assert sink(flow)["sent"] == 0
    monkeypatch.delenv("OPENLINEAGE_DISABLED")
    done = omd_here("send", "--openlineage", "--until-quiet", dsn=shared_dsn)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["eventType"] for line in lines] == ["START", "COMPLETE"]


def test_the_command_makes_the_sink_and_refuses_a_transport_that_does_not_tell(
    flow: Flow,
    shared_dsn: str,
    omd_here: Callable[..., subprocess.CompletedProcess[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flow.call("omd_event.remove_sink", sink_code="openlineage")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "noop")
    done = omd_here("send", "--openlineage", "--until-quiet", dsn=shared_dsn)
    assert done.returncode == 1
    assert "OM296" in done.stderr
    assert flow.rows("SELECT FROM omd_event.sink") == []
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "console")
    assert omd_here("send", "--openlineage", "--until-quiet", dsn=shared_dsn).returncode == 0
    assert sink(flow)["sink_kind"] == "OPENLINEAGE"
