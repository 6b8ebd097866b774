"""A release after this one, which adds a column to the instances of Modules in all phases.

The column is added with a trigger that fills it, filled, indexed, made NOT NULL, and read by a
view; the check that this needed is dropped afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Protocol

    class Tree(Protocol):
        root: Path

        def add_migration(
            self, name: str, text: str, *, locks: str = "", room: str = ""
        ) -> None: ...


TABLE = "omd.module_instance"
VIEW = "sql/views/omd/runs/throughput_per_day.sql"
RIGHTS = "sql/rights/release.sql"
AFTER = "rights$\n"  # its first line follows
ADD = f"""\
-- phase: expand
ALTER TABLE {TABLE} ADD COLUMN doubled bigint;
COMMENT ON COLUMN {TABLE}.doubled IS 'Twice its id.';
CREATE FUNCTION omd._double()
RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $double$
BEGIN
    new.doubled := 2 * new.module_instance_id;
    RETURN new;
END
$double$;
CREATE TRIGGER trg_module_instance_doubled BEFORE INSERT ON {TABLE}
FOR EACH ROW EXECUTE FUNCTION omd._double();
"""
FILL = f"""\
-- phase: backfill
WITH chunk AS MATERIALIZED (
    SELECT mi.module_instance_id
    FROM {TABLE} AS mi
    WHERE mi.module_instance_id > (
            SELECT coalesce(s.last_key::bigint, -1)
            FROM omd.upgrade_step AS s
            WHERE s.step_code = 'V902__fill'
        )
        AND mi.doubled IS NULL
    ORDER BY mi.module_instance_id
    LIMIT 10000
    FOR NO KEY UPDATE OF mi
),

filled AS (
    UPDATE {TABLE} AS mi SET doubled = 2 * c.module_instance_id
    FROM chunk AS c
    WHERE mi.module_instance_id = c.module_instance_id
)

UPDATE omd.upgrade_step AS s
SET last_key = c.last_key, rows_done = s.rows_done + c.rows_done
FROM (SELECT max(c.module_instance_id) AS last_key, count(*) AS rows_done FROM chunk AS c) AS c
WHERE s.step_code = 'V902__fill' AND c.rows_done > 0;
"""
CHECK = f"""\
-- phase: expand
ALTER TABLE {TABLE} ADD CONSTRAINT ck_module_instance_doubled CHECK (doubled IS NOT NULL) NOT VALID;
"""
VALIDATE = f"""\
-- phase: concurrent
ALTER TABLE {TABLE} VALIDATE CONSTRAINT ck_module_instance_doubled;
"""
INDEX = f"""\
-- phase: concurrent
CREATE INDEX CONCURRENTLY IF NOT EXISTS ix_module_instance_doubled ON {TABLE} (doubled);
"""
REQUIRE = f"""\
-- phase: expand
ALTER TABLE {TABLE} ALTER COLUMN doubled SET NOT NULL;
"""
FINISH = f"""\
-- phase: contract
ALTER TABLE {TABLE} DROP CONSTRAINT ck_module_instance_doubled;
"""
STEPS = {
    "V901__add": ADD,
    "V902__fill": FILL,
    "V903__check": CHECK,
    "V904__validate": VALIDATE,
    "V905__index": INDEX,
    "V906__require": REQUIRE,
    "V907__finish": FINISH,
}


def make(tree: Tree) -> None:
    """Make the copy of the SQL that release."""
    for name, text in STEPS.items():
        locks = "" if "CONCURRENTLY" in text or "WITH chunk" in text else TABLE
        tree.add_migration(name, text, locks=locks, room="omd")
    rights = tree.root / RIGHTS
    rights.write_text(rights.read_text().replace(AFTER, f"{AFTER}ROUTINE omd._double()\n", 1))
    file = tree.root / VIEW
    file.write_text(
        file.read_text()
        + f"\nCREATE OR REPLACE VIEW omd_report.doubled AS\nSELECT mi.doubled FROM {TABLE} AS mi;\n"
    )
