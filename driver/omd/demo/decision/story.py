"""The story of the demo: a function decides about January, a decision table about the year.

``schema.sql`` is what a DBA sets up; the rulesets and the stages are documents beside it.
``proof.sql`` and ``proof.py`` show that each flight was decided once, and as the rules say.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.rows import dict_row

import omd
from omd.decision.document import define, read_files
from omd.decision.explained import BY_THE_RULE, read_explanation, results, rules_hit, tell
from omd.decision.rows import DecisionRulesetListRow
from omd.demo import files
from omd.demo.control.proof import table_line
from omd.demo.decision import proof
from omd.demo.stage import Screen, as_role, install_omd, session

if TYPE_CHECKING:
    from omd.decision.room import Decision
    from omd.decision.run import DecisionOutcome

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
    """Play the demo of decisions in a database.

    Args:
        dsn: the database; OMD is installed if it is missing.
        folder: an empty work folder, for the source files and Spark's log.
        screen: the place where the story is shown.
        months: the months about which it decides; January is one of them.
        master: Spark's master URL; the default is that of `omd.spark.session`.

    Returns:
        Whether the proof holds.

    Raises:
        psycopg.errors.DuplicateSchema: the schema care is not the demo's.
    """
    with psycopg.connect(
        dsn,
        autocommit=True,
        application_name="omd demo",
        options="-c TimeZone=UTC",
        row_factory=dict_row,
    ) as connection:
        install_omd(connection, screen)
        with screen.step("schema.sql") as step:
            connection.execute((_HERE / "schema.sql").read_bytes())
            step.done("4 tables, 2 views, a function")
        with screen.step("the flights of 2013") as step:
            source = files.prepare(folder)
            flights, weather = proof.flights(source, months), proof.weather(source, months)
            _copy(connection, "care.flights", flights)
            _copy(connection, "care.weather", weather)
            step.done(f"{len(flights):,} flights, {len(weather):,} hours of weather")
        with omd.connect(as_role("omd_runner", dsn), application_name="omd demo") as control:
            story = _Story(dsn, connection, control, screen, folder)
            story.rulesets()
            story.preview()
            story.january()
            story.year(master)
            holds = story.compare()
            story.complaint()
            return _tell_proof(connection, source, months, screen) and holds


def _copy(connection: psycopg.Connection[Any], table: str, lines: Sequence[Sequence[str]]) -> None:
    with connection.cursor().copy(
        f"COPY {table} ({_TABLES[table]}) FROM STDIN (NULL 'NA')".encode()
    ) as copy:
        for line in lines:
            copy.write_row(line)


@dataclass
class _Story:
    dsn: str
    connection: psycopg.Connection[dict[str, Any]]
    control: omd.Control
    screen: Screen
    folder: Path

    # The acts -----------------------------------------------------------------------------------

    def rulesets(self) -> None:
        """Define the rules twice, as a table and as a function, and test both."""
        self.screen.title("1. The rules, as a table that can be drawn, and as a function")
        for code in (TABLE, FUNCTION):
            with self.screen.step(f"{code}.yaml") as step, self._admin() as room:
                define(room, read_files([_HERE / f"{code}.yaml"]))
                results = room.test_ruleset(code)
                versions = room.report(DecisionRulesetListRow, ruleset_code=code)
                room.activate_ruleset(code, max(row.version for row in versions))
                passed = sum(result.passed for result in results)
                step.done(f"{passed} of {len(results)} test cases passed; it is active")

    def preview(self) -> None:
        """Show which records form a decision, before anything is decided."""
        self.screen.title("2. Which records form a decision, and which are in none")
        with self.screen.step("january_care.yaml") as step, self._admin() as room:
            [file] = read_files([_HERE / f"{JANUARY}.yaml"])
            del file.document["links"][1]["reject"]  # the second version gets it
            define(room, [file])
            step.done("an airport and an hour are a decision")
        self._sql(
            "SELECT coalesce(code, 'a call') AS becomes, link, count(*)"
            " FROM omd_decision.cycles('january_care') GROUP BY code, link ORDER BY code DESC"
        )
        self._say(
            "This is a preview, and changes nothing. Where nobody departs, the weather is in no",
            "call. The last hours of the month are left over; the others have a key that no flight",
            "has, and a later one came.",
        )

    def january(self) -> None:
        """Decide about January in the database."""
        self.screen.title("3. January, by the function in the database")
        outcome = self._run(JANUARY)
        self._say(
            textwrap.fill(outcome.detail or "", 90, initial_indent="  ", subsequent_indent="  "),
            "A record that no rule has seen is a loss that somebody must have allowed. So the",
            "stage gets a reject link for the weather:",
        )
        with self.screen.step("january_care.yaml") as step, self._admin() as room:
            for change in define(room, read_files([_HERE / f"{JANUARY}.yaml"])):
                step.done(f"version {change.version}: {change.path}")
        self._run(JANUARY)
        self._sql(
            "SELECT care, dollars, count(*) AS flights FROM care.january"
            " GROUP BY care, dollars ORDER BY flights DESC"
        )

    def year(self, master: str | None) -> None:
        """Decide about all months on Spark."""
        self.screen.title("4. The year, by the decision table on Spark")
        with self.screen.step("Spark") as step:
            spark = session(self.folder / "spark.log", master)
            step.done(f"Spark {spark.version}, {spark.sparkContext.master}")
        with self._admin() as room:
            define(room, read_files([_HERE / f"{YEAR}.yaml"]))
        self._run(YEAR, spark=spark)

    def compare(self) -> bool:
        """Show that January is the same in both, and return whether it is."""
        self.screen.title("5. January was decided twice: by a function, and by the table on Spark")
        compared = self.connection.execute((_HERE / "same.sql").read_bytes()).fetchall()
        self.screen.table(compared)
        same = len(compared) == 3 and not any(line["different"] for line in compared)
        self._say(
            "Two engines, two ways to write the rules, and the same calls, decisions and rejects."
            if same
            else "They are not the same."
        )
        return same

    def complaint(self) -> None:
        """Explain a decision to somebody who complains."""
        self.screen.title("6. Somebody complains: hours of waiting, and no money")
        it = self._one(
            "SELECT id, carrier, flight, delay, omd_key AS key FROM care.decision"
            " WHERE omd_wave = '1' AND dollars = 0 ORDER BY delay DESC NULLS LAST, id LIMIT 1"
        )
        key, flight = it["key"], f"{it['carrier']} {it['flight']}"
        self._say(
            f"  {flight} was {it['delay']} minutes late. Why was no money paid?",
            f"  $ omd decision explain {YEAR} --key '{json.dumps(key)}'",
        )
        explanation = read_explanation(self.control.decision, YEAR, key)
        [call] = explanation.calls
        self._say(f"  {tell(explanation).title}.")
        for line in (call.params or {})["weather"]:
            weather = (
                f"wind {line['wind_speed']:.0f} miles per hour, visibility {line['visib']} miles"
            )
            self._say(f"  The weather: {weather}.")
        columns = ("carrier", "flight", "dest", "delay", "care", "dollars", BY_THE_RULE)
        self.screen.table(
            [
                {column: decided.get(column) for column in columns}
                for _, records in results(call, explanation)
                for decided in records
                if decided["care"] != "nothing"
            ]
        )
        self._say(*(f"  {table}, {rule}" for table, rule in rules_hit(call)))

    # What they do -------------------------------------------------------------------------------

    def _run(self, stage: str, **options: Any) -> DecisionOutcome:
        """Run a stage. This is all that a job needs of OMD."""
        with self.screen.step(stage) as step:
            outcome = self.control.decision.run(stage, **options)
            if outcome.succeeded:
                step.done(
                    f"{outcome.rows_output:,} decisions in {outcome.cycles:,} calls,"
                    f" {outcome.rows_rejected:,} rejected"
                )
            else:
                step.done("failed: nothing is written", mark="✗")
        return outcome

    @contextmanager
    def _admin(self) -> Iterator[Decision]:
        """Define documents as an administrator, who may not run them."""
        dsn = as_role("omd_admin", self.dsn)
        with omd.connect(dsn, application_name="omd demo") as control:
            yield control.decision

    def _say(self, *lines: str) -> None:
        self.screen.say("\n".join(lines))

    def _sql(self, query: str) -> None:
        """Show a statement, run it, and show its result."""
        self.screen.say(
            textwrap.fill(
                f"{' '.join(query.split())};",
                100,
                initial_indent="  => ",
                subsequent_indent="     ",
                break_on_hyphens=False,
            )
        )
        self.screen.table(self.connection.execute(query.encode()).fetchall())

    def _one(self, query: str) -> dict[str, Any]:
        """Return the only row of a query."""
        row = self.connection.execute(query.encode()).fetchone()
        assert row is not None  # noqa: S101 - the queries here return one
        return row


def _tell_proof(
    connection: psycopg.Connection[Any], source: files.Source, months: range, screen: Screen
) -> bool:
    screen.title("The proof: the source files, decided once more, beside the tables")
    checks = proof.prove(connection, source, months)
    screen.table([table_line(check) for check in checks])
    holds = all(check.holds for check in checks)
    screen.say(
        "Each flight was decided exactly once, as the rules say, with the weather of its hour;\n"
        "each hour of weather was in a decision, or was rejected with its code."
        if holds
        else "The proof does not hold."
    )
    return holds
