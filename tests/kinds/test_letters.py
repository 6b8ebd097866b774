"""The letter of each outcome of each kind is the same, whoever asks (jobs.md, rule J11).

SQL has it from the routine of the kind, a worker from its handler, Python from `perform`, and the
command line from its exit code. Each of them meets the same state anew. Deliveries and exports are
in tests/delivery/test_letters.py and tests/spark, recalls in tests/provenance.
"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import omd
from omd.doors.task import Task
from omd.programs.worker import topic as topics
from omd.programs.worker import work
from omd.rooms.control.codes import ENDS

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    from kinds.conftest import Platform

    Omd = Callable[..., subprocess.CompletedProcess[str]]

KINDS = {"made": "SQL", "job": "JOB", "app.dst": "TOPIC", "s": "STAGE", "facts.shop": "FACTS"}
FIRST = 1000  # rows of a topic come in pairs after this one


@pytest.fixture
def control(platform: Platform, dsn: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[omd.Control]:
    monkeypatch.syspath_prepend(Path(__file__).parent)
    platform.conn.execute("CREATE TABLE app.job (v integer, omd_insert_module_instance_id bigint)")
    with omd.connect(dsn, lease=None) as control:
        control.calls.omd.register_module(
            "job", area_code="INT", table_code="app.job", table_type_code="HUB",
            job="jobs_of_kinds:load",
        )  # fmt: skip
        yield control


class State:
    """Brings about the state in which a run of a Module ends with a letter."""

    def __init__(self, platform: Platform, other: Platform, code: str) -> None:
        self.platform = platform
        self.other = other  # a session that holds it
        self.code = code
        self.turn = 0

    def bring(self, letter: str) -> None:
        """Leave what a run needs for this letter, whatever was asked before."""
        self.turn += 1
        getattr(self, {"S": "succeed", "F": "fail", "C": "skip", "A": "hold"}[letter])()

    def succeed(self) -> None:
        if self.code == "app.dst":
            first = FIRST + 2 * self.turn
            self.platform.come(first, first + 1)
        elif self.code == "facts.shop":
            self.platform.queue(self.turn, item=[("N", self.turn, 10)])

    def fail(self) -> None:
        self.succeed()
        if self.turn > 1:
            return
        if self.code == "made":
            self.platform.call("omd.register_module", module_code="made", executable="SELECT 1/0")
        elif self.code == "job":
            self.platform.call("omd.register_module", module_code="job", job="jobs_of_kinds:fail")
        elif self.code == "app.dst":
            self.platform.conn.execute("ALTER TABLE app.dst ADD CONSTRAINT no CHECK (v < 0)")
        elif self.code == "s":
            self.platform.conn.execute("INSERT INTO app.a VALUES (1, 1, 'x')")
            self.platform.conn.execute("ALTER TABLE app.out ADD CONSTRAINT no CHECK (k < 0)")
        else:
            self.platform.conn.execute(
                "CREATE FUNCTION app.refuse() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN"
                " RAISE EXCEPTION 'not today'; END $body$;"
                "CREATE TRIGGER zz_refuse AFTER INSERT ON omd_facts.load_log"
                " FOR EACH ROW EXECUTE FUNCTION app.refuse()"
            )

    def skip(self) -> None:
        if self.code in ("made", "job", "s"):
            self.platform.owner(
                "UPDATE omd.module SET inactive_indicator = 'Y' WHERE module_code = %s", self.code
            )

    def hold(self) -> None:
        self.succeed()
        if self.turn > 1:
            return
        if self.code == "app.dst":
            self.other.conn.execute(
                "BEGIN; CALL omd_lineage.begin_step('app.dst', p_engine => 'POSTGRES')"
            )
        else:
            answer = self.platform.one(
                "SELECT (omd._open_module_instance(%s, 0, NULL, interval '1 hour', FALSE, TRUE))"
                "::text",
                self.code,
            )
            assert ",P," in answer, answer


# Who asks ---------------------------------------------------------------------------------------


def by_the_routine_of_the_kind(platform: Platform, code: str) -> str:
    call = {
        "app.dst": ("omd_lineage.step", {"topic": "app.dst"}),
        "facts.shop": ("omd_facts.load", {"interface_code": "shop"}),
        "s": ("omd_decision.run_stage", {"stage_code": "s"}),
    }.get(code, ("omd.run_module", {"module_code": code}))
    return str(platform.call(call[0], **call[1])["execution_status_code"])


def by_run_module(platform: Platform, code: str) -> str:
    return str(platform.go(code)["execution_status_code"])


def by_perform(control: omd.Control, code: str) -> str:
    outcome = control.run(code)
    assert (outcome.kind, outcome.code) == (KINDS[code], code)
    return str(outcome.status)


def by_a_worker(control: omd.Control, code: str) -> str:
    """A task of the family WORK; that of a failure raises, which makes it F."""
    kind = KINDS[code]
    place = "SPARK" if kind == "JOB" else "DATABASE"
    task = task_of(control, "WORK", place, {"CODE": code, "KIND": kind})
    try:
        return work.perform(task)
    except RuntimeError:
        return "F"


def task_of(control: omd.Control, family: str, task_type: str, criteria: Any) -> Task:
    now = datetime.now(timezone.utc)
    task = Task(None, 1, family, task_type, json.dumps(criteria), None, now, 1, 1, 0)
    task._opens(lambda _task: control)
    return task


def by_the_command_line(omd_here: Omd, dsn: str, *command: str) -> str:
    done = omd_here(*command, dsn=dsn)
    letters = {exit_code: letter for letter, (exit_code, _) in ENDS.items()}
    return letters[done.returncode]


@pytest.mark.parametrize("letter", "SFCA")
@pytest.mark.parametrize("code", KINDS)
def test_everybody_says_the_same_letter(
    platform: Platform,
    others: Callable[..., Platform],
    control: omd.Control,
    omd_here: Omd,
    dsn: str,
    code: str,
    letter: str,
) -> None:
    state = State(platform, others(), code)
    said = {}
    for who, ask in {
        "the routine": lambda: by_the_routine_of_the_kind(platform, code),
        "run_module": lambda: by_run_module(platform, code),
        "perform": lambda: by_perform(control, code),
        "a worker": lambda: by_a_worker(control, code),
        "the command line": lambda: by_the_command_line(omd_here, dsn, "run", code),
    }.items():
        if code == "job" and who in ("the routine", "run_module"):
            continue  # a worker performs it
        state.bring(letter)
        said[who] = ask()
    assert said == dict.fromkeys(said, letter)


@pytest.mark.parametrize("letter", "SFCA")
def test_everybody_says_the_same_letter_of_a_step(
    platform: Platform,
    others: Callable[..., Platform],
    control: omd.Control,
    omd_here: Omd,
    dsn: str,
    letter: str,
) -> None:
    state = State(platform, others(), "app.dst")

    def worker() -> str:
        try:
            return topics.run(task_of(control, "TOPIC", "STEP", {"CODE": "app.dst"}))
        except RuntimeError:
            return "F"

    said = {}
    for who, ask in {
        "the door": lambda: str(control._lineage.step("app.dst").status),
        "a worker": worker,
        "the command": lambda: by_the_command_line(omd_here, dsn, "run", "app.dst"),
    }.items():
        state.bring(letter)
        said[who] = ask()
    assert said == dict.fromkeys(said, letter)


@pytest.mark.parametrize("letter", "SFA")
def test_everybody_says_the_same_letter_of_a_batch(
    platform: Platform, control: omd.Control, omd_here: Omd, dsn: str, letter: str
) -> None:
    platform.night("nights", "made")
    if letter == "F":
        platform.call("omd.register_module", module_code="made", executable="SELECT 1/0")
    elif letter == "A":
        platform.call("omd.begin_batch", batch_code="nights")
    assert platform.go_batch("nights")["execution_status_code"] == letter
    outcome = control.run_batch("nights")
    assert (outcome.kind, str(outcome.status)) == ("BATCH", letter)
    assert by_the_command_line(omd_here, dsn, "run", "batch:nights") == letter


def test_a_batch_that_is_skipped_says_so_everywhere(
    platform: Platform, control: omd.Control, omd_here: Omd, dsn: str
) -> None:
    platform.night("nights", "made")
    platform.call("omd.register_batch", batch_code="nights", inactive_indicator="Y")
    assert platform.go_batch("nights")["execution_status_code"] == "C"
    outcome = control.run_batch("nights")
    assert (str(outcome.status), outcome.reason) == ("C", "INACTIVE")
    assert by_the_command_line(omd_here, dsn, "run", "batch:nights") == "C"


def test_the_facts_are_those_of_the_kind(platform: Platform, control: omd.Control) -> None:
    platform.come(1, 2, 3)
    platform.queue(1, item=[("N", 1, 10), ("N", 2, 20)])
    platform.conn.execute("INSERT INTO app.a VALUES (1, 1, 'x')")
    topic = control.run("app.dst").facts
    assert topic["rows"] == 2
    assert topic["end"] == (datetime(2020, 1, 1, 0, 0, 2, tzinfo=topic["end"][0].tzinfo), 2)
    loaded = control.run("facts.shop").facts["rows"]
    assert loaded["inserted"] == 2
    stage = control.run("s").facts
    assert (stage["engine"], stage["rows_input"], stage["rows_output"]) == ("POSTGRES", 1, 1)
    assert control.run("made").facts == {}
