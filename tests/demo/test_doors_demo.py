"""``omd demo doors`` shows what is true, and its proof can fail."""

from __future__ import annotations

import contextlib
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from omd.programs.cli.demo import _Terminal
from omd.programs.demo.doors import proof, story
from omd.programs.demo.doors.receiver import Receipt, Receiver, verifies
from omd.programs.sender.webhook import signed

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

TUTORIAL = Path(__file__).parents[2] / "docs/tutorial/doors.md"
Played = tuple[str, str, list[Receipt]]


@pytest.fixture(scope="module")
def played(
    new_database: Callable[[], AbstractContextManager[str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Played]:
    """A database in which the demo was played, its output, and what its receiver has."""
    screen = io.StringIO()
    folder = tmp_path_factory.mktemp("doors")
    with new_database() as dsn, Receiver() as receiver:
        with contextlib.redirect_stdout(screen):
            holds = story.play_for(receiver, dsn, folder, _Terminal())
        assert holds, screen.getvalue() + (folder / "sender.log").read_text()
        yield dsn, screen.getvalue(), receiver.receipts


def problems(
    connection: psycopg.Connection[Any], receipts: list[Receipt]
) -> dict[tuple[str, str], str]:
    """Return what the proof finds, by the type and the code of the event."""
    return {
        (check.event.event_type, check.event.code): check.problem
        for check in proof.prove(connection, receipts)
        if check.problem is not None
    }


def test_it_shows_what_happened(played: Played) -> None:
    acts = re.split(r"(?m)^(?:\d\. |The proof)", played[1])
    assert len(acts) == 6
    for act, what in zip(
        acts[1:],
        (
            r"\$ omd send demo_doors --allow-url http://127\.0\.0\.1:\d+ &",
            (
                r"\n +1  F\n(?s:.*)\n *\d+ +RUN_FAILED +\d+ +m_doors_total(?s:.*)"
                r"\n  webhook-signature: v1,\S+\n(?s:.*)\"omd.run_failed\"(?s:.*)signature fits"
            ),
            r"\n +2  S\n(?s:.*) no connection: (?s:.*)\n *\d+ +BATCH_SUCCEEDED +2 +b_doors",
            (
                r"\nFAIL +batch:b_doors +\S{36}\n(?s:.*)\nOTHER +m_doors_total (?s:.*)"
                r"\nomd_batch_runs_total\{batch=\"b_doors\",status=\"F\"\} .* 1\n"
            ),
            r"\n *\d+ +BATCH_BEGAN +2 +b_doors +[4-9]  ✓\n(?s:.*)Each of 11 events has arrived",
        ),
        strict=True,
    ):
        assert re.search(what, act), act
    shown = re.findall(r"(?ms)^```text demo\n(.*?)^```$", TUTORIAL.read_text(encoding="utf-8"))
    assert shown
    for block in shown:
        assert block in played[1]


def test_what_came_again_is_what_the_receiver_did_not_answer(
    connection: psycopg.Connection[Any], played: Played
) -> None:
    receipts = played[2]
    bodies = [receipt.body for receipt in receipts]
    unanswered = {receipt.body for receipt in receipts if not receipt.is_answered}
    assert len(unanswered) == 1, "nothing has overtaken it"
    assert {body for body in bodies if bodies.count(body) > 1} == unanswered
    assert problems(connection, receipts) == {}


def test_it_leaves_no_sink(connection: psycopg.Connection[Any], played: Played) -> None:
    sinks = connection.execute("SELECT sink_code FROM omd_report.event_sinks").fetchall()
    assert sinks == []


RUN_FAILED = ("RUN_FAILED", "m_doors_total")


def index_of(receipts: list[Receipt], event: str) -> int:
    return next(i for i, receipt in enumerate(receipts) if event.encode() in receipt.body)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        pytest.param(lambda there: [], "it has not arrived", id="lost"),
        pytest.param(
            lambda there: [*there, replace(there[0], body=there[0].body.replace(b"1.0", b"1.1"))],
            "its repeats differ",
            id="changed repeat",
        ),
        pytest.param(
            lambda there: [*there, replace(there[0], headers={"webhook-id": "another"})],
            "its repeats differ",
            id="another id",
        ),
        pytest.param(
            lambda there: [replace(there[0], is_signed=False)],
            "its signature is wrong",
            id="signature",
        ),
        pytest.param(
            lambda there: [replace(there[0], is_answered=False)],
            "the sender does not know that it has arrived",
            id="no answer",
        ),
        pytest.param(
            lambda there: [replace(there[0], body=there[0].body.replace(b"_total", b"_sales"))],
            "it says something else",
            id="content",
        ),
    ],
)
def test_the_proof_fails_when_an_event_did_not_arrive_as_it_is(
    connection: psycopg.Connection[Any], played: Played, change: Any, found: str
) -> None:
    receipts = played[2]
    place = index_of(receipts, '"RUN_FAILED"')
    changed = [*receipts[:place], *change([receipts[place]]), *receipts[place + 1 :]]
    assert problems(connection, changed) == {RUN_FAILED: found}


def test_the_proof_fails_when_an_event_was_overtaken(
    connection: psycopg.Connection[Any], played: Played
) -> None:
    receipts = list(played[2])
    place = index_of(receipts, '"RUN_FAILED"')
    receipts[place], receipts[place + 1] = receipts[place + 1], receipts[place]
    [(event, problem)] = problems(connection, receipts).items()
    assert event == RUN_FAILED
    assert re.fullmatch(r"event \d+ came before it", problem)


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        (
            "DELETE FROM omd_event.event WHERE event_type = 'RUN_FAILED'",
            {"it has no event", "there is no such event"},
        ),
        (
            "UPDATE omd_event.event SET subject_id = 99 WHERE event_type = 'RUN_UNDONE'",
            {"it has no event", "no run has done it"},
        ),
        (
            (
                "INSERT INTO omd_event.event SELECT (jsonb_populate_record(e, jsonb_build_object("
                "'event_number', 4711, 'subject_id', 99))).* FROM omd_event.event AS e"
                " WHERE e.event_type = 'RUN_FAILED'"
            ),
            {"no run has done it"},
        ),
    ],
)
def test_the_proof_fails_when_events_are_not_what_the_runs_did(
    connection: psycopg.Connection[Any], played: Played, statement: str, found: set[str]
) -> None:
    assert connection.execute(statement.encode()).rowcount == 1
    assert {check.problem for check in proof.prove(connection, played[2])} - {None} == found


def test_a_receiver_knows_who_has_signed() -> None:
    secret, other = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_b3RoZXI="
    headers = signed("id", 1000, b"body", [other, secret])
    assert verifies(headers, b"body", secret, 1000)
    assert verifies(headers, b"body", secret, 1299)
    assert not verifies(headers, b"body", secret, 1301)
    assert not verifies(headers, b"Body", secret, 1000)
    assert not verifies(headers | {"webhook-id": "ie"}, b"body", secret, 1000)
    assert not verifies(headers | {"webhook-timestamp": "1001"}, b"body", secret, 1000)
    assert not verifies(signed("id", 1000, b"body", [other]), b"body", secret, 1000)
    assert not verifies({}, b"body", secret, 1000)


def test_it_does_not_touch_a_schema_that_is_not_its_own(
    dsn: str, conn: Any, omd_command: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    conn.execute("CREATE SCHEMA doors; CREATE TABLE doors.sale (mine text)")
    done = omd_command("demo", "doors", dsn=dsn)
    assert done.returncode == 1
    assert "The schema doors exists and is not the demo's." in done.stderr
    assert conn.execute("SELECT count(mine) n FROM doors.sale").fetchone() == {"n": 0}
    batches = conn.execute("SELECT count(*) AS n FROM omd_report.batch_list").fetchone()
    assert batches == {"n": 0}
