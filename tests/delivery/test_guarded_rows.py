"""Work tables and staging tables take rows of a delivery at work alone (rules Q17 and Q19)."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

from omd.programs.install import sql_root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from delivery.runs import Shop

DELTA = {"customer": "DELTA"}


@pytest.fixture
def runner(shop: Shop, shops: Callable[..., Shop]) -> Shop:
    shop.deploy()
    return shops(role="omd_runner")


@pytest.fixture
def logins(shop: Shop, shops: Callable[..., Shop]) -> Iterator[Callable[[str], Shop]]:
    """A function that returns the calls over a connection of a login that is an omd_runner."""
    made: list[Shop] = []
    names: list[str] = []

    def login(name: str) -> Shop:
        shop.conn.execute(
            sql.SQL("CREATE ROLE {0} LOGIN PASSWORD {1} IN ROLE omd_runner").format(
                sql.Identifier(name), name
            )
        )
        names.append(name)
        made.append(shops(user=name, password=name))
        return made[-1]

    yield login
    for each in made:
        each.conn.close()
    for name in names:
        shop.conn.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


@pytest.fixture
def waits(shop: Shop) -> Iterator[Callable[..., Future[Any]]]:
    """A function: one session makes a call, and waits for another; it returns the call."""
    with ThreadPoolExecutor(1) as pool:

        def wait(one: Shop, holder: Shop, call: Callable[[], Any]) -> Future[Any]:
            made = pool.submit(call)
            while not shop.one(
                "SELECT %s = ANY(pg_blocking_pids(%s))",
                holder.conn.info.backend_pid,
                one.conn.info.backend_pid,
            ):
                assert not made.done(), made.result()
            return made

        yield wait


def refused(shop: Shop, statement: str, sqlstate: str = "OM138") -> str:
    with pytest.raises(psycopg.Error) as caught:
        shop.conn.execute(statement.encode())
    assert caught.value.sqlstate == sqlstate, caught.value
    return str(caught.value)


def insert(delivery: int, instance: int, key: int = 1, indicator: str = "N") -> str:
    return (
        "INSERT INTO wrk_shop.delta_customer (delivery_id, acm_record_ind, acm_audit_id, nbr)"
        f" VALUES ({delivery}, '{indicator}', {instance}, {key})"
    )


def begun(runner: Shop, at: int = 1) -> Any:
    run = runner.run(at, entities=DELTA)
    run.validate()
    return run


def test_rows_of_an_accepted_delivery_are_refused(runner: Shop) -> None:
    run = begun(runner)
    run.write("customer", ("N", 1, "a"))
    run.apply(written={"customer": 1})
    instance = run.instances["customer"]
    assert "is ACCEPTED" in refused(runner, insert(run.id, instance, 2))
    assert "is ACCEPTED" in refused(runner, insert(run.id, instance, 1, "R"))
    assert "no delivery 4711" in refused(runner, insert(4711, instance))
    later = begun(runner, 2)
    # One row of another delivery is enough.
    both = (
        "INSERT INTO wrk_shop.delta_customer (delivery_id, acm_record_ind, acm_audit_id, nbr)"
        f" VALUES ({later.id}, 'N', {later.instances['customer']}, 7),"
        f" ({run.id}, 'N', {instance}, 8)"
    )
    refused(runner, both)
    copy = "COPY wrk_shop.delta_customer (delivery_id, acm_record_ind, acm_audit_id, nbr)"
    with (
        pytest.raises(psycopg.Error, match="is ACCEPTED"),
        runner.conn.cursor().copy(f"{copy} FROM STDIN".encode()) as rows,
    ):
        rows.write_row((run.id, "N", instance, 9))
    merge = (
        "MERGE INTO wrk_shop.delta_customer AS d USING (VALUES (9)) AS v (k) ON d.nbr = v.k"
        " WHEN NOT MATCHED THEN INSERT (delivery_id, acm_record_ind, acm_audit_id, nbr)"
        f" VALUES ({run.id}, 'N', {instance}, 9)"
    )
    refused(runner, merge)
    refused(runner, insert(run.id, instance, 9) + " ON CONFLICT DO NOTHING")
    assert runner.rows("SELECT nbr FROM wrk_shop.delta_customer") == [{"nbr": 1}]


def test_rows_are_taken_of_the_run_at_work_alone(runner: Shop) -> None:
    delivery_id = runner.create(1, entities=DELTA)
    assert "is RECEIVED" in refused(runner, insert(delivery_id, 1))
    runner.call("report_loaded", delivery_id=delivery_id)
    assert "no run of delivery" in refused(runner, insert(delivery_id, 1))
    first = runner.begin(delivery_id)
    instance = first.instances["customer"]
    refused(runner, insert(delivery_id, instance + 1))
    runner.conn.execute(insert(delivery_id, instance).encode())
    runner.call("fail_delivery", delivery_id=delivery_id, attempt=1)
    assert "no run of delivery" in refused(runner, insert(delivery_id, instance))
    second = runner.begin(delivery_id)
    assert "is not the instance of run 2" in refused(runner, insert(delivery_id, instance))
    # An entity that is not delivered has none.
    refused(
        runner,
        "INSERT INTO wrk_shop.delta_orders (delivery_id, acm_record_ind, acm_audit_id, nbr)"
        f" VALUES ({delivery_id}, 'N', {second.instances['customer']}, 1)",
    )
    second.validate()
    second.write("customer", ("N", 1, "a"))
    runner.call("cancel_delivery", delivery_id=delivery_id, reason="why")
    assert "is CANCELLED" in refused(runner, insert(delivery_id, second.instances["customer"]))


def test_a_delta_is_only_inserted_into_whoever_may_do_more(runner: Shop, shop: Shop) -> None:
    """A right that somebody has granted, and a view that is written, are no way round."""
    shop.conn.execute("GRANT ALL ON wrk_shop.delta_customer TO omd_runner")
    shop.conn.execute("CREATE VIEW dwh.delta AS SELECT * FROM wrk_shop.delta_customer")
    shop.conn.execute(
        "GRANT ALL ON dwh.delta TO omd_runner; GRANT USAGE ON SCHEMA dwh TO omd_runner"
    )
    run = begun(runner)
    run.write("customer", ("N", 1, "a"))
    run.apply(written={"customer": 1})
    later = begun(runner, 2)
    later.write("customer", ("N", 2, "b"))
    for table in ("wrk_shop.delta_customer", "dwh.delta"):
        for statement in (
            f"UPDATE {table} SET delivery_id = {run.id}",
            f"UPDATE {table} SET nbr = 3 WHERE delivery_id = {run.id}",
            f"DELETE FROM {table}",
            insert(run.id, run.instances["customer"], 3).replace("wrk_shop.delta_customer", table),
        ):
            refused(runner, statement)
    refused(runner, "TRUNCATE wrk_shop.delta_customer")
    assert later.apply(written={"customer": 1})["delivery_status"] == "ACCEPTED"
    # A superuser may do all of it.
    shop.conn.execute(insert(run.id, 4711, 3).encode())
    shop.conn.execute("DELETE FROM wrk_shop.delta_customer WHERE nbr = 3")


def test_apply_waits_for_who_writes_and_counts_his_rows(
    runner: Shop, shops: Callable[..., Shop], waits: Callable[..., Future[Any]]
) -> None:
    run = begun(runner)
    run.write("customer", ("N", 1, "a"))
    writer, other = shops(role="omd_runner"), shops(role="omd_runner")
    with writer.conn.transaction():
        writer.conn.execute(insert(run.id, run.instances["customer"], 2).encode())
        run.shop = other
        applied = waits(other, writer, lambda: run.apply(written={"customer": 1}))
    with pytest.raises(psycopg.Error, match="2 are there") as caught:
        applied.result()
    assert caught.value.sqlstate == "OM134"
    assert run.apply()["row_counts"]["customer"] == {"N": 2, "A": 0, "R": 0}


def test_who_writes_beside_apply_waits_and_is_refused(
    runner: Shop, shops: Callable[..., Shop], waits: Callable[..., Future[Any]]
) -> None:
    run = begun(runner)
    run.write("customer", ("N", 1, "a"))
    writer = shops(role="omd_runner")
    with runner.conn.transaction():
        run.apply(written={"customer": 1})
        late = insert(run.id, run.instances["customer"], 2).encode()
        written = waits(writer, runner, lambda: writer.conn.execute(late))
    with pytest.raises(psycopg.Error) as caught:
        written.result()
    assert caught.value.sqlstate == "OM138"
    assert runner.one("SELECT count(*) FROM wrk_shop.delta_customer") == 1


def test_an_end_of_a_run_waits_for_who_writes_and_a_begin_does_not(
    shop: Shop, runner: Shop, shops: Callable[..., Shop], waits: Callable[..., Future[Any]]
) -> None:
    run = begun(runner)
    instance = run.instances["customer"]
    writer, other = shops(role="omd_runner"), shops(role="omd_runner")
    with writer.conn.transaction():
        writer.conn.execute(insert(run.id, instance).encode())
        failed = waits(
            other, writer, lambda: other.call("fail_delivery", delivery_id=run.id, attempt=1)
        )
        # This is what the writer on Spark does last; it takes the instance.
        writer.call("omd.fence", module_instance_id=instance)
    failed.result()
    again = runner.begin(run.id)
    assert runner.one("SELECT count(*) FROM wrk_shop.delta_customer") == 0
    with writer.conn.transaction():
        writer.conn.execute(insert(run.id, again.instances["customer"]).encode())
        # Its run dies, and another delivery would like to begin.
        shop.owner(
            "UPDATE omd.module_instance SET lease_expires_at = '-infinity'"
            " WHERE module_instance_id = %s",
            again.instances["customer"],
        )
        assert runner.ask(run.id)["outcome"] == "RUNNING"
        shop.agree("b")
        assert runner.ask(runner.load(2, code="b"))["outcome"] == "WAIT"
    assert "no run" in refused(writer, insert(run.id, again.instances["customer"]))
    assert runner.begin(run.id).attempt == 3
    assert runner.one("SELECT count(*) FROM wrk_shop.delta_customer") == 0


def test_staging_is_written_for_a_delivery_that_is_not_decided(runner: Shop, shop: Shop) -> None:
    shop.agree("b")
    stage = "INSERT INTO stg_a.customer (nbr) VALUES ('1')"
    assert "no delivery under the agreement a" in refused(runner, stage)
    delivery_id = runner.create(1, entities=DELTA)
    runner.conn.execute(stage.encode())
    runner.conn.execute("DELETE FROM stg_a.customer")
    runner.conn.execute(stage.encode())
    assert "agreement b" in refused(runner, stage.replace("stg_a", "stg_b"))
    refused(runner, "DELETE FROM stg_b.customer")
    shop.conn.execute("GRANT ALL ON stg_b.customer TO omd_runner")
    refused(runner, "UPDATE stg_b.customer SET nbr = '2'")
    refused(runner, "TRUNCATE stg_b.customer")
    runner.call("report_loaded", delivery_id=delivery_id)
    run = runner.begin(delivery_id)
    run.validate()
    run.apply()
    refused(runner, stage)
    refused(runner, "DELETE FROM stg_a.customer")
    shop.conn.execute(stage.encode())
    assert runner.one("SELECT count(*) FROM stg_a.customer") == 2


def test_staging_belongs_to_the_login_that_created_the_delivery(
    shop: Shop, logins: Callable[[str], Shop]
) -> None:
    shop.deploy()
    sender, stranger, helper = (logins(f"it's_{name}") for name in ("sender", "stranger", "helper"))
    sender.create(1)
    stage = "INSERT INTO stg_a.customer (nbr) VALUES ('1')"
    assert """belongs to the login it's_sender""" in refused(stranger, stage)
    refused(stranger, "DELETE FROM stg_a.customer")
    sender.conn.execute(stage.encode())
    refused(helper, stage)
    shop.conn.execute('GRANT "it\'s_sender" TO "it\'s_helper"')
    helper.conn.execute(stage.encode())
    assert sender.one("SELECT count(*) FROM stg_a.customer") == 2


def test_interfaces_from_before_the_triggers_get_them(shop: Shop, runner: Shop) -> None:
    triggers = (
        "SELECT tgrelid::regclass::text AS t, tgname FROM pg_trigger WHERE NOT tgisinternal"
        " AND tgrelid::regclass::text ~ '^(wrk|stg)_' ORDER BY 1, 2"
    )
    had = shop.rows(triggers)
    assert len(had) == 6
    for row in had:
        shop.conn.execute(f"DROP TRIGGER {row['tgname']} ON {row['t']}".encode())
    text = (sql_root() / "sql/triggers/omd_delivery/deployed_tables.sql").read_text()
    shop.conn.execute("SET ROLE omd_owner")
    for _ in range(2):
        shop.conn.execute(text.encode())
    shop.conn.execute("RESET ROLE")
    assert shop.rows(triggers) == had
