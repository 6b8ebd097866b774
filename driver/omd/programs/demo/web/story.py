"""The story of the demo: a night beside an open page, and what a person clicks in it.

Whoever watches clicks. Where nobody does, the story sends the same statement, which the database
makes for it as it does for the page.
"""

from __future__ import annotations

import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlencode

from psycopg.types.json import Jsonb

import omd
from omd.programs.cli.common import PROGRAM
from omd.programs.demo.control.proof import tell_checks
from omd.programs.demo.platform import proof
from omd.programs.demo.platform.proof import NAME
from omd.programs.demo.platform.story import PlatformStory
from omd.programs.demo.stage import Process, Screen
from omd.programs.web.sending import parts

TASK_TYPE = "WORK/DATABASE"


def play(
    dsn: str,
    folder: Path,
    screen: Screen,
    lake: Path,
    *,
    pace: float = 60.0,
    quick: bool = False,
    master: str | None = None,
) -> bool:
    """Play the night of the platform beside a page.

    Args:
        dsn: the database.
        folder: for files and logs.
        screen: where the story is shown.
        lake: where folders arrive, and the lake table stays.
        pace: seconds for which it waits for a click.
        quick: whether two folders are enough.
        master: the URL of Spark's master.
    """
    with _Story.open(NAME, dsn, folder, screen, lake, master=master) as story:
        story.pace = pace
        story.open_page()
        story.begin()
        story.first()
        if not quick:
            story.half_written()
            story.refused()
            story.reverted()
        story.suspended()
        story.in_the_morning()
        return story.prove_days({1, 5} if quick else set(range(1, 6)))


@dataclass
class _Story(PlatformStory):
    pace: float = 0.0
    base: str = field(default="", init=False)
    first_event: int = field(default=0, init=False)

    def open_page(self) -> None:
        """Start the page, and say where it is."""
        self.screen.title("A page")
        with (self.folder / "web.log").open("a") as log:
            page = Process(
                [*PROGRAM, "web", "--port", "0", "--no-open"],
                self.dsn,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        self.ended_with_it.callback(page.cut)
        link = page.stdout.readline().strip() if page.stdout is not None else ""
        if not link:
            raise omd.errors.OmdError((self.folder / "web.log").read_text())
        self.base = link.partition("/?")[0]
        self.say("  $ omd web &", "", f"  Open this link, which works once:  {link}", "")
        self.first_event = self.one("SELECT coalesce(max(event_id), 0) AS id FROM omd.event_log")[
            "id"
        ]
        self._pause()

    def first(self) -> None:
        """Let a first folder appear."""
        self._look("What runs, and what waits for what", "/work")
        super().first()
        self._look("What feeds what, and how far it is", f"/graph?of={quote(self.name)}")

    def undo(self, load: int, reason: str) -> None:
        """Let somebody undo a load."""
        self._click(
            "Undo the load",
            "UNDO_LOAD",
            self.name,
            {"p_module_instance_id": str(load), "p_revert_reason": reason},
            "the tenant has said so",
            "SELECT FROM omd_report.facts_loads"
            " WHERE module_instance_id = %s AND undone_by IS NOT NULL",
            load,
        )

    def suspended(self) -> None:
        """Let somebody suspend the work of the database, and let it go on."""
        self.screen.title("A maintenance")
        self._click(
            "Suspend what the database performs",
            "SUSPEND",
            TASK_TYPE,
            {"p_reason": "an index is made"},
            "maintenance until six",
            "SELECT FROM omd_report.dispatch_suspensions WHERE suspension_id > %s",
            self._last_suspension(),
        )
        self.arrive(5)
        self.await_arrival(5, "DONE")
        self.wait_for_row(
            "work to wait",
            "SELECT FROM omd_report.work WHERE state = 'PAUSED' AND code = %s",
            [f"facts.{self.name}"],
        )
        self.say("  Its rows wait, and the page says for what:")
        self._look("What waits, and why", "/work")
        suspension = self._last_suspension()
        self._click(
            "Resume",
            "RESUME",
            str(suspension),
            {},
            "the index is there",
            "SELECT WHERE NOT EXISTS"
            " (SELECT FROM omd_report.dispatch_suspensions WHERE suspension_id = %s)",
            suspension,
        )
        self.await_flow(5)
        self.await_quiet("the lake and the rules", "nothing is left to do", "")

    def in_the_morning(self) -> None:
        """Show what the clicks have left in the event log."""
        self.screen.title("In the morning: who did what, and why")
        since = f"event_id > {self.first_event}"
        self.sql(
            "SELECT to_char(event_datetime, 'HH24:MI:SS') AS at, event_detail, reason"  # noqa: S608
            f" FROM omd_report.event_log WHERE event_type_code = 4 AND {since} ORDER BY event_id"
        )
        self._look("The same in the page", "/log")

    def prove_days(self, days: set[int]) -> bool:
        """Compare all tables with the files of these days."""
        self.screen.title("The proof: the accepted files beside all tables")
        accepted = {day: rows for day, rows in self.supplier.flights.items() if day in days}
        checks = proof.prove(self.connection, self.name, accepted)
        text = f"Each of {checks[0].expected.rows:,} accepted flights is in each table once."
        return tell_checks(self.screen, checks, text)

    def _last_suspension(self) -> int:
        query = "SELECT coalesce(max(suspension_id), 0) AS id FROM omd_dispatch.task_suspension"
        return int(self.one(query)["id"])

    def _look(self, what: str, path: str) -> None:
        self.say(f"  {what}:  {self.base}{path}")
        self._pause()

    def _pause(self) -> None:
        """Leave time to look."""
        time.sleep(self.pace / 4)

    def _click(
        self,
        what: str,
        code: str,
        key: str,
        arguments: dict[str, str],
        reason: str,
        done: str,
        *values: int,
    ) -> None:
        """Ask for a click, and wait for what it does; without one, send the statement."""
        address = f"{self.base}/do/{code}/{quote(key, safe='')}"
        query = urlencode({**arguments, "reason": reason}, quote_via=quote)
        self.say(f"  Now you: {what}. The page shows what it sends, and what that would do.",
                 f"  {address}?{query}", "")  # fmt: skip
        with self.screen.step(what) as step:
            if self.pace > 0:
                with suppress(omd.errors.OmdError):
                    self.wait_for_row("a click", done, values, patience=self.pace)
                    step.done("you have clicked")
                    return
            step.done("nobody has clicked, so the demo sends it")
        [row] = self.connection.execute(
            "SELECT omd_web.statement(%s, %s, %s, %s) AS text",
            (code, key, Jsonb(arguments), reason),
        ).fetchall()
        text: str = row["text"]
        self.say(*(f"  {line}" for line in text.split("\n")))
        for part in parts(text):
            self.connection.execute(part.encode())
        self.wait_for_row(what, done, values)
