"""What becomes of the IDs, and of half a load, when the server is another one (V19 to V21, V24)."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.flow import Flow
from support.server import VERSION
from support.servers import wait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.servers import Server, Servers

pytestmark = pytest.mark.kill

SKIPPED = 1_000_000


def set_up(server: Server) -> None:
    with flow(server) as its:
        its.conn.execute("CREATE SCHEMA dwh")
        its.batch("b", "m")
        its.module("other")


@contextlib.contextmanager
def flow(server: Server, **arguments: Any) -> Iterator[Flow]:
    with contextlib.closing(server.connect(**arguments)) as conn:
        yield Flow(conn)


def ids(server: Server, count: int, code: str = "m", **arguments: Any) -> list[int]:
    """Run a Module some times; returns its IDs."""
    with flow(server, **arguments) as its:
        return [its.run_module(code) for _ in range(count)]


def half(server: Server) -> int:
    """Leave half a load behind: a run that is not alive, with rows."""
    with flow(server) as its:
        run = its.begin_module("m", lease="1 second")
        its.write(run.id, "dwh.m")
        return run.id


def changes(server: Server) -> list[dict[str, Any]]:
    return list(
        server.execute(
            "SELECT kind, ids_skipped, confirmed_as FROM omd_report.server_changes"
            " ORDER BY server_change_id"
        )
    )


def is_known(server: Server) -> bool:
    return bool(server.one("SELECT is_known FROM omd_report.server"))


def the_next_begin_undoes(server: Server, dead: int) -> None:
    """Begin until the lease of the dead run is over, and check what that has left."""

    def undone() -> bool:
        with flow(server) as its:
            begun = its.begin_module("m")
            if begun.pi == "P":
                assert begun.array == [dead]
                its.end_module(begun.id, "S")
            return begun.pi == "P"

    wait(undone, "the next begin proceeds")
    with flow(server) as its:
        assert dead not in its.stamps("dwh.m")


def cut(standby: Server) -> None:
    """Let a standby receive nothing more."""
    standby.execute("ALTER SYSTEM SET primary_conninfo TO ''", database="postgres")
    standby.execute("SELECT pg_reload_conf()", database="postgres")
    wait(
        lambda: not standby.execute("SELECT FROM pg_stat_wal_receiver", database="postgres"),
        "the standby receives nothing",
    )


def test_a_standby_that_was_behind_gives_no_id_again_and_repairs_what_is_half(
    servers: Servers,
) -> None:
    primary = servers.with_omd(VERSION)
    set_up(primary)
    dead = half(primary)
    known = ids(primary, 3, "other")
    standby = servers.standby(primary)
    standby.follow(primary)
    cut(standby)
    lost = ids(primary, 60, "other")  # more than a sequence logs ahead
    primary.die()
    standby.promote()

    the_next_begin_undoes(standby, dead)
    new = ids(standby, 3, "other")
    assert min(new) > max(lost)
    assert min(new) > SKIPPED
    assert changes(standby) == [{"kind": "FAILOVER", "ids_skipped": SKIPPED, "confirmed_as": None}]
    assert is_known(standby)  # nobody has to wait for a person
    with flow(standby) as its:
        its.call("omd_dispatch.register_backend", backend_type="W", backend_id="w")
        standing = its.rows(
            "SELECT module_instance_id AS id FROM omd.module_instance"
            " WHERE module_instance_id = ANY(%s)",
            [*known, *lost],
        )
    assert sorted(row["id"] for row in standing) == known

    # And the same once more: the second one has not seen what the first one lost.
    third = servers.standby(standby)
    third.follow(standby)
    cut(third)
    lost = ids(standby, 40, "other")
    standby.die()
    third.promote()
    assert min(ids(third, 2, "other")) > max(lost) + SKIPPED / 2
    assert [row["kind"] for row in changes(third)] == ["FAILOVER", "FAILOVER"]


def test_a_session_of_a_pool_notices_the_promotion_under_it(servers: Servers) -> None:
    """The postmaster is the same, and so is the session (S1)."""
    primary = servers.with_omd(VERSION)
    set_up(primary)
    standby = servers.standby(primary)
    standby.follow(primary)
    with flow(standby) as its:
        assert its.one("SELECT is_standby FROM omd_report.server") is True
        cut(standby)
        lost = ids(primary, 40)
        primary.die()
        standby.promote()
        assert its.run_module("m") > max(lost)


def test_a_recovery_into_the_middle_of_a_run_gives_no_id_again(servers: Servers) -> None:
    primary = servers.with_omd(VERSION)
    set_up(primary)
    backup = servers.backup(primary)
    stands = ids(primary, 2, "other")
    dead = half(primary)
    position = primary.position()
    lost = [dead, *ids(primary, 50, "other")]
    primary.archive_all()
    primary.die()
    server = servers.recovered(backup, primary.archive, lsn=position)
    the_next_begin_undoes(server, dead)
    assert min(ids(server, 2, "other")) > max(lost)
    assert [row["kind"] for row in changes(server)] == ["FAILOVER"]
    known = server.execute("SELECT module_instance_id AS id FROM omd.module_instance")
    assert {*stands, dead} <= {row["id"] for row in known}
    assert lost[-1] not in {row["id"] for row in known}


@pytest.mark.parametrize("way", ["dump", "pg_upgrade"])
def test_a_server_that_was_moved_from_16_to_18(servers: Servers, way: str) -> None:
    old = servers.with_omd(16)
    set_up(old)
    with flow(old) as its:
        its.call("omd_dispatch.register_backend", backend_type="W", backend_id="before")
    dead = half(old)
    stands = ids(old, 2, "other")
    if way == "dump":
        dump = servers.dump(old, 18)
        lost = ids(old, 50, "other")  # they began after the dump
        new = servers.restored(old, 18, dump)
    else:
        lost = stands
        new = servers.upgraded(old, 18)
    assert new.one("SHOW server_version_num").startswith("18")

    # Begins by hand go on, workers wait for a person.
    the_next_begin_undoes(new, dead)
    given = ids(new, 2, "other")
    assert min(given) > max(lost)
    assert not is_known(new)
    assert changes(new) == [{"kind": "MOVED", "ids_skipped": SKIPPED, "confirmed_as": None}]
    with flow(new) as its:
        its.refused("OM109", "omd_dispatch.register_backend", backend_type="W", backend_id="w")
        its.conn.execute("CALL omd.confirm_server('MOVED', 'it was moved')")
        its.call("omd_dispatch.register_backend", backend_type="W", backend_id="w")
        stayed = its.rows("SELECT module_instance_id AS id FROM omd.module_instance")
    assert {*stands} <= {row["id"] for row in stayed}
    assert is_known(new)
    assert changes(new)[0]["confirmed_as"] == "MOVED"
    assert min(ids(new, 1, "other")) > max(given)


def test_a_copy_beside_the_original_is_told_by_its_oid(servers: Servers) -> None:
    server = servers.with_omd(VERSION)
    set_up(server)
    ids(server, 1)
    server.execute("CREATE DATABASE beside TEMPLATE omd", database="postgres")
    with contextlib.closing(server.connect("beside")) as conn:
        its = Flow(conn)
        its.run_module("m")
        its.refused("OM109", "omd_dispatch.register_backend", backend_type="W", backend_id="w")
        before = its.one("SELECT installation_id FROM omd_report.server")
        conn.execute("CALL omd.confirm_server('COPY', 'to try something')")
        its.call("omd_dispatch.register_backend", backend_type="W", backend_id="w")
        assert its.one("SELECT installation_id FROM omd_report.server") != before
        assert its.one("SELECT is_copy FROM omd_report.server")
    assert is_known(server)
    with flow(server) as its:
        its.call("omd_dispatch.register_backend", backend_type="W", backend_id="w")


@pytest.mark.parametrize("level", ["off", "on"])
def test_after_a_crash_no_id_is_given_again_however_lazily_it_was_committed(
    servers: Servers, level: str
) -> None:
    """S5: what a client was told is on the disk, whatever its session has set."""
    # Nothing else writes the log to the disk meanwhile.
    server = servers.with_omd(VERSION, wal_writer_delay="10s", wal_writer_flush_after="1GB")
    set_up(server)
    given: list[int] = []
    for _ in range(3):
        options = f"-c synchronous_commit={level}"
        with contextlib.suppress(psycopg.OperationalError), flow(server, options=options) as its:
            for _ in range(20):
                begun = its.begin_module("other")
                given.append(begun.id)
                if begun.pi == "P":  # a success may get lost, and then that run is not over
                    its.end_module(begun.id, "S")
            server.die()
        server.start()
        with flow(server) as its:
            found = its.rows("SELECT module_instance_id AS id FROM omd.module_instance")
            assert {*given} <= {row["id"] for row in found}
            assert its.run_module("m") > max(given)
    assert len({*given}) == 60
    assert changes(server) == []  # a restart is no change
