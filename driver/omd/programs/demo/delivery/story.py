"""The story of the demo: it delivers month after month, and shows what a delivery is judged by."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import omd
from omd._core.error_codes import UnknownInterface
from omd.programs.cli.documents.delivery import ModelDocument, read_model
from omd.programs.cli.documents.together import apply_together
from omd.programs.demo.control.proof import tell_checks
from omd.programs.demo.delivery import proof
from omd.programs.demo.delivery.proof import Accepted
from omd.programs.demo.delivery.supplier import FORGOTTEN, Supplier
from omd.programs.demo.files import YEAR
from omd.programs.demo.stage import (
    Process,
    Screen,
    Story,
    as_role,
    connect,
    first_free,
    flights_of_2013,
    install_omd,
    start_spark,
    wait_for,
)
from omd.programs.report.receipt import explain, read_receipt
from omd.rooms.delivery.rows import DeliveryLogRow, DeliveryMetricsRow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from omd.rooms.control.outcome import Outcome

# The last month, and the days of each; all that happens has happened by the fifth month.
YEAR_LONG, QUICK = (12, 31), (5, 7)
INTERFACE = "nyc"
_HERE = Path(__file__).parent
_ALL = dict.fromkeys(("carriers", "airports", "flights"), "FULL") | {"months": "DELTA"}
_MONTH = {"months": "DELTA", "flights": "FULL"}


def play(
    dsn: str,
    folder: Path,
    screen: Screen,
    *,
    months: tuple[int, int] = YEAR_LONG,
    master: str | None = None,
) -> bool:
    """Play the demo of deliveries.

    The months are the last one that is delivered, 5 at least, and the days of each.
    """
    with connect(dsn) as connection:
        install_omd(connection, screen)
        with screen.step("model.yaml") as step:
            interface = _apply_model(as_role("omd_admin", dsn))
            step.done(f"4 entities, the agreement {interface}, tables in lvl_{interface}")
        supplier = Supplier(flights_of_2013(folder, screen), folder, months[1])
        spark = start_spark(folder, master, screen)
        with omd.connect(as_role("omd_runner", dsn), application_name="omd demo") as control:
            story = _Story(dsn, connection, screen, control, spark, supplier, interface)
            for act in (
                story.first,
                story.good,
                story.rejected,
                story.one_carrier,
                story.lost_file,
                story.killed,
            ):
                act()
            story.rest(months[0])
            story.tell_deliveries()
            return story.prove()


def _apply_model(dsn: str) -> str:
    """Deploy the model under the first name that is free, and return it."""
    with omd.connect(dsn, application_name="omd demo") as control:
        interface = first_free(INTERFACE, lambda code: _is_deployed(control, code))
        path = _HERE / "model.yaml"
        file = read_model(path)
        file.model["interface"] = interface
        agreement = file.agreements.pop(INTERFACE)
        file.agreements[interface] = {**agreement, "interface_code": interface}
        apply_together(control, [ModelDocument(path, file)])
    return interface


def _is_deployed(control: omd.Control, interface: str) -> bool:
    try:
        control.calls.omd_delivery.model_document(interface)
    except UnknownInterface:
        return False
    return True


def _at(month: int, day: int = 1) -> datetime:
    """Return the time of the data of a month: the first day of the next one, or a later one."""
    return datetime(YEAR + month // 12, month % 12 + 1, day, tzinfo=timezone.utc)


@dataclass
class _Story(Story):
    control: omd.Control
    spark: SparkSession
    supplier: Supplier
    interface: str
    accepted: list[Accepted] = field(default_factory=list)
    deliveries: list[int] = field(default_factory=list)

    # The acts -----------------------------------------------------------------------------------

    def first(self) -> None:
        """Deliver a first month, with findings."""
        self.screen.title("January: the first delivery has findings")
        receipt = self._deliver(Accepted(self.supplier.first(1)), _at(1), loads=_ALL)
        self._explain(receipt)

    def good(self) -> None:
        """Deliver what was missing with the next month."""
        self.screen.title("February: a good one")
        self.screen.say(
            "  The tenant has read the receipt, and sends the four airports that his list lacked."
        )
        folder = self.supplier.month(2, airports=FORGOTTEN)
        receipt = self._deliver(
            Accepted(folder, changes=("months", "airports")),
            _at(2),
            loads={**_MONTH, "airports": "DELTA"},
        )
        self._explain(receipt)

    def rejected(self) -> None:
        """Reject a file, and take the mended one."""
        self.screen.title("March: a rejected one")
        self.screen.say(
            "  The export was started twice, and somebody has typed the last flights by hand."
        )
        receipt = self._deliver(Accepted(self.supplier.twice(3)), _at(3))
        self._explain(receipt)
        self.screen.say("  Some of these rows, as they came:")
        self.screen.table(
            [
                {"rules": ", ".join(row["constraint_codes"]), "row": row["row"]}
                for row in self.connection.execute(
                    "SELECT DISTINCT ON (q.constraint_codes) q.constraint_codes,"
                    " concat_ws(' ', q.raw ->> 'carrier', q.raw ->> 'flight',"
                    " q.raw ->> 'time_hour', q.raw ->> 'day') AS row"
                    " FROM omd_report.delivery_quarantine AS q WHERE q.delivery_id = %s"
                    " ORDER BY q.constraint_codes, q.record_key::text",
                    [receipt.facts["delivery_id"]],
                )
            ]
        )
        self.screen.say("  The mended file, for the same moment:")
        self._deliver(Accepted(self.supplier.month(3)), _at(3))

    def one_carrier(self) -> None:
        """Deliver the flights of one carrier in one month."""
        self.screen.title("March again: only the flights of United")
        folder, changed, dropped = self.supplier.corrected(3, "UA")
        self.screen.say(
            f"  United corrects {changed} arrivals, and takes {dropped} flights back. The context"
            " says what the file is\n  about: flights of others, and of other months, are not"
            " missing in it."
        )
        self._deliver(
            Accepted(folder, carrier="UA"),
            _at(3, day=15),
            loads={"flights": "FULL"},
            context={"carriers": [{"carrier": "UA"}], "months": [{"month": f"{YEAR}-03-01"}]},
        )

    def lost_file(self) -> None:
        """Refuse an empty file that would delete everything."""
        self.screen.title("April: an empty file")
        folder = self.supplier.month(4, airports=())
        receipt = self._deliver(Accepted(folder), _at(4), loads={**_MONTH, "airports": "FULL"})
        self._explain(receipt)
        self.screen.say("  Without that file:")
        self._deliver(Accepted(self.supplier.month(4)), _at(4))

    def killed(self) -> None:
        """Kill the process of a delivery, and resume the delivery."""
        self.screen.title("May: a process is killed in the middle")
        folder = self.supplier.month(5)
        delivery_id = self._kill(folder)
        current = self.one(
            "SELECT count(*) AS rows FROM {}.flights WHERE month = '2013-05-01'".format(  # noqa: S608
                f"lvl_{self.interface}"
            )
        )
        self.screen.say(
            f"  Its verdict was there, its delta half written; {current['rows']} flights of May are"
            " stored. Resumed:"
        )
        self._deliver(Accepted(folder), None, delivery_id=delivery_id, loads=None)

    def rest(self, last_month: int) -> None:
        """Deliver the other months."""
        if last_month > QUICK[0]:
            self.screen.title("The other months")
        for month in range(QUICK[0] + 1, last_month + 1):
            self._deliver(Accepted(self.supplier.month(month)), _at(month))

    def prove(self) -> bool:
        """Compare what is current with the files that were accepted."""
        self.screen.title("The proof: the accepted files beside the Logical Validation Layer")
        with self.screen.step("checksums of every row") as step:
            checks = proof.prove(self.connection, self.interface, self.accepted)
            step.done("from the files, and by SQL")
        flights = next(c.found.rows for c in checks if c.found.table_code == "flights")
        return tell_checks(
            self.screen,
            checks,
            f"Each of {flights:,} flights is current exactly once, as the newest accepted file has"
            " it.",
        )

    # What they do -------------------------------------------------------------------------------

    def _deliver(
        self,
        delivery: Accepted,
        at: datetime | None,
        *,
        loads: Any = _MONTH,
        **arguments: Any,
    ) -> Outcome[None]:
        """Deliver a folder. This is all that a job needs of OMD."""
        with self.screen.step(delivery.folder.name) as step:
            outcome = self.control.delivery.deliver(
                None if "delivery_id" in arguments else self.interface,
                files=delivery.folder,
                snapshot_datetime=at,
                loads=loads,
                spark=self.spark,
                **arguments,
            )
            if outcome.error is not None:
                raise outcome.error
            step.done(_became(outcome), mark="✓" if outcome.succeeded else "✗")
        self.deliveries.append(outcome.facts["delivery_id"])
        if outcome.succeeded:
            self.accepted.append(delivery)
        return outcome

    def _explain(self, outcome: Outcome[None]) -> None:
        """Say what the receipt says to the tenant."""
        explanation = explain(read_receipt(self.control.delivery, outcome.facts["delivery_id"]))
        self.screen.say(f"  The tenant reads: {explanation.title}.")
        for line in explanation.why:
            self.screen.say(f"    {line}")

    def _kill(self, folder: Path) -> int:
        """Start a delivery in another process, kill that once the verdict is there."""
        with self.screen.step(folder.name) as step:
            with Process(
                [
                    *(sys.executable, "-m", "omd.programs.demo.delivery.killed"),
                    *(self.runner, self.interface, str(folder), _at(5).isoformat()),
                ],
                self.runner,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ) as process:
                delivery_id = self._await_verdict(process)
                process.cut()
            step.done(f"kill -KILL {process.pid}", mark="!")
        return delivery_id

    def _await_verdict(self, process: subprocess.Popen[str]) -> int:
        known = max(self.deliveries)

        def look() -> int | None:
            rows = self.control.report(DeliveryLogRow, order_by=["delivery_id"], descending=True)
            is_there = rows[0].delivery_id > known and rows[0].delivery_status == "VALIDATED"
            return rows[0].delivery_id if is_there else None

        return wait_for("a verdict", look, lambda: process.poll() is not None)

    def tell_deliveries(self) -> None:
        """Show every delivery and what became of it."""
        self.screen.title("The deliveries")
        lines = []
        for row in self.control.report(DeliveryLogRow, order_by=["delivery_id"]):
            if row.agreement_code != self.interface:
                continue
            metrics = self.control.report(DeliveryMetricsRow, delivery_id=row.delivery_id)
            lines.append(
                {
                    "id": row.delivery_id,
                    "time of the data": f"{row.snapshot_datetime:%Y-%m-%d}",
                    "status": row.delivery_status,
                    "verdict": row.verdict,
                    "attempts": row.attempt,
                    **{
                        name: sum(getattr(metric, f"rows_{name}") or 0 for metric in metrics)
                        for name in ("delivered", "new", "changed", "deleted")
                    },
                }
            )
        self.screen.table(lines)


def _became(outcome: Outcome[None]) -> str:
    """Return what became of a delivery, on one line."""
    if outcome.reason == "REJECTED":
        return "rejected: nothing is stored"
    entities = outcome.facts["document"]["entities"]
    counts = {
        name: sum(entity[f"rows_{name}"] or 0 for entity in entities)
        for name in ("new", "changed", "deleted")
    }
    changes = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    number = outcome.facts["attempt"]
    attempt = f" at attempt {number}" if number > 1 else ""
    return f"accepted{attempt}: {changes or 'nothing changed'}"
