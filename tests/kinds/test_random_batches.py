"""The same Batch by the database and by the driver leaves the same runs, statuses and events."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

import omd
import omd.errors
from support.flow import Flow
from support.lots import seeds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kinds.conftest import Platform

# Two trees of Batches that are alike but for their names.
TREES = ("by_sql", "by_driver")
FAIL = "SELECT 1 / 0"
LOAD = "INSERT INTO app.made VALUES (1, current_setting('omd.module_instance_id')::bigint)"

# Rows of a run that failed wait for their rollback.
IN_USE = omd.errors.lookup("OM111")


class Twins:
    """Two trees of Batches with Modules that are alike.

    The one of the driver has a member more in each Batch, a delivery for which there is nothing to
    do: so the database can't run it, and the driver asks what is next.
    """

    def __init__(self, platform: Platform, chance: random.Random) -> None:
        self.platform = platform
        self.chance = chance
        self.modules: list[str] = []  # their names without the tree
        self.batches = ["root"]

    def register(self) -> None:
        chance, platform = self.chance, self.platform
        shapes: dict[str, list[str]] = {"root": []}
        parents: dict[str, str] = {}
        for number in range(chance.randint(1, 4)):
            name = f"batch{number}"
            parents[name] = chance.choice(self.batches)
            self.batches.append(name)
            shapes[name] = []
        for number in range(chance.randint(2, 9)):
            name = f"m{number}"
            self.modules.append(name)
            shapes[chance.choice(self.batches)].append(name)
        goes_on = {name: chance.random() < 0.5 for name in self.batches}
        off = {name for name in self.modules if chance.random() < 0.1}
        each = ["SQL", "SQL", "SQL", "TOPIC", "STAGE"]
        kinds = {name: chance.choice(each) for name in self.modules}
        place = {name: chance.randint(0, 9) for name in self.batches}
        for tree in TREES:
            for name in self.batches:
                platform.call(
                    "omd.register_batch", batch_code=f"{tree}.{name}", frequency_code="Adhoc",
                    continue_on_failure=goes_on[name],
                )  # fmt: skip
            for name, parent in parents.items():
                platform.call(
                    "omd.add_batch_to_parent_batch", batch_code=f"{tree}.{name}",
                    parent_batch_code=f"{tree}.{parent}",
                )  # fmt: skip
            for name in self.modules:
                self.make(tree, name, kinds[name])
            for name, members in shapes.items():
                for sequence, module in enumerate(members, 1):
                    platform.call(
                        "omd.add_module_to_batch", batch_code=f"{tree}.{name}",
                        module_code=f"{tree}.{module}", sequence=sequence,
                        inactive_indicator="Y" if module in off else "N",
                    )  # fmt: skip
            if tree == "by_driver":
                for name in self.batches:
                    platform.call(
                        "omd.add_module_to_batch", batch_code=f"{tree}.{name}",
                        module_code="delivery.a", sequence=place[name],
                    )  # fmt: skip

    def make(self, tree: str, name: str, kind: str) -> None:
        """Register a Module of a kind, all of which read what nothing changes."""
        code, table = f"{tree}.{name}", f"app.{tree}_{name}"
        platform = self.platform
        platform.conn.execute(
            f"CREATE TABLE {table}"
            " (k integer, v text, omd_insert_module_instance_id bigint)".encode()
        )
        if kind == "TOPIC":
            Flow.call(
                platform, "omd_lineage.register_topic", topic=table, depends_on=["app.src"],
                transforms=["app.all"], repeat="0", maxstep=2, start_pos="-infinity",
                module_code=code,
            )  # fmt: skip
        elif kind == "STAGE":
            platform.call("omd_decision.define_stage", stage={
                "stage": code.replace(".", "_"), "mode": "KEY", "keys": [{"column": "k"}],
                "ruleset": "f", "links": [{"name": "a", "source": "app.a", "arrival": "id"}],
                "outputs": [{"name": "out", "table": table}], "module": {"module_code": code},
            })  # fmt: skip
        else:
            platform.call(
                "omd.register_module", module_code=code, area_code="STG", table_code=table,
                executable=LOAD,
            )  # fmt: skip

    def happen(self) -> None:
        """Let something happen to the same Module or Batch of both trees, or to all."""
        chance, platform = self.chance, self.platform
        what, module = chance.random(), chance.choice(self.modules)
        batch = chance.choice(self.batches)
        is_on, breaks = chance.choice("YN"), chance.random() < 0.6
        if what < 0.15:
            platform.come(*range(chance.randint(1, 6)))
        for tree in TREES:
            code, table = f"{tree}.{module}", f"app.{tree}_{module}"
            if 0.15 <= what < 0.45:
                # No row of it fits any more; or every one does.
                drop = f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS no"
                add = f"ALTER TABLE {table} ADD CONSTRAINT no CHECK (FALSE) NOT VALID"
                platform.conn.execute(drop.encode())
                if breaks:
                    platform.conn.execute(add.encode())
                kind = platform.one(
                    "SELECT module_kind_code FROM omd.module WHERE module_code = %s", code
                )
                if kind == "SQL":
                    executable = FAIL if breaks else LOAD
                    platform.call("omd.register_module", module_code=code, executable=executable)
            elif 0.45 <= what < 0.55:
                # The begin of one of kind SQL raises an error.
                kind = platform.one(
                    "SELECT module_kind_code FROM omd.module WHERE module_code = %s", code
                )
                if kind == "SQL":
                    place = "SPARK" if breaks else "POSTGRES"
                    with suppress(IN_USE):
                        platform.call("omd.register_module", module_code=code, platform_code=place)
            elif 0.55 <= what < 0.65:
                platform.call("omd.register_module", module_code=code, inactive_indicator=is_on)
            elif 0.65 <= what < 0.75:
                platform.call(
                    "omd.register_batch", batch_code=f"{tree}.{batch}", inactive_indicator=is_on
                )
            elif 0.75 <= what < 0.85:
                platform.call(
                    "omd.register_batch", batch_code=f"{tree}.{batch}",
                    frequency_code="Daily" if breaks else "Adhoc",
                )  # fmt: skip

    def left(self, tree: str, since: int) -> dict[str, Any]:
        """Return what stands of the runs of a tree, without what no two runs have alike."""
        rows = self.platform.rows(
            "SELECT b.batch_code AS code, i.execution_status_code AS status, i.reason_code,"
            " p.batch_code AS parent, (SELECT array_agg(row(e.event_type_code,"
            " e.event_return_code_details, e.event_detail)::text ORDER BY e.event_id)"
            " FROM omd.event_log AS e WHERE e.batch_instance_id = i.batch_instance_id"
            " AND e.module_instance_id = 0) AS events"
            " FROM omd.batch_instance AS i INNER JOIN omd.batch AS b USING (batch_id)"
            " LEFT JOIN omd.batch_instance AS pi"
            " ON i.parent_batch_instance_id = pi.batch_instance_id"
            " LEFT JOIN omd.batch AS p ON pi.batch_id = p.batch_id"
            " WHERE i.batch_instance_id > %s AND b.batch_code LIKE %s"
            " ORDER BY i.batch_instance_id",
            since, f"{tree}.%",
        )  # fmt: skip
        runs = self.platform.rows(
            "SELECT m.module_code AS code, i.execution_status_code AS status, i.reason_code,"
            " i.rows_inserted, b.batch_code AS batch, (SELECT array_agg(row(e.event_type_code,"
            " e.event_return_code_details)::text ORDER BY e.event_id)"
            " FROM omd.event_log AS e WHERE e.module_instance_id = i.module_instance_id) AS events"
            " FROM omd.module_instance AS i INNER JOIN omd.module AS m USING (module_id)"
            " INNER JOIN omd.batch_instance AS bi USING (batch_instance_id)"
            " INNER JOIN omd.batch AS b USING (batch_id)"
            " WHERE bi.batch_instance_id > %s AND m.module_code LIKE %s"
            " ORDER BY i.module_instance_id",
            since, f"{tree}.%",
        )  # fmt: skip
        return {"batches": bare(rows, tree), "runs": bare(runs, tree)}


def bare(rows: list[dict[str, Any]], tree: str) -> list[dict[str, Any]]:
    """Leave out the name of the tree."""

    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return [plain(each) for each in value]
        if isinstance(value, str):
            return value.replace(f"{tree}.", "").replace(f"{tree}_", "")
        return value

    return [{key: plain(value) for key, value in row.items()} for row in rows]


@pytest.fixture
def control(dsn: str) -> Iterator[omd.Control]:
    with omd.connect(dsn, lease=None) as control:
        yield control


@pytest.mark.random
@pytest.mark.parametrize("seed", seeds(9))
def test_a_batch_by_the_database_and_by_the_driver_leaves_the_same(
    platform: Platform, control: omd.Control, seed: int
) -> None:
    chance = random.Random(seed)
    platform.conn.execute(
        "CREATE VIEW app.all AS SELECT s.v AS k FROM app.src AS s"
        " WHERE omd_lineage.in_block(s.pos, s.id);"
        "INSERT INTO app.a VALUES (1, 1, 'x')"
    )
    platform.come(1, 2, 3)
    twins = Twins(platform, chance)
    twins.register()
    for _ in range(8):
        force = chance.random() < 0.3
        batch = chance.choice(["root", "root", *twins.batches])
        since = platform.one("SELECT max(batch_instance_id) FROM omd.batch_instance")
        by_sql = platform.call("omd.run_batch", batch_code=f"by_sql.{batch}", force=force)
        by_driver = control.run_batch(f"by_driver.{batch}", force=force)
        left = [twins.left(tree, since) for tree in TREES]
        assert left[0] == left[1], (batch, force)
        assert by_sql["execution_status_code"] == by_driver.status
        assert left[0]["batches"][0]["code"] == batch
        for _ in range(chance.randint(1, 3)):
            twins.happen()
