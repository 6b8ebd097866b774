"""The story of the demo: a function decides about January, a decision table about the year.

``schema.sql`` is what a DBA sets up; the rulesets and the stages are documents beside it.
``proof.sql`` and ``proof.py`` show that each flight was decided once, and as the rules say.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import omd
from omd.programs.cli.documents.decision import DecisionFiles, read_files
from omd.programs.cli.documents.together import apply_together, documents_of
from omd.programs.demo import files
from omd.programs.demo.control.proof import tell_checks
from omd.programs.demo.decision import proof
from omd.programs.demo.stage import (
    Screen,
    Story,
    as_role,
    connect,
    copy_lines,
    execute_file,
    install_omd,
    start_spark,
)
from omd.programs.report.decision import (
    BY_THE_RULE,
    read_explanation,
    results,
    rules_hit,
    tell,
)
from omd.rooms.decision.rows import DecisionRulesetListRow, DecisionStageListRow

if TYPE_CHECKING:
    from omd.programs.cli.documents.changes import Change
    from omd.rooms.control.outcome import Outcome

YEAR_LONG, QUICK = range(1, 13), range(1, 4)
FUNCTION, TABLE = "care_function", "care_table"
JANUARY, YEAR = "january_care", "flight_care"
_HERE = Path(__file__).parent
_TABLES = {
    "care.flights": "id, month, origin, hour, carrier, flight, dest, distance, delay",
    "care.weather": "id, month, origin, hour, wind_speed, visib",
}


def play(
    dsn: str,
    folder: Path,
    screen: Screen,
    *,
    months: range = YEAR_LONG,
    master: str | None = None,
) -> bool:
    """Play the demo of decisions, about some months; January is one of them.

    Raises:
        psycopg.errors.DuplicateSchema: the schema care is not the demo's.
    """
    with connect(dsn, "UTC") as connection:
        install_omd(connection, screen)
        execute_file(connection, screen, _HERE / "schema.sql", "4 tables, 2 views, a function")
        with screen.step("the flights of 2013") as step:
            source = files.prepare(folder)
            flights, weather = proof.flights(source, months), proof.weather(source, months)
            for table, lines in (("care.flights", flights), ("care.weather", weather)):
                copy_lines(connection, table, _TABLES[table], lines)
            step.done(f"{len(flights):,} flights, {len(weather):,} hours of weather")
        with omd.connect(as_role("omd_runner", dsn), application_name="omd demo") as control:
            story = _Story(dsn, connection, screen, control, folder)
            story.rulesets()
            story.preview()
            story.january()
            story.year(master)
            is_same = story.compare()
            story.complaint()
            screen.title("The proof: the source files, decided once more, beside the tables")
            return tell_checks(
                screen,
                proof.prove(connection, source, months),
                "Each flight was decided exactly once, as the rules say, with the weather of its"
                " hour;\neach hour of weather was in a decision, or was rejected with its code.",
                others_hold=is_same,
            )


@dataclass
class _Story(Story):
    control: omd.Control
    folder: Path

    # The acts -----------------------------------------------------------------------------------

    def rulesets(self) -> None:
        """Define the rules twice, as a table and as a function, and test both."""
        self.title(1, "The rules, as a table that can be drawn, and as a function")
        for code in (TABLE, FUNCTION):
            with self.screen.step(f"{code}.yaml") as step, self._admin() as control:
                _define(control, code)
                results = control.decision.test_ruleset(code)
                versions = control.report(DecisionRulesetListRow, ruleset_code=code)
                newest = max(row.version for row in versions)
                control.calls.omd_decision.activate_ruleset(code, newest)
                passed = sum(result.passed for result in results)
                step.done(f"{passed} of {len(results)} test cases passed; it is active")

    def preview(self) -> None:
        """Show which records form a decision, before anything is decided."""
        self.title(2, "Which records form a decision, and which are in none")
        with self.screen.step("january_care.yaml") as step, self._admin() as control:
            [file] = read_files([_HERE / f"{JANUARY}.yaml"])
            del file.document["links"][1]["reject"]  # the second version gets it
            apply_together(control, [DecisionFiles([file])])
            step.done("an airport and an hour are a decision")
        self.sql(
            "SELECT coalesce(code, 'a call') AS becomes, link, count(*)"
            " FROM omd_decision.cycles('january_care') GROUP BY code, link ORDER BY code DESC"
        )
        self.say(
            "This is a preview, and changes nothing. Where nobody departs, the weather is in no",
            "call. The last hours of the month are left over; the others have a key that no flight",
            "has, and a later one came.",
        )

    def january(self) -> None:
        """Decide about January in the database."""
        self.title(3, "January, by the function in the database")
        outcome = self._run(JANUARY)
        self.say(
            textwrap.fill(outcome.detail or "", 90, initial_indent="  ", subsequent_indent="  "),
            "A record that no rule has seen is a loss that somebody must have allowed. So the",
            "stage gets a reject link for the weather:",
        )
        with self.screen.step("january_care.yaml") as step, self._admin() as control:
            changes = _define(control, JANUARY)
            [stage] = control.report(DecisionStageListRow, stage_code=JANUARY)
            for change in changes:
                step.done(f"version {stage.version}: {change.path}")
        self._run(JANUARY)
        self.sql(
            "SELECT care, dollars, count(*) AS flights FROM care.january"
            " GROUP BY care, dollars ORDER BY flights DESC"
        )

    def year(self, master: str | None) -> None:
        """Decide about all months on Spark."""
        self.title(4, "The year, by the decision table on Spark")
        spark = start_spark(self.folder, master, self.screen)
        with self._admin() as control:
            _define(control, YEAR)
        self._run(YEAR, spark=spark)

    def compare(self) -> bool:
        """Show that January is the same in both, and return whether it is."""
        self.title(5, "January was decided twice: by a function, and by the table on Spark")
        compared = self.connection.execute((_HERE / "same.sql").read_bytes()).fetchall()
        self.screen.table(compared)
        same = len(compared) == 3 and not any(line["different"] for line in compared)
        self.say(
            "Two engines, two ways to write the rules, and the same calls, decisions and rejects."
            if same
            else "They are not the same."
        )
        return same

    def complaint(self) -> None:
        """Explain a decision to somebody who complains."""
        self.title(6, "Somebody complains: hours of waiting, and no money")
        it = self.one(
            "SELECT id, carrier, flight, delay, omd_key AS key FROM care.decision"
            " WHERE omd_wave = '1' AND dollars = 0 ORDER BY delay DESC NULLS LAST, id LIMIT 1"
        )
        key, flight = it["key"], f"{it['carrier']} {it['flight']}"
        self.say(
            f"  {flight} was {it['delay']} minutes late. Why was no money paid?",
            f"  $ omd explain stage:{YEAR} '{json.dumps(key)}'",
        )
        explanation = read_explanation(self.control.decision, YEAR, key)
        [call] = explanation.calls
        self.say(f"  {tell(explanation).title}.")
        for line in (call.params or {})["weather"]:
            weather = (
                f"wind {line['wind_speed']:.0f} miles per hour, visibility {line['visib']} miles"
            )
            self.say(f"  The weather: {weather}.")
        columns = ("carrier", "flight", "dest", "delay", "care", "dollars", BY_THE_RULE)
        self.screen.table(
            [
                {column: decided.get(column) for column in columns}
                for _, records in results(call, explanation)
                for decided in records
                if decided["care"] != "nothing"
            ]
        )
        self.say(*(f"  {table}, {rule}" for table, rule in rules_hit(call)))

    # What they do -------------------------------------------------------------------------------

    def _run(self, stage: str, **options: Any) -> Outcome[None]:
        """Run a stage. This is all that a job needs of OMD."""
        with self.screen.step(stage) as step:
            outcome = self.control.decision.run(stage, **options)
            if outcome.succeeded:
                facts = outcome.facts
                step.done(
                    f"{facts['rows_output']:,} decisions in {facts['cycles']:,} calls,"
                    f" {facts['rows_rejected']:,} rejected"
                )
            else:
                step.done("failed: nothing is written", mark="✗")
        return outcome

    @contextmanager
    def _admin(self) -> Iterator[omd.Control]:
        """Define documents as an administrator, who may not run them."""
        dsn = as_role("omd_admin", self.dsn)
        with omd.connect(dsn, application_name="omd demo") as control:
            yield control


def _define(control: omd.Control, code: str) -> list[Change]:
    """Define the document of this name."""
    return apply_together(control, documents_of([_HERE / f"{code}.yaml"]))
