"""A released version is upgraded while its own client runs loads: none of them fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row

from delivery.runs import SHOP
from facts.store import Store
from omd.programs import install
from omd.programs.install import upgrading
from support.released import oldest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [pytest.mark.server, oldest]

ROOT = Path(__file__).parents[2]
CLIENT = Path(__file__).parents[1] / "support/former_client.py"
FORMER = "a00b0e3e"  # the commit of 1.0.0
LONGEST = 5.0  # seconds; on a machine that does nothing else it is a tenth
READERS_OF_VIEWS = ("step", "events")
# Those that conflict with ROW EXCLUSIVE, on what was there before.
STOPPING = """
    SELECT c.oid::regclass::text
    FROM pg_locks AS l
    INNER JOIN pg_class AS c ON l.relation = c.oid
    WHERE l.pid = pg_backend_pid()
        AND c.oid = ANY (%s)
        AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
    ORDER BY 1
"""
TABLES = """
    SELECT array_agg(c.oid) FROM pg_class AS c
    WHERE c.relkind IN ('r', 'p') AND c.relowner = 'omd_owner'::regrole
"""
SCENE = """
    CREATE TABLE dwh.loop (omd_insert_module_instance_id bigint);
    CREATE TABLE dwh.src (pos timestamptz, id bigint, PRIMARY KEY (pos, id));
    INSERT INTO dwh.src SELECT timestamptz '2020-01-01 UTC' + n * interval '1 s', n
        FROM generate_series(1, 5) AS n;
    CREATE TABLE dwh.f (id bigint, omd_insert_module_instance_id bigint);
    CREATE VIEW dwh.v AS SELECT s.id FROM dwh.src AS s WHERE omd_lineage.in_block(s.pos, s.id);
    CALL omd.register_module('m_loop', 'HSTG', 'dwh.loop');
    CALL omd.register_module('m_beat', 'HSTG', 'dwh.loop');
    CALL omd.register_batch('b_loop', 'Adhoc');
    CALL omd.register_batch('b_sql', 'Adhoc');
    CALL omd.register_module('m_1', 'HSTG', 'dwh.loop');
    CALL omd.register_module('m_2', 'HSTG', 'dwh.loop');
    CALL omd.register_module('m_sql', 'HSTG', 'dwh.loop', p_executable => 'SELECT 1');
    CALL omd.add_module_to_batch('b_loop', 'm_1', 1);
    CALL omd.add_module_to_batch('b_loop', 'm_2', 2);
    CALL omd.add_module_to_batch('b_sql', 'm_sql', 1);
    CALL omd_lineage.register_topic('dwh.src');
    CALL omd_lineage.register_topic('dwh.f', ARRAY['dwh.src'], p_transforms => ARRAY['dwh.v']);
    CALL omd_dispatch.register_family('PARCEL', '{"DEPOT": "text"}');
    CALL omd_dispatch.register_task_type('PARCEL', 'LOOP', 'PYTHON', 'm:f')
"""


@pytest.fixture
def former_driver(tmp_path: Path) -> Path:
    """The Python package of that version."""
    done = subprocess.run(
        ["git", "-C", ROOT, "archive", FORMER, "driver"], check=False, capture_output=True
    )
    if done.returncode:
        pytest.skip("the history of git is not here")
    with tarfile.open(fileobj=BytesIO(done.stdout)) as archive:
        archive.extractall(tmp_path / "former", filter="data")
    return tmp_path / "former/driver"


@pytest.fixture
def at_work(upgraded: str) -> str:
    """A database of that version, with something to do in each room."""
    with psycopg.connect(upgraded, autocommit=True, row_factory=dict_row) as conn:
        for statement in SCENE.split(";\n"):
            conn.execute(statement.encode())
        store = Store(conn)
        store.deploy(SHOP)
        store.call("omd_facts.deploy", interface_code="shop")
        store.agree("desk", layer_code="GDAL")
    return upgraded


@pytest.mark.parametrize("way", ["omd", "psql"])
def test_no_load_of_the_former_client_fails_or_waits_for_long(
    at_work: str, former_driver: Path, psql: Callable[..., Any], way: str
) -> None:
    client = subprocess.Popen(
        [sys.executable, CLIENT, at_work],
        env={**os.environ, "PYTHONPATH": str(former_driver)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert client.stdin is not None
    assert client.stdout is not None
    try:
        ready, _, package = client.stdout.readline().partition(" ")
        assert ready == "ready"
        assert package.startswith(str(former_driver)), package
        if way == "omd":
            with psycopg.connect(at_work, autocommit=True) as conn:
                install.install(conn)
        else:
            done = psql(at_work, install.sql_root() / install.MANIFEST)
            assert done.returncode == 0, done.stderr
        told, _ = client.communicate(timeout=120)  # it does each once more
    finally:
        client.terminate()
        client.wait()
    loads = json.loads(told)
    errors = [error for _, _, error in loads.values() if error]
    assert not errors, "\n".join(errors)
    print({name: longest for name, (_, longest, _) in loads.items()})
    for name, (count, longest, _) in loads.items():
        assert count > 0, name
        # Who reads a view that differs waits until it is replaced; psql replaces each.
        assert longest < LONGEST or name in READERS_OF_VIEWS, (name, longest)
    with psycopg.connect(at_work, autocommit=True) as conn:
        for table, lost in (("module_instance", 1), ("batch_instance", 0)):  # one is of the dump
            found = conn.execute(
                f"SELECT count(*) FROM omd.{table} WHERE {table}_id > 0"
                " AND execution_status_code <> 'S'".encode()
            )
            assert found.fetchone() == (lost,), table


def test_the_installation_itself_stops_no_writer(
    at_work: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What must be locked is locked before it, in transactions that hold nothing else."""
    held: set[str] = set()
    phases: list[str] = []
    with psycopg.connect(at_work, autocommit=True) as conn:
        (tables,) = conn.execute(TABLES).fetchone() or ([],)
        pinned, perform = upgrading.pinned, upgrading.Upgrade.perform

        def noted(upgrade: upgrading.Upgrade, transaction: install.Transaction) -> None:
            phases.append(transaction.phase)
            perform(upgrade, transaction)

        @contextmanager
        def watched(session: psycopg.Connection[Any]) -> Iterator[None]:
            with pinned(session):
                yield
                if phases[-1:] == ["install"]:
                    held.update(row[0] for row in session.execute(STOPPING, [tables]))

        monkeypatch.setattr(upgrading, "pinned", watched)
        monkeypatch.setattr(upgrading.Upgrade, "perform", noted)
        install.install(conn)
    assert "expand" in phases
    assert held == {"omd.installed_file"}
