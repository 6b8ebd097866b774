"""Recall and forward flow give the world in which what was recalled never was.

Deliveries, loads, topics of each method, stages and SQL Modules run in one session, in an order
drawn by lot. Then a run or a delivery is recalled, sometimes to be corrected. A person delivers
again what must come by hand, and whatever is ready runs until nothing is. What is there must be
what a fold over the contents of the deliveries gives, that of the recalled one left out or
corrected.

The test notes for itself what each run could read, from windows and stamps right after the run.
After each recall no run that stands may have read one that does not.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from provenance.middle import Middle
from provenance.recalls import Recalls
from support.flow import Flow
from support.lots import seeds

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]
    Content = dict[str, dict[tuple[int, ...], tuple[Any, ...] | None]]

STAMPS = "omd_insert_module_instance_id bigint"
WRITTEN = (
    f"row_id bigint GENERATED ALWAYS AS IDENTITY, {STAMPS},"
    " omd_insert_datetime timestamptz NOT NULL DEFAULT clock_timestamp()"
)
ORDER = "nbr integer, customer integer, amount text"
SCENE = f"""
    CREATE SCHEMA app;
    CREATE TABLE app.made (v bigint, {WRITTEN});
    CREATE TABLE app.copied (v bigint, {STAMPS});
    CREATE TABLE app.judged (v bigint, {STAMPS});
    CREATE TABLE app.report ({ORDER}, {STAMPS});
    CREATE TABLE app.order_now ({ORDER}, acm_record_ind text, {STAMPS});
    CREATE UNIQUE INDEX ON app.order_now (nbr);
    CREATE TABLE app.customer_now (nbr integer, email text, acm_record_ind text, {STAMPS});
    CREATE TABLE app.order_log ({ORDER}, acm_record_ind text, change_id bigint, {WRITTEN});
    CREATE TABLE app.order_last ({ORDER}, acm_record_ind text, {STAMPS});
    CREATE UNIQUE INDEX ON app.order_last (nbr);
    CREATE TABLE app.bill (nbr integer, email text, n integer, {STAMPS});
    CREATE TABLE app.verdict ({ORDER}, mark text, change_id bigint, {WRITTEN});
    CREATE TABLE app.verdict_last ({ORDER}, mark text, {STAMPS});
    CREATE TABLE app.total (customer integer, n integer, {STAMPS});
    CREATE FUNCTION app.judge(p jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('verdict', jsonb_build_object(
        'nbr', p #> '{{o,0,nbr}}', 'customer', p #> '{{o,0,customer}}',
        'amount', p #> '{{o,0,amount}}', 'mark', p #> '{{o,0,acm_record_ind}}',
        'change_id', p #> '{{o,0,acm_change_id}}'
    )) $$;
    CREATE FUNCTION app.look(p jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('judged', jsonb_build_object('v', p #> '{{m,0,v}}')) $$;
    CREATE VIEW app.v_order_now AS
    SELECT o.nbr, o.customer, o.amount, o.acm_record_ind FROM changes_shop.orders AS o;
    CREATE VIEW app.v_customer_now AS
    SELECT c.nbr, c.email, c.acm_record_ind FROM changes_shop.customer AS c;
    CREATE VIEW app.v_order_log AS
    SELECT o.nbr, o.customer, o.amount, o.acm_record_ind, o.acm_change_id AS change_id
    FROM changes_shop.orders AS o;
    CREATE VIEW app.v_order_last AS
    SELECT DISTINCT ON (l.nbr) l.nbr, l.customer, l.amount, l.acm_record_ind
    FROM app.order_log AS l
    WHERE omd_lineage.in_block(l.omd_insert_datetime, l.row_id)
    ORDER BY l.nbr, l.change_id DESC;
    CREATE VIEW app.v_verdict_last AS
    SELECT DISTINCT ON (l.nbr) l.nbr, l.customer, l.amount, l.mark
    FROM app.verdict AS l
    WHERE omd_lineage.in_block(l.omd_insert_datetime, l.row_id)
    ORDER BY l.nbr, l.change_id DESC;
    CREATE VIEW app.v_bill AS
    SELECT c.nbr, c.email, count(o.nbr)::integer AS n
    FROM asof_shop.customer AS c LEFT JOIN asof_shop.orders AS o ON c.nbr = o.customer
    GROUP BY 1, 2;
    CREATE VIEW app.v_copied AS
    SELECT m.v FROM app.made AS m WHERE omd_lineage.in_block(m.omd_insert_datetime, m.row_id);
"""
BY_STAMP = {"pos_column": "omd_insert_datetime", "id_column": "row_id"}
TOPICS: dict[str, dict[str, Any]] = {
    "app.order_now": {"depends_on": ["gdal_shop.orders"], "merge_key": ["nbr"], "maxstep": 4},
    "app.customer_now": {"depends_on": ["gdal_shop.customer"], "merge_key": ["nbr"]},
    "app.order_log": {"depends_on": ["gdal_shop.orders"], "maxstep": 3},
    "app.order_last": {
        "depends_on": ["app.order_log"],
        "merge_key": ["nbr"],
        "maxstep": 4,
        **BY_STAMP,
    },
    "app.verdict_last": {"depends_on": ["app.verdict"], "merge_key": ["nbr"], **BY_STAMP},
    "app.bill": {
        "depends_on": ["gdal_shop.orders", "gdal_shop.customer"],
        "processor": "RELOAD",
    },
    "app.copied": {"depends_on": ["app.made"], "maxstep": 7, **BY_STAMP},
}
STAGES: list[dict[str, Any]] = [
    {
        "stage": "judge",
        "mode": "KEY",
        "keys": [{"column": "nbr"}],
        "ruleset": "judge",
        "links": [{"name": "o", "source": "changes_shop.orders", "arrival": "acm_id"}],
        "outputs": [{"name": "verdict", "table": "app.verdict"}],
        "window": {"by": "CHANGES"},
        "start": {"when": "NEWS"},
    },
    {
        "stage": "look",
        "mode": "KEY",
        "keys": [{"column": "v"}],
        "ruleset": "look",
        "links": [{"name": "m", "source": "app.made", "arrival": "row_id"}],
        "outputs": [{"name": "judged", "table": "app.judged"}],
        "window": {"column": "omd_insert_datetime"},
        "start": {"when": "NEWS"},
    },
]
STAMP = "current_setting('omd.module_instance_id')::bigint"
MODULES = {
    "make": (
        "app.made",
        [],
        (
            "INSERT INTO app.made (v, omd_insert_module_instance_id)"
            f" SELECT {STAMP} * 10 + n, {STAMP} FROM generate_series(0, 4) AS n"
        ),
    ),
    "report": (
        "app.report",
        ["gdal_shop.orders"],
        f"INSERT INTO app.report SELECT nbr, customer, amount, {STAMP} FROM gdal_shop.orders",
    ),
    "total": (
        "app.total",
        ["app.order_last"],
        (
            f"INSERT INTO app.total SELECT customer, count(*), {STAMP} FROM app.order_last"
            " WHERE acm_record_ind <> 'R' GROUP BY 1"
        ),
    ),
}
# Whose rows a window over a table with stamps shows.
STAMPED = {
    "app.order_last": "app.order_log",
    "app.verdict_last": "app.verdict",
    "app.copied": "app.made",
    "look": "app.made",
}
# Of which entities the others read changes; by default of orders.
ENTITIES = {"app.customer_now": ["customer"], "app.bill": ["customer", "orders"]}
ALL = ["BY_HAND", "WITHDRAW", "PENDING", "GIVE_UP", "UNKNOWN"]
STANDS = (
    "execution_status_code = 'S' AND rolled_back_by_module_instance_id IS NULL"
    " AND next_run_indicator <> 'R'"
)


class World:
    """The acts, what was delivered, and what each run could read."""

    def __init__(self, conn: Connection, chance: random.Random) -> None:
        self.chance = chance
        self.middle, self.recalls, self.flow = Middle(conn), Recalls(conn), Flow(conn)
        self.minute = 0
        self.given: dict[int, tuple[Any, Content]] = {}  # T and content by delivery
        self.reads: dict[int, set[int]] = {}
        self.bill = 0
        self.log: list[Any] = []

    def scene(self) -> None:
        self.middle.world()
        self.middle.conn.execute(SCENE.encode())
        for code, (table, inputs, executable) in MODULES.items():
            self.flow.call(
                "register_module",
                module_code=code,
                area_code="HSTG",
                table_code=table,
                executable=executable,
            )
            self.flow.call("declare_inputs", module_code=code, tables=inputs)
        for stage in STAGES:
            name = stage["ruleset"]
            ruleset = {"ruleset": name, "kind": "FUNCTION", "content": f"app.{name}"}
            self.flow.call("omd_decision.define_ruleset", ruleset=ruleset, activate=True)
            self.flow.call("omd_decision.define_stage", stage=stage)
        for topic, attributes in TOPICS.items():
            self.flow.call(
                "omd_lineage.register_topic",
                topic=topic,
                transforms=[topic.replace(".", ".v_")],
                start_pos="-infinity",
                **attributes,
            )

    # Acts

    def moment(self) -> str:
        self.minute += 1
        return f"2020-01-01 {self.minute // 60:02}:{self.minute % 60:02}:00+00"

    def content(self) -> Content:
        found: Content = {}
        size = self.chance.choice([1, 1, 2])
        for name in self.chance.sample(["customer", "orders", "stock"], size):
            rows: dict[tuple[int, ...], tuple[Any, ...] | None] = {}
            for key in self.chance.sample(range(1, 6), self.chance.randint(1, 3)):
                values: tuple[Any, ...] | None = (self.chance.choice("abc"),)
                if name == "orders":
                    values = (self.chance.randint(1, 5), self.chance.choice("xyz"))
                rows[key,] = None if self.chance.random() < 0.2 else values
            found[name] = rows
        return found

    def deliver(self, at: Any, content: Content) -> None:
        before = {d for d in self.given if self.stands(d)}
        delivery = self.middle.deliver(at, content)
        self.given[delivery] = (at, content)
        self.log.append(("deliver", delivery, at, content))
        read = {*content, *({"customer"} if "orders" in content else ())}
        wrote = {
            run for other in before for run in self.middle.runs(other) if self.touched(other) & read
        }
        for run in self.middle.runs(delivery):
            self.reads[run] = set(wrote)

    def touched(self, delivery: int) -> set[str]:
        """Return the entities of which a delivery has changed rows."""
        return {
            name
            for name in self.given[delivery][1]
            if self.middle.one(
                f"SELECT count(*) FROM {self.middle.delta(name)} WHERE delivery_id = %s", delivery
            )
        }

    def stands(self, delivery: int) -> bool:
        return bool(
            self.middle.one(
                "SELECT delivery_status LIKE ANY('{ACCEPTED,PERSISTED%%}')"
                " FROM omd_report.delivery_log WHERE delivery_id = %s",
                delivery,
            )
        )

    def go(self, code: str) -> str:
        ran = self.flow.call("run_module", module_code=code)
        self.log.append((code, ran["module_instance_id"], ran["execution_status_code"]))
        assert ran["execution_status_code"] in "SC", (ran, self.log)
        if ran["execution_status_code"] == "S":
            self.note(code, ran["module_instance_id"])
        return str(ran["execution_status_code"])

    def note(self, code: str, run: int) -> None:
        """Note what a run that has just ended could read."""
        rows = self.middle.rows
        entities = "', '".join(ENTITIES.get(code, ["orders"]))
        loads = (
            "SELECT c.module_instance_id AS id FROM omd_facts.change AS c"
            " WHERE c.undone_by_change_id IS NULL AND c.change_kind = 'LOAD'"
            " AND EXISTS (SELECT FROM omd_facts.change_key AS k INNER JOIN omd_facts.entity AS e"
            f" USING (entity_id) WHERE k.change_id = c.change_id AND entity_code IN ('{entities}'))"
        )
        windows = rows(
            "SELECT start_id, end_id FROM omd.source_control WHERE module_instance_id = %s",
            run,
        )
        found: list[dict[str, Any]] = []
        if code == "facts.shop":
            found = rows(
                "SELECT unnest(omd_delivery.runs_of_delivery(delivery_id)) AS id"
                " FROM omd_facts.load_log WHERE module_instance_id = %s",
                run,
            )
        elif code in STAMPED:
            found = rows(
                "SELECT DISTINCT t.omd_insert_module_instance_id AS id"
                f" FROM {STAMPED[code]} AS t CROSS JOIN omd.source_control AS w"
                " WHERE w.module_instance_id = %s"
                " AND (w.start_value IS NULL OR (t.omd_insert_datetime, t.row_id)"
                " > (w.start_value, coalesce(w.start_id, 9223372036854775807)))"
                " AND (t.omd_insert_datetime, t.row_id)"
                " <= (w.end_value, coalesce(w.end_id, 9223372036854775807))",
                run,
            )
        elif windows:
            found = [
                row
                for w in windows
                for row in rows(
                    f"{loads} AND c.change_id > %s AND c.change_id <= %s",
                    w["start_id"] or 0,
                    w["end_id"],
                )
            ]
        elif code in ("report", "app.bill"):
            found = rows(loads)
        elif code == "total":
            found = rows(
                f"SELECT module_instance_id AS id FROM omd.module_instance AS i"
                f" INNER JOIN omd.module AS m USING (module_id)"
                f" WHERE module_code = 'app.order_last' AND {STANDS}"
            )
        self.reads[run] = {row["id"] for row in found if row["id"]}
        if code == "app.bill":
            # A reload replaces the one before.
            self.reads.pop(self.bill, None)
            self.bill = run

    def drain(self) -> None:
        """Run what is ready until nothing is; what only a worker process could run stays."""
        for _ in range(200):
            ready = self.middle.rows(
                "SELECT code FROM omd_report.ready_work WHERE engine_code = 'POSTGRES'"
                " ORDER BY code"
            )
            if not ready:
                return
            self.go(self.chance.choice(ready)["code"])
        pytest.fail(f"it does not come to an end: {self.log[-30:]}")

    # The recall

    def standing(self) -> list[int]:
        return [
            row["id"]
            for row in self.middle.rows(
                f"SELECT module_instance_id AS id FROM omd.module_instance WHERE {STANDS}"
            )
        ]

    def recall(self, *, awaits: bool = False, **target: int) -> int:
        recall = self.recalls.plan(awaits_correction=awaits, **target)
        self.log.append(
            (
                "recall",
                target,
                awaits,
                self.recalls.items(
                    recall,
                    "position",
                    "action",
                    "module_instance_id",
                    "delivery_id",
                    "module_code",
                    "table_code",
                    "relation",
                    "because_of",
                    "rows_go",
                    "rows_back",
                    "problem",
                ),
            )
        )
        self.recalls.recall(recall, *ALL)
        wrong = self.middle.rows(
            "SELECT * FROM omd_report.recall_items WHERE recall_id = %s AND"
            " (rows_go <> coalesce(rows_gone, -1) OR rows_back <> coalesce(rows_returned, -1))",
            recall,
        )
        assert wrong == []
        self.check_reads()
        return recall

    def check_reads(self) -> None:
        stands = set(self.standing())
        read = {run: self.reads[run] - stands for run in stands & self.reads.keys()}
        bad = {run: gone for run, gone in read.items() if gone}
        assert bad == {}

    def come_again(self, recall: int, corrected: Content | None) -> None:
        """Deliver what must come by hand, in the order of the entries."""
        for _ in range(100):
            self.drain()
            open_ = self.middle.rows(
                "SELECT position, former_delivery_id AS former, return_status AS status"
                " FROM omd_report.recall_returns WHERE recall_id = %s AND return_status"
                " NOT IN ('DONE', 'DROPPED') ORDER BY position",
                recall,
            )
            if not open_:
                return
            entry = open_[0]
            assert (entry["former"], entry["status"]) != (None, "WAITING"), (open_, self.log)
            if entry["former"] is None:
                # By hand: the target itself.
                code = self.middle.one(
                    "SELECT code FROM omd_report.recall_returns"
                    " WHERE recall_id = %s AND position = %s",
                    recall,
                    entry["position"],
                )
                self.go(code)
                continue
            at, content = self.given.pop(entry["former"])
            self.deliver(at, corrected if corrected is not None and entry == open_[0] else content)
            corrected = None
        pytest.fail(f"it does not come to an end: {self.log[-30:]}")

    # What must be there

    def fold(self) -> dict[str, dict[tuple[int, ...], tuple[Any, ...]]]:
        now: dict[str, dict[tuple[int, ...], tuple[Any, ...]]] = {
            "customer": {},
            "orders": {},
            "stock": {},
        }
        for _, content in sorted(self.given.values(), key=lambda g: str(g[0])):
            known = {k[0] for k in now["customer"]}
            for key, values in content.get("customer", {}).items():
                (known.discard if values is None else known.add)(key[0])
            for name, rows in content.items():
                for key, values in rows.items():
                    if values is None:
                        now[name].pop(key, None)
                    elif name != "orders" or values[0] in known:
                        now[name][key] = values
        return now

    def table(self, name: str, columns: str, where: str = "TRUE") -> list[tuple[Any, ...]]:
        rows = self.middle.rows(f"SELECT {columns} FROM {name} WHERE {where} ORDER BY 1, 2")
        return [tuple(row.values()) for row in rows]

    def check(self) -> None:
        now = {
            name: sorted((*k, *v) for k, v in rows.items()) for name, rows in self.fold().items()
        }
        order = "nbr, customer, amount"
        table = self.table
        assert table("gdal_shop.customer", "nbr, email") == now["customer"]
        assert table("gdal_shop.orders", order) == now["orders"]
        assert table("gdal_shop.stock", "nbr, amount") == now["stock"]
        assert self.middle.sound()
        there = "acm_record_ind <> 'R'"
        assert table("app.order_now", order, there) == now["orders"]
        assert table("app.customer_now", "nbr, email", there) == now["customer"]
        assert table("app.order_last", order, there) == now["orders"]
        assert table("app.verdict_last", order, "mark <> 'R'") == now["orders"]
        bills = [
            (nbr, email, sum(1 for o in now["orders"] if o[1] == nbr))
            for nbr, email in now["customer"]
        ]
        assert table("app.bill", "nbr, email, n") == bills
        for name, mark in (("app.order_log", "acm_record_ind"), ("app.verdict", "mark")):
            log = table(name, f"nbr, change_id, customer, amount, {mark}")
            assert len({row[:2] for row in log}) == len(log), (name, self.log)
            last = {row[0]: row[2:] for row in log}
            found = sorted((k, *v[:2]) for k, v in last.items() if v[2] != "R")
            assert found == now["orders"], (name, self.log)
        made = table("app.made", "v, v")
        assert table("app.copied", "v, v") == made
        assert table("app.judged", "v, v") == made
        # The newest run of a Module that was made again has read what is there now.
        for code in self.again:
            run = max(
                row["id"]
                for row in self.middle.rows(
                    f"SELECT module_instance_id AS id FROM omd.module_instance"
                    f" INNER JOIN omd.module USING (module_id) WHERE module_code = %s AND {STANDS}",
                    code,
                )
            )
            stamped = f"omd_insert_module_instance_id = {run}"
            if code == "report":
                assert table("app.report", order, stamped) == now["orders"]
            elif code == "total":
                counts: dict[int, int] = {}
                for row in now["orders"]:
                    counts[row[1]] = counts.get(row[1], 0) + 1
                assert table("app.total", "customer, n", stamped) == sorted(counts.items())

    @property
    def again(self) -> list[str]:
        return [
            row["code"]
            for row in self.middle.rows(
                "SELECT DISTINCT code FROM omd_report.recall_returns"
                " WHERE module_kind_code = 'SQL' AND return_status = 'DONE'"
            )
        ]

    def check_rest(self) -> None:
        one, rows = self.middle.one, self.middle.rows
        # A topic whose source has never had a row waits for it.
        left = rows(
            "SELECT code, state, reason, waits_for FROM omd_report.work WHERE state <> 'IDLE'"
            " AND reason <> 'DEPENDENCY'"
        )
        assert left == []
        assert rows("SELECT * FROM omd_report.stale_runs") == []
        assert rows("SELECT * FROM omd_report.pending_rollbacks") == []
        assert one("SELECT count(*) FROM omd.window_return WHERE ended_datetime IS NULL") == 0
        assert one("SELECT count(*) FROM omd.module_return WHERE ended_datetime IS NULL") == 0


@pytest.mark.random
@pytest.mark.parametrize("seed", seeds(2))
def test_what_was_recalled_never_was(conn: Connection, seed: int) -> None:
    conn.prepare_threshold = None
    chance = random.Random(seed)
    world = World(conn, chance)
    world.scene()
    try:
        play(world, chance)
    except BaseException:
        for entry in world.log:
            print(entry)
        print(world.reads)
        raise


def play(world: World, chance: random.Random) -> None:
    world.deliver(world.moment(), {"customer": {(n,): ("a",) for n in (1, 2, 3, 5)}})
    for _ in range(chance.randint(5, 10)):
        dice = chance.random()
        if dice < 0.6:
            world.deliver(world.moment(), world.content())
        else:
            world.go(chance.choice([*MODULES]))
        if chance.random() < 0.7:
            world.drain()
    world.drain()
    world.check()
    for _ in range(2):
        deliveries = [d for d in world.given if world.stands(d)]
        corrected = None
        if deliveries and chance.random() < 0.6:
            bad = chance.choice(deliveries)
            awaits = chance.random() < 0.4
            if awaits:
                corrected = {n: world.content().get(n, {}) for n in world.given[bad][1]}
            recall = world.recall(awaits=awaits, delivery_id=bad)
            if not awaits:
                del world.given[bad]
        else:
            runs = [run for run in world.reads if run in world.standing()]
            run = chance.choice(
                [
                    r
                    for r in runs
                    if not world.middle.rows("SELECT FROM omd_delivery.deliveries_of_runs(%s)", [r])
                ]
            )
            recall = world.recall(module_instance_id=run, awaits=chance.random() < 0.3)
        world.come_again(recall, corrected)
        world.drain()
        world.check()
        world.check_reads()
        world.check_rest()
