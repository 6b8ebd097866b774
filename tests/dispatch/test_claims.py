"""Members, claims and completion."""

from __future__ import annotations

import random
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Room


def test_tasks_are_claimed_by_priority_then_time_then_number(room: Room) -> None:
    room.family()
    room.member()
    late = room.create("late", execution_time="2100-01-01")
    ids = [
        room.create(c, priority=p, execution_time=f"2020-01-0{d}")
        for c, p, d in (("d", 5, 2), ("c", 5, 1), ("b", 0, 3), ("e", 9, 1))
    ]
    claimed = room.claim(3) + room.claim(3)
    assert [t["criteria"]["CODE"] for t in claimed] == list("bcde")
    assert {t["attempt"] for t in claimed} == {1}
    assert len({t["claim_token"] for t in claimed}) == 2
    assert room.reason(ids[0]) == "CLAIMED"
    assert room.reason(late) == "NOT_DUE"


def test_outcomes_decide_what_becomes_of_a_task(room: Room) -> None:
    room.family("F", ("CODE",))
    room.type(max_attempts=2, backoff="1 hour", backoff_limit="90 minutes", later_after="1 minute")
    room.member()
    for code in "scafo":
        room.create(code)
    tasks = {t["criteria"]["CODE"]: t for t in room.claim()}

    def end(code: str, outcome: str | None, **result: object) -> tuple[object, ...]:
        assert room.complete([tasks[code]], outcome, **result) == []
        row = room.task(tasks[code]["task_id"])
        wait = None
        if row["status"] == "PENDING":
            wait = round((row["execution_time"] - room.one("SELECT now()")).total_seconds() / 60)
        return row["status"], row["outcome"], row["attempt"], wait

    assert end("s", "S") == ("DONE", "S", 1, None)
    assert end("c", "C") == ("DONE", "C", 1, None)
    assert end("a", "A") == ("PENDING", "A", 0, 1)
    assert end("f", "F", error="boom") == ("PENDING", "F", 1, 60)
    assert end("o", "F", error_code="OM201") == ("DEAD", "F", 1, None)
    assert room.complete([tasks["s"]], "S") == [tasks["s"]["task_id"]]
    room.make_due(tasks["f"]["task_id"])
    (tasks["f"],) = room.claim()
    assert tasks["f"]["attempt"] == 2
    assert end("f", "F", error="boom") == ("DEAD", "F", 2, None)
    events = room.rows("SELECT * FROM omd.event_log WHERE event_return_code_details = 'TASK DEAD'")
    assert len(events) == 2
    # Keys of what has ended are free, that of the task which waits is not.
    assert [room.create(c) > 0 for c in "sco"] == [True] * 3
    room.refused("OM170", "create_task", family_code="F", task_type="T", criteria={"CODE": "a"})
    assert room.rows("SELECT task_id FROM omd_report.dispatch_dead") == [
        {"task_id": t["task_id"]}
        for t in sorted((tasks["f"], tasks["o"]), key=lambda t: t["task_id"])
    ]


def test_a_result_counts_under_its_claim_only(room: Room) -> None:
    room.family()
    room.member()
    room.member("w2")
    task_id = room.create()
    (first,) = room.claim(by="w1")
    assert room.complete([first], by="w2") == [task_id]
    room.call("release_tasks", backend_id="w2", task_ids=[task_id])
    assert room.reason(task_id) == "CLAIMED"
    room.call("release_tasks", backend_id="w1", task_ids=[task_id])
    (second,) = room.claim(by="w1")
    assert second["attempt"] == 1
    assert room.complete([first]) == [task_id]
    assert room.complete([second]) == []


def test_what_is_done_counts_once_under_its_claim_wherever_its_family_is(room: Room) -> None:
    room.family("F", ("CODE",), migration_status=3)
    room.member()
    for code in "abcde":
        room.create(code)
    a, b, c, d, e = room.claim()
    room.member("w2")
    assert room.exchange([{**a, "claim_token": a["claim_token"] - 1}]) == [a["task_id"]]
    assert room.exchange([a], by="w2") == [a["task_id"]]
    failed = {"task_id": e["task_id"], "claim_token": e["claim_token"], "outcome": "F"}
    # The claim is told twice, and results go with it.
    assert room.exchange([a, a, b], [failed]) == [a["task_id"]]
    assert room.task(a["task_id"])["outcome"] == "S"
    assert [room.reason(task["task_id"]) for task in (a, b, e)] == ["DONE", "DONE", "NOT_DUE"]
    assert room.create("a") > e["task_id"]  # its key is free
    room.call("set_migration_status", family_code="F", migration_status=2)
    assert room.exchange([c]) == []
    (old,) = room.claim()
    assert room.exchange([old]) == []
    room.create("a")
    (old,) = room.claim()
    room.call("set_migration_status", family_code="F", migration_status=3)
    assert room.exchange([old, d]) == []
    (left,) = room.rows("SELECT * FROM omd_dispatch.mutex")
    assert left["task_id"] == e["task_id"]


def test_a_running_task_is_cancelled_by_its_worker(room: Room) -> None:
    room.family()
    room.member()
    ids = [room.create(c) for c in "abc"]
    tasks = room.claim()
    room.refused("OM171", "cancel_task", task_id=ids[0])
    for task_id in ids:
        room.call("cancel_task", task_id=task_id, running=True)
    assert room.call("renew_backend", backend_id="w1")["cancel"] == ids
    for task, outcome in zip(tasks, "SFA", strict=True):
        room.complete([task], outcome)
    assert [room.task(i)["status"] for i in ids] == ["DONE", "CANCELLED", "CANCELLED"]


def test_a_task_follows_the_instance_that_it_has_begun(room: Room) -> None:
    room.conn.execute("CREATE TABLE public.t (omd_insert_module_instance_id bigint)")
    room.call("omd.register_module", module_code="m", area_code="HSTG", table_code="public.t")
    room.member()
    outcomes = {}
    for outcome in ("module_success", "module_failure", "none", "open"):
        task_id = room.create(family_code="RUN", task_type="MODULE", criteria={"CODE": outcome})
        (task,) = room.claim()
        context = psycopg.types.json.Jsonb(
            {"task_id": task["task_id"], "claim_token": task["claim_token"]}
        )
        instance = 0
        if outcome != "none":
            with room.conn.transaction():
                room.conn.execute(
                    "SELECT set_config('omd.execution_context', %s::text, TRUE)", [context]
                )
                instance = room.call("omd.begin_module", module_code="m")["module_instance_id"]
            if outcome != "open":
                room.call(f"omd.{outcome}", module_instance_id=instance)
        assert room.complete([task], None) == []
        row = room.task(task_id, family="run")
        assert (row["module_instance_id"] or 0) == instance
        outcomes[outcome] = (row["status"], row["outcome"])
        if row["status"] == "PENDING":
            room.call("cancel_task", task_id=task_id)
    assert outcomes == {
        "module_success": ("DONE", "S"),
        "module_failure": ("PENDING", "F"),
        "none": ("PENDING", "F"),
        "open": ("PENDING", "A"),
    }


def test_members_have_positions_and_die(room: Room) -> None:
    room.family()
    for name in ("b", "a", "B"):
        room.member(name)
    position = "SELECT * FROM omd_dispatch.backend_position('WORKER', %s)"
    assert [room.rows(position, n) for n in ("B", "a", "b")] == [
        [{"position": n, "members": 3}] for n in range(3)
    ]
    tasks = [room.create(c) for c in "xyz"]
    claimed = room.claim(2, by="a")
    gone = room.claim(1, by="b")
    room.owner(
        "UPDATE omd_dispatch.backend_registration SET ttl = '1 microsecond' WHERE backend_id = 'a'"
    )
    room.owner("DELETE FROM omd_dispatch.backend_registration WHERE backend_id = 'b'")
    for name in ("a", "b"):
        room.refused("OM172", "renew_backend", backend_id=name)
        with pytest.raises(psycopg.Error) as caught:
            room.claim(by=name)
        assert caught.value.sqlstate == "OM172"
    assert room.rows(position, "a") == []
    assert room.maintain()["reclaimed"] == 3
    assert room.rows("SELECT backend_id FROM omd_report.dispatch_backends") == [{"backend_id": "B"}]
    assert sorted(t["task_id"] for t in room.claim(by="B")) == tasks
    assert room.complete(claimed, by="a") == [t["task_id"] for t in claimed]
    assert room.complete(gone, by="b") == [t["task_id"] for t in gone]
    room.call("leave_backend", backend_id="B")
    room.member("B")
    assert {t["attempt"] for t in room.claim(by="B")} == {2}
    room.member("B")  # it has forgotten what it had
    assert {room.reason(t) for t in tasks} == {"DUE"}


def test_a_dead_members_task_is_dead_when_its_attempts_are_used_up(room: Room) -> None:
    room.family("F", ("CODE",))
    room.type(max_attempts=1)
    room.member()
    task_id = room.create()
    room.claim()
    room.owner("DELETE FROM omd_dispatch.backend_registration")
    assert room.maintain()["reclaimed"] == 1
    assert room.task(task_id)["status"] == "DEAD"
    room.create()


def test_lanes_limit_what_runs_at_once(room: Room, another: Callable[..., Room]) -> None:
    room.family()
    room.type(max_running=2, limit_criterion="CODE")
    room.type("FREE")
    room.create_many([{"criteria": {"CODE": c}} for c in "aaaabbbb"])
    free = room.create("a", task_type="FREE", priority=9)
    sessions = [another() for _ in range(6)]
    for n, session in enumerate(sessions):
        session.member(f"w{n}")
    claimed: list[str] = []

    def claim(n: int, session: Room) -> None:
        for _ in range(5):
            tasks = session.claim(3, by=f"w{n}")
            claimed.extend(t["criteria"]["CODE"] + t["task_type"] for t in tasks)

    run([threading.Thread(target=claim, args=a) for a in enumerate(sessions)])
    assert Counter(claimed) == {"aT": 2, "bT": 2, "aFREE": 1}
    assert room.reason(free) == "CLAIMED"
    pending = room.one(
        "SELECT task_id FROM omd_dispatch.task_data_f WHERE status = 'PENDING' LIMIT 1"
    )
    assert room.reason(pending) == "LANE_FULL"


@pytest.mark.random
def test_sixteen_claimers_start_each_task_once_while_members_come_and_go_and_a_purge_moves_tasks(
    room: Room, another: Callable[..., Room]
) -> None:
    room.family("F", ("CODE",))
    room.create_many([{"criteria": {"CODE": str(n)}} for n in range(2000)])
    room.owner("UPDATE omd_dispatch.task_data_f SET partition_code = (partition_code + 4) %% 8")
    old = room.one("SELECT DISTINCT partition_code FROM omd_dispatch.task_data_f")
    started: list[int] = []
    errors: list[Exception] = []

    def work(n: int, session: Room) -> None:
        chance = random.Random(n)
        try:
            for turn in range(10_000):
                name = session.member(f"w{n}_{turn // 10}")
                tasks = session.claim(chance.randint(1, 40), by=name)
                if not tasks:
                    break
                refused = session.complete(tasks, by=name)
                started.extend(t["task_id"] for t in tasks if t["task_id"] not in refused)
                if turn % 10 == 9:
                    session.call("leave_backend", backend_id=name)
                    session.maintain()
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    purger = another()
    threads = [threading.Thread(target=work, args=(n, another())) for n in range(16)]
    purges = threading.Thread(
        target=lambda: [
            purger.call("purge_partition", family_code="F", partition_code=p)
            for p in (old, (old + 1) % 8)
        ]
    )
    run([*threads, purges])
    assert errors == []
    assert len(started) == len(set(started)) == 2000
    assert room.one("SELECT count(*) FROM omd_dispatch.mutex") == 0


def run(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_session_that_remembers_its_last_claim_takes_the_same_tasks(room: Room) -> None:
    """It begins where it ended, and what comes before that is found all the same."""
    room.family()
    room.type("U", max_running=3)
    room.member()
    room.create_many(
        [{"criteria": {"CODE": str(n)}, "execution_time": f"2020-01-01 00:0{n}"} for n in range(8)]
    )
    memory = "SELECT nullif(current_setting('omd_dispatch.claims', TRUE), '')"

    def claimed() -> str:
        (task,) = room.claim(1)
        return str(task["criteria"]["CODE"])

    assert [claimed(), claimed()] == ["0", "1"]
    assert room.one(memory) is not None
    room.create("urgent", priority=0)
    room.create("older", task_type="U", execution_time="2019-01-01")
    assert [claimed(), claimed(), claimed()] == ["urgent", "older", "2"]
    room.create("behind", execution_time="2019-01-01")
    assert [claimed(), claimed()] == ["behind", "3"]
    assert len(room.claim(100)) == 4
    assert room.one(memory) is None


def test_a_new_task_is_told_and_claimed_alone(room: Room, another: Callable[..., Room]) -> None:
    """A single task is told with its slot and number; all else with the group alone."""
    room.family()
    room.family("G")
    room.type("U", max_running=1)
    room.member()
    listener = another().conn
    listener.execute("LISTEN omd_dispatch")

    def heard() -> str:
        (notice,) = listener.notifies(timeout=60, stop_after=1)
        return notice.payload

    def new(code: str = "a", /, family_code: str = "F", **options: Any) -> list[int]:
        """Create a task; return its slot and number, as a worker is told."""
        task_id = room.create(code, family_code=family_code, **options)
        group, family, *task = heard().split()
        assert (group, family, task[1]) == ("WORKER", family_code, str(task_id))
        return [int(number) for number in task]

    def claim(task: list[int], family: str = "f", by: str = "w1") -> list[str]:
        rows = room.rows(
            f"SELECT * FROM omd_dispatch._take_task_data_{family}(%s, %s, %s)", by, *task
        )
        return [row["criteria"]["CODE"] for row in rows]

    room.create("seen in other ways", task_type="U")
    assert heard() == "WORKER"
    room.create("later", execution_time="2100-01-01")
    room.create_many([{"criteria": {"CODE": "m"}}] * 2)
    assert heard() == "WORKER"
    a, g = new("a"), new("g", family_code="G", priority=2)
    assert claim([a[0] + 1, a[1]]) == []
    assert claim(a, "g") == []
    assert claim(a) == ["a"]
    with room.conn.transaction():
        assert claim(a) == []
        assert room.one("SELECT pg_current_xact_id_if_assigned()") is None
    assert claim(g, "g", by="nobody") == []
    with another().conn.transaction() as other:
        other.connection.execute(
            "SELECT * FROM omd_dispatch.task_data_g WHERE task_id = %s FOR UPDATE", [g[1]]
        )
        assert claim(g, "g") == []
    (row,) = room.rows("SELECT * FROM omd_dispatch._take_task_data_g('w1', %s, %s)", *g)
    assert room.complete([row]) == []
    # What has become of a task meanwhile, claim_tasks looks at.
    moved, again, run, limited, held = (new(code) for code in ("m", "again", "run", "l", "held"))
    room.call("reschedule_task", task_id=moved[1], execution_time="2100-01-01")
    room.owner("UPDATE omd_dispatch.task_data_f SET attempt = 1 WHERE task_id = %s", again[1])
    room.owner(
        "UPDATE omd_dispatch.task_data_f SET module_instance_id = 1 WHERE task_id = %s", run[1]
    )
    room.owner(
        "UPDATE omd_dispatch.task_data_f SET lane = 'WORKER/T' WHERE task_id = %s", limited[1]
    )
    assert [claim(task) for task in (moved, again, run, limited)] == [[]] * 4
    room.call("suspend", family_code="F", criteria={"CODE": ["held"]})
    assert claim(held) == []
    room.create("guarded")
    assert heard() == "WORKER"
    room.owner(
        "UPDATE omd_dispatch.backend_registration SET registration_time = '2020-01-01', ttl = '1ms'"
    )
    assert claim(new("of a dead member", family_code="G"), "g") == []


def test_a_run_begins_only_while_its_claim_holds(room: Room, another: Callable[..., Room]) -> None:
    """A worker that freezes before the run of its task begins does not load a second time."""
    room.call("omd.register_module", module_code="m_once", area_code="INT", table_code="dwh.m_once")
    room.create("m_once", family_code="RUN", task_type="MODULE")
    frozen, other = another(), another()
    for worker, name in ((frozen, "w1"), (other, "w2")):
        worker.member(name)
        (task,) = worker.claim(by=name)
        told = f'{{"task_id": {task["task_id"]}, "claim_token": {task["claim_token"]}}}'
        worker.conn.execute("SELECT set_config('omd.execution_context', %s, FALSE)", [told])
        if worker is frozen:
            room.conn.execute("DELETE FROM omd_dispatch.backend_registration")
            room.maintain()
    begun = other.call("omd.run_module", module_code="m_once", executable="SELECT 1")
    assert begun["execution_status_code"] == "S"
    assert other.complete([task], None, by="w2") == []
    frozen.refused("OM171", "omd.run_module", module_code="m_once", executable="SELECT 1")
    assert room.one("SELECT count(*) FROM omd.module_instance WHERE module_instance_id > 0") == 1
