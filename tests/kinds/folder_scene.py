"""A sender who writes folders, and a person who takes back what came of them."""

from __future__ import annotations

import dataclasses
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinds.flow_model import ENTITIES, Act, Model, Row
from kinds.flow_scene import RIGHTS, Night, Workers
from support.flow import Flow

if TYPE_CHECKING:
    import random

FIRST = datetime(2020, 1, 1, tzinfo=timezone.utc)
COLUMNS = {"customer": ("nbr", "name"), "orders": ("nbr", "customer", "amount")}
# What no random delivery is refused for.
LIFTED = {
    "customer.deletes": {"threshold": "none"},
    "orders.deletes": {"threshold": "none"},
    "orders.of": {"threshold": "none", "action": "NO ACTION"},
}
# What Spark does with the changes: a topic, a stage, and files.
FAR = """
    CREATE TABLE app.order_far (nbr integer, customer integer, amount integer,
        acm_record_ind text, acm_change_id bigint, omd_insert_module_instance_id bigint);
    CREATE TABLE app.verdict_far (nbr integer, customer integer, amount integer,
        acm_record_ind text, acm_change_id bigint, omd_insert_module_instance_id bigint);
    GRANT USAGE ON SCHEMA app TO omd_owner;
    GRANT ALL ON ALL TABLES IN SCHEMA app TO omd_owner;
"""
BLOCK = "SELECT nbr, customer, amount, acm_record_ind, acm_change_id FROM block"
STAGE = {
    "stage": "far",
    "mode": "KEY",
    "keys": [{"column": "nbr"}],
    "ruleset": "far",
    "links": [{"name": "o", "source": "changes_shop.orders", "arrival": "acm_id"}],
    "outputs": [{"name": "out", "parameter": "o", "table": "app.verdict_far"}],
    "window": {"by": "CHANGES"},
    "start": {"when": "NEWS"},
}


@dataclasses.dataclass
class Folder:
    """A folder that the sender has written.

    Attributes:
        at: its time.
        content: the rows of each entity, by key.
        is_good: whether nothing in it is refused.
        is_complete: whether it has its marker.
        written: when the sender began to write its content.
        is_gone: a person has taken back what came of it,
        was_gone: and has done so at least once, whatever the sender wrote since then.
    """

    at: datetime
    content: dict[str, dict[int, Row]]
    is_good: bool = True
    is_complete: bool = False
    written: datetime | None = None
    is_gone: bool = False
    was_gone: bool = False

    @property
    def name(self) -> str:
        return f"{self.at:%Y%m%d%H%M%S}"


class SparkWorkers(Workers):
    """Two processes that run work of any kind in a session of Spark of their own."""

    program = Path(__file__).with_name("spark_worker.py")
    # A delivery on Spark takes some seconds, on a busy machine many.
    peace = 8.0
    peace_of_omd = 30.0
    most = 8


class FolderNight(Night):
    """The acts of a sender and of a person; the model follows from what stands at the end.

    Attributes:
        patience: seconds until a folder, or what follows from it, has come to an end. It takes some
            seconds; on a machine with ten times as much to do as it has processors, minutes.
    """

    patience = 900.0

    def scene_of_folders(self, dsn: str, chance: random.Random, root: Path) -> None:
        super().scene(dsn, chance)
        self.root = root
        self.drop, self.out = root / "drop", root / "out"
        self.drop.mkdir()
        self.folders: dict[str, Folder] = {}
        self.wanted: dict[str, dict[int, Row]] = {e: {} for e in ENTITIES}
        self.minute = 0
        self.conn.execute(FAR)
        Flow.call(self, "omd_lineage.register_topic", topic="app.order_far",
                  depends_on=["gdal_shop.orders"], transforms=[BLOCK], engine="SPARK",
                  start_pos="-infinity", maxstep=6)  # fmt: skip
        ruleset = {"ruleset": "far", "kind": "PYTHON", "content": "copy:deepcopy"}
        self.call("omd_decision.define_ruleset", ruleset=ruleset, activate=True)
        self.call("omd_decision.define_stage", stage=STAGE)
        arrival = {
            "location": str(self.drop),
            "folder": "{yyyy}{MM}{dd}{HH}{mm}{ss}",
            "every": "200 ms",
        }
        self.agree("a", arrival=arrival, settings=LIFTED)
        self.agree("x", layer_code="EXPORT", options={"export": {"target_uri": str(self.out)}})
        self.owner(
            "UPDATE omd.module SET backoff = '50 ms', backoff_limit = '400 ms', max_failures = 0"
            " WHERE module_id > 0"
        )
        self.conn.execute(RIGHTS)

    # What the sender does

    def moment(self) -> datetime:
        self.minute += 1
        return FIRST + timedelta(minutes=self.minute)

    def new_content(self, entities: tuple[str, ...]) -> dict[str, dict[int, Row]]:
        """Return snapshots of entities, a few rows of which are other than before."""
        content = {}
        for name in entities:
            rows = dict(self.wanted[name])
            for key in self.chance.sample(range(1, 9), self.chance.randint(1, 4)):
                if key in rows and self.chance.random() < 0.4:
                    del rows[key]
                elif name == "orders":
                    rows[key] = (self.chance.randint(1, 8), self.chance.randint(1, 5))
                else:
                    rows[key] = (self.chance.choice("abc"),)
            # A delivery without a row deletes nothing.
            content[name] = self.wanted[name] = rows or {
                1: ("a",) if name == "customer" else (1, 1)
            }
        return content

    def write_folder(self, folder: Folder, completes: bool = True) -> None:
        """Write a folder, or write it again: the marker comes last."""
        place = self.drop / folder.name
        place.mkdir(exist_ok=True)
        (place / "_SUCCESS").unlink(missing_ok=True)
        folder.is_complete = folder.is_gone = False
        folder.written = self.one("SELECT clock_timestamp()")
        for name, rows in folder.content.items():
            # A folder that is corrected has other bytes.
            lines = [
                ",".join(COLUMNS[name]),
                *(f"{k},{','.join(map(str, v))}" for k, v in rows.items()),
            ]
            if not folder.is_good:
                lines.append(lines[-1])  # the key twice
            half = place / f".{name}"
            half.write_text("\n".join(lines) + "\n")
            half.rename(place / f"{name}.csv")
        self.folders[folder.name] = folder
        if completes:
            self.complete(folder)

    def complete(self, folder: Folder) -> None:
        (self.drop / folder.name / "_SUCCESS").touch()
        folder.is_complete = True
        self.log.append(("folder", folder))

    def arrive(self, entities: tuple[str, ...], **given: Any) -> Folder:
        folder = Folder(given.pop("at", None) or self.moment(), self.new_content(entities))
        self.write_folder(folder, **given)
        return folder

    def half(self) -> None:
        """Begin a folder that is complete later, or never."""
        self.arrive(self.chance.choice([("customer", "orders"), ("orders",)]), completes=False)

    def complete_a_half(self) -> None:
        halves = [f for f in self.folders.values() if not f.is_complete]
        if halves:
            self.complete(self.chance.choice(halves))

    def late(self) -> None:
        """Let a folder come whose time lies before one of another entity, or of the same."""
        early, late = self.moment(), self.moment()
        self.settles(self.arrive(("customer",), at=late))
        self.arrive(("customer",) if self.chance.random() < 0.3 else ("orders",), at=early)

    def refused(self) -> None:
        """Write what is refused, and most often correct it under the same time."""
        folder = Folder(self.moment(), self.new_content(("customer", "orders")), is_good=False)
        self.write_folder(folder)
        if self.chance.random() < 0.7:
            self.settles(folder)
            folder.is_good = True
            self.write_folder(folder)

    # What the person does

    def revert(self) -> None:
        """Take a delivery back, and most often correct its folder under the same time."""
        loads = self.loaded()
        if not loads:
            return
        load = loads[0] if self.chance.random() < 0.8 else self.chance.choice(loads)
        self.attempt(
            "CALL omd_facts.undo('shop', %s, p_revert_reason => 'wrong')",
            load["module_instance_id"],
        )
        (row,) = self.rows(
            "SELECT r.folder, d.delivery_status FROM omd_report.arrivals AS r"
            " INNER JOIN omd_report.delivery_log AS d USING (delivery_id)"
            " WHERE r.delivery_id = %s",
            load["delivery_id"],
        )
        if row["delivery_status"] == "REVERTED":
            folder = self.folders[row["folder"]]
            folder.is_gone = folder.was_gone = True
            if self.chance.random() < 0.7:
                folder.content = self.new_content(tuple(folder.content))
                self.write_folder(folder)

    # What becomes of it

    def arrival(self, folder: Folder) -> dict[str, Any]:
        rows = self.rows("SELECT * FROM omd_report.arrivals WHERE folder = %s", folder.name)
        return rows[0] if rows else {"arrival_status": None}

    def is_settled(self, folder: Folder) -> bool:
        arrival = self.arrival(folder)
        if not folder.is_complete:
            return bool(arrival["arrival_status"] == "INCOMPLETE")
        assert arrival["arrival_status"] != "CHANGED", arrival
        return (
            arrival["arrival_status"] in ("DONE", "REFUSED")
            and arrival["changed_datetime"] >= folder.written
        )

    def settles(self, folder: Folder) -> None:
        """Wait until a folder has come to an end."""
        until = time.monotonic() + self.patience
        while not self.is_settled(folder):
            assert time.monotonic() < until, (folder, self.arrival(folder))
            time.sleep(0.1)

    def all_settle(self) -> None:
        for folder in self.folders.values():
            self.settles(folder)

    def follow_folders(self) -> None:
        """Let the model be what the folders say that stand, and see that the others do not."""
        self.model = Model()
        before: dict[str, dict[int, Row]] = {e: {} for e in ENTITIES}
        for folder in sorted(self.folders.values(), key=lambda f: f.at):
            arrival = self.arrival(folder)
            done = arrival["arrival_status"] == "DONE"
            assert done <= (folder.is_good and folder.is_complete and not folder.is_gone), folder
            if not done:
                continue
            delta = {}
            for name, rows in folder.content.items():
                was = before[name]
                delta[name] = [
                    *(("R", k, *v) for k, v in was.items() if k not in rows),
                    *(
                        ("N" if k not in was else "A", k, *v)
                        for k, v in rows.items()
                        if was.get(k) != v
                    ),
                ]
                before[name] = rows
            self.model.acts.append(Act(folder.at, delta, arrival["delivery_id"]))
        for folder in self.folders.values():
            if self.arrival(folder)["arrival_status"] == "REFUSED":
                assert not folder.is_good or folder.is_gone or self.is_late(folder), folder

    def is_late(self, folder: Folder) -> bool:
        """Return whether a later time of an entity of a folder was accepted, and perhaps undone."""
        return any(
            later.at > folder.at
            and later.content.keys() & folder.content.keys()
            and (later.was_gone or self.arrival(later)["arrival_status"] == "DONE")
            for later in self.folders.values()
        )
