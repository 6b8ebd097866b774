-- Where a Module with load windows goes on. The newest window says it, by one look into an index.
-- One that was taken again after a recall may lie before others, so it counts by its place; there
-- are few of these. It is one SELECT, which the planner takes into the query that asks.

CREATE OR REPLACE FUNCTION omd.last_window(
    p_module_id integer
)
RETURNS TABLE (
    module_instance_id bigint,
    end_value timestamptz,
    end_id bigint,
    source_code text
)
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        e.module_instance_id,
        e.end_value,
        e.end_id,
        e.source_code
    FROM (
        (
            SELECT c.*
            FROM omd.source_control AS c
            INNER JOIN omd.module_instance AS mi ON c.module_instance_id = mi.module_instance_id
            WHERE
                c.module_id = p_module_id
                AND NOT c.is_taken_back
                AND mi.execution_status_code = 'S'
                AND NOT EXISTS (
                    SELECT FROM omd.window_return AS a
                    WHERE a.module_instance_id = c.module_instance_id
                )
            ORDER BY c.module_instance_id DESC
            LIMIT 1
        )
        UNION ALL
        SELECT g.*
        FROM omd.window_return AS a
        INNER JOIN omd.source_control AS g ON a.module_instance_id = g.module_instance_id
        INNER JOIN omd.module_instance AS gi ON g.module_instance_id = gi.module_instance_id
        WHERE
            a.module_id = p_module_id
            AND NOT g.is_taken_back
            AND gi.execution_status_code = 'S'
    ) AS e
    ORDER BY e.end_value DESC NULLS LAST, e.end_id DESC NULLS LAST
    LIMIT 1;
END;

COMMENT ON FUNCTION omd.last_window IS
'For rooms: Returns where the last load window of the Module p_module_id ends that counts (its run '
'has succeeded, and it was not withdrawn), and of which run and source it is; no row when none '
'counts. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.last_window TO omd_reader;
