-- What a reader has passed is where its newest window that stands ends, or where it has come
-- without one since there was nothing for it, but not what it is to take again. What was taken
-- again lies before that. One without a window begins at the beginning.

CREATE OR REPLACE FUNCTION omd.source_readers(
    p_source_code text
)
RETURNS TABLE (module_code text, table_code text, end_id bigint)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        m.module_code,
        r.table_code,
        least(
            greatest(w.end_id, r.passed_id),
            (
                SELECT min(coalesce(b.start_id, -9223372036854775808))
                FROM omd.window_return AS b
                WHERE b.module_id = r.module_id AND b.ended_datetime IS NULL
            )
        ) AS end_id
    FROM omd.source_reader AS r
    INNER JOIN omd.module AS m ON r.module_id = m.module_id
    LEFT JOIN LATERAL (
        SELECT c.end_id
        FROM omd.source_control AS c
        INNER JOIN omd.module_instance AS mi ON c.module_instance_id = mi.module_instance_id
        WHERE
            c.module_id = r.module_id
            AND c.source_code = p_source_code
            AND mi.execution_status_code = 'S'
            AND mi.rolled_back_by_module_instance_id IS NULL
            AND NOT EXISTS (
                SELECT FROM omd.window_return AS a
                WHERE a.module_instance_id = c.module_instance_id
            )
        ORDER BY c.module_instance_id DESC
        LIMIT 1
    ) AS w ON TRUE
    WHERE r.source_code = p_source_code;
END;

COMMENT ON FUNCTION omd.source_readers IS
'For rooms: Returns the Modules that read the source p_source_code, by which table, and the id '
'up to which each has read all that it is to read; NULL: nothing yet. Locks: none.';
