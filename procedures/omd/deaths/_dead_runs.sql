-- Whose rollback is still to come has rows, and the rows of a Module with a rollback of its own may
-- stay on purpose; so is every rollback of a room. It reads the catalogue and tables of OMD only.

CREATE OR REPLACE FUNCTION omd._dead_runs(
    p_module_id integer
)
RETURNS TABLE (
    instance_array bigint[],
    relation oid,
    table_name text,
    column_name text,
    is_indexed boolean
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        d.instance_array,
        omd.target_relation(m.table_code) AS relation,
        s.table_name,
        s.column_name,
        s.is_indexed
    FROM omd.module AS m
    CROSS JOIN
        LATERAL (
            SELECT array_agg(mi.module_instance_id ORDER BY mi.module_instance_id) AS instance_array
            FROM omd.dead_run AS r
            INNER JOIN omd.module_instance AS mi ON r.module_instance_id = mi.module_instance_id
            WHERE
                r.module_id = m.module_id
                AND mi.rolled_back_by_module_instance_id IS NOT NULL
                AND (
                    r.module_instance_id >= omd._oldest_of_last_runs(m.module_id)
                    OR EXISTS (
                        SELECT FROM omd.left_rows AS l
                        WHERE
                            l.module_id = r.module_id
                            AND l.module_instance_id = r.module_instance_id
                    )
                )
        ) AS d
    CROSS JOIN LATERAL omd._stamp_column(m.module_id) AS s
    WHERE
        m.module_id = p_module_id
        AND m.platform_code = 'POSTGRES'
        AND d.instance_array IS NOT NULL
        AND s.is_numeric
        AND NOT EXISTS (
            SELECT FROM omd._fitting_templates(m.module_id) AS f
            WHERE f.keeps_rows OR f.module_id IS NOT NULL
        );
END;

COMMENT ON FUNCTION omd._dead_runs IS
'Returns which runs of the Module p_module_id were declared dead, are among its last 20 or have '
'left rows, and were rolled back; and where their rows would be: the target, its column of '
'instance ids, and whether an index over all rows begins with it. No row: there are none, or '
'nobody can say which rows should not be there (the target is elsewhere, it has no such column, '
'or the rollback is one of its own or of a room). Locks: none.';
GRANT EXECUTE ON FUNCTION omd._dead_runs TO omd_runner, omd_admin;
