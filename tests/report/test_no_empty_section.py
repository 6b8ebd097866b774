"""omd status prints no empty section."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from support.flow import Flow

    Command = Callable[..., subprocess.CompletedProcess[str]]


def test_status_prints_no_empty_section(flow: Flow, omd_here: Command, dsn: str) -> None:
    done = omd_here("status", dsn=dsn)
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)
    flow.module("m")
    run = flow.call("begin_module", module_code="m")["module_instance_id"]
    flow.call("module_success", module_instance_id=run)
    told = omd_here("status", dsn=dsn).stdout
    assert "Last Module Instances" in told
    parts = told.split("\n\n")
    assert [part for part in parts if len(part.strip().splitlines()) < 4] == []
    assert "Problems" not in told
