"""How records form cycles: the examples of the rules, windows, waves, and what can't be read."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from decision.conftest import BOTH

if TYPE_CHECKING:
    from collections.abc import Callable

    from decision.conftest import Room

NOON = datetime(2024, 1, 1, 12, tzinfo=timezone.utc)
# Records as key and value; the calls as values; the rejects as link, value and code.
L, M = "LEFTOVER", "KEY_MISMATCH"
EXAMPLES: list[tuple[dict[str, str], str, str, list[Any], list[Any]]] = [
    ({"1": "5a 5b 5c", "2": "5d 5e", "3": "6f"}, "123", "ASC", [["abc", "de", ""]], ["3f" + L]),
    ({"1": "5a 5b 5c", "2": "5d 5e", "3": "6f"}, "123", "DESC", [["abc", "de", ""]], ["3f" + M]),
    (
        {"1": "5a 5b 5c", "2": "5d 5e", "3": "6f"},
        "12",
        "ASC",
        [],
        ["1a" + M, "1b" + M, "1c" + M, "2d" + M, "2e" + M, "3f" + L],
    ),
    (
        {"1": "5a 5b 5c", "2": "5d 5e", "3": "6f"},
        "12",
        "DESC",
        [],
        ["1a" + L, "1b" + L, "1c" + L, "2d" + L, "2e" + L, "3f" + M],
    ),
    (
        {"1": "5p", "2": "5a 5b 5c", "3": "5x 5y"},
        "1",
        "ASC",
        [["p", "a", "x"], ["p", "b", "y"], ["p", "c", "y"]],
        [],
    ),
    (
        {"1": "5a 9b", "2": "3c 5d 6e 9f 0g", "3": ""},
        "123",
        "ASC",
        [["a", "d", ""], ["b", "f", ""]],
        ["2c" + M, "2e" + M, "2g" + M],
    ),
]


def load(room: Room, links: dict[str, str]) -> None:
    for name, records in links.items():
        room.conn.execute(
            f"DROP TABLE IF EXISTS app.l{name}; CREATE TABLE app.l{name} (id int, k int, v text)"
        )
        for number, record in enumerate(records.split()):
            room.conn.execute(
                f"INSERT INTO app.l{name} VALUES (%s, %s, %s)".encode(),
                [number, int(record[:-1]), record[-1]],
            )


def values(value: Any) -> str:
    return value["v"] if isinstance(value, dict) else "".join(record["v"] for record in value)


def test_the_examples_of_the_rules(room: Room) -> None:
    room.scene()
    for links, arrays, direction, calls, rejects in EXAMPLES:
        load(room, links)
        room.define(
            {
                "stage": "s",
                "mode": "KEY",
                "keys": [{"column": "k", "direction": direction}],
                "ruleset": "f",
                "links": [
                    {
                        "name": name,
                        "source": f"app.l{name}",
                        "arrival": "id",
                        "array": name in arrays,
                        "reject": {"on": BOTH},
                    }
                    for name in links
                ],
                "outputs": [{"name": "out", "table": "app.out"}],
            }
        )
        rows = room.cycles("s")
        called = [[values(r["params"][n]) for n in links] for r in rows if not r["link"]]
        assert called == calls
        rejected = [r["link"] + r["params"]["v"] + r["code"] for r in rows if r["link"]]
        assert sorted(rejected) == sorted(rejects)


def test_the_batches_of_the_source_document(room: Room) -> None:
    room.scene()
    room.define(
        {
            "stage": "batch",
            "batch_size": 2,
            "ruleset": "f",
            "links": [
                {"name": "a", "source": "app.a", "arrival": "k"},
                {"name": "b", "source": "app.b", "arrival": "k"},
            ],
            "outputs": [{"name": "out", "table": "app.out"}],
        }
    )
    room.fill("a", *[(0, k) for k in (10, 11, 12, 14, 15, 16, 17, 19)])
    room.fill("b", *[(0, k) for k in (8, 10, 12, 15, 17, 18, 20)])
    rows = room.cycles("batch")
    assert [(r["inputs"]["a"], r["inputs"]["b"]) for r in rows] == [
        ([10, 11], [8, 10]),
        ([12, 14], [12, 15]),
        ([15, 16], [17, 18]),
        ([17, 19], [20]),
    ]
    assert [r["cycle_no"] for r in rows] == [1, 2, 3, 4]
    assert {r["key"] for r in rows} == {None}


def test_a_window_reads_what_is_new(room: Room) -> None:
    document = room.scene("jsonb_build_object('out', p -> 'a')")
    for table in "ab":
        room.conn.execute(f"ALTER TABLE app.{table} ADD at timestamptz".encode())
    document["window"] = {"column": "at", "delay": "1 hour"}
    room.define(document)
    room.fill("a", (1, 1), (2, 2), (3, 3))
    for minute in (1, 2, 3):
        room.conn.execute(
            "UPDATE app.a SET at = %s WHERE id = %s", [NOON + timedelta(minutes=minute), minute]
        )

    def ids(**arguments: Any) -> list[int]:
        return [i for r in room.cycles("s", **arguments) for i in r["inputs"]["a"]]

    assert ids(end_value=NOON + timedelta(minutes=2)) == [1, 2]
    assert ids() == [1, 2, 3]  # now less the delay
    done = room.run(end_value=NOON + timedelta(minutes=1))
    assert (done["execution_status_code"], done["cycles"]) == ("S", 1)
    assert ids() == [2, 3]
    # A run that is rolled back gives its window back.
    room.set_next("R", module=done["module_instance_id"])
    assert room.run()["cycles"] == 3
    assert room.run()["cycles"] == 0
    assert room.refused("OM010", "run_stage", stage_code="s", end_value=NOON)


def test_a_wave_is_chosen_by_its_text(room: Room) -> None:
    document = room.scene()
    for table in "ab":
        room.conn.execute(f"ALTER TABLE app.{table} ADD day date".encode())
    room.define({**document, "wave": "day"})
    room.conn.execute("INSERT INTO app.a VALUES (1, 1, 'x', '2024-01-31'), (2, 1, 'y', NULL)")
    room.conn.execute("SET datestyle = 'German'")
    assert [r["wave"] for r in room.cycles("s")] == [None, "2024-01-31"]
    assert [r["inputs"]["a"] for r in room.cycles("s", wave="2024-01-31")] == [[1]]


def test_what_can_not_be_read_is_told(room: Room) -> None:
    document = room.scene(max_array_rows=3)

    def refused() -> str:
        with pytest.raises(psycopg.Error) as caught:
            room.cycles("s")
        assert caught.value.diag.message_hint
        return str(caught.value.sqlstate)

    for size in (0, 2):
        room.define({**document, "batch_size": size})
        room.fill("a", (1, 1), (1, 1))
        assert refused() == "OM290"
        room.conn.execute("DELETE FROM app.a; INSERT INTO app.a (k) VALUES (1)")
        assert refused() == "OM289"
        room.conn.execute("DELETE FROM app.a")
    # The same arrival in two keys is no double one; an array has its limit.
    room.define(document)
    room.fill("a", (1, 1), (1, 2), (2, 2), (3, 2))
    assert len(room.cycles("s")) == 2
    room.fill("a", (4, 2))
    assert refused() == "OM291"
    # Nobody gives a rejected group to a call.
    room.conn.execute("DELETE FROM app.a")
    room.fill("b", *[(n, 1) for n in range(9)])
    assert len(room.cycles("s")) == 9
    room.conn.execute("ALTER TABLE app.b RENAME k TO other")
    assert refused() == "OM289"
    room.conn.execute("DROP TABLE app.b")
    assert refused() == "OM289"


def test_a_job_s_own_data_can_not_be_previewed(room: Room) -> None:
    document = room.scene()
    del document["links"][1]["source"]
    room.define(document)
    with pytest.raises(psycopg.Error, match="DataFrame") as caught:
        room.cycles("s")
    assert caught.value.sqlstate == "OM289"
    room.refused("OM289", "run_stage", stage_code="s")


def test_a_reader_previews_with_its_own_rights(room: Room, another: Callable[..., Room]) -> None:
    room.scene()
    room.fill("a", (1, 1))
    reader = another(role="omd_reader")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        reader.cycles("s")
    room.conn.execute("GRANT USAGE ON SCHEMA app TO omd_reader")
    room.conn.execute("GRANT SELECT ON app.a, app.b TO omd_reader")
    assert len(reader.cycles("s")) == 1
    room.conn.execute("REVOKE ALL ON SCHEMA app FROM omd_reader")
