"""The commands of delivery that use Spark, in the process of the session of these tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import psycopg

    Command = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.spark

MODEL = """
interface: shop
entities:
  - name: orders
    key: [nbr]
    attributes:
      - {name: nbr, type: integer}
      - {name: customer, type: text(10)}
      - {name: amount, type: "numeric(12,2)"}
    constraints:
      - {name: positive, type: value, attribute: amount, check: amount > 0}
      - {name: big, type: set, query: "SELECT nbrr FROM orders"}
      - {name: other, type: set, query: "SELECT customer FROM orders"}
tenants: [{tenant: t}]
agreements: [{agreement: a, tenant: t}]
"""


@pytest.fixture
def omd_(spark: Any, omd_here: Command, dsn: str) -> Command:
    return lambda *arguments, **options: omd_here(*arguments, dsn=dsn, **options)


def test_spark_compiles_a_model_before_it_is_deployed(
    omd_: Command, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    """What it does not understand takes the whole deployment back."""
    file = tmp_path / "shop.yaml"
    file.write_text(MODEL)
    done = omd_("apply", str(file))
    assert (done.returncode, done.stdout) == (1, "")
    assert "shop.yaml:12: entities[0].constraints[1].query: " in done.stderr
    assert "nbrr" in done.stderr
    assert "shop.yaml:13: entities[0].constraints[2].query: it does not answer nbr\n" in done.stderr
    assert "SQLSTATE: OM030" in done.stderr
    assert conn.execute("SELECT FROM omd_delivery.interface").fetchall() == []
    file.write_text(MODEL.replace("nbrr", "nbr").replace("SELECT customer", "SELECT nbr"))
    assert omd_("apply", str(file)).returncode == 0
    assert len(conn.execute("SELECT FROM omd_delivery.interface").fetchall()) == 1


def test_a_model_without_queries_does_not_wait_for_spark(
    omd_: Command, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text("\n".join(li for li in MODEL.splitlines() if "type: set" not in li))
    done = omd_("apply", str(file))
    assert (done.returncode, "Spark" in done.stderr) == (0, False), done.stderr
    file.write_text(file.read_text().replace("> 0", ">= 0"))
    assert "Spark compiles the checks" in omd_("apply", "--spark", str(file)).stderr


def test_a_jvm_that_starts_says_nothing_and_one_that_does_not_says_why() -> None:
    program = """
from omd.spark.sessions import quiet_session
spark = quiet_session("local[1]")
spark._jvm.System.err.println("said later")
spark.stop()
"""

    def run(**environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    assert run().stderr == "said later\n"
    done = run(PYSPARK_SUBMIT_ARGS="--no-such-option pyspark-shell")
    assert "--no-such-option" in done.stderr.partition("Traceback")[0]


def test_a_folder_is_delivered_rejected_and_resumed(
    omd_: Command, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    """The receipt is on stdout, what happens meanwhile on stderr; 7 says that it was rejected."""
    model = tmp_path / "shop.yaml"
    lines = [line for line in MODEL.splitlines() if "type: set" not in line]
    model.write_text("\n".join(lines))
    assert omd_("apply", "--no-spark", str(model)).returncode == 0
    folder = tmp_path / "files"
    folder.mkdir()
    orders = folder / "orders.csv"
    orders.write_text("nbr,customer,amount\n1,a,1.50\n2,b,2\n")
    run = ("deliver", "a", str(folder))

    page = tmp_path / "receipt.html"
    done = omd_(*run, "--snapshot", "2020-01-01", "--dry-run", "--receipt", str(page))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("This was a trial: the delivery would be accepted.\n")
    assert "This was a trial" in page.read_text(encoding="utf-8")

    done = omd_(*run, "--snapshot", "2020-01-01", "--message", "first", "--output", "json")
    assert done.returncode == 0, done.stderr
    receipt = json.loads(done.stdout)
    assert (receipt["status"], receipt["entities"][0]["rows_new"]) == ("ACCEPTED", 2)
    for told in ("LOADED, run 1", "orders: 2 rows, 0 left out; 2 new", "ACCEPTED: ACCEPTED"):
        assert told in done.stderr, told

    orders.write_text("nbr,customer,amount\n1,a,-1\n")
    done = omd_(*run, "--snapshot", "2020-01-02", "--load", "orders=DELTA")
    assert done.returncode == 7, done.stderr
    assert "orders: rows that break the rule positive: 1 of 1; allowed: none.\n" in done.stdout

    orders.write_text("nbr,customer,amount\n")
    done = omd_(*run, "--snapshot", "2020-01-03")
    assert done.returncode == 7, done.stderr
    assert "deliver again with: --allow-deletes orders\n" in done.stdout
    done = omd_(*run, "--snapshot", "2020-01-03", "--allow-deletes", "orders")
    assert done.returncode == 0, done.stderr
    assert (
        conn.execute(
            "SELECT acm_record_ind FROM lvl_shop.orders WHERE acm_end_dt > now()"
        ).fetchall()
        == [{"acm_record_ind": "R"}] * 2
    )

    # What was created by a call is taken up by resume.
    create = ("call", "omd_delivery.create_delivery", "--agreement-code", "a", "--output", "json")
    done = omd_(*create, "--snapshot-datetime", "2020-01-04")
    created = str(json.loads(done.stdout)["delivery_id"])
    assert omd_("call", "omd_delivery.report_loaded", "--delivery-id", created).returncode == 0
    done = omd_("deliver", "--resume", created, str(folder))
    assert done.returncode == 0, done.stderr
    assert "No rule was broken." in done.stdout


def test_what_has_arrived_is_delivered_the_oldest_first_until_nothing_is_left(
    omd_: Command, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    """Each delivery is told on stderr; 1 says that one was not accepted, or a place unreadable."""
    model = tmp_path / "shop.yaml"
    lines = [line for line in MODEL.splitlines() if "type: set" not in line]
    model.write_text("\n".join(lines))
    assert omd_("apply", "--no-spark", str(model)).returncode == 0
    drop = tmp_path / "drop"
    location = json.dumps({"location": str(drop)})
    agreed = ("call", "omd_delivery.register_agreement", "--agreement-code", "a", "--arrival")
    assert omd_(*agreed, location).returncode == 0
    done = omd_("deliver", "--arrived", "--dry-run")
    assert done.returncode == 1
    assert f"a: {drop}: No such file or directory" in done.stderr

    def arrive(day: str, amount: int) -> None:
        folder = drop / day
        folder.mkdir(parents=True)
        (folder / "orders.csv").write_text(f"nbr,customer,amount\n1,a,{amount}\n")
        (folder / "_SUCCESS").touch()

    arrive("2020-01-02", 2)
    arrive("2020-01-01", 1)
    done = omd_("deliver", "a", "--arrived", "--dry-run")
    assert (done.returncode, done.stderr) == (0, "Agreement a: folders found: 2.\n")
    assert conn.execute("SELECT FROM omd_delivery.delivery").fetchall() == []
    done = omd_("deliver", "--arrived")
    assert done.returncode == 0, done.stderr
    delivered = [line for line in done.stderr.splitlines() if line.startswith("Delivery ")]
    assert [line.rpartition(" ")[2] for line in delivered] == ["ACCEPTED.", "ACCEPTED."]
    assert conn.execute(
        "SELECT amount::integer AS now FROM lvl_shop.orders WHERE acm_end_dt > now()"
    ).fetchall() == [{"now": 2}]

    arrive("2020-01-03", -1)
    done = omd_("deliver", "a", "--arrived")
    assert done.returncode == 1
    assert "is REFUSED." in done.stderr
