"""`Store` delivers deltas as far as the queue, loads them, and reads the perspectives."""

from __future__ import annotations

from typing import Any

from delivery.runs import Shop

T = {day: f"2020-01-{day:02} 00:00:00+00" for day in range(1, 32)}
OPEN = "9999-12-31 00:00:00+00"


def attribute(name: str, type: str = "integer", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type, **more}


def entity(name: str, key: list[str], attributes: list[Any], **more: Any) -> dict[str, Any]:
    """Return an entity; an attribute is a name, for an integer, or a pair of name and type."""
    return {
        "name": name,
        "key": key,
        "attributes": [
            attribute(a) if isinstance(a, str) else attribute(a[0], a[1]) for a in attributes
        ],
        **more,
    }


PERSON = entity(
    "person",
    ["nbr"],
    ["nbr", ("email", "text(20)"), ("born", "text(4)"), ("name", "text(20)"), "boss"],
    relationships=[{"name": "under", "parent": "person", "columns": ["boss"]}],
    facts={
        "contexts": [
            {"name": "mail", "kind": "alternate_key", "attributes": ["email"]},
            {"name": "birth", "kind": "immutable", "attributes": ["born"]},
        ]
    },
)
PHONE = entity(
    "phone",
    ["nbr", "kind"],
    ["nbr", ("kind", "text(4)"), ("number", "text(20)")],
    relationships=[{"name": "of", "parent": "person", "columns": ["nbr"], "context_filter": False}],
    facts={"context_of": "person", "kind": "multi_active"},
)


class Store(Shop):
    """Calls of omd_facts over one connection."""

    def set_up(self, *entities: dict[str, Any], interface: str = "shop") -> None:
        self.deploy({"interface": interface, "entities": list(entities)})
        self.call("omd_facts.deploy", interface_code=interface)

    def queue(self, day: int, /, delete_type: str = "LOGICAL", **rows: Any) -> int:
        """Put the delta of a day into the queue; return the delivery."""
        loads = dict.fromkeys(rows, "DELTA")
        run, _ = self.accept(day, rows=rows, entities=loads, delete_type=delete_type)
        return run.id

    def push(self, day: Any, /, delivered: tuple[str, ...] = (), **rows: Any) -> int:
        """Put a delta into the queue past LVL, with whatever indicators; return the item.

        The time is a day, or any moment.
        """
        at = T.get(day, day)
        delivery = self.one("SELECT omd_delivery.insert_delivery('a', 'LVL', %s)", at)
        for name, delta in rows.items():
            for indicator, *values in delta:
                marks = ", ".join(["%s"] * (3 + len(values)))
                self.conn.execute(
                    f"INSERT INTO {self.delta(name)} VALUES ({marks})".encode(),
                    (delivery, indicator, 0, *values),
                )
        self.conn.execute(
            "UPDATE omd_delivery.delivery SET delivery_status = 'ACCEPTED', verdict = 'ACCEPTED'"
            " WHERE delivery_id = %s",
            [delivery],
        )
        ids = "ARRAY(SELECT entity_id FROM omd_delivery.entity WHERE entity_code = ANY(%s))"
        return int(
            self.one(
                "INSERT INTO omd_delivery.delta_queue (delivery_id, interface_id,"
                " snapshot_datetime, entity_ids, delivered_entity_ids)"
                f" SELECT %s, interface_id, %s, {ids}, {ids} FROM omd_delivery.interface"
                " WHERE interface_code = %s RETURNING queue_id",
                delivery,
                at,
                list(rows),
                [*rows, *delivered],
                self.interface,
            )
        )

    def undo(self, module_instance_id: int) -> list[int]:
        answer = self.call(
            "omd_facts.undo",
            interface_code=self.interface,
            module_instance_id=module_instance_id,
        )
        return list(answer["undone"])

    def take(self) -> dict[str, Any]:
        return self.call("omd_facts.load", interface_code=self.interface)

    def put(self, day: int, /, **rows: Any) -> int:
        """Deliver the delta of a day and load it; return the Module Instance."""
        self.queue(day, **rows)
        answer = self.take()
        assert answer["outcome"] == "PERSISTED", answer
        return int(answer["module_instance_id"])

    def seen(self, view: str, columns: str = "", order: str = "1, 2") -> list[tuple[Any, ...]]:
        """Return rows of a view; without columns its attributes."""
        rows = self.rows(f"SELECT {columns or '*'} FROM {view} ORDER BY {order}")
        return [tuple(v for k, v in r.items() if columns or not k.startswith("acm_")) for r in rows]

    def now(self, entity: str, columns: str = "") -> list[tuple[Any, ...]]:
        return self.seen(f'gdal_{self.interface}."{entity}"', columns)

    def history(self, entity: str, values: str) -> list[tuple[Any, ...]]:
        """Return indicator, first and last day (None: open) and these values of each interval."""
        return self.seen(
            f'history_{self.interface}."{entity}"',
            "acm_record_ind, extract(day FROM acm_start_dt AT TIME ZONE 'UTC')::integer,"
            f" CASE WHEN acm_end_dt < '{OPEN}'"
            f" THEN extract(day FROM acm_end_dt AT TIME ZONE 'UTC')::integer END, {values}",
            f"{values.split(',')[0]}, acm_start_dt",
        )

    def sound(self) -> bool:
        return self.rows("SELECT * FROM omd_facts.verify(%s)", self.interface) == []
