-- A family without a row has not begun its migration. Each claim asks for it, and PostgreSQL before
-- 18 keeps no plans for SQL functions.

CREATE OR REPLACE FUNCTION omd_dispatch._migration_status(
    p_family_code text
)
RETURNS integer
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $migration_status$
BEGIN
    RETURN coalesce(
        (
            SELECT s.migration_status
            FROM omd_dispatch.task_migration_status AS s
            WHERE s.family_code = p_family_code
        ),
        0
    );
END
$migration_status$;

COMMENT ON FUNCTION omd_dispatch._migration_status IS
'Returns the migration status of the family p_family_code. Locks: none.';
