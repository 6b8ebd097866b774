"""A desk beside deliveries: after each step all views show what a model in plain Python says.

The model is written from the specification: of each key it keeps the states that a reader should
see, one after the other, and knows of no contexts. Entities have one, two and three of them, and
one is a subtype, which brings its deleted supertype back when it comes to exist, and not when it
changes: a delivery may delete the supertype of what the desk alone knows as its subtype.
"""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from facts.store import entity
from support.lots import seeds

if TYPE_CHECKING:
    from facts.store import Store

STEPS = 12
KEYS = range(1, 6)
MOMENT = "to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')"

PARTY = entity(
    "party",
    ["nbr"],
    ["nbr", ("name", "text(9)"), ("email", "text(9)"), "size"],
    facts={
        "contexts": [
            {"name": "mail", "kind": "alternate_key", "attributes": ["email"]},
            {"name": "extra", "attributes": ["size"]},
        ]
    },
)
STAFF = entity(
    "staff",
    ["nbr"],
    ["nbr", "grade", ("room", "text(9)")],
    relationships=[{"name": "isa", "parent": "party", "columns": ["nbr"], "context_filter": False}],
    facts={"subtype_of": "party", "contexts": [{"name": "place", "attributes": ["room"]}]},
)
SHELF = entity("shelf", ["nbr"], ["nbr", ("label", "text(9)")])
COLUMNS = {"party": ("name", "email", "size"), "staff": ("grade", "room"), "shelf": ("label",)}


@dataclass
class State:
    """What a reader sees of a key from a moment on: R, N or A, and the values.

    What is told of it for the first time is a change, even when it is NULL all over.
    """

    at: str
    indicator: str
    values: tuple[Any, ...]
    is_told: bool = True


@dataclass
class Model:
    """The states of each key of each entity."""

    seen: dict[str, dict[int, list[State]]] = field(
        default_factory=lambda: {name: {} for name in COLUMNS}
    )

    def exists(self, name: str, key: int) -> bool:
        states = self.seen[name].get(key)
        return bool(states) and states[-1].indicator != "R"

    def put(
        self, name: str, key: int, at: str, values: tuple[Any, ...], is_loaded: bool = False
    ) -> None:
        states = self.seen[name].setdefault(key, [])
        if not self.exists(name, key):
            states.append(State(at, "N", values))
            if name == "staff" and not self.exists("party", key):
                self._revive(key, at, is_told=not is_loaded)
        elif states[-1].values != values or not states[-1].is_told:
            states.append(State(at, "A", values))
        self._join(states)

    def drop(self, name: str, key: int, at: str) -> None:
        if self.exists(name, key):
            states = self.seen[name][key]
            states.append(State(at, "R", states[-1].values))

    def _revive(self, key: int, at: str, is_told: bool) -> None:
        """The supertype exists with its subtype, and nothing is known of it.

        A desk inserts it with its subtype, and tells that all is NULL; a load tells nothing.
        """
        states = self.seen["party"].setdefault(key, [])
        if states and states[-1].at == at:
            states.pop()
        states.append(State(at, "N", (None,) * 3, is_told))

    @staticmethod
    def _join(states: list[State]) -> None:
        if len(states) > 1 and states[-1].at == states[-2].at:
            states.pop(-2)

    def load(self, at: str, deltas: dict[str, list[Any]]) -> None:
        for name, rows in deltas.items():  # in the order of a load
            for indicator, key, *values in rows:
                if indicator == "R":
                    self.drop(name, key, at)
                else:
                    self.put(name, key, at, tuple(values), is_loaded=True)

    def as_of(self, name: str, at: str | None) -> set[tuple[Any, ...]]:
        rows = set()
        for key, states in self.seen[name].items():
            past = [s for s in states if at is None or s.at <= at]
            if past and past[-1].indicator != "R":
                rows.add((key, *past[-1].values))
        return rows

    def history(self, name: str) -> set[tuple[Any, ...]]:
        return {
            (state.at, end, state.indicator, key, *state.values)
            for key, states in self.seen[name].items()
            for state, end in zip(states, [*[s.at for s in states[1:]], None], strict=True)
        }


class Desk:
    """One random sequence."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store = store
        self.chance = random.Random(seed)
        self.model = Model()
        self.moments: list[str] = []
        self.loads: list[tuple[int, dict[str, list[Any]], Model]] = []  # since a write

    def values(self, name: str, key: int) -> tuple[Any, ...]:
        pick = self.chance.choice
        return {
            "party": (pick([None, "x", "y"]), pick([None, f"{key}a", f"{key}b"]), pick([None, 1])),
            "staff": (pick([None, 1, 2]), pick([None, "p", "q"])),
            "shelf": (pick([None, "l", "m"]),),
        }[name]

    def deliver(self) -> None:
        deltas: dict[str, list[Any]] = {}
        for name, columns in COLUMNS.items():
            keys = self.chance.sample(KEYS, self.chance.randint(0, 3))
            deltas[name] = [
                (i, key, *(self.values(name, key) if i != "R" else (None,) * len(columns)))
                for key in keys
                for i in [self.chance.choice("NARR")]
            ]
        self.store.push(self.store.one("SELECT clock_timestamp()"), **deltas)
        self.take(deltas)

    def take(self, deltas: dict[str, list[Any]]) -> None:
        before = copy.deepcopy(self.model)
        answer = self.store.take()
        assert answer["outcome"] == "PERSISTED", answer
        at = self.now("load_log", answer["module_instance_id"])
        self.model.load(at, deltas)
        self.loads.append((answer["module_instance_id"], deltas, before))
        self.moments.append(at)

    def now(self, what: str = "", instance: int = 0) -> str:
        if what:
            return str(
                self.store.one(
                    f"SELECT {MOMENT.format('transaction_datetime')} FROM omd_facts.load_log"
                    " WHERE module_instance_id = %s",
                    instance,
                )
            )
        return str(self.store.one(f"SELECT {MOMENT.format('omd_facts.traveling_now(%s)')}", "shop"))

    def write(self) -> None:
        name = self.chance.choice(list(COLUMNS))
        key = self.chance.choice(KEYS)
        columns, view = COLUMNS[name], f"gdal_shop.{name}"
        values = self.values(name, key)
        there = self.model.exists(name, key)
        with self.store.conn.transaction():
            if not there:
                marks = ", ".join(["%s"] * (1 + len(columns)))
                names = ", ".join(["nbr", *columns])
                text = f"INSERT INTO {view} ({names}) VALUES ({marks})"
                self.store.conn.execute(text.encode(), (key, *values))
            elif self.chance.random() < 0.5 and not (
                name == "party" and self.model.exists("staff", key)
            ):
                self.store.conn.execute(f"DELETE FROM {view} WHERE nbr = %s".encode(), [key])
            else:
                sets = ", ".join(f"{column} = %s" for column in columns)
                text = f"UPDATE {view} SET {sets} WHERE nbr = %s"
                self.store.conn.execute(text.encode(), (*values, key))
                there = False
            at = self.now()
        if there:
            self.model.drop(name, key, at)
        else:
            self.model.put(name, key, at, values)
        self.loads = []
        self.moments.append(at)

    def undo(self) -> None:
        if not self.loads:
            return
        first = self.chance.randrange(len(self.loads))
        gone, self.loads = self.loads[first:], self.loads[:first]
        assert self.store.undo(gone[0][0]) == [id for id, *_ in gone]
        self.model = gone[0][2]
        self.check()
        for _, deltas, _ in gone:
            self.take(deltas)

    def check(self) -> None:
        for name, columns in COLUMNS.items():
            listed = ", ".join(["nbr", *columns])

            def read(relation: str, listed: str = listed) -> set[tuple[Any, ...]]:
                rows = self.store.seen(relation, listed, "1")
                assert len(set(rows)) == len(rows)
                return set(rows)

            assert read(f"gdal_shop.{name}") == self.model.as_of(name, None)
            assert read(f"asof_shop.{name}") == self.model.as_of(name, None)
            for at in self.chance.sample(self.moments, min(2, len(self.moments))):
                wanted = self.model.as_of(name, at)
                assert read(f"asof_shop.{name}('{at}+00')") == wanted, at
                self.store.one("SELECT omd_facts.as_of(%s)", f"{at}+00")
                assert read(f"asof_shop.{name}") == wanted, at
                # One attribute alone: the other contexts are not read.
                assert {
                    row[0] for row in self.store.seen(f"asof_shop.{name}", columns[-1], "1")
                } == {row[-1] for row in wanted}
                self.store.one("SELECT omd_facts.as_of(NULL)")
            end = MOMENT.format("nullif(acm_end_dt, '9999-12-31+00')")
            start = MOMENT.format("acm_start_dt")
            told = f"{start} AS s, {end} AS e, acm_record_ind, {listed}"
            assert read(f"history_shop.{name}", told) == self.model.history(name)
            key = self.chance.choice(KEYS)
            assert read(f"history_shop.{name} WHERE nbr = {key}", told) == {
                row for row in self.model.history(name) if row[3] == key
            }

    def run(self) -> None:
        steps = [self.deliver, self.deliver, self.write, self.write, self.write, self.undo]
        for _ in range(STEPS):
            self.chance.choice(steps)()
            self.check()
        assert self.store.sound()


@pytest.mark.random
@pytest.mark.parametrize("seed", seeds(3))
def test_all_views_show_a_desk_and_deliveries_as_a_model_says(store: Store, seed: int) -> None:
    store.set_up(PARTY, STAFF, SHELF)
    store.agree("desk", layer_code="GDAL")
    store.call("omd_facts.open_delivery", agreement_code="desk")
    Desk(store, seed).run()


def test_values_of_a_deleted_supertype_do_not_come_back_with_its_subtype(store: Store) -> None:
    store.set_up(PARTY, STAFF)
    store.put(1, party=[("N", 1, "x", "a@b", 5)])
    store.put(2, party=[("R", 1, None, None, None)])
    store.put(3, staff=[("N", 1, 1, "p")])
    store.push(4, party=[("R", 1, None, None, None)])
    store.take()
    assert store.history("party", "nbr, name, email, size") == [
        ("N", 1, 2, 1, "x", "a@b", 5),
        ("R", 2, 3, 1, "x", "a@b", 5),
        ("N", 3, 4, 1, None, None, None),
        ("R", 4, None, 1, None, None, None),
    ]
