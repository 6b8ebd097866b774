"""Blocks of changes of random loads, against a model in plain Python of what each must show."""

from __future__ import annotations

import copy
import random
from typing import TYPE_CHECKING, Any

import pytest

from facts.people import People, some_deltas
from facts.store import PERSON, PHONE
from support.lots import seeds

if TYPE_CHECKING:
    from facts.store import Store

KEEP = [{**e, "facts": {**e["facts"], "changes": True}} for e in (PERSON, PHONE)]


class Kept:
    """The state after each change, and the keys that each touched.

    A key is a number, of a person, or a pair of number and kind, of a phone.
    """

    def __init__(self) -> None:
        self.people = People()
        self.ids = [0]
        self.states = [copy.deepcopy(self.people)]
        self.touched: list[set[Any]] = [set()]
        self.undone: dict[int, int] = {}

    def load(self, at: int, deltas: dict[str, list[Any]]) -> None:
        before = copy.deepcopy(self.people)
        self.people.load(at, {"person": [], "phone": [], **deltas})
        self.keep(
            {
                key
                for context in ("properties", "mail", "birth", "phone")
                for key, chain in getattr(self.people, context).chains.items()
                if chain != getattr(before, context).chains.get(key, [])
            }
        )

    def keep(self, touched: set[Any]) -> None:
        self.states.append(copy.deepcopy(self.people))
        self.touched.append(touched)

    def undo(self, places: list[int]) -> None:
        """Take the changes at these places back."""
        placeholders = self.people.anchor
        self.people = copy.deepcopy(self.states[places[0] - 1])
        self.people.anchor = placeholders
        self.undone |= dict.fromkeys(places, len(self.states))
        self.keep(set.union(*[self.touched[p] for p in places]))

    def may_end(self, place: int) -> bool:
        return not any(p <= place < by for p, by in self.undone.items())

    def rows(self, after: int, upto: int) -> tuple[set[Any], set[Any]]:
        """Return what a block shows of persons and phones."""
        was, now = self.states[after], self.states[upto]
        places = range(after + 1, upto + 1)
        last = {key: p for p in range(1, upto + 1) for key in self.touched[p]}
        touched = set().union(*[self.touched[p] for p in places])
        if after == 0:
            # What exists at its end.
            touched = {k for k in now.properties.chains if now.properties.current(k)}
            touched |= {k for k in now.phone.chains if now.phone.current(k)}
        persons = set()
        for key in (k for k in touched if not isinstance(k, tuple)):
            found = now.properties.version(key)
            there = found is not None and found[2] != "R"
            values = []
            for context in (now.mail, now.birth):
                version = context.version(key)
                seen = (
                    found
                    and version
                    and (version[2] != "R" or (not there and version[0] >= found[0]))
                )
                values.append(version[3][0] if seen else None)
            name, boss = found[3] if found else (None, None)
            existed = was.properties.current(key) is not None and after > 0
            mark = "R" if not there else "A" if existed else "N"
            persons.add((mark, self.ids[last[key]], key, *values, name, boss))
        numbers = {k[0] for k in touched if isinstance(k, tuple)}
        phones = set()
        for key in {k for k in [*now.phone.chains, *touched] if isinstance(k, tuple)}:
            if key[0] not in numbers:
                continue
            found = now.phone.version(key)
            there = found is not None and found[2] != "R"
            if not there and (key not in touched or after == 0):
                continue
            existed = was.phone.current(key) is not None and after > 0
            # A row that nobody touched comes with its anchor.
            of_key = [p for p in places if key in self.touched[p]]
            of_anchor = [
                p
                for p in places
                if any(isinstance(k, tuple) and k[0] == key[0] for k in self.touched[p])
            ]
            change = max(of_key or of_anchor)
            mark = "R" if not there else "A" if existed else "N"
            values = found[3] if found else (None,)
            phones.add((mark, self.ids[change], *key, *values))
        return persons, phones


# As if the block had so many keys, since many are read another way than few.
MANY = """
    SELECT set_config('omd_facts.block_shop', jsonb_set(b.block, '{keys}', (
        SELECT jsonb_object_agg(k.key, 100000) FROM jsonb_each(b.block -> 'keys') AS k
    ))::text, TRUE)
    FROM (SELECT current_setting('omd_facts.block_shop')::jsonb) AS b (block)
"""


def shown(store: Store, after: int, upto: int) -> tuple[set[Any], set[Any]]:
    with store.conn.transaction():
        store.conn.execute("CALL omd_facts.show_changes('shop', %s, %s)", (after, upto))
        found = []
        for view in ("person", "phone"):
            rows = store.rows(f"SELECT * FROM changes_shop.{view}")
            found.append(
                {
                    (
                        r["acm_record_ind"],
                        r["acm_change_id"],
                        *[v for k, v in r.items() if "acm_" not in k],
                    )
                    for r in rows
                }
            )
            keys = [(r["acm_id"], r.get("kind")) for r in rows]
            assert len(keys) == len(set(keys)), rows
        # As-of views show the end of the block.
        assert {r["nbr"] for r in store.rows("SELECT nbr FROM asof_shop.person")} >= {
            nbr for mark, _, nbr, *_ in found[0] if mark != "R"
        }
        few = store.rows("SELECT * FROM changes_shop.person ORDER BY acm_id")
        store.conn.execute(MANY)
        assert store.rows("SELECT * FROM changes_shop.person ORDER BY acm_id") == few
    return found[0], found[1]


@pytest.mark.random
@pytest.mark.parametrize("seed", seeds(2))
def test_blocks_of_random_loads_show_what_a_model_says(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    store.set_up(*KEEP)
    model = Kept()
    standing: list[tuple[int, int, int, dict[str, Any]]] = []  # run, place, T, delta
    clock = 0

    def check(after: int, upto: int) -> None:
        ends = store.one("SELECT omd_facts.may_end('facts.shop', %s)", model.ids[upto])
        assert ends == model.may_end(upto)
        if ends:
            assert shown(store, model.ids[after], model.ids[upto]) == model.rows(after, upto), (
                after,
                upto,
                model.undone,
            )

    def load(at: int, deltas: dict[str, Any]) -> None:
        moment = f"2020-01-01 00:{at // 60:02}:{at % 60:02}+00"
        store.push(moment, **deltas)
        answer = store.take()
        assert answer["outcome"] == "PERSISTED", answer
        model.load(at, deltas)
        model.ids.append(store.one("SELECT max(change_id) FROM omd_facts.change"))
        standing.append((answer["module_instance_id"], len(model.ids) - 1, at, deltas))

    for _ in range(14):
        clock += 10
        deltas = some_deltas(chance, model.people)
        dice = chance.random()
        if dice < 0.2:
            # One entity comes later, with an older time than the other has already.
            late = chance.choice(["person", "phone"])
            other = "phone" if late == "person" else "person"
            load(clock, {other: deltas[other]})
            load(clock - 5, {late: deltas[late]})
        elif dice < 0.5 and standing:
            gone = standing[-chance.randint(1, min(3, len(standing))) :]
            del standing[-len(gone) :]
            assert store.undo(gone[0][0]) == [g[0] for g in gone]
            model.undo([g[1] for g in gone])
            model.ids.append(store.one("SELECT max(change_id) FROM omd_facts.change"))
            # The same again, a correction of the same time, or nothing.
            store.conn.execute("DELETE FROM omd_delivery.delta_queue WHERE queue_status = 'QUEUED'")
            way = chance.choice(["again", "corrected", "gone"])
            for _, _, at, delta in gone if way != "gone" else []:
                new = some_deltas(chance, model.people)
                load(at, delta if way == "again" else {k: new[k] for k in delta})
        else:
            load(clock, deltas)
        newest = len(model.ids) - 1
        for after, upto in [(newest - 1, newest), (0, newest)]:
            check(after, upto)
        upto = chance.randint(1, newest)
        check(chance.randint(0, upto), upto)
    assert store.sound()
    pairs = [(after, upto) for upto in range(1, len(model.ids)) for after in range(upto)]
    for after, upto in chance.sample(pairs, min(40, len(pairs))):
        check(after, upto)
