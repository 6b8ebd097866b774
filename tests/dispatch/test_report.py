"""The page of omd status, as far as it shows tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import omd
from report.test_report import HOSTILE, Page

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Command = Callable[..., subprocess.CompletedProcess[str]]

SECTIONS = {"dead", "queue", "workers", "suspensions"}


def test_the_page_shows_tasks_once_there_are_any(omd_here: Command, dsn: str) -> None:
    def page() -> tuple[Page, set[str]]:
        done = omd_here("status", "--html", "-", dsn=dsn)
        assert done.returncode == 0, done.stderr
        found = Page(done.stdout)
        ids = [section["id"] or "" for section in found.of("section")]
        assert len(ids) == len(set(ids))
        assert {link["href"] for link in found.of("a")} <= {f"#{id_}" for id_ in ids}
        return found, set(ids)

    _, ids = page()
    assert not ids & SECTIONS

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

    found, ids = page()
    assert ids >= SECTIONS | {"schedules"}
    texts = "\n".join(found.texts)
    for told in ("CODE=b_x", "first line", f"w1 {HOSTILE}".replace("\x1b", "\ufffd"), "42P01: "):
        assert told in texts, told
    assert "\x1b" not in texts
    tiles = {link["href"]: link["class"] for link in found.of("a")}
    assert (tiles["#dead"], tiles["#suspensions"]) == ("tile F", "tile A")
    assert (tiles["#queue"], tiles["#schedules"]) == ("tile", "tile F")  # a worker is alive
