-- A family without a row has not begun its migration.

CREATE OR REPLACE FUNCTION omd_dispatch._migration_status(
    p_family_code text
)
RETURNS integer
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        coalesce(
            (
                SELECT s.migration_status
                FROM omd_dispatch.task_migration_status AS s
                WHERE s.family_code = p_family_code
            ),
            0
        );
END;

COMMENT ON FUNCTION omd_dispatch._migration_status IS
'Returns the migration status of the family p_family_code. Locks: none.';
REVOKE ALL ON FUNCTION omd_dispatch._migration_status FROM PUBLIC;
