"""The model of persons and phones in plain Python, and what the tables hold of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from facts.oracle import Anchor, Context

if TYPE_CHECKING:
    import random

    from facts.store import Store

__all__ = ["People", "some_deltas", "stored"]

Deltas = dict[str, list[Any]]


class People:
    """What the facts of `PERSON` and `PHONE` should be."""

    def __init__(self) -> None:
        self.anchor = Anchor()
        self.properties = Context()
        self.mail = Context("alternate_key")
        self.birth = Context("immutable")
        self.phone = Context("multi_active")

    def load(self, at: Any, deltas: Deltas) -> None:
        """Load the deltas of both entities at a moment."""
        for indicator, nbr, email, born, name, boss in deltas["person"]:
            if indicator != "R":
                self.anchor.know(nbr)
                if boss is not None:
                    self.anchor.know(boss)
            wrote = [
                self.properties.apply(nbr, at, indicator, (name, boss)),
                self.mail.apply(nbr, at, indicator, (email,)),
                self.birth.apply(nbr, at, indicator, (born,)) if indicator != "R" else False,
            ]
            self.anchor.apply(nbr, at, indicator, any(wrote))
        for indicator, nbr, kind, number in deltas["phone"]:
            if indicator != "R":
                self.anchor.know(nbr)
            if self.phone.apply((nbr, kind), at, indicator, (number,)):
                self.anchor.know(nbr)["latest"] = at

    def tables(self) -> dict[str, set[tuple[Any, ...]]]:
        """Return what the tables should hold."""
        phone = {((str(k[0]), k[1]), *rest) for k, *rest in self.phone.rows()}
        return {
            "properties": self.properties.rows(),
            "mail": self.mail.rows(),
            "birth": self.birth.rows(),
            "phone": phone,
            "anchor": self.anchor.rows(),
        }


def stored(store: Store, moment: str) -> dict[str, set[tuple[Any, ...]]]:
    """Return what the tables hold.

    Args:
        store: the store.
        moment: an expression of a moment, {}, that makes it what the model has.
    """
    start = moment.format("c.acm_start_dt")
    end = moment.format("nullif(c.acm_end_dt, '9999-12-31+00')")

    def context(table: str, key: str, values: str) -> set[tuple[Any, ...]]:
        rows = store.rows(
            f"SELECT {key} AS k, {start} AS s, {end} AS e, c.acm_record_ind, {values}"
            f" FROM cfl_shop.{table} AS c INNER JOIN cfl_shop.h_person AS a USING (acm_id)"
        )
        found = [tuple(tuple(v) if isinstance(v, list) else v for v in r.values()) for r in rows]
        assert len(set(found)) == len(found)
        return set(found)

    return {
        "properties": context("s_person_properties", "a.nbr", "c.name, c.boss"),
        "mail": context("s_person_mail", "a.nbr", "c.email"),
        "birth": context("s_person_birth", "a.nbr", "c.born"),
        "phone": context("s_person_phone", "ARRAY[a.nbr::text, c.kind]", "c.number"),
        "anchor": {
            tuple(r.values())
            for r in store.rows(
                f"SELECT nbr, acm_exists_ind, {moment.format('acm_latest_start_dt')} AS l,"
                f" {moment.format('acm_last_created_dt')} AS c FROM cfl_shop.h_person"
            )
        },
    }


def some_deltas(chance: random.Random, model: People) -> Deltas:
    """Return random deltas of both entities; nobody gets the mail of another one."""
    numbers = chance.sample(range(1, 9), chance.randint(0, 7))
    mails = {k: c[-1] for k, c in model.mail.chains.items() if c}
    taken = {
        values[0] for k, (_, _, ind, values) in mails.items() if ind != "R" and k not in numbers
    }
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
    return {"person": person, "phone": phone}
