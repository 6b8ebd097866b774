-- Who marked a task before a resume may commit after it, when the suspension has gone. These tasks
-- are looked for by skips through the index.

CREATE OR REPLACE FUNCTION omd_dispatch._stray_template()
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $stray_template$
BEGIN
    RETURN $template$
CREATE OR REPLACE FUNCTION {function}()
RETURNS bigint
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
{settings}
AS $stray$
BEGIN
    RETURN (
        WITH RECURSIVE marks AS (
            SELECT min(t.suspension_id) AS id
            FROM {table} AS t
            WHERE t.suspension_id IS NOT NULL
            UNION ALL
            SELECT (
                SELECT min(t.suspension_id) FROM {table} AS t
                WHERE t.suspension_id > m.id
            )
            FROM marks AS m
            WHERE m.id IS NOT NULL
        )
        SELECT m.id FROM marks AS m
        WHERE m.id IS NOT NULL AND NOT EXISTS (
            SELECT FROM omd_dispatch.task_suspension AS s
            WHERE s.suspension_id = m.id
        )
        LIMIT 1
    );
END
$stray$;

COMMENT ON FUNCTION {function} IS
'Of the family {code}: returns a suspension that has gone and still marks tasks.';
$template$;
END
$stray_template$;

COMMENT ON FUNCTION omd_dispatch._stray_template IS
'Returns the template of the function of a family that finds marks of suspensions that have gone. '
'Locks: none.';
