"""A small world of deliveries and facts, and a recall of some of them without the room of recalls.

`Middle.take_back` does what a recall does with the two rooms: it asks what follows until nothing
comes any more, counts, locks, and takes back in one transaction, the facts first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from facts.store import Store, entity
from support.flow import Flow

CHANGES = {"changes": True}
CUSTOMER = entity("customer", ["nbr"], ["nbr", ("email", "text(20)")], facts=CHANGES)
PHONE = entity(
    "phone",
    ["nbr", "kind"],
    ["nbr", "kind", ("number", "text(20)")],
    relationships=[
        {"name": "rings", "parent": "customer", "columns": ["nbr"], "context_filter": False}
    ],
    facts={"context_of": "customer", "kind": "multi_active", **CHANGES},
)
ORDERS = entity(
    "orders",
    ["nbr"],
    ["nbr", "customer", ("amount", "text(20)")],
    relationships=[
        {"name": "of", "parent": "customer", "columns": ["customer"], "context_filter": False}
    ],
    facts=CHANGES,
)
STOCK = entity("stock", ["nbr"], ["nbr", ("amount", "text(20)")], facts=CHANGES)
KEYS = {"customer": 1, "phone": 2, "orders": 1, "stock": 1}
PARENT = {"phone": 0, "orders": 1}  # the place of the customer in a row

Content = Mapping[str, Mapping[tuple[int, ...], tuple[Any, ...] | None]]


class Middle(Store):
    """Deliveries are computed against LVL as Spark would, so a skipped or equal key is in none."""

    def world(self) -> None:
        self.set_up(CUSTOMER, PHONE, ORDERS, STOCK)

    def deliver(self, at: Any, content: Content, **arguments: Any) -> int:
        """Deliver rows by key, None to delete them; return the delivery, which is ACCEPTED."""
        run = self.run(at, entities=dict.fromkeys(content, "DELTA"), **arguments)
        self.judge(run, content)
        return int(run.id)

    def judge(self, run: Any, content: Content) -> None:
        """Validate and apply what is delivered: who has no customer is skipped."""
        known = {r[0] for r in self.current("customer")}
        for key, values in content.get("customer", {}).items():
            (known.discard if values is None else known.add)(key[0])
        run.validate()
        written = {}
        for name, rows in content.items():
            size = KEYS[name]
            now = {r[:size]: r for r in self.current(name)}
            delta: list[tuple[Any, ...]] = []
            for key, values in rows.items():
                if values is None:
                    if key in now:
                        delta.append(("R", *now[key]))
                    continue
                row = (*key, *values)
                if name in PARENT and row[PARENT[name]] not in known:
                    continue  # it is skipped, and its former version stays
                if now.get(key) != row:
                    delta.append(("A" if key in now else "N", *row))
            run.write(name, *delta)
            written[name] = len(delta)
        run.apply(written=written)

    def load_all(self) -> list[int]:
        """Load what is queued; return the loads."""
        loads = []
        while (answer := self.take())["outcome"] == "PERSISTED":
            loads.append(int(answer["module_instance_id"]))
        assert answer["outcome"] == "NOTHING", answer
        return loads

    def give(self, at: Any, content: Content) -> int:
        """Deliver and load; return the delivery."""
        delivery_id = self.deliver(at, content)
        self.load_all()
        return delivery_id

    def runs(self, delivery_id: int) -> list[int]:
        return list(self.one("SELECT omd_delivery.runs_of_delivery(%s)", delivery_id))

    def load_of(self, delivery_id: int) -> int:
        return int(
            self.one(
                "SELECT module_instance_id FROM omd_facts.load_log"
                " WHERE delivery_id = %s AND undone_by IS NULL",
                delivery_id,
            )
        )

    # A recall

    def recaller(self) -> int:
        """Begin a run in whose name rows are taken back."""
        if not self.rows("SELECT FROM omd.module WHERE module_code = 'recaller'"):
            Flow(self.conn).module("recaller")
        return Flow(self.conn).begin_module("recaller").id

    def follow(self, runs: list[int], again: list[int]) -> dict[int, int]:
        """Return what goes with these runs, each with its cause."""
        found: dict[int, int] = {}
        while True:
            new = {
                r["module_instance_id"]: r["because_of"]
                for room in ("omd_delivery", "omd_facts")
                for r in self.rows(
                    f"SELECT * FROM {room}.recall_follows(%s, %s)",
                    [*runs, *found],
                    # The load of a delivery that goes for good does not come again.
                    [*again, *(f for f in found if found[f] not in runs or f in again)],
                )
            }
            if not new.keys() - found.keys():
                return found
            found |= {k: v for k, v in new.items() if k not in found}

    def effects(self, runs: list[int], *, counted: bool = True) -> list[dict[str, Any]]:
        return [
            row
            for room in ("omd_facts", "omd_delivery")
            for row in self.rows(f"SELECT * FROM {room}.recall_effects(%s, %s)", runs, counted)
        ]

    def take_back(self, *runs: int, again: tuple[int, ...] = ()) -> list[dict[str, Any]]:
        """Take these runs back with all that follows; return what was to happen, and has."""
        taken = [*runs, *self.follow([*runs], [*again])]
        by = self.recaller()
        with self.conn.transaction():
            for room in ("omd_delivery", "omd_facts"):
                self.one(f"SELECT {room}.recall_locks(%s)", taken)
            effects = self.effects(taken)
            gone = [
                row
                for room in ("omd_facts", "omd_delivery")
                for row in self.rows(
                    f"SELECT * FROM {room}.take_back(%s, %s, 7, 'wrong')", taken, by
                )
            ]
            self.call("omd.module_success", module_instance_id=by)
        assert counts(effects, "rows_go", "rows_back") == counts(gone, "rows_gone", "rows_returned")
        assert self.one(
            "SELECT array_agg(module_instance_id ORDER BY module_instance_id)"
            " FROM omd.module_instance WHERE rolled_back_by_module_instance_id = %s",
            by,
        ) == sorted(taken)
        return effects

    # What there is

    def shown(self) -> dict[str, Any]:
        """Return all rows and marks, but for runs, surrogate keys and placeholders."""
        found: dict[str, Any] = {}
        for name in KEYS:
            found[f"lvl {name}"] = self.plain(f"lvl_shop.{name}")
            found[f"history {name}"] = self.plain(f"history_shop.{name}")
            found[f"now {name}"] = self.plain(f"gdal_shop.{name}")
        found["anchors"] = self.seen(
            "cfl_shop.h_customer",
            "nbr, acm_exists_ind, acm_latest_start_dt, acm_last_created_dt",
        )
        found["anchors"] = [a for a in found["anchors"] if a[1] or a[2]]
        found["marks"] = self.seen(
            "omd_facts.entity_mark INNER JOIN omd_facts.entity USING (entity_id)",
            "entity_code, mark_datetime",
        )
        found["water"] = self.seen(
            "omd_delivery.high_water_mark AS m INNER JOIN omd_delivery.entity USING (entity_id)",
            "entity_code, m.snapshot_datetime",
        )
        found["traveling"] = self.one("SELECT omd_facts.traveling_now('shop')")
        assert self.sound()
        return found

    def plain(self, table: str) -> set[tuple[Any, ...]]:
        kept = {"acm_start_dt", "acm_end_dt", "acm_record_ind"}
        return {
            tuple((k, v) for k, v in row.items() if k in kept or not k.startswith("acm_"))
            for row in self.rows(f"SELECT * FROM {table}")
        }


def counts(rows: list[dict[str, Any]], go: str, back: str) -> dict[tuple[Any, Any], Any]:
    found = {(r["module_instance_id"], r["table_code"]): (r[go], r[back]) for r in rows}
    assert len(found) == len(rows)
    return found
