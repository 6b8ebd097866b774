"""An interface, topics of each kind over it, and a person whose acts change the facts."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psycopg

from facts.store import Store, entity
from kinds.flow_model import Act, Delta, Model, Row
from support.flow import Flow

WORKER = Path(__file__).with_name("flow_worker.py")
KEEP = {"facts": {"changes": True}}
CUSTOMER = entity("customer", ["nbr"], ["nbr", ("name", "text(20)")], **KEEP)
ORDERS = entity(
    "orders",
    ["nbr"],
    ["nbr", "customer", "amount"],
    relationships=[{"name": "of", "parent": "customer", "columns": ["customer"]}],
    constraints=[
        {"name": "positive", "type": "value", "attribute": "amount", "check": "amount > 0"}
    ],
    **KEEP,
)
STAMPS = "omd_insert_module_instance_id bigint"
WRITTEN = (
    f"row_id bigint GENERATED ALWAYS AS IDENTITY, {STAMPS},"
    " omd_insert_datetime timestamptz NOT NULL DEFAULT clock_timestamp()"
)
SCENE = f"""
    CREATE SCHEMA app;
    CREATE TABLE app.production (module_code text, is_open boolean);
    CREATE TABLE app.made (v bigint, {WRITTEN});
    CREATE TABLE app.copied (v bigint, {STAMPS});
    CREATE TABLE app.order_now
        (nbr integer, customer integer, amount integer, acm_record_ind text, {STAMPS});
    CREATE UNIQUE INDEX ON app.order_now (nbr);
    CREATE TABLE app.customer_now (nbr integer, name text, acm_record_ind text, {STAMPS});
    CREATE TABLE app.order_log (nbr integer, customer integer, amount integer,
        acm_record_ind text, change_id bigint, {WRITTEN});
    CREATE TABLE app.order_last (nbr integer, customer integer, amount integer,
        acm_record_ind text, {STAMPS});
    CREATE UNIQUE INDEX ON app.order_last (nbr);
    CREATE TABLE app.bill (nbr integer, name text, n integer, amount integer, {STAMPS});
    CREATE TABLE app.verdict
        (nbr integer, customer integer, amount integer, mark text, change_id bigint, {WRITTEN});
    CREATE TABLE app.verdict_last
        (nbr integer, customer integer, amount integer, mark text, {STAMPS});
    CREATE TABLE app.judged (v bigint, {STAMPS});
    CREATE FUNCTION app.judge(p jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('verdict', jsonb_build_object(
        'nbr', p #> '{{o,0,nbr}}', 'customer', p #> '{{o,0,customer}}',
        'amount', p #> '{{o,0,amount}}', 'mark', p #> '{{o,0,acm_record_ind}}',
        'change_id', p #> '{{o,0,acm_change_id}}'
    )) $$;
    CREATE FUNCTION app.look(p jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('judged', jsonb_build_object('v', p #> '{{m,0,v}}')) $$;
    CREATE VIEW app.v_verdict_last AS
    SELECT DISTINCT ON (l.nbr) l.nbr, l.customer, l.amount, l.mark
    FROM app.verdict AS l
    WHERE omd_lineage.in_block(l.omd_insert_datetime, l.row_id)
    ORDER BY l.nbr, l.change_id DESC;
    CREATE VIEW app.v_order_now AS
    SELECT o.nbr, o.customer, o.amount, o.acm_record_ind FROM changes_shop.orders AS o;
    CREATE VIEW app.v_customer_now AS
    SELECT c.nbr, c.name, c.acm_record_ind FROM changes_shop.customer AS c;
    CREATE VIEW app.v_order_log AS
    SELECT o.nbr, o.customer, o.amount, o.acm_record_ind, o.acm_change_id AS change_id
    FROM changes_shop.orders AS o;
    CREATE VIEW app.v_order_last AS
    SELECT DISTINCT ON (l.nbr) l.nbr, l.customer, l.amount, l.acm_record_ind
    FROM app.order_log AS l
    WHERE omd_lineage.in_block(l.omd_insert_datetime, l.row_id)
    ORDER BY l.nbr, l.change_id DESC;
    CREATE VIEW app.v_bill AS
    SELECT c.nbr, c.name, count(o.nbr)::integer AS n, coalesce(sum(o.amount), 0)::integer AS amount
    FROM asof_shop.customer AS c LEFT JOIN asof_shop.orders AS o ON c.nbr = o.customer
    GROUP BY 1, 2;
    CREATE VIEW app.v_copied AS
    SELECT m.v FROM app.made AS m
    WHERE omd_lineage.in_block(m.omd_insert_datetime, m.row_id);
"""
TOPICS: dict[str, dict[str, Any]] = {
    "app.order_now": {"depends_on": ["gdal_shop.orders"], "merge_key": ["nbr"], "maxstep": 5},
    "app.customer_now": {"depends_on": ["gdal_shop.customer"], "merge_key": ["nbr"]},
    "app.order_log": {"depends_on": ["gdal_shop.orders"], "maxstep": 3},
    "app.order_last": {
        "depends_on": ["app.order_log"],
        "merge_key": ["nbr"],
        "pos_column": "omd_insert_datetime",
        "id_column": "row_id",
        "maxstep": 4,
    },
    "app.verdict_last": {
        "depends_on": ["app.verdict"],
        "merge_key": ["nbr"],
        "pos_column": "omd_insert_datetime",
        "id_column": "row_id",
    },
    "app.bill": {
        "depends_on": ["gdal_shop.orders", "gdal_shop.customer"],
        "processor": "RELOAD",
        "transforms": ["app.v_bill"],
    },
    "app.copied": {
        "depends_on": ["app.made"],
        "pos_column": "omd_insert_datetime",
        "id_column": "row_id",
        "maxstep": 7,
    },
}
STAGES = [
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
MAKE = (
    "INSERT INTO app.made (v) SELECT current_setting('omd.module_instance_id')::bigint * 10 + n"
    " FROM generate_series(0, 4) AS n, LATERAL (SELECT pg_sleep(0.004) WHERE n >= 0) AS pause"
)
RIGHTS = """
    GRANT USAGE ON SCHEMA app, changes_shop, asof_shop, gdal_shop TO omd_runner;
    GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA app TO omd_runner;
    GRANT SELECT ON ALL TABLES IN SCHEMA changes_shop, asof_shop, gdal_shop TO omd_runner;
"""
# What an act may answer in the middle of others; the rest is a defect.
BUSY = {
    "57014",  # its time was over
    "57P01",  # its session was ended
    "55P03",
    "OM106",  # a load executes
    "OM133",  # the facts have taken it, or it is not the newest
    "OM130",  # it was reverted before
    "OM151",  # a delivery is unfinished
    "OM153",  # something was written through views since
    "OM159",  # readers are at work
    "OM051",
    "OM054",
    "OM055",
    "OM157",
}


class Workers:
    """Two processes, which are killed, and whose sessions are.

    Args:
        dsn: the database.
        folder: where they write what they have to say.
        seed: what they draw lots from.
        command: the arguments of the command omd, if they are its workers; else they have no tasks.
    """

    program = WORKER
    peace = 0.7  # so many seconds at most they are left in peace
    peace_of_omd = 2.0  # (a worker of omd needs some time to begin with),
    most = 1_000_000  # and so often it is broken

    def __init__(self, dsn: str, folder: Path, seed: int, *command: str) -> None:
        self.dsn, self.folder, self.seed, self.command = dsn, folder, seed, command
        if command:
            self.peace = self.peace_of_omd
        self.count = 0
        self.running = [self.start(), self.start()]

    def start(self) -> subprocess.Popen[bytes]:
        self.count += 1
        own = [sys.executable, str(self.program), self.dsn, str(self.seed * 1000 + self.count)]
        omd = [str(Path(sys.executable).with_name("omd")), *self.command]
        with (self.folder / f"worker_{self.count}").open("wb") as log:
            return subprocess.Popen(
                omd if self.command else own,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, "OMD_DSN": self.dsn},
            )

    def kill(self, place: int) -> None:
        self.running[place].send_signal(signal.SIGKILL)
        self.running[place].wait()
        self.running[place] = self.start()

    def stop(self) -> None:
        for process in self.running:
            process.kill()
            process.wait()

    def said(self) -> list[dict[str, Any]]:
        found = []
        for file in sorted(self.folder.glob("worker_*")):
            lines = file.read_text().splitlines()
            found += [json.loads(x) if x.startswith("{") else {"said": x} for x in lines]
        return found


class Stopper:
    """A thread that ends sessions and statements, and kills workers, until it is stopped.

    Args:
        dsn: the database.
        seed: what it draws lots from.
        workers: whom it kills.
        spared: the session of the test.
    """

    def __init__(self, dsn: str, seed: int, workers: Workers, spared: int) -> None:
        self.chance = random.Random(seed)
        self.workers = workers
        self.spared = spared
        self.over = threading.Event()
        self.conn = psycopg.connect(dsn, autocommit=True)
        self.done: list[str] = []
        self.thread = threading.Thread(target=self.go)
        self.thread.start()

    def go(self) -> None:
        while len(self.done) < self.workers.most and not self.over.wait(
            self.chance.uniform(0.1, self.workers.peace)
        ):
            how = self.chance.choice(["kill", *["pg_terminate_backend", "pg_cancel_backend"] * 2])
            self.done.append(how)
            if how == "kill":
                self.workers.kill(self.chance.randint(0, 1))
                continue
            self.conn.execute(
                f"SELECT {how}(pid) FROM (SELECT pid FROM pg_stat_activity"
                " WHERE datname = current_database() AND backend_type = 'client backend'"
                " AND state <> 'idle' AND pid NOT IN (pg_backend_pid(), %s)"
                " ORDER BY random() LIMIT 1) AS s".encode(),
                [self.spared],
            )

    def stop(self) -> None:
        self.over.set()
        self.thread.join()
        self.conn.close()


class Night(Store):
    """The acts of a person, each of which the model follows when it was done."""

    def scene(self, dsn: str, chance: random.Random) -> None:
        self.chance = chance
        self.model = Model()
        self.log: list[Any] = []
        self.last: Any = None
        self.set_up(CUSTOMER, ORDERS)
        self.agree("desk", layer_code="GDAL")
        self.conn.execute(SCENE)
        for code in ("make_one", "make_two"):
            self.call(
                "omd.register_module",
                module_code=code,
                area_code="STG",
                table_code="app.made",
                executable=MAKE,
            )
            self.conn.execute("INSERT INTO app.production VALUES (%s, TRUE)", [code])
        for stage in STAGES:
            name = stage["ruleset"]
            ruleset = {"ruleset": name, "kind": "FUNCTION", "content": f"app.{name}"}
            self.call("omd_decision.define_ruleset", ruleset=ruleset, activate=True)
            self.call("omd_decision.define_stage", stage=stage)
        for topic, attributes in TOPICS.items():
            given = {
                "transforms": [topic.replace(".", ".v_")],
                "start_pos": "-infinity",
                **attributes,
            }
            Flow.call(self, "omd_lineage.register_topic", topic=topic, **given)
        self.owner(
            "UPDATE omd.module SET backoff = '50 ms', backoff_limit = '400 ms', max_failures = 0"
            " WHERE module_id > 0"
        )
        self.conn.execute(RIGHTS)
        self.desk = self.call("omd_facts.open_delivery", agreement_code="desk")["delivery_id"]
        # What a person does in the middle of others may wait too long, or be broken off.
        self.dsn = dsn
        self.person = psycopg.connect(dsn, autocommit=True, application_name="flow_person")

    # What happens

    def attempt(self, statement: str, *parameters: Any) -> str | None:
        """Execute a statement of the person, sometimes with little time; return the error."""
        limit = self.chance.choice(["20s", "20s", f"{self.chance.randint(2, 60)}ms"])
        if self.person.closed or not self.answers():
            self.person = psycopg.connect(self.dsn, autocommit=True, application_name="flow_person")
        self.person.execute(
            f"SET statement_timeout = '{limit}'; SET omd_facts.delivery_id = '{self.desk}'".encode()
        )
        try:
            self.person.execute(statement.encode(), parameters)
        except psycopg.Error as error:
            self.log.append((statement, parameters, error.sqlstate, str(error)))
            if error.sqlstate not in BUSY:
                raise
            return error.sqlstate
        self.log.append((statement, parameters))
        return None

    def answers(self) -> bool:
        """Return whether the person's session is still there."""
        try:
            self.person.execute("SELECT")
        except psycopg.Error:
            return False
        return True

    def moment(self) -> Any:
        """Return a moment after all before: of 2020, until views have brought the present."""
        at = self.one(
            "SELECT CASE WHEN %s::timestamptz > '2021-01-01' THEN clock_timestamp()"
            " ELSE coalesce(%s::timestamptz, '2020-01-01') + interval '1 minute' END",
            self.last,
            self.last,
        )
        assert self.last is None or at > self.last
        self.last = at
        return at

    def some_delta(self, entities: tuple[str, ...]) -> Delta:
        """Return new, changed and deleted rows, as LVL would find them."""
        there = self.model.delivered()
        found: Delta = {}
        for name in entities:
            rows: list[Row] = []
            for key in self.chance.sample(range(1, 9), self.chance.randint(0, 4)):
                values: Row = (self.chance.choice("abc"),)
                if name == "orders":
                    values = (self.chance.randint(1, 8), self.chance.randint(1, 5))
                old = there[name].get(key)
                if old is None:
                    rows.append(("N", key, *values))
                elif self.chance.random() < 0.4:
                    rows.append(("R", key, *old))
                elif old != values:
                    rows.append(("A", key, *values))
            found[name] = rows
        return found

    def ask(self, delivery_id: int, /, **arguments: Any) -> dict[str, Any]:
        """Begin the run of a delivery, when no other session works on the interface."""
        while (answer := super().ask(delivery_id, **arguments))["outcome"] == "WAIT":
            time.sleep(0.01)
        return answer

    def deliver(self, at: Any, delta: Delta) -> None:
        """Deliver a delta as far as the queue."""
        run, _ = self.accept(at, rows=delta)
        self.model.acts.append(Act(at, delta, run.id))
        self.log.append(("deliver", run.id, at, delta))

    def refuse(self, at: Any) -> None:
        """Deliver what is refused: nothing of it may ever be seen."""
        run = self.run(at, entities={"orders": "DELTA"})
        run.measure(1, violations={"orders.positive": 3})
        if (answer := run.verdict(1))["verdict"] is None:
            run.measure(2, violations={"orders.positive": 3})
            answer = run.verdict(2)
        self.log.append(("refused", run.id, answer))
        assert self.status(run.id) in {"REJECTED", "REFUSED"}, answer

    def cancel(self, at: Any) -> None:
        delivery = self.load(at, entities={"customer": "DELTA"})
        self.call("cancel_delivery", delivery_id=delivery, reason="the sender erred")
        self.log.append(("cancelled", delivery))

    def loaded(self) -> list[dict[str, Any]]:
        """Return the loads that stand, the newest first."""
        return self.rows(
            "SELECT module_instance_id, delivery_id FROM omd_report.facts_loads"
            " WHERE undone_by IS NULL ORDER BY module_instance_id DESC LIMIT 3"
        )

    def follow(self) -> None:
        """Forget the deliveries that were taken back."""
        gone = {
            r["delivery_id"]
            for r in self.rows(
                "SELECT delivery_id FROM omd_report.delivery_log WHERE delivery_status = 'REVERTED'"
            )
        }
        self.model.acts = [a for a in self.model.acts if a.delivery not in gone]

    def make(self) -> None:
        """Run a Module of SQL, which is never ready by itself."""
        code = self.chance.choice(["make_one", "make_two"])
        self.attempt("CALL omd.run_module(%s)", code)

    def undo_a_load(self) -> None:
        """Undo a load and those after it: they are loaded again."""
        if loads := self.loaded():
            run = self.chance.choice(loads)["module_instance_id"]
            if self.chance.random() < 0.5:
                self.attempt("CALL omd_facts.undo('shop', %s)", run)
            elif not self.rows(
                # It can't be undone (OM153).
                "SELECT FROM omd_report.facts_loads AS l INNER JOIN omd_facts.transaction_log AS t"
                " ON t.transaction_datetime >= l.loaded_datetime WHERE l.module_instance_id = %s",
                run,
            ):
                self.attempt(
                    "UPDATE omd.module_instance SET next_run_indicator = 'R'"
                    " WHERE module_instance_id = %s",
                    run,
                )

    def revert(self) -> None:
        """Take a delivery back, and deliver what is right at the same time."""
        loads = self.loaded()
        if not loads:
            return
        load = loads[0] if self.chance.random() < 0.8 else self.chance.choice(loads)
        self.attempt(
            "CALL omd_facts.undo('shop', %s, p_revert_reason => 'wrong')",
            load["module_instance_id"],
        )
        (act,) = [a for a in self.model.acts if a.delivery == load["delivery_id"]]
        self.follow()
        if act not in self.model.acts and self.chance.random() < 0.7:
            self.deliver(act.at, self.some_delta(tuple(act.delta)))

    def is_blocked(self) -> str | None:
        """Return why nothing can be written through views, or should not be."""
        return self.one(
            "SELECT CASE WHEN EXISTS (SELECT FROM omd_report.work WHERE code = 'facts.shop'"
            " AND (reason = 'UNDO' OR state IN ('BACK_OFF', 'FAILED', 'RUNNING'))) THEN 'UNDO'"
            " WHEN is_blocked THEN 'DELIVERY' END FROM omd_report.facts_state"
        )

    def write(self) -> None:
        """Write a row through a view, in a transaction of its own."""
        waits = self.chance.random() < 0.9
        until = time.monotonic() + 60
        # A load that is to be undone could not be, after a later write (OM153).
        while (blocked := self.is_blocked()) == "UNDO" or (blocked and waits):
            assert time.monotonic() < until, self.rows("SELECT * FROM omd_report.work")
            time.sleep(0.02)
        name = self.chance.choice(["customer", "orders"])
        key = self.chance.randint(1, 8)
        now = self.model.now()
        values: Row = (self.chance.choice("abc"),)
        columns = ["name"]
        if name == "orders":
            if not now["customer"]:
                return
            columns = ["customer", "amount"]
            values = (self.chance.choice(list(now["customer"])), self.chance.randint(1, 5))
        former = "SELECT count(*) FROM omd_facts.transaction_log"
        before = self.one(former)
        if key not in now[name]:
            places = ", ".join(["%s"] * len(values))
            error = self.attempt(
                f"INSERT INTO gdal_shop.{name} (nbr, {', '.join(columns)})"
                f" VALUES ({key}, {places})",
                *values,
            )
            row: Row = ("N", key, *values)
        elif self.chance.random() < 0.6:
            assigned = ", ".join(f"{c} = %s" for c in columns)
            error = self.attempt(
                f"UPDATE gdal_shop.{name} SET {assigned} WHERE nbr = {key}", *values
            )
            row = ("A", key, *values)
        else:
            error = self.attempt(f"DELETE FROM gdal_shop.{name} WHERE nbr = {key}")
            row = ("R", key, *now[name][key])
        after = self.one(former)
        # A session that was ended may have committed.
        if after == before and error is None:
            # Its load was undone, and is not there again.
            assert blocked, self.log[-1]
            assert row[0] != "N", self.log[-1]
        assert after <= before + 1
        assert after == before or error in (None, "57P01"), self.log[-1]
        if after > before:
            at = self.one("SELECT max(transaction_datetime) FROM omd_facts.transaction_log")
            assert self.last is None or at > self.last
            self.last = at
            self.model.acts.append(Act(at, {name: [row]}))

    def finish(self) -> None:
        """Close what a person has opened, and run what no worker runs by itself once more."""
        self.conn.execute("UPDATE app.production SET is_open = FALSE")
        while self.one("SELECT is_blocked FROM omd_report.facts_state"):
            time.sleep(0.02)
        self.call("omd_facts.close_delivery", delivery_id=self.desk)
        for row in self.rows("SELECT module_code AS code FROM app.production"):
            while (
                status := self.call("omd.run_module", module_code=row["code"])[
                    "execution_status_code"
                ]
            ) == "A":
                time.sleep(0.02)
            assert status == "S"

    def redo_a_step(self) -> None:
        """Let the newest step of a topic be undone and done again."""
        topic = self.chance.choice(["app.order_now", "app.customer_now", "app.order_last"])
        self.attempt(
            "UPDATE omd.module_instance AS i SET next_run_indicator = 'R'"
            " FROM (SELECT * FROM omd.module WHERE module_code = %s FOR UPDATE) AS m"
            " WHERE i.module_instance_id = (SELECT max(n.module_instance_id)"
            " FROM omd.module_instance AS n WHERE n.module_id = m.module_id)"
            " AND i.execution_status_code = 'S'",
            topic,
        )

    def restate(self) -> None:
        topic = self.chance.choice(["app.order_now", "app.customer_now"])
        self.attempt("CALL omd_lineage.restate(%s, '-infinity', 'infinity')", topic)
