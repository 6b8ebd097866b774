"""An installation needs a session of its own (S6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from omd._core.pooling import require_session
from omd.errors import lookup
from support.pooler import bouncing

if TYPE_CHECKING:
    from collections.abc import Callable


def test_install_and_uninstall_refuse_a_pooler_in_transaction_mode(
    dsn: str, omd_here: Callable[..., Any]
) -> None:
    with bouncing(dsn) as pooled:
        for command in (("install",), ("uninstall", "--yes")):
            done = omd_here(*command, dsn=pooled)
            assert done.returncode == 1, done.stderr
            assert "needs a session of its own, and a pooler in transaction mode" in done.stderr
            assert "OMD_POOLER=session" in done.stderr
        assert omd_here("install", "--plan", dsn=pooled).returncode == 0
    with psycopg.connect(dsn) as conn:
        require_session(conn, "this")
        assert conn.execute("SELECT to_regclass('omd.module') IS NOT NULL").fetchone() == (True,)


def test_install_works_through_a_pooler_in_session_mode_that_is_named(
    empty_dsn: str, omd_here: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with bouncing(empty_dsn, mode="session", size=4) as pooled:
        with psycopg.connect(pooled) as conn, pytest.raises(lookup("OM240")):
            require_session(conn, "this")
        monkeypatch.setenv("OMD_POOLER", "session")
        done = omd_here("install", dsn=pooled)
        assert done.returncode == 0, done.stderr
        assert omd_here("status", dsn=pooled).returncode == 0
