"""Members, claims and completion, rule by rule."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from conftest import Room


def test_waits_double_up_to_their_limit_however_often_a_task_has_failed(room: Room) -> None:
    room.family()
    room.member()
    room.type(max_attempts=2**31 - 1)
    for backoff, limit, attempt, expected in (
        ("10 s", "1 hour", 1, 10),
        ("10 s", "1 hour", 2, 20),
        ("10 s", "1 hour", 9, 2560),
        ("10 s", "1 hour", 10, 3600),
        ("10 s", "1 hour", 2**31 - 2, 3600),
        ("0 s", "1 hour", 2000, 0),
        ("1 microsecond", "1 hour", 31, 1073.741824),
        ("1 microsecond", "1 hour", 34, 3600),
        ("7 days", "8 days", 40, 8 * 86400),
        ("1 year", "10 years", 80, 10 * 365 * 86400),
    ):
        room.type(backoff=backoff, backoff_limit=limit)
        task_id = room.create()
        room.owner(
            "UPDATE omd_dispatch.task_data_f SET attempt = %s WHERE task_id = %s",
            attempt - 1,
            task_id,
        )
        (task,) = room.claim()
        assert task["attempt"] == attempt
        assert room.complete([task], "F", error="e") == []
        row = room.task(task_id)
        assert (row["status"], row["attempt"]) == ("PENDING", attempt)
        wait = (row["execution_time"] - room.one("SELECT now()")).total_seconds()
        assert abs(wait - expected) < 3 + expected / 100, (backoff, attempt)
        room.call("cancel_task", task_id=task_id)


def test_each_result_counts_on_its_own(room: Room) -> None:
    room.family("F", ("CODE",))
    room.member()
    ids = [room.create(c) for c in "abcd"]
    a, b, c, d = room.claim()

    def result(task: dict[str, Any], outcome: str | None = "S", **more: Any) -> dict[str, Any]:
        given = {k: task[k] for k in ("task_id", "claim_token")}
        return {**given, "outcome": outcome, **more}

    def complete(*results: Any, **arguments: Any) -> list[int]:
        given = {"backend_id": "w1", "results": Jsonb(list(results)), **arguments}
        return list(room.call("complete_tasks", **given)["refused"])

    for wrong in (
        "S",
        None,
        [],
        {},
        {"task_id": ids[0]},
        {"claim_token": 1},
        result(a, "E"),
        result(a, "s"),
        result({**a, "task_id": str(ids[0])}),
        result({**a, "task_id": ids[0] + 0.5}),
        result({**a, "task_id": 10**30}),
        result({**a, "claim_token": 1.5}),
        result({**a, "claim_token": None}),
    ):
        room.refused("OM013", "complete_tasks", backend_id="w1", results=Jsonb([wrong]))
    room.refused("OM013", "complete_tasks", backend_id="w1", results=Jsonb(result(a)))
    room.refused("OM005", "complete_tasks", backend_id="w1", results=None)
    room.refused("OM005", "complete_tasks", backend_id=None, results=Jsonb([]))
    assert complete() == []
    assert complete(result(a), backend_id="w2") == [ids[0]]
    assert complete(result({**a, "task_id": 10**15}), result({**b, "claim_token": 0})) == [
        ids[1],
        10**15,
    ]
    # The first that holds counts, whatever is told beside it.
    wrong_token = {"claim_token": a["claim_token"] - 1}
    assert complete(
        result({**a, **wrong_token}, "F"), result(a, "C"), result(b, "S"), result(b, "F"), result(c)
    ) == [ids[0], ids[1]]
    assert [room.task(i)["outcome"] for i in ids] == ["C", "S", "S", None]
    assert complete(result(d, "F", error="e", error_code="OM1xx")) == []
    assert (room.task(ids[3])["status"], room.task(ids[3])["error"]) == ("PENDING", "e")


def test_the_code_of_an_error_decides_whether_a_task_is_tried_again(room: Room) -> None:
    room.family()
    room.member()
    expected = {"OM005": "DEAD", "OM270": "DEAD", "OM170": "PENDING", "40001": "PENDING",
                "XOM005": "PENDING", None: "PENDING"}  # fmt: skip
    for code, status in expected.items():
        task_id = room.create(execution_time="2020-01-01")
        (task,) = room.claim()
        room.complete([task], "F", error_code=code)
        assert room.task(task_id)["status"] == status, code
        (task,) = room.claim() if room.create() else []
        room.complete([task], "A", error_code=code)
        assert room.task(task["task_id"])["attempt"] == 0
    assert len(room.rows("SELECT 1 FROM omd_report.dispatch_dead")) == 2
    deaths = "SELECT count(*) FROM omd.event_log WHERE event_return_code_details = 'TASK DEAD'"
    assert room.one(deaths) == 2


def _begin(room: Room, task: dict[str, Any], routine: str, **arguments: Any) -> int:
    with room.conn.transaction():
        room.conn.execute(
            "SELECT set_config('omd.execution_context', %s::text, TRUE)",
            [Jsonb({k: task[k] for k in ("task_id", "claim_token")})],
        )
        answer = room.call(f"omd.{routine}", **arguments)
    kind = routine.removeprefix("begin_")
    return int(answer[f"{kind}_instance_id"])


def test_a_run_of_a_dead_worker_is_given_up_and_can_not_succeed_any_more(room: Room) -> None:
    room.conn.execute("CREATE SCHEMA dwh")
    Flow(room.conn).module("m")
    room.member("w1")
    room.member("w2")
    task_id = room.create(family_code="RUN", task_type="MODULE", criteria={"CODE": "m"})
    (task,) = room.claim(by="w1")
    instance = _begin(room, task, "begin_module", module_code="m", lease="1 day")
    room.owner("DELETE FROM omd_dispatch.backend_registration WHERE backend_id = 'w1'")
    assert room.maintain()["reclaimed"] == 1
    row = room.task(task_id, family="run")
    assert (row["status"], row["attempt"], row["module_instance_id"]) == ("PENDING", 1, instance)
    assert room.rows(
        "SELECT event_return_code_details AS code FROM omd.event_log WHERE module_instance_id = %s",
        instance,
    ) == [{"code": "WORKER LOST"}]
    room.refused("OM101", "omd.module_success", module_instance_id=instance)
    (again,) = room.claim(by="w2")
    assert (again["task_id"], again["attempt"]) == (task_id, 2)


def test_a_task_follows_its_newest_instance_that_no_other_has_begun(room: Room) -> None:
    room.conn.execute("CREATE SCHEMA dwh")
    flow = Flow(room.conn)
    flow.batch("b", "m", "n")
    room.member()
    create = {"family_code": "RUN", "task_type": "BATCH"}

    def claimed(code: str) -> dict[str, Any]:
        room.create(**create, criteria={"CODE": code})
        (task,) = room.claim()
        return task

    # The Batch decides, not its Modules.
    task = claimed("children")
    batch = _begin(room, task, "begin_batch", batch_code="b")
    for module in "mn":
        child = _begin(room, task, "begin_module", module_code=module, batch_instance_id=batch)
        flow.end_module(child, "S")
    assert room.complete([task], None) == []
    row = room.task(task["task_id"], family="run")
    assert (row["status"], row["outcome"], row["batch_instance_id"]) == ("PENDING", "A", batch)
    flow.end_batch(batch, "F")
    room.call("cancel_task", task_id=task["task_id"])
    # The newest of several; one of an earlier claim does not count.
    task = claimed("newest")
    _begin(room, task, "begin_batch", batch_code="b")
    room.call("release_tasks", backend_id="w1", task_ids=[task["task_id"]])
    (task,) = room.claim()
    assert room.complete([task], None, error="nothing was begun") == []
    row = room.task(task["task_id"], family="run")
    assert (row["outcome"], row["error"], row["batch_instance_id"]) == (
        "F",
        "nothing was begun",
        None,
    )
    room.call("cancel_task", task_id=task["task_id"])
    # A member that dies leaves the decision to the instance.
    tasks = [claimed(f"dead{n}") for n in range(3)]
    room.call("omd.register_module", module_code="x", area_code="HSTG", table_code="dwh.m")
    room.call("omd.register_module", module_code="y", area_code="HSTG", table_code="dwh.n")
    ended = _begin(room, tasks[0], "begin_module", module_code="x")
    flow.end_module(ended, "S")
    _begin(room, tasks[1], "begin_module", module_code="y")
    room.call("cancel_task", task_id=tasks[2]["task_id"], running=True)
    room.owner("DELETE FROM omd_dispatch.backend_registration")
    assert room.maintain()["reclaimed"] == 3
    rows = [room.task(t["task_id"], family="run") for t in tasks]
    assert [(r["status"], r["outcome"], r["attempt"]) for r in rows] == [
        ("DONE", "S", 1),
        ("PENDING", "F", 1),
        ("CANCELLED", "F", 1),
    ]
    assert rows[0]["module_instance_id"] == ended
    assert room.reason(tasks[1]["task_id"]) == "NO_BACKEND"  # it is due at once


def test_a_task_that_is_given_back_is_cancelled_when_that_was_asked(room: Room) -> None:
    room.family("F", ("CODE",))
    room.member()
    ids = [room.create(c) for c in "abc"]
    room.claim()
    for task_id in ids[:2]:
        room.call("cancel_task", task_id=task_id, running=True)
        room.call("cancel_task", task_id=task_id, running=True)
    room.call("release_tasks", backend_id="w1", task_ids=[ids[0], ids[0], None, -1])
    room.call("leave_backend", backend_id="w1")
    room.call("leave_backend", backend_id="w1")
    rows = [room.task(i) for i in ids]
    assert [r["status"] for r in rows] == ["CANCELLED", "CANCELLED", "PENDING"]
    assert [r["finished_at"] is None for r in rows] == [False, False, True]
    assert [r["attempt"] for r in rows] == [0, 0, 0]
    room.create("a")
    room.refused("OM170", "create_task", family_code="F", task_type="T", criteria={"CODE": "c"})


def test_members_are_named_and_live_for_a_finite_time(
    room: Room,
    another: Callable[..., Room],
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Flow, Future[Any]], None],
) -> None:
    given = {"backend_type": "WORKER", "backend_id": "w1"}
    ttls = [None, "0", "-1 s", "1 month"]
    if room.conn.info.server_version >= 170000:
        ttls += ["infinity", "-infinity"]
    for ttl in ttls:
        room.refused("OM013", "register_backend", **given, ttl=ttl)
    for sqlstate, wrong in (
        ("OM005", {"backend_id": None}),
        ("OM005", {"backend_type": None}),
        ("OM013", {"backend_id": " "}),
        ("OM013", {"backend_id": "x" * 2601}),
        ("OM013", {"backend_type": "worker"}),
        ("OM013", {"backend_type": "A/B"}),
    ):
        room.refused(sqlstate, "register_backend", **{**given, **wrong})
    for routine in ("renew_backend", "leave_backend"):
        room.refused("OM005", routine, backend_id=None)
    room.refused("OM172", "renew_backend", backend_id="nobody")
    room.call("leave_backend", backend_id="nobody")
    names = ["Z", "a", "é", "'; --", "10", "9", "w1"]
    answers = [room.call("register_backend", **{**given, "backend_id": n}) for n in names]
    assert [a["members"] for a in answers] == list(range(1, 8))
    order = sorted(names, key=str.encode)
    for n, name in enumerate(order):
        assert room.call("renew_backend", backend_id=name) == {
            "position": n,
            "members": 7,
            "cancel": [],
        }
    # A member that registers in another group is in that one alone.
    assert room.call("register_backend", backend_type="OTHER", backend_id="9") == {
        "position": 0,
        "members": 1,
    }
    position = "SELECT * FROM omd_dispatch.backend_position(%s, %s)"
    assert room.rows(position, "WORKER", "9") == []
    assert room.rows(position, "WORKER", "a") == [{"position": 3, "members": 6}]
    assert room.rows(position, "WORKER", None) == []
    # Who is deleted by hand while it claims is deleted after its claim.
    room.family()
    room.create()
    claimer, admin = another(autocommit=False), another()
    claimer.claim()
    admin.conn.execute("SET ROLE omd_admin")
    delete = b"DELETE FROM omd_dispatch.backend_registration WHERE backend_id = 'w1'"
    deletion = background(admin.conn.execute, delete)
    until_settled(admin, deletion)
    assert not deletion.done()
    assert room.maintain()["reclaimed"] == 0
    claimer.conn.commit()
    deletion.result(timeout=60)
    assert admin.maintain()["reclaimed"] == 1
    for sqlstate, arguments in (
        ("OM172", ("w1", 1)),
        ("OM172", ("nobody", 1)),
        ("OM005", (None, 1)),
        ("OM005", ("a", None)),
        ("OM013", ("a", 0)),
        ("OM013", ("a", 1001)),
        ("OM013", ("a", -1)),
    ):
        with pytest.raises(psycopg.Error) as caught:
            room.rows("SELECT * FROM omd_dispatch.claim_tasks(%s, %s)", *arguments)
        assert caught.value.sqlstate == sqlstate, arguments


def test_a_member_takes_its_share_then_what_others_leave(
    room: Room, another: Callable[..., Room]
) -> None:
    room.family()
    for name in "abc":
        room.member(name)
    ids = room.create_many([{"criteria": {"CODE": "x"}}] * 30)["task_ids"]
    claimed = [t["task_id"] for t in room.claim(4, by="b")]
    assert claimed == [i for i in ids if i % 3 == 1][:4]
    # Of what is long overdue, everybody takes the oldest.
    room.owner(
        "UPDATE omd_dispatch.task_data_f SET execution_time = execution_time - interval '6 s'"
        " WHERE status = 'PENDING' AND task_id %% 3 = 2"
    )
    claimed += (taken := [t["task_id"] for t in another().claim(11, by="a")])
    assert taken == [i for i in ids if i % 3 == 2] + [i for i in ids if i % 3 == 0][:1]
    rest = {t["task_id"] for t in room.claim(100, by="c")}
    assert rest == set(ids) - set(claimed)


def test_lanes_go_by_their_most_urgent_task_then_by_their_oldest(room: Room) -> None:
    room.family("F")
    room.family("G")
    room.type("LIMITED", max_running=2)
    room.type("OTHER", deliver_id="WORKER2")
    room.member()
    created = {
        "late": ("T", "F", 5, 3),
        "old": ("T", "G", 5, 1),
        "limit9": ("LIMITED", "F", 9, 1),
        "limit1": ("LIMITED", "F", 1, 2),
        "limit8": ("LIMITED", "F", 8, 1),
        "other": ("OTHER", "F", 0, 1),
    }
    for code, (task_type, family, priority, day) in created.items():
        room.create(
            code,
            task_type=task_type,
            family_code=family,
            priority=priority,
            execution_time=f"2020-01-0{day}",
        )
    assert [t["criteria"]["CODE"] for t in room.claim()] == ["limit1", "limit8", "old", "late"]
    assert room.claim() == []


def test_a_limit_holds_while_eight_members_claim_end_and_die(
    room: Room, another: Callable[..., Room]
) -> None:
    room.family()
    room.type(max_running=3, backoff="0", later_after="0", max_attempts=1000)
    room.create_many([{"criteria": {"CODE": str(n)}} for n in range(60)])
    room.conn.execute(
        "CREATE TABLE public.seen (running int);"
        "CREATE FUNCTION public.seen() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS"
        " $$BEGIN INSERT INTO public.seen SELECT count(*) FROM omd_dispatch.task_data_f"
        " WHERE status = 'CLAIMED' AND lane = 'WORKER/T'; RETURN NULL; END$$;"
        "CREATE TRIGGER seen AFTER UPDATE ON omd_dispatch.task_data_f"
        " EXECUTE FUNCTION public.seen()"
    )
    errors: list[Exception] = []

    def work(n: int, session: Room) -> None:
        name = session.member(f"w{n}")
        try:
            for turn in range(200):
                tasks = session.claim(1 + turn % 4, by=name)
                session.complete(tasks, "SFAS"[turn % 4], by=name)
                if turn % 7 == n % 7:
                    tasks = session.claim(2, by=name)
                    session.conn.execute(
                        "DELETE FROM omd_dispatch.backend_registration WHERE backend_id = %s",
                        [name],
                    )
                    session.maintain()
                    session.member(name)
                if not session.rows(
                    "SELECT 1 FROM omd_dispatch.task_data_f WHERE status <> 'DONE' LIMIT 1"
                ):
                    return
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n, another())) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert room.one("SELECT max(running) FROM public.seen") == 3


def test_one_maintains_at_a_time(room: Room, another: Callable[..., Room]) -> None:
    room.family()
    room.member()
    room.create()
    room.claim()
    room.owner("DELETE FROM omd_dispatch.backend_registration")
    first = another(autocommit=False)
    assert first.one("SELECT omd_dispatch._maintain_backends(1000)") == 1
    assert room.maintain() == {"reclaimed": 0, "fired": 0, "more": False}
    first.conn.rollback()
    assert room.maintain() == {"reclaimed": 1, "fired": 0, "more": False}


def test_a_round_of_maintenance_is_bounded(room: Room) -> None:
    room.family()
    room.member()
    room.create_many([{"criteria": {"CODE": "x"}}] * 1500)
    assert len(room.claim(1000)) + len(room.claim(1000)) == 1500
    room.owner("DELETE FROM omd_dispatch.backend_registration")
    assert room.maintain() == {"reclaimed": 1000, "fired": 0, "more": True}
    assert room.maintain() == {"reclaimed": 500, "fired": 0, "more": False}


def test_a_claim_that_is_cancelled_or_waits_in_vain_takes_nothing(
    room: Room,
    another: Callable[..., Room],
    background: Callable[..., Future[Any]],
    cancelled: Callable[..., Any],
) -> None:
    room.family("F", ("CODE",))
    room.member()
    task_id = room.create()
    holder, other = another(autocommit=False), another()
    holder.rows("SELECT * FROM omd_dispatch.backend_registration FOR UPDATE")
    other.conn.execute("SET lock_timeout = '50ms'")
    with pytest.raises(psycopg.errors.LockNotAvailable):
        other.claim()
    other.conn.execute("SET lock_timeout = 0")
    with pytest.raises(psycopg.errors.QueryCanceled):
        cancelled(other, background(other.claim))
    holder.conn.rollback()
    # A creator that gives up does not take the key with it, nor does one that is killed.
    (task,) = other.claim()
    holder.complete([task])
    room.conn.execute("SET lock_timeout = '50ms'")
    with pytest.raises(psycopg.errors.LockNotAvailable):
        room.create()
    other.conn.execute("SELECT pg_terminate_backend(%s, 5000)", [holder.conn.info.backend_pid])
    assert (
        room.refused(
            "OM170", "create_task", family_code="F", task_type="T", criteria={"CODE": "a"}
        )["task_id"]
        == task_id
    )
    assert room.complete([task]) == []
    room.create()


def test_nobody_who_holds_a_task_or_a_key_keeps_maintenance_from_the_rest(
    room: Room, another: Callable[..., Room]
) -> None:
    room.family("F", ("CODE",))
    room.member()
    room.conn.execute("SET statement_timeout = '20s'")
    lost, other = room.create("lost"), room.create("other")
    room.claim()
    held = [room.create(c) for c in ("held", "free")]
    suspension = room.call("suspend", family_code="F")["suspension_id"]
    for code in ("key", "new"):
        room.call(
            "register_schedule",
            schedule_code=code,
            family_code="F",
            task_type="T",
            criteria={"CODE": code},
            every="1 day",
            next_time=room.one("SELECT now()"),
        )
    holder = another(autocommit=False)
    holder.call("cancel_task", task_id=lost, running=True)
    holder.call("reschedule_task", task_id=held[0], priority=1)
    holder.create("key")
    room.owner("DELETE FROM omd_dispatch.backend_registration")
    assert room.call("resume", suspension_id=suspension)["resumed"] == 1
    assert room.maintain() == {"reclaimed": 1, "fired": 1, "more": True}
    assert [room.reason(t) for t in (lost, other)] == ["CLAIMED", "NO_BACKEND"]
    problem = "SELECT problem FROM omd_report.dispatch_schedules WHERE schedule_code = 'key'"
    assert "55P03" in room.one(problem)
    holder.conn.rollback()
    assert room.maintain() == {"reclaimed": 1, "fired": 1, "more": False}
    assert room.one(problem) is None
    assert {room.reason(t) for t in (lost, other, *held)} == {"NO_BACKEND"}


def test_a_new_limit_counts_what_runs_already(room: Room) -> None:
    room.family("F")
    room.type(max_attempts=1)
    room.member()
    room.create_many([{"criteria": {"CODE": c}} for c in "aaabbb"])
    running = {t["task_id"]: t for t in room.claim(4)}
    room.type(max_running=2)
    assert room.claim() == []
    room.type(limit_criterion="CODE")  # three of a run, and one of b
    (task,) = room.claim()
    assert task["criteria"] == {"CODE": "b"}
    assert room.complete(list(running.values())[:2], "F", error="e" * 1_000_000) == []
    assert room.claim() == []
    room.type(max_running=0, limit_criterion="")
    assert len(room.claim()) == 1
    for lane in room.rows("SELECT lane FROM omd_report.dispatch_queue WHERE family_code = 'F'"):
        assert lane["lane"] == "WORKER" or room.rows("SELECT 1 FROM omd_report.dispatch_dead")


def test_who_leaves_gives_back_what_has_begun_no_run(room: Room) -> None:
    room.conn.execute("CREATE SCHEMA dwh")
    Flow(room.conn).module("m")
    room.member()
    create = {"family_code": "RUN", "task_type": "MODULE"}
    ids = [room.create(**create, criteria={"CODE": code}) for code in ("m", "n")]
    tasks = room.claim()
    instance = _begin(room, tasks[0], "begin_module", module_code="m")
    room.call("omd.module_success", module_instance_id=instance)
    room.call("leave_backend", backend_id="w1")
    found = [room.task(task_id, family="run") for task_id in ids]
    assert [(t["status"], t["attempt"]) for t in found] == [("DONE", 1), ("PENDING", 0)]


def test_a_context_that_names_no_task_is_let_pass(room: Room) -> None:
    room.conn.execute("CREATE SCHEMA dwh")
    Flow(room.conn).module("m")
    assert _begin(room, {"task_id": 10**15, "claim_token": 1}, "begin_module", module_code="m")
