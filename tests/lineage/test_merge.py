"""Steps that replace rows by key (rule L17), and their undo (rule L18), as the role omd_runner."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.lots import seeds
from support.scene import Scene, at

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    Another = Callable[..., Scene]
    Background = Callable[..., Future[Any]]
    UntilSettled = Callable[[Scene, Future[Any]], None]

STAMP = "omd_insert_module_instance_id bigint"


class Orders:
    """Changes of orders in dwh.change, and topics over them; steps run as omd_runner."""

    def __init__(self, scene: Scene, runner: Scene) -> None:
        self.scene, self.runner = scene, runner
        self.n = 0
        self.run(
            "CREATE TABLE dwh.change (pos timestamptz, id bigint, k int, d int, amount int);"
            "CREATE INDEX ON dwh.change (pos, id); CREATE INDEX ON dwh.change (d)"
        )
        scene.register("dwh.change", source_offset="HAND")
        scene.call("omd_lineage.set_offset", topic="dwh.change", pos=at(1_000_000))

    def run(self, statement: str) -> None:
        self.scene.conn.execute(statement.encode())

    def change(self, *rows: tuple[int | None, int | None, int | None]) -> None:
        """Write changes (k, d, amount), each at a minute of its own."""
        for row in rows:
            self.n += 1
            self.scene.conn.execute(
                b"INSERT INTO dwh.change VALUES (%s, %s, %s, %s, %s)",
                [at(self.n), self.n, *row],
            )

    def topic(self, topic: str = "dwh.f", /, view: str = "", **attributes: Any) -> None:
        """Register a topic; without transforms it is the view of all changes of the block."""
        if "transforms" not in attributes:
            name = "dwh.v_" + "".join(c if c.isalnum() else "_" for c in topic)
            columns = view or "c.k, c.d, c.amount, c.pos, c.id"
            self.run(
                f"CREATE VIEW {name} AS SELECT {columns} FROM dwh.change AS c"
                " WHERE omd_lineage.in_block(c.pos, c.id)"
            )
            attributes["transforms"] = [name]
        self.scene.register(topic, depends_on=["dwh.change"], repeat=timedelta(0), **attributes)
        self.run(
            "GRANT USAGE ON SCHEMA dwh TO omd_runner;"
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA dwh TO omd_runner"
        )

    def step(self, topic: str = "dwh.f") -> int:
        step = self.runner.step(topic)
        assert step.outcome == "DONE", step
        assert step.id
        return step.id

    def undo(self, step: int, topic: str = "dwh.f") -> str:
        """Undo a step, and do no other: the step after it fails."""
        self.scene.set_next("R", module=step)
        self.scene.register(topic, after_sql=["SELECT 1 / 0"])
        outcome = self.runner.step(topic)
        self.scene.register(topic, after_sql=[])
        assert outcome.outcome == "ERROR", outcome
        return outcome.detail or ""

    def not_undone(self, step: int, topic: str = "dwh.f") -> str:
        """Try to undo a step, which is refused; returns the SQLSTATE."""
        self.scene.set_next("R", module=step)
        assert self.runner.step(topic).outcome == "ERROR"
        return self.scene.one(
            "SELECT event_return_code_details FROM omd.event_log WHERE event_type_code = 2"
            " ORDER BY event_id DESC LIMIT 1"
        )

    def content(self, columns: str = "k, amount", table: str = "dwh.f") -> list[tuple[Any, ...]]:
        return [
            tuple(row.values())
            for row in self.scene.rows(f"SELECT {columns} FROM {table} ORDER BY {columns}")
        ]

    def all(self) -> list[dict[str, Any]]:
        return self.scene.conn.execute(
            b"SELECT f.* FROM dwh.f AS f ORDER BY f::text", prepare=False
        ).fetchall()

    def counts(self, step: int) -> tuple[int, ...]:
        """Return the rows read, inserted, updated, deleted and discarded by a step."""
        (row,) = self.scene.rows(
            "SELECT rows_input AS a, rows_inserted AS b, rows_updated AS c, rows_deleted AS d,"
            " rows_discarded AS e FROM omd.module_instance WHERE module_instance_id = %s",
            step,
        )
        return tuple(row.values())


@pytest.fixture
def orders(scene: Scene, another: Another) -> Orders:
    return Orders(scene, another(role="omd_runner"))


def test_a_check_counts_all_rows_that_the_view_has_given(orders: Orders) -> None:
    orders.run(f"CREATE TABLE dwh.f (k int UNIQUE, d int, {STAMP}, amount int)")
    orders.topic(
        merge_key=["k"],
        view="c.k, c.d, c.amount, c.pos, c.id, c.amount < 20 AS check_dear",
    )
    orders.change((1, 1, 10), (2, 1, 20), (2, 1, 30), (3, 1, None))
    step = orders.step()
    assert orders.scene.rows(
        "SELECT rows, nulls FROM omd_lineage.log WHERE module_instance_id = %s", step
    ) == [{"rows": 3, "nulls": {"amount": 1, "check_dear": 2}}]


def test_a_step_replaces_rows_by_key_in_their_place_and_its_undo_puts_them_back(
    orders: Orders,
) -> None:
    """What refers to a row, and columns that the view does not have, are as before."""
    orders.run(
        f"CREATE TABLE dwh.f (no int GENERATED ALWAYS AS IDENTITY, k int UNIQUE, d int, {STAMP},"
        " amount int, twice int GENERATED ALWAYS AS (amount * 2) STORED,"
        " made timestamptz DEFAULT clock_timestamp(), omd_insert_datetime timestamptz);"
        "CREATE TABLE dwh.line (k int REFERENCES dwh.f (k) ON DELETE CASCADE)"
    )
    orders.topic(merge_key=["k"])
    orders.change((1, 1, 10), (2, 1, 20))
    first = orders.step()
    assert orders.counts(first) == (2, 2, 0, 0, 0)
    orders.run("INSERT INTO dwh.line VALUES (1)")
    before = orders.all()

    orders.change((1, 1, 11), (3, 1, 30), (1, 1, 12), (3, 1, 31), (3, 1, None))
    second = orders.step()
    assert orders.counts(second) == (5, 1, 1, 0, 3)
    assert orders.scene.rows(
        "SELECT rows, nulls FROM omd_lineage.log WHERE module_instance_id = %s", second
    ) == [{"rows": 2, "nulls": {"amount": 1}}]
    assert orders.content("k, amount, twice, no") == [
        (1, 12, 24, 1),
        (2, 20, 40, 2),
        (3, None, None, 3),
    ]
    assert orders.content("k", "dwh.line") == [(1,)]
    # The third step replaces what the second wrote; both go together.
    orders.change((1, 1, 13), (2, 1, 21))
    orders.step()
    assert "division by zero" in orders.undo(second)
    assert orders.all() == before
    assert orders.content("k", "dwh.line") == [(1,)]
    assert orders.scene.one("SELECT count(*) FROM omd_lineage.replaced_row") == 0
    # What was undone is done again, with the same result as without an undo.
    while orders.runner.step().outcome == "DONE":
        pass
    assert orders.content() == [(1, 13), (2, 21), (3, None)]
    assert orders.content("no")[:2] == [(1,), (2,)]
    # Without the index rows are deleted and inserted, with the same content.
    orders.run("ALTER TABLE dwh.line DROP CONSTRAINT line_k_fkey; DROP TABLE dwh.line")
    orders.run("ALTER TABLE dwh.f DROP CONSTRAINT f_k_key")
    before = orders.all()
    orders.change((1, 1, 14), (4, 1, 40))
    last = orders.step()
    assert orders.counts(last) == (2, 2, 0, 1, 0)
    assert orders.content() == [(1, 14), (2, 21), (3, None), (4, 40)]
    orders.undo(last)
    assert orders.all() == before


def test_two_rows_with_one_key_need_an_order(orders: Orders) -> None:
    """The newest row wins where the view shows the position; else nobody knows it."""
    orders.run(f"CREATE TABLE dwh.f (k int PRIMARY KEY, amount int, {STAMP})")
    orders.topic(view="c.k, c.amount", merge_key=["k"])
    orders.change((1, 1, 10), (1, 1, 11))
    failed = orders.runner.step()
    assert failed.outcome == "ERROR"
    assert "k = (1)" in (failed.detail or "")
    assert orders.scene.one("SELECT error_code FROM omd_lineage.error_log") == "OM117"
    orders.run(
        "CREATE OR REPLACE VIEW dwh.v_dwh_f AS SELECT c.k, c.amount, c.pos, c.id"
        " FROM dwh.change AS c WHERE omd_lineage.in_block(c.pos, c.id)"
    )
    orders.step()
    assert orders.content() == [(1, 11)]
    # The time alone does not order two rows of one time.
    orders.run(
        "CREATE VIEW dwh.w AS SELECT c.k, c.amount, c.pos"
        " FROM dwh.change AS c WHERE omd_lineage.in_block(c.pos, c.id)"
    )
    orders.scene.register("dwh.f", transforms=["dwh.w"])
    orders.run("GRANT SELECT ON dwh.w TO omd_runner")
    orders.change((1, 1, 12), (1, 1, 13))
    orders.step()
    assert orders.content() == [(1, 13)]
    orders.run("INSERT INTO dwh.change SELECT pos, id + 100, k, d, 14 FROM dwh.change WHERE id > 2")
    orders.change((1, 1, 15))
    orders.run("UPDATE dwh.change SET pos = (SELECT max(pos) FROM dwh.change) WHERE id > 100")
    assert "k = (1)" in (orders.runner.step().detail or "")


@pytest.mark.parametrize("index", ["UNIQUE (k, d)", "UNIQUE NULLS NOT DISTINCT (k, d)", ""])
def test_two_nulls_in_a_key_are_equal(orders: Orders, index: str) -> None:
    orders.run(f"CREATE TABLE dwh.f (k int, d int, amount int, {STAMP}{index and ', ' + index})")
    orders.topic(merge_key=["d", "k"])
    orders.change((1, None, 10), (None, None, 20), (1, 1, 30))
    orders.step()
    before = orders.all()
    orders.change((1, None, 11), (None, None, 21), (1, 1, 31), (None, 1, 41), (None, 1, 42))
    step = orders.step()
    assert orders.content("k, d, amount") == [
        (1, 1, 31),
        (1, None, 11),
        (None, 1, 42),
        (None, None, 21),
    ]
    assert orders.counts(step)[4] == 1
    orders.undo(step)
    assert orders.all() == before


def test_any_value_comes_back_as_it_was(orders: Orders) -> None:
    """Whatever the session reads and writes dates like, and whatever the names are."""
    orders.run(
        """
        CREATE TYPE dwh."my type" AS (a int, "b ""c" text);
        CREATE DOMAIN dwh.positive AS int CHECK (VALUE > 0);
        CREATE TABLE dwh."F'{table}$" (
            "k""'{key_columns}" text COLLATE "C", "time" timestamptz, day date, span interval,
            real real, double float8, bytes bytea, js json, jsb jsonb, bounds int[],
            "row" dwh."my type", many dwh."my type"[], positive dwh.positive, fixed char(5),
            range tstzrange, bits bit(3), num numeric, flag bool, lost int,
            omd_insert_module_instance_id int, PRIMARY KEY ("k""'{key_columns}")
        );
        ALTER TABLE dwh."F'{table}$" DROP COLUMN lost;
        CREATE VIEW dwh."V'" AS SELECT c.k::text AS "k""'{key_columns}", 0.1::real AS real
        FROM dwh.change AS c WHERE omd_lineage.in_block(c.pos, c.id);
        INSERT INTO dwh."F'{table}$" VALUES (
            '1', '2026-02-01 10:00:00.123456+05', '2026-02-01', '1 mon -3 days 04:05:06.7',
            0.1::real / 3, 0.1::float8 / 3, '\\x00ff', '{"a": 1,  "a": 2}', '{"n": null}',
            '[2:3]={1,NULL}', ROW(NULL, 'x"),('), ARRAY[ROW(1, '')::dwh."my type", NULL], 3, 'ab',
            '[2026-02-01,)', '101', 1.500, NULL, 0
        ), ('2', NULL, NULL, NULL, 'NaN', '-Infinity', '', 'null', 'null', '{}', ROW(NULL, NULL),
            NULL, NULL, '', 'empty', NULL, 'NaN', TRUE, NULL);
        """
    )
    orders.topic(
        """dwh."F'{table}$\"""",
        transforms=["""dwh."V'\""""],
        merge_key=["k\"'{key_columns}"],
    )
    dump = """SELECT f::text AS f FROM dwh."F'{table}$" AS f ORDER BY 1"""
    before = orders.scene.rows(dump)
    orders.change((1, 1, 1), (2, 1, 1), (3, 1, 1))
    for style in ("SET datestyle = 'SQL, DMY'", "SET intervalstyle = 'sql_standard'"):
        orders.runner.conn.execute(style.encode())
    orders.runner.conn.execute("SET extra_float_digits = -5; SET timezone = 'Asia/Tokyo'")
    step = orders.step("""dwh."F'{table}$\"""")
    assert orders.counts(step) == (3, 1, 2, 0, 0)
    assert orders.scene.rows(dump) != before
    orders.runner.conn.execute("SET datestyle = 'SQL, MDY'; SET timezone = 'UTC'")
    orders.runner.conn.execute("SET intervalstyle = 'iso_8601'")
    orders.undo(step, """dwh."F'{table}$\"""")
    assert orders.scene.rows(dump) == before


def test_an_undo_of_another_topic_keeps_the_newest_row(orders: Orders) -> None:
    """Two topics replace rows of one table; what the older one has replaced is handed on."""
    orders.run(f"CREATE TABLE dwh.f (k int, d int, amount int, who text, {STAMP}, UNIQUE (k))")
    for name in ("#a", "#b", "#c"):
        orders.topic(f"dwh.f{name}", merge_key=["k"])
    orders.change((1, 1, 10), (2, 1, 20))
    a = orders.step("dwh.f#a")
    first = orders.all()
    orders.change((1, 1, 11), (2, 1, 21), (3, 1, 30))
    b = orders.step("dwh.f#b")
    orders.change((1, 1, 12), (3, 1, 31))
    c = orders.step("dwh.f#c")
    assert orders.content() == [(1, 12), (2, 21), (3, 31)]
    orders.undo(b, "dwh.f#b")
    assert orders.content() == [(1, 12), (2, 21), (3, 31)], "c has read all changes"
    assert orders.content("k, omd_insert_module_instance_id") == [(1, c), (2, c), (3, c)]
    orders.undo(c, "dwh.f#c")
    assert orders.all() == first
    orders.undo(a, "dwh.f#a")
    assert orders.all() == []


def test_a_row_that_was_deleted_or_undone_meanwhile(orders: Orders) -> None:
    """A key that one topic deletes and another inserts again; a row of a run that is undone."""
    orders.run(f"CREATE TABLE dwh.f (k int, d int, amount int, {STAMP})")
    orders.run(
        "CREATE VIEW dwh.touched AS SELECT c.k FROM dwh.change AS c"
        " WHERE omd_lineage.in_block(c.pos, c.id);"
        "CREATE VIEW dwh.left AS SELECT c.k, c.d, c.amount FROM dwh.change AS c WHERE FALSE"
    )
    orders.topic("dwh.f#plain", view="c.k, c.d, c.amount")
    orders.topic("dwh.f#delete", transforms=["dwh.touched", "dwh.left"], recompute_key=["k"])
    orders.topic("dwh.f#merge", merge_key=["k"])
    orders.run("INSERT INTO dwh.f VALUES (1, 1, 5, NULL), (NULL, 2, 6, NULL)")
    before = orders.all()
    orders.change((1, 1, 10), (None, 1, 20))
    delete = orders.step("dwh.f#delete")
    assert (orders.all(), orders.counts(delete)) == ([], (2, 0, 0, 2, 0))
    merge = orders.step("dwh.f#merge")
    merged = orders.all()
    orders.undo(delete, "dwh.f#delete")
    assert orders.all() == merged
    orders.undo(merge, "dwh.f#merge")
    assert orders.all() == before

    plain = orders.step("dwh.f#plain")
    merge = orders.step("dwh.f#merge")
    assert orders.counts(merge) == (2, 2, 0, 4, 0)
    orders.undo(plain, "dwh.f#plain")
    orders.undo(merge, "dwh.f#merge")
    assert orders.all() == before


def test_upserts_of_two_sessions_wait_for_each_other(
    orders: Orders, another: Another, background: Background, until_settled: UntilSettled
) -> None:
    orders.run(f"CREATE TABLE dwh.f (k int UNIQUE, d int, amount int, {STAMP})")
    orders.topic("dwh.f#a", merge_key=["k"], after_sql=["SELECT pg_advisory_xact_lock(5)"])
    orders.topic("dwh.f#b", merge_key=["k"])
    orders.change((1, 1, 10), (2, 1, 20))
    orders.scene.conn.execute("SELECT pg_advisory_lock(5)")
    one, two = another(role="omd_runner"), another(role="omd_runner")
    held = background(one.step, "dwh.f#a")
    until_settled(one, held)
    waiting = background(two.step, "dwh.f#b")
    until_settled(two, waiting)
    assert orders.content() == []
    orders.scene.conn.execute("SELECT pg_advisory_unlock(5)")
    assert (held.result(30).outcome, waiting.result(30).outcome) == ("DONE", "DONE")
    assert orders.content() == [(1, 10), (2, 20)]
    orders.undo(waiting.result().id, "dwh.f#b")
    assert orders.content("k, omd_insert_module_instance_id") == [
        (1, held.result().id),
        (2, held.result().id),
    ]
    # A step that is cancelled in the middle leaves nothing.
    orders.change((1, 1, 11))
    orders.scene.conn.execute("SELECT pg_advisory_lock(5)")
    held = background(one.step, "dwh.f#a")
    until_settled(one, held)
    orders.scene.rows("SELECT pg_cancel_backend(%s)", one.conn.info.backend_pid)
    with pytest.raises(psycopg.errors.QueryCanceled):
        held.result(30)
    orders.scene.conn.execute("SELECT pg_advisory_unlock(5)")
    assert orders.content() == [(1, 10), (2, 20)]
    assert orders.scene.one("SELECT count(*) FROM omd_lineage.replaced_row") == 0
    orders.step("dwh.f#a")
    assert orders.content() == [(1, 11), (2, 20)]


def totals(orders: Orders, unique: str = "PRIMARY KEY") -> None:
    """A topic with the sum of the newest amounts per d; an amount of NULL cancels an order."""
    orders.run(
        f"CREATE TABLE dwh.f (d int {unique}, amount bigint, orders bigint, {STAMP});"
        "CREATE VIEW dwh.newest AS SELECT DISTINCT ON (c.k) c.k, c.d, c.amount FROM dwh.change AS c"
        " WHERE omd_lineage.until_block_end(c.pos, c.id) ORDER BY c.k, c.pos DESC, c.id DESC;"
        # An order that changes its day touches both days.
        "CREATE VIEW dwh.touched AS SELECT o.d FROM dwh.change AS o WHERE o.k IN"
        " (SELECT c.k FROM dwh.change AS c WHERE omd_lineage.in_block(c.pos, c.id));"
        "CREATE VIEW dwh.total AS SELECT n.d, sum(n.amount) AS amount, count(*) AS orders"
        " FROM dwh.newest AS n WHERE n.amount IS NOT NULL GROUP BY n.d"
    )
    orders.topic(transforms=["dwh.touched", "dwh.total"], recompute_key=["d"], maxstep=3)


@pytest.mark.parametrize("unique", ["PRIMARY KEY", "UNIQUE", ""])
def test_totals_with_late_changed_and_cancelled_orders(orders: Orders, unique: str) -> None:
    totals(orders, unique)
    orders.change((1, 1, 10), (2, 1, 20), (3, 2, 30))
    first = orders.step()
    assert orders.content("d, amount, orders") == [(1, 30, 2), (2, 30, 1)]
    before = orders.all()
    # 1 is changed, 3 is cancelled, 4 is late.
    orders.change((1, 1, 15), (3, 2, None), (4, 1, 40))
    second = orders.step()
    assert orders.content("d, amount, orders") == [(1, 75, 3)]
    assert orders.counts(second) == (3, 0, 1, 1, 0) if unique else (3, 1, 0, 2, 0)
    orders.undo(second)
    assert orders.all() == before
    while orders.runner.step().outcome == "DONE":
        pass
    assert orders.content("d, amount, orders") == [(1, 75, 3)]
    if not unique:
        orders.change((5, None, 7))
        orders.step()
        orders.change((6, None, 8))
        orders.step()
        assert orders.content("d, amount, orders") == [(1, 75, 3), (None, 15, 2)]
    orders.undo(first)
    assert orders.all() == []


def test_of_the_whole_base_table_the_rows_of_the_keys_are_read_by_the_index(orders: Orders) -> None:
    """Only so does a step cost what its block is, and not what the table is."""
    orders.run(
        f"CREATE TABLE dwh.f (d int, k int, amount bigint, {STAMP}, PRIMARY KEY (d, k));"
        "CREATE VIEW dwh.total AS SELECT c.d, c.k, sum(c.amount) AS amount FROM dwh.change AS c"
        " GROUP BY c.d, c.k;"
        "CREATE VIEW dwh.touched AS SELECT c.d, c.k FROM dwh.change AS c"
        " WHERE omd_lineage.in_block(c.pos, c.id);"
        "INSERT INTO dwh.change SELECT '2020-01-01'::timestamptz + n * interval '1 ms', n,"
        " n % 7, n / 10, 1 FROM generate_series(1, 30000) AS n; ANALYZE dwh.change"
    )
    orders.topic(transforms=["dwh.touched", "dwh.total"], recompute_key=["d", "k"], maxstep=30000)
    orders.step()
    assert orders.content("count(*), sum(amount)") == [(21001, 30000)]
    orders.n = 40000
    orders.change((1, 5, 1), (2, 700, 1))
    before = orders.content("count(*), sum(amount)")
    # The count has the scans of transactions before, too.
    scans = "SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relid = 'dwh.change'::regclass"
    orders.topic(
        transforms=["dwh.touched", "dwh.total"],
        before_sql=[f"CREATE TABLE dwh.seen AS {scans}"],
        after_sql=[f"UPDATE dwh.seen SET seq_scan = ({scans}) - seq_scan"],
    )
    orders.run("GRANT CREATE ON SCHEMA dwh TO omd_runner")
    step = orders.step()
    assert orders.scene.one("SELECT seq_scan FROM dwh.seen") == 0
    assert before == [(21001, 30000)]
    assert orders.content("sum(amount)") == [(30002,)]
    assert orders.counts(step)[:4] == (2, 0, 2, 0)


def test_rows_of_a_run_that_may_be_undone_do_not_count_yet(orders: Orders) -> None:
    """The run writes in several commits, as Spark does, and is undone without touching a key."""
    orders.scene.module("loader", table_code="dwh.change", area_code="HSTG", table_type_code=None)
    orders.run(f"ALTER TABLE dwh.change ADD COLUMN {STAMP}")
    totals(orders)
    orders.change((1, 1, 10))
    loads = orders.scene.begin_module("loader")
    orders.change((2, 1, 100))
    orders.run(f"UPDATE dwh.change SET omd_insert_module_instance_id = {loads.id} WHERE id = 2")
    orders.step()
    assert orders.content("d, amount, orders") == [(1, 10, 1)]
    orders.scene.end_module(loads.id, "S")
    orders.step()
    assert orders.content("d, amount, orders") == [(1, 110, 2)]


def test_what_is_refused_at_registration(orders: Orders) -> None:
    orders.run(f"CREATE TABLE dwh.f (k int, d int, amount int, {STAMP})")
    orders.topic(view="c.k, c.d")
    for wrong in (
        {"merge_key": ["nothing"]},
        {"merge_key": ["amount"]},  # the view lacks it
        {"merge_key": ["k", "k"]},
        {"merge_key": ["k", None]},
        {"merge_key": ["omd_insert_module_instance_id"]},
        {"merge_key": ["k"], "processor": "RELOAD"},
        {"merge_key": ["k"], "processor": "dwh.mine"},
        {"merge_key": ["k"], "engine": "SPARK"},
        {"merge_key": ["k"], "recompute_key": ["k"]},
        {"recompute_key": ["k"]},  # one view
    ):
        detail = orders.scene.refused("OM013", "omd_lineage.register_topic", topic="dwh.f", **wrong)
        assert detail["argument"] in {"p_merge_key", "p_recompute_key", "p_transforms"}
    orders.scene.register("dwh.f", merge_key=["k"])
    orders.scene.register("dwh.f", merge_key=[])
    assert orders.scene.one("SELECT merge_key FROM omd_lineage.topic WHERE topic = 'dwh.f'") is None
    # What has changed since the registration.
    orders.scene.register("dwh.f", merge_key=["k"])
    orders.run("ALTER TABLE dwh.f RENAME k TO kk")
    orders.change((1, 1, 1))
    assert "has no column" in (orders.runner.step().detail or "")


def test_an_undo_that_can_not_put_all_back_is_refused(orders: Orders) -> None:
    orders.run(f"CREATE TABLE dwh.f (k int UNIQUE, d int, amount int, {STAMP})")
    orders.topic(merge_key=["k"])
    orders.change((1, 1, 10))
    first = orders.step()
    orders.change((1, 1, 11))
    second = orders.step()
    orders.change((1, 1, 12))
    orders.step()
    orders.run("ALTER TABLE dwh.f RENAME d TO dd")
    assert orders.not_undone(second) == "OM218"
    orders.run("ALTER TABLE dwh.f RENAME dd TO d; ALTER TABLE dwh.f ADD COLUMN new int DEFAULT 7")
    # A purge keeps what the pending undo needs.
    purge = b"CALL omd.purge('0', 'omd_lineage')"
    orders.scene.conn.execute(purge)
    orders.undo(second)
    assert orders.content("k, amount, new") == [(1, 10, 7)]
    while orders.runner.step().outcome == "DONE":
        pass
    assert orders.content() == [(1, 12)]
    assert orders.scene.one("SELECT count(*) FROM omd_lineage.replaced_row") > 0
    orders.scene.conn.execute(purge)
    assert orders.scene.one("SELECT count(*) FROM omd_lineage.replaced_row") == 0
    assert orders.scene.one("SELECT count(*) FROM omd_lineage.replacement") == 1
    assert orders.not_undone(first) == "OM217"
    assert orders.content() == [(1, 12)]


@pytest.mark.random
@pytest.mark.parametrize("seed", seeds(2))
def test_any_order_of_changes_steps_and_undos_ends_with_the_right_totals(
    orders: Orders, seed: int
) -> None:
    """A model in Python has the newest change of each order."""
    choice = random.Random(seed)
    totals(orders, choice.choice(["PRIMARY KEY", ""]))
    newest: dict[int, tuple[int, int | None]] = {}
    done: list[int] = []
    for _ in range(50):
        kind = choice.random()
        if kind < 0.6:
            k = choice.randrange(8)
            newest[k] = (choice.randrange(4), choice.choice([None, 1, 10, 100]))
            orders.change((k, *newest[k]))
        elif kind < 0.85 or not done:
            step = orders.runner.step()
            done += [step.id] if step.outcome == "DONE" and step.id else []
        else:
            step_id = choice.choice(done)
            orders.undo(step_id)
            done = [d for d in done if d < step_id]
    while orders.runner.step().outcome == "DONE":
        pass
    want: dict[int, tuple[int, int]] = {}
    for d, amount in newest.values():
        if amount is not None:
            total, count = want.get(d, (0, 0))
            want[d] = (total + amount, count + 1)
    assert orders.content("d, amount, orders") == sorted((d, *v) for d, v in want.items())


@pytest.mark.parametrize(
    ("unique", "key"), [("PRIMARY KEY", "d"), ("", "own")], ids=["in its place", "deleted"]
)
def test_a_step_takes_no_row_of_another_run_with_it(orders: Orders, unique: str, key: str) -> None:
    totals(orders, unique)
    if key == "own":
        orders.run("ALTER TABLE dwh.f ADD own bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY")
    orders.change((1, 1, 10), (3, 2, 30))
    orders.step()
    before = orders.all()
    orders.run(
        f"CREATE TABLE dwh.c (r bigint REFERENCES dwh.f ({key}) ON DELETE CASCADE, {STAMP});"
        f"INSERT INTO dwh.c SELECT {key}, 999 FROM dwh.f WHERE d = 2;"
        "GRANT SELECT ON dwh.c TO omd_runner"
    )
    orders.change((3, 2, None))
    step = orders.runner.step()
    assert step.outcome == "ERROR"
    assert "lacks rows that dwh.c refers to" in (step.detail or "")
    assert (orders.all(), len(orders.content("r", "dwh.c"))) == (before, 1)
    orders.run("DELETE FROM dwh.c")
    orders.step()
    assert orders.content("d, amount") == [(1, 10)]
