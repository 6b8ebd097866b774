"""A worker of the kind FACTS loads what is queued, until all is quiet, here and elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from concurrent.futures import Future

    from kinds.conftest import Platform

    Omd = Callable[..., subprocess.CompletedProcess[str]]

LOADER = ("worker", "--kind", "FACTS")


def loaded(platform: Platform) -> list[int]:
    return [nbr for nbr, _ in platform.now("item")]


def test_it_loads_what_is_queued(platform: Platform, omd_command: Omd, dsn: str) -> None:
    for day in (1, 2, 3):
        platform.queue(day, item=[("N", day, 10)])
    done = omd_command(*LOADER, "--interface", "other*", "--until-quiet", dsn=dsn)
    assert (done.returncode, loaded(platform)) == (0, []), done.stderr
    done = omd_command(*LOADER, "--once", dsn=dsn)
    assert (done.returncode, loaded(platform)) == (0, [1]), done.stderr
    done = omd_command(*LOADER, "--until-quiet", dsn=dsn)
    assert (done.returncode, loaded(platform)) == (0, [1, 2, 3]), done.stderr
    assert done.stderr.count("shop: PERSISTED") == 2
    platform.conn.execute("ALTER TABLE cfl_shop.h_item ADD CHECK (nbr < 4)")
    platform.queue(4, item=[("N", 4, 10)])
    done = omd_command(*LOADER, "--until-quiet", dsn=dsn)
    assert (done.returncode, loaded(platform)) == (1, [1, 2, 3]), done.stderr


@pytest.mark.usefixtures("loads_wait")
def test_it_is_not_quiet_while_a_load_runs_elsewhere(
    platform: Platform,
    others: Callable[..., Platform],
    background: Callable[..., Future[Any]],
    until_settled: Callable[[Platform, Future[Any]], None],
    omd_command: Omd,
    dsn: str,
) -> None:
    """The item that waits behind it is loaded by this worker."""
    for day in (1, 2):
        platform.queue(day, item=[("N", day, 10)])
    other, watch = others(), others()
    with platform.conn.transaction():
        platform.conn.execute("SELECT pg_advisory_xact_lock(43)")
        load = background(other.take)
        until_settled(other, load)
        worker = background(omd_command, *LOADER, "--until-quiet", "--poll", "0.1", dsn=dsn)
        # Its connection for loads rests, since it was said that another one loads.
        seen = (
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE application_name = 'omd-cli-load' AND state = 'idle'"
        )
        while not watch.one(seen):
            assert not worker.done(), worker.result()
    assert load.result(60)["outcome"] == "PERSISTED"
    done = worker.result(60)
    assert (done.returncode, loaded(platform)) == (0, [1, 2]), done.stderr
