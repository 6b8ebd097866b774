"""The story of the demo: files appear, two workers do the rest, and three things go wrong.

The story writes files as a tenant does, looks at views, kills workers, and takes one delivery back,
as a person does in the morning.
"""

from __future__ import annotations

from pathlib import Path

from omd.programs.demo.control.proof import tell_checks
from omd.programs.demo.platform import proof
from omd.programs.demo.platform.night import Night
from omd.programs.demo.platform.proof import NAME
from omd.programs.demo.stage import Screen


def play(dsn: str, folder: Path, screen: Screen, lake: Path, *, master: str | None = None) -> bool:
    """Play the demo of the platform.

    The lake table, and the folder in which deliveries arrive, stay in the folder ``lake``.
    """
    with PlatformStory.open(NAME, dsn, folder, screen, lake, master=master) as story:
        for act in (
            story.begin,
            story.first,
            story.half_written,
            story.refused,
            story.reverted,
            story.killed_step,
            story.tell_work,
        ):
            act()
        return story.prove()


class PlatformStory(Night):
    """The acts of the night; ``omd demo web`` plays some of them beside an open page."""

    def begin(self) -> None:
        """Switch the flow on, and start two workers."""
        self.screen.title("In the evening: two workers, and we go home")
        self.switch_on("AB")

    def first(self) -> None:
        """Let a first folder appear."""
        self.screen.title("A folder appears")
        self.arrive(1)
        self.await_flow(1)
        self.say("  Nobody started anything. What has run so far:")
        self.sql(
            "SELECT module_code, execution_status_code AS status, rows_inserted AS rows"
            " FROM omd_report.module_execution_log WHERE module_code LIKE '%nyc_night%'"
            " ORDER BY module_instance_id"
        )

    def half_written(self) -> None:
        """Let a folder appear that is not complete; kill the worker that delivers it."""
        self.screen.title("A folder that is half written, and a worker that dies")
        self.supplier.write(2, self.supplier.flights[2])
        self.say(f"  + {self.supplier.folder(2).name}/: two files, no _SUCCESS")
        self.await_arrival(2, "INCOMPLETE")
        self.tell_arrivals()
        self.say("  It waits. Now the tenant says that it is complete:")
        self.supplier.finish(2)
        self.wait_for_row(
            "a verdict",
            "SELECT FROM omd_report.delivery_log WHERE agreement_code = %s"
            " AND snapshot_datetime = '2013-01-02Z' AND delivery_status = 'VALIDATED'",
            [self.name],
        )
        self.kill(f"delivery.{self.name}")
        self.await_flow(2)

    def refused(self) -> None:
        """Let a folder appear that is refused, and a correction of it."""
        self.screen.title("A folder that is refused")
        self.arrive(3, self.supplier.twice(3))
        self.await_arrival(3, "REFUSED")
        self.tell_arrivals()
        self.say("  The tenant writes the folder again. Another content is found by itself:")
        self.arrive(3)
        self.await_flow(3)

    def reverted(self) -> None:
        """Take a delivery back that was wrong, and correct it under the same time."""
        self.screen.title("A folder that was accepted, and is wrong")
        self.arrive(4, self.supplier.wrong(4))
        self.await_flow(4)
        self.say("  The delays of United are 60 times too long, and five flights were not flown.")
        self.tell_departures()
        load = self.one(
            "SELECT max(module_instance_id) AS id FROM omd_report.facts_loads"
            " WHERE interface_code = 'nyc_night'"
        )["id"]
        self.undo(load, "hours for minutes")
        self.await_quiet("the undo", "has reached the mart", "facts", "mart")
        self.tell_departures()
        self.say("  The tenant corrects the folder, so the delivery has the same time as before:")
        self.arrive(4)
        self.await_flow(4)
        self.tell_departures()

    def undo(self, load: int, reason: str) -> None:
        """Undo a load of the facts, and revert its delivery, as at a terminal."""
        self.say(
            f"  $ omd call omd_facts.undo --interface-code {self.name} --module-instance-id {load}"
            f" --revert-reason '{reason}'"
        )
        self.call(
            "call", "omd_facts.undo", "--interface-code", self.name,
            "--module-instance-id", str(load), "--revert-reason", reason,
        )  # fmt: skip

    def killed_step(self) -> None:
        """Kill the worker that takes a step on Spark, while it writes."""
        self.screen.title("A worker dies while Spark writes to the lake")
        topic = f"lake_{self.name}.delay"
        self.arrive(5)
        self.wait_for_row(
            "Spark to write",
            "SELECT FROM omd_report.lake_folders"
            " WHERE table_code = %s AND folder_state = 'WRITING'",
            [topic],
        )
        self.kill(topic)
        self.await_flow(5)
        self.await_quiet("the lake and the rules", "nothing is left to do", "")
        self.sql(
            "SELECT operation, module_instance_id AS run, execution_status_code AS status,"
            " added_rows, total_rows FROM omd_report.lake_commits"
            " WHERE table_code = 'lake_nyc_night.delay' ORDER BY commit_id"
        )

    def tell_work(self) -> None:
        """Show that nothing is left."""
        self.screen.title("In the morning: nothing waits, and nothing has failed for good")
        self.sql(
            "SELECT module_kind_code AS kind, code, state, failures FROM omd_report.work"
            " WHERE code LIKE '%nyc_night%' ORDER BY kind, code"
        )
        self.sql(
            "SELECT task_type AS type, status, outcome, count(*) AS tasks"
            " FROM omd_dispatch.task_data_work GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        )

    def prove(self) -> bool:
        """Compare all tables with the files that were accepted."""
        self.screen.title("The proof: the accepted files beside all tables")
        with self.screen.step("checksums of every row") as step:
            checks = proof.prove(self.connection, self.name, self.supplier.flights)
            step.done("from the CSV files, and by SQL")
        flights = checks[0].expected.rows
        return tell_checks(
            self.screen,
            checks,
            f"Each of {flights:,} accepted flights is in each table once, as its newest file has"
            " it.",
        )

    def tell_departures(self) -> None:
        """Show the flights of January 4."""
        self.sql(
            "SELECT count(*) AS flights, max(delay) FILTER (WHERE carrier = 'UA') AS longest_delay"
            " FROM mart_nyc_night.departure WHERE day = '2013-01-04'"
            " AND acm_record_ind <> 'R'"
        )
