"""Random deliveries on Spark against `delivery_oracle`, which is plain Python."""

from __future__ import annotations

import copy
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from spark.delivery_oracle import Delivered, Entity, Judge, Outcome, Sent
from spark.desk import Desk
from support.lots import seeds

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.spark

FINE = {"name": "fine", "type": "value", "attribute": "ok", "check": "ok = 1"}
BUSY = """SELECT o.nbr FROM orders AS o JOIN lines AS l ON l.order_nbr = o.nbr
    GROUP BY o.nbr HAVING sum(l.qty) > 12"""
WORLD: dict[str, Any] = {
    "interface": "world",
    "entities": [
        {
            "name": "org",
            "key": ["code"],
            "attributes": [{"name": "code", "type": "text"}, {"name": "ok", "type": "integer"}],
            "constraints": [FINE],
        },
        {
            "name": "part",
            "key": ["nbr"],
            "attributes": [
                {"name": "nbr", "type": "integer"},
                {"name": "label", "type": "text(10)"},
                {"name": "ok", "type": "integer"},
            ],
            "alternate_keys": [{"name": "by_label", "attributes": ["label"]}],
            "constraints": [FINE],
        },
        {
            "name": "orders",
            "key": ["nbr"],
            "attributes": [
                {"name": "nbr", "type": "bigint"},
                {"name": "org", "type": "text"},
                {"name": "ref", "type": "numeric(5,1)"},
                {"name": "ok", "type": "integer"},
            ],
            "alternate_keys": [{"name": "by_ref", "attributes": ["ref"]}],
            "relationships": [
                {"name": "of_org", "parent": "org", "columns": ["org"], "context_filter": True}
            ],
            "constraints": [FINE, {"name": "busy", "type": "set", "query": BUSY}],
        },
        {
            "name": "lines",
            "key": ["order_nbr", "line"],
            "attributes": [
                {"name": "order_nbr", "type": "integer"},
                {"name": "line", "type": "integer"},
                {"name": "part", "type": "integer"},
                {"name": "qty", "type": "integer"},
                {"name": "ok", "type": "integer"},
            ],
            "relationships": [
                {
                    "name": "of_order",
                    "parent": "orders",
                    "columns": ["order_nbr"],
                    "child_required": True,
                },
                {"name": "of_part", "parent": "part", "columns": ["part"]},
            ],
            "constraints": [FINE],
        },
    ],
}
# What hangs on an order is in the context by it too.
LINED = copy.deepcopy(WORLD)
LINED["entities"][3]["relationships"][0]["context_filter"] = True
ACTIONS = {
    "org.fine": ["SKIP ROW"],
    "part.fine": ["SKIP ROW"],
    "orders.fine": ["SKIP ROW"],
    "lines.fine": ["SKIP ROW"],
    "org.primary_key": ["SKIP ROW"],
    "part.primary_key": ["SKIP ROW"],
    "orders.primary_key": ["SKIP ROW"],
    "lines.primary_key": ["SKIP ROW"],
    "org.context": ["SKIP ROW", "NO ACTION"],
    "part.context": ["SKIP ROW", "NO ACTION"],
    "orders.context": ["SKIP ROW", "NO ACTION"],
    "lines.context": ["SKIP ROW", "NO ACTION"],
    "part.by_label": ["SKIP ROW", "EMPTY COLUMN"],
    "orders.by_ref": ["SKIP ROW", "EMPTY COLUMN"],
    "orders.of_org": ["SKIP ROW", "EMPTY COLUMN", "NO ACTION"],
    "orders.lines.of_order": ["SKIP ROW", "NO ACTION"],
    "orders.busy": ["SKIP ROW", "NO ACTION"],
    "lines.of_order": ["SKIP ROW", "NO ACTION"],
    "lines.of_part": ["SKIP ROW", "EMPTY COLUMN", "NO ACTION"],
}
KEY_DATATYPES = ("org.code", "part.nbr", "orders.nbr", "lines.order_nbr")


def busy(state: dict[str, list[dict[str, Any]]]) -> set[tuple[Any, ...]]:
    there = {row["nbr"] for row in state["orders"]}
    total: Counter[int] = Counter()
    for row in state["lines"]:
        total[row["order_nbr"]] += row["qty"] or 0
    return {(nbr,) for nbr, qty in total.items() if qty > 12 and nbr in there}


def model() -> dict[str, Entity]:
    return {
        "org": Entity(["code"], ["code", "ok"]),
        "part": Entity(["nbr"], ["nbr", "label", "ok"], unique={"by_label": ["label"]}),
        "orders": Entity(
            ["nbr"],
            ["nbr", "org", "ref", "ok"],
            parents={"of_org": ("org", ["org"], True)},
            children=[("lines", "of_order")],
            unique={"by_ref": ["ref"]},
            rules={"busy": busy},
        ),
        "lines": Entity(
            ["order_nbr", "line"],
            ["order_nbr", "line", "part", "qty", "ok"],
            parents={
                "of_order": ("orders", ["order_nbr"], True),
                "of_part": ("part", ["part"], False),
            },
        ),
    }


ORGS = [f"o{i}" for i in range(8)]


def random_row(rng: random.Random, name: str, ok: float) -> dict[str, Any]:
    fine = 1 if rng.random() < ok else 0
    if name == "org":
        return {"code": rng.choice(ORGS), "ok": fine}
    if name == "part":
        label = rng.choice([None, *(f"l{i}" for i in range(60))])
        return {"nbr": rng.randrange(25), "label": label, "ok": fine}
    if name == "orders":
        ref = rng.choice([None, *(f"{i}.5" for i in range(150))])
        return {"nbr": rng.randrange(90), "org": rng.choice([None, *ORGS]), "ref": ref, "ok": fine}
    return {
        "order_nbr": rng.randrange(90),
        "line": rng.randrange(3),
        "part": rng.choice([None, *range(25)]),
        "qty": rng.randrange(7),
        "ok": fine,
    }


SIZES = {"org": 7, "part": 22, "orders": 80, "lines": 150}


def random_rows(
    rng: random.Random, name: str, entity: Entity, share: float, current: dict[Any, Any]
) -> list[Delivered]:
    """Return rows: some as they are, some changed, some new, a few keys twice."""
    rows: dict[Any, dict[str, Any]] = {}
    for row in current.values():
        if rng.random() < share * 0.8:
            rows[entity.key_of(row)] = dict(row)
    for _ in range(int(SIZES[name] * share * 0.6)):
        row = random_row(rng, name, 0.93)
        rows[entity.key_of(row)] = row
    found = [Delivered(row) for row in rows.values()]
    twice = rng.sample(found, k=min(len(found), 2) if rng.random() < 0.4 else 0)
    for delivered in twice:
        for _ in range(rng.choice([1, 1, 2])):
            other = delivered.row if rng.random() < 0.3 else random_row(rng, name, 1)
            keyed = {attribute: delivered.row[attribute] for attribute in entity.key}
            found.append(Delivered({**other, **keyed, "ok": 1}))
    for delivered in found:
        delivered.is_skipped = delivered.row["ok"] == 0
    return found


@pytest.mark.random
@pytest.mark.parametrize("seed", seeds(1))
def test_random_deliveries_end_as_plain_python_says(
    desk: Desk, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of the deliveries is worked on in one task, the other as if it had very many rows."""
    rng = random.Random(seed)
    entities = model()
    lifted = dict.fromkeys([*ACTIONS, *(f"{c}.datatype" for c in KEY_DATATYPES)], "none")
    settings = {code: {"threshold": "none"} for code in lifted}
    settings |= {f"{name}.deletes": {"threshold": "none"} for name in entities}
    desk.deploy(WORLD, settings=settings)
    current: dict[str, dict[Any, Any]] = {name: {} for name in entities}
    for day in range(1, 3):
        with monkeypatch.context() as patch:
            if day % 2 != seed % 2:
                patch.setattr("omd.spark.delivery.scale._MOST_BYTES", -1)
                patch.setattr("omd.spark.delivery.scale._MOST_ROWS", -1)
            one_delivery(desk, rng, entities, current, settings, day)


def one_delivery(
    desk: Desk,
    rng: random.Random,
    entities: dict[str, Entity],
    current: dict[str, dict[Any, Any]],
    settings: dict[str, Any],
    day: int,
) -> None:
    actions = {code: rng.choice(choices) for code, choices in ACTIONS.items()}
    desk.agree(settings={c: {**s, **_action(actions, c)} for c, s in settings.items()})
    names = [n for n in entities if day == 1 or rng.random() < 0.75] or ["orders"]
    sent: dict[str, Sent] = {}
    named: dict[str, list[dict[str, Any]]] = {}
    if day > 1 and rng.random() < 0.4:
        if rng.random() < 0.5:
            named["org"] = [{"code": code} for code in rng.sample(ORGS, 3)]
        else:
            named["orders"] = [{"nbr": nbr} for nbr in rng.sample(range(90), 40)]
    loads: dict[str, Any] = {}
    frames = {}
    for name in names:
        entity = entities[name]
        load = "FULL" if day == 1 or rng.random() < 0.5 else "DELTA"
        # So few rows are looked up, not joined with all current ones.
        is_small = rng.random() < 0.3
        share = 1.0 if day == 1 else 0.02 if is_small else rng.uniform(0.2, 1)
        rows = random_rows(rng, name, entity, share, current[name])
        told: dict[str, Any] = {"load": load}
        context = None
        if load == "FULL" and any(f for _, _, f in entity.parents.values()):
            context = rng.choice([None, None, "ALL", "ROWS"])
            is_active = any(f and (p in names or p in named) for p, _, f in entity.parents.values())
            if context is None and not is_active and name not in named:
                context = rng.choice(["ALL", "ROWS"])
            if context is not None:
                told["context"] = context
        loads[name] = told
        if load == "DELTA":
            for delivered in rows:
                if rng.random() < 0.2:
                    delivered.is_delete = True
                    delivered.is_skipped = False
        unreadable = rng.choice([0, 0, 2]) if name in ("part", "orders") else 0
        sent[name] = Sent(load, rows, unreadable, context)
        frames[name] = desk.texts(
            entity.attributes,
            [(*(d.row[a] for a in entity.attributes), "D" if d.is_delete else "") for d in rows]
            + [("x", *([None] * (len(entity.attributes) - 2)), 1, "")] * unreadable,
        )
    include_existing = rng.random() < 0.7
    about = (day, loads, named, include_existing, actions)
    outcome = compared(desk, entities, current, sent, named, about, frames, loads, include_existing)
    for name, delta in outcome.delta.items():
        for key, (operation, row) in delta.items():
            if operation == "R":
                del current[name][key]
            else:
                current[name][key] = row


def compared(
    desk: Desk,
    entities: dict[str, Entity],
    current: dict[str, dict[Any, Any]],
    sent: dict[str, Sent],
    named: dict[str, list[dict[str, Any]]],
    about: tuple[Any, ...],
    frames: dict[str, Any],
    loads: dict[str, Any],
    include_existing: bool,
) -> Outcome:
    """Deliver, and compare with what plain Python says."""
    day, actions = about[0], about[-1]
    judge = Judge(entities, current, sent, actions, named, include_existing)
    outcome = judge.judge()
    receipt = desk.deliver(
        day,
        entities=frames,
        loads=loads,
        context=named or None,
        include_existing=include_existing,
    )
    assert receipt.facts["delivery_status"] == "ACCEPTED", receipt
    delivery_id = receipt.facts["delivery_id"]
    for said in receipt.facts["document"]["entities"]:
        name = said["entity"]
        for constraint in said["constraints"]:
            code = constraint["constraint"]
            if constraint["stage"] == 2 and constraint["type"] != "deletes":
                assert (code, constraint["existing"]) == (code, outcome.existing[code]), about
                rows = constraint["violations"] - constraint["existing"]
                assert (code, rows) == (code, outcome.counts[code]), about
        if name in sent:
            assert said["findings"] == outcome.findings[name], (name, about)
            assert (name, said["rows_skipped"]) == (name, outcome.skipped[name]), about
    for name, delta in outcome.delta.items():
        assert desk.written(name, delivery_id, entities[name]) == delta, (name, about)
    measured = desk.measured(delivery_id)
    for name in sent:
        if sent[name].load == "FULL":
            assert measured[name] == (outcome.scope[name], outcome.deletes[name]), (name, about)
    return outcome


@pytest.mark.random
@pytest.mark.parametrize("load", ["FULL", "DELTA"])
@pytest.mark.parametrize("seed", seeds(1))
def test_a_key_lies_in_the_context_when_one_of_its_rows_does(
    desk: Desk, seed: int, load: str
) -> None:
    """Rows with one key are skipped; what hangs on the key is deleted if one of them is inside."""
    rng = random.Random(seed)
    entities = model()
    settings = {f"{name}.deletes": {"threshold": "none"} for name in entities}
    settings |= {code: {"threshold": "none"} for code in ACTIONS}
    desk.deploy(LINED, settings=settings)
    actions = {code: choices[0] for code, choices in ACTIONS.items()}
    actions |= {"lines.of_order": "NO ACTION", "orders.lines.of_order": "NO ACTION"}
    desk.agree(settings={c: {**s, **_action(actions, c)} for c, s in settings.items()})
    entities["lines"].parents["of_order"] = ("orders", ["order_nbr"], True)
    current: dict[str, dict[Any, Any]] = {name: {} for name in entities}
    for name, rows in (
        ("org", [{"code": code, "ok": 1} for code in ORGS]),
        ("lines", [
            {"order_nbr": n, "line": i, "part": None, "qty": 1, "ok": 1}
            for n in range(60) for i in range(2)
        ]),
    ):  # fmt: skip
        desk.put(name, *rows)
        current[name] = {entities[name].key_of(row): row for row in rows}
    orders = [
        Delivered(
            {"nbr": n, "org": rng.choice(ORGS), "ref": None, "ok": 1},
            is_delete=load == "DELTA" and rng.random() < 0.2,
        )
        for n in range(50)
        for _ in range(rng.choice([1, 2, 2, 3]))
    ]
    sent = {"orders": Sent(load, orders), "lines": Sent("FULL", [])}
    named = {"org": [{"code": code} for code in rng.sample(ORGS, 3)]}
    loads = {name: {"load": one.load} for name, one in sent.items()}
    frames = {
        name: desk.texts(
            entities[name].attributes,
            [
                (*(d.row[a] for a in entities[name].attributes), "D" if d.is_delete else "")
                for d in one.rows
            ],
        )
        for name, one in sent.items()
    }
    about = (1, loads, named, True, actions)
    outcome = compared(desk, entities, current, sent, named, about, frames, loads, True)
    assert outcome.deletes["lines"] > 0


def _action(actions: dict[str, str], code: str) -> dict[str, str]:
    return {"action": actions[code]} if code in actions else {}
