"""A topic on Spark over facts: its commit looks whether its block still stands."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import pytest

import omd
import omd.spark
from facts.test_changes import ORDERS
from facts.test_topics import CUSTOMERS, load, newest, revert
from omd.doors.lineage import Lineage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from facts.store import Store

pytestmark = pytest.mark.spark

BLOCK = "SELECT nbr, amount, acm_record_ind AS what FROM block"


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    return omd.spark.session("local[2]", {"spark.log.level": "OFF"})


@pytest.fixture
def lineage(store: Store, dsn: str) -> Iterator[Lineage]:
    store.set_up(ORDERS, CUSTOMERS)
    store.conn.execute(
        "CREATE SCHEMA IF NOT EXISTS app; DROP TABLE IF EXISTS app.f CASCADE;"
        "CREATE TABLE app.f (nbr int, amount int, what text,"
        " omd_insert_module_instance_id bigint);"
        "GRANT USAGE ON SCHEMA app TO omd_owner; GRANT ALL ON app.f TO omd_owner"
    )
    with omd.connect(dsn) as control:
        lineage = Lineage(control)
        lineage.register_topic(
            "app.f", depends_on=["gdal_shop.orders"], transforms=[BLOCK], engine="SPARK"
        )
        yield lineage


def read(store: Store) -> list[tuple[Any, ...]]:
    rows = store.rows("SELECT what, nbr, amount FROM app.f ORDER BY what, nbr, amount")
    return [(r["what"], r["nbr"], r["amount"]) for r in rows]


def test_a_block_is_read_by_changes_and_an_undo_meanwhile_refuses_its_commit(
    store: Store,
    lineage: Lineage,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """A7 and H5."""
    load(store, 1, orders=[("N", 1, 1), ("N", 2, 2)])
    assert lineage.step("app.f", spark=spark).succeeded
    assert read(store) == [("N", 1, 1), ("N", 2, 2)]
    bad = load(store, 2, orders=[("A", 1, 10), ("R", 2, None)])
    meanwhile: list[Callable[[], object]] = []

    def correct() -> None:
        store.undo(bad)
        revert(store)
        load(store, 2, orders=[("A", 1, 11)])

    (tmp_path / "topics_of_tests.py").write_text(
        "def job(run, spark):\n"
        "    rows = spark.sql('SELECT nbr, amount, acm_record_ind AS what FROM block').collect()\n"
        "    for call in meanwhile:\n        call()\n"
        "    return spark.createDataFrame(rows, 'nbr int, amount int, what string')\n"
        "meanwhile = []\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("topics_of_tests")
    meanwhile = module.meanwhile
    lineage.register_topic("app.f", transforms=["topics_of_tests:job"])
    meanwhile.append(correct)
    refused = lineage.step("app.f", spark=spark)
    assert (refused.status, refused.reason) == ("A", "ABORTED")
    assert "can't be read" in (refused.detail or "")
    assert store.rows(
        "SELECT execution_status_code AS s, next_run_indicator AS n FROM omd.module_instance"
        " WHERE module_instance_id = %s",
        refused.instance_id,
    ) == [{"s": "A", "n": "R"}]
    meanwhile.clear()
    assert lineage.step("app.f", spark=spark).succeeded
    # Its rows are gone, and the block is another one, up to the correction.
    assert read(store) == [("A", 1, 11), ("A", 2, 2), ("N", 1, 1), ("N", 2, 2)]
    assert store.one("SELECT (last).id FROM omd_lineage.offsets WHERE topic = 'app.f'") == newest(
        store
    )
    sys.modules.pop("topics_of_tests", None)
