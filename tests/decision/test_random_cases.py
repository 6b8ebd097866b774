"""The cycles of the database are those of the model, over random stages and records."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from decision.cases import random_case
from decision.model import Call, EmptyBufferLink, Reject
from support.lots import SEED, draws

if TYPE_CHECKING:
    from decision.cases import Case
    from decision.conftest import Room

CASES = draws(1000)


def expected(case: Case) -> tuple[Counter[Any], Counter[Any]]:
    calls: Counter[Any] = Counter()
    rejects: Counter[Any] = Counter()
    for wave, links in case.waves.items():
        text = None if wave is None else str(wave)
        found = case.stage.run(links)
        calls.update((text, call) for call in found[0])
        rejects.update((text, reject) for reject in found[1])
    return calls, rejects


def answered(room: Room, case: Case, code: str) -> tuple[Counter[Any], Counter[Any]]:
    calls: Counter[Any] = Counter()
    rejects: Counter[Any] = Counter()
    keys = [f"k{n}" for n in range(1, len(case.key_types) + 1)]
    buffers = {f"p {link.name}" for link in case.stage.links if link.buffer}
    for row in room.cycles(code):
        key = None if row["key"] is None else tuple(row["key"][k] for k in keys)
        if row["link"]:
            assert row["params"]["id"] == row["arrival"]
            assert row["inputs"] is None
            reject = Reject(
                row["link"], key, row["arrival"], row["code"], row["cycle_no"], row["cause_link"]
            )
            rejects[row["wave"], reject] += 1
            continue
        read = {name: value for name, value in row["params"].items() if name not in buffers}
        assert row["params"].keys() == {f"p {link.name}" for link in case.stage.links}
        for name, value in read.items():
            ids = [r["id"] for r in value] if isinstance(value, list) else value["id"]
            assert ids == row["inputs"][name]
        inputs = tuple(
            (name.removeprefix("p "), tuple(value) if isinstance(value, list) else value)
            for name, value in sorted(row["inputs"].items())
        )
        calls[row["wave"], Call(key, row["cycle_no"], row["invocation_no"], inputs)] += 1
    return calls, rejects


def as_json(room: Room, found: Counter[Any], types: list[str], seen: dict[Any, Any]) -> Any:
    """Give the keys of the model the form that they have as JSON."""

    def value(item: Any, type_: str) -> Any:
        if (item, type_) not in seen:
            seen[item, type_] = room.one(f"SELECT to_jsonb(%s::{type_})", item)
        return seen[item, type_]

    return Counter(
        {
            (
                wave,
                replace(
                    row,
                    key=row.key
                    and tuple(value(item, t) for item, t in zip(row.key, types, strict=True)),
                ),
            ): count
            for (wave, row), count in found.items()
        }
    )


def load(room: Room, case: Case) -> None:
    room.conn.execute(case.tables().encode())
    for link in case.stage.links:
        with room.conn.cursor().copy(f"COPY app.{link.name} FROM STDIN".encode()) as copy:
            for row in case.rows(link):
                copy.write_row(row)


@pytest.mark.random
def test_the_cycles_are_those_of_the_model(room: Room) -> None:
    rng = random.Random(SEED)
    room.conn.execute("CREATE SCHEMA app")
    room.conn.execute("CREATE TABLE app.out (omd_insert_module_instance_id bigint)")
    room.conn.execute("SET client_min_messages = error")
    room.conn.execute("SET timezone = 'UTC'")
    room.owner("INSERT INTO omd_decision.ruleset (ruleset_code, kind) VALUES ('r', 'FUNCTION')")
    done = 0
    seen: dict[Any, Any] = {}
    while done < CASES:
        seed = rng.getrandbits(64)
        case = random_case(random.Random(seed), 20)
        done += max(len(case.waves), 1)
        load(room, case)
        room.define(case.document("s"))
        try:
            calls, rejects = expected(case)
        except EmptyBufferLink:
            with pytest.raises(psycopg.Error) as caught:
                room.cycles("s")
            assert caught.value.sqlstate == "OM285"
            continue
        found = answered(room, case, "s")
        assert found[0] == as_json(room, calls, case.key_types, seen), f"seed {seed}"
        assert found[1] == as_json(room, rejects, case.key_types, seen), f"seed {seed}"


@pytest.mark.random
def test_a_run_counts_as_the_model_does(room: Room) -> None:
    rng = random.Random(SEED)
    room.scene()
    room.conn.execute("SET client_min_messages = error")
    for _ in range(draws(20)):
        seed = rng.getrandbits(64)
        case = random_case(random.Random(seed), 4)
        load(room, case)
        room.define({**case.document("s"), "ruleset": "f"})
        try:
            calls, rejects = expected(case)
        except EmptyBufferLink:
            assert room.run()["execution_status_code"] == "F"
            continue
        done = room.run()
        assert done["execution_status_code"] == "S", f"seed {seed}: {done}"
        by_key = case.stage.mode == "KEY" and case.stage.size <= 1
        attempts = {
            (wave, row.key if by_key else None, row.cycle_no)
            for wave, row in [*calls, *rejects]
            if row.cycle_no
        }
        (run,) = room.rows(
            "SELECT * FROM omd_report.decision_run_log WHERE module_instance_id = %s",
            done["module_instance_id"],
        )
        assert (run["waves"], run["attempts"], run["invocations"], run["rows_rejected"]) == (
            len(case.waves),
            len(attempts),
            sum(calls.values()),
            sum(rejects.values()),
        ), f"seed {seed}"
        assert run["cycles"] == sum(1 for _, call in calls if call.invocation_no == 1)
        assert run["rows_input"] == sum(
            len(records) for wave in case.waves.values() for records in wave.values()
        )
