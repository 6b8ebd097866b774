"""``omd demo delivery`` and ``facts`` show what is true, and their proofs can fail."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row

import omd
from demo.reading import check_what_reads
from omd.programs.demo import files
from omd.programs.demo.delivery import proof, story
from omd.programs.demo.delivery.proof import Accepted
from omd.programs.demo.delivery.supplier import FORGOTTEN, Supplier
from omd.programs.demo.facts import proof as facts_proof
from omd.programs.demo.facts.proof import Moment
from omd.rooms.facts.rows import FactsLoadsRow

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

pytestmark = pytest.mark.spark

OPEN = "acm_end_dt = '9999-12-31 00:00:00+00' AND acm_record_ind <> 'R'"
ONE_FLIGHT = (
    "(carrier, flight, departs) ="
    f" (SELECT carrier, flight, departs FROM lvl_nyc.flights WHERE {OPEN} LIMIT 1)"
)


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> list[Accepted]:
    """The files that the story of five months gets accepted, written anew."""
    source = files.prepare(tmp_path_factory.mktemp("source"))
    supplier = Supplier(source, tmp_path_factory.mktemp("files"), story.QUICK[1])
    return [
        Accepted(supplier.first(1)),
        Accepted(supplier.month(2, airports=FORGOTTEN), changes=("months", "airports")),
        Accepted(supplier.month(3)),
        Accepted(supplier.corrected(3, "UA")[0], carrier="UA"),
        Accepted(supplier.month(4)),
        Accepted(supplier.month(5)),
    ]


@pytest.fixture(scope="module")
def played(
    new_database: Callable[[], AbstractContextManager[str]],
    omd_command: Callable[..., subprocess.CompletedProcess[str]],
) -> Iterator[tuple[str, subprocess.CompletedProcess[str]]]:
    """A database in which the demo was played, and its output."""
    with new_database() as dsn:
        played = ("demo", "delivery", "--quick", "--master", "local[2]")
        yield dsn, omd_command(*played, dsn=dsn, timeout=900)


def test_it_tells_what_happened(played: tuple[str, Any]) -> None:
    done = played[1]
    assert done.returncode == 0, done.stdout + done.stderr
    acts = re.split(r"(?m)^(?=January:|February:|March|April:|May:)", done.stdout)
    assert len(acts) == 7, done.stdout
    for act, what in zip(
        acts[1:],
        (
            r"✓ 2013-01 +accepted: 7,574 new",
            r"✓ 2013-02-and-airports +accepted: 6,088 new",
            r"✗ 2013-03-twice +rejected(?s:.*)✓ 2013-03 +accepted: 6,531 new",
            r"✓ 2013-03-UA +accepted: 40 changed, 3 deleted",
            r"✗ 2013-04-and-airports +rejected(?s:.*)✓ 2013-04 +accepted: 6,593 new",
            r"! 2013-05 +kill(?s:.*) 0 flights(?s:.*)✓ 2013-05 +accepted at attempt 2: 6,518 new",
        ),
        strict=True,
    ):
        assert re.search(what, act), act
    assert "docs/tutorial/delivery.md" in done.stdout
    assert "\033" not in done.stdout  # it is no terminal, so the lines are plain


def test_the_layer_holds_what_the_accepted_files_say(
    connection: psycopg.Connection[Any], accepted: list[Accepted]
) -> None:
    checks = proof.prove(connection, "nyc", accepted)
    assert [(c.expected.table_code, c.found.rows, c.problem) for c in checks] == [
        ("carriers", 16, None),
        ("airports", 1_462, None),
        ("months", 5, None),
        ("flights", 31_818, None),
    ]


@pytest.mark.parametrize(
    ("statement", "failed"),
    [
        (
            f"DELETE FROM lvl_nyc.flights WHERE {ONE_FLIGHT} AND {OPEN}",
            {"flights": "1 rows too few"},
        ),
        (
            f"UPDATE lvl_nyc.flights SET dest = 'BQN' WHERE {ONE_FLIGHT} AND {OPEN}",
            {"flights": "a value has changed"},
        ),
        (
            f"UPDATE lvl_nyc.airports SET acm_audit_id = 0 WHERE faa = 'JFK' AND {OPEN}",
            {"airports": "1 rows are of no succeeded run"},
        ),
        (
            (
                "INSERT INTO lvl_nyc.months SELECT date '2013-06-01', acm_start_dt, acm_end_dt,"
                f" acm_record_ind, acm_audit_id FROM lvl_nyc.months WHERE {OPEN} LIMIT 1"
            ),
            {"months": "1 rows too many"},
        ),
    ],
)
def test_the_proof_fails_when_something_is_wrong(
    connection: psycopg.Connection[Any],
    accepted: list[Accepted],
    statement: str,
    failed: dict[str, str],
) -> None:
    assert connection.execute(statement.encode()).rowcount == 1
    checks = proof.prove(connection, "nyc", accepted)
    assert {c.expected.table_code: c.problem for c in checks if not c.holds} == failed


def test_the_demo_of_facts_goes_on_where_it_ends(
    played: tuple[str, Any], omd_command: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    dsn = played[0]
    done = omd_command("demo", "facts", "--quick", "--master", "local[2]", dsn=dsn, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    for what in (
        r"saw 7 states: each as it was after a",
        r"✓ omd_facts.undo nyc \d+ +1 load undone, the facts are as of 2013-05-01",
        r"✓ omd export FULL +16 carriers, 1,462 airports, 5 months, 31,818 flights",
        r"✗ DELETE a carrier +OM055",
        r"✓ omd export CHANGES +1 airports, 1 flights",
        r"ANCHOR +cfl_nyc.h_airports +1 +1",
        r"2013-04-15 +18709 +18709 .* ✓",
    ):
        assert re.search(what, done.stdout), done.stdout
    with (
        omd.connect(dsn) as control,
        psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn,
    ):
        [first] = control.report(FactsLoadsRow, order_by=["module_instance_id"], limit=1)
        moment = Moment(first.transaction_datetime, facts_proof.contents(conn, "gdal_nyc"))
        assert [m.holds for m in facts_proof.prove(conn, "nyc", [moment])] == [False]


def test_every_command_that_only_reads_works(
    connection: psycopg.Connection[Any],
    played: tuple[str, Any],
    omd_here: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    check_what_reads(connection, played[0], omd_here)
