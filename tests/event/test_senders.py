"""omd send: what is committed reaches webhooks and programs, in order."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from event.test_endpoint import get
from event.webhook_receiver import Receiver, Request, answers, receiving
from omd.programs.sender.command import Command
from omd.programs.sender.sender import Wait
from omd.rooms.event.rows import TakeEventsRow
from support.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from http.server import BaseHTTPRequestHandler

    from support.environments import Environment

    Connection = psycopg.Connection[dict[str, Any]]
    Omd = Callable[..., subprocess.CompletedProcess[str]]

OMD = Path(sys.executable).with_name("omd")
KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
HOSTILE = 'a"b\\c\nd\r {} {{.}} </script> é☃ ' + "x" * 900


@pytest.fixture
def flow(conn: Connection) -> Flow:
    return Flow(conn)


def sink(flow: Flow, code: str = "hook", kind: str = "WEBHOOK", **arguments: Any) -> None:
    flow.call("omd_event.register_sink", sink_code=code, sink_kind=kind, **arguments)


def send(dsn: str, *arguments: str, **environment: str) -> str:
    """Send until all is sent; returns what is told."""
    done = subprocess.run(
        [OMD, "send", "--until-quiet", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "OMD_DSN": dsn, **environment},
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    return done.stderr


@contextmanager
def sending(dsn: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [OMD, "send", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMD_DSN": dsn},
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate()


def numbers(receiver: Receiver) -> list[int]:
    return [json.loads(request.body)["data"]["event_number"] for request in receiver.requests]


def published(flow: Flow) -> list[dict[str, Any]]:
    while flow.call("omd_event.publish")["published"]:
        pass
    return flow.rows("SELECT * FROM omd_report.events ORDER BY event_number")


def test_what_was_committed_arrives_once_each_in_order_and_signed(
    flow: Flow, dsn: str, tools_environment: Environment
) -> None:
    with receiving() as receiver:
        sink(flow, target=receiver.url, secret_name="OMD_SECRET_HOOK")
        flow.batch(HOSTILE, "m")
        flow.end_batch(flow.begin_batch(HOSTILE).id, "S")
        flow.run_module("m", "F")
        told = send(dsn, "--allow-url", receiver.url, OMD_SECRET_HOOK=KEY)
        rows = published(flow)
        assert numbers(receiver) == [row["event_number"] for row in rows]
    assert len(rows) >= 4
    for request, row in zip(receiver.requests, rows, strict=True):
        data = json.loads(request.body)["data"]
        assert data["code"] == row["code"]
        assert data.keys() == row.keys()
        assert json.loads(request.body)["type"] == f"omd.{row['event_type'].lower()}"
    ids = [request.headers["webhook-id"] for request in receiver.requests]
    assert len(set(ids)) == len(ids)
    assert "T0KEN" not in told
    assert KEY not in told
    # The judges of both standards.
    given = json.dumps([vars(request) | {"key": KEY} for request in receiver.requests])
    judged = tools_environment.run("python", "-c", JUDGES, input=given)
    assert json.loads(judged.stdout) == [
        [row["subject_type"] + "/" + str(row["subject_id"]), row["code"]] for row in rows
    ]


JUDGES = """
import json, sys
from cloudevents.v1.http import from_http
from standardwebhooks.webhooks import Webhook
found = []
for request in json.load(sys.stdin):
    Webhook(request["key"]).verify(request["body"], request["headers"])
    event = from_http(request["headers"], request["body"])
    found.append([event["subject"], event.data["code"]])
print(json.dumps(found))
"""


def test_a_text_has_a_sentence_and_a_link(flow: Flow, dsn: str) -> None:
    with receiving() as receiver:
        flow.call("omd_event.configure", web_url="https://omd.example/")
        sink(flow, target=receiver.url, format="TEXT", event_types=["RUN_FAILED", "BATCH_FAILED"])
        flow.batch("b", "m")
        run = flow.run_batch("b", m="F")
        send(dsn, "--allow-url", receiver.url)
        texts = [json.loads(request.body) for request in receiver.requests]
    assert texts == [
        {
            "text": f"Module m has failed: Module Instance {run['m'].id}.\n"
            f"https://omd.example/run/module/{run['m'].id}"
        },
        {
            "text": f"Batch b has failed: Batch Instance {run.id}.\n"
            f"https://omd.example/run/batch/{run.id}"
        },
    ]


def test_a_receiver_that_comes_back_gets_all_and_nothing_overtakes(flow: Flow, dsn: str) -> None:
    calls: list[int] = []

    def answer(handler: BaseHTTPRequestHandler, request: Request) -> None:
        calls.append(1)
        answers(503 if len(calls) in (2, 3) else 200)(handler, request)

    with receiving(answer) as receiver:
        sink(flow, target=receiver.url, event_types=["RUN_BEGAN", "RUN_SUCCEEDED"])
        flow.module("m")
        for _ in range(2):
            flow.run_module("m")
        told = send(dsn, "--allow-url", receiver.url)
        first, *rest = numbers(receiver)
    second, third, fourth = sorted({*rest})
    assert rest == [second, second, second, third, fourth]
    assert first < second
    assert "HTTP 503" in told
    ids = [request.headers["webhook-id"] for request in receiver.requests]
    assert ids[1] == ids[2] == ids[3]
    bodies = [request.body for request in receiver.requests]
    assert bodies[1] == bodies[2] == bodies[3]


def test_an_event_that_is_refused_is_tried_three_times_and_passed(flow: Flow, dsn: str) -> None:
    def answer(handler: BaseHTTPRequestHandler, request: Request) -> None:
        is_first = json.loads(request.body)["data"]["event_type"] == "RUN_BEGAN"
        answers(422 if is_first else 200, "no")(handler, request)

    with receiving(answer) as receiver:
        sink(flow, target=receiver.url, event_types=["RUN_BEGAN", "RUN_SUCCEEDED"])
        flow.module("m")
        flow.run_module("m")
        send(dsn, "--allow-url", receiver.url)
        found = numbers(receiver)
    assert found == [found[0]] * 3 + [found[3]]
    refused = flow.rows("SELECT * FROM omd_event.refused_event")
    assert [(row["event_number"], row["status"], row["answer"]) for row in refused] == [
        (found[0], "422", "no")
    ]


def test_problems_reach_a_webhook(flow: Flow, dsn: str) -> None:
    with receiving() as receiver:
        flow.batch("b")
        flow.end_batch(flow.begin_batch("b").id, "F")
        sink(flow, target=receiver.url, codes=["LAST_RUN_FAILED/%"])
        with sending(dsn, "--allow-url", receiver.url):
            receiver.wait_for(1)
    (body,) = (json.loads(request.body) for request in receiver.requests)
    assert (body["type"], body["data"]["code"]) == (
        "omd.problem_began", "LAST_RUN_FAILED/Batch b",
    )  # fmt: skip
    assert body["data"]["detail"] == {"severity": "ERROR"}


def test_it_serves_health_beside_and_ends_with_sigterm(flow: Flow, dsn: str) -> None:
    with receiving() as receiver:
        sink(flow, target=receiver.url)
        with sending(dsn, "--allow-url", receiver.url, "--listen", "0") as process:
            assert process.stderr is not None
            for line in process.stderr:
                if match := re.fullmatch(r"listening on (\S+)\n", line):
                    break
            assert match
            assert get(match[1], "/healthz")[0] == 200
            assert get(match[1], "/readyz")[0] == 200
            assert "omd_sink_behind_events" in get(match[1], "/metrics")[2]
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
            assert process.returncode == 0


def test_an_address_that_changes_is_followed_while_it_sends(flow: Flow, dsn: str) -> None:
    with receiving() as old, receiving() as new:
        sink(flow, target=old.url, event_types=["BATCH_SUCCEEDED"])
        flow.batch("b")
        flow.end_batch(flow.begin_batch("b").id, "S")
        with sending(dsn, "--allow-url", old.url, "--allow-url", new.url):
            old.wait_for(1)
            flow.call("omd_event.register_sink", sink_code="hook", target=new.url)
            while not new.requests:
                flow.end_batch(flow.begin_batch("b").id, "S")
                with new.news:
                    new.news.wait_for(lambda: bool(new.requests), 1)
    seen = numbers(old) + numbers(new)
    assert seen == sorted(seen), "what was on its way may come again"


# Programs ----------------------------------------------------------------------------------------


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def run_once(flow: Flow) -> list[int]:
    flow.batch("b")
    flow.end_batch(flow.begin_batch("b").id, "S")
    return [row["event_number"] for row in published(flow)]


def test_a_program_gets_each_body_on_stdin(flow: Flow, dsn: str, tmp_path: Path) -> None:
    got = tmp_path / "got"
    program = script(tmp_path / "it's; touch $HOME 'x", f"cat >>{got}; echo >>{got}")
    sink(flow, kind="COMMAND", target=str(program))
    sent = run_once(flow)
    send(dsn, "--allow-command", str(program))
    bodies = [json.loads(line) for line in got.read_text().splitlines()]
    assert [body["data"]["event_number"] for body in bodies] == sent
    assert all(body["specversion"] == "1.0" for body in bodies)


def problem(flow: Flow, dsn: str, *arguments: str) -> str:
    """Return the problem of the sink as soon as it has one."""
    with sending(dsn, *arguments):
        while True:
            found = flow.one("SELECT max(problem) FROM omd_report.event_sinks")
            if found:
                return str(found)
            flow.conn.execute("SELECT pg_sleep(0.05)")


def test_no_program_runs_that_was_not_named(flow: Flow, dsn: str, tmp_path: Path) -> None:
    program = script(tmp_path / "p", f"touch {tmp_path}/ran")
    sink(flow, kind="COMMAND", target=str(program))
    run_once(flow)
    assert problem(flow, dsn) == "its program is not named by --allow-command"
    assert not (tmp_path / "ran").exists()


def test_a_program_is_named_by_its_whole_path(tmp_path: Path) -> None:
    program = script(tmp_path / "p", f"touch {tmp_path}/ran")
    moment = datetime(2026, 11, 26, tzinfo=timezone.utc)
    event = TakeEventsRow(1, "RUN_FAILED", "MODULE", 7, "m", moment, "{}")
    refused = Wait("its program is not named by --allow-command")
    for allowed in ([], [str(tmp_path)], ["p"], [f"{program} "], [f"{tmp_path}/./p"]):
        assert Command(str(program), allowed=allowed).send(event) == refused
    assert Command("p", allowed=["p"]).send(event) == refused
    assert Command(f"{program} x", allowed=[str(program)]).send(event) == refused
    assert not (tmp_path / "ran").exists()
    missing = str(tmp_path / "none")
    outcome = Command(missing, allowed=[missing]).send(event)
    assert outcome == Wait("its program can't be started: No such file or directory")


@pytest.mark.kill
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("exit 3", "its program ended with exit code 3"),
        ("kill -9 $$", "its program was killed by SIGKILL"),
        ("sleep 60", "its program did not end within 0.5 s"),
    ],
)
def test_a_program_that_fails_is_a_problem_and_nothing_overtakes(
    flow: Flow, dsn: str, tmp_path: Path, text: str, expected: str
) -> None:
    program = script(tmp_path / "p", f"echo x >>{tmp_path}/ran; {text}")
    sink(flow, kind="COMMAND", target=str(program), timeout="0.5 s")
    run_once(flow)
    assert problem(flow, dsn, "--allow-command", str(program)) == expected
    assert flow.one("SELECT sent + refused FROM omd_report.event_sinks") == 0


def test_65_refuses_the_event_alone(flow: Flow, dsn: str, tmp_path: Path) -> None:
    program = script(tmp_path / "p", "grep -q batch_began && exit 65; exit 0")
    sink(flow, kind="COMMAND", target=str(program))
    sent = run_once(flow)
    send(dsn, "--allow-command", str(program))
    refused = flow.rows("SELECT event_number, status FROM omd_event.refused_event")
    assert [(row["event_number"], row["status"]) for row in refused] == [(sent[0], "65")]


def test_a_program_that_reads_nothing_and_one_that_prints_much_are_fine(
    flow: Flow, dsn: str, tmp_path: Path
) -> None:
    program = script(tmp_path / "p", "exec <&-; head -c 300000 /dev/zero | tr '\\0' x")
    sink(flow, kind="COMMAND", target=str(program))
    run_once(flow)
    told = send(dsn, "--allow-command", str(program))
    assert told.count("x") >= 600000


def test_a_receiver_on_this_host_has_to_be_named(flow: Flow, dsn: str) -> None:
    with receiving() as receiver:
        sink(flow, target=receiver.url)
        run_once(flow)
        assert problem(flow, dsn) == "its host has no public address, and no --allow-url names it"
        assert receiver.requests == []


# Wrong usage -------------------------------------------------------------------------------------


def test_other_kinds_and_unknown_sinks_are_refused(flow: Flow, dsn: str, omd_here: Omd) -> None:
    sink(flow, "mine", "PULL")
    sink(flow, "catalogue", "OPENLINEAGE")
    for arguments, code, text in (
        (["mine"], 2, "kind PULL"),
        (["catalogue"], 2, "omd send --openlineage"),
        (["none"], 1, "OM095"),
        ([], 1, "no active sink"),
    ):
        done = omd_here("send", "--until-quiet", *arguments, dsn=dsn)
        assert (done.returncode, text in done.stderr) == (code, True), done.stderr
