"""Random deltas, compared with a model in plain Python; undone, and loaded again."""

from __future__ import annotations

import copy
import random
from typing import TYPE_CHECKING, Any

import pytest

from facts.oracle import Anchor, Context
from facts.store import PERSON, PHONE, entity

if TYPE_CHECKING:
    from facts.store import Store

DAY = "extract(day FROM {} AT TIME ZONE 'UTC')::integer"


class Model:
    """What the tables should hold."""

    def __init__(self) -> None:
        self.anchor = Anchor()
        self.properties = Context()
        self.mail = Context("alternate_key")
        self.birth = Context("immutable")
        self.phone = Context("multi_active")

    def load(self, day: int, person: list[Any], phone: list[Any]) -> None:
        for indicator, nbr, email, born, name, boss in person:
            if indicator != "R":
                self.anchor.know(nbr)
                if boss is not None:
                    self.anchor.know(boss)
            wrote = [
                self.properties.apply(nbr, day, indicator, (name, boss)),
                self.mail.apply(nbr, day, indicator, (email,)),
                self.birth.apply(nbr, day, indicator, (born,)) if indicator != "R" else False,
            ]
            self.anchor.apply(nbr, day, indicator, any(wrote))
        for indicator, nbr, kind, number in phone:
            if indicator != "R":
                self.anchor.know(nbr)
            if self.phone.apply((nbr, kind), day, indicator, (number,)):
                self.anchor.know(nbr)["latest"] = day

    def mails(self) -> dict[int, Any]:
        return {k: c[-1][3][0] for k, c in self.mail.chains.items() if c and c[-1][2] != "R"}


def stored(store: Store) -> dict[str, set[tuple[Any, ...]]]:
    """Return the contexts and anchors as the model has them."""
    start, end = DAY.format("c.acm_start_dt"), DAY.format("nullif(c.acm_end_dt, '9999-12-31+00')")

    def context(table: str, key: str, values: str) -> set[tuple[Any, ...]]:
        rows = store.rows(
            f"SELECT {key} AS k, {start} AS s, {end} AS e, c.acm_record_ind, {values}"
            f" FROM cfl_shop.{table} AS c INNER JOIN cfl_shop.h_person AS a USING (acm_id)"
        )
        return {tuple(tuple(v) if isinstance(v, list) else v for v in r.values()) for r in rows}

    return {
        "properties": context("s_person_properties", "a.nbr", "c.name, c.boss"),
        "mail": context("s_person_mail", "a.nbr", "c.email"),
        "birth": context("s_person_birth", "a.nbr", "c.born"),
        "phone": context("s_person_phone", "ARRAY[a.nbr::text, c.kind]", "c.number"),
        "anchor": {
            tuple(r.values())
            for r in store.rows(
                f"SELECT nbr, acm_exists_ind, {DAY.format('acm_latest_start_dt')} AS l,"
                f" {DAY.format('acm_last_created_dt')} AS c FROM cfl_shop.h_person"
            )
        },
    }


def expected(model: Model) -> dict[str, set[tuple[Any, ...]]]:
    phone = {((str(k[0]), k[1]), *rest) for k, *rest in model.phone.rows()}
    return {
        "properties": model.properties.rows(),
        "mail": model.mail.rows(),
        "birth": model.birth.rows(),
        "phone": phone,
        "anchor": model.anchor.rows(),
    }


def some_delta(chance: random.Random, model: Model) -> tuple[list[Any], list[Any]]:
    numbers = chance.sample(range(1, 9), chance.randint(0, 7))
    taken = {v for k, v in model.mails().items() if k not in numbers}
    free = [m for m in ["a", "b", "c", "d", "e", "f", "g", "h", "i"] if m not in taken]
    chance.shuffle(free)
    person = [
        (
            chance.choice("NAANR"),
            n,
            free.pop() if free and chance.random() < 0.8 else None,
            chance.choice([None, "1990", "1991"]),
            chance.choice([None, "x", "y"]),
            chance.choice([None, *range(1, 12)]),
        )
        for n in numbers
    ]
    pairs = chance.sample([(n, k) for n in range(1, 10) for k in ("home", "work")], 5)
    phone = [(chance.choice("NAR"), n, k, chance.choice([None, "1", "2"])) for n, k in pairs]
    return person, phone


@pytest.mark.parametrize("seed", [1, 2])
def test_random_deltas_give_what_a_model_in_python_says(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    store.set_up(PERSON, PHONE)
    model = Model()
    loads: list[tuple[int, dict[str, Any]]] = []
    for day in range(1, 13):
        person, phone = some_delta(chance, model)
        before = expected(model)
        model.load(day, person, phone)
        store.push(day, person=person, phone=phone)
        answer = store.take()
        assert answer["outcome"] == "PERSISTED", answer
        loads.append((answer["module_instance_id"], before))
        assert stored(store) == expected(model), (day, person, phone)
    assert store.sound()

    # The placeholders stay: keys are never removed.
    back = loads[-4]
    assert store.undo(back[0]) == [id for id, _ in loads[-4:]]
    found, was = stored(store), copy.deepcopy(back[1])
    gone = {key for key, *_ in found["anchor"]} - {key for key, *_ in was["anchor"]}
    was["anchor"] |= {(key, 0, None, None) for key in gone}
    assert found == was
    assert store.sound()
    assert store.one("SELECT omd_facts.traveling_now('shop')::date::text") == "2020-01-08"
    while store.take()["outcome"] == "PERSISTED":
        pass
    assert stored(store) == expected(model)
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


@pytest.mark.parametrize("seed", [0, 3])
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
