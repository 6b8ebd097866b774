"""The story of the demo: the third of five deliveries was wrong, and two more came after it."""

from __future__ import annotations

import json
from pathlib import Path

from omd.programs.demo.control.proof import tell_checks
from omd.programs.demo.platform.night import Night
from omd.programs.demo.recall import proof
from omd.programs.demo.recall.proof import NAME
from omd.programs.demo.stage import Screen

WRONG = 3
REPEATED = 20
_HERE = Path(__file__).parent


def play(dsn: str, folder: Path, screen: Screen, lake: Path, *, master: str | None = None) -> bool:
    """Play the demo of a recall.

    The lake table, and the folder in which deliveries arrive, stay in the folder ``lake``.
    """
    opened = _Story.open(NAME, dsn, folder, screen, lake, master=master, more=_HERE / "totals.sql")
    with opened as story:
        for act in (story.five_days, story.plan, story.recall, story.flow_again):
            act()
        holds = story.prove()
        story.explain()
        story.erase()
        return holds


class _Story(Night):
    def five_days(self) -> None:
        """Let five folders flow through, of which the third is wrong."""
        self.screen.title("Five days, and the third file is wrong")
        self.switch_on("A")
        supplier = self.supplier
        # The day after repeats flights of the wrong file as this had them; so its delta has none.
        supplier.flights[WRONG + 1] += supplier.wrong(WRONG)[:REPEATED]
        for day in sorted(supplier.flights):
            self.arrive(day, supplier.wrong(day) if day == WRONG else None)
            self.await_flow(day)
        self.await_quiet("the lake and the rules", "nothing is left to do", "")
        self.say("  In the file of January 3 the delays of United are hours for minutes:")
        self._tell_totals()

    def plan(self) -> None:
        """See what would go."""
        self.screen.title("What was made of it?")
        self.wrong = self.one(
            "SELECT delivery_id AS id FROM omd_report.delivery_log"
            " WHERE agreement_code = 'nyc_night' AND snapshot_datetime = '2013-01-03Z'"
        )["id"]
        target = f"delivery:{self.wrong}"
        self.say(f"  $ omd recall {target} --reason 'hours for minutes'")
        self.call("recall", target, "--reason", "hours for minutes")
        self.recall_id = self.one("SELECT max(recall_id) AS id FROM omd_report.recalls")["id"]
        self.sql(
            "SELECT position, action, relation, module_code, table_code, rows_go, rows_back"  # noqa: S608
            f" FROM omd_report.recall_items WHERE recall_id = {self.recall_id} ORDER BY position"
        )
        self.say(
            "  Nothing has happened yet. January 4 and 5 were compared with the wrong rows, so"
        )
        self.say("  they are judged anew, from the folders that the tenant has sent.")

    def recall(self) -> None:
        """Take it back, in one transaction."""
        self.screen.title("One transaction takes it back")
        self.say(f"  $ omd recall execute {self.recall_id}")
        self.call("recall", "execute", str(self.recall_id))
        self.sql(
            "SELECT code, snapshot_datetime::date AS day, return_status"  # noqa: S608
            f" FROM omd_report.recall_returns WHERE recall_id = {self.recall_id} ORDER BY position"
        )

    def flow_again(self) -> None:
        """Let the flow make again what is right."""
        self.screen.title("The flow makes it again, by itself")
        with self.screen.step("January 4 and 5") as step:
            self._await(
                "the deliveries to come again",
                "SELECT WHERE NOT EXISTS (SELECT FROM omd_report.recall_returns"
                " WHERE recall_id = %s AND return_status NOT IN ('DONE', 'DROPPED'))",
                [self.recall_id],
            )
            self.wait_for_quiet("")
            step.done("delivered, loaded and read again")
        self._tell_totals()

    def prove(self) -> bool:
        """Compare all tables with the files that were right."""
        self.screen.title("The proof: as if the third file had never been")
        right = {day: rows for day, rows in self.supplier.flights.items() if day != WRONG}
        with self.screen.step("checksums of every row") as step:
            checks = proof.prove(self.connection, self.name, right)
            step.done("from the CSV files, and by SQL")
        return tell_checks(
            self.screen,
            checks,
            f"All tables are those of a database in which January {WRONG} never was.",
        )

    def explain(self) -> None:
        """Explain a cell."""
        self.screen.title("Where does a value come from?")
        key = self.one(
            "SELECT json_build_object('carrier', carrier, 'flight', flight, 'departs', departs)"  # noqa: S608
            f"::text AS key FROM gdal_nyc_night.flights WHERE day = '2013-01-0{WRONG}'"
            " ORDER BY carrier, flight LIMIT 1"
        )["key"]
        page = self.folder / "why.html"
        table = f"gdal_{self.name}.flights"
        self.say(f"  $ omd explain {table} '{key}' --column delay --html {page.name}")
        self.call("explain", table, key, "--column", "delay", "--html", str(page), is_owner=True)
        self.sql(
            "SELECT position, step, value, text FROM omd_provenance.explain("  # noqa: S608
            f"'gdal_nyc_night.flights', '{key}', 'delay') WHERE step <> 'HISTORY' ORDER BY position"
        )

    def erase(self) -> None:
        """Erase the smallest carrier, with its flights."""
        self.screen.title("Somebody asks to be forgotten")
        with self.screen.step("register_subject") as step:
            for table in ("departure", "care"):
                self.connection.execute(
                    b"CALL omd_provenance.register_subject(%s, %s, 'carriers', %s)",
                    [f"mart_{self.name}.{table}", self.name, json.dumps({"carrier": "carrier"})],
                )
            step.done("two tables of the mart have the key of a carrier")
        keys = self.folder / "letter-7.json"
        keys.write_text(json.dumps([{"carrier": "HA"}]), encoding="utf-8")
        given = ("--reference", "letter-7", "--with-references", "--execute")
        self.say(f"  $ omd erase {self.name} carriers --keys {keys.name} {' '.join(given)}")
        self.call("erase", self.name, "carriers", "--keys", str(keys), *given)
        keys.unlink()
        self.sql(
            "SELECT layer, outcome, sum(key_count) AS keys, sum(row_count) AS rows"
            " FROM omd_report.erasure_items"
            " WHERE erasure_id = (SELECT max(erasure_id) FROM omd_report.erasures)"
            " GROUP BY layer, outcome ORDER BY layer, outcome",
            "  The proof has counts, and nothing of whom it is about:",
        )

    def _tell_totals(self) -> None:
        self.sql("SELECT day, flights, delay FROM mart_nyc_night.total ORDER BY day")
