"""Random deltas, compared with a model in plain Python; undone, and loaded again."""

from __future__ import annotations

import copy
import random
from typing import TYPE_CHECKING, Any

import pytest

from facts.people import People, some_deltas, stored
from facts.store import PERSON, PHONE, entity
from support.lots import seeds

if TYPE_CHECKING:
    from facts.store import Store

DAY = "extract(day FROM {} AT TIME ZONE 'UTC')::integer"


@pytest.mark.random
@pytest.mark.parametrize("seed", seeds(2))
def test_random_deltas_give_what_a_model_in_python_says(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    store.set_up(PERSON, PHONE)
    model = People()
    loads: list[tuple[int, dict[str, Any]]] = []
    for day in range(1, 13):
        deltas = some_deltas(chance, model)
        before = model.tables()
        model.load(day, deltas)
        store.push(day, **deltas)
        answer = store.take()
        assert answer["outcome"] == "PERSISTED", answer
        loads.append((answer["module_instance_id"], before))
        assert stored(store, DAY) == model.tables(), (day, deltas)
    assert store.sound()

    # The placeholders stay: keys are never removed.
    back = loads[-4]
    assert store.undo(back[0]) == [id for id, _ in loads[-4:]]
    found, was = stored(store, DAY), copy.deepcopy(back[1])
    gone = {key for key, *_ in found["anchor"]} - {key for key, *_ in was["anchor"]}
    was["anchor"] |= {(key, 0, None, None) for key in gone}
    assert found == was
    assert store.sound()
    assert store.one("SELECT omd_facts.traveling_now('shop')::date::text") == "2020-01-08"
    while store.take()["outcome"] == "PERSISTED":
        pass
    assert stored(store, DAY) == model.tables()
    assert store.sound()


def subtype(name: str, of: str) -> dict[str, Any]:
    link = {"name": f"isa_{of}", "parent": of, "columns": ["nbr"], "context_filter": False}
    columns = ["nbr", "size"]
    return entity(name, ["nbr"], columns, relationships=[link], facts={"subtype_of": of})


CLUB = [
    entity(
        "party",
        ["nbr"],
        ["nbr", ("name", "text(9)")],
        facts={"generalization": "anybody", "key_root": "number"},
    ),
    subtype("staff", "party"),
    subtype("chief", "staff"),
    entity(
        "visit",
        ["nbr", "day"],
        ["nbr", "day", "host"],
        relationships=[
            {"name": "of", "parent": "staff", "columns": ["nbr"], "context_filter": False},
            {"name": "host", "parent": "chief", "columns": ["host"]},
        ],
    ),
    entity(
        "slice",
        ["nbr", "since"],
        ["nbr", ("since", "date"), "size"],
        relationships=[
            {"name": "of", "parent": "staff", "columns": ["nbr"], "context_filter": False}
        ],
        facts={"context_of": "staff", "kind": "bitemporal"},
    ),
]


def tables_of(store: Store) -> dict[str, set[tuple[Any, ...]]]:
    """Return all rows of all tables, but for the run that wrote them."""
    names = store.rows(
        "SELECT context_table AS name FROM omd_report.facts_map"
        " UNION SELECT anchor_table FROM omd_report.facts_map"
    )
    return {
        each["name"]: {
            tuple((k, str(v)) for k, v in row.items() if k != "acm_audit_id")
            for row in store.rows(f"SELECT * FROM {each['name']}")
        }
        for each in names
    }


def assert_back(found: dict[str, set[tuple[Any, ...]]], was: dict[str, set[Any]]) -> None:
    """All is as it was, and whatever else is there is a placeholder."""
    for name, rows in found.items():
        assert was[name] <= rows, name
        for row in map(dict, rows - was[name]):
            assert (row["acm_exists_ind"], row["acm_latest_start_dt"]) == ("0", "None")


@pytest.mark.random
@pytest.mark.parametrize("seed", seeds(2))
def test_loads_of_subtypes_and_slices_are_undone_and_done_again(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    store.set_up(*CLUB)
    loads: list[tuple[int, Any, Any]] = []

    def some(rows: int, columns: int, *keys: list[Any]) -> list[tuple[Any, ...]]:
        """Return rows of a delta with random values for keys of these and the other columns."""
        found = {
            tuple(chance.choice(k) for k in keys): None for _ in range(chance.randint(0, rows))
        }
        return [
            (chance.choice("NAR"), *key, *[chance.choice([None, 1, 2]) for _ in range(columns)])
            for key in found
        ]

    def take() -> None:
        before = tables_of(store)
        answer = store.take()
        assert answer["outcome"] == "PERSISTED", answer
        loads.append((answer["module_instance_id"], before, tables_of(store)))
        assert store.sound()

    few, many = list(range(1, 5)), list(range(1, 9))
    for day in range(1, 11):
        store.push(
            day,
            party=some(4, 1, few),
            staff=some(4, 1, few),
            chief=some(3, 1, few),
            visit=some(3, 1, many, [1, 2]),
            slice=some(3, 1, many, ["2020-01-01", "2020-02-01"]),
        )
        take()
        if chance.random() < 0.35:
            number = chance.randint(1, len(loads))
            gone, loads[-number:] = loads[-number:], []
            assert len(store.undo(gone[0][0])) == number
            assert_back(tables_of(store), gone[0][1])
            for _ in gone:
                take()
            assert_back(tables_of(store), gone[-1][2])
