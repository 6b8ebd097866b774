"""The page of omd status, as far as it shows tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import omd
from report.test_report import HOSTILE, Page

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Command = Callable[..., subprocess.CompletedProcess[str]]


def test_the_page_shows_tasks_once_there_are_any(omd_here: Command, dsn: str) -> None:
    def page() -> tuple[Page, dict[str, str]]:
        done = omd_here("status", "--html", "-", dsn=dsn)
        assert done.returncode == 0, done.stderr
        found = Page(done.stdout)
        return found, {found.texts[n + 1]: found.texts[n] for n in range(len(found.texts) - 1)}

    _, tiles = page()
    assert (tiles["dead tasks"], tiles["workers alive"]) == ("0", "0")

    with omd.connect(dsn) as control:
        door = control.calls.omd_dispatch
        door.register_task_type("RUN", "BATCH", max_attempts=1)
        door.create_tasks(
            "RUN", "BATCH", [{"criteria": {"CODE": code}} for code in (HOSTILE, "b_x", "b_y")]
        )
        door.register_backend("WORKER", f"w1 {HOSTILE}")
        [task] = door.claim_tasks(f"w1 {HOSTILE}")
        fence = {"task_id": task.task_id, "claim_token": task.claim_token}
        failed = {**fence, "outcome": "F", "error": f"first line\n{HOSTILE}"}
        door.complete_tasks(f"w1 {HOSTILE}", [failed])
        door.suspend("RUN", criteria={"CODE": ["b_x", HOSTILE]}, reason=HOSTILE)
        every = {"task_type": "BATCH", "every": "1 second", "source": "nope.nope"}
        door.register_schedule("often", family_code="RUN", **every)  # type: ignore[arg-type]
        with control.transaction() as connection:
            connection.execute(
                "UPDATE omd_dispatch.task_schedule SET next_time = now() - interval '10 s'"
            )
        door.maintain()

    found, tiles = page()
    texts = "\n".join(found.texts)
    assert "often" in texts, "the problem of the schedule"
    assert "\x1b" not in texts
    assert (tiles["dead tasks"], tiles["tasks due"], tiles["workers alive"]) == ("1", "1", "1")
