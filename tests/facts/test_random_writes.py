"""Random writes through current views, mixed with loads, undo and resync.

Each case holds all of it against a bitemporal model in plain Python: which statement is refused and
why, the tables, the current rows, those as of any moment, and the history.
"""

from __future__ import annotations

import copy
import random
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from delivery.runs import insert_open
from facts.people import People, stored
from facts.store import PERSON, PHONE
from support.lots import seeds

if TYPE_CHECKING:
    from facts.oracle import Context
    from facts.store import Store

STEPS = 14
KEYS = range(1, 7)
KINDS = ("home", "work")
MAILS = [None, "a", "b", "c", "d", "e"]
PEOPLE = "gdal_shop.person"
PHONES = "gdal_shop.phone"
MOMENT = "to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')"
ROWS = {
    "person": "nbr, email, born, name, boss",
    "phone": "nbr, kind, number",
}


class Model(People):
    """What the facts are, and what LVL has; a moment is a text that sorts."""

    def __init__(self) -> None:
        super().__init__()
        self.lvl: dict[str, dict[Any, tuple[Any, ...]]] = {"person": {}, "phone": {}}

    def accept(self, deltas: dict[str, list[Any]]) -> None:
        """Change what LVL has."""
        for name, size in (("person", 1), ("phone", 2)):
            for indicator, *values in deltas[name]:
                key = tuple(values[:size])
                if indicator == "R":
                    self.lvl[name].pop(key, None)
                else:
                    self.lvl[name][key] = tuple(values)

    def differences(self) -> dict[str, list[Any]]:
        """Return the delta that makes the facts what LVL has."""
        found: dict[str, list[Any]] = {"person": [], "phone": []}
        for name, size in (("person", 1), ("phone", 2)):
            now = {row[:size]: row for row in self.now(name)}
            for key, row in self.lvl[name].items():
                old = now.get(key)
                # What is immutable is not compared.
                if old is None or (*old[:2], *old[3:]) != (*row[:2], *row[3:]):
                    found[name].append(("N" if old is None else "A", *row))
                elif name == "phone" and old != row:
                    found[name].append(("A", *row))
            found[name] += [("R", *row) for key, row in now.items() if key not in self.lvl[name]]
        return found

    # Writes

    def exists(self, nbr: Any) -> bool:
        return nbr in self.anchor.keys and bool(self.anchor.keys[nbr]["exists"])

    def refusal(self, operation: str, nbr: int, new: dict[str, Any]) -> str | None:
        """Return the error of a write to a person, the first one."""
        old = self.properties.current(nbr)
        if operation == "INSERT" and self.exists(nbr):
            return "OM051"
        if operation == "DELETE":
            children = [
                key
                for key in self.properties.chains
                if key != nbr and (self.properties.current(key) or (0, 0))[1] == nbr
            ]
            return "OM055" if children else None
        boss = new["boss"]
        if (
            boss not in (None, nbr)
            and not self.exists(boss)
            and (operation == "INSERT" or old is None or boss != old[1])
        ):
            return "OM054"
        born = self.birth.current(nbr)
        if (
            born is not None
            and born != (new["born"],)
            and (operation == "UPDATE" or new["born"] is not None)
        ):
            return "OM056"
        others = [self.mail.current(key) for key in self.mail.chains if key != nbr]
        return "OM057" if new["email"] is not None and (new["email"],) in others else None

    def write(self, at: str, nbr: int, new: dict[str, Any]) -> None:
        was = self.exists(nbr)
        wrote = [
            self.properties.write(nbr, at, (new["name"], new["boss"])),
            self.mail.write(nbr, at, (new["email"],)),
            self.birth.write(nbr, at, (new["born"],)),
        ]
        if any(wrote):
            row = self.anchor.know(nbr)
            row.update(exists=1, latest=at)
            if not was and self.properties.chains[nbr][-1][2] == "N":
                row["created"] = at

    def delete(self, at: str, nbr: int) -> None:
        self.properties.remove(nbr, at)
        self.mail.remove(nbr, at)
        row = self.anchor.know(nbr)
        row.update(exists=0, latest=at)
        if row["created"] == at:
            starts = [v[0] for v in self.properties.chains[nbr] if v[2] == "N"]
            row["created"] = max(starts, default=None)

    def erase(self, nbr: int) -> None:
        for context in (self.properties, self.mail, self.birth):
            context.chains.pop(nbr, None)
        self.anchor.know(nbr)["exists"] = 0

    # Perspectives

    def at(self, name: str, moment: str | None) -> set[tuple[Any, ...]]:
        """Return the rows of an entity as of a moment; None: now."""

        def value(context: Context, key: Any) -> tuple[Any, ...] | None:
            version = context.version(key, moment)
            return version[3] if version and version[2] != "R" else None

        if name == "phone":
            found = {key: value(self.phone, key) for key in self.phone.chains}
            return {(*key, *row) for key, row in found.items() if row is not None}
        rows = set()
        for nbr in self.properties.chains:
            row = value(self.properties, nbr)
            if row is not None:
                (email,) = value(self.mail, nbr) or (None,)
                (born,) = value(self.birth, nbr) or (None,)
                rows.add((nbr, email, born, *row))
        return rows

    def now(self, name: str) -> set[tuple[Any, ...]]:
        return self.at(name, None)

    def history(self) -> set[tuple[Any, ...]]:
        """Return the intervals of persons: start, end, indicator and attributes."""
        found = set()
        for nbr in self.properties.chains:
            starts = sorted(
                {
                    version[0]
                    for context in (self.properties, self.mail, self.birth)
                    for version in context.chains.get(nbr, [])
                }
            )
            for start, end in zip(starts, [*starts, None][1:], strict=True):
                first, _, indicator, row = self.properties.version(nbr, start)
                (email,) = (self.mail.version(nbr, start) or [None] * 3 + [(None,)])[3]
                (born,) = (self.birth.version(nbr, start) or [None] * 3 + [(None,)])[3]
                told = indicator if indicator == "R" or first == start else "A"
                found.add((start, end, told, nbr, email, born, *row))
        return found


def seen(store: Store, relation: str, columns: str) -> set[tuple[Any, ...]]:
    rows = store.seen(relation, columns, "1")
    assert len(set(rows)) == len(rows)
    return set(rows)


class Case:
    """One random sequence."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store = store
        self.chance = random.Random(seed)
        self.model = Model()
        self.delivery = 0
        self.loads: list[tuple[int, dict[str, list[Any]] | None, Model]] = []  # since a write
        self.moments: list[str] = []

    def some_deltas(self) -> dict[str, list[Any]]:
        chance = self.chance
        numbers = chance.sample(KEYS, chance.randint(0, 5))
        taken = {self.model.mail.current(k) for k in self.model.mail.chains if k not in numbers}
        # Nor has LVL one of them twice.
        taken |= {
            (row[1],) for key, row in self.model.lvl["person"].items() if key[0] not in numbers
        }
        free = [m for m in MAILS if m and (m,) not in taken]
        chance.shuffle(free)
        person = [
            (
                chance.choice("NAANR"),
                nbr,
                free.pop() if free and chance.random() < 0.8 else None,
                chance.choice([None, "1990", "1991"]),
                chance.choice([None, "x", "y"]),
                chance.choice([None, *KEYS]),
            )
            for nbr in numbers
        ]
        pairs = chance.sample([(n, k) for n in KEYS for k in KINDS], chance.randint(0, 4))
        phone = [(chance.choice("NAR"), n, k, chance.choice([None, "1", "2"])) for n, k in pairs]
        return {"person": person, "phone": phone}

    def load(self) -> None:
        deltas = self.some_deltas()
        at = self.store.one("SELECT clock_timestamp()")
        self.store.push(at, **deltas)
        self.model.accept(deltas)
        self.take(deltas)

    def take(self, deltas: dict[str, list[Any]]) -> None:
        before = copy.deepcopy(self.model)
        answer = self.store.take()
        assert answer["outcome"] == "PERSISTED", answer
        at = self.store.one(
            f"SELECT {MOMENT.format('transaction_datetime')} FROM omd_facts.load_log"
            " WHERE module_instance_id = %s",
            answer["module_instance_id"],
        )
        self.model.load(at, deltas)
        self.loads.append((answer["module_instance_id"], deltas, before))
        self.moments.append(at)

    def resync(self) -> None:
        for name, columns in ROWS.items():
            self.store.owner(f"DELETE FROM {self.store.lvl(name)}")
            rows = [dict(zip(columns.split(", "), row, strict=True)) for row in self.lvl(name)]
            insert_open(self.store, self.store.lvl(name), "2020-01-01", tuple(rows), {})
        deltas = self.model.differences()
        answer = self.store.call("omd_facts.resync", interface_code="shop")
        counted = {
            name: {i: sum(row[0] == i for row in delta) for i in "NAR"}
            for name, delta in deltas.items()
            if delta
        }
        assert answer["differences"] == counted
        if counted:
            before = copy.deepcopy(self.model)
            self.moments.append(self.now())
            self.model.load(self.moments[-1], deltas)
            self.loads.append((answer["module_instance_id"], None, before))

    def lvl(self, name: str) -> list[tuple[Any, ...]]:
        return list(self.model.lvl[name].values())

    def now(self) -> str:
        moment = MOMENT.format("omd_facts.traveling_now('shop')")
        return str(self.store.one(f"SELECT {moment}"))

    def undo(self) -> None:
        """Undo some loads, look, and load their items again."""
        if not self.loads:
            return
        # A resync is not done again, and a load after it may not fit what was before.
        kept = [n for n, (_, deltas, _) in enumerate(self.loads[:-1], 1) if deltas is None]
        first = self.chance.randrange(max(kept, default=0), len(self.loads))
        gone, self.loads = self.loads[first:], self.loads[:first]
        assert self.store.undo(gone[0][0]) == [id for id, *_ in gone]
        anchors, lvl = self.model.anchor.keys, self.model.lvl
        self.model = gone[0][2]
        # Anchors stay, as placeholders.
        for nbr in anchors:
            self.model.anchor.know(nbr)
        self.model.lvl = lvl
        self.check()
        items = [deltas for _, deltas, _ in gone if deltas is not None]
        if items:
            self.refused("OM151", f"INSERT INTO {PEOPLE} (nbr) VALUES (99)")
            self.store.refused("OM154", "omd_facts.resync", interface_code="shop")
        for deltas in items:
            self.take(deltas)

    def refused(self, sqlstate: str, statement: str) -> None:
        with pytest.raises(psycopg.Error) as caught:
            self.store.conn.execute(statement.encode())
        assert caught.value.sqlstate == sqlstate, caught.value

    # Writes

    def transaction(self) -> None:
        """Write some statements, each of which may be refused, and keep all of it or nothing."""
        before = copy.deepcopy(self.model)
        self.at = ""
        keeps = self.chance.random() < 0.85
        with self.store.conn.transaction(force_rollback=not keeps):
            for _ in range(self.chance.randint(1, 5)):
                (self.write_phone if self.chance.random() < 0.3 else self.write_person)()
                if self.at and self.chance.random() < 0.3:
                    self.check_now()
        if not keeps:
            self.model = before
        elif self.at:
            self.loads = []
            self.moments.append(self.at)

    def execute(self, refusal: str | None, statement: str, *values: Any) -> bool:
        """Execute a statement that is refused like this, or not; return whether it wrote."""
        found, rows = None, 0
        try:
            with self.store.conn.transaction():
                rows = self.store.conn.execute(statement.encode(), values).rowcount
        except psycopg.Error as error:
            found = error
        assert (found and found.sqlstate) == refusal, (statement, values, found)
        if rows:
            self.at = self.now()
        return rows == 1

    def write_person(self) -> None:
        chance, model = self.chance, self.model
        operation = chance.choice(["INSERT", "INSERT", "UPDATE", "UPDATE", "UPDATE", "DELETE"])
        nbr = chance.choice(KEYS)
        some = {
            "email": chance.choice(MAILS),
            "born": chance.choice([None, "1990", "1991"]),
            "name": chance.choice([None, "x", "y"]),
            "boss": chance.choice([None, *KEYS]),
        }
        given = {k: v for k, v in some.items() if chance.random() < 0.6} or {"name": "z"}
        old = {row[0]: row for row in model.now("person")}.get(nbr)
        columns = ["email", "born", "name", "boss"]
        if operation == "INSERT":
            names = ", ".join(["nbr", *given])
            marks = ", ".join(["%s"] * (1 + len(given)))
            new = dict.fromkeys(columns) | given
            statement = f"INSERT INTO {PEOPLE} ({names}) VALUES ({marks})"
            if self.execute(model.refusal("INSERT", nbr, new), statement, nbr, *given.values()):
                born = model.birth.current(nbr)
                model.write(self.at, nbr, new if born is None else new | {"born": born[0]})
        elif operation == "UPDATE":
            sets = ", ".join(f"{k} = %s" for k in given)
            new = dict(zip(columns, old[1:], strict=True)) | given if old else {}
            refusal = model.refusal("UPDATE", nbr, new) if old else None
            statement = f"UPDATE {PEOPLE} SET {sets} WHERE nbr = %s"
            if self.execute(refusal, statement, *given.values(), nbr):
                model.write(self.at, nbr, new)
            else:
                assert old is None or refusal
        else:
            refusal = model.refusal("DELETE", nbr, {}) if old else None
            erases = chance.random() < 0.2
            self.store.conn.execute(
                f"SET omd_facts.delete_type = '{'PHYSICAL' if erases else ''}'".encode()
            )
            if self.execute(refusal, f"DELETE FROM {PEOPLE} WHERE nbr = %s", nbr):
                if erases:
                    model.erase(nbr)
                else:
                    model.delete(self.at, nbr)

    def write_phone(self) -> None:
        chance, model = self.chance, self.model
        operation = chance.choice(["INSERT", "INSERT", "UPDATE", "DELETE"])
        key = (chance.choice(KEYS), chance.choice(KINDS))
        number = chance.choice([None, "1", "2"])
        is_there = model.phone.current(key) is not None
        refusal = None if model.exists(key[0]) else "OM054"
        if operation == "INSERT":
            statement = f"INSERT INTO {PHONES} (number, nbr, kind) VALUES (%s, %s, %s)"
            if self.execute("OM051" if is_there else refusal, statement, number, *key):
                model.phone.write(key, self.at, (number,))
                model.anchor.know(key[0])["latest"] = self.at
        elif operation == "UPDATE":
            statement = f"UPDATE {PHONES} SET number = %s WHERE nbr = %s AND kind = %s"
            done = self.execute(refusal if is_there else None, statement, number, *key)
            if done and model.phone.write(key, self.at, (number,)):
                model.anchor.know(key[0])["latest"] = self.at
        else:
            self.store.conn.execute("SET omd_facts.delete_type = ''")
            statement = f"DELETE FROM {PHONES} WHERE nbr = %s AND kind = %s"
            if self.execute(None, statement, *key):
                model.phone.remove(key, self.at)
                model.anchor.know(key[0])["latest"] = self.at

    # What must hold

    def check_now(self) -> None:
        for name, columns in ROWS.items():
            assert seen(self.store, f"gdal_shop.{name}", columns) == self.model.now(name)

    def check(self) -> None:
        assert stored(self.store, MOMENT) == self.model.tables()
        self.check_now()
        for moment in self.chance.sample(self.moments, min(3, len(self.moments))):
            for name, columns in ROWS.items():
                wanted = self.model.at(name, moment)
                assert seen(self.store, f"asof_shop.{name}('{moment}+00')", columns) == wanted
                self.store.one("SELECT omd_facts.as_of(%s)", f"{moment}+00")
                assert seen(self.store, f"asof_shop.{name}", columns) == wanted
                self.store.one("SELECT omd_facts.as_of(NULL)")
        end = MOMENT.format("acm_end_dt")
        columns = (
            f"{MOMENT.format('acm_start_dt')} AS s,"
            f" CASE WHEN acm_end_dt < '9999-12-31+00' THEN {end} END AS e, acm_record_ind, "
        )
        found = seen(self.store, "history_shop.person", columns + ROWS["person"])
        assert found == self.model.history()

    def run(self) -> None:
        steps = [self.load, self.load, self.transaction, self.transaction, self.transaction]
        steps += [self.undo, self.resync]
        for _ in range(STEPS):
            self.chance.choice(steps)()
            self.check()
        assert self.store.sound()


@pytest.mark.random
@pytest.mark.parametrize("seed", seeds(4))
def test_random_writes_and_loads_give_what_a_model_in_python_says(store: Store, seed: int) -> None:
    store.set_up(PERSON, PHONE)
    store.agree("desk", layer_code="GDAL")
    store.call("omd_facts.open_delivery", agreement_code="desk", physical_delete_allowed=True)
    Case(store, seed).run()
