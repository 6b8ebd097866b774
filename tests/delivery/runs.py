"""`Shop` has the calls of deliveries in one line each, and `Run` those of a run."""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb

from support.flow import Flow

OPEN = "9999-12-31 00:00:00+00"
SHOP: dict[str, Any] = {
    "interface": "shop",
    "entities": [
        {
            "name": "customer",
            "key": ["nbr"],
            "attributes": [
                {"name": "nbr", "type": "integer"},
                {"name": "email", "type": "text(80)"},
            ],
        },
        {
            "name": "orders",
            "key": ["nbr"],
            "attributes": [
                {"name": "nbr", "type": "integer"},
                {"name": "customer", "type": "integer"},
                {"name": "amount", "type": "numeric(12,2)"},
            ],
            "relationships": [{"name": "of", "parent": "customer", "columns": ["customer"]}],
            "constraints": [
                {"name": "positive", "type": "value", "attribute": "amount", "check": "amount > 0"}
            ],
        },
    ],
}


def insert_open(
    flow: Flow, table: str, start: str, rows: tuple[dict[str, Any], ...], more: dict[str, Any]
) -> None:
    """Insert open rows, without hashes, into a table of the Logical Validation Layer."""
    for row in rows:
        values = {
            "acm_start_dt": start,
            "acm_end_dt": OPEN,
            "acm_record_ind": "N",
            "acm_audit_id": 1,
            **row,
            **more,
        }
        names = ", ".join(f'"{name}"' for name in values)
        places = ", ".join(["%s"] * len(values))
        flow.owner(f"INSERT INTO {table} ({names}) VALUES ({places})", *values.values())


class Run:
    """A run of a delivery, as a program on Spark would drive it."""

    def __init__(self, shop: Shop, delivery_id: int, answer: dict[str, Any]) -> None:
        self.shop = shop
        self.id = delivery_id
        self.attempt: int = answer["attempt"]
        self.instances: dict[str, int] = answer["instances"]
        self.batch: int = answer["batch_instance_id"]

    def plan(self, stage: int) -> dict[str, dict[str, Any]]:
        """Return the entities of the plan by name, in its order."""
        return {e["entity"]: e for e in self.shop.plan(self.id, stage)["entities"]}

    def measure(
        self,
        stage: int,
        /,
        violations: dict[str, Any] | None = None,
        only: str | None = None,
        **measures: dict[str, Any],
    ) -> None:
        """Register the counts of all entities: none violates anything but those given."""
        for name, entity in self.plan(stage).items():
            if only not in (None, name):
                continue
            found = {}
            for constraint in entity["constraints"]:
                code = constraint["constraint"]
                if constraint["type"] != "deletes":
                    count = (violations or {}).get(code, 0)
                    found[code] = count if isinstance(count, dict) else {"rows": count}
            counts: dict[str, Any] = {"violations": found}
            if entity["load"]:
                counts |= {"rows_delivered": 10, "rows_skipped": 0}
                if stage == 2:
                    counts |= {"rows_implicit_deletes": 0, "rows_in_scope": 10}
            self.shop.call(
                "register_violations",
                delivery_id=self.id,
                attempt=self.attempt,
                stage=stage,
                entity_code=name,
                measures=counts | measures.get(name, {}),
            )

    def verdict(self, stage: int) -> dict[str, Any]:
        return self.shop.call(
            "stage_verdict", delivery_id=self.id, attempt=self.attempt, stage=stage
        )

    def validate(self, **measures: Any) -> dict[str, Any]:
        """Pass both stages; return the verdict."""
        self.measure(1, **measures)
        assert self.verdict(1)["verdict"] is None
        self.measure(2, **measures)
        return self.verdict(2)

    def write(self, entity: str, *rows: tuple[Any, ...]) -> None:
        """Write rows of the delta: the indicator, then the attributes."""
        for indicator, *values in rows:
            marks = ", ".join(["%s"] * (3 + len(values)))
            self.shop.conn.execute(
                f"INSERT INTO {self.shop.delta(entity)} VALUES ({marks})".encode(),
                (self.id, indicator, self.instances[entity], *values),
            )

    def apply(self, **arguments: Any) -> dict[str, Any]:
        return self.shop.call("apply_delta", delivery_id=self.id, attempt=self.attempt, **arguments)


class Shop(Flow):
    """Calls of omd_delivery over one connection; the agreement is a."""

    interface = "shop"

    def call(self, routine: str, /, **arguments: Any) -> dict[str, Any]:
        name = routine if "." in routine else f"omd_delivery.{routine}"
        given = {
            k: Jsonb(v) if isinstance(v, list) and k != "allow_deletes" else v
            for k, v in arguments.items()
        }
        return super().call(name, **given)

    def deploy(self, model: dict[str, Any] = SHOP, /, **agreement: Any) -> None:
        """Deploy the model and register the agreement a."""
        self.interface = model["interface"]
        self.call("deploy_model", model=model)
        self.call("register_tenant", tenant_code="t")
        self.agree("a", **agreement)

    def agree(self, code: str = "a", /, **arguments: Any) -> None:
        given = {"tenant_code": "t", "interface_code": self.interface, **arguments}
        self.call("register_agreement", agreement_code=code, **given)

    def create(self, at: Any = None, /, code: str = "a", **arguments: Any) -> int:
        """Create a delivery on this day of 2020."""
        if isinstance(at, int):
            at = f"2020-01-{at:02} 00:00:00+00"
        answer = self.call(
            "create_delivery", agreement_code=code, snapshot_datetime=at, **arguments
        )
        assert answer["delivery_status"] == "RECEIVED"
        return int(answer["delivery_id"])

    def load(self, at: Any = None, /, **arguments: Any) -> int:
        delivery_id = self.create(at, **arguments)
        self.call("report_loaded", delivery_id=delivery_id)
        return delivery_id

    def ask(self, delivery_id: int, /, **arguments: Any) -> dict[str, Any]:
        return self.call("begin_delivery", delivery_id=delivery_id, **arguments)

    def begin(self, delivery_id: int, /, **arguments: Any) -> Run:
        answer = self.ask(delivery_id, **arguments)
        assert answer["outcome"] == "RUN", answer
        return Run(self, delivery_id, answer)

    def run(self, at: Any = None, /, **arguments: Any) -> Run:
        return self.begin(self.load(at, **arguments))

    def accept(
        self, at: Any = None, /, rows: dict[str, Any] | None = None, **arguments: Any
    ) -> tuple[Run, dict[str, Any]]:
        """Deliver this delta as far as the queue."""
        given = {"entities": dict.fromkeys(rows or {}, "DELTA") or None, **arguments}
        run = self.run(at, **given)
        run.validate()
        for entity, delta in (rows or {}).items():
            run.write(entity, *delta)
        return run, run.apply(written={e: len(d) for e, d in (rows or {}).items()})

    def persist(self, queue_id: int) -> None:
        self.one("SELECT omd_delivery.start_queue_item(%s, 0)", queue_id)
        self.one("SELECT omd_delivery.finish_queue_item(%s)", queue_id)

    def plan(self, delivery_id: int, stage: int) -> dict[str, Any]:
        return dict(self.one("SELECT omd_delivery.validation_plan(%s, %s)", delivery_id, stage))

    def receipt(self, delivery_id: int) -> dict[str, Any]:
        return dict(self.one("SELECT omd_delivery.delivery_receipt(%s)", delivery_id))

    def delivery(self, delivery_id: int) -> dict[str, Any]:
        (row,) = self.rows(
            "SELECT * FROM omd_delivery.delivery WHERE delivery_id = %s", delivery_id
        )
        return row

    def status(self, delivery_id: int) -> str:
        return str(self.delivery(delivery_id)["delivery_status"])

    def lvl(self, entity: str) -> str:
        return f"lvl_{self.interface}.{entity}"

    def delta(self, entity: str) -> str:
        return f"wrk_{self.interface}.delta_{entity}"

    def current(self, entity: str) -> list[tuple[Any, ...]]:
        """Return the attributes of current rows, by key."""
        rows = self.rows(
            f"SELECT * FROM {self.lvl(entity)}"
            f" WHERE acm_end_dt = '{OPEN}' AND acm_record_ind <> 'R' ORDER BY 1, 2"
        )
        return [tuple(v for k, v in r.items() if not k.startswith("acm_")) for r in rows]

    def events(self, delivery_id: int) -> list[tuple[str, str]]:
        return [
            (r["event"], r["to_status"])
            for r in self.rows(
                "SELECT event, to_status FROM omd_delivery.delivery_event"
                " WHERE delivery_id = %s ORDER BY delivery_event_id",
                delivery_id,
            )
        ]

    def instances(self, run: Run) -> set[tuple[str, str | None]]:
        """Return status and reason of the instances of a run, the Batch Instance too."""
        return {
            (r["execution_status_code"], r["reason_code"])
            for r in self.rows(
                "SELECT execution_status_code, reason_code FROM omd.module_instance"
                " WHERE module_instance_id = ANY(%s)"
                " UNION ALL SELECT execution_status_code, reason_code FROM omd.batch_instance"
                " WHERE batch_instance_id = %s",
                list(run.instances.values()),
                run.batch,
            )
        }
