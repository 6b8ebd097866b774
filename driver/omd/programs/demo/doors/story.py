"""The story of the demo: a Batch fails, is mended and succeeds, and somebody else learns of it."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import omd
from omd.programs.cli.common import PROGRAM
from omd.programs.demo.doors import proof
from omd.programs.demo.doors.receiver import PATH, Receiver
from omd.programs.demo.stage import (
    Process,
    Screen,
    Story,
    connect,
    execute_file,
    install_omd,
    tell_verdict,
    wait_for,
)

SINK = "demo_doors"
CODES = ("b_doors", "m_doors_sale", "m_doors_total")
SECRET = "OMD_SECRET_DEMO"  # noqa: S105 - the name of a variable
_UNANSWERED = 3  # requests that come in vain, before the receiver is back
_PATIENCE = 90.0  # seconds; the pauses of a sink double from one second to a minute
_HERE = Path(__file__).parent


def play(dsn: str, folder: Path, screen: Screen) -> bool:
    """Play the demo of doors in a database.

    Raises:
        psycopg.errors.DuplicateSchema: the schema doors is not the demo's.
    """
    with Receiver() as receiver:
        return play_for(receiver, dsn, folder, screen)


def play_for(receiver: Receiver, dsn: str, folder: Path, screen: Screen) -> bool:
    """Play it for this receiver."""
    with connect(dsn, "UTC") as connection:
        install_omd(connection, screen)
        execute_file(connection, screen, _HERE / "schema.sql", "a Batch of 2 Modules, 4 sales")
        screen.say(f"  The receiver listens at {receiver.url}, in this process.")
        story = _Story(dsn, connection, screen, receiver)
        try:
            story.sink()
            log = folder / "sender.log"
            with log.open("w", encoding="utf-8") as file, story.sender(file) as sender:
                try:
                    story.failure()
                    story.downtime()
                except omd.errors.OmdError:
                    screen.say(f"The sender has said:\n{log.read_text(encoding='utf-8')}")
                    story.sql("TABLE omd_report.event_sinks")
                    raise
                sender.send_signal(signal.SIGTERM)
                sender.wait(60)
            story.other_forms()
            return story.prove()
        finally:
            story.forget_sink()


@dataclass
class _Story(Story):
    receiver: Receiver
    before: dict[str, str] = field(default_factory=dict)  # the metrics

    # The acts -----------------------------------------------------------------------------------

    def sink(self) -> None:
        """Say who wants to know of the Batch."""
        self.title(1, "Somebody wants to know")
        self._publish()
        self.before = self._metrics()
        self.say(
            "A sink says which events go where. This one wants all of a Batch and its Modules,",
            "signed with a secret that only the sender's environment and the receiver have:",
        )
        codes = ", ".join(f"'{code}'" for code in CODES)
        self.sql(
            f"CALL omd_event.register_sink('{SINK}', 'WEBHOOK', p_codes => ARRAY[{codes}],"
            f" p_target => '{self.receiver.url}', p_secret_name => '{SECRET}')"
        )

    def sender(self, log: object) -> Process:
        """Start the program that sends."""
        prefix = self.receiver.url.removesuffix(PATH)
        arguments = ["send", SINK, "--allow-url", prefix]
        self.say(f"  $ omd {' '.join(arguments)} &")
        return Process(
            [*PROGRAM, *arguments],
            self.runner,
            variables={SECRET: self.receiver.secret},
            stdout=subprocess.DEVNULL,
            stderr=log,
        )

    def failure(self) -> None:
        """Let the Batch fail."""
        self.title(2, "The Batch fails")
        self.say("Nobody knew what a dollar is worth, so somebody wrote 0.")
        self.sql("CALL omd.run_batch('b_doors')")
        self._arrive()
        self._show_events("BATCH_BEGAN", "Its events, of what was committed and of nothing else:")
        self.say("The receiver has got them. This is the failure, with line breaks for you:")
        [failure] = [
            receipt
            for receipt in self.receiver.receipts
            if json.loads(receipt.body)["type"] == "omd.run_failed"
        ]
        self.say(
            f"  POST {PATH}",
            *(
                f"  {name}: {failure.headers[name]}"
                for name in ("content-type", "webhook-id", "webhook-timestamp", "webhook-signature")
            ),
            *(f"  {line}" for line in json.dumps(json.loads(failure.body), indent=2).splitlines()),
            f"  The signature {'fits' if failure.is_signed else 'is WRONG'}. No business row and no"
            " text of an error is in it: omd explain run:ID has those.",
        )

    def downtime(self) -> None:
        """Mend the Batch while the receiver is down."""
        self.title(3, "The receiver goes down, and the Batch is mended")
        self.receiver.go_down()
        self.say("From now on it reads a request, and hangs up without an answer.")
        self.sql("UPDATE doors.rate SET rate = 1.25 WHERE currency = 'USD'")
        self.sql(
            "CALL omd.run_batch('b_doors')",
            "The Batch does not wait for it. m_doors_sale has succeeded before, so it is skipped:",
        )
        began = time.monotonic()
        with self.screen.step("the sender waits") as step:
            wait_for(
                "requests in vain",
                lambda: self.receiver.unanswered >= _UNANSWERED or None,
                patience=_PATIENCE,
            )
            self.wait_for_row(
                "the sink to say so",
                "SELECT FROM omd_report.event_sinks WHERE sink_code = %s AND problem IS NOT NULL",
                [SINK],
                patience=_PATIENCE,
            )
            step.done(f"{self.receiver.unanswered} requests in vain, after pauses")
        self.sql(
            "SELECT event_number, behind, problem, refused, sent FROM omd_report.event_sinks"  # noqa: S608
            f" WHERE sink_code = '{SINK}'",
            "It may have read the first request, and nobody knows. So it comes again, and nothing"
            " overtakes it:",
        )
        self.receiver.come_back()
        with self.screen.step("the receiver is back") as step:
            self._arrive()
            step.done(f"after {time.monotonic() - began:.0f} s; all that waited has arrived")
        self._show_events("BATCH_BEGAN", "These are the events of the second run:")
        self.say("What was skipped never proceeded, so it is no event.")

    def other_forms(self) -> None:
        """Show the same in OpenLineage, and as metrics."""
        self.title(4, "The same for a catalogue, and for a dashboard")
        self.sql(
            "SELECT o.event ->> 'eventType' AS type, o.event #>> '{job,name}' AS job,"  # noqa: S608
            " o.event #>> '{run,runId}' AS run,"
            " right(o.event #>> '{run,facets,parent,run,runId}', 12) AS parent"
            " FROM omd_report.openlineage_event AS o, doors.began AS b"
            " WHERE (o.event ->> 'eventTime')::timestamptz >= b.began_at"
            f" AND o.code IN {CODES} ORDER BY o.event_number",
            "OpenLineage (omd send --openlineage sends it). OTHER says that a run was undone:",
        )
        after = self._metrics()
        self.say("  => SELECT line FROM omd_report.prometheus;")
        self.screen.table(
            [
                {"metric that has changed": name, "before": self.before.get(name), "now": value}
                for name, value in after.items()
                if self.before.get(name, "0") != value
            ]
        )
        self.say("Metrics of durations and of times have changed too.")

    def prove(self) -> bool:
        """Compare what has arrived with what the runs have done."""
        self.screen.title("The proof: the runs beside what has arrived")
        checks = proof.prove(self.connection, self.receiver.receipts)
        self.screen.table([check.line for check in checks])
        sink = self.one(
            f"SELECT refused, problem FROM omd_report.event_sinks WHERE sink_code = '{SINK}'"  # noqa: S608
        )
        has_waited = any(check.sent > _UNANSWERED for check in checks)
        holds = has_waited and sink == {"refused": 0, "problem": None}
        return tell_verdict(
            self.screen,
            holds and all(check.problem is None for check in checks),
            f"Each of {len(checks)} events has arrived, in order, and none of a run that never was."
            "\nWhat was sent more than once had the same bytes. The downtime was waited for.",
        )

    # What they do -------------------------------------------------------------------------------

    def forget_sink(self) -> None:
        """Remove the sink, so that no event waits for it."""
        self.connection.execute(
            b"DO $$ BEGIN IF EXISTS (SELECT FROM omd_report.event_sinks"
            b" WHERE sink_code = 'demo_doors') THEN CALL omd_event.remove_sink('demo_doors');"
            b" END IF; END $$"
        )

    def _arrive(self) -> None:
        """Wait until all that has happened is published, and has arrived."""
        self._publish()
        newest = self.one("SELECT max(event_number) AS number FROM omd_report.events")["number"]
        self.wait_for_row(
            "the events to arrive",
            "SELECT FROM omd_report.event_sinks WHERE sink_code = %s AND event_number >= %s",
            [SINK, newest],
            patience=_PATIENCE,
        )

    def _publish(self) -> None:
        """Give numbers to what has happened, until nothing is left."""

        def publish() -> bool | None:
            # The answer is NULL while another session publishes.
            return self.one("CALL omd_event.publish()")["p_published"] == 0 or None

        wait_for("the events to be published", publish, patience=_PATIENCE)

    def _show_events(self, first: str, why: str) -> None:
        """Show the events of the newest run of the Batch."""
        self.sql(
            "SELECT event_number AS number, event_type, subject_id AS id, code, detail"  # noqa: S608
            f" FROM omd_report.events WHERE code IN {CODES} AND event_number >= (SELECT"
            f" max(event_number) FROM omd_report.events WHERE code = 'b_doors' AND event_type ="
            f" '{first}') ORDER BY event_number",
            why,
        )

    def _metrics(self) -> dict[str, str]:
        """Return the metrics, but not those of durations and times, which change all the time."""
        rows = self.connection.execute(b"SELECT line FROM omd_report.prometheus").fetchall()
        lines = [row["line"] for row in rows if not row["line"].startswith("#")]
        split = [line.rpartition(" ") for line in lines if "_seconds" not in line.partition("{")[0]]
        return {name: value for name, _, value in split}
